"""Kernels as features: limits that must agree, curves, bad input, scikit-learn's protocol."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from checks import ROWS, variants
from planted import text_like
from sklearn.datasets import make_moons
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.pipeline import Pipeline, make_pipeline

from fewlabel import DataWarning, KernelFeatures, TransductiveSVC, _gram, save_model
from fewlabel._gram import pivoted_cholesky
from fewlabel._inputs import _memory


def moons(n: int = 300, seed: int = 0, noise: float = 0.1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, their classes, and two labels of each class; the graph of five neighbors is in one piece."""
    X, moon = make_moons(n, noise=noise, random_state=seed)
    y = np.full(n, -1)
    for c in (0, 1):
        y[np.flatnonzero(moon == c)[:2]] = c
    return X, moon, y


X, MOON, Y = moons()


def laplacian(X: np.ndarray, k: int) -> np.ndarray:
    joined = kneighbors_graph(X, k).toarray()
    joined = np.maximum(joined, joined.T)
    root = np.sqrt(joined.sum(axis=1))
    return np.eye(len(X)) - joined / root[:, None] / root


def inner(features: np.ndarray) -> np.ndarray:
    return features @ features.T


class Gram:
    """A callable without an address in its repr: every process of the tests must give them the same names."""

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return rbf_kernel(A, B, gamma=0.5)

    def __repr__(self) -> str:
        return "gram"


gram = Gram()


# The default: test_estimator_checks.py.
@variants([KernelFeatures(kernel=kernel) for kernel in ("rbf", gram)], ROWS)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# ------------------------------------------------------------------ the graph
def test_all_features_have_the_kernel_of_the_graph() -> None:
    kernel = 10 * np.linalg.inv(laplacian(X, 5) + 1e-3 * np.eye(len(X)))
    features = KernelFeatures(n_components=300).fit_transform(X)
    np.testing.assert_allclose(inner(features), kernel, atol=1e-8 * kernel.max())


def test_leading_features_are_those_of_all() -> None:
    few, every = (KernelFeatures(n_components=m).fit_transform(X) for m in (20, 300))
    wanted = inner(every[:, :20])
    np.testing.assert_allclose(inner(few), wanted, atol=1e-8 * wanted.max())


