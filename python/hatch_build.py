"""Build hook of the Python package: puts the native library into wheels, and Go's modules into the source archive.

FEWLABEL_TARGET=aarch64 makes a wheel for ARM; build_library.py has the names of the targets. FEWLABEL_TARGET=any makes
one without a library, which loads models and predicts.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_library


class LibraryBuildHook(BuildHookInterface):
    """Runs before each build: standard wheel, editable install, source archive.

    Only the editable install leaves something in the folder of the project, the library beside the package's modules.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what the target needs; end with one clear message when a tool is missing."""
        try:
            if self.target_name == "sdist":
                self._add_modules(build_data)
            elif os.environ.get("FEWLABEL_TARGET") == "any":
                build_data["tag"] = "py3-none-any"
            elif version == "editable":
                self._add_library(build_data, build_library.PACKAGE)
            else:
                self._add_library(build_data, self._scratch())
        except build_library.BuildError as error:
            self.app.abort(str(error))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove what was made for the archive only."""
        if folder := getattr(self, "_folder", None):
            folder.cleanup()

    def _scratch(self) -> Path:
        """A folder that is there until the archive is written; the project's own may be read-only."""
        self._folder = tempfile.TemporaryDirectory(prefix="fewlabel-")
        return Path(self._folder.name)

    def _add_library(self, build_data: dict[str, Any], folder: Path) -> None:
        target = build_library.target_of_name(os.environ.get("FEWLABEL_TARGET", ""))
        library = build_library.build(folder, version=self.metadata.version, target=target)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{build_library.wheel_platform(library, target)}"
        if folder != build_library.PACKAGE:
            build_data["force_include"][str(library)] = f"fewlabel/{library.name}"
            bill = folder / "fewlabel.cdx.json"
            bill.write_text(build_library.bill_of_materials(library, self.metadata.version), encoding="utf-8")
            build_data["sbom_files"].append(str(bill))  # as PEP 770 has it

    def _add_modules(self, build_data: dict[str, Any]) -> None:
        """Put the Go modules into the archive as vendor/, where `go build` finds them without any download."""
        modules = Path(self.root) / "vendor"
        if not modules.is_dir():  # it is there in a source archive that was unpacked
            modules = self._scratch() / "vendor"
            self._vendor(modules)
        build_data["force_include"][str(modules)] = "vendor"

    def _vendor(self, folder: Path) -> None:
        build_library.check_tools()
        if subprocess.run(["go", "mod", "vendor", "-o", str(folder)], cwd=self.root).returncode:
            raise build_library.BuildError("fewlabel: 'go mod vendor' failed, see above")
