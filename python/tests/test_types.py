"""What mypy says of a user's code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
CODE = Path(__file__).with_name("typed_code.py")


def test_mypy_finds_the_mistakes_in_code_of_users_and_nothing_else() -> None:
    """With the settings of a user: strict, and nothing of ours."""
    package = os.environ | {"MYPYPATH": str(CODE.parents[1])}
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-pretty", str(CODE)]
    said = subprocess.run(command, env=package, cwd=CODE.parents[2], capture_output=True, text=True, check=False)
    lines = CODE.read_text(encoding="utf-8").split("\n")
    wanted = [(k, found[1]) for k, line in enumerate(lines, 1) if (found := re.search(r"# error: (\S+)", line))]
    errors = re.findall(rf"(?m){CODE.name}:(\d+): error: .*\[(\S+)\]$", said.stdout)
    assert [(int(line), code) for line, code in errors] == wanted, said.stdout + said.stderr
