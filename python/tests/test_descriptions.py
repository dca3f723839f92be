"""Rows that describe a class: its name, keywords, an example."""

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_spmd import on_ranks

from fewlabel import (
    ASOTransformer,
    ClassPriorWarning,
    DataWarning,
    KernelFeatures,
    SemiSupervisedLogisticRegression,
    SequenceSVC,
    TransductiveSVC,
    estimate_class_prior,
    load_model,
    save_model,
    spmd,
)
from fewlabel.inspection import check, compare, suspicious_labels
from fewlabel.labels import Description, Soft, from_votes, with_descriptions
from fewlabel.metrics import labeled_scorer
from fewlabel.model_selection import SemiSupervisedSplit, held_out_probabilities
from fewlabel.plotting import _plan
from fewlabel.preprocessing import labeled_only

RNG = np.random.default_rng(0)
WORDS = {
    "sport": ["goal", "match", "team", "coach", "league", "player"],
    "money": ["bank", "stock", "market", "share", "price", "loan"],
}
CLASSES = RNG.choice(list(WORDS), 120, p=[0.7, 0.3])
TEXTS = [" ".join(RNG.choice([*WORDS[name], "the", "of", "today"], 8)) for name in CLASSES]
NAMES = {"sport": "team goal", "money": "bank price"}
LABELS = np.where(np.arange(120) < 12, CLASSES, None)


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
        (np.ma.masked_equal(np.eye(3), 1), None, {"sport": [1, 0, 0]}, "X has masked entries"),
        (np.ma.masked_equal(TEXTS, TEXTS[0]), None, NAMES, "X has masked entries"),
        (np.eye(3), None, {"sport": np.ma.masked_equal([1, 0, 0], 1)}, "3 numbers for class 'sport'.*masked"),
        ([[0.5, 1.0], [1.0, 0.0]], None, {"sport": [1, 0, 0]}, r"2 numbers for class 'sport'.*shape \(1, 3\)"),
        (pd.Series([np.ones(2), np.ones(2)]), None, {"sport": [1]}, "2 numbers for class 'sport'"),
        (np.array(1.0), None, NAMES, r"X must have a text or a row of numbers for each row, got array\(1\.\)"),
        (7, None, NAMES, "X must have a text or a row.*7"),
        (None, None, NAMES, "X must have a text or a row.*None"),
        (dict(enumerate(TEXTS)), None, NAMES, "X must have a text or a row"),
        ((text for text in TEXTS), None, NAMES, "X must have a text or a row.*generator"),
        (np.ones((2, 2, 2)), None, {"sport": [1, 0]}, "X must have a text or a row"),
        (TEXTS, None, {"sport": "goal", "money": " \n"}, "must have a text for class 'money', as the rows of X"),
        (np.array(TEXTS), None, {"sport": ""}, "must have a text for class 'sport'"),
    ],
)
def test_wrong_descriptions(X: Any, y: Any, descriptions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_descriptions(X, y, descriptions)


@pytest.mark.parametrize("dtype", ["category", "string", object])
def test_descriptions_of_a_series_are_texts(dtype: Any) -> None:
    texts, _ = with_descriptions(pd.Series(TEXTS, index=range(9, 129), dtype=dtype), None, NAMES)
    assert texts.tolist() == [*TEXTS, *NAMES.values()]
    assert texts.index.tolist() == list(range(122))


TOKENS = [text.split() for text in TEXTS]
VECTORS = [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("X", "description", "kind"),
    [
        (TOKENS, ["team", "goal"], list),
        (np.fromiter(TOKENS, object, 120), ["team", "goal"], np.ndarray),
        (pd.Series(TOKENS), ["team", "goal"], pd.Series),
        (VECTORS, sp.csr_array([[0.5, 0.25]]), list),
        (tuple(VECTORS), [[0.5, 0.25]], np.ndarray),
        (pd.Series(VECTORS), np.array([0.5, 0.25]), pd.Series),
        (tuple(TEXTS), "team goal", np.ndarray),
    ],
)
def test_other_rows(X: Any, description: Any, kind: Any) -> None:
    rows, _ = with_descriptions(X, None, {"sport": description})
    assert type(rows) is kind
    assert len(rows) == len(X) + 1
    last = rows[len(X)]
    assert (last if isinstance(last, str) else list(last)) in ("team goal", ["team", "goal"], [0.5, 0.25])


@pytest.mark.parametrize("label", [("a", 1), ("a",), ["a", "b"], [1]])
@pytest.mark.parametrize("others", [1, 2])
def test_a_description_of_several_classes(label: Any, others: int) -> None:
    X, y = with_descriptions(vectors()[0], None, vectors()[1])
    y[-others:] = [Description(label)] * others
    with pytest.raises(
        ValueError, match="y mixes labels of several types" if others == 1 else f"labels of type {type(label).__name__}"
    ):
        TransductiveSVC().fit(X, y)


@pytest.mark.parametrize("label", [("a", 1), ("a",)])
def test_names_of_classes_are_no_tuples(label: Any) -> None:
    for names, message in (
        ([label], "labels of type tuple"),
        ([label, "b"], "mixes labels of several types: str, tuple"),
    ):
        X, y = with_descriptions(np.eye(2), None, {name: [1, 0] for name in names})
        with pytest.raises(ValueError, match=f"^y:? {message}"):
            TransductiveSVC().fit(X, y)


def test_no_row_to_score() -> None:
    X, y = with_descriptions(vectors()[0], None, vectors()[1])
    with pytest.raises(ValueError, match="no row to score: no row of y has a label"):
        TransductiveSVC().fit(X, y).score(X, y)


def test_a_description_of_no_class() -> None:
    for label in (None, {"sport", "money"}, -1):
        X, y = with_descriptions(vectors()[0], np.where(np.arange(120) < 12, CLASSES, None), vectors()[1])
        y[-1] = Description(label)
        with pytest.raises(ValueError, match=r"row 121|mixes labels"):
            TransductiveSVC().fit(X, y)


def test_shares_from_descriptions() -> None:
    X, y = with_descriptions(vectors()[0], None, vectors()[1])
    cure = "Label 20 or more rows that are drawn at random, of two classes at least, or give class_prior"
    with pytest.warns(ClassPriorWarning, match=f"the class shares are a guess.*{cure}"):
        found = estimate_class_prior(X, y)
    with pytest.warns(ClassPriorWarning, match=cure):
        assert np.array_equal(found.class_prior, TransductiveSVC().fit(X, y).class_prior_)
    assert np.all(found.upper == 1)


EVEN = np.concatenate([np.flatnonzero(name == CLASSES)[:30] for name in NAMES])


@pytest.mark.parametrize(("rows", "labels"), [(range(120), LABELS), (EVEN, None)])
def test_shares_that_are_no_guess(rows: Any, labels: Any) -> None:
    X, y = with_descriptions(vectors()[0][rows], labels, vectors()[1])
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "the class shares are a guess")
        for find in (estimate_class_prior, TransductiveSVC().fit):
            find(X, y)


