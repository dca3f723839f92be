"""Sets of classes, probabilities and groups of a class tree as labels."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from fewlabel import (
    KernelTransductiveSVC,
    SemiSupervisedLogisticRegression,
    TransductiveSVC,
    estimate_class_prior,
    methods,
)
from fewlabel.inspection import check
from fewlabel.model_selection import SemiSupervisedSplit

SHARES = {"a.x": 0.3, "a.y": 0.3, "b.x": 0.2, "b.y": 0.2}
NAMES = np.array(list(SHARES))


def four_classes(seed: int = 0) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Rows, true classes, labels of four rows a class."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(4, 300, p=list(SHARES.values()))
    X = rng.poisson(0.1 + 0.6 * (np.arange(40) % 4 == truth[:, None])).astype(float)
    X /= np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))
    y = np.full(300, None, dtype=object)
    for k in range(4):
        y[np.flatnonzero(truth == k)[:4]] = NAMES[k]
    return sp.csr_array(X), NAMES[truth], y


def with_sets(truth: np.ndarray, y: np.ndarray, seed: int = 0) -> np.ndarray:
    """Unlabeled rows with the true class and another one."""
    rng = np.random.default_rng(seed)
    sets = y.copy()
    for i in np.flatnonzero([value is None for value in y]):
        sets[i] = {str(truth[i]), str(rng.choice(NAMES))} | {str(rng.choice(NAMES))}
    return sets


def same(a: TransductiveSVC, b: TransductiveSVC) -> bool:
    return np.array_equal(a.coef_, b.coef_) and np.array_equal(a.intercept_, b.intercept_)


@pytest.mark.parametrize("method", ["auto", "switching"])
def test_sets_of_one_class_and_of_all_are_labels_and_markers(method: str) -> None:
    X, _, y = four_classes()
    sets = np.empty(len(y), dtype=object)
    sets[:] = [set(NAMES.tolist()) if name is None else {name} for name in y]
    plain = TransductiveSVC(method=method, class_prior=SHARES).fit(X, y)
    for form in (sets, list(sets), [frozenset(each) for each in sets]):
        assert same(plain, TransductiveSVC(method=method, class_prior=SHARES).fit(X, form))
    matrix = np.array([[float(name in each) / len(each) for name in NAMES] for each in sets])
    numbers = TransductiveSVC(method=method, class_prior=list(SHARES.values())).fit(X, matrix)
    assert same(plain, numbers)
    assert numbers.classes_.tolist() == [0, 1, 2, 3]
    matrix[[name is None for name in y]] = 0
    assert same(plain, TransductiveSVC(method=method, class_prior=list(SHARES.values())).fit(X, matrix))


@pytest.mark.parametrize(
    "model",
    [
        TransductiveSVC(),
        TransductiveSVC(method="switching"),
        TransductiveSVC(method=methods.Switching(max_switches=100)),
        TransductiveSVC(loss="crammer_singer"),
        SemiSupervisedLogisticRegression(),
        SemiSupervisedLogisticRegression(method="posterior"),
        KernelTransductiveSVC(kernel="rbf"),
        TransductiveSVC(hierarchy="."),
        TransductiveSVC(calibrate=True),
    ],
)
def test_sets_raise_the_accuracy(model: TransductiveSVC) -> None:
    X, truth, y = four_classes()
    sets = with_sets(truth, y)
    unlabeled = np.array([name is None for name in y])
    model = clone(model).set_params(class_prior=SHARES)
    before = np.mean(model.fit(X, y).transduction_[unlabeled] == truth[unlabeled])
    after = model.fit(X, sets).transduction_
    assert all(name in each for name, each in zip(after[unlabeled], sets[unlabeled], strict=True))
    assert np.mean(after[unlabeled] == truth[unlabeled]) > before
    assert same(model, pickle.loads(pickle.dumps(model)))


def test_sets_are_not_changed_and_any_order_of_rows_has_its_own() -> None:
    X, truth, y = four_classes()
    sets = with_sets(truth, y)
    copy = [value if value is None or isinstance(value, str) else set(value) for value in sets]
    model = TransductiveSVC(class_prior=SHARES).fit(X, sets)
    assert list(sets) == copy
    weights = np.ones(len(y))
    weights[:50] = 0
    part = TransductiveSVC(class_prior=SHARES).fit(X[50:], sets[50:])
    assert np.allclose(TransductiveSVC(class_prior=SHARES).fit(X, sets, weights).coef_, part.coef_)
    assert not same(model, part)


def test_a_data_frame_names_the_classes() -> None:
    pd = pytest.importorskip("pandas")
    X, _, y = four_classes()
    p = np.array([[0.7 if name == "a.x" else 0.1 for name in NAMES] if k % 2 else [0.0] * 4 for k in range(300)])
    for k, name in enumerate(y):
        if name is not None:
            p[k] = name == NAMES
    named = TransductiveSVC(class_prior=SHARES).fit(X, pd.DataFrame(p, columns=NAMES))
    assert named.classes_.tolist() == NAMES.tolist()
    assert same(named, TransductiveSVC(class_prior=list(SHARES.values())).fit(X, p))


def test_a_group_of_the_tree_is_the_set_of_its_classes() -> None:
    X, truth, y = four_classes()
    groups, sets = y.copy(), y.copy()
    for i in range(0, 300, 3):
        if y[i] is None:
            groups[i] = truth[i][0]
            sets[i] = {name for name in NAMES.tolist() if name[0] == truth[i][0]}
    parents = {name: name[0] for name in NAMES.tolist()}
    for hierarchy in (".", parents):
        model = TransductiveSVC(hierarchy=hierarchy, class_prior=SHARES)
        assert same(clone(model).fit(X, groups), clone(model).fit(X, sets))
        assert not same(clone(model).fit(X, groups), clone(model).fit(X, y))


def test_cross_validation_tests_rows_with_one_label() -> None:
    X, truth, y = four_classes()
    sets = with_sets(truth, y)
    model = TransductiveSVC(class_prior=SHARES)
    scores = cross_val_score(model, X, sets, cv=SemiSupervisedSplit(4), error_score="raise")
    assert len(scores) == 4
    assert (scores > 0.3).all()
    labeled = np.array([name is not None for name in y])
    assert model.fit(X, sets).score(X, sets) == model.score(X[labeled], y[labeled])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda y: y.__setitem__(20, set()), "empty set in row 20"),
        (
            lambda y: y.__setitem__(20, {"a.x", "c"}),
            "names the class 'c' among those of row 20, but no row has this label",
        ),
        (lambda y: y.__setitem__(20, {"a.x", None}), "the marker None within a set of classes in row 20"),
        (lambda y: y.__setitem__(20, {"a.x", 3}), "several types: int, str"),
    ],
)
def test_bad_sets(change: object, message: str) -> None:
    X, _, y = four_classes()
    change(y)
    with pytest.raises(ValueError, match=message):
        TransductiveSVC().fit(X, y)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ([0.5, 0.6, 0, 0], r"each row must be nonnegative and sum to 1, or be 0 \(unlabeled\); row 20"),
        ([-0.5, 1.5, 0, 0], "row 20"),
        ([np.nan, 1, 0, 0], "row 20"),
        ([1, 1, 0, 0], "MultiOutputClassifier"),
    ],
)
def test_bad_probabilities(row: list[float], message: str) -> None:
    X, _, y = four_classes()
    p = np.array([name == NAMES for name in y], dtype=float)
    p[20] = row
    with pytest.raises(ValueError, match=message):
        TransductiveSVC().fit(X, p)


def test_shares_that_sets_contradict_are_named() -> None:
    X, _, y = four_classes()
    for i in np.flatnonzero([name is None for name in y])[:200]:
        y[i] = {"b.x", "b.y"}
    with pytest.raises(
        ValueError, match=r"class_prior gives class b\.x, b\.y .* but 200 of these rows can have no other"
    ):
        TransductiveSVC(class_prior=SHARES).fit(X, y)
    assert TransductiveSVC().fit(X, y).class_prior_[2:].sum() >= 200 / 284 - 1e-9  # shares that are found give way


def test_what_does_not_know_sets_says_so() -> None:
    X, truth, y = four_classes()
    sets = with_sets(truth, y)
    for call in (lambda X, y: check(TransductiveSVC(), X, y), estimate_class_prior):
        with pytest.raises(ValueError, match="sets of classes or several columns, which are not supported here"):
            call(X, sets)
    with pytest.raises(ValueError, match="it takes no prior costs"):
        TransductiveSVC(method="gradient", class_prior=SHARES).fit(X, sets)
