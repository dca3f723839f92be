"""SequenceSVC: decoding against enumeration, limits that must agree, the protocol of estimators, bad input."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import pickle
import signal
import threading
import warnings
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp, softmax
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

from fewlabel import DataWarning, SequenceSVC, _chain
from fewlabel._native import _library
from fewlabel._native._signatures import SEQUENCE
from fewlabel.datasets import load_conll_file, load_scipy_docs
from fewlabel.inspection import explain, suspicious_labels
from fewlabel.labels import Soft
from fewlabel.sequences import TokenVectorizer

TAGS = ("B", "I", "O")
LOSSES = ("softmax_margin", "crf", "soft_hinge")


def planted(n_sequences: int = 120, seed: int = 0) -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    """Sequences of B, I and O with noisy features of the tag; I comes only after B and I."""
    random = np.random.default_rng(seed)
    lengths = random.integers(1, 9, n_sequences)
    y: list[str] = []
    for length in lengths:
        sequence: list[str] = []
        for _ in range(length):
            inside = bool(sequence) and sequence[-1] != "O"
            sequence.append(str(random.choice(TAGS, p=[0.1, 0.7, 0.2] if inside else [0.3, 0, 0.7])))
        y += sequence
    X = np.array([TAGS.index(tag) for tag in y])[:, None] == np.arange(3)
    return sp.csr_array(X + random.normal(0, 0.6, (len(y), 3))), np.array(y), lengths


def parts(values: Any, lengths: np.ndarray) -> list[Any]:
    ends = np.cumsum(lengths)
    return [values[end - n : end] for n, end in zip(lengths, ends, strict=True)]


@pytest.fixture(scope="module")
def data() -> tuple[sp.csr_array, np.ndarray, np.ndarray]:
    return planted()


@pytest.mark.parametrize("loss", LOSSES)
def test_tags_are_learned(loss: str) -> None:
    X, y, lengths = planted(300)
    model = SequenceSVC(loss=loss, alpha=1e-3).fit(X, y, lengths)
    test = planted(300, seed=1)
    alone = LogisticRegression().fit(X, y)
    assert model.score(*test) > alone.score(*test[:2]) + 0.02
    assert model.coef_.shape == model.transitions_.shape == (3, 3)
    assert model.termination_condition_ == "epochs"
    assert model.n_iter_ == len(model.history_["objective"]) == 10


def test_decoding_is_that_of_enumeration(data: Any) -> None:
    X, y, lengths = data
    model = SequenceSVC(alpha=1e-3).fit(X, y, lengths)
    short = lengths[lengths <= 6][:40]
    rows = np.concatenate([rows for rows in parts(np.arange(len(y)), lengths) if len(rows) <= 6][:40])
    Z = X[rows]
    tags, scores = model.predict(Z, short), model.decision_function(Z, short)
    marginals = model.predict_marginals(Z, short)
    unary = Z @ model.coef_.T
    for k, (u, p) in enumerate(zip(parts(unary, short), parts(marginals, short), strict=True)):
        paths = list(itertools.product(range(3), repeat=len(u)))
        found = np.array([score(model, u, path) for path in paths])
        order = np.argsort(found)
        assert scores[k] == pytest.approx((found[order[-1]], found[order[-1]] - found[order[-2]]))
        assert tuple(parts(tags, short)[k]) == tuple(model.classes_[list(paths[order[-1]])])
        weights = np.exp(found - found.max())
        expected = [[weights[[path[t] == y for path in paths]].sum() for y in range(3)] for t in range(len(u))]
        np.testing.assert_allclose(p, np.array(expected) / weights.sum(), atol=1e-12)


def test_prediction_needs_no_library(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, lengths = data
    forbidden = [("O", "I"), (None, "I")]
    models = [
        SequenceSVC(alpha=1e-3).fit(X, y, lengths),
        SequenceSVC(forbidden_transitions=forbidden).fit(X, y, lengths),
    ]
    ties = SequenceSVC().fit(sp.csr_array(X.shape), y, lengths)
    ties.transitions_, ties.start_, ties.end_ = np.zeros((3, 3)), np.zeros(3), np.zeros(3)
    for model in (*models, ties):
        by_library = model.predict(X, lengths)
        with monkeypatch.context() as patched:
            patched.setattr(_library, "is_loaded", lambda: False)
            patched.setattr(_chain, "_CHUNK", 100)
            np.testing.assert_array_equal(model.predict(X, lengths), by_library)


def score(model: SequenceSVC, unary: np.ndarray, path: tuple[int, ...]) -> float:
    pairs = sum(model.transitions_[a, b] for a, b in itertools.pairwise(path))
    tokens = sum(row[tag] for row, tag in zip(unary, path, strict=True))
    return float(tokens + pairs + model.start_[path[0]] + model.end_[path[-1]])


def test_sequences_of_one_token_are_logistic_regression(data: Any) -> None:
    X, y, _ = data
    ones, alpha = np.ones(len(y), int), 1e-2
    length = np.sqrt(np.mean(X.multiply(X).sum(axis=1)))
    model = SequenceSVC(loss="crf", alpha=alpha, max_iter=16_000, random_state=0).fit(X, y, ones)
    # start and end are two intercepts of one value: as one feature of value √2
    Z = np.column_stack([X.toarray() / length, np.full(len(y), np.sqrt(2))])
    C = 1 / (len(y) * alpha)
    best = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=10000).fit(Z, y).coef_

    def objective(coef: np.ndarray) -> float:
        losses = logsumexp(Z @ coef.T, axis=1) - np.sum(Z * coef[np.searchsorted(TAGS, y)], axis=1)
        return float(alpha / 2 * np.sum(coef**2) + losses.mean())

    found = np.column_stack([model.coef_ * length, (model.start_ + model.end_) / np.sqrt(2)])
    np.testing.assert_allclose(model.start_, model.end_, atol=1e-9)
    assert model.objective_ - alpha / 2 * np.sum(model.transitions_**2) == pytest.approx(objective(found), rel=1e-9)
    assert objective(best) <= objective(found) <= 1.001 * objective(best)
    np.testing.assert_allclose(model.predict_marginals(X, ones), softmax(Z @ found.T, axis=1), atol=1e-9)


@pytest.mark.parametrize("method", ["supervised", "gradient", "posterior"])
def test_the_order_of_sequences_features_and_tags_moves_no_prediction(method: str) -> None:
    """Words of SciPy's docstrings that are followed by a long one."""
    words = [text.split()[:30] for text in load_scipy_docs(("signal", "stats"))[0][:120]]
    tags = [[str(int(len(word) > 6)) for word in [*some[1:], "."]] for some in words]
    given = [some if k % 3 or method == "supervised" else [None] * len(some) for k, some in enumerate(tags)]
    rows, model = TokenVectorizer().fit_transform(words), SequenceSVC(method=method)
    rng = np.random.default_rng(0)
    order, columns = rng.permutation(len(words)), rng.permutation(rows[0].shape[1])
    expected = np.concatenate(model.fit(rows, given).predict(rows))
    renamed = [[{"0": "b", "1": "a", None: None}[tag] for tag in some] for some in given]
    model.fit([rows[k] for k in order], [given[k] for k in order])
    np.testing.assert_array_equal(np.concatenate(model.predict(rows)), expected)
    other = [some[:, columns] for some in rows]
    np.testing.assert_array_equal(np.concatenate(model.fit(other, given).predict(other)), expected)
    found = np.concatenate(model.fit(rows, renamed).predict(rows))
    np.testing.assert_array_equal(found == "a", expected == "1")