def test_sequences_and_votes_take_none() -> None:
    with pytest.raises(ValueError, match="escription"):
        SequenceSVC().fit([np.eye(2), np.eye(2)], [[Description("x"), None], ["y", None]])
    with pytest.raises(ValueError, match="y has sets, probabilities or descriptions"):
        from_votes([["x"], ["y"]], [Description("x"), None])


# ------------------------------------------------------------------ every fit
NAMED = [TransductiveSVC(method=name) for name in TransductiveSVC._methods] + [
    SemiSupervisedLogisticRegression(method=name) for name in SemiSupervisedLogisticRegression._methods
]


@pytest.mark.filterwarnings("ignore:the probabilities are")
@pytest.mark.parametrize(
    "model", [*NAMED, TransductiveSVC(unlabeled_weight=0), TransductiveSVC(calibrate=True)], ids=str
)
@pytest.mark.parametrize("labels", [None, LABELS])
def test_every_method_learns_from_names(model: Any, labels: Any) -> None:
    X, y = with_descriptions(vectors()[0], labels, vectors()[1])
    model = clone(model).fit(X, y)
    assert model.score(X[:120], CLASSES) > 0.9
    assert model.score(X, y) == model.score(X[:12], CLASSES[:12]) if labels is not None else True


def test_weights_and_files(tmp_path: Any) -> None:
    X, y = with_descriptions(vectors()[0], LABELS, vectors()[1])
    weights = np.append(np.ones(120), [0, 2.5])
    model = TransductiveSVC().fit(X, y, weights)
    without = TransductiveSVC().fit(X[np.r_[:120, 121]], y[np.r_[:120, 121]], weights[np.r_[:120, 121]])
    assert np.allclose(model.coef_, without.coef_)
    assert not np.allclose(model.coef_, TransductiveSVC().fit(X, y).coef_)
    save_model(model, tmp_path / "model")
    assert np.array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))


