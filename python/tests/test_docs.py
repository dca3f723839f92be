"""The Python examples in the README and in docs/ run and print what stands below them; files that pages name exist.

An example is a block ```python; a block ```py is a fragment, or a script with other tests, and says so in its first
line. An example must not warn, but of shares that are a guess, and a block ```text directly after it
is its output. The blocks of one file share their names, top to bottom.
"""

from __future__ import annotations

import contextlib
import io
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NOT_YET = {"engine/loss/logistic.go", "engine/method/self_training.go"}  # the examples of new files
EXAMPLE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(?:\s*^```text\n(?P<output>.*?)^```\n)?", re.DOTALL | re.MULTILINE
)


@pytest.mark.filterwarnings("error", "ignore:the class shares are a guess")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    examples = list(EXAMPLE.finditer(text))
    if not examples:
        pytest.skip("no Python example on this page")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for example in examples:
        # Blank lines in front make the line numbers of a traceback those of the page.
        lines_above = text.count("\n", 0, example.start("code"))
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * lines_above + example["code"], str(page), "exec"), names)
        if example["output"] is not None:
            assert printed.getvalue() == example["output"]


def test_blocks_that_are_not_run_say_so() -> None:
    blocks = [
        block for page in PAGES for block in re.findall(r"^```py\n.*", page.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert [block for block in blocks if not re.match(r"```py\n# a (fragment|script)", block)] == []


def test_the_module_prints_what_the_pages_show(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["fewlabel", "texts.csv"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("fewlabel", run_name="__main__")
    assert "unrecognized arguments: texts.csv" in capsys.readouterr().err
    monkeypatch.setattr("sys.argv", ["fewlabel"])
    runpy.run_module("fewlabel", run_name="__main__")
    table, lines = re.search(r"\n\n(answers.*?)\n\n.*\n\n(import.*)", capsys.readouterr().out, re.DOTALL).groups()
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/csv.md"))
    assert f"```text\n{table}\n```" in readme
    assert f"```python\n{lines}```" in page
    assert len(lines.strip().replace("\n\n", "\n").splitlines()) <= 12


def test_a_reader_that_stops_leaves_no_traceback() -> None:
    run = [sys.executable, "-m", "fewlabel"]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        program.stdout.readline()
        program.stdout.close()
        assert program.stderr.read() == b""
    assert program.returncode == 1


def test_files_of_the_engine_exist() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    named = set(re.findall(r"`((?:\w+/)+\w+\.go)", text)) - NOT_YET
    assert [name for name in sorted(named) if not any((ROOT / at / name).is_file() for at in (".", "engine"))] == []


def test_the_notebook_has_no_path_of_a_machine() -> None:
    text = (ROOT / "examples" / "few_labels.ipynb").read_text(encoding="utf-8")
    assert not re.search(r'"(?:/|\\s)?(?:tmp|home|work|root)/|ipykernel_', text)