def test_forms_of_input_agree(data: Any) -> None:
    X, y, lengths = data
    one = SequenceSVC().fit(X, y, lengths)
    for given_X, given_y in (
        (parts(X, lengths), parts(y, lengths)),
        ([part.toarray() for part in parts(X, lengths)], [list(part) for part in parts(y, lengths)]),
        (parts(X, lengths), y),
        (X.toarray(), [list(part) for part in parts(y, lengths)]),
    ):
        other = SequenceSVC().fit(given_X, given_y)
        np.testing.assert_array_equal(one.coef_, other.coef_)
        assert one.score(X, y, lengths) == other.score(given_X, given_y)
    listed = one.predict(parts(X, lengths))
    assert [len(part) for part in listed] == lengths.tolist()
    np.testing.assert_array_equal(np.concatenate(listed), one.predict(X, lengths))


def test_threads_give_the_same_bits(data: Any) -> None:
    X, y, lengths = data
    one, two = (SequenceSVC(alpha=1e-3, n_jobs=n).fit(X, y, lengths) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.transitions_, two.transitions_)


def test_missing_labels_help_more_than_dropped_tokens() -> None:
    gains = []
    for seed in range(6):
        X, y, lengths = planted(300, seed=seed)
        drop = np.random.default_rng(seed).random(len(y)) < 0.7
        marked = np.where(drop, None, y.astype(object))
        model = SequenceSVC(alpha=1e-3).fit(X, marked, lengths)
        kept = [int((~part).sum()) for part in parts(drop, lengths)]
        dropped = SequenceSVC(alpha=1e-3).fit(X[np.flatnonzero(~drop)], y[~drop], [n for n in kept if n])
        test = planted(300, seed=100 + seed)
        gains.append(model.score(*test) - dropped.score(*test))
        assert model.score(X, marked, lengths) == pytest.approx(np.mean((model.predict(X, lengths) == y)[~drop]))
    assert np.mean(gains) > np.std(gains) / np.sqrt(len(gains)) > 0


def test_a_given_class_prior_is_held_and_helps() -> None:
    """The labeled sequences have few tokens outside, the others many."""
    X, y, lengths = planted(500)
    y = y.astype(object)
    outside = np.array([np.mean(part == "O") or 1.0 for part in parts(y, lengths)])
    free = ~np.repeat(np.isin(np.arange(len(lengths)), np.argsort(outside, kind="stable")[:10]), lengths)
    marked = np.where(free, None, y)
    shares = {tag: float(np.mean(y[free] == tag)) for tag in TAGS}
    fits = {
        method: SequenceSVC(method=method, class_prior=shares, alpha=1e-3).fit(X, marked, lengths)
        for method in ("supervised", "gradient", "posterior")
    }
    free_rows = np.flatnonzero(free)
    marginals = fits["posterior"].predict_marginals(X, lengths)[free_rows].mean(axis=0)
    before = fits["supervised"].predict_marginals(X, lengths)[free_rows].mean(axis=0)
    given = np.array([shares[tag] for tag in TAGS])
    assert np.abs(marginals - given).max() < 0.5 * np.abs(before - given).max()
    test = planted(500, seed=1)
    assert fits["posterior"].score(*test) > fits["supervised"].score(*test)
    assert fits["supervised"].n_iter_ == 10
    assert fits["gradient"].n_iter_ == fits["posterior"].n_iter_ == 20
    listed = SequenceSVC(method="posterior", class_prior=given / given.sum(), alpha=1e-3).fit(X, marked, lengths)
    np.testing.assert_array_equal(listed.coef_, fits["posterior"].coef_)


