"""The comparison of two checkouts: this one with itself, on planted rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import calls, paired

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / ".venv/bin/python").exists(), reason="the worker runs in .venv, which is not there")
def test_a_checkout_is_as_good_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [str(ROOT), "--tasks", "planted", "--methods", "annealing,maxent", "--rounds", "2"]
    paired.main(chosen)
    *_, row = capsys.readouterr().out.splitlines()  # maxent is for many classes
    task, method, _, _, ratio, passes, other_passes, of_passes, of_objectives, error, other_error = row.split()
    assert (task, method) == ("planted", "annealing")
    assert 0.2 < float(ratio) < 5
    assert (float(of_passes), float(of_objectives)) == (1, 1)
    assert passes == other_passes
    assert error == other_error
    assert 0 < float(error) < 40


def test_names_and_folders_are_checked(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=str(tmp_path)):
        paired.worker(tmp_path)
    for wrong in (["--tasks", "nothing"], ["--methods", "guess"]):
        with pytest.raises(SystemExit):
            paired.main([str(tmp_path), *wrong])


@pytest.mark.skipif(not (ROOT / ".venv/bin/python").exists(), reason="the worker runs in .venv, which is not there")
def test_calls_of_a_checkout_cost_as_much_as_its_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calls, "CALLS", {"predict one row": 400, "fit 100 rows": 20})
    calls.main([str(ROOT), "--rounds", "4"])
    _, predict, fit = capsys.readouterr().out.splitlines()
    for row, name, least in ((predict, "predict one row", 1), (fit, "fit 100 rows", 100)):
        assert row.startswith(name)
        this, other, _, ratio, *_ = row.removeprefix(name).split()
        assert min(float(this), float(other)) > least
        assert 0.2 < float(ratio) < 5
