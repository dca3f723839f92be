"""Dense rows: used as they come, the same model as that of the same rows in CSR."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel._native import _signatures as c, _views


def embeddings(n: int = 400, d: int = 30, k: int = 2, dtype: Any = np.float32) -> tuple[Any, np.ndarray, np.ndarray]:
    """Unit rows around k directions, labels of the first ten, and all classes."""
    rng = np.random.default_rng(3)
    truth = np.arange(n) % k
    X = rng.standard_normal((k, d))[truth] + 0.8 * rng.standard_normal((n, d))
    X = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)
    return X, np.where(np.arange(n) < 5 * k, truth, -1), truth


@pytest.mark.parametrize("make", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_same_model_as_csr(make: Any, k: int, dtype: Any) -> None:
    X, y, truth = embeddings(k=k, dtype=dtype)
    dense, sparse = make(tol=1e-8).fit(X, y), make(tol=1e-8).fit(sp.csr_array(X), y)
    scale = np.abs(sparse.coef_).max()
    np.testing.assert_allclose(dense.coef_, sparse.coef_, atol=1e-3 * scale)
    np.testing.assert_array_equal(dense.transduction_, sparse.transduction_)
    assert dense.objective_ == pytest.approx(sparse.objective_, rel=1e-6)
    assert np.mean(dense.transduction_ == truth) > 0.9
    np.testing.assert_allclose(dense.decision_function(X), dense.decision_function(sp.csr_array(X)), atol=1e-12)


@pytest.mark.parametrize("k", [2, 5])
def test_same_bits_on_any_number_of_threads(k: int) -> None:
    X, y, _ = embeddings(n=3000, k=k)
    one, two = (TransductiveSVC(n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.intercept_, two.intercept_)


@pytest.mark.parametrize("k", [2, 5])
def test_a_row_has_the_same_score_alone(k: int) -> None:
    X, y, _ = embeddings(k=k)
    model = TransductiveSVC().fit(X, y)
    alone = [model.decision_function(X[i : i + 1])[0] for i in range(50)]
    np.testing.assert_array_equal(model.decision_function(X)[:50], alone)
    X[::2, 1:] = 0  # in a batch that is half empty, too
    np.testing.assert_array_equal(model.decision_function(X)[1:50:2], alone[1:50:2])


def test_rows_are_not_copied_where_they_lie_in_one_piece() -> None:
    X, _, _ = embeddings()
    for view in (X, X[::2], X[:, 3:20], X[7:]):
        rows = _views.rows(view)
        assert rows.kind == c.DENSE
        assert rows.values == view.ctypes.data
        assert rows.row_stride * view.itemsize == view.strides[0]
    for other in (np.asfortranarray(X), X[:, ::2], X[::-1]):
        rows = _views.rows(other)
        assert rows.values != other.ctypes.data
        np.testing.assert_array_equal(rows.arrays[0], other)


def test_views_give_the_model_of_their_copies() -> None:
    X, y, _ = embeddings()
    for view, labels in ((X[::3], y[::3]), (X[:, 3:20], y), (np.asfortranarray(X), y)):
        one, other = TransductiveSVC().fit(view, labels), TransductiveSVC().fit(np.array(view, order="C"), labels)
        np.testing.assert_array_equal(one.coef_, other.coef_)


def test_rows_with_many_zeros_become_csr() -> None:
    X, y, _ = embeddings()
    X = np.where(np.abs(X) < np.quantile(np.abs(X), 0.6), 0, X)
    assert np.count_nonzero(X) < X.size / 2
    dense, sparse = TransductiveSVC().fit(X, y), TransductiveSVC().fit(sp.csr_array(X), y)
    np.testing.assert_array_equal(dense.coef_, sparse.coef_)


def test_read_only_rows_stay_as_they_are() -> None:
    X, y, _ = embeddings()
    X.setflags(write=False)
    before = X.copy()
    TransductiveSVC().fit(X, y).predict(X)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite_are_named(value: float) -> None:
    X, y, _ = embeddings()
    model = TransductiveSVC().fit(X, y)
    X[123, 4] = value
    for call in (lambda: model.fit(X, y), lambda: model.predict(X)):
        with pytest.raises(ValueError, match="row 123, column 4: every value must be finite"):
            call()
