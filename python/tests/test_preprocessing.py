"""BlockScaler: the length of a block, in every form in which columns come. NeighborSmoother: means of neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fewlabel import DataWarning, TransductiveSVC
from fewlabel.preprocessing import BlockScaler, NeighborSmoother

RANDOM = np.random.default_rng(0)
BLOCK = RANDOM.normal(size=(30, 4)) * (RANDOM.random((30, 4)) < 0.5)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_rows_have_the_norm_and_their_directions(form: Any) -> None:
    X = form(BLOCK)
    kept = X.copy()
    found = BlockScaler(norm=0.3).fit(X).transform(X)
    assert type(found) is type(X)
    dense = found.toarray() if sp.issparse(found) else found
    assert np.sqrt(np.mean(np.sum(dense**2, axis=1))) == pytest.approx(0.3)
    np.testing.assert_allclose(dense, BLOCK * (dense[0].max() / BLOCK[0].max()), rtol=1e-5)
    assert abs(X - kept).sum() == 0


def test_new_rows_get_the_factor_of_the_old_ones() -> None:
    scaler = BlockScaler().fit([[2.0], [2.0]])
    assert scaler.transform([[10.0]]).tolist() == [[pytest.approx(0.5)]]
    assert BlockScaler().fit_transform(np.zeros((3, 2))).tolist() == np.zeros((3, 2)).tolist()


@pytest.mark.parametrize("norm", [0, -1, np.nan, np.inf, "much"])
def test_bad_norms(norm: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="norm"):
        BlockScaler(norm=norm).fit(BLOCK)


def test_a_block_that_dominates_is_warned_of_and_scaled() -> None:
    """Texts of two topics, and a column that agrees with the labels by chance: the fit follows it, and says so."""
    pandas = pytest.importorskip("pandas")
    topic, place = np.arange(400) % 2, np.arange(400) // 2 % 2
    words = [" ".join(f"w{v}" for v in RANDOM.integers(0, 200, 12) + 60 * t) for t in topic]
    table = pandas.DataFrame({"text": words, "place": np.array(["here", "there"])[place]})
    labeled = np.concatenate([np.flatnonzero(topic == place)[:8], np.flatnonzero(topic != place)[:2]])
    y, hidden = np.full(400, -1), np.setdiff1d(np.arange(400), labeled)
    y[labeled] = topic[labeled]

    def fitted(*scaler: Any) -> Any:
        places = make_pipeline(OneHotEncoder(), *scaler)
        columns = ColumnTransformer([("text", TfidfVectorizer(), "text"), ("place", places, ["place"])])
        return make_pipeline(columns, TransductiveSVC(class_prior=[0.5, 0.5])).fit(table, y)

    with pytest.warns(DataWarning, match=r"feature 26\d and few others carry .*BlockScaler"):
        without = fitted()
    scaled = fitted(BlockScaler())
    assert scaled.score(table.iloc[hidden], topic[hidden]) > without.score(table.iloc[hidden], topic[hidden]) + 0.1


def smoothed(rows: np.ndarray, known: np.ndarray, k: int) -> np.ndarray:
    """The formula, row by row."""
    rows, known = (X / np.linalg.norm(X, axis=1, keepdims=True) for X in (rows, known))
    found = []
    for x in rows:
        mean = known[np.argsort(-known @ x, kind="stable")[:k]].mean(axis=0)
        both = x + mean / np.linalg.norm(mean)
        found.append(both / np.linalg.norm(both))
    return np.array(found)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 3, 40])
def test_rows_get_the_mean_of_their_nearest_rows_of_fit(dtype: Any, k: int) -> None:
    X, new = (RANDOM.normal(size=(n, 5)).astype(dtype) for n in (40, 7))
    kept = X.copy()
    smoother = NeighborSmoother(n_neighbors=k).fit(X)
    for rows in (X, new):
        found = smoother.transform(rows)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, smoothed(rows, kept, k), atol=1e-5)
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_allclose(smoother.transform(new[2:3]), smoother.transform(new)[2:3], atol=1e-6)


def test_few_rows_are_all_neighbors_and_rows_of_zeros_become_a_mean() -> None:
    X = np.array([[2.0, 0.0], [0.0, 5.0], [0.0, 0.0]])
    found = NeighborSmoother(n_neighbors=10).fit_transform(X)
    np.testing.assert_allclose(found[2], [0.5**0.5] * 2)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1)
    assert np.isfinite(NeighborSmoother().fit_transform(np.zeros((3, 2)))).all()


@pytest.mark.parametrize("n_neighbors", [0, -1, 2.5, "many"])
def test_bad_numbers_of_neighbors(n_neighbors: Any) -> None:
    with pytest.raises((ValueError, TypeError), match="n_neighbors"):
        NeighborSmoother(n_neighbors=n_neighbors).fit(BLOCK)


def test_smooth_rows_lie_nearer_to_the_rest_of_their_class() -> None:
    truth = np.arange(600) % 6
    X = RANDOM.normal(size=(6, 40))[truth] + 2 * RANDOM.normal(size=(600, 40))

    def right(rows: np.ndarray) -> float:
        """Of the nearest among one row of each class."""
        return float(np.mean(truth[(rows @ rows[:6].T).argmax(axis=1)] == truth))

    assert right(NeighborSmoother().fit_transform(X)) > right(X / np.linalg.norm(X, axis=1, keepdims=True)) + 0.1