def test_a_description_is_a_plain_value() -> None:
    one = Description("sport")
    assert repr(one) == "Description(label='sport')"
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one != Description("money")


def test_steps_before_the_classifier() -> None:
    X, names = vectors()
    rows, y = with_descriptions(X.toarray(), LABELS, {name: row.toarray() for name, row in names.items()})
    frame = pd.DataFrame(rows, columns=[f"word {j}" for j in range(rows.shape[1])])
    steps = StandardScaler(with_mean=False).set_output(transform="pandas"), TransductiveSVC()
    model = make_pipeline(*steps).fit(frame, y)
    assert model.score(frame, y) == np.mean(model.predict(frame[:12]) == CLASSES[:12])
    assert make_pipeline(KernelFeatures(n_components=30), TransductiveSVC()).fit(rows, y).score(rows, y) > 0.9
    chosen = make_pipeline(SelectKBest(labeled_only(chi2), k=10), TransductiveSVC()).fit(rows, y)
    assert np.array_equal(chosen[0].scores_, chi2(rows[:12], CLASSES[:12].astype(str))[0])
    assert ASOTransformer(auxiliary="top_k", n_components=1).fit(*with_descriptions(X, None, names)).n_problems_ > 0


def test_descriptions_without_a_word_of_the_texts() -> None:
    X, y = with_descriptions(TEXTS, LABELS, NAMES | {"money": "xyzzy"})
    model = make_pipeline(TfidfVectorizer().fit(TEXTS), TransductiveSVC())
    with pytest.warns(DataWarning, match="descriptions without a feature of the rows, .* are left out: 1"):
        model[-1].fit(model[0].transform(X), y)
    X, y = with_descriptions(TEXTS, LABELS, NAMES | {"law": "xyzzy"})
    with pytest.raises(ValueError, match="class law has no labeled row: label one or describe it by features"):
        model[-1].fit(model[0].transform(X), y)


# ------------------------------------------------------------------ tests of a model
def test_nothing_counts_or_tests_descriptions() -> None:
    X, y = with_descriptions(vectors()[0], LABELS, vectors()[1] | {"new": vectors()[0][[119]]})
    model = SemiSupervisedLogisticRegression()
    found = held_out_probabilities(model, X, y)
    assert found.shape == (123, 3)
    assert np.array_equal(np.isfinite(found).all(axis=1), [one is not None for one in LABELS] + [False] * 3)
    checked = check(TransductiveSVC(), X, y, verbose=0)
    assert checked.n_rows == 12
    assert checked._differing.n_unlabeled == 108
    assert max(checked.disagreements, default=0) < 120
    assert compare(TransductiveSVC(), X, y, ["switching"], cv=2, verbose=0).scores["switching"].shape == (2,)
    assert max(suspicious_labels(TransductiveSVC().fit(X, y), X, y, margin=-9, verbose=0).rows) < 12
    for train, test in SemiSupervisedSplit(3).split(X, y):
        assert {120, 121, 122} <= set(train)
        assert max(test) < 12
    scores = cross_val_score(TransductiveSVC(), X, y, cv=SemiSupervisedSplit(3))
    search = GridSearchCV(TransductiveSVC(), {"alpha": [1e-3]}, cv=SemiSupervisedSplit(3)).fit(X, y)
    assert search.best_score_ == pytest.approx(scores.mean())
    shuffled = KFold(2, shuffle=True, random_state=0)
    assert np.isfinite(cross_val_score(TransductiveSVC(), X, y, cv=shuffled, scoring=labeled_scorer("accuracy"))).all()


def test_learning_curves_keep_descriptions() -> None:
    X, y = with_descriptions(vectors()[0], CLASSES, vectors()[1])
    _, folds, _ = _plan(TransductiveSVC(), X, y, [10], 1, 0.25, None, 0)
    assert [isinstance(one, Description) for one in folds[0].labels].count(True) == 2
    assert max(folds[0].test) < 120


def test_descriptions_are_no_unlabeled_rows() -> None:
    X, y = with_descriptions(vectors()[0], CLASSES, vectors()[1])
    with pytest.warns(DataWarning, match="no row is unlabeled"):
        assert check(TransductiveSVC(), X, y, verbose=0).n_rows == 120


def test_a_description_decides_what_minus_one_is() -> None:
    X, names = vectors()
    y = np.where((CLASSES == "sport") & (np.arange(120) < 30), 1, -1)
    X, y = with_descriptions(X, y, {0: names["money"]})
    assert TransductiveSVC().fit(X, y).classes_.tolist() == [0, 1]


