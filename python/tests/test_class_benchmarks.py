"""The benchmarks of many classes: tasks, objectives and, with stand-ins for the estimators, the measurements."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import fewlabel
from benchmarks import corpora, learners, memory, objective, methods_quality, recipe, report, speed, tasks

ALPHA = 0.01
NAMES = np.array(["a.x", "a.y", "b.x", "b.y"])


# ------------------------------------------------------------------ data and stand-ins
def planted(n=240, K=4, d=12, seed=0):
    """Rows around K centres, with class sizes that differ."""
    rng = np.random.default_rng(seed)
    y = rng.choice(K, n, p=np.arange(1, K + 1) / (K * (K + 1) / 2))
    X = rng.normal(size=(n, d))
    X[np.arange(n), y] += 2.5
    return sp.csr_matrix(X / np.linalg.norm(X, axis=1)[:, None]), y


def small_set(**settings):
    X, y = planted()
    return tasks.data_set("planted", X, NAMES[y], **settings)


class StandIn:
    """What the benchmarks use of TransductiveSVC, with LinearSVC on the labeled rows only."""

    made = []  # noqa: RUF012

    def __init__(self, **settings):
        self.settings = settings
        self.made.append(settings)

    def fit(self, X, y):
        alpha, labeled = self.settings["alpha"], np.asarray(y).astype(str) != "-1"
        self.model_ = self.learner(alpha, int(labeled.sum())).fit(X[labeled], np.asarray(y)[labeled])
        self.coef_, self.intercept_, self.classes_ = self.model_.coef_, self.model_.intercept_, self.model_.classes_
        prior = self.settings.get("class_prior")
        self.class_prior_ = np.array([prior[c] for c in self.classes_]) if prior else None
        self.history_, self.n_iter_ = {"n_passes": np.array([3.0, 7.0])}, 2
        return self

    def learner(self, alpha, n):
        if self.settings.get("loss") == "crammer_singer":
            return LinearSVC(
                multi_class="crammer_singer", C=1 / (n * alpha), tol=1e-8, max_iter=100_000, random_state=0
            )
        return LinearSVC(C=1 / (2 * n * alpha), dual=False)

    def predict(self, X):
        return self.model_.predict(X)

    def decision_function(self, X):
        return self.model_.decision_function(X)


class MaxentStandIn(StandIn):
    """The same for SemiSupervisedLogisticRegression: the constant feature is appended to the rows."""

    def fit(self, X, y):
        super().fit(sp.hstack([X, np.ones((X.shape[0], 1))], format="csr"), y)
        self.coef_, self.intercept_ = self.model_.coef_[:, :-1], self.model_.coef_[:, -1]
        return self

    def learner(self, alpha, n):
        return LogisticRegression(C=1 / (n * alpha), tol=1e-6, fit_intercept=False, max_iter=10_000)

    def predict(self, X):
        return self.classes_[np.argmax(X @ self.coef_.T + self.intercept_, axis=1)]


@pytest.fixture
def stand_ins(monkeypatch):
    monkeypatch.setattr(fewlabel, "TransductiveSVC", StandIn, raising=False)
    monkeypatch.setattr(fewlabel, "SemiSupervisedLogisticRegression", MaxentStandIn, raising=False)
    monkeypatch.setattr(corpora, "newsgroups20", small_set)
    monkeypatch.setattr(StandIn, "made", [])
    return StandIn.made


# ------------------------------------------------------------------ objective
def test_objective_by_hand():
    X, y, b = sp.csr_matrix(np.eye(2)), np.array([0, 1]), np.array([1.0, 0.0, 0.0])
    F = np.array([[2.0, 0.5, -0.5], [0.0, 1.0, 3.0]])
    # Row 0 lacks 0, 1.5 and 0.5 of the margin against the rest, row 1 lacks 1, 0 and 4.
    losses = [(1.5**2 + 0.5**2) / 2, (1 + 16) / 2]
    value = objective.one_vs_rest(X, y, (F - b).T, b, 0.1)
    assert value == pytest.approx(0.05 * (np.sum((F - b) ** 2) + 1) + np.mean(losses))


def test_linear_svc_minimizes_the_same_objective():
    X, y = planted(80)
    fitted = learners.linear_svc(len(y), ALPHA, tol=1e-10, max_iter=1_000_000).fit(X, y)
    coef, intercept = fitted.coef_, fitted.intercept_
    least, rng = objective.one_vs_rest(X, y, coef, intercept, ALPHA), np.random.default_rng(0)
    for size in (1e-1, 1e-2, 1e-3):
        near, by = coef + size * rng.normal(size=coef.shape), intercept + size * rng.normal(size=4)
        assert objective.one_vs_rest(X, y, near, by, ALPHA) > least


# ------------------------------------------------------------------ tasks
def test_rare_classes_are_left_out_and_named():
    names = ["b"] * 12 + ["rare"] * 9 + ["a"] * 10
    data = tasks.data_set("s", sp.csr_matrix(np.eye(31)), names, n_train=15)
    assert data.classes.tolist() == ["a", "b"]
    assert data.dropped == {"rare": 9}
    assert data.y.tolist() == [1] * 12 + [0] * 10
    assert data.train.tolist() == [True] * 12 + [False] * 10  # the other three of the first 15 rows are gone
    assert str(data) == "22 rows, 10 of them the test as published; 2 classes; left out, fewer than 10 rows: rare 9"


@pytest.mark.parametrize("n_train", [None, 150])
def test_draws(n_train):
    data = small_set(n_train=n_train)
    few, more = (tasks.draw(data, n, seed=3) for n in (4, 40))
    for task in (few, more):
        assert task.X.shape[0] + task.X_test.shape[0] == 240
        assert len(np.unique(task.y_test)) == 4
        labeled = ~task.unlabeled
        assert (task.given[labeled] == task.y[labeled]).all()
        assert set(task.given[labeled]) == set(task.y[task.unlabeled]) == {0, 1, 2, 3}
    assert (few.n_labels, more.n_labels) == (4, 40)
    assert not (~few.unlabeled & more.unlabeled).any()  # the four labels are among the forty
    assert (few.X != more.X).nnz == 0
    assert (tasks.draw(data, 40, seed=4).given != more.given).any()
    assert more.class_prior["b.y"] == pytest.approx(np.mean(more.y[more.unlabeled] == 3))
    assert sum(more.class_prior.values()) == pytest.approx(1)
    assert set(more.marked[more.unlabeled]) == {"-1"}
    most = len(more.y) - 4
    assert set(tasks.draw(data, most, seed=0).shares) == {0.25}
    for n in (3, most + 1):
        with pytest.raises(ValueError, match=f"{n} labels for 4 classes: give 4 to {most}"):
            tasks.draw(data, n, seed=0)


def test_half_unlabeled():
    data = small_set()
    task = tasks.half_unlabeled(data, 5, seed=1)
    assert np.bincount(task.y[~task.unlabeled]).tolist() == [5] * 4
    assert np.sum(task.unlabeled) == 120
    assert task.X_test.shape[0] == 100
    values = np.sort(np.concatenate([task.X.data, task.X_test.data]))
    np.testing.assert_array_equal(values, np.sort(data.X.data))  # every row is in one part


def test_a_class_of_one_row_cannot_be_drawn():
    with pytest.raises(ValueError, match="class 1 has 1 rows"):
        tasks.label_order(np.array([0, 0, 1]), np.random.default_rng(0))


def test_path_up():
    parents = {"C1511": "C151", "C151": "C15", "C15": "CCAT", "CCAT": "Root", "GSPO": "GCAT", "GCAT": "Root"}
    assert corpora.path_up("C1511", "CCAT", parents) == ["C1511", "C151", "C15"]
    assert corpora.path_up("GSPO", "CCAT", parents) == []
    assert corpora.path_up("CCAT", "CCAT", parents) == []


def test_counts_get_the_weights_of_the_recipe():
    texts = ["pear pear fig", "pear", "fig fig fig kiwi", "plum"] + [""] * 16
    words = ["fig", "kiwi", "pear", "plum"]
    counts = sp.csr_matrix([[t.split().count(w) for w in words] for t in texts])
    np.testing.assert_allclose(corpora.tf_idf(counts).toarray(), recipe.vectorize(texts).toarray())


class Loader:
    """A `load.py` with a few documents of RCV1."""

    @staticmethod
    def rcv1_topics():
        parents = {"CCAT": "Root", "C1": "CCAT", "C11": "C1", "C12": "C1", "C2": "CCAT", "GCAT": "Root", "G1": "GCAT"}
        return sorted(parents), parents

    @staticmethod
    def rcv1():
        one, two = ["CCAT", "C1", "C11"], ["CCAT", "C2"]
        others = [["CCAT", "C1"], ["CCAT", "C1", "C11", "C12"], ["CCAT", "C2", "GCAT", "G1"], ["GCAT", "G1"]]
        topics = [one, two] * 10 + [*others, ["CCAT", "C1", "C12"]]
        return sp.csr_matrix(np.arange(1.0, len(topics) + 1)[:, None]), topics


def test_subtree_of_topics(monkeypatch, tmp_path):
    monkeypatch.setattr(corpora, "loader", lambda: Loader)
    monkeypatch.setattr(corpora, "CACHE", tmp_path)
    data = corpora.rcv1_subtree.__wrapped__()
    assert data.classes.tolist() == ["C11", "C2"]
    assert data.dropped == {"C12": 1}
    assert data.X.data.tolist() == list(range(1, 21))
    assert data.hierarchy == {"C11": "C1", "C1": "CCAT", "C2": "CCAT"}


# ------------------------------------------------------------------ learners
def test_thresholds_meet_the_shares():
    scores = np.random.default_rng(0).normal(size=(4000, 5)) + np.array([2, 1, 0, 0, -2])
    shares = np.array([0.1, 0.2, 0.3, 0.35, 0.05])
    thresholds = learners.thresholds_for_shares(scores, shares)
    found = np.bincount(np.argmax(scores - thresholds, axis=1), minlength=5) / 4000
    np.testing.assert_allclose(found, shares, atol=0.003)


def test_learners_and_their_outcomes(stand_ins):
    task = tasks.draw(small_set(hierarchy="."), 20, seed=0)
    plain = learners.supervised(task)
    assert plain.macro_f > 0.5
    predicted = plain.estimator.predict(task.X[task.unlabeled])
    np.testing.assert_allclose(plain.shares, [np.mean(predicted == c) for c in NAMES])
    assert learners.moved_thresholds(task, plain=plain).off_share(task.shares) < 2
    assert learners.our_supervised(task).macro_f == plain.macro_f
    found = learners.transductive(task, method="switching")
    assert found.macro_f == plain.macro_f
    np.testing.assert_allclose(found.estimator.class_prior_, task.shares)
    assert learners.all_labels(task).macro_f > plain.macro_f
    assert all(settings["hierarchy"] == "." for settings in stand_ins)
    assert [settings.get("unlabeled", "auto") for settings in stand_ins] == [None, "auto", None]


# ------------------------------------------------------------------ measurements
def rows_of(found):
    return {row.what: row for row in found.rows}


def test_quality_sections_run(stand_ins):
    found = report.Report(quiet=True)
    for section in methods_quality.CLASS_SECTIONS:
        section(found)
    rows = rows_of(found)
    assert rows["20 Newsgroups, 20 classes: annealing, mean macro F"].bound == "≥ 0.735"
    assert rows["20 Newsgroups, 20 classes: switching, largest distance from a class share"].bound == "≤ 1 points"
    assert {s.get("loss") for s in stand_ins} == {None, "crammer_singer"}
    assert sum("macro F" in what for what in rows) == 7


def test_time_and_passes_run(stand_ins):
    found = report.Report(quiet=True)
    speed.class_passes_and_time(found, rounds=2)
    rows = rows_of(found)
    assert rows["20 Newsgroups, 20 classes: annealing, passes"].measured == "7.000"
    ratio = rows["time, 20 Newsgroups, 20 classes: switching / supervised with all labels"]
    assert ratio.bound == "≤ 4"
    assert len(ratio.values) == 2


def test_trees_and_losses_are_reported_in_passes_of_flat_classes(stand_ins, monkeypatch):
    monkeypatch.setattr(corpora, "newsgroups20_tree", lambda: small_set(hierarchy="."))
    found = report.Report(quiet=True)
    speed.passes_of_trees_and_losses(found)
    assert [row.measured for row in found.rows] == ["1.000"] * 3  # every stand-in says the same
    assert sorted(s.get("hierarchy") or s.get("loss") or "" for s in stand_ins) == ["", "", ".", ".", "crammer_singer"]


def test_equally_exact_solutions_are_compared(stand_ins):
    found = report.Report(quiet=True)
    speed.supervised_squared_hinge(found, rounds=1)
    title, rows = "20 classes, all labels, squared hinge", rows_of(found)
    ours = float(rows[f"{title}: ours, relative distance from the optimum"].measured)
    assert 0 <= ours < 1e-3
    for peer in ("LinearSVC", "LinearSVC(dual)"):
        assert float(rows[f"{title}: {peer}, relative distance from the optimum"].measured) <= max(2 * ours, 1e-9)
    assert [row.bound for what, row in rows.items() if what.startswith(f"{title}, threads")] == ["≥ 1", "≥ 2"]


def test_memory_gets_the_task(tmp_path):
    task = tasks.draw(small_set(), 20, seed=0)
    memory.save(tmp_path / "task.npz", task)
    X, y, given, prior = memory._load(tmp_path / "task.npz")
    assert (X != task.X).nnz == 0
    np.testing.assert_array_equal(y, task.y)
    np.testing.assert_array_equal(given, task.given)
    assert prior == dict(enumerate(task.shares))


def test_standard_error():
    assert report.standard_error(np.array([1.0, 2.0, 3.0])) == pytest.approx(1 / np.sqrt(3))
    assert report.standard_error(np.array([1.0])) == 0
