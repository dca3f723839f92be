"""Check what is given to others: a wheel (tag, size, licences, library and the list of what is in it) or the source.

    python python/check_archive.py ARCHIVE [ARCHIVE ...]

On Linux auditwheel has to agree with the tag of a wheel. Uses auditwheel, and binutils as check_library.py does.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from check_library import GLIBC_FLOOR, ROOT, check, report

LICENCES = ("LICENSE", "THIRD_PARTY_LICENSES.md")
MOST_BYTES = 3_000_000  # of a wheel
LIBRARY = r"libfewlabel\.(so|dylib|dll|a)"


def tag_faults(wheel: Path) -> list[str]:
    """A tag that promises too much or too little: one wheel serves every Python of one platform, or of any."""
    return [] if re.search(r"-py3-none-[\w.]+\.whl$", wheel.name) else ["the tag is not py3-none-<platform>"]


def audit_faults(wheel: Path) -> list[str]:
    """Where auditwheel (which reads the library's symbols itself) sees a newer platform than the tag promises."""
    if "manylinux" not in wheel.name:
        return []
    done = subprocess.run(
        [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)], capture_output=True, text=True
    )
    if done.returncode:
        return [f"auditwheel show failed: {done.stderr.strip()}"]
    verdict = json.loads(done.stdout)["overall_tag"]
    found = re.match(r"manylinux_(\d+)_(\d+)(_\w+)", verdict)
    if not found or (int(found[1]), int(found[2])) > GLIBC_FLOOR or f"{found[3]}." not in wheel.name:
        return [f"auditwheel finds it consistent with {verdict} only"]
    print(f"{wheel.name}: auditwheel finds it consistent with {verdict}")
    return []


def licence_faults(archive: zipfile.ZipFile) -> list[str]:
    """Licences that are not in the wheel as they are in the project."""
    faults = []
    for name in LICENCES:
        members = [m for m in archive.namelist() if m.endswith(f".dist-info/licenses/{name}")]
        if not members or archive.read(members[0]) != (ROOT / name).read_bytes():
            faults.append(f"has no {name}, or another than the project")
    return faults


def bill_faults(archive: zipfile.ZipFile) -> list[str]:
    """Modules of go.mod that the list of the software inside lacks."""
    bills = [json.loads(archive.read(m)) for m in archive.namelist() if ".dist-info/sboms/" in m]
    listed = {f"{part['name']} {part['version']}" for bill in bills for part in bill["components"]}
    lacking = sorted({*modules((ROOT / "go.mod").read_text(encoding="utf-8"))} - listed)
    return [f"lacks {', '.join(lacking)} in .dist-info/sboms"] if lacking else []


def modules(text: str) -> list[str]:
    """Names and versions of the modules that a go.mod requires."""
    return re.findall(r"^\t?(?:require )?(\S+ v[\d.]+\S*)", text, re.MULTILINE)


def readme_faults(archive: zipfile.ZipFile) -> list[str]:
    """Links that lead nowhere on the page of a package index."""
    texts = [archive.read(m).decode() for m in archive.namelist() if m.endswith(".dist-info/METADATA")]
    links = re.findall(r"\]\((?!\w+:|#)([^)]+)\)", "".join(texts))
    return [f"the README links to {', '.join(links)}, which an index does not have"] if links else []


def check_wheel(wheel: Path) -> list[str]:
    """All faults of a wheel."""
    faults = tag_faults(wheel) + audit_faults(wheel)
    if wheel.stat().st_size > MOST_BYTES:
        faults.append(f"is larger than {MOST_BYTES / 1e6} MB: {wheel.stat().st_size / 1e6:.2f} MB")
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as scratch:
        faults += licence_faults(archive) + readme_faults(archive)
        members = [name for name in archive.namelist() if re.fullmatch(f"fewlabel/{LIBRARY}", name)]
        if len(members) != (wanted := 0 if "-none-any." in wheel.name else 1):
            return [*faults, f"holds {len(members)} libraries instead of {wanted}"]
        if not members:
            return faults
        return faults + bill_faults(archive) + check(Path(archive.extract(members[0], scratch)))


def check_source(path: Path) -> list[str]:
    """All faults of the source archive: Go's modules are in it, a library and paths of this machine are not."""
    with tarfile.open(path) as archive:
        files = {m.name.partition("/")[2]: archive.extractfile(m).read() for m in archive if m.isfile()}
    faults = [f"lacks {name}" for name in (*LICENCES, "go.mod", "vendor/modules.txt") if name not in files]
    listed = files.get("vendor/modules.txt", b"").decode()
    for module in modules(files.get("go.mod", b"").decode()):
        if f"# {module}\n" not in listed:
            faults.append(f"lacks the module {module} in vendor/")
    faults += [f"holds a library: {name}" for name in files if re.fullmatch(LIBRARY, name.rpartition("/")[2])]
    return faults + [
        f"{name} holds the path {ROOT}" for name, content in files.items() if str(ROOT).encode() in content
    ]


def main() -> int:
    """Command line."""
    status = 0 if sys.argv[1:] else 2
    for path in map(Path, sys.argv[1:]):
        if path.suffix == ".whl":
            right = f"tag, licences, library and size ({path.stat().st_size / 1e6:.2f} MB) are right"
            status |= report(path, check_wheel(path), right)
        else:
            status |= report(path, check_source(path), "licences and Go's modules are in it, and no library")
    return status


if __name__ == "__main__":
    sys.exit(main())
