"""What the pictures of README.md and docs/ are drawn from, and that they are drawn."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import aso, dask_ranks, few_labels, figure5, figures, kernels, peers, recipe, recipes
from benchmarks.report import Report
from benchmarks.tasks import UNLABELED, Task

TEXTS = ["Red apple, the red pear", "blue plum and a pear", "blue sky", "sky of plum 7", "", "", "", "", "", ""] * 2


def test_the_last_recipe_is_that_of_the_benchmarks() -> None:
    made = recipes.vectorizers()
    whole = sp.csr_matrix(list(made.values())[-1].fit_transform(TEXTS))
    np.testing.assert_array_equal(whole.toarray(), recipe.vectorize(TEXTS).toarray())
    first = next(iter(made.values())).fit_transform(TEXTS)
    assert set(np.unique(first.data)) == {2.0, 1.0}, "the first recipe is counts"
    assert list(made) == list(recipes.PARTS)


def test_each_learner_has_the_alpha_that_suits_it_best(monkeypatch) -> None:
    class Given:
        def __init__(self, error: float) -> None:
            self.error = error

    monkeypatch.setattr(
        recipes, "LEARNERS", {"a": (lambda task, alpha: Given(task + abs(alpha - 0.01)), recipes.ALPHAS)}
    )
    report = Report(quiet=True)
    recipes.measure(report, "question", "part", "a", [10.0, 20.0])
    assert report.data["recipe, question, a"]["part"] == [10.0, 20.0]
    assert "alpha 0.01" in report.rows[0].note


def test_supervised_learners_have_the_strength_that_is_best_on_the_mean() -> None:
    assert few_labels.best([[90.0, 80.0, 70.0], [50.0, 70.0, 75.0]]) == [80.0, 70.0]


def test_accuracies_are_those_of_the_test_rows() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = sp.csr_matrix(np.column_stack([y + 0.1 * rng.normal(size=80), 1 - y]))
    given = np.where(np.arange(80) < 20, y, UNLABELED)
    wrong = Task("", X, y, given, X_test=X, y_test=1 - y)  # all answers are
    assert few_labels.transductive(wrong, class_prior=wrong.class_prior) == 0
    assert max(few_labels.supervised(wrong)) < 10
    assert few_labels.transductive(Task("", X, y, given, X_test=X, y_test=y)) == 100


def compared_with_peers() -> dict[str, dict]:
    """Values as the benchmark keeps them: macro F, seconds, processor seconds, MB of each fit."""
    fits = {name: [[0.5, 2.0, 3.0, 40.0], [0.6, 4.0, 3.0, 60.0]] for name in peers.NAMES}
    fits[peers.OURS] = [[0.7, 1.0, 1.0, 10.0], [0.8, 1.0, 1.0, 10.0]]
    cells = [f"{peers.PREFIX}{name} {way} {k}" for name in peers.SETS for way in peers.WAYS for k in peers.LABELS]
    return dict.fromkeys(cells, fits) | {peers.PREFIX + peers.LOAD: {"before": 3.0, "draws": 2}}


def test_the_table_of_peers_replaces_the_one_of_the_page(tmp_path: Path) -> None:
    machine = {"cores": "2", "processor": "some", "scikit-learn": "1.9"}
    (tmp_path / "peers.json").write_text(json.dumps({"data": compared_with_peers(), "machine": machine}))
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- table: python -m benchmarks.peers -->\nanother table\n<!-- end of table -->\nafter\n")
    for _ in range(2):
        assert peers.main([str(tmp_path / "peers.json"), str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- table")
    assert text.endswith("<!-- end of table -->\nafter\n")
    assert "another table" not in text
    assert text.count(f"| {peers.OURS} | **0.750** |") == len(peers.SETS)
    assert text.count("| LinearSVC | 0.550 |") == len(peers.SETS)
    assert "means of 2 draws" in text
    assert "busy" in text
    assert text.count("| 3.0 | 3.0 | 50 |") == 2 * (len(peers.NAMES) - 1)
    page.write_text("no place")
    with pytest.raises(SystemExit):
        peers.main([str(tmp_path / "peers.json"), str(page)])


def test_figures_are_drawn_and_the_same_each_time(tmp_path: Path) -> None:
    points = {"labels": [40.0, 80.0], "accuracy": [50.0, 60.0]}
    curves = {
        few_labels.PREFIX + question: dict.fromkeys([*figures.WORDS, "all labels"], points)
        for question in few_labels.QUESTIONS
    }
    points = {"labels": [16.0, 32.0], figure5.MEASURE: [0.5, 0.6], "standard error": [0.1, 0.1]}
    compared = {name: dict.fromkeys([*figure5.METHODS, "all labels"], points) for name in ("one set", "another")}
    samples = {
        f"recipe, {question}, {learner}": {part: [1.0, 2.0] for part in recipes.PARTS}
        for question in recipes.QUESTIONS
        for learner in recipes.LEARNERS
    }
    sequences = {f"{name}, {n}": [30.0, 20.0] for name in ("RBF", "graph") for n in kernels.GALAXY_LABELED}
    qualities = {
        aso.COMPONENTS: {
            f"{features}, {h}": [[50.0] * len(aso.LABELS)] for features in ("mask", "LSA") for h in aso.NUMBERS
        }
    }
    for name, content in {
        "few": {"data": curves},
        "recipe": {"data": samples},
        "figure5": {"data": compared},
        "galaxy": {"data": {"galaxy": sequences}},
        "aso_components": {"data": qualities},
        "peers": {"data": compared_with_peers()},
        "workers_simulated": {
            "data": {
                dask_ranks.SIMULATED: dict.fromkeys(
                    ("2 classes, MPI", "20 classes, Dask"), [0.9] * len(dask_ranks.COUNTS)
                )
            }
        },
    }.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    found = sorted(str(path) for path in tmp_path.glob("*.json"))
    drawn = []
    for folder in (tmp_path / "a", tmp_path / "b"):
        assert figures.main([*found, str(folder)]) == 0
        drawn.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert set(drawn[0]) == {f"{name}.svg" for name in figures.FIGURES}
    assert drawn[0] == drawn[1]
