"""Rows that describe a class: its name, keywords, an example."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from fewlabel import SemiSupervisedLogisticRegression, SequenceSVC, TransductiveSVC, estimate_class_prior
from fewlabel.inspection import check
from fewlabel.labels import Description, Soft, with_descriptions
from fewlabel.metrics import labeled_scorer

RNG = np.random.default_rng(0)
WORDS = {
    "sport": ["goal", "match", "team", "coach", "league", "player"],
    "money": ["bank", "stock", "market", "share", "price", "loan"],
}
CLASSES = RNG.choice(list(WORDS), 120, p=[0.7, 0.3])
TEXTS = [" ".join(RNG.choice([*WORDS[name], "the", "of", "today"], 8)) for name in CLASSES]
NAMES = {"sport": "team goal", "money": "bank price"}


def vectors() -> tuple[Any, dict[str, Any]]:
    vectorizer = TfidfVectorizer().fit(TEXTS)
    return vectorizer.transform(TEXTS), {name: vectorizer.transform([text]) for name, text in NAMES.items()}


@pytest.mark.parametrize("kind", [list, np.array, pd.Series])
def test_names_alone_classify_texts(kind: Any) -> None:
    texts, y = with_descriptions(kind(TEXTS), None, NAMES)
    assert isinstance(texts, type(kind(TEXTS)))
    assert len(texts) == len(y) == len(TEXTS) + 2
    model = make_pipeline(TfidfVectorizer(), TransductiveSVC()).fit(texts, y)
    assert np.mean(model.predict(TEXTS) == CLASSES) > 0.9
    assert abs(model[-1].class_prior_[1] - np.mean(CLASSES == "sport")) < 0.15  # classes are money, sport
    assert model[-1].transduction_[-2:].tolist() == ["sport", "money"]


@pytest.mark.parametrize(
    "form", [sp.csr_matrix, sp.csr_array, lambda X: X.toarray(), lambda X: X.toarray().astype("f4")]
)
def test_vectors_of_names(form: Any) -> None:
    X, names = vectors()
    rows, y = with_descriptions(form(X), None, {name: form(row) for name, row in names.items()})
    assert type(rows) is type(form(X))
    assert (rows.dtype, rows.shape) == (form(X).dtype, (len(TEXTS) + 2, X.shape[1]))
    assert TransductiveSVC().fit(rows, y).score(X, CLASSES) > 0.9


@pytest.mark.parametrize("model", [TransductiveSVC(), SemiSupervisedLogisticRegression()])
def test_with_given_shares_a_description_is_a_label(model: Any) -> None:
    X, y = with_descriptions(vectors()[0], None, vectors()[1])
    labels = np.array([one.label if isinstance(one, Description) else None for one in y], dtype=object)
    model = clone(model).set_params(class_prior={"sport": 0.7, "money": 0.3}, class_weight="balanced")
    described, labeled = clone(model).fit(X, y), clone(model).fit(X, labels)
    assert np.array_equal(described.predict(X), labeled.predict(X))
    assert np.array_equal(pickle.loads(pickle.dumps(described)).predict(X), described.predict(X))


def test_descriptions_are_in_no_test() -> None:
    X, y = with_descriptions(vectors()[0], np.where(np.arange(120) < 12, CLASSES, None), vectors()[1])
    assert check(TransductiveSVC(), X, y).n_rows == 12
    model = TransductiveSVC().fit(X, y)
    assert labeled_scorer("accuracy")(model, X, y) == np.mean(model.predict(X[:12]) == CLASSES[:12])


def test_a_class_with_a_description_alone() -> None:
    y = np.where((CLASSES == "sport") & (np.arange(120) < 20), CLASSES, None)
    X, y = with_descriptions(vectors()[0], y, vectors()[1])
    assert TransductiveSVC().fit(X, y).score(X[:120], CLASSES) > 0.8


def test_number_classes_beside_minus_one() -> None:
    y = np.full(120, -1)
    y[:10] = CLASSES[:10] == "sport"
    X, y = with_descriptions(vectors()[0], y, {1: vectors()[1]["sport"], 0: vectors()[1]["money"]})
    assert TransductiveSVC().fit(X, y).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("X", "y", "descriptions", "message"),
    [
        (TEXTS, None, {}, "descriptions must be a dict"),
        (TEXTS, None, ["sport"], "descriptions must be a dict"),
        (TEXTS, CLASSES[:3], NAMES, "y has 3 labels, but X has 120 rows"),
        (pd.DataFrame({"text": TEXTS}), None, NAMES, "column of the texts"),
        (TEXTS, None, {"sport": np.ones(3)}, "both have texts"),
        ("text", None, NAMES, "X must have a text or a row"),
        (np.eye(3), None, {"sport": [1, 0]}, r"3 numbers for class 'sport'.*shape \(1, 2\)"),
        (sp.eye_array(3, format="csr"), None, {"sport": "goal"}, "3 numbers for class 'sport'.*'goal'"),
        (np.eye(2), Soft(np.eye(2)), {"sport": [1, 0]}, "not probabilities"),
    ],
)
def test_wrong_descriptions(X: Any, y: Any, descriptions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_descriptions(X, y, descriptions)


def test_a_description_of_no_class() -> None:
    for label in (None, {"sport", "money"}, -1):
        X, y = with_descriptions(vectors()[0], np.where(np.arange(120) < 12, CLASSES, None), vectors()[1])
        y[-1] = Description(label)
        with pytest.raises(ValueError, match=r"row 121|mixes labels"):
            TransductiveSVC().fit(X, y)


def test_shares_from_descriptions() -> None:
    X, y = with_descriptions(vectors()[0], None, vectors()[1])
    found = estimate_class_prior(X, y)
    assert np.array_equal(found.class_prior, TransductiveSVC().fit(X, y).class_prior_)
    assert np.all(found.upper == 1)


def test_sequences_and_columns_take_none() -> None:
    with pytest.raises(ValueError, match="escription"):
        SequenceSVC().fit([np.eye(2), np.eye(2)], [[Description("x"), None], ["y", None]])
    with pytest.raises(ValueError, match="several labels a row"):
        TransductiveSVC().fit(np.eye(3), [[1, 0], [0, Description(1)], [-1, -1]])


def test_groups_of_a_tree_have_no_descriptions() -> None:
    X, names = vectors()
    model = TransductiveSVC(hierarchy={"sport": "all", "money": "all"})
    assert model.fit(*with_descriptions(X, None, names)).score(X, CLASSES) > 0.8
    with pytest.raises(ValueError, match="name classes"):
        model.fit(*with_descriptions(X, np.where(np.arange(120) < 12, CLASSES, None), {"all": names["sport"]}))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_whole_numbers_do_not_cut_descriptions(form: Any) -> None:
    X, _ = with_descriptions(form(np.eye(2, dtype=int)), None, {"sport": [0.5, 0.25]})
    assert form(np.array([[0.5, 0.25]])).sum() == X[[2]].sum()
