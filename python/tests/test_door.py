"""No corrupt matrix gets in, at any way in: a ValueError that names the argument.

One way in meets every corruption, every other way two of them, in turn, so that each corruption is tried at several. A
new estimator or function joins by itself: its public methods with a parameter X are found here.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import fewlabel
from fewlabel import inspection, labels, plotting
from fewlabel._inputs import _memory
from fewlabel.labeling import Session
from fewlabel.metrics import labeled_scorer
from fewlabel.model_selection import SemiSupervisedSplit, held_out_probabilities
from fewlabel.preprocessing import BlockScaler

N, D = 48, 12
RANDOM = np.random.default_rng(0)
TRUTH = np.arange(N) % 2
GOOD = sp.csr_array(
    RANDOM.random((N, D)) * (RANDOM.random((N, D)) < 0.5) + np.eye(N, D) + TRUTH[:, None] * np.eye(1, D)
)
Y = np.where(np.arange(N) < 16, TRUTH, -1)
KERNEL = sp.csr_array(GOOD @ GOOD.T)


# ------------------------------------------------------------------ corruptions
def changed(name: str, place: int, value: float) -> Callable[[Any], Any]:
    def corrupt(good: Any) -> Any:
        bad = sp.csr_array(good, copy=True)
        getattr(bad, name)[place] = value(bad) if callable(value) else value
        return bad

    return corrupt


def cut(name: str) -> Callable[[Any], Any]:
    def corrupt(good: Any) -> Any:
        bad = sp.csr_array(good, copy=True)
        setattr(bad, name, getattr(bad, name)[:-3].copy())
        return bad

    return corrupt


def of_format(kind: type, name: str, value: Any) -> Callable[[Any], Any]:
    def corrupt(good: Any) -> Any:
        bad = kind(good, copy=True)
        getattr(bad, name)[4] = value(bad)
        return bad

    return corrupt


def float_indices(good: Any) -> Any:
    bad = sp.csr_array(good, copy=True)
    bad.indices = bad.indices.astype(np.float64)
    return bad


def other(name: str, change: Callable[[np.ndarray], Any], kind: type = sp.csr_array) -> Callable[[Any], Any]:
    def corrupt(good: Any) -> Any:
        bad = kind(good, copy=True)
        setattr(bad, name, change(getattr(bad, name)))
        return bad

    return corrupt


def masked(values: np.ndarray) -> Any:
    return np.ma.array(values, mask=np.arange(len(values)) == 3)


def without_rows(good: Any) -> Any:
    bad = sp.lil_array(good)
    bad.rows, bad.data = bad.rows[:-2], bad.data[:-2]
    return bad


def wrong_row_of_lists(good: Any) -> Any:
    bad = sp.lil_array(good)
    bad.rows[np.flatnonzero(list(map(len, bad.rows)))[0]][-1] = good.shape[1]
    return bad


def values_beyond_their_lists(good: Any) -> Any:
    bad = sp.lil_array(good)
    bad.data[3] = [*bad.data[3], *[1.0] * 4000]
    return bad


def float_coordinates(good: Any) -> Any:
    bad = sp.coo_array(good)
    bad.coords = bad.coords[0] * 1.0, bad.coords[1]
    return bad


def key_beyond(good: Any) -> Any:
    bad = sp.dok_array(good)
    bad._dict[good.shape[0] + 9, 0] = 1.0
    return bad


CORRUPTIONS = {
    "index far beyond": changed("indices", 4, 1 << 30),
    "index one too large": changed("indices", 4, lambda bad: bad.shape[1]),
    "index negative": changed("indices", 4, -1),
    "index least": changed("indices", 4, np.iinfo(np.int32).min),
    "indptr falls": changed("indptr", 5, 0),
    "indptr negative": changed("indptr", 5, -7),
    "indptr begins late": changed("indptr", 0, 1),
    "indptr ends beyond": changed("indptr", -1, 1 << 30),
    "indptr too short": cut("indptr"),
    "indices too short": cut("indices"),
    "values too short": cut("data"),
    "indices are floats": float_indices,
    "CSC, one too large": of_format(sp.csc_array, "indices", lambda bad: bad.shape[0]),
    "CSC, far beyond": of_format(sp.csc_array, "indices", lambda _: 1 << 30),
    "COO, row too large": of_format(sp.coo_array, "row", lambda bad: bad.shape[0]),
    "COO, column negative": of_format(sp.coo_array, "col", lambda _: -1),
    "BSR, block too large": of_format(sp.bsr_array, "indices", lambda bad: bad.shape[1]),
    "lists, one too large": wrong_row_of_lists,
    "lists, other lengths": values_beyond_their_lists,
    "COO, rows are floats": float_coordinates,
    "keys, row too large": key_beyond,
    "indptr is a list": other("indptr", np.ndarray.tolist),
    "indptr is unsigned": other("indptr", lambda ends: ends.astype(np.uint64)),
    "indices are of a byte": other("indices", lambda numbers: numbers.astype(np.uint8)),
    "indices are None": other("indices", lambda _: None),
    "indices masked": other("indices", masked),
    "values masked": other("data", masked),
    "values are texts": other("data", lambda values: values.astype(str)),
    "values are dates": other("data", lambda values: values.astype("M8[s]")),
    "values are a list": other("data", np.ndarray.tolist),
    "values too many": other("data", lambda values: np.append(values, 1.0)),
    "COO, columns are a list": other("coords", lambda both: (both[0], both[1].tolist()), sp.coo_array),
    "BSR, values of two dimensions": other("data", lambda values: values[:, :, 0], sp.bsr_array),
    "BSR, empty blocks": other("data", lambda values: values[:, :0], sp.bsr_array),
    "diagonals without offsets": other("offsets", lambda offsets: offsets[:-1], sp.dia_array),
    "offsets are floats": other("offsets", lambda offsets: offsets + 0.5, sp.dia_array),
    "lists, too few": without_rows,
    "NaN": changed("data", 7, np.nan),
    "infinite": changed("data", 7, np.inf),
}


# ------------------------------------------------------------------ ways in
VARIANTS: dict[str, list[dict[str, Any]]] = {  # beside the defaults
    "KernelFeatures": [{"kernel": kernel} for kernel in ("rbf", lambda X, Y: (X @ Y.T).toarray())],
    "ASOTransformer": [{"auxiliary": "frequent"}, {"feature_groups": [0, 1] * 6, "max_problems": D}],
    "TransductiveSVC": [{"method": method, "calibrate": True} for method in ("switching", "gradient")],
    "SemiSupervisedLogisticRegression": [{"method": "posterior"}],
}
SMALL = {"n_components": 2, "n_neighbors": 3, "max_problems": 5}  # for so few rows
OTHERS = {"y": TRUTH, "level": 1, "allowed": None, "lengths": None}
TREE = {0: "group", 1: "group", "group": None}


def estimators() -> Iterator[tuple[str, Any]]:
    for name in fewlabel.__all__:
        kind = getattr(fewlabel, name)
        if inspect.isclass(kind) and hasattr(kind, "fit"):
            for number, variant in enumerate([{}, *VARIANTS.get(name, [])]):
                known = inspect.signature(kind).parameters
                small = {key: value for key, value in SMALL.items() if key in known}
                yield f"{name}{number or ''}", kind(**(small | variant))


def methods_of(estimator: Any) -> list[str]:
    return [
        name
        for name, method in inspect.getmembers(type(estimator), inspect.isfunction)
        if not name.startswith("_") and "X" in inspect.signature(method).parameters
    ]


@functools.cache
def fitted(estimator: Any, name: str) -> Any:
    needs = {"predict_level": {"hierarchy": TREE}, "predict_proba": {"calibrate": True}}
    needs["predict_log_proba"] = needs["predict_proba"]
    known = estimator.get_params()
    return clone(estimator).set_params(**{k: v for k, v in needs.get(name, {}).items() if k in known}).fit(GOOD, Y)


def entries() -> Iterator[tuple[str, Callable[[Any], Any], Any]]:
    """Name, call with a matrix, and a good matrix."""
    for label, estimator in estimators():
        for name in methods_of(estimator):

            def call(X: Any, estimator: Any = estimator, name: str = name) -> Any:
                if not name.startswith("fit"):
                    estimator = fitted(estimator, name)
                takes = inspect.signature(getattr(estimator, name)).parameters
                given = {key: value for key, value in OTHERS.items() if key in takes}
                return getattr(estimator, name)(X, **(given | ({"y": Y} if name.startswith("fit") else {})))

            yield f"{label}.{name}", call, GOOD
    yield from others()
    yield from functions()


def others() -> Iterator[tuple[str, Callable[[Any], Any], Any]]:
    """Matrices that are no X, and rows in other places."""
    yield "precomputed fit", fewlabel.KernelFeatures(kernel="precomputed").fit, KERNEL
    yield "precomputed transform", fewlabel.KernelFeatures(kernel="precomputed").fit(KERNEL).transform, KERNEL
    by_kernel = lambda made: fewlabel.KernelFeatures(kernel=lambda A, B: made if len(A.data) else 0)  # noqa: E731
    yield "kernel(X, Y)", lambda X: by_kernel(X).fit(GOOD), KERNEL
    answers = sp.csr_array(GOOD > 0.3, dtype=np.float64)
    yield "auxiliary", lambda A: fewlabel.ASOTransformer(n_components=2, auxiliary=A).fit(GOOD), answers
    by_call = lambda A: fewlabel.ASOTransformer(n_components=2, auxiliary=lambda X, y: A).fit(GOOD)  # noqa: E731
    yield "auxiliary returned", by_call, answers
    hidden = sp.csr_array(np.eye(D))
    with_hidden = lambda H: fewlabel.ASOTransformer(n_components=2, auxiliary=lambda X, y: (answers, H))  # noqa: E731
    yield "hidden features", lambda H: with_hidden(H).fit(GOOD), hidden
    sequences = [[tag] * 24 for tag in ("a", "b")]
    yield "list of sequences", lambda X: fewlabel.SequenceSVC().fit([X, GOOD[:24]], sequences), GOOD[:24]

    yield "BlockScaler.fit", BlockScaler().fit, GOOD
    yield "BlockScaler.transform", BlockScaler().fit(GOOD).transform, GOOD
    yield "labeled_scorer", lambda X: labeled_scorer()(fitted(fewlabel.TransductiveSVC(), "score"), X, TRUTH), GOOD


def pipeline() -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfTransformer(), fewlabel.TransductiveSVC())


FUNCTIONS: dict[Callable[..., Any], Callable[[Any], Any]] = {
    inspection.check: lambda X: inspection.check(fewlabel.TransductiveSVC(), X, Y, cv=2),
    inspection.explain: lambda X: inspection.explain(fewlabel.TransductiveSVC().fit(GOOD, Y), X),
    inspection.suspicious_labels: lambda X: inspection.suspicious_labels(pipeline().fit(GOOD, Y), X, Y),
    inspection.compare: lambda X: inspection.compare(fewlabel.TransductiveSVC(), X, Y, ["annealing"], cv=2),
    held_out_probabilities: lambda X: held_out_probabilities(fewlabel.SemiSupervisedLogisticRegression(), X, Y, cv=2),
    fewlabel.estimate_class_prior: lambda X: fewlabel.estimate_class_prior(X, Y),
    fewlabel.spmd.fit: lambda X: fewlabel.spmd.fit(fewlabel.TransductiveSVC(), X, Y, comm=Alone()),
    plotting.LearningCurveDisplay.from_estimator: lambda X: plotting.LearningCurveDisplay.from_estimator(
        fewlabel.TransductiveSVC(), X, Y, n_labels=[4], n_draws=1
    ),
}


class Alone:
    """A communicator of one rank."""

    def Get_rank(self) -> int:
        return 0

    def Get_size(self) -> int:
        return 1

    def allgather(self, own: Any) -> list[Any]:
        return [own]

    def allreduce(self, own: Any) -> Any:
        return own

    def Allreduce(self, _: Any, array: np.ndarray) -> None:
        pass


def functions() -> Iterator[tuple[str, Callable[[Any], Any], Any]]:
    for function, call in FUNCTIONS.items():
        yield function.__qualname__, call, GOOD


ENTRIES = {name: (call, good) for name, call, good in entries()}


def tried(entry: str, number: int) -> list[str]:
    names = list(CORRUPTIONS)
    if entry == "TransductiveSVC.fit":
        return names
    return [names[(number + third * len(names) // 3) % len(names)] for third in range(3)]


@pytest.mark.parametrize(("number", "entry"), list(enumerate(ENTRIES)), ids=ENTRIES)
def test_no_corrupt_matrix_gets_in(number: int, entry: str) -> None:
    call, good = ENTRIES[entry]
    for corruption in tried(entry, number):
        bad = CORRUPTIONS[corruption](good)
        with pytest.raises(ValueError, match=r"X\b|^auxiliary|^kernel\(X, Y\)|the callable in auxiliary|^row|^hidden"):
            call(bad)


# ------------------------------------------------------------------ labels and other arrays
INDICATOR = np.where(np.arange(3 * N).reshape(N, 3) % 7 < 5, 1.0, 0.0)
PROBABILITIES = np.eye(3)[np.arange(N) % 3] / 2 + 1 / 6
svc = fewlabel.TransductiveSVC
COLUMNS = svc(unlabeled=None).fit(GOOD, INDICATOR)
LABELS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "fit": (lambda y: svc().fit(GOOD, y), "y"),
    "score": (lambda y: COLUMNS.score(GOOD, y), "y"),
    "ASOTransformer.fit": (lambda y: fewlabel.ASOTransformer(auxiliary="top_k", n_components=2).fit(GOOD, y), "y"),
    "auxiliary(X, y)": (lambda y: fewlabel.ASOTransformer(auxiliary=lambda X, y: y.toarray()).fit(GOOD, y), "y"),
    "SequenceSVC.fit": (lambda y: fewlabel.SequenceSVC().fit(GOOD, y), "y"),
    "split": (lambda y: list(SemiSupervisedSplit(2).split(GOOD, y)), "y"),
    "get_n_splits": (lambda y: SemiSupervisedSplit(2).get_n_splits(GOOD, y), "y"),
    "groups": (lambda groups: list(SemiSupervisedSplit(2).split(GOOD, Y, groups)), "groups"),
    "labeled_scorer": (lambda y: labeled_scorer("f1_macro")(COLUMNS, GOOD, y), "y"),
    "from_votes": (labels.from_votes, "votes"),
    "from_votes, y": (lambda y: labels.from_votes(INDICATOR, y), "y"),
    "accuracies": (lambda a: labels.from_votes(INDICATOR, accuracies=a), "accuracies"),
    "Soft": (labels.Soft, "probabilities"),
    "estimate_class_prior": (lambda y: fewlabel.estimate_class_prior(GOOD, y), "y"),
    "check": (lambda y: inspection.check(svc(), GOOD, y, cv=2), "y"),
    "compare": (lambda y: inspection.compare(svc(), GOOD, y, ["annealing"], cv=2), "y"),
    "suspicious_labels": (lambda y: inspection.suspicious_labels(svc().fit(GOOD, Y), GOOD, y), "y"),
    "held_out_probabilities": (
        lambda y: held_out_probabilities(fewlabel.SemiSupervisedLogisticRegression(), GOOD, y, cv=2),
        "y",
    ),
    "learning curve": (lambda y: plotting.LearningCurveDisplay.from_estimator(svc(), GOOD, y, n_labels=[4]), "y"),
    "spmd.fit": (lambda y: fewlabel.spmd.fit(svc(), GOOD, y, comm=Alone()), "y"),
    "sample_weight": (lambda w: svc().fit(GOOD, Y, w), "sample_weight"),
    "class_prior": (lambda shares: svc(class_prior=shares).fit(GOOD, Y), "class_prior"),
    "lengths": (lambda lengths: fewlabel.SequenceSVC().fit(GOOD, TRUTH, lengths=lengths), "lengths"),
    "feature_groups": (lambda groups: fewlabel.ASOTransformer(feature_groups=groups).fit(GOOD), "feature_groups"),
}


@pytest.mark.parametrize("form", [sp.coo_array, sp.dia_array, sp.bsr_array, sp.lil_array, sp.csc_array])
def test_formats_without_rows_get_in(form: type) -> None:
    model = fewlabel.SemiSupervisedLogisticRegression(calibrate=False)
    wanted = held_out_probabilities(model, GOOD, Y, cv=2)
    np.testing.assert_allclose(held_out_probabilities(model, form(GOOD), Y, cv=2), wanted)
    assert inspection.check(svc(), form(GOOD), Y, cv=2, verbose=0).n_rows == 16
    inspection.suspicious_labels(svc().fit(GOOD, Y), form(GOOD), Y)


def of(kind: str) -> Callable[[Any], Any]:
    """Values with an index of X, in another order if `kind` is."""
    import pandas as pd

    return lambda values: (pd.Series if np.ndim(values) == 1 else pd.DataFrame)(values)[:: -1 if kind == "other" else 1]


ORDERED: dict[str, Callable[[Any, Any], Any]] = {
    "fit, y": lambda X, of: svc().fit(X, of(Y)),
    "fit, y a frame": lambda X, of: svc(unlabeled=None).fit(X, of(INDICATOR)),
    "fit, y of probabilities": lambda X, of: svc().fit(X, labels.Soft(of(PROBABILITIES))[np.arange(N)]),
    "fit, y of votes": lambda X, of: svc().fit(X, labels.from_votes(of(INDICATOR))),
    "fit, y of labeled votes": lambda X, of: svc().fit(X, labels.from_votes(INDICATOR, of(Y))),
    "fit, sample_weight": lambda X, of: svc().fit(X, Y, of(np.ones(N))),
    "fit with y, sample_weight": lambda X, of: svc().fit(GOOD, X[0] * 0 + Y, of(np.ones(N))),
    "score, y": lambda X, of: svc().fit(X, Y).score(X, of(Y)),
    "score, sample_weight": lambda X, of: svc().fit(X, Y).score(X, Y, of(np.ones(N))),
    "score of columns, y": lambda X, of: COLUMNS.score(X, of(INDICATOR)),
    "labeled_scorer, y": lambda X, of: labeled_scorer("accuracy")(svc().fit(X, Y), X, of(Y)),
    "SequenceSVC.fit, y": lambda X, of: fewlabel.SequenceSVC().fit(X, of(TRUTH), lengths=[24, 24]),
    "SequenceSVC.score, y": lambda X, of: fewlabel.SequenceSVC().fit(X, TRUTH).score(X, of(TRUTH)),
    "allowed": lambda X, of: fewlabel.SequenceSVC().fit(X, TRUTH).predict(X, allowed=of(np.ones((N, 2), dtype=bool))),
    "split, y": lambda X, of: list(SemiSupervisedSplit(2).split(X, of(Y))),
    "split, groups": lambda X, of: list(SemiSupervisedSplit(2).split(X, Y, of(TRUTH))),
    "held_out_probabilities, y": lambda X, of: held_out_probabilities(
        fewlabel.SemiSupervisedLogisticRegression(calibrate=False), X, of(Y), cv=2
    ),
    "estimate_class_prior, y": lambda X, of: fewlabel.estimate_class_prior(X, of(Y), n_bootstraps=2),
    "estimate_class_prior, sample_weight": lambda X, of: fewlabel.estimate_class_prior(
        X, Y, sample_weight=of(np.ones(N)), n_bootstraps=2
    ),
    "check, y": lambda X, of: inspection.check(svc(), X, of(Y), cv=2, verbose=0),
    "compare, y": lambda X, of: inspection.compare(svc(), X, of(Y), ["annealing"], cv=2, verbose=0),
    "suspicious_labels, y": lambda X, of: inspection.suspicious_labels(svc().fit(X, Y), X, of(Y), cv=None),
    "learning curve, y": lambda X, of: plotting.LearningCurveDisplay.from_estimator(
        svc(), X, of(Y), n_labels=[4], n_draws=1, verbose=0
    ),
    "spmd, y": lambda X, of: fewlabel.spmd.fit(svc(), X, of(Y), comm=Alone()),
    "with_descriptions, y": lambda X, of: labels.with_descriptions(X[0].astype(str), of(Y), {1: "one"}),
    "from_votes, y": lambda X, of: labels.from_votes((X.iloc[:, :2] > 0).astype(int), of(Y)),
    "from_votes, accuracies": lambda X, of: labels.from_votes(X.iloc[:, :2] > 0, accuracies=of([0.8, 0.9])),
    "ASOTransformer, y": lambda X, of: fewlabel.ASOTransformer(auxiliary="top_k", n_components=1).fit(X, of(Y)),
    "ASOTransformer, auxiliary": lambda X, of: fewlabel.ASOTransformer(auxiliary=of(INDICATOR), n_components=1).fit(X),
    "ASOTransformer, feature_groups": lambda X, of: fewlabel.ASOTransformer(
        feature_groups=of(np.arange(D) % 2), n_components=1
    ).fit(X),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("entry", ORDERED)
def test_an_index_in_another_order_is_refused(entry: str) -> None:
    name, X = entry.rpartition(", ")[2].partition(" ")[0], of("same")(GOOD.toarray())
    ORDERED[entry](X, of("same"))
    with pytest.raises(ValueError, match=rf"^{name} has the index of .* in another order.* pass an array"):
        ORDERED[entry](X, of("other"))


def test_an_index_with_a_missing_entry_has_an_order() -> None:
    import pandas as pd

    index = [np.nan, *range(N - 1)]
    X, y = pd.DataFrame(GOOD.toarray(), index=index), pd.Series(Y, index=[*index[1:], index[0]])
    with pytest.raises(ValueError, match="y has the index of X in another order"):
        svc().fit(X, y)


def test_other_indices_go_by_position() -> None:
    import pandas as pd

    X = pd.DataFrame(GOOD.toarray(), index=[f"row {i}" for i in range(N)])
    wanted = svc().fit(GOOD, Y).score(GOOD, TRUTH)
    svc().fit(pytest.importorskip("polars").DataFrame(GOOD.toarray()), pd.Series(Y))
    for index in (range(N), range(N)[::-1], X.index, [0] * N):
        y = pd.Series(TRUTH, index=index)
        assert svc().fit(X, y.where(Y >= 0, -1)).score(X, y, y * 0 + 1) == wanted
    X.index = pd.Index([0] * N)
    inspection.check(svc(), X, pd.Series(Y, index=X.index), cv=2, verbose=0)  # which repeats rows


NOT_LABELS = [5, "abc", iter(Y), np.zeros((N, 0)), np.zeros((N, 2, 2)), np.zeros(N, dtype=[("a", int)])]
WITHOUT_LABELS = {"sample_weight", "class_prior", "lengths", "feature_groups", "groups", "accuracies", "probabilities"}
WITHOUT_LABELS |= {"auxiliary(X, y)"}


@pytest.mark.parametrize("entry", [each for each in LABELS if not {each, LABELS[each][1]} & WITHOUT_LABELS])
def test_what_is_no_list_of_labels_is_refused_by_its_name(entry: str) -> None:
    call, name = LABELS[entry]
    for bad in NOT_LABELS:
        with pytest.raises(
            (TypeError, ValueError), match=rf"^{name}\b|input variables|^Expected sequence|of class labels"
        ):
            call(bad)


@pytest.mark.parametrize("entry", LABELS)
def test_no_corrupt_labels_get_in(entry: str) -> None:
    call, name = LABELS[entry]
    good = sp.csr_array(PROBABILITIES if name == "probabilities" else INDICATOR)
    for corruption, corrupt in CORRUPTIONS.items():
        if corruption == "NaN":  # marks an unknown entry
            continue
        with pytest.raises(ValueError, match=rf"^{name}\b|^Input {name}\b|inf"):
            call(corrupt(good))


def test_rows_of_three_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^X is sparse, of shape \(2, 3, 4\): give a matrix"):
        svc().fit(sp.coo_array(np.ones((2, 3, 4))), [0, 1])


def test_a_row_of_one_dimension_is_checked() -> None:
    row = sp.coo_array(np.ones(D))
    row.coords = (row.coords[0] + 9,)
    with pytest.raises(ValueError, match=r"^row\.col must lie in 0 \.\.\. 11, found 9 \.\.\. 20"):
        inspection.explain(svc().fit(GOOD, Y), row)


def test_a_large_indicator_is_refused_before_it_is_an_array(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_memory, "available", lambda: 1e9)
    y = sp.csr_array(([1.0], ([0], [0])), shape=(20_000, 20_000))
    with pytest.raises(MemoryError, match=r"^y, 20000 x 20000 and sparse, as an array needs about"):
        svc().fit(sp.csr_array(np.ones((20_000, 1))), y)
    monkeypatch.setattr(_memory, "available", lambda: 1e6)
    with pytest.raises(MemoryError, match=r"^kernel\(X, Y\), 3000 x 3000"):
        fewlabel.KernelFeatures(kernel=lambda X, Y: sp.eye_array(3000), n_components=2).fit(np.eye(3000, 2) + 1)


REFUSED: dict[str, Callable[[Any], Any]] = {
    "X": lambda masked: svc().fit(masked(GOOD.toarray()), Y),
    "X, predicted": lambda masked: svc().fit(GOOD, Y).predict(masked(GOOD.toarray())),
    "X, scaled": lambda masked: BlockScaler().fit(masked(GOOD.toarray())),
    "X, a list of rows": lambda masked: svc().fit(list(masked(GOOD.toarray())), Y),
    "row": lambda masked: inspection.explain(svc().fit(GOOD, Y), masked(GOOD[[0]].toarray()[0])),
    "kernel(X, Y)": lambda masked: fewlabel.KernelFeatures(kernel=lambda X, Z: masked((X @ Z.T).toarray())).fit(GOOD),
    "auxiliary": lambda masked: fewlabel.ASOTransformer(auxiliary=masked(INDICATOR)).fit(GOOD),
    "sample_weight": lambda masked: svc().fit(GOOD, Y, masked(np.ones(N))),
    "class_prior": lambda masked: svc(class_prior=masked(np.array([0.5, 0.5]))).fit(GOOD, Y),
    "probabilities": lambda masked: labels.Soft(masked(PROBABILITIES)),
    "accuracies": lambda masked: labels.from_votes(INDICATOR, accuracies=masked(np.full(3, 0.8))),
    "groups": lambda masked: list(SemiSupervisedSplit(2).split(GOOD, Y, masked(np.arange(N)))),
    "lengths": lambda masked: fewlabel.SequenceSVC().fit(GOOD, TRUTH, lengths=masked(np.array([24, 24]))),
    "allowed": lambda masked: (
        fewlabel.SequenceSVC().fit(GOOD, TRUTH).predict(GOOD, allowed=masked(INDICATOR[:, :2] > 0))
    ),
    "feature_groups": lambda masked: fewlabel.ASOTransformer(feature_groups=masked(np.arange(D) % 2)).fit(GOOD),
}


@pytest.mark.parametrize("entry", REFUSED)
def test_masked_entries_of_other_arrays_are_refused(entry: str) -> None:
    def masked(values: np.ndarray) -> Any:
        return np.ma.array(values, mask=np.arange(values.size).reshape(values.shape) == 1)

    with pytest.raises(ValueError, match=rf"^{re.escape(entry.split(',')[0])}.* has masked entries"):
        REFUSED[entry](masked)


@pytest.mark.parametrize("entry", sorted(REFUSED.keys() - {"X, a list of rows", "kernel(X, Y)", "row"}))
def test_lists_that_contain_themselves_are_refused(entry: str) -> None:
    def holding_itself(values: np.ndarray) -> Any:
        rows = [*values.tolist()]
        rows[1] = rows
        return rows

    with pytest.raises((TypeError, ValueError), match=rf"^{re.escape(entry.split(',')[0])} "):
        REFUSED[entry](holding_itself)


def test_lists_that_contain_themselves_are_refused_in_a_session_and_as_sequences() -> None:
    rows: list[Any] = []
    rows.append(rows)
    with pytest.raises(ValueError, match=r"^rows is a list that contains itself"):
        Session(rows, svc())
    with pytest.raises(ValueError, match=r"^X is a list that contains itself"):
        fewlabel.SequenceSVC().fit(rows, [["a"]])


def test_every_corruption_is_tried_at_several_ways_in() -> None:
    times = Counter(corruption for number, entry in enumerate(ENTRIES) for corruption in tried(entry, number))
    assert min(times[name] for name in CORRUPTIONS) >= 5


def test_the_table_has_every_function_with_a_matrix() -> None:
    found = set()
    for name in fewlabel.__all__:
        value = getattr(fewlabel, name)
        for holder in (fewlabel, value) if inspect.ismodule(value) else (fewlabel,):
            for key in getattr(holder, "__all__", [each for each in vars(holder) if not each.startswith("_")]):
                each = getattr(holder, key)
                if inspect.isfunction(each) and {"X", "row"} & set(inspect.signature(each).parameters):
                    found.add(each)
    # The rows of one are on workers: test_dask.py. The other appends rows, which a fit reads: test_descriptions.py.
    found -= {fewlabel.dask.fit, labels.with_descriptions}
    assert found == {each for each in FUNCTIONS if not inspect.ismethod(each)}
    assert import_module("fewlabel.plotting").LearningCurveDisplay.from_estimator in FUNCTIONS
