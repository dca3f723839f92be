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
from planted import many_topics, text_like
from sklearn.datasets import make_moons
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from fewlabel import (
    DataWarning,
    FewlabelWarning,
    GraphKernelFeatures,
    KernelTransductiveSVC,
    TransductiveSVC,
    save_model,
)
from fewlabel._gram_features import GramFeatures, pivoted_cholesky
from fewlabel._inputs import _memory
from fewlabel._native import _fit


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


# ------------------------------------------------------------------ scikit-learn's checks
def fails_by_design(estimator: Any) -> dict[str, str]:
    if isinstance(estimator, GraphKernelFeatures):
        return {}
    found = {}
    if estimator.kernel in ("graph", "rbf"):
        for kind in ("dense", "sparse"):
            found[f"check_sample_weight_equivalence_on_{kind}_data"] = "features are made from all rows alike"
    if estimator.kernel == "precomputed":
        names = ("positive_only_tag_during_fit", "classifiers_one_label_sample_weights", "estimators_dtypes")
        for name in (f"check_{name}" for name in names):
            found[name] = "fits rows that are no kernel"
    return found


class Gram:
    """A callable without an address in its repr: every process of the tests must give them the same names."""

    def __call__(self, A: Any, B: Any) -> np.ndarray:
        return rbf_kernel(A, B, gamma=0.5)

    def __repr__(self) -> str:
        return "gram"


gram = Gram()


KINDS = [{"kernel": name, "n_neighbors": 2} for name in ("graph", "rbf", "linear", "precomputed", gram)]
CHECKED = [GraphKernelFeatures(n_neighbors=2)]
CHECKED += [KernelTransductiveSVC(unlabeled=None, **kind) for kind in KINDS]  # "auto": test_estimator_checks.py


@parametrize_with_checks(CHECKED, expected_failed_checks=fails_by_design)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


# ------------------------------------------------------------------ the graph
def test_all_features_have_the_kernel_of_the_graph() -> None:
    for rho in (1e-3, 1.0):
        features = GraphKernelFeatures(n_components=None, rho=rho).fit_transform(X)
        kernel = 10 * np.linalg.inv(laplacian(X, 5) + rho * np.eye(len(X)))
        np.testing.assert_allclose(features @ features.T, kernel, atol=1e-8 * kernel.max())


def test_leading_features_are_those_of_all() -> None:
    few, every = (GraphKernelFeatures(n_components=m).fit(X) for m in (20, None))
    np.testing.assert_allclose(few.eigenvalues_, every.eigenvalues_[:20], atol=1e-10)
    inner = few.embedding_ @ few.embedding_.T
    wanted = every.embedding_[:, :20] @ every.embedding_[:, :20].T
    np.testing.assert_allclose(inner, wanted, atol=1e-8 * wanted.max())


def test_every_piece_has_a_feature() -> None:
    """Eigenvalues that occur many times, of which a search by Lanczos steps misses some."""
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.normal(size=(40, 2)) / 10 + 10 * k for k in range(12)])
    with pytest.warns(DataWarning, match="12 connected components"):
        few, every = (GraphKernelFeatures(n_components=m).fit(rows) for m in (30, None))
    np.testing.assert_allclose(few.eigenvalues_, every.eigenvalues_[:30], atol=1e-10)
    with pytest.warns(DataWarning, match="12 connected components of 40, 40, 40, 40, 40, ... rows"):
        assert GraphKernelFeatures(n_components=5).fit_transform(rows).shape == (480, 5)


def test_same_bits_each_time_and_one_sign() -> None:
    first, second = (GraphKernelFeatures(n_components=20, n_jobs=n).fit_transform(X) for n in (1, 2))
    np.testing.assert_array_equal(first, second)
    assert (first[np.abs(first).argmax(axis=0), np.arange(20)] > 0).all()
    backwards = GraphKernelFeatures(n_components=20).fit_transform(X[::-1])[::-1]
    np.testing.assert_allclose(np.abs(backwards), np.abs(first), atol=1e-6 * np.abs(first).max())


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_rows_of_fit_keep_their_features(container: Any) -> None:
    graph = GraphKernelFeatures().fit(container(X))
    np.testing.assert_array_equal(graph.transform(container(X[::-1])), graph.embedding_[::-1])


