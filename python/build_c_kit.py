"""Build the C kit: both libraries, header, files for pkg-config and CMake, manual and examples in one archive.

    python python/build_c_kit.py FOLDER

The archive goes to FOLDER. It works where it is unpacked. Linux with glibc only, as the library. Uses Go, a C compiler
and binutils.
"""

from __future__ import annotations

import gzip
import io
import platform
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

import build_library
from check_library import ROOT

# What the archive has besides the libraries, at the same places as in the project.
FILES = ("include/fewlabel.h", "LICENSE", "THIRD_PARTY_LICENSES.md", "CHANGELOG.md")
FOLDERS = "docs", "examples/c"

PKG_CONFIG = """\
prefix=${{pcfiledir}}/../..
libdir=${{prefix}}/lib
includedir=${{prefix}}/include

Name: {name}
Description: Classifiers that learn from few labels and many unlabeled rows{kind}
Version: {version}
Cflags: -I${{includedir}}
"""
SHARED = "Libs: -L${libdir} -lfewlabel -Wl,-rpath,${libdir}\nLibs.private: -pthread\n"
STATIC = "Libs: -L${libdir} -l:libfewlabel.a -pthread\n"
CMAKE = """\
# find_package(fewlabel) makes the targets fewlabel::fewlabel, the shared library, and fewlabel::static.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
get_filename_component(fewlabel_kit "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
if(NOT TARGET fewlabel::fewlabel)
  add_library(fewlabel::fewlabel SHARED IMPORTED)
  set_target_properties(fewlabel::fewlabel PROPERTIES IMPORTED_LOCATION "${fewlabel_kit}/lib/libfewlabel.so")
  add_library(fewlabel::static STATIC IMPORTED)
  set_target_properties(fewlabel::static PROPERTIES IMPORTED_LOCATION "${fewlabel_kit}/lib/libfewlabel.a"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;m")
  set_target_properties(fewlabel::fewlabel fewlabel::static PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${fewlabel_kit}/include")
endif()
"""
CMAKE_VERSION = """\
set(PACKAGE_VERSION {version})
if(NOT PACKAGE_FIND_VERSION VERSION_GREATER PACKAGE_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()
"""


def fill(folder: Path) -> None:
    """Put everything into the folder of the kit."""
    version = build_library.project_version()
    for name in (*FILES, *sorted(str(p.relative_to(ROOT)) for part in FOLDERS for p in (ROOT / part).iterdir())):
        if Path(name).suffix in (".h", ".c", ".md", "") and (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, folder / name)
    packages = folder / "lib" / "pkgconfig"
    packages.mkdir(parents=True)
    build_library.build(packages.parent)
    build_library.build_static(packages.parent)
    for name, kind, libraries in (("fewlabel", "", SHARED), ("fewlabel-static", " (static library)", STATIC)):
        text = PKG_CONFIG.format(name=name, kind=kind, version=version) + libraries
        (packages / f"{name}.pc").write_text(text, encoding="utf-8")
    cmake = folder / "lib" / "cmake" / "fewlabel"
    cmake.mkdir(parents=True)
    (cmake / "fewlabelConfig.cmake").write_text(CMAKE, encoding="utf-8")
    (cmake / "fewlabelConfigVersion.cmake").write_text(CMAKE_VERSION.format(version=version), encoding="utf-8")


def pack(folder: Path, archive: Path) -> None:
    """Write the folder as an archive that has no dates and owners: the same files give the same bytes."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for path in sorted(folder.rglob("*")):
            member = tar.gettarinfo(path, f"{folder.name}/{path.relative_to(folder)}")
            member.uid = member.gid = member.mtime = 0
            member.uname = member.gname = ""
            member.mode = 0o755 if path.is_dir() or path.suffix == ".so" else 0o644
            if path.is_file():
                with path.open("rb") as content:
                    tar.addfile(member, content)
            else:
                tar.addfile(member)
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(gzip.compress(written.getvalue(), mtime=0))


def main() -> int:
    """Command line."""
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    if not build_library.HERE.is_glibc:
        print("the C kit is made on Linux with glibc only", file=sys.stderr)
        return 1
    name = f"fewlabel-c-{build_library.project_version()}-linux-{platform.machine()}"
    archive = Path(sys.argv[1]).resolve() / f"{name}.tar.gz"
    try:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / name
            fill(folder)
            pack(folder, archive)
    except build_library.BuildError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{archive} ({archive.stat().st_size / 1e6:.2f} MB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
