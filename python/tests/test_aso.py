"""ASOTransformer: the structure, its strategies, labels, pipelines, the protocol."""

from __future__ import annotations

import itertools
import os
import re
import signal
import sys
import threading
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from checks import ROWS, variants
from planted import many_topics
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import normalize
from sklearn.svm import LinearSVC

from fewlabel import ASOTransformer, DataWarning, TransductiveSVC, save_model
from fewlabel.model_selection import SemiSupervisedSplit
from fewlabel.sequences import TokenVectorizer

X, Y, TRUTH = many_topics(labels=40)


class AboveMedian:
    """Problems for data that is dense, which scikit-learn's checks have; the repr is the same in every process."""

    def __call__(self, rows: sp.csr_array, y: object) -> np.ndarray:
        dense = rows.toarray()
        return dense > np.median(dense, axis=0)

    def __repr__(self) -> str:
        return "above_median"


CHECKED = [ASOTransformer(n_components=1, auxiliary=AboveMedian(), output=output) for output in ("both", "structure")]


@variants(CHECKED, ROWS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# ------------------------------------------------------------------ the structure
def subspace(components: np.ndarray) -> np.ndarray:
    return components.T @ components


def sides(rows: np.ndarray, answers: np.ndarray, visible: np.ndarray) -> np.ndarray:
    """Masked, centered co-occurrences with columns of length 1, dense."""
    found = visible * ((rows - rows.mean(axis=0)).T @ (answers - answers.mean(axis=0)))
    return found / np.linalg.norm(found, axis=0)


@pytest.fixture(scope="module")
def transformer() -> ASOTransformer:
    return ASOTransformer(n_components=3, max_problems=80).fit(X)


def test_the_components_are_those_of_masked_centered_cooccurrences(transformer: ASOTransformer) -> None:
    dense = X.toarray()
    counts = (dense != 0).sum(axis=0)
    chosen = np.argsort(-np.minimum(counts, len(dense) - counts), kind="stable")[:80]
    visible = np.ones((X.shape[1], 80))
    visible[chosen, np.arange(80)] = 0
    u, s, _ = np.linalg.svd(sides(dense, dense[:, chosen] != 0, visible))
    assert transformer.n_problems_ == 80
    np.testing.assert_allclose(transformer.components_ @ transformer.components_.T, np.eye(3), atol=1e-10)
    np.testing.assert_allclose(subspace(transformer.components_), u[:, :3] @ u[:, :3].T, atol=1e-6)
    np.testing.assert_allclose(transformer.strengths_, s[:3], rtol=1e-6)


def test_structure_tells_planted_topics_apart(transformer: ASOTransformer) -> None:
    features = normalize(transformer.set_params(output="structure").transform(X))
    transformer.set_params(output="both")
    means = np.array([features[c == TRUTH].mean(axis=0) for c in range(4)])
    assert np.mean(np.argmax(features @ means.T, axis=1) == TRUTH) > 0.9


def classifier(**settings: Any) -> Any:
    """The structure and a supervised classifier, which ignores rows without a label."""
    return make_pipeline(
        ASOTransformer(**({"n_components": 3} | settings)), TransductiveSVC(unlabeled_weight=0, alpha=5e-4)
    )


def test_a_classifier_is_better_than_one_without_structure() -> None:
    labeled = Y >= 0
    plain = LinearSVC(C=10).fit(X[labeled], Y[labeled])
    model = classifier(max_problems=80).fit(X, Y)
    assert model.score(X[~labeled], TRUTH[~labeled]) > plain.score(X[~labeled], TRUTH[~labeled]) + 0.02


def test_features_are_those_of_x_and_the_scaled_projections(transformer: ASOTransformer) -> None:
    found = clone(transformer).set_params(structure_weight=2.5).fit(X).transform(3 * X)
    added = normalize(3 * X @ transformer.components_.T) * 2.5 * 3  # rows of X have length 1
    assert sp.issparse(found)
    assert found.format == "csr"
    np.testing.assert_allclose(found[:, :-3].toarray(), 3 * X.toarray(), rtol=1e-12)
    np.testing.assert_allclose(found[:, -3:].toarray(), added, atol=1e-12)


def test_a_row_without_entries_stays_zero(transformer: ASOTransformer) -> None:
    assert transformer.transform(sp.csr_matrix((1, X.shape[1]))).nnz == 0


def test_dense_rows_stay_dense(transformer: ASOTransformer) -> None:
    np.testing.assert_allclose(transformer.transform(X.toarray()), transformer.transform(X).toarray(), atol=1e-12)


def test_names_and_data_frames() -> None:
    pd = pytest.importorskip("pandas")
    names = [f"word{j}" for j in range(X.shape[1])]
    frame = pd.DataFrame(X.toarray(), columns=names)
    model = ASOTransformer(n_components=2, output="structure").set_output(transform="pandas").fit(frame)
    assert model.transform(frame).columns.tolist() == ["asotransformer0", "asotransformer1"]
    both = ASOTransformer(n_components=2).set_output(transform="pandas").fit(frame)
    assert both.transform(frame).columns.tolist() == [*names, "asotransformer0", "asotransformer1"]
    assert both.get_feature_names_out().tolist() == [*names, "asotransformer0", "asotransformer1"]
    table = both.strongest_features(3)
    assert [row.component for row in table] == [0, 1]
    name, weight = table[1].negative[0]
    assert weight == both.components_[1].min()
    assert names[both.components_[1].argmin()] == name
    assert weight <= table[1].negative[1][1] <= table[1].positive[2][1] <= table[1].positive[0][1]
    assert (
        both.strongest_features(1, feature_names=np.arange(X.shape[1]))[0].positive[0][0]
        == both.components_[0].argmax()
    )


def test_the_structure_has_the_same_bits_on_any_number_of_threads() -> None:
    one, two = (ASOTransformer(n_components=3, solver="squared", n_jobs=k).fit(X).components_ for k in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_any_form_of_rows_gives_the_same_structure() -> None:
    reference = ASOTransformer(n_components=3).fit(X)
    for rows in (X.toarray(), sp.csr_array(X), sp.coo_matrix(X), X.astype(np.float64)):
        np.testing.assert_allclose(
            subspace(ASOTransformer(n_components=3).fit(rows).components_), subspace(reference.components_), atol=1e-7
        )


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("size", [1e-30, 1e25])
def test_rows_whose_squares_float32_cannot_hold(form: Any, size: float) -> None:
    model = ASOTransformer(n_components=3).fit(X)
    rows = [form((X.toarray() * factor).astype(np.float32)) for factor in (1, size)]
    wanted, found = (sp.csr_array(model.transform(each)).toarray() for each in rows)
    np.testing.assert_allclose(found / size, wanted, rtol=1e-4, atol=1e-6)


def test_the_objective_never_rises() -> None:
    model = ASOTransformer(n_components=3, solver="squared", n_iter=6, unit=False, auxiliary_alpha=1e-2).fit(X)
    assert len(model.objective_) == 6
    assert (np.diff(model.objective_) <= 0).all()
    assert len(ASOTransformer(n_components=3).fit(X).objective_) == 0


# ------------------------------------------------------------------ strategies
def test_groups_have_components_of_their_own_and_are_hidden_as_a_whole() -> None:
    dense, d = X.toarray(), X.shape[1]
    groups = np.arange(d) % 2
    model = ASOTransformer(n_components=2, feature_groups=groups, max_problems=60).fit(X)
    counts = (dense != 0).sum(axis=0)
    chosen = np.argsort(-np.minimum(counts, len(dense) - counts), kind="stable")[:60]
    visible = (groups[:, None] != groups[chosen]).astype(float)
    whole = sides(dense, dense[:, chosen] != 0, visible)
    assert [part.shape for part in model.components_] == [(2, d // 2)] * 2
    for group in (0, 1):
        u = np.linalg.svd(whole[groups == group])[0][:, :2]
        np.testing.assert_allclose(subspace(model.components_[group]), u @ u.T, atol=1e-6)
    np.testing.assert_array_equal(model.feature_groups_[1], np.flatnonzero(groups))
    features = model.set_params(output="structure").transform(X)
    np.testing.assert_allclose(features[:, 2:], dense[:, 1::2] @ model.components_[1].T, atol=1e-12)
    named = ASOTransformer(n_components=2, feature_groups=np.where(groups, "odd", "even"), max_problems=60)
    np.testing.assert_array_equal(named.fit(X).components_[1], model.components_[1])
    assert len(model.strongest_features(2)) == 4
    both = named.set_params(structure_weight=3).transform(X).toarray()
    for group in (0, 1):  # as long as the row's features of the group, times the weight
        added = both[:, d + 2 * group : d + 2 * group + 2]
        np.testing.assert_allclose(
            added,
            3
            * np.linalg.norm(dense[:, group::2], axis=1)[:, None]
            * normalize(dense[:, group::2] @ model.components_[group].T),
            atol=1e-12,
        )


@pytest.mark.parametrize("auxiliary", ["frequent", "top_k", "top_1", "multi_2", ["mask", "frequent"]])
def test_every_strategy_finds_structure(auxiliary: Any) -> None:
    model = classifier(auxiliary=auxiliary, max_problems=80).fit(X, Y)
    assert model.score(X[Y < 0], TRUTH[Y < 0]) > 0.75


@pytest.mark.parametrize(("auxiliary", "n_problems"), [("top_k", 4), ("top_1", 4), ("multi_1", 4)])
def test_choices_of_two_classes_are_both_classes(auxiliary: str, n_problems: int) -> None:
    two = np.flatnonzero(TRUTH < 2)
    model = classifier(n_components=1, auxiliary=auxiliary).fit(X[two], Y[two])
    assert model[0].n_problems_ == n_problems
    hidden = Y[two] < 0
    assert model.score(X[two][hidden], TRUTH[two][hidden]) > 0.75


def test_frequent_asks_for_the_largest_feature_of_the_other_half() -> None:
    from fewlabel import _auxiliary

    context = _auxiliary.Context(None, None, 1000, np.random.RandomState(0), 1)
    made = _auxiliary.make("frequent", sp.csr_array(X), None, context)
    dense, labels = X.toarray(), made.labels.toarray() != 0
    for number in (0, 1):
        half = made.hidden[[number]].indices
        for answers in labels[:, made.hides == number].T:
            asked = np.unique(half[dense[answers][:, half].argmax(axis=1)])
            assert len(asked) == 1
    assert sorted(np.concatenate([made.hidden[[k]].indices for k in (0, 1)])) == list(range(X.shape[1]))


def test_own_problems_are_a_matrix_or_a_callable() -> None:
    answers = np.eye(4)[TRUTH]
    matrix = ASOTransformer(n_components=2, auxiliary=answers).fit(X)
    for other in (
        lambda rows, y: answers,
        lambda rows, y: (sp.csr_array(answers), np.zeros((4, X.shape[1]))),
        [answers],
    ):
        found = ASOTransformer(n_components=2, auxiliary=other).fit(X)
        np.testing.assert_array_equal(found.components_, matrix.components_)
    hidden = np.zeros((4, X.shape[1]))
    hidden[:, :100] = 1
    blind = ASOTransformer(n_components=2, auxiliary=lambda rows, y: (answers, hidden)).fit(X)
    assert np.abs(blind.components_[:, :100]).max() < 1e-12


def test_the_problems_with_the_most_positives_are_kept() -> None:
    answers = np.zeros((len(TRUTH), 3))
    answers[:50, 0] = answers[:5, 1] = answers[:, 2] = 1
    answers[0, 2] = answers[1, 2] = 0
    assert ASOTransformer(n_components=1, auxiliary=answers, max_problems=2).fit(X).n_problems_ == 2
    assert ASOTransformer(n_components=1, auxiliary=answers).fit(X).n_problems_ == 3


# ------------------------------------------------------------------ labels
def test_labels_matter_for_the_strategies_that_ask_for_them_alone() -> None:
    plain = ASOTransformer(n_components=3).fit(X)
    np.testing.assert_array_equal(ASOTransformer(n_components=3).fit(X, "no labels").components_, plain.components_)
    reference = ASOTransformer(n_components=3, auxiliary="top_k").fit(X, Y)
    texts = np.array([None if label < 0 else f"class {label}" for label in Y], dtype=object)
    np.testing.assert_array_equal(clone(reference).fit(X, texts).components_, reference.components_)


def test_an_indicator_matrix_gives_the_choices_among_its_columns() -> None:
    matrix = np.eye(4, dtype=np.int64)[TRUTH]
    given = np.where((Y >= 0)[:, None], matrix, -1)
    one = ASOTransformer(n_components=3, auxiliary="multi_1").fit(X, Y)
    several = clone(one).fit(X, given)
    np.testing.assert_allclose(subspace(several.components_), subspace(one.components_), atol=1e-6)
    given[np.flatnonzero(Y >= 0)[:5], 0] = -1  # labeled in three of four columns
    model = classifier(auxiliary="multi_1").fit(X, given)
    assert np.mean(model.predict(X) == matrix) > 0.85


@pytest.mark.filterwarnings("ignore:feature 240")
def test_a_pipeline_learns_from_unlabeled_rows() -> None:
    model = make_pipeline(ASOTransformer(n_components=20), TransductiveSVC()).fit(X, Y)
    assert model.score(X[Y < 0], TRUTH[Y < 0]) > 0.9


def test_searches_and_pipelines() -> None:
    search = GridSearchCV(classifier(), {"asotransformer__n_components": [2, 3]}, cv=SemiSupervisedSplit(2)).fit(X, Y)
    assert search.best_params_["asotransformer__n_components"] in (2, 3)
    labeled = Y >= 0
    pipe = make_pipeline(ASOTransformer(n_components=3).fit(X), LinearSVC()).fit(X[labeled], Y[labeled])
    assert pipe.score(X, TRUTH) > 0.5
    steps = make_pipeline(ASOTransformer(), LinearSVC())
    found = GridSearchCV(steps, {"asotransformer__n_components": [1, 3]}, cv=2, error_score="raise").fit(X, TRUTH)
    assert found.best_score_ > 0.75


def test_fewer_problems_than_components_are_as_many_components() -> None:
    with pytest.warns(DataWarning, match="n_components is 50, but there are 3 auxiliary problems"):
        few = ASOTransformer(auxiliary=AboveMedian()(X[:, :3], None)[:, :3]).fit(X)
    exact = clone(few).set_params(n_components=3).fit(X)
    np.testing.assert_array_equal(few.components_, exact.components_)


@pytest.mark.parametrize("groups", [None, [0, 0, 1, 1, 1]])
def test_without_an_auxiliary_problem_nothing_is_added(groups: Any, tmp_path: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(20, 5)) + 3
    with pytest.warns(DataWarning, match="no auxiliary problem is left, so no structure is added"):
        transformer = ASOTransformer(feature_groups=groups).fit(rows)
    np.testing.assert_array_equal(transformer.transform(rows), rows)
    assert transformer.set_params(output="structure").transform(rows).shape == (20, 0)
    assert transformer.get_feature_names_out().tolist() == []
    with pytest.raises(ValueError, match="no component to save"):
        save_model(transformer, tmp_path / "model")


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_components": 0}, "n_components must be an integer of at least 1"),
        ({"auxiliary": "masks"}, "auxiliary is 'masks': it must be one of"),
        ({"auxiliary": "top_k"}, "need labels: give y"),
        ({"auxiliary": np.zeros((7, 3))}, r"auxiliary has float64 of shape \(7, 3\)"),
        ({"auxiliary": lambda rows, y: np.zeros(500)}, r"callable in auxiliary returned float64 of shape \(500,\)"),
        (
            {"auxiliary": lambda rows, y: (np.eye(500)[:, :9], np.zeros((9, 2)))},
            r"hidden features of shape \(9, 2\): it must be \(9, 240\)",
        ),
        ({"auxiliary": np.full((500, 3), np.nan)}, "NaN or infinity"),
        ({"feature_groups": np.zeros((3, 4))}, "feature_groups must have a name or number for each"),
        ({"feature_groups": 3}, "feature_groups must have a name or number for each of 240 features, got array"),
        ({"feature_groups": [None] * 240}, "feature_groups must have a name or number for each"),
        ({"feature_groups": np.zeros(3)}, "feature_groups must have a name or number for each of 240 features"),
        ({"feature_groups": np.arange(240) == 0, "n_components": 2}, "group 1 has 1 features"),
        ({"structure_weight": 0}, "structure_weight must be a number above 0"),
        ({"solver": "exact"}, 'solver is "exact"'),
        ({"auxiliary_alpha": -1.0}, "alpha is -1"),
        ({"output": "all"}, "output must be"),
    ],
)
def test_what_cannot_be_used_is_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ASOTransformer(**({"n_components": 3} | settings)).fit(X)


@pytest.mark.parametrize("n", [0, "2", 1.5])
def test_how_many_features_is_a_number(n: Any, transformer: ASOTransformer) -> None:
    with pytest.raises(ValueError, match=f"n_features must be an integer of at least 1, got {n!r}"):
        transformer.strongest_features(n)


def test_labels_that_cannot_be_used_are_named(transformer: ASOTransformer) -> None:
    model = ASOTransformer(n_components=3, auxiliary="top_k")
    with pytest.raises(ValueError, match="no labeled row"):
        model.fit(X, np.full(500, -1))
    with pytest.raises(ValueError, match="y needs one for each row"):
        model.fit(X, Y[:100])
    with pytest.raises(ValueError, match="features"):
        transformer.transform(X[:, :100])
    with pytest.raises(ValueError, match="asks for 9 choices"):
        model.set_params(auxiliary="multi_9").fit(X, Y)


# ------------------------------------------------------------------ rows in any layout
def with_int64(rows: sp.csr_array) -> sp.csr_array:
    return sp.csr_array((rows.data, rows.indices.astype(np.int64), rows.indptr.astype(np.int64)), rows.shape)


def unsorted(rows: sp.csr_array) -> sp.csr_array:
    order = np.concatenate([np.arange(a, b)[::-1] for a, b in itertools.pairwise(rows.indptr)])
    return sp.csr_array((rows.data[order], rows.indices[order], rows.indptr), rows.shape)


def with_duplicates(rows: sp.csr_array) -> sp.csr_array:
    """Each value as two, and a zero that cancels out beside them."""
    ends = 4 * rows.indptr
    data = np.column_stack([rows.data / 4, 3 * rows.data / 4, rows.data, -rows.data]).ravel()
    column_of_none = (rows.indices + 1) % rows.shape[1]
    indices = np.column_stack([rows.indices, rows.indices, column_of_none, column_of_none]).ravel()
    return sp.csr_array((data, indices, ends), rows.shape)


def read_only(rows: sp.csr_array) -> sp.csr_array:
    copy = rows.copy()
    for array in (copy.data, copy.indices, copy.indptr):
        array.flags.writeable = False
    return copy


@pytest.mark.parametrize("layout", [with_int64, unsorted, with_duplicates, read_only])
@pytest.mark.parametrize("auxiliary", ["mask", "frequent", "top_k"])
def test_the_layout_of_rows_changes_nothing_and_they_are_not_written(layout: Any, auxiliary: str) -> None:
    rows = sp.csr_array(X)
    rows.data = np.round(rows.data * 256) / 256  # so that parts add up exactly
    given = layout(rows)
    before = [array.tobytes() for array in (given.data, given.indices, given.indptr)]
    model = classifier(auxiliary=auxiliary, max_problems=80)
    wanted = clone(model).fit(rows, Y).decision_function(rows)
    model.fit(given, Y)
    np.testing.assert_allclose(model.decision_function(given), wanted, atol=1e-6)
    np.testing.assert_allclose(model.decision_function(rows), wanted, atol=1e-6)
    assert [array.tobytes() for array in (given.data, given.indices, given.indptr)] == before


def test_empty_rows_and_columns_are_allowed() -> None:
    rows = sp.vstack([sp.csr_array(X), sp.csr_array((3, X.shape[1]))], format="csr")
    rows = sp.hstack([rows, sp.csr_array((rows.shape[0], 2))], format="csr")
    model = classifier().fit(rows, [*Y, -1, -1, -1])
    assert not model[0].components_[:, -2:].any()
    assert len(set(model.predict(rows[-3:]))) == 1
    assert model.score(rows[: len(Y)], TRUTH) > 0.75


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_refused(transformer: ASOTransformer, value: float) -> None:
    wrong = sp.csr_array(X)
    wrong.data = wrong.data.copy()
    wrong.data[7] = value
    for call in (
        lambda: ASOTransformer(n_components=3).fit(wrong),
        lambda: transformer.transform(wrong),
    ):
        with pytest.raises(ValueError, match=r"X.*(NaN|inf)"):
            call()


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts by SIGINT")
def test_ctrl_c_ends_a_fit_and_the_next_one_works() -> None:
    model = ASOTransformer(n_components=50, solver="squared", n_iter=10**6, unit=False, verbose=0)
    timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    timer.join()
    assert not hasattr(model, "components_")
    assert model.set_params(n_iter=1).fit(X).components_.shape == (50, X.shape[1])


def test_progress_is_shown_in_lines(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if tqdm were not installed
    ASOTransformer(n_components=3, solver="squared", n_iter=40, verbose=1).fit(X)
    shown = capfd.readouterr()
    steps = [
        int(re.fullmatch(r"\[ASOTransformer\] step (\d+): objective \S+", line)[1]) for line in shown.out.splitlines()
    ]
    assert steps == sorted(set(steps))
    assert steps[-1] == 40 * (-(-X.shape[1] // 32) + 1)
    assert shown.err == ""
    ASOTransformer(n_components=3).fit(X)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("interface", ["spmatrix", "sparray"])
def test_sparse_output_is_of_the_kind_that_users_choose(interface: str) -> None:
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("scikit-learn before 1.9 has no sparse_interface")
    with sklearn.config_context(sparse_interface=interface):
        assert sp.isspmatrix(ASOTransformer(n_components=2).fit_transform(X)) == (interface == "spmatrix")
        tokens = TokenVectorizer().fit_transform([["a", "b"], ["c"]])
        assert [sp.isspmatrix(rows) for rows in tokens] == 2 * [interface == "spmatrix"]


def test_sparse_rows_stay_sparse_where_frames_are_wanted() -> None:
    X = np.random.default_rng(0).integers(0, 2, (20, 6)).astype(float)
    with sklearn.config_context(transform_output="pandas"):
        frame = ASOTransformer(n_components=2).fit_transform(X)
        assert [*frame.columns[-2:]] == ["asotransformer0", "asotransformer1"]
        sparse = ASOTransformer(n_components=2).set_output(transform="default").fit_transform(sp.csr_array(X))
    np.testing.assert_allclose(sparse.toarray(), frame)