def test_new_rows_have_the_nystrom_extension() -> None:
    graph, new = GraphKernelFeatures(n_components=8).fit(X), moons(40, seed=1)[0]
    joined = kneighbors_graph(X, 5).toarray()
    degrees = np.maximum(joined, joined.T).sum(axis=1)
    vectors = np.linalg.eigh(laplacian(X, 5))[1][:, :8]
    scale = np.sqrt(10 / (graph.eigenvalues_ + graph.rho)) * np.sign(np.sum(vectors * graph.embedding_, axis=0))
    for row, found in zip(new, graph.transform(new), strict=True):
        near = np.argsort(np.linalg.norm(X - row, axis=1))[:5]
        extended = (vectors[near] / np.sqrt(5 * degrees[near])[:, None]).sum(axis=0) / (1 - graph.eigenvalues_)
        np.testing.assert_allclose(found, extended * scale, atol=1e-6 * np.abs(scale).max())


@pytest.mark.parametrize("sparse", [False, True])
def test_copies_of_all_rows_change_nothing_and_are_one_node(sparse: bool) -> None:
    rows = np.random.default_rng(3).normal(size=(120, 3)).clip(0)
    rows = sp.csr_array(rows) if sparse else rows
    stack = sp.vstack if sparse else np.vstack
    once = GraphKernelFeatures(n_components=6).fit(rows)
    thrice = GraphKernelFeatures(n_components=6).fit(stack([rows] * 3))
    np.testing.assert_allclose(thrice.eigenvalues_, once.eigenvalues_, atol=1e-9)
    np.testing.assert_allclose(thrice.embedding_ * np.sqrt(3), np.vstack([once.embedding_] * 3), atol=1e-6)
    new = rows[:5] * 1.5
    np.testing.assert_allclose(thrice.transform(new) * np.sqrt(3), once.transform(new), atol=1e-6)
    different = len(np.unique(rows.toarray() if sparse else rows, axis=0))
    assert thrice._neighbors.n_samples_fit_ == different


def test_equal_rows_alone_and_among_few_others() -> None:
    assert (GraphKernelFeatures().fit(np.ones((1000, 2))).embedding_ > 0).all()
    rows = np.vstack([np.ones((3000, 2)), np.random.default_rng(0).normal(size=(4, 2))])
    graph = GraphKernelFeatures().fit(rows)
    assert graph.embedding_.shape == (3004, 5)
    assert (graph.embedding_[:3000] == graph.embedding_[0]).all()
    assert graph.degrees_[0] == 4
    np.testing.assert_allclose(graph.transform(rows), graph.embedding_)


def test_the_eigenvalues_of_a_line_are_those_of_all() -> None:
    rows = np.arange(1500.0)[:, None]
    few = GraphKernelFeatures(n_components=40).fit(rows)  # by factors
    every = GraphKernelFeatures(n_components=None).fit(rows)
    np.testing.assert_allclose(few.eigenvalues_, every.eigenvalues_[:40], atol=1e-8)
    np.testing.assert_allclose(few.embedding_, every.embedding_[:, :40], atol=1e-3)


@pytest.mark.parametrize("kernel", ["graph", "rbf", "precomputed"])
def test_ctrl_c_works_in_the_features(kernel: str, monkeypatch: Any) -> None:
    step = {"graph": (NearestNeighbors, "kneighbors"), "rbf": (Nystroem, "fit_transform")}
    given, ended = step.get(kernel, (GramFeatures, "fit_transform")), threading.Event()
    monkeypatch.setattr(*given, lambda *_, **__: ended.wait(20))
    rows = np.eye(20)
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        KernelTransductiveSVC(kernel=kernel).fit(rows, np.arange(20) % 3 - 1)
    assert time.monotonic() - begin < 1.3
    ended.set()


def test_a_graph_in_pieces_is_told_with_their_sizes() -> None:
    apart = np.concatenate([X, X[:50] + 100])
    with pytest.warns(
        DataWarning, match="2 connected components of 300, 50 rows: labels do not spread between components"
    ):
        graph = GraphKernelFeatures().fit(apart)
    assert graph.n_pieces_ == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert GraphKernelFeatures().fit(X).n_pieces_ == 1