@pytest.mark.parametrize("method", ["gradient", "posterior"])
def test_unlabeled_sequences_count_only_with_a_weight(method: str, data: Any) -> None:
    X, y, lengths = data
    marked = y.astype(object)
    marked[np.repeat(np.arange(len(lengths)) >= 60, lengths)] = None
    plain = SequenceSVC().fit(X, marked, lengths)
    none = SequenceSVC(method=method, unlabeled_weight=0).fit(X, marked, lengths)
    np.testing.assert_array_equal(plain.coef_, none.coef_)
    all_labeled = SequenceSVC(method=method).fit(X, y, lengths)
    np.testing.assert_array_equal(all_labeled.coef_, SequenceSVC().fit(X, y, lengths).coef_)
    one, two = (SequenceSVC(method=method, n_jobs=n).fit(X, marked, lengths) for n in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert not np.array_equal(one.coef_, plain.coef_)


def test_forbidden_transitions_are_not_taken(data: Any) -> None:
    X, y, lengths = data
    noise = sp.csr_array(np.random.default_rng(4).normal(0, 3, X.shape))
    sequences = [tags for tags in parts(y, lengths) if tags[-1] != "B"]
    rows = [rows for rows, tags in zip(parts(X, lengths), parts(y, lengths), strict=True) if tags[-1] != "B"]
    forbidden = [("O", "I"), (None, "I"), ("B", None), ("B", "E-of-others")]
    model = SequenceSVC(forbidden_transitions=forbidden).fit(rows, sequences)
    assert np.isneginf(model.transitions_[2, 1])
    assert np.isneginf(model.start_[1])
    for tags in parts(model.predict(noise, lengths), lengths):
        assert tags[0] != "I"
        assert tags[-1] != "B"
        assert ("O", "I") not in itertools.pairwise(tags)


def test_warm_start_goes_on(data: Any) -> None:
    X, y, lengths = data
    model = SequenceSVC(alpha=1e-2, warm_start=True).fit(X, y, lengths)
    before = model.history_["objective"]
    assert model.fit(X, y, lengths).history_["objective"][0] < before[0]
    with pytest.raises(ValueError, match="warm_start=True continues from a model with the tags B, I, O"):
        model.fit(X, np.where(y == "I", "B", y), lengths)
    with pytest.raises(ValueError, match="loss is 3"):
        model.set_params(loss=3).fit(X, y, lengths)


def test_parameters_are_the_options_of_the_library() -> None:
    options = {o["name"]: o["default"] for o in json.loads(_library.text("fewlabel_options", SEQUENCE))}
    parameters = SequenceSVC().get_params()
    renamed = {"threads": "n_jobs"}
    in_python_only = {"unlabeled", "warm_start", "verbose"}
    assert {renamed.get(name, name) for name in options} | in_python_only == set(parameters)
    other = {"forbidden_transitions", "class_prior", "threads", "random_state"}  # None or texts there
    for name in set(options) - other:
        assert parameters[name] == options[name], name


def test_clones_and_pickles(data: Any) -> None:
    X, y, lengths = data
    model = SequenceSVC(alpha=1e-3, loss="crf").fit(X, y, lengths)
    assert clone(model).get_params() == model.get_params()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X, lengths), model.predict(X, lengths))
    assert repr(SequenceSVC(loss="crf")) == "SequenceSVC(loss='crf')"


def test_grid_search_over_sequences(data: Any) -> None:
    """Objects are sequences: a list of matrices and a list of tags."""
    X, y, lengths = data
    sentences, tags = parts(X, lengths), [list(part) for part in parts(y, lengths)]
    search = GridSearchCV(SequenceSVC(), {"alpha": [1e-3, 10.0]}, cv=GroupKFold(3))
    search.fit(sentences, tags, groups=np.arange(len(sentences)) // 4)
    assert search.best_params_ == {"alpha": 1e-3}
    assert len(cross_val_score(SequenceSVC(), sentences, tags, cv=KFold(4))) == 4


def test_callers_arrays_stay_as_they_are(data: Any) -> None:
    X, y, lengths = (part.copy() for part in data)
    for array in (X.data, X.indices, X.indptr, y, lengths):
        array.flags.writeable = False
    SequenceSVC().fit(X, y, lengths).predict(X, lengths)


def test_a_long_sequence_works() -> None:
    n = 1_000_000
    y = np.tile([0, 1], n // 2)
    X = sp.csr_array((np.ones(n), y, np.arange(n + 1)), shape=(n, 2))
    model = SequenceSVC(max_iter=2).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"loss": "hinge"}, r'loss is "hinge": it must be one of softmax_margin, crf, soft_hinge'),
        ({"alpha": 0}, "alpha is 0: it must be above 0"),
        ({"alpha": float("nan")}, "alpha must be finite"),
        ({"rho": -1}, "rho is -1"),
        ({"method": "annealing"}, 'method is "annealing": it must be one of supervised, gradient, posterior'),
        ({"unlabeled_weight": -1}, "unlabeled_weight is -1: it must be at least 0"),
        ({"class_prior": "auto"}, "class_prior='auto' must be 'labels', shares"),
        ({"class_prior": [0.5, 0.5]}, "class_prior has 2 shares, but there are 3 tags"),
        (
            {"class_prior": {"B": 0.5, "I": 0.4, "O": 0.3}},
            "class_prior sums to 1.2: the shares",
        ),
        (
            {"class_prior": {"B": 0.5, "I": 0.3, "O": 0.1, "X": 0.1}},
            r"class_prior names \['X'\], but y has B, I, O",
        ),
        ({"forbidden_transitions": None}, "forbidden_transitions must be 'iob' or a list of pairs of tags, got None"),
        ({"penalty_weight": 0}, "penalty_weight is 0: it must be above 0"),
        ({"max_iter": 0}, "max_iter is 0: it must be at least 1"),
        ({"max_iter": 1.5}, "max_iter is 1.5: it must be an integer"),
        ({"forbidden_transitions": "IOB"}, "forbidden_transitions must be 'iob' .*got 'IOB'"),
        ({"forbidden_transitions": ["BI"]}, "forbidden_transitions must hold pairs of tags"),
        (
            {"forbidden_transitions": [("B", "I"), ("I", "O"), ("B", "O")]},
            "labels of sequence .*: tag 'I' after tag 'B' is in forbidden_transitions",
        ),
        (
            {"forbidden_transitions": [(None, tag) for tag in TAGS]},
            "forbidden_transitions leave no path for sequence 0",
        ),
    ],
)
def test_bad_parameters_are_named(parameters: dict[str, Any], message: str, data: Any) -> None:
    with pytest.raises(ValueError, match=message):
        SequenceSVC(**parameters).fit(*data)