# ------------------------------------------------------------------ labels of one class
@pytest.mark.parametrize("described", [["sport"], ["money"], ["sport", "money"]])
def test_labels_of_one_class_beside_descriptions(described: list[str]) -> None:
    X, names = vectors()
    y = np.where((CLASSES == "sport") & (np.arange(120) < 20), CLASSES, None)
    rows, y = with_descriptions(X, y, {name: names[name] for name in described})
    shares = {"sport": np.mean(CLASSES == "sport"), "money": np.mean(CLASSES == "money")}
    assert TransductiveSVC(class_prior=shares).fit(rows, y).score(X, CLASSES) > 0.9
    if "money" in described:  # it is no longer the only class
        model = TransductiveSVC().fit(rows, y)
        assert model.score(X, CLASSES) > 0.8
        assert abs(model.class_prior_[1] - shares["sport"]) < 0.2


@pytest.mark.filterwarnings("ignore:the estimated share of class")
def test_the_share_of_the_only_class_is_that_of_rows_that_were_drawn() -> None:
    many, names = sp.vstack([vectors()[0]] * 2, format="csr"), vectors()[1]
    y = np.where((np.tile(CLASSES, 2) == "sport") & (np.arange(240) < 50), "sport", None)
    plain = estimate_class_prior(many, y, rest="money")
    found = estimate_class_prior(*with_descriptions(many, y, names), rest="money")
    assert found.classes.tolist() == ["money", "sport"]
    assert np.array_equal(found.class_prior, plain.class_prior)
    assert np.array_equal(found.label_shares, [0, 1])
    for other, labels in (("rest", y), ("money", np.append(y[:-1], "money"))):
        with pytest.raises(ValueError, match="labels of one other class alone"):
            estimate_class_prior(*with_descriptions(many, labels, names), rest=other)


# ------------------------------------------------------------------ class trees
def test_groups_of_a_tree() -> None:
    X, names = vectors()
    tree = {"sport": "known", "money": "known", "known": None, "new": None}
    model = TransductiveSVC(hierarchy=tree, class_prior={"sport": 0.6, "money": 0.3, "new": 0.1})
    labels = LABELS.copy()
    labels[0], labels[1] = "known", {"sport", "money"}
    rows, y = with_descriptions(X, labels, names | {"known": names["sport"]})
    sets = y.copy()
    sets[0], sets[-1] = {"sport", "money"}, {"sport", "money"}
    found = clone(model).fit(rows, y)
    assert np.array_equal(found.coef_, clone(model).fit(rows, sets).coef_)
    assert found.score(X, CLASSES) > 0.8
    assert check(model, rows, y, cv=2, verbose=0).n_rows == 10


# ------------------------------------------------------------------ several labels a row
TOPICS = np.column_stack([name == CLASSES for name in NAMES] + [RNG.random(120) < 0.3]).astype(int)
TOPICS[20:] = -1


def topics(form: Any, named: bool = False) -> tuple[Any, np.ndarray]:
    X, names = vectors()
    return with_descriptions(X, form, names if named else dict(enumerate(names.values())))


def test_every_form_of_columns_takes_descriptions() -> None:
    X, y = topics(TOPICS)
    assert y.shape == (122, 3)
    assert y[-2:].tolist() == [[Description(1), -1, -1], [-1, Description(1), -1]]
    model = TransductiveSVC().fit(X, y)
    frame = pd.DataFrame(np.where(TOPICS < 0, None, TOPICS), columns=["sport", "money", "odd"])
    nine = TransductiveSVC(unlabeled=9)
    for form in (frame.to_numpy(), sp.csr_array(TOPICS), TOPICS.tolist(), frame.astype("Int64")):
        rows, other = topics(form, named=hasattr(form, "columns"))
        assert np.array_equal(TransductiveSVC().fit(rows, other).coef_, model.coef_)
    assert np.array_equal(nine.fit(X, np.where(y == -1, 9, y)).coef_, model.coef_)
    for k in range(3):
        alone = TransductiveSVC(class_prior="labels").fit(X, y[:, k])
        assert np.array_equal(alone.coef_[0], model.coef_[k])
    assert not np.array_equal(model.coef_[0], TransductiveSVC().fit(X[:120], TOPICS).coef_[0])
    assert np.array_equal(model.transduction_[[120, 121], [0, 1]], [1, 1])