def test_warnings_in_a_pipeline_are_those_of_its_callers_line() -> None:
    apart = np.concatenate([X, X[:50] + 100])
    with pytest.warns(DataWarning, match="2 connected components") as caught:
        make_pipeline(GraphKernelFeatures(), TransductiveSVC()).fit(apart, np.resize([0, 1, None], len(apart)))
    assert {warning.filename for warning in caught} == {__file__}


def test_names_of_features() -> None:
    graph = GraphKernelFeatures(n_components=2).fit(X)
    assert graph.get_feature_names_out().tolist() == ["graphkernelfeatures0", "graphkernelfeatures1"]


# ------------------------------------------------------------------ limits
@pytest.mark.parametrize("many", [False, True])
def test_linear_is_the_linear_classifier(many: bool) -> None:
    rows, y, _ = many_topics() if many else text_like()
    kernel, plain = (kind.fit(rows, y) for kind in (KernelTransductiveSVC(kernel="linear"), TransductiveSVC()))
    for name in ("coef_", "intercept_", "transduction_", "label_distributions_"):
        np.testing.assert_array_equal(getattr(kernel, name), getattr(plain, name))
    assert kernel.objective_ == plain.objective_
    np.testing.assert_array_equal(kernel.decision_function(rows), plain.decision_function(rows))


@pytest.mark.parametrize("weight", [0, 1.0])
def test_nystrom_with_all_rows_callable_and_matrix_agree(weight: float) -> None:
    rows, _, y = moons(120)
    new = moons(50, seed=1)[0]
    usual = {"unlabeled_weight": weight, "class_prior": [0.5, 0.5], "tol": 1e-12}
    rbf = KernelTransductiveSVC(kernel="rbf", gamma=0.5, n_components=120, **usual).fit(rows, y)
    called = KernelTransductiveSVC(kernel=gram, n_components=120, **usual).fit(rows, y)
    given = KernelTransductiveSVC(kernel="precomputed", n_components=120, **usual).fit(gram(rows, rows), y)
    for found, kernel in ((called, new), (given, gram(new, rows))):
        np.testing.assert_allclose(found.decision_function(kernel), rbf.decision_function(new), atol=1e-6)
    np.testing.assert_array_equal(given.transduction_, rbf.transduction_)


def test_a_callable_may_return_a_sparse_kernel() -> None:
    rows = sp.csr_matrix(X)
    found = KernelTransductiveSVC(kernel=lambda A, B: A @ B.T, n_components=2).fit(rows, Y)
    same = KernelTransductiveSVC(kernel=lambda A, B: (A @ B.T).toarray(), n_components=2).fit(rows, Y)
    np.testing.assert_array_equal(found.coef_, same.coef_)


def test_the_exact_solution_of_the_gram_matrix() -> None:
    """Supervised: in α/2 cᵀKc with scores Kc the gradient is 0 at c, from the scores alone."""
    rows, _, y = moons(80)
    labeled = y >= 0
    K = gram(rows, rows)
    model = KernelTransductiveSVC(
        kernel="rbf", gamma=0.5, n_components=80, unlabeled_weight=0, alpha=1e-3, fit_intercept=False, tol=1e-14
    ).fit(rows, y)
    f, sign = model.decision_function(rows), 2 * y[labeled] - 1
    slack = np.maximum(0, 1 - sign * f[labeled])
    exact = K[:, labeled] @ (sign * slack) / (labeled.sum() * model.alpha)  # every row has length 1
    np.testing.assert_allclose(f, exact, atol=1e-6)


def test_gamma_scale_is_that_of_scikit_learn() -> None:
    for rows in (X, sp.csr_array(X)):
        model = KernelTransductiveSVC(kernel="rbf").fit(rows, Y)
        assert model.features_.gamma == pytest.approx(1 / (2 * X.var()))


def test_pivots_end_at_the_rank() -> None:
    rows = np.random.default_rng(0).normal(size=(60, 7))
    factor, pivots = pivoted_cholesky(rows @ rows.T, 60)
    assert factor.shape == (60, 7)
    assert len(set(pivots)) == 7
    np.testing.assert_allclose(factor @ factor.T, rows @ rows.T, atol=1e-10)
    assert KernelTransductiveSVC(kernel="precomputed").fit(X @ X.T, Y).coef_.shape == (1, 2)