@pytest.mark.parametrize("loss", LOSSES)
def test_sets_of_tags_in_fit(loss: str) -> None:
    X, y, lengths = planted()
    marked = np.array([tag if k < 40 or k % 3 == 0 else None for k, tag in enumerate(y)], dtype=object)
    ends, sets = marked.copy(), marked.copy()
    for k in range(len(y)):
        if marked[k] is None:
            ends[k], sets[k] = {str(y[k])} if k % 3 == 1 else set(TAGS), {str(y[k]), TAGS[k % 2]}
    labels = np.where(np.arange(len(y)) % 3 == 1, y, marked)
    model = SequenceSVC(loss=loss)
    np.testing.assert_array_equal(clone(model).fit(X, ends, lengths).coef_, clone(model).fit(X, labels, lengths).coef_)
    found = clone(model).fit(parts(X, lengths), parts(sets, lengths))
    np.testing.assert_array_equal(found.coef_, clone(model).fit(X, sets, lengths).coef_)
    one = np.array([not isinstance(tag, set) or len(tag) == 1 for tag in sets])
    assert found.score(X, sets, lengths) == np.mean((found.predict(X, lengths) == y)[one])
    assert not np.array_equal(found.coef_, clone(model).fit(X, marked, lengths).coef_)
    assert set(sets[41]) == {str(y[41]), TAGS[41 % 2]}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (set(), "empty set in row 45"),
        ({"B", "X"}, "tag 'X' within sets, but no token"),
        ({"B", None}, "marker None within"),
    ],
)
def test_bad_sets_of_tags(given: set, message: str) -> None:
    X, y, lengths = planted()
    y = y.astype(object)
    y[45] = given
    with pytest.raises(ValueError, match=message):
        SequenceSVC().fit(X, y, lengths)


def test_sets_of_tags_need_a_certain_one() -> None:
    X, y, lengths = planted()
    sets = np.empty(len(y), dtype=object)
    sets[:] = [{"A", "B"}] * len(y)
    with pytest.raises(ValueError, match="no token with one certain tag"):
        SequenceSVC().fit(X, sets, lengths)


