"""docs/c.md says what the header and the library say: functions, status codes, fields, options; its program runs."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fewlabel._native import _library, _signatures as c

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "c.md").read_text(encoding="utf-8")
HEADER = re.sub(r"/\*.*?\*/", " ", (ROOT / "include" / "fewlabel.h").read_text(encoding="utf-8"), flags=re.DOTALL)
BLOCKS = re.findall(r"^```c\n(.*?)^```\n(?:\s*^```text\n(.*?)^```\n)?", PAGE, re.DOTALL | re.MULTILINE)


def prototypes(text: str) -> set[str]:
    """Declarations of functions, with one blank between words."""
    found = re.findall(r"^((?:int32_t|int64_t|const char \*)\s*fewlabel_\w+\([^)]*\);)", text, re.MULTILINE)
    return {" ".join(declaration.split()) for declaration in found}


def in_words(option: dict[str, Any]) -> str:
    """The range of an option as the page has it."""
    if "choices" in option:
        return ", ".join(f'`"{choice}"`' for choice in option["choices"])
    if option["type"] == "boolean":
        return "`true`, `false`"
    if option["type"] == "strings":
        return "any"
    each = "each " if option["type"] in ("numbers", "integers") else ""
    own = option.get("maximum", 1e100) != 1e100  # the page says this one once for all
    most = f", at most {option['maximum']}" if own else ""
    return f"{each}{'above' if option['exclusive_minimum'] else 'at least'} {option['minimum']}{most}"


def test_the_largest_number() -> None:
    assert "No number may exceed 1e100, and none that is above 0 may be below 1e-100." in PAGE


def test_every_function_is_declared_as_in_the_header() -> None:
    in_page = set().union(*(prototypes(code) for code, _ in BLOCKS))
    assert in_page == prototypes(HEADER)
    assert len(in_page) == len(c.SIGNATURES)


def test_every_function_is_explained() -> None:
    prose = re.sub(r"^```.*?^```", "", PAGE, flags=re.DOTALL | re.MULTILINE)
    explained_under_their_heading = {"fewlabel_options", "fewlabel_fit", "fewlabel_array", "fewlabel_assemble"}
    explained_under_their_heading |= {"fewlabel_save", "fewlabel_load"}
    for name in set(c.SIGNATURES) - explained_under_their_heading:
        assert f"`{name}`" in prose, name


def test_every_status_code_and_constant() -> None:
    constants = dict(re.findall(r"#define (FEWLABEL_\w+) (\d+)", HEADER))
    table = dict(re.findall(r"^\| `(FEWLABEL_\w+)` \| (\d+) \|", PAGE, re.MULTILINE))
    named = table | dict(re.findall(r"`(FEWLABEL_\w+)`\s\((\d+)\)", PAGE))
    assert named == constants
    assert sorted(map(int, table.values())) == list(range(len(table)))


def test_every_field() -> None:
    for structure in (c.Rows, c.Progress, c.Named):
        for name, _ in structure._fields_:
            assert f"`{name}`" in PAGE, name


@pytest.mark.parametrize(
    ("kind", "heading"), [(c.LINEAR, "Fit"), (c.SEQUENCE, "Label sequences"), (c.STRUCTURE, "Structure")]
)
def test_every_option_with_its_type_default_and_range(kind: int, heading: str) -> None:
    text = PAGE.split(f"\n### {heading}\n")[1].split("\n### ")[0]
    rows = re.findall(r"^\| `([a-z_]+)` \| (.*) \|$", text, re.MULTILINE)
    options = json.loads(_library.text("fewlabel_options", kind))
    assert [name for name, _ in rows] == [option["name"] for option in options]
    for (name, row), option in zip(rows, options, strict=True):
        kind, default, legal, meaning = row.split(" | ", 3)
        assert (kind, default, legal) == (option["type"], f"`{json.dumps(option['default'])}`", in_words(option)), name
        assert meaning


@pytest.mark.skipif(not shutil.which(os.environ.get("CC", "cc")), reason="no C compiler")
def test_the_program_runs_and_prints_what_stands_below_it(tmp_path: Path) -> None:
    ((program, output),) = [(code, output) for code, output in BLOCKS if "int main" in code]
    (tmp_path / "program.c").write_text(program, encoding="utf-8")
    folder = _library.PATH.parent
    command = [
        os.environ.get("CC", "cc"),
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{ROOT / 'include'}",
        "program.c",
    ]
    subprocess.run(
        [*command, "-o", "program", f"-L{folder}", "-lfewlabel", f"-Wl,-rpath,{folder}"], cwd=tmp_path, check=True
    )
    done = subprocess.run([tmp_path / "program"], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == output