# ------------------------------------------------------------------ curves
@pytest.mark.parametrize("kernel", ["graph", "rbf"])
def test_kernels_find_the_moons(kernel: str) -> None:
    model = KernelTransductiveSVC(kernel=kernel, class_prior="labels").fit(X, Y)
    new, moon, _ = moons(400, seed=1)
    assert np.mean(model.transduction_ == MOON) > 0.98
    assert np.mean(model.predict(new) == moon) > 0.97
    np.testing.assert_array_equal(model.predict(X), model.transduction_)
    assert np.mean(TransductiveSVC().fit(X, Y).transduction_ == MOON) < 0.95


def test_features_work_in_pipelines() -> None:
    model = make_pipeline(GraphKernelFeatures(), TransductiveSVC()).fit(X, Y)
    new = moons(20, seed=1)[0]
    np.testing.assert_array_equal(model.predict(new), KernelTransductiveSVC().fit(X, Y).predict(new))


def test_many_classes_probabilities_and_names() -> None:
    rows = np.concatenate([X, X + np.array([4.0, 0.0])])
    truth = np.array(["a", "b", "c", "d"])[np.concatenate([MOON, MOON + 2])]
    y = np.where(np.arange(600) % 15 == 0, truth, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        model = KernelTransductiveSVC(calibrate=True).fit(rows, y)
    assert model.score(rows, truth) > 0.95
    assert model.predict_proba(rows).shape == (600, 4)


def test_same_bits_on_any_number_of_threads_and_after_pickling() -> None:
    for kernel in ("graph", "rbf"):
        one, two = (KernelTransductiveSVC(kernel=kernel, n_jobs=n).fit(X, Y) for n in (1, 2))
        np.testing.assert_array_equal(one.coef_, two.coef_)
        new = moons(20, seed=2)[0]
        restored = pickle.loads(pickle.dumps(one))
        np.testing.assert_array_equal(restored.decision_function(new), one.decision_function(new))


def test_no_warning_of_the_scales_of_features() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in ("graph", "rbf"):
            KernelTransductiveSVC(kernel=kernel, class_prior="labels").fit(X, Y)
            KernelTransductiveSVC(kernel=kernel, class_prior="labels").fit(X.astype(np.float32), Y)


def test_a_warm_start_keeps_the_features() -> None:
    for kernel in ("graph", "rbf", "linear"):
        model = KernelTransductiveSVC(kernel=kernel, warm_start=True).fit(X, Y)
        features, added = model.features_, np.where(np.arange(len(Y)) < 10, MOON, Y)
        cold = KernelTransductiveSVC(kernel=kernel).fit(X, added)
        model.fit(X, added)
        assert model.features_ is features
        assert model.history_["n_passes"][-1] < cold.history_["n_passes"][-1]


def test_an_interrupted_fit_keeps_the_model(monkeypatch: Any) -> None:
    model = KernelTransductiveSVC().fit(X, Y)
    before = model.decision_function(X)

    def interrupted(*arguments: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(_fit, "fit", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.fit(X + 1, Y)
    np.testing.assert_array_equal(model.decision_function(X), before)


def test_the_callers_arrays_are_not_written() -> None:
    for kernel in ("graph", "rbf", "precomputed", gram):
        rows = gram(X, X) if kernel == "precomputed" else X.copy()
        rows.flags.writeable = False
        KernelTransductiveSVC(kernel=kernel).fit(rows, Y).predict(rows)


# ------------------------------------------------------------------ bad input
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"kernel": "poly"},
            r'kernel must be one of "auto", "graph", "rbf", "linear", "precomputed" or a callable, got \'poly\'',
        ),
        ({"kernel": None}, "or a callable, got None"),
        ({"kernel": "rbf", "gamma": "auto"}, "gamma must be \"scale\" or a number above 0 and finite, got 'auto'"),
        ({"kernel": "rbf", "gamma": 0.0}, "gamma must be .* got 0.0"),
        ({"n_components": 0}, "n_components must be an integer of at least 1, got 0"),
        ({"n_neighbors": 2.5}, "n_neighbors must be an integer of at least 1, got 2.5"),
        ({"kernel": lambda A, B: np.ones(len(A))}, r"kernel\(X, Y\) must return .* shape \(300, 300\).* got \(300,\)"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, r"kernel\(X, Y\) has NaN in row 0, column 0"),
        ({"kernel": lambda A, B: -A @ B.T}, r"not positive semidefinite: its eigenvalues go from -\d"),
    ],
)
def test_bad_parameters(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        KernelTransductiveSVC(**settings).fit(X, Y)


@pytest.mark.parametrize(("name", "value"), [("rho", 0.0), ("rho", np.inf), ("n_components", 1.5), ("n_neighbors", 0)])
def test_bad_parameters_of_the_graph(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} must be .* got {value}"):
        GraphKernelFeatures(**{name: value}).fit(X)


def test_bad_kernels() -> None:
    model, K = KernelTransductiveSVC(kernel="precomputed"), gram(X, X)
    with pytest.raises(ValueError, match="square, got 300 rows of 299"):
        model.fit(K[:, :-1], Y)
    with pytest.raises(ValueError, match="the kernel is 0 for all pairs of rows"):
        model.fit(np.zeros_like(K), Y)
    slanted = K.copy()
    slanted[3, 7] += 0.25
    with pytest.raises(ValueError, match=r"not symmetric: entries that should be equal are up to 0.25 apart"):
        model.fit(slanted, Y)
    with pytest.raises(ValueError, match=r"eigenvalues go from -0.5 to \d.*A distance matrix is not a kernel"):
        model.fit(K - (0.5 + np.linalg.eigvalsh(K)[0]) * np.eye(300), Y)
    with pytest.raises(ValueError, match="X has NaN in row 2, column 5"):
        model.fit(np.where((np.arange(300) == 2)[:, None] & (np.arange(300) == 5), np.nan, K), Y)
    with pytest.raises(
        ValueError, match=r"X has 299 features, but .* expecting 300 .* its kernel with each row of fit"
    ):
        model.fit(K, Y).predict(K[:5, :-1])


def test_what_does_not_fit_into_memory_is_refused(monkeypatch: Any) -> None:
    rows, y = np.random.default_rng(0).normal(size=(3000, 2)), np.where(np.arange(3000) < 2, np.arange(3000), -1)
    monkeypatch.setattr(_memory, "available", lambda: 2e7)
    with pytest.raises(MemoryError, match=r"the graph kernel of 3000 rows needs about 0.3 GB .* set n_components"):
        GraphKernelFeatures(n_components=None).fit(rows)
    for kernel in ("rbf", gram):
        with pytest.raises(MemoryError, match=r"2000 features of 3000 rows needs about 0.1 GB of memory, and 0.0 GB"):
            KernelTransductiveSVC(kernel=kernel, n_components=2000).fit(rows, y)


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
    with pytest.raises(TypeError, match=r"save_model takes .* got KernelTransductiveSVC: save others with joblib"):
        save_model(KernelTransductiveSVC().fit(X, Y), tmp_path / "model")


# ------------------------------------------------------------------ the choice of a kernel
def clouds(n: int = 400) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of two normal distributions in 50 dimensions, their classes, and five labels of each class."""
    rng, cloud = np.random.default_rng(0), np.arange(n) % 2
    return rng.normal(size=(n, 50)) + np.outer(cloud, np.full(50, 0.5)), cloud, np.where(np.arange(n) < 10, cloud, -1)


def test_the_default_is_the_graph_for_curves_and_rbf_for_clouds() -> None:
    for (rows, truth, y), kernel in ((moons(), "graph"), (clouds(), "rbf")):
        model, chosen = KernelTransductiveSVC().fit(rows, y), KernelTransductiveSVC(kernel=kernel).fit(rows, y)
        assert model.kernel_ == kernel
        assert set(model.kernel_scores_) == {"graph", "rbf"}
        np.testing.assert_array_equal(model.coef_, chosen.coef_)
        np.testing.assert_array_equal(model.predict(rows), chosen.predict(rows))
        assert chosen.kernel_scores_ is None
        assert np.mean(model.transduction_ == truth) > 0.9


def test_a_class_with_one_label_is_always_learned_from() -> None:
    rows, _, y = clouds()
    y[2:10:2] = -1  # one label of class 0
    model = KernelTransductiveSVC().fit(rows, y)
    assert np.isfinite(list(model.kernel_scores_.values())).all()
    assert set(model.classes_) == {0, 1}


def test_without_two_labels_of_a_class_the_default_warns_that_it_cannot_compare() -> None:
    y = np.where(np.isin(np.arange(len(X)), [np.argmin(MOON), np.argmax(MOON)]), MOON, -1)
    with pytest.warns(FewlabelWarning, match="needs two labels of a class"):
        model = KernelTransductiveSVC().fit(X, y)
    assert model.kernel_ == "graph"
    assert model.kernel_scores_ == {}


def test_a_graph_that_is_not_connected_is_reported_only_if_it_is_chosen() -> None:
    apart = np.concatenate([X, X[:50] + 100])
    with pytest.warns(DataWarning, match="2 connected components") as caught:
        model = KernelTransductiveSVC().fit(apart, np.concatenate([Y, MOON[:50]]))
    assert model.kernel_ == "graph"
    assert {warning.filename for warning in caught} == {__file__}
    rows, _, y = clouds()
    rows = np.concatenate([rows, rows[:6] + 100])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "the graph")
        assert KernelTransductiveSVC().fit(rows, np.append(y, [-1] * 6)).kernel_ == "rbf"


def test_labels_of_any_kind_and_marker_choose_the_same_kernel() -> None:
    rows, cloud, y = clouds()
    expected = KernelTransductiveSVC().fit(rows, y).kernel_scores_
    signs = np.where(y < 0, 0, 2 * cloud - 1)
    names = [None if label < 0 else "ab"[label] for label in y]
    assert KernelTransductiveSVC(unlabeled=0).fit(rows, signs).kernel_scores_ == expected
    assert KernelTransductiveSVC(class_prior={"a": 0.5, "b": 0.5}).fit(rows, names).kernel_ == "rbf"
    assert KernelTransductiveSVC().fit(rows, names).kernel_scores_ == expected
    supervised = KernelTransductiveSVC(unlabeled=None).fit(rows[:10], cloud[:10])
    assert supervised.kernel_scores_["graph"].agreement == 1


@pytest.mark.parametrize("change", [{"kernel": "rbf"}, {"n_neighbors": 4}, {"gamma": 2.0}, {"n_components": 9}])
def test_a_warm_start_refuses_another_kernel(change: dict[str, Any]) -> None:
    model = KernelTransductiveSVC(kernel="graph", warm_start=True).fit(X, Y).set_params(**change)
    with pytest.raises(
        ValueError, match=f"warm_start=True keeps the features of the fitted model, but {next(iter(change))} "
    ):
        model.fit(X, Y)
    model.set_params(warm_start=False).fit(X, Y)


@pytest.mark.parametrize("kernel", ["auto", "graph", "rbf", "linear", gram])
def test_rows_of_weight_0_are_as_good_as_absent(kernel: Any) -> None:
    rows, y, weights = np.vstack([X, X[:40] + 0.3]), np.append(Y, np.arange(40) % 3), np.ones(len(X) + 40)
    weights[len(X) :] = 0  # among them the only labels of class 2
    weighted = KernelTransductiveSVC(kernel=kernel).fit(rows, y, weights)
    absent = KernelTransductiveSVC(kernel=kernel).fit(X, Y)
    assert weighted.classes_.tolist() == [0, 1]
    assert weighted.kernel_scores_ == absent.kernel_scores_
    np.testing.assert_allclose(weighted.decision_function(rows), absent.decision_function(rows), atol=1e-6)


@pytest.mark.parametrize("n", [2, 3, 5])
@pytest.mark.parametrize("kernel", ["auto", "graph", "rbf"])
def test_few_rows(kernel: str, n: int) -> None:
    model = KernelTransductiveSVC(kernel=kernel, unlabeled=None).fit(X[[0, -1, 1, -2, 2][:n]], [0, 1, 0, 1, 0][:n])
    assert model.predict(X[:3]).shape == (3,)


def test_more_components_than_rows() -> None:
    with pytest.raises(ValueError, match="n_components is 301, but X has 300 rows"):
        KernelTransductiveSVC(n_components=301).fit(X, Y)


def test_a_warm_start_keeps_the_chosen_kernel() -> None:
    rows, cloud, y = clouds()
    model = KernelTransductiveSVC(warm_start=True).fit(rows, y)
    features, scores = model.features_, model.kernel_scores_
    model.fit(rows, np.where(np.arange(len(y)) < 20, cloud, -1))
    assert (model.kernel_, model.features_, model.kernel_scores_) == ("rbf", features, scores)
