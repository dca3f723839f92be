"""No corrupt matrix gets in, at any way in: a ValueError that names the argument.

One way in meets every corruption, every other way two of them, in turn, so that each corruption is tried at several. A
new estimator or function joins by itself: its public methods with a parameter X are found here.
"""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

import fewlabel
from fewlabel import inspection, plotting

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


def wrong_row_of_lists(good: Any) -> Any:
    bad = sp.lil_array(good)
    bad.rows[3][-1] = good.shape[1]
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


def pipeline() -> Any:
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(TfidfTransformer(), fewlabel.TransductiveSVC())


FUNCTIONS: dict[Callable[..., Any], Callable[[Any], Any]] = {
    inspection.check: lambda X: inspection.check(fewlabel.TransductiveSVC(), X, Y, cv=2),
    inspection.explain: lambda X: inspection.explain(fewlabel.TransductiveSVC().fit(GOOD, Y), X),
    inspection.suspicious_labels: lambda X: inspection.suspicious_labels(pipeline().fit(GOOD, Y), X, Y),
    inspection.compare: lambda X: inspection.compare(fewlabel.TransductiveSVC(), X, Y, ["annealing"], cv=2),
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
    return [names[(number + further) % len(names)] for further in (0, len(names) // 2)]


TRIED = [(entry, corruption) for number, entry in enumerate(ENTRIES) for corruption in tried(entry, number)]


@pytest.mark.parametrize(("entry", "corruption"), TRIED)
def test_no_corrupt_matrix_gets_in(entry: str, corruption: str) -> None:
    call, good = ENTRIES[entry]
    bad = CORRUPTIONS[corruption](good)
    with pytest.raises(ValueError, match=r"X\b|^auxiliary|^kernel\(X, Y\)|the callable in auxiliary|^row|^hidden"):
        call(bad)


def test_every_corruption_is_tried_at_several_ways_in() -> None:
    times = Counter(corruption for _, corruption in TRIED)
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
    found -= {fewlabel.dask.fit}  # its rows are on workers: test_dask.py
    assert found == {each for each in FUNCTIONS if not inspect.ismethod(each)}
    assert import_module("fewlabel.plotting").LearningCurveDisplay.from_estimator in FUNCTIONS
