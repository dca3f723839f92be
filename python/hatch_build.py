"""Build hook of the Python package: puts the native library into wheels, and Go's modules into the source archive."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent))
import build_library


class LibraryBuildHook(BuildHookInterface):
    """Runs before each build: standard wheel, editable install, source archive."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build what the target needs; end with one clear message when a tool is missing."""
        try:
            if self.target_name == "wheel":
                self._add_library(build_data)
            elif self.target_name == "sdist":
                self._add_modules(build_data)
        except build_library.BuildError as error:
            self.app.abort(str(error))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the modules that were copied for the source archive."""
        if self.target_name == "sdist":
            shutil.rmtree(self._modules, ignore_errors=True)

    @property
    def _modules(self) -> Path:
        return Path(self.root) / "build" / "vendor"

    def _add_library(self, build_data: dict[str, Any]) -> None:
        library = build_library.build(version=self.metadata.version)
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{build_library.wheel_platform(library)}"

    def _add_modules(self, build_data: dict[str, Any]) -> None:
        """Put the Go modules into the archive as vendor/, where `go build` finds them without any download."""
        build_library.check_tools()
        command = ["go", "mod", "vendor", "-o", str(self._modules)]
        if subprocess.run(command, cwd=self.root).returncode:
            raise build_library.BuildError("fewlabel: 'go mod vendor' failed, see above")
        if self._modules.is_dir():
            build_data["force_include"][str(self._modules)] = "vendor"
