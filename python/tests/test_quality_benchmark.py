"""The table of the default and its peers: how rows get labels, and what the columns say, by hand."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from benchmarks import corpora, quality, tasks

SIZES = (300, 60, 40)


def planted() -> tasks.DataSet:
    """Rows around a centre for each class, of very different size."""
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(3), SIZES))
    X = rng.normal(size=(len(y), 12))
    X[np.arange(len(y)), y] += 3
    return tasks.data_set("planted", sp.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None]), np.array(["x", "y", "z"])[y])


def test_as_many_rows_are_drawn_at_random_as_equally_of_each_class() -> None:
    equal, random = (quality.draw(planted(), 20, sampling, 0) for sampling in ("equal", "random"))
    n_labels = [np.bincount(task.y[~task.unlabeled], minlength=3).tolist() for task in (equal, random)]
    assert n_labels[0] == [20, 20, 15]  # half of the 30 training rows of the smallest class
    assert sum(n_labels[1]) == 55
    assert n_labels[1][0] > 30
    assert (equal.X != random.X).nnz == 0


def test_the_true_shares_are_those_of_the_classes_with_labels() -> None:
    task = quality.draw(planted(), 20, "equal", 0)
    assert quality.true_shares(task) == pytest.approx(task.shares)
    task.given[task.y == 2] = -1
    assert quality.true_shares(task) == pytest.approx(task.shares[:2] / task.shares[:2].sum())


def test_the_gain_of_the_means_is_the_ratio_of_the_mean_gains() -> None:
    F = {"a": {"supervised": 0.5, "default": 0.6, "true": 0.7}, "b": {"supervised": 0.9, "default": 0.88, "true": 0.9}}
    lines = [
        {"set": name, "labels": 5, "sampling": "equal", "draw": 0, "learner": one, "F": value, "error": 0.0,
         "rare": value, "seconds": 2.0 if one == "default" else 1.0, "warned": 1.0 if one == "default" else np.nan}
        for name, values in F.items() for one, value in values.items()
    ]  # fmt: skip
    table = quality.cells(pd.DataFrame(lines))
    assert table["gain"].iloc[0] == pytest.approx(0.5)
    assert table["time"].tolist() == [2, 2]
    assert quality.overall(table)["gain"].iloc[0] == pytest.approx((0.1 - 0.02) / 0.2)
    assert quality.behind(table).to_dict() == {("b", 5, "equal"): pytest.approx(0.02)}
    assert "1 of 2" in quality.show(pd.DataFrame(lines))


def test_every_learner_has_a_line_and_known_fits_are_taken_over(monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setitem(corpora.SETS, "planted", planted)
    arguments = ["--sets", "planted", "--labels", "5", "--draws", "1", "--output"]
    assert quality.main([*arguments, str(tmp_path / "all.csv")]) == 0
    found = pd.read_csv(tmp_path / "all.csv")
    assert found["learner"].tolist() == 2 * list(quality.LEARNERS)
    assert found["F"].min() > 0.2
    capsys.readouterr()
    again = [*arguments, str(tmp_path / "one.csv"), "--learners", "default", "--known", str(tmp_path / "all.csv")]
    assert quality.main(again) == 0
    assert "F LinearSVC" in capsys.readouterr().out
    assert len(pd.read_csv(tmp_path / "one.csv")) == 2


def test_groups_of_sets_and_wrong_names() -> None:
    assert quality.options().parse_args(["--sets", "rare,comp"]).sets == [*quality.RARE, "comp"]
    with pytest.raises(SystemExit):
        quality.main(["--sets", "nothing"])
