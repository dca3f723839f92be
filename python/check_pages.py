"""Check the pages: links lead somewhere and have a text, names of the package and of the C interface exist.

    python python/check_pages.py [PAGE ...]

Without arguments all Markdown files of the project and of docs/. Links to other sites are not followed.
"""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from pathlib import Path

from check_library import ROOT, report

DECLARED = (ROOT / "include" / "fewlabel.h", ROOT / "Makefile", ROOT / "python" / "tests" / "conftest.py")
MADE = re.compile(r"gallery/(\w+)\.rst$|generated/(?:index\.rst|few_labels\.md)$")  # by `make docs`
LINK = re.compile(r"\[([^\]\[]*)\]\(([^()\s]+)\)")
NAME = re.compile(r"`~?(fewlabel(?:\.\w+)+)")
C_NAME = re.compile(r"`((?:fewlabel|FEWLABEL)_\w+)")
FILE_NAMES = re.compile(r"\.(so|dll|dylib|a|h|pc|svm|model)$")


def without_code(text: str) -> str:
    """Text without its blocks of code."""
    return re.sub(r"^ *(```|~~~).*?^ *\1 *$", "", text, flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(page: Path) -> set[str]:
    """What a link into the page may name: its headings, as code hosts write them, and the labels given to places."""
    text = without_code(page.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ +(.+?) *#*$", text, re.MULTILINE)
    plain = [re.sub(r"[^\w\- ]", "", re.sub(r"\]\(.*?\)", "", heading)).strip() for heading in headings]
    return {heading.lower().replace(" ", "-") for heading in plain} | set(
        re.findall(r"^\(([\w-]+)\)=$", text, re.MULTILINE)
    )


def link_faults(page: Path) -> list[str]:
    """Links that lead nowhere, and those that have no text where pages are not built."""
    faults = []
    for text, link in LINK.findall(without_code(page.read_text(encoding="utf-8"))):
        path, _, anchor = link.partition("#")
        if not text.strip():
            faults.append(f"the link to {link} has no text")
        if re.match(r"[a-z]+:", link):
            continue
        if made := MADE.match(path):
            path = f"../examples/gallery/{made[1]}.py" if made[1] and made[1] != "index" else ""
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            faults.append(f"there is no {link}")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target):
            faults.append(f"{path or page.name} has no part {anchor}")
    return faults


def exists(name: str) -> bool:
    """Whether a dotted name can be imported, or is an attribute of what can."""
    parts = name.split(".")
    for k in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for part in parts[k:]:
            known = {*dir(found), *getattr(found, "__annotations__", {}), *getattr(found, "__dataclass_fields__", {})}
            if part not in known:
                return False
            found = getattr(found, part, None)
        return True
    return False


def name_faults(page: Path) -> list[str]:
    """Names in code spans that neither the package nor the header has."""
    text = page.read_text(encoding="utf-8")
    names = {name for name in NAME.findall(text) if not FILE_NAMES.search(name) and not exists(name)}
    declared = {name for file in DECLARED for name in re.findall(r"(?:fewlabel|FEWLABEL)_\w+", file.read_text())}
    names |= {name for name in C_NAME.findall(text) if name not in declared and not name.endswith("_")}
    return [f"there is no {name}" for name in sorted(names)]


def main() -> int:
    """Command line."""
    pages = [Path(name).resolve() for name in sys.argv[1:]] or sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
    return max(report(page, link_faults(page) + name_faults(page), "links and names are right") for page in pages)


if __name__ == "__main__":
    sys.exit(main())