@pytest.mark.parametrize("with_library", [True, False])
def test_tags_that_are_not_allowed_are_not_predicted(
    data: Any, with_library: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, lengths = data
    model = SequenceSVC().fit(X, y, lengths)
    monkeypatch.setattr(_library, "is_loaded", lambda: with_library)
    every = np.ones((len(y), 3), dtype=bool)
    np.testing.assert_array_equal(model.predict(X, lengths, allowed=every), model.predict(X, lengths))
    only = np.eye(3, dtype=bool)[np.arange(len(y)) % 3]
    np.testing.assert_array_equal(model.predict(X, lengths, allowed=only), model.classes_[np.arange(len(y)) % 3])
    some = np.random.default_rng(0).random((len(y), 3)) < 0.7
    some[np.arange(len(y)), np.arange(len(y)) % 3] = True
    listed = model.predict(parts(X, lengths), allowed=parts(some, lengths))
    codes = np.searchsorted(model.classes_, np.concatenate(listed))
    assert some[np.arange(len(y)), codes].all()
    some[lengths[0]] = False
    with pytest.raises(ValueError, match=r"sequence 1.* has no path"):
        model.predict(X, lengths, allowed=some)
    for wrong in (some[1:], some.astype(int)):
        with pytest.raises(ValueError, match=f"allowed must be a bool array of shape .{len(y)}, 3., tokens by tags"):
            model.predict(X, lengths, allowed=wrong)


def test_bad_input_is_named(data: Any) -> None:
    X, y, lengths = data
    short = lengths[1:]
    with pytest.raises(ValueError, match=f"lengths sum to {short.sum()}, but X has {len(y)} tokens"):
        SequenceSVC().fit(X, y, short)
    with pytest.raises(ValueError, match="lengths must be a list of whole numbers"):
        SequenceSVC().fit(X, y, lengths.astype(float))
    with pytest.raises(ValueError, match="lengths must be None where X is a list"):
        SequenceSVC().fit(parts(X, lengths), y, lengths)
    tags = [list(part) for part in parts(y, lengths)]
    with pytest.raises(ValueError, match=f"y has {len(tags) - 1} sequences, but there are {len(tags)}"):
        SequenceSVC().fit(parts(X, lengths), [tags[0] + tags[1], *tags[2:]])
    with pytest.raises(ValueError, match=f"y has {lengths[0] + 1} tags for sequence 0, which has {lengths[0]} tokens"):
        SequenceSVC().fit(X, [[*tags[0], "O"], *tags[1:]], lengths)
    for k in 0, 3:
        with pytest.raises(ValueError, match=f"y has None for sequence {k}: give a list, with None for each token"):
            SequenceSVC().fit(X, [*tags[:k], None, *tags[k + 1 :]])
    with pytest.raises(ValueError, match="no labeled row"):
        SequenceSVC().fit(X, [None] * len(y), lengths)
    broken = X.copy()
    broken.data[5] = np.nan
    with pytest.raises(ValueError, match="X has NaN in row 1, column 2"):
        SequenceSVC().fit(broken, y, lengths)
    model = SequenceSVC().fit(X, y, lengths)
    with pytest.raises(ValueError, match="lengths sum to"):
        model.predict(X, short)
    with pytest.raises(ValueError, match="features"):
        model.predict(X[:, :2], lengths)


def test_rows_in_any_form_give_the_same_model(data: Any) -> None:
    """int64 indices, unsorted and duplicate indices, explicit zeros, read-only arrays, an empty row."""
    X, y, lengths = data
    X = X.copy()
    X.data[X.indptr[4] : X.indptr[5]] = 0
    X.eliminate_zeros()  # row 4 is empty
    expected = SequenceSVC().fit(X, y, lengths)
    turned = [np.arange(a, b)[::-1] for a, b in itertools.pairwise(X.indptr)]
    order = np.concatenate(turned)
    unsorted = sp.csr_array((X.data[order], X.indices[order], X.indptr), shape=X.shape)
    halves = sp.csr_array((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    wide = sp.csr_array((X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)), shape=X.shape)
    for form in (unsorted, halves, wide, X.tocsc(), sp.csr_matrix(X)):
        before = form.copy()
        for array in (form.data, form.indices, form.indptr):
            array.flags.writeable = False
        model = SequenceSVC().fit(form, y, lengths)
        np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.predict(form, lengths), expected.predict(X, lengths))
        np.testing.assert_array_equal(form.indices, before.indices)
        np.testing.assert_array_equal(form.data, before.data)


def test_one_tag_is_predicted_everywhere(data: Any) -> None:
    X, y, lengths = data
    for parameters in ({}, {"method": "posterior"}, {"method": "gradient"}, {"loss": "crf"}):
        tags = np.where(np.arange(len(y)) < lengths[0], "O", None)
        with pytest.warns(DataWarning, match="all labeled tokens have the tag O, so the model predicts it"):
            model = SequenceSVC(**parameters).fit(X, tags, lengths)
        assert set(model.predict(X, lengths)) == {"O"}
        assert np.isinf(model.decision_function(X, lengths)[:, 1]).all()
        assert (model.predict_marginals(X, lengths) == 1).all()


@pytest.mark.parametrize("method", ["supervised", "gradient", "posterior"])
def test_a_method_for_unlabeled_sequences_warns_where_there_is_none(method: str) -> None:
    X, y = [np.eye(3), np.empty((0, 3)), np.eye(3)], ["B", "O", None, "B", None, "O"]
    model = SequenceSVC(method=method, max_iter=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit([*X, np.eye(3)], [*y, None, None, None])
    with pytest.warns(DataWarning, match="no sequence is without a label") if method != "supervised" else nullcontext():
        model.fit(X, y)


def test_tags_may_be_a_series_with_any_index(data: Any) -> None:
    pandas = pytest.importorskip("pandas")
    X, y, lengths = data
    index = np.arange(len(y)) + 7
    found = SequenceSVC().fit(X, pandas.Series(y, index=index), lengths)
    np.testing.assert_array_equal(found.coef_, SequenceSVC().fit(X, y, lengths).coef_)
    assert found.score(X, pandas.Series(y, index=index), lengths) == found.score(X, y, lengths)


def test_what_makes_no_sense_is_named(data: Any) -> None:
    X, y, lengths = data
    model = SequenceSVC(warm_start=True).fit(X, y, lengths)
    with pytest.raises(ValueError, match="X has 2 features, but SequenceSVC is expecting 3 features"):
        model.fit(X[:, :2], y, lengths)
    assert model.score(X, y, lengths) > 0.5  # it keeps what it was
    with pytest.raises(TypeError, match="sample_weight"):
        SequenceSVC().fit(X, y, lengths, sample_weight=np.ones(len(y)))
    sentences = parts(X, lengths)
    sentences[2] = sentences[2][:, :2]
    for given in (sentences, [part.toarray() for part in sentences]):
        with pytest.raises(ValueError, match="X: sequence 2 has 2 features, sequence 0 has 3 features"):
            SequenceSVC().fit(given, y)
    with pytest.raises(ValueError, match=f"y has tags for {len(y) - 1} tokens, but X has {len(y)}"):
        SequenceSVC().fit(X, y[1:], lengths)
    with pytest.raises(ValueError, match=f"y has tags for {len(y) - 1} tokens, but X has {len(y)}"):
        model.score(X, y[1:], lengths)
    with pytest.raises(ValueError, match="y has probabilities of tags, which SequenceSVC does not take"):
        SequenceSVC().fit(np.eye(2), Soft([[0.6, 0.4], [1, 0]]))
    with pytest.raises(ValueError, match="lengths must be a list of whole numbers"):
        SequenceSVC().fit(X, y, [[1, 2], [3, 4]])
    with pytest.raises(ValueError, match=f"lengths sum to 0, but X has {len(y)} tokens"):
        SequenceSVC().fit(X, y, [])
    with pytest.raises(ValueError, match=r"lengths\[0\] is -3: it must be 0 or more"):
        SequenceSVC().fit(X, y, [-3, len(y) + 3])


def test_a_thousand_tags_of_a_hundred_million_features_are_refused() -> None:
    n = 1000
    X = sp.csr_array((np.ones(n), np.zeros(n, int), np.arange(n + 1)), shape=(n, 10**8))
    with pytest.raises(MemoryError, match="a fit of sequences with 1000 tags and 100000000 features needs about"):
        SequenceSVC().fit(X, np.arange(n))


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_ends_a_fit(data: Any) -> None:
    X, y, lengths = data
    model = SequenceSVC(max_iter=10_000_000)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y, lengths)
    assert not hasattr(model, "coef_")
    SequenceSVC().fit(X, y, lengths)


def test_verbose_shows_steps(data: Any, capfd: pytest.CaptureFixture[str]) -> None:
    SequenceSVC(verbose=1).fit(*data)
    assert "SequenceSVC" in "".join(capfd.readouterr())
    SequenceSVC().fit(*data)
    assert "".join(capfd.readouterr()) == ""


def test_lists_of_sentences_give_lists_of_tags_in_pipelines() -> None:
    sentences = [["Ana", "lives", "in", "Lima"], ["Lima", "grows"], ["Ana", "left"]] * 4
    tags = [["B-PER", "O", "O", "B-LOC"], ["B-LOC", "O"], ["B-PER", None]] * 4
    tagger = make_pipeline(TokenVectorizer(), SequenceSVC()).fit(sentences, tags)
    found = tagger.predict(sentences)
    assert [part.tolist() for part in found[:2]] == tags[:2]
    assert [len(part) for part in found] == [len(sentence) for sentence in sentences]
    np.testing.assert_array_equal(tagger.predict(sentences[2:3])[0], found[2])  # no sentence depends on another
    assert tagger.score(sentences, tags) == 1
    assert tagger.decision_function(sentences).shape == (12, 2)
    assert [part.shape for part in tagger[1].predict_marginals(tagger[0].transform(sentences[:2]))] == [(4, 3), (2, 3)]
    search = GridSearchCV(tagger, {"sequencesvc__alpha": [1e-6, 1e-3]}, cv=KFold(2), error_score="raise")
    assert [len(part) for part in search.fit(sentences, tags).predict(sentences[:3])] == [4, 2, 2]


@pytest.mark.parametrize("n_features", [None, 32])
@pytest.mark.parametrize("output", ["pandas", "polars"])
def test_features_of_tokens_are_no_data_frame(n_features: int | None, output: str) -> None:
    tagger = make_pipeline(TokenVectorizer(n_features=n_features), SequenceSVC())
    with config_context(transform_output=output):
        assert tagger.fit([["a"], ["b"]], [["x"], ["y"]]).set_output(transform="default").predict([["a"]]) == ["x"]
    with pytest.raises(ValueError, match=f"transform='{output}': TokenVectorizer gives a list .* no data frame"):
        tagger.set_output(transform=output)


@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize("vectorizer", [TokenVectorizer(), TokenVectorizer(n_features=32)])
def test_sentences_without_tokens_count_for_nothing(monkeypatch: Any, vectorizer: Any, loaded: bool) -> None:
    X, y = [["a", "b"], ["b"], ["c", "a", "c"]], [["x", "y"], ["y"], ["z", "x", None]]
    with_empty, tags = [[], *X[:1], [], [], *X[1:], []], [[], *y[:1], [], [], *y[1:], []]
    model = SequenceSVC(forbidden_transitions=[("z", "z")], method="posterior")
    plain, tagger = (make_pipeline(clone(vectorizer), clone(model)) for _ in range(2))
    plain.fit([*X, ["a"]], [*y, [None]])
    tagger.fit([*with_empty, ["a"]], [*tags, [None]])
    np.testing.assert_array_equal(tagger[-1].coef_, plain[-1].coef_)
    assert tagger.score(with_empty, tags) == plain.score(X, y)
    monkeypatch.setattr(_library, "is_loaded", lambda: loaded)
    rows, some = tagger[0].transform(with_empty), [1, 4, 5]
    for name in "predict", "predict_marginals":
        found, wanted = getattr(tagger[-1], name)(rows), getattr(plain[-1], name)(plain[0].transform(X))
        assert [len(part) for part in found] == [0, 2, 0, 0, 1, 3, 0]
        np.testing.assert_array_equal(np.concatenate([found[k] for k in some]), np.concatenate(wanted))
    found = tagger.decision_function(with_empty)
    np.testing.assert_array_equal(found[some], plain.decision_function(X))
    np.testing.assert_array_equal(found[[0, 2, 3, 6]], [[0, np.inf]] * 4)
    masks: list[Any] = [np.full((len(part), 3), [True, False, False]) if part else [] for part in with_empty]
    assert set(np.concatenate(tagger[-1].predict(rows, allowed=masks))) == {"x"}


@pytest.mark.parametrize("X", [[], [[]], [[], []]])
def test_no_token_at_all(X: Any) -> None:
    tagger = make_pipeline(TokenVectorizer(), SequenceSVC()).fit([["a", "b"], ["b"]], [["x", "y"], ["y"]])
    assert [part.tolist() for part in tagger.predict(X)] == X
    assert tagger.predict(X)[:1] == [] or tagger.predict(X)[0].dtype == tagger[-1].classes_.dtype
    assert [part.shape for part in tagger[-1].predict_marginals(tagger[0].transform(X))] == [(0, 2)] * len(X)
    assert tagger.decision_function(X).shape == (len(X), 2)
    lengths = [0] * len(X)
    assert tagger[-1].predict(sp.csr_array((0, tagger[-1].n_features_in_)), lengths).shape == (0,)
    with pytest.raises(ValueError, match="no token"):
        tagger.score(X, X)
    with pytest.raises(ValueError, match="X has no token"):
        clone(tagger).fit(X, X)
    with pytest.raises(ValueError, match="X is an iterator without a sentence that is left: give a list"):
        tagger[0].transform(iter([]))


def test_transitions_beside_sequences_without_tokens() -> None:
    model = SequenceSVC(forbidden_transitions=[("y", "x")])
    with pytest.raises(
        ValueError, match="labels of sequence 3, row 3: tag 'x' after tag 'y' is in forbidden_transitions"
    ):
        model.fit(np.eye(4), ["x", "y", "y", "x"], lengths=[0, 2, 0, 2, 0])
    model.fit(np.eye(4), ["x", "y", "x", "y"], lengths=[0, 2, 0, 2, 0])


@pytest.mark.parametrize("ask", [explain, lambda model, X: suspicious_labels(model, X, [0])])
def test_inspection_says_what_to_use_for_sequences(ask: Any) -> None:
    model = SequenceSVC(forbidden_transitions="iob").fit(np.eye(3), ["B-X", "I-X", "O"])
    with pytest.raises(TypeError, match=r"for sequences take `decision_function`, .* `predict_marginals`$") as caught:
        ask(model, np.eye(3)[:1])
    assert "\n" not in str(caught.value)


def test_features_of_tokens() -> None:
    sentences = [["Juan", "vive"], ["EFE", "2002"]]
    vectorizer = TokenVectorizer(window=1, affixes=2).fit(sentences)
    found = vectorizer.transform(sentences)
    assert [part.shape[0] for part in found] == [2, 2]
    rows = vectorizer.vectorizer_.inverse_transform(sp.vstack(found))
    assert set(rows[0]) == {
        "constant", "token=Juan", "lower[-1]=", "lower[0]=juan", "lower[1]=vive", "shape[-1]=", "shape[0]=Xx",
        "shape[1]=x", "prefix=J", "prefix=Ju", "suffix=n", "suffix=an",
    }  # fmt: skip
    assert "shape[0]=d" in rows[3]
    assert vectorizer.transform([["new"]])[0].shape == (1, len(vectorizer.vectorizer_.feature_names_))
    assert vectorizer.get_feature_names_out()[found[0][1].indices[0]] == "constant"
    assert found[0].indices.dtype == np.int32  # which all of scikit-learn takes
    hashed = TokenVectorizer(n_features=64).fit(sentences)
    assert [part.shape for part in hashed.transform(sentences)] == [(2, 64), (2, 64)]
    assert len(hashed.get_feature_names_out()) == 64
    with pytest.raises(TypeError, match="each split into tokens"):
        TokenVectorizer().fit(["Juan vive"])
    for token in 7, None:
        with pytest.raises(TypeError, match=f"each split into tokens, texts; found {token}"):
            TokenVectorizer().fit([["Juan", token]])


@pytest.mark.parametrize(
    ("name", "value", "least"),
    [("window", -1, 0), ("window", "2", 0), ("affixes", 1.5, 0), ("affixes", None, 0), ("n_features", 0, 1)],
)
def test_bad_parameters_of_the_vectorizer(name: str, value: Any, least: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be an integer of at least {least}, got {value!r}"):
        TokenVectorizer(**{name: value}).fit([["Juan"]])


@pytest.mark.parametrize(
    (
        "tags",
        "allowed",
    ),  # pairs of marks, the start and end as ^ and $, that a type X and the tags of another one allow
    [
        ("OBI", "^O ^B OO OB O$ BO BB BI B$ IO IB II I$"),
        ("OBIES", "^O ^B ^S OO OB OS O$ BI BE II IE EO EB ES E$ SO SB SS S$"),
        ("OBILU", "^O ^B ^U OO OB OU O$ BI BL II IL LO LB LU L$ UO UB UU U$"),
        ("OBMES", "^O ^B ^S OO OB OS O$ BM BE MM ME EO EB ES E$ SO SB SS S$"),
        ("OBIS", "^O ^B ^S OO OB OS O$ BO BB BI BS B$ IO IB II IS I$ SO SB SS S$"),  # no type has a last tag
    ],
)
@pytest.mark.parametrize("kind", ["", "-X", "-X Y-Z"])
def test_marks_that_may_follow_one_another(tags: str, allowed: str, kind: str) -> None:
    names: dict[str, Any] = {mark: mark + kind * (mark != "O") for mark in tags}
    forbidden = _chain.forbidden_by_iob([*names.values(), "B-other", "?"])
    pairs = itertools.product(["^", *tags], [*tags, "$"])
    found = {a + b for a, b in pairs if (names.get(a), names.get(b)) not in forbidden} - {"^$"}
    assert found == set(allowed.split())
    assert ("B-other", names[tags[2]]) in forbidden
    assert ("B-other", "?") not in forbidden
    assert (names["B"], "?") in forbidden or not {"E", "L"} & set(tags)


def test_iob_is_worked_out_from_the_tags_of_a_fit() -> None:
    y = ["O", "B-X", "I-X", None, {"O", "B-X"}, "B-Y", "I-Y"]
    pairs = [(before, "I-X") for before in (None, "O", "B-Y", "I-Y")]
    pairs += [(before, "I-Y") for before in (None, "O", "B-X", "I-X")]
    model = SequenceSVC(forbidden_transitions="iob").fit(np.eye(7), y)
    listed = SequenceSVC(forbidden_transitions=pairs).fit(np.eye(7), y)
    for name in ("coef_", "transitions_", "start_", "end_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(listed, name))
    assert np.isneginf(model.transitions_).sum() == len(pairs) - 2
    again = clone(model).set_params(warm_start=True).fit(np.eye(7), y).fit(np.eye(7), y)
    assert again.get_params()["forbidden_transitions"] == "iob"
    assert "forbidden_transitions='iob'" in repr(model)
    np.testing.assert_array_equal(np.isneginf(again.transitions_), np.isneginf(model.transitions_))


@pytest.mark.parametrize("wrong", ["B_PER", "PER-B", "b-per", "NN", 3])
def test_tags_of_another_form_are_refused(wrong: Any) -> None:
    model = SequenceSVC(forbidden_transitions="iob")
    for others in [["O"], ["B-X"]] if isinstance(wrong, str) else [[4]]:
        if wrong == "NN" and others == ["B-X"]:  # beside tags of the form it is like O
            model.fit(np.eye(2), [*others, wrong])
            continue
        with pytest.raises(ValueError, match=f'forbidden_transitions="iob" needs tags .* O, B-PER, .* has {wrong!r}'):
            model.fit(np.eye(2), [*others, wrong])
    assert not np.isneginf(model.fit(np.eye(2), ["O", None]).transitions_).any()


def test_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tokens.txt"
    path.write_text("-DOCSTART- -X- O\n\nJuan N B-PER\nvive V O\n\n\nSí  X  O \n", encoding="utf-8")
    assert load_conll_file(path) == ([["Juan", "vive"], ["Sí"]], [["B-PER", "O"], ["O"]])
    assert load_conll_file(path, columns=(1,)) == ([["N", "V"], ["X"]],)
    with pytest.raises(ValueError, match="line 3: 3 columns, too few for"):
        load_conll_file(path, columns=(0, 3))
    path.write_bytes("Juan B-PER\nSí O\n".encode("latin-1"))
    with pytest.raises(UnicodeDecodeError):
        load_conll_file(path)
    path.write_text("Juan\nvive\n", encoding="utf-8")
    assert load_conll_file(path, columns=(0,)) == ([["Juan", "vive"]],)
    with pytest.raises(ValueError, match="line 1: 1 columns, too few for"):  # tokens are not their own tags
        load_conll_file(path)


@pytest.mark.parametrize("content", ["x O\n\nvive V O\n", "x\tO\nNew York\n"])
def test_another_number_of_columns_is_refused(tmp_path: Path, content: str) -> None:
    (path := tmp_path / "tokens.txt").write_text(content)
    with pytest.raises(ValueError, match=r"tokens.txt, line [23]: [31] columns, where others have 2"):
        load_conll_file(path)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("a\tN\t\nb\tN\t\n\nc\tN\tO\n", ([["a", "b"], ["c"]], [["", ""], ["O"]])),  # tags are not there yet
        ("hi\tO\n \tO\n\tO\n\u3000\tO\n", ([["hi", " ", "", "\u3000"]], [["O"] * 4])),
        ("hi  O\n\u3000 O\n \n\xa0 O \n", ([["hi", "\u3000"], ["\xa0"]], [["O", "O"], ["O"]])),
        ("x O\n-DOCSTART- O\ny O\n", ([["x"], ["y"]], [["O"], ["O"]])),
        ("#tag\tO\n\n# c\n#\tB\nx\tO\n", ([["#tag"], ["#", "x"]], [["O"], ["B", "O"]])),
        ("# O\nx O\n", ([["#", "x"]], [["O", "O"]])),
        ("# text = x\nx N O\n\n# text = x y\nx N O\ny V B\n", ([["x"], ["x", "y"]], [["O"], ["O", "B"]])),
        ("# a = b\nx N I O\n\n#a = O\nx N I B\n", ([["x"], ["x"]], [["O"], ["B"]])),
        ("# t = a\tb\nx\tO\n", ([["x"]], [["O"]])),
        ("# newdoc id = 1\n# id = 7\n#tag O\nx O\n#y B-q\n", ([["#tag", "x", "#y"]], [["O", "O", "B-q"]])),
        ("#begin of a file\nx O\n\ny O\n", ([["x"], ["y"]], [["O"], ["O"]])),
        ("#a O\n\n#b B-q\nx O\n\n#c B-r\n", ([["#a"], ["#b", "x"], ["#c"]], [["O"], ["B-q", "O"], ["B-r"]])),
        ("#a X\ny V\n#b X\n\n#c V\nz X\n", ([["#a", "y", "#b"], ["#c", "z"]], [["X", "V", "X"], ["V", "X"]])),
        ("# #\n5 CD\n\n% SYM\n# SYM\n", ([["#", "5"], ["%", "#"]], [["#", "CD"], ["SYM", "SYM"]])),
        ("#\tSYM\nx\tV\n\ny\tV\n", ([["#", "x"], ["y"]], [["SYM", "V"], ["V"]])),
    ],
)
def test_cells_without_text_comments_and_marks(tmp_path: Path, content: str, found: Any) -> None:
    (path := tmp_path / "tokens.txt").write_text(content, encoding="utf-8")
    assert load_conll_file(path) == found


@pytest.mark.parametrize(
    "content",
    [
        "#id 4\nx O\n\ny O\n",
        "# 1\nx 1\n\n# 2\nx 1\n",
        "#tag\nx O\n",
        "# 17\nx O\n",
        "x O\n# todo\n",
        "#x N\ny V\n\n#z N\ny V\n",
        "# vitamin B\nx N B-q\n\n# Queen I\ny N O\n",
        "# 17\nx B-q\n\n# 18\nx B-q\ny O\n",
        "#id 4\nx O\n\n\n#id 5\nx O\n",
        "# a\t4\nx\tO\n\n# a\t5\nx\tO\n",
        "x O\ny O\n# 17\nz O\n",
        "# SYM\n5 CD\n",
    ],
)
def test_lines_that_may_be_comments_are_refused(tmp_path: Path, content: str) -> None:
    (path := tmp_path / "tokens.txt").write_text(content)
    with pytest.raises(ValueError, match=r"line [123]: #.* may be a comment or a token: pass comments=True or "):
        load_conll_file(path)
    lines = [line for line in content.split("\n") if line]
    assert sum(map(len, load_conll_file(path, comments=True)[0])) == sum(line[0] != "#" for line in lines)
    if len({len(line.split()) for line in lines}) == 1:
        assert sum(map(len, load_conll_file(path, comments=False)[0])) == len(lines)


def test_conllu_has_words(tmp_path: Path) -> None:
    ids = ["# text = a", *(f"{k}{9 * chr(9)}{k}" for k in ("0.1", "1", "2-3", "2", "3", "3.1"))]
    (path := tmp_path / "tokens.conllu").write_text("\n".join(ids))
    assert load_conll_file(path) == ([["1", "2", "3"]], [["1", "2", "3"]])


def test_compressed_files_are_read(tmp_path: Path) -> None:
    (path := tmp_path / "tokens.gz").write_bytes(gzip.compress(b"Juan B-PER\n"))
    assert load_conll_file(path) == ([["Juan"]], [["B-PER"]])


def test_files_of_windows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "tokens.txt"
    path.write_bytes(b"\xef\xbb\xbfJuan B-PER\r\nvive O\r\n\r\nSi O\r\n")
    assert load_conll_file(path) == ([["Juan", "vive"], ["Si"]], [["B-PER", "O"], ["O"]])


@pytest.mark.parametrize("series", [pd.Series, pl.Series])
def test_tags_of_a_sequence_can_be_a_series(series: Any) -> None:
    rows, tags = np.eye(6), [*"ABABBA"]
    parts, given = [rows[:4], rows[4:]], [series(tags[:4]), series(tags[4:])]
    model = SequenceSVC().fit(parts, given)
    assert model.score(parts, given) == SequenceSVC().fit(parts, [tags[:4], tags[4:]]).score(parts, given)
    if series is pd.Series:
        frames = [pd.DataFrame(part) for part in parts]
        with pytest.raises(ValueError, match=r"y\[1\] has the index of X\[1\] in another order"):
            model.fit(frames, [given[0], given[1].iloc[::-1]])


def test_dates_are_no_features_of_tokens() -> None:
    with pytest.raises(ValueError, match=r"X\[1\] holds dates or times"):
        SequenceSVC().fit([np.eye(2), np.eye(2).astype("m8[s]")], [["A", "B"], ["B", "A"]])
