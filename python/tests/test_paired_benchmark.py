"""The comparison of two checkouts: this one with itself, on planted rows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from benchmarks import calls, large, paired, svmlin

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


def test_a_task_is_written_as_svmlin_reads_it(tmp_path: Path) -> None:
    task = large.task(300, cols=200, row_length=10)
    svmlin.write(task, tmp_path)
    rows = (tmp_path / "rows").read_text(encoding="utf-8").splitlines()
    (tmp_path / "again").write_text("".join(f"0 {row}\n" for row in rows), encoding="utf-8")
    X, _ = load_svmlight_file(str(tmp_path / "again"), n_features=200, zero_based=False)
    np.testing.assert_allclose(X.toarray(), task.X.toarray(), rtol=1e-12)
    labels = np.loadtxt(tmp_path / "labels")
    assert (labels[task.unlabeled] == 0).all()
    np.testing.assert_array_equal(labels[~task.unlabeled] > 0, task.y[~task.unlabeled] == 1)
