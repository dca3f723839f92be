"""BlockScaler: the length of a block, in every form in which columns come; what a fit says of words."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, load_wine
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from fewlabel import DataWarning, SemiSupervisedLogisticRegression, TransductiveSVC
from fewlabel.preprocessing import BlockScaler, text_vectorizer

RANDOM = np.random.default_rng(0)
BLOCK = RANDOM.normal(size=(30, 4)) * (RANDOM.random((30, 4)) < 0.5)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array])
def test_rows_have_the_norm_and_their_directions(form: Any) -> None:
    X = form(BLOCK)
    kept = X.copy()
    found = BlockScaler(norm=0.3).fit(X).transform(X)
    assert type(found) is (type(sp.csr_array(X)) if isinstance(X, sp.sparray) else type(X))
    dense = found.toarray() if sp.issparse(found) else found
    assert np.sqrt(np.mean(np.sum(dense**2, axis=1))) == pytest.approx(0.3)
    np.testing.assert_allclose(dense, BLOCK * (dense[0].max() / BLOCK[0].max()), rtol=1e-5)
    assert abs(X - kept).sum() == 0


def test_new_rows_get_the_factor_of_the_old_ones() -> None:
    scaler = BlockScaler().fit([[2.0], [2.0]])
    assert scaler.transform([[10.0]]).tolist() == [[pytest.approx(0.5)]]
    assert BlockScaler().fit_transform(np.zeros((3, 2))).tolist() == np.zeros((3, 2)).tolist()


@pytest.mark.parametrize(
    ("dtype", "size"),
    [("float32", 1.7e18), ("float32", 3e38), ("float32", 1e-44), ("float64", 1e-160), ("float64", 1e300)],
)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_blocks_whose_squares_are_no_numbers(form: Any, dtype: str, size: float) -> None:
    X = form(np.array([[0.0, size], [size, 0.0], [0.0, size]], dtype=dtype))
    found = BlockScaler(norm=0.5).fit(X).transform(X)
    dense = found.toarray() if sp.issparse(found) else found
    assert dense.dtype == dtype
    np.testing.assert_allclose(dense, [[0, 0.5], [0.5, 0], [0, 0.5]], rtol=1e-6)


def test_a_block_too_small_to_be_scaled() -> None:
    with pytest.raises(ValueError, match=r"X has no value above 5e-324: too small to be scaled to norm=0\.1"):
        BlockScaler().fit([[5e-324]])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_entries_given_twice_are_one(kind: Any) -> None:
    X = sp.csr_array((np.array([5.0, -2.0, 4.0]), np.array([1, 1, 0]), np.array([0, 2, 3])), shape=(2, 2))
    if kind is not sp.csr_array:
        X = sp.coo_array((X.data, (np.array([0, 0, 1]), X.indices)), shape=(2, 2)).asformat(kind.__name__[:3])
    assert BlockScaler().fit(X).scale_ == BlockScaler().fit(X.toarray()).scale_
    assert X.nnz == 3 or kind is not sp.csr_array  # the caller's matrix is as it was


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


def test_words_of_texts_are_those_of_the_recipe() -> None:
    """Letters of any script; neither stop words, numbers and single letters, nor words of one text or of many."""
    shared = [["Äpfel", "über"], ["über", "Äpfel"], ["вино", "Äpfel"], ["вино", "über"], ["snake_case"], ["Snake case"]]
    texts = [" ".join(["the", "2024", "x", f"once{'abcdefghijkl'[i]}", *words]) for i, words in enumerate(shared)]
    rows = text_vectorizer(max_df=0.5).fit(texts)
    assert rows.get_feature_names_out().tolist() == ["case", "snake", "äpfel", "über", "вино"]
    np.testing.assert_allclose(np.linalg.norm(rows.transform(texts[:1]).toarray()), 1)
    assert text_vectorizer().max_df == 0.2
    once, often = (
        text_vectorizer(use_idf=False, norm=None, min_df=1, max_df=1.0).fit_transform(["wine", "wine wine"]).data
    )
    np.testing.assert_allclose([once, often], [1, 1 + np.log(2)])


@pytest.mark.parametrize("recipe", [TfidfVectorizer(), TfidfVectorizer(max_df=0.2), text_vectorizer()])
def test_words_that_are_frequent_are_warned_of_once(recipe: TfidfVectorizer) -> None:
    random, topic = np.random.default_rng(0), np.arange(300) % 2
    words = [[f"w{v}x" for v in random.integers(0, 400, 30) + 200 * t] for t in topic]
    texts = [" ".join([*row, *random.choice(["the", "of", "and", "to", "in", "is", "it"], 30)]) for row in words]
    recipe = clone(recipe).set_params(token_pattern=r"\w+")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_pipeline(recipe, TransductiveSVC()).fit(texts, np.where(np.arange(300) < 8, topic, -1))
    cures = [one for one in caught if 'max_df=0.2 or stop_words="english"' in str(one.message)]
    assert len(cures) == (recipe.max_df == 1)


@pytest.mark.parametrize("form", [np.asarray, np.float32, sp.csr_array, "frame"])
@pytest.mark.parametrize(
    "model",
    [TransductiveSVC(), TransductiveSVC(unlabeled_weight=0), SemiSupervisedLogisticRegression(method="switching")],
)
def test_columns_that_hide_the_others_are_named(form: Any, model: Any) -> None:
    bunch = load_wine()
    y = np.where(np.arange(178) % 9 == 0, bunch.target, -1)
    names, scaled = ("feature 12", "feature 4"), StandardScaler().fit_transform(bunch.data)
    if form == "frame":
        pandas = pytest.importorskip("pandas")
        form, names = lambda X: pandas.DataFrame(X, columns=bunch.feature_names), ("'proline'", "'magnesium'")
    with pytest.warns(
        DataWarning, match=r"few columns carry 100% .* \(sklearn.preprocessing.StandardScaler\)"
    ) as caught:
        clone(model).fit(form(bunch.data), y)
    assert all(name in str(caught[0].message) for name in names)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clone(model).fit(form(scaled), y)
        clone(model).fit(load_digits().data[:178], y)  # pixels
    assert not [one for one in caught if "few columns" in str(one.message)]


def test_arrays_longer_than_the_rows_do_not_change_the_scale() -> None:
    """SciPy makes no such matrix, but setting `data` and `indices` does."""
    X = sp.csr_array(np.ones((6, 4)))
    X.data, X.indices = np.append(X.data, [1e3, 1e3]), np.append(X.indices, [0, 0]).astype(np.int32)
    assert BlockScaler().fit(X).scale_ == pytest.approx(0.05)