def test_columns_are_not_tested_on_descriptions() -> None:
    X, y = topics(TOPICS)
    y[-1, 0] = 0  # the row is not drawn
    model = TransductiveSVC().fit(X, y)
    assert model.score(X, y) == np.mean(model.predict(X[:20]) == TOPICS[:20])
    assert labeled_scorer("f1_macro")(model, X, y) == labeled_scorer("f1_macro")(model, X[:20], TOPICS[:20])
    assert all(max(test) < 20 for _, test in SemiSupervisedSplit(4).split(X, y))
    zeros = np.where(TOPICS == 1, -1, TOPICS)
    assert ASOTransformer(auxiliary="top_k", n_components=1).fit(*topics(zeros)).n_problems_ > 0


@pytest.mark.filterwarnings("ignore:column 2 of y")
def test_a_topic_without_a_label_of_1() -> None:
    y = np.where(TOPICS == 1, 0, TOPICS)
    model = TransductiveSVC().fit(*topics(y))
    assert np.all((model.class_prior_[:2] > 0) & (model.class_prior_[:2] < 0.2))
    assert model.predict(vectors()[0])[:, 0].any()


def test_topics_with_descriptions_alone_need_shares() -> None:
    X, y = topics(np.full((120, 2), -1))
    with pytest.raises(ValueError, match=r"columns 0, 1 of y have descriptions alone.*class_prior"):
        TransductiveSVC().fit(X, y)
    model = TransductiveSVC(class_prior=[np.mean(name == CLASSES) for name in NAMES]).fit(X, y)
    assert np.mean(model.predict(X[:120])[:, 0] == (CLASSES == "sport")) > 0.8


@pytest.mark.parametrize(
    ("y", "descriptions", "message"),
    [
        (TOPICS, {"sport": "goal"}, "descriptions has 'sport', but y has several labels a row, of the columns"),
        (TOPICS, {3: "goal"}, "descriptions has 3"),
        (TOPICS[:3], {0: "goal"}, "y has 3 labels"),
    ],
)
def test_wrong_topics(y: Any, descriptions: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_descriptions(TEXTS, y, descriptions)


@pytest.mark.parametrize("label", ["goal", 2, None])
def test_a_description_of_no_topic(label: Any) -> None:
    X, y = topics(TOPICS)
    y[-1, 1] = Description(label)
    with pytest.raises(ValueError, match=r"must hold 0, 1 and markers|Description of neither"):
        TransductiveSVC().fit(X, y)


# ------------------------------------------------------------------ several machines
@pytest.mark.parametrize("labels", [None, LABELS, np.where(LABELS == "sport", "sport", None)])
@pytest.mark.parametrize("tree", [None, {"sport": "all", "money": "all", "new": None}])
def test_descriptions_on_one_machine(labels: Any, tree: Any) -> None:
    X, y = with_descriptions(vectors()[0], labels, vectors()[1])
    if tree:
        y[50] = "all"
    model = TransductiveSVC(hierarchy=tree, class_prior={"sport": 0.6, "money": 0.3, "new": 0.1} if tree else "auto")
    parts = [range(60), range(60, 60), range(60, 122)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = clone(model).fit(X, y)
        found = on_ranks(
            lambda comm: spmd.fit(clone(model), X[list(parts[comm.rank])], y[list(parts[comm.rank])], comm=comm)
        )
    for rank, one in enumerate(found):
        assert not isinstance(one, BaseException), one
        assert one.classes_.tolist() == alone.classes_.tolist()
        assert one.class_prior_ == pytest.approx(alone.class_prior_, abs=1e-7)
        assert one.objective_ == pytest.approx(alone.objective_, rel=1e-6)
        assert np.array_equal(one.predict(X), alone.predict(X))
        assert np.array_equal(one.transduction_, alone.transduction_[list(parts[rank])])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_whole_numbers_do_not_cut_descriptions(form: Any) -> None:
    X, _ = with_descriptions(form(np.eye(2, dtype=int)), None, {"sport": [0.5, 0.25]})
    assert form(np.array([[0.5, 0.25]])).sum() == X[[2]].sum()


@pytest.mark.parametrize("name", [None, float("nan"), np.nan])
def test_a_marker_is_no_class_of_a_description(name: Any) -> None:
    with pytest.raises(ValueError, match=r"descriptions names (None|nan), which marks rows without a label"):
        with_descriptions(["a"], None, {"x": "a", name: "b"})
    X, y = with_descriptions(np.eye(2), [0, -1], {-1: [1.0, 0.0]})
    with pytest.raises(
        ValueError, match="y has a Description by a marker of unlabeled rows in row 2: give it the name"
    ):
        TransductiveSVC().fit(X, y)