def test_every_piece_has_a_feature() -> None:
    """Eigenvalues that occur many times, of which a search by Lanczos steps misses some."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(40, 2)) / 10 + 10 * k for k in range(12)])
    with pytest.warns(DataWarning, match="12 connected components"):
        few, every = (KernelFeatures(n_components=m).fit(rows)._map for m in (30, 480))
    np.testing.assert_allclose(few.eigenvalues, every.eigenvalues[:30], atol=1e-10)
    with pytest.warns(DataWarning, match="12 connected components, the largest of 40 rows"):
        assert KernelFeatures(n_components=5).fit_transform(rows).shape == (480, 5)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_rows_of_fit_keep_their_features(container: Any) -> None:
    graph = KernelFeatures()
    features = graph.fit_transform(container(X))
    np.testing.assert_array_equal(graph.transform(container(X[::-1])), features[::-1])


def test_new_rows_have_the_nystrom_extension() -> None:
    graph, new = KernelFeatures(n_components=8), moons(40, seed=1)[0]
    features = graph.fit_transform(X)
    joined = kneighbors_graph(X, 5).toarray()
    degrees = np.maximum(joined, joined.T).sum(axis=1)
    values, vectors = (found[..., :8] for found in np.linalg.eigh(laplacian(X, 5)))
    scale = np.sqrt(10 / (values + 1e-3)) * np.sign(np.sum(vectors * features, axis=0))
    for row, found in zip(new, graph.transform(new), strict=True):
        near = np.argsort(np.linalg.norm(X - row, axis=1))[:5]
        extended = (vectors[near] / np.sqrt(5 * degrees[near])[:, None]).sum(axis=0) / (1 - values)
        np.testing.assert_allclose(found, extended * scale, atol=1e-6 * np.abs(scale).max())


@pytest.mark.parametrize("sparse", [False, True])
def test_copies_of_all_rows_change_nothing_and_are_one_node(sparse: bool) -> None:
    rows = np.random.default_rng(3).normal(size=(120, 3)).clip(0)
    rows = sp.csr_array(rows) if sparse else rows
    stack = sp.vstack if sparse else np.vstack
    once, thrice = KernelFeatures(n_components=6), KernelFeatures(n_components=6)
    features = once.fit_transform(rows)
    np.testing.assert_allclose(
        thrice.fit_transform(stack([rows] * 3)) * np.sqrt(3), np.vstack([features] * 3), atol=1e-6
    )
    new = rows[:5] * 1.5
    np.testing.assert_allclose(thrice.transform(new) * np.sqrt(3), once.transform(new), atol=1e-6)


def test_equal_rows_alone_and_among_few_others() -> None:
    assert (KernelFeatures().fit_transform(np.ones((1000, 2))) > 0).all()
    rows = np.vstack([np.ones((3000, 2)), np.random.default_rng(0).normal(size=(4, 2))])
    features = KernelFeatures().fit_transform(rows)
    assert features.shape == (3004, 5)
    assert (features[:3000] == features[0]).all()


def test_the_eigenvalues_of_a_line_are_those_of_all() -> None:
    rows = np.arange(1.0, 1501.0)[:, None]
    few, every = (KernelFeatures(n_components=m).fit(rows) for m in (40, 1500))  # the first by factors
    np.testing.assert_allclose(few._map.eigenvalues, every._map.eigenvalues[:40], atol=1e-8)
    wanted = inner(every.transform(rows)[:, :40])
    np.testing.assert_allclose(inner(few.transform(rows)), wanted, atol=1e-6 * wanted.max())


def test_a_graph_that_is_not_connected_is_reported() -> None:
    apart = np.concatenate([X, X[:50] + 100])
    with pytest.warns(
        DataWarning, match="2 connected components, the largest of 300 rows: labels do not spread between components"
    ):
        KernelFeatures().fit(apart)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelFeatures().fit(X)


def test_warnings_in_a_pipeline_are_those_of_its_callers_line() -> None:
    apart = np.concatenate([X, X[:50] + 100])
    with pytest.warns(DataWarning, match="2 connected components") as caught:
        make_pipeline(KernelFeatures(), TransductiveSVC()).fit(apart, np.resize([0, 1, None], len(apart)))
    assert {warning.filename for warning in caught} == {__file__}


# ------------------------------------------------------------------ order, and rows of zeros
def words(data: Any) -> tuple[Any, np.ndarray]:
    """500 texts of two newsgroups with 300 words, 60 of them labeled."""
    texts, groups = data.pcmac()
    chosen = np.random.default_rng(0).permutation(len(texts))[:500]
    names = np.array(["hardware", "mac"])[np.unique(np.array(groups)[chosen], return_inverse=True)[1]]
    rows = TfidfVectorizer(max_features=300).fit_transform(np.array(texts, dtype=object)[chosen])
    return rows, np.where(np.arange(500) < 60, names, None)


def with_zeros(rows: Any) -> Any:
    return sp.vstack([rows, sp.csr_array((1, rows.shape[1]))], format="csr")


@pytest.mark.parametrize("kernel", ["graph", "rbf"])
def test_neither_the_order_of_rows_nor_a_row_of_zeros_moves_predictions(kernel: str, data: Any) -> None:
    rows, y = words(data)
    order = np.random.default_rng(1).permutation(500)
    model = make_pipeline(KernelFeatures(kernel=kernel), TransductiveSVC())
    before = model.fit(rows, y).predict(rows)
    assert np.mean(model.fit(rows[order], y[order]).predict(rows) != before) <= 0.02
    assert np.mean(model.fit(with_zeros(rows), [*y, None]).predict(rows) != before) <= 0.02


@pytest.mark.parametrize("kernel", ["graph", "rbf"])
def test_neither_the_order_of_rows_nor_a_row_of_zeros_changes_features(kernel: str) -> None:
    rows = text_like(900, 300).X  # more than there are components
    order = np.random.default_rng(1).permutation(900)
    features = KernelFeatures(kernel=kernel).fit_transform(rows)
    np.testing.assert_allclose(KernelFeatures(kernel=kernel).fit_transform(rows[order]), features[order], atol=1e-12)
    added = KernelFeatures(kernel=kernel).fit_transform(with_zeros(rows))
    np.testing.assert_allclose(added[:-1], features, atol=1e-12)
    assert not added[-1].any()


def test_the_order_of_a_matrix_does_not_change_its_pivots() -> None:
    rows = text_like(400, 300).X
    kernel, order = np.asarray(rbf_kernel(rows)), np.random.default_rng(1).permutation(400)
    features = KernelFeatures(kernel="precomputed", n_components=50).fit_transform(kernel)
    again = KernelFeatures(kernel="precomputed", n_components=50).fit_transform(kernel[np.ix_(order, order)])
    np.testing.assert_allclose(again, features[order], atol=1e-8)


def test_rows_of_zeros_alone() -> None:
    with pytest.raises(ValueError, match="every row of X is zero"):
        KernelFeatures().fit(np.zeros((20, 3)))
    assert not KernelFeatures(kernel="rbf").fit_transform(np.zeros((20, 3))).any()


# ------------------------------------------------------------------ other kernels
def test_function_callable_and_matrix_agree() -> None:
    rows, new = moons(120)[0], moons(50, seed=1)[0]
    rbf = KernelFeatures(kernel="rbf", gamma=0.5).fit(rows)
    called = KernelFeatures(kernel=gram).fit(rows)
    given = KernelFeatures(kernel="precomputed").fit(gram(rows, rows))
    np.testing.assert_allclose(inner(rbf.transform(rows)), gram(rows, rows), atol=1e-8)
    np.testing.assert_allclose(rbf.transform(new) @ rbf.transform(rows).T, gram(new, rows), atol=1e-6)
    np.testing.assert_array_equal(called.transform(new), rbf.transform(new))
    found = given.transform(gram(new, rows)) @ given.transform(gram(rows, rows)).T
    np.testing.assert_allclose(found, gram(new, rows), atol=1e-6)


def test_a_callable_may_return_a_sparse_kernel() -> None:
    rows = sp.csr_matrix(X)
    found = KernelFeatures(kernel=lambda A, B: A @ B.T, n_components=2).fit_transform(rows)
    same = KernelFeatures(kernel=lambda A, B: (A @ B.T).toarray(), n_components=2).fit_transform(rows)
    np.testing.assert_array_equal(found, same)


def test_the_exact_solution_of_the_gram_matrix() -> None:
    """Supervised: in α/2 cᵀKc with scores Kc the gradient is 0 at c, from the scores alone."""
    rows, _, y = moons(80)
    labeled = y >= 0
    K = gram(rows, rows)
    svc = TransductiveSVC(unlabeled_weight=0, alpha=1e-3, fit_intercept=False, tol=1e-14)
    model = make_pipeline(KernelFeatures(kernel="rbf", gamma=0.5), svc).fit(rows, y)
    f, sign = model.decision_function(rows), 2 * y[labeled] - 1
    slack = np.maximum(0, 1 - sign * f[labeled])
    exact = K[:, labeled] @ (sign * slack) / (labeled.sum() * svc.alpha)  # every row has length 1
    np.testing.assert_allclose(f, exact, atol=1e-6)


def test_gamma_scale_is_that_of_scikit_learn() -> None:
    wanted = KernelFeatures(kernel="rbf", gamma=1 / (2 * X.var())).fit_transform(X)
    for rows in (X, sp.csr_array(X)):
        np.testing.assert_allclose(KernelFeatures(kernel="rbf").fit_transform(rows), wanted, atol=1e-5)


def test_pivots_end_at_the_rank() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 7))
    factor, pivots = pivoted_cholesky(rows @ rows.T, 60)
    assert factor.shape == (60, 7)
    assert len(set(pivots)) == 7
    np.testing.assert_allclose(factor @ factor.T, rows @ rows.T, atol=1e-10)
    assert KernelFeatures(kernel="precomputed").fit_transform(X @ X.T).shape == (300, 2)


# ------------------------------------------------------------------ curves
@pytest.mark.parametrize("kernel", ["graph", "rbf"])
def test_kernels_find_the_moons(kernel: str) -> None:
    model = make_pipeline(KernelFeatures(kernel=kernel), TransductiveSVC(class_prior="labels")).fit(X, Y)
    new, moon, _ = moons(400, seed=1)
    assert np.mean(model[-1].transduction_ == MOON) > 0.98
    assert np.mean(model.predict(new) == moon) > 0.97
    np.testing.assert_array_equal(model.predict(X), model[-1].transduction_)
    assert np.mean(TransductiveSVC().fit(X, Y).transduction_ == MOON) < 0.95


def test_a_pipeline_becomes_one_of_scikit_learn() -> None:
    model = make_pipeline(KernelFeatures(), TransductiveSVC(class_prior=[0.5, 0.5])).fit(X, Y)
    theirs = Pipeline([("features", model[0]), ("svc", model[-1].to_sklearn())])
    np.testing.assert_allclose(theirs.decision_function(X + 0.01), model.decision_function(X + 0.01), atol=1e-9)


def test_same_bits_on_any_number_of_threads_and_after_pickling() -> None:
    new = moons(20, seed=2)[0]
    for kernel in ("graph", "rbf", gram):
        one, two = (KernelFeatures(kernel=kernel, n_jobs=n).fit(X) for n in (1, 2))
        np.testing.assert_array_equal(one.transform(X), two.transform(X))
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(one)).transform(new), one.transform(new))


def test_names_of_features_and_scales_that_warn_of_nothing() -> None:
    names = KernelFeatures(n_components=2).fit(X).get_feature_names_out()
    assert names.tolist() == ["kernelfeatures0", "kernelfeatures1"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in ("graph", "rbf"):
            make_pipeline(KernelFeatures(kernel=kernel), TransductiveSVC(class_prior="labels")).fit(X, Y)


def test_the_callers_arrays_are_not_written() -> None:
    for kernel in ("graph", "rbf", "precomputed", gram):
        rows = gram(X, X) if kernel == "precomputed" else X.copy()
        rows.flags.writeable = False
        KernelFeatures(kernel=kernel).fit(rows).transform(rows)


@pytest.mark.parametrize("kernel", ["graph", "rbf", "precomputed"])
def test_ctrl_c_works_in_the_features(kernel: str, monkeypatch: Any) -> None:
    step = (NearestNeighbors, "kneighbors") if kernel == "graph" else (_gram, "pivoted_cholesky")
    monkeypatch.setattr(*step, lambda *arguments, **named: time.sleep(20))
    interrupt = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        KernelFeatures(kernel=kernel).fit(gram(X, X) if kernel == "precomputed" else X)
    interrupt.join()


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("kernel", ["graph", "rbf"])
def test_few_rows(kernel: str, n: int) -> None:
    rows, y = X[[0, -1, 1, -2, 2][:n]], [0, 1, 0, 1, 0][:n]
    model = make_pipeline(KernelFeatures(kernel=kernel), TransductiveSVC(unlabeled=None)).fit(rows, y)
    assert model.predict(X[:3]).shape == (3,)


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"kernel": "poly"},
            r"kernel must be one of graph, rbf, precomputed or a callable, got 'poly'",
        ),
        ({"kernel": None}, "or a callable, got None"),
        ({"kernel": "rbf", "gamma": "auto"}, "gamma must be \"scale\" or a number above 0 and finite, got 'auto'"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma must be .* got 0.0"),
        ({"n_components": 0}, "n_components must be an integer of at least 1, got 0"),
        ({"n_neighbors": 2.5}, "n_neighbors must be an integer of at least 1, got 2.5"),
        ({"kernel": lambda A, B: np.ones(len(A))}, r"kernel\(X, Y\) must return .* shape \(300, 300\).* got \(300,\)"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, r"kernel\(X, Y\) has NaN in row 0, column 0"),
        ({"kernel": lambda A, B: -A @ B.T}, r"not positive semidefinite: eigenvalues -\d"),
    ],
)
def test_bad_parameters(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        KernelFeatures(**settings).fit(X)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", ["graph", "rbf"])
@pytest.mark.parametrize("size", [2.0**-100, 2.0**85])
def test_rows_whose_squares_float32_cannot_hold(form: Any, kernel: str, size: float) -> None:
    few = X[:40].astype(np.float32)
    rows = form(few.astype(np.float64)), form(few * np.float32(size))
    wanted, found = (KernelFeatures(kernel=kernel, n_components=30).fit(each[:30]).transform(each) for each in rows)
    np.testing.assert_allclose(found @ found.T, wanted @ wanted.T, atol=1e-3)


@pytest.mark.filterwarnings("ignore::fewlabel.DataWarning")
def test_sparse_rows_after_dense_ones() -> None:
    model = KernelFeatures(n_components=5).fit(X[:100])
    np.testing.assert_allclose(model.transform(sp.csr_array(X)), model.transform(X))


def test_bad_kernels() -> None:
    model, K = KernelFeatures(kernel="precomputed"), gram(X, X)
    with pytest.raises(ValueError, match="square, got 300 rows of 299"):
        model.fit(K[:, :-1])
    with pytest.raises(ValueError, match="the kernel is 0 for all pairs of rows"):
        model.fit(np.zeros_like(K))
    slanted = K.copy()
    slanted[3, 7] += 0.25
    with pytest.raises(ValueError, match=r"not symmetric: entries that should be equal are up to 0.25 apart"):
        model.fit(slanted)
    with pytest.raises(ValueError, match=r"eigenvalues -0.5 to \d"):
        model.fit(K - (0.5 + np.linalg.eigvalsh(K)[0]) * np.eye(300))
    with pytest.raises(ValueError, match="X has NaN in row 2, column 5"):
        model.fit(np.where((np.arange(300) == 2)[:, None] & (np.arange(300) == 5), np.nan, K))
    with pytest.raises(ValueError, match=r"X has 299 features, but .* expecting 300 "):
        model.fit(K).transform(K[:5, :-1])


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: Any) -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 2))
    monkeypatch.setattr(_memory, "available", lambda: 2e7)
    with pytest.raises(MemoryError, match=r"the graph kernel of 3000 rows needs about 0.3 GB .* set n_components"):
        KernelFeatures(n_components=3000).fit(rows)
    for kernel in ("rbf", gram):
        with pytest.raises(MemoryError, match=r"2000 features of 3000 rows needs about 0.1 GB of memory, and 0.0 GB"):
            KernelFeatures(kernel=kernel, n_components=2000).fit(rows)


def test_memory_left_is_the_least_of_machine_and_container(monkeypatch: Any, tmp_path: Any) -> None:
    files = {
        "/proc/meminfo": "MemTotal: 9000 kB\nMemAvailable:  4000 kB\nSwapFree: 1000 kB\n",
        str(tmp_path / "memory.max"): "max\n",
        str(tmp_path / "memory.current"): "3000000\n",
        str(tmp_path / "memory.stat"): "anon 1\ninactive_file 500000\n",
    }
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    monkeypatch.setattr(_memory, "_text", lambda path: files.get(str(path), ""))
    assert _memory.available() == 5000 * 1024
    files[str(tmp_path / "memory.max")] = "4000000\n"
    assert _memory.available() == 1_500_000
    files.clear()
    assert _memory.available() == np.inf


def test_a_model_file_has_linear_models_only(tmp_path: Any) -> None:
    with pytest.raises(TypeError, match=r"save_model takes .* got KernelFeatures: use joblib$"):
        save_model(KernelFeatures().fit(X), tmp_path / "model")
    with pytest.raises(TypeError, match=r"got Pipeline: use joblib, or save its last step, pipeline\[-1\]$"):
        save_model(make_pipeline(KernelFeatures()), tmp_path / "model")


def test_values_whose_products_vanish_are_refused() -> None:
    with pytest.raises(ValueError, match=r"X has no value above .*e-200: too small for products: scale the features"):
        KernelFeatures().fit(1e-200 * np.eye(6))
