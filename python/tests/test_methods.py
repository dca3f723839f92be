"""Methods with options: the same as their names, and only those that an estimator takes."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import fewlabel
from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, load_model, save_model
from fewlabel.methods import Annealing, Auto, Gradient, PairSwitching, Posterior, Switching
from fewlabel.model_selection import SemiSupervisedSplit

X, Y, TRUTH = text_like()
OF_MARGINS = (Annealing, Auto, Switching, PairSwitching, Gradient)
OF_PROBABILITIES = (Annealing, Switching, Posterior)
PAIRS = [(TransductiveSVC, kind) for kind in OF_MARGINS]
PAIRS += [(SemiSupervisedLogisticRegression, kind) for kind in OF_PROBABILITIES]


def bits(model: Any) -> tuple[bytes, ...]:
    return tuple(array.tobytes() for array in (model.coef_, model.intercept_, model.class_prior_))


@pytest.mark.parametrize(("estimator", "kind"), PAIRS)
def test_a_name_and_its_object_give_the_same_bits(estimator: Any, kind: Any) -> None:
    assert bits(estimator(method=kind()).fit(X, Y)) == bits(estimator(method=kind.name).fit(X, Y))


@pytest.mark.parametrize(
    ("estimator", "plain", "method"),
    [
        (TransductiveSVC, Annealing(), Annealing(balance="labels")),
        (TransductiveSVC, Switching(), Switching(max_switches=1)),
        (TransductiveSVC, PairSwitching(balance="mean"), PairSwitching(balance="labels")),
        (TransductiveSVC, Gradient(), Gradient(balance="labels")),
        (SemiSupervisedLogisticRegression, Posterior(), Posterior(kl_weight=1.0)),
    ],
)
@pytest.mark.filterwarnings("ignore::fewlabel.ClassPriorWarning")
def test_every_option_reaches_the_library(estimator: Any, plain: Any, method: Any) -> None:
    prior = [0.5, 0.5]  # is not what the labels alone give
    models = [estimator(method=kind, class_prior=prior).fit(X, Y) for kind in (plain, method)]
    assert bits(models[0]) != bits(models[1])


@pytest.mark.parametrize(
    ("estimator", "wrong"),
    [
        (TransductiveSVC, "anealing"),
        (TransductiveSVC, "entropy"),
        (TransductiveSVC, Posterior()),
        (TransductiveSVC, Switching),
        (TransductiveSVC, None),
        (TransductiveSVC, ["annealing"]),
        (SemiSupervisedLogisticRegression, "pair_switching"),
        (SemiSupervisedLogisticRegression, PairSwitching()),
        (SemiSupervisedLogisticRegression, {"method": "switching"}),
    ],
)
def test_methods_of_something_else_are_refused_with_those_of_this_estimator(estimator: Any, wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^method=") as refusal:
        estimator(method=wrong).fit(X, Y)
    listed = str(refusal.value).split("is not one of")[1].split(", nor ")[0]
    for kind in {*OF_MARGINS, *OF_PROBABILITIES}:
        assert (f"'{kind.name}'" in listed) == ((estimator, kind) in PAIRS), kind


@pytest.mark.parametrize(("kind", "option"), [(Annealing, "max_switches"), (Posterior, "constraint"), (Switching, "T")])
def test_options_that_a_method_does_not_have(kind: Any, option: str) -> None:
    with pytest.raises(TypeError, match=option):
        kind(**{option: 1})


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (Switching(max_switches=-1), "max_switches.*-1"),
        (Switching(max_switches=1.5), "max_switches.*1.5"),
        (Annealing(balance="none"), "balance.*none.*mean"),
    ],
)
def test_values_that_an_option_cannot_have(method: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TransductiveSVC(method=method).fit(X, Y)


def test_a_method_is_a_value() -> None:
    method = Switching(max_switches=2)
    assert repr(method) == "Switching(balance='auto', max_switches=2)"
    assert method == Switching(max_switches=2) != Switching()
    assert len({method, Switching(max_switches=2)}) == 1
    with pytest.raises(FrozenInstanceError):
        method.max_switches = 3
    assert "method=Switching(balance='auto', max_switches=2)" in repr(TransductiveSVC(method=method))


def test_clone_and_pickle_keep_it() -> None:
    method = Switching(max_switches=2)
    model = TransductiveSVC(method=method).fit(X, Y)
    assert clone(model).method == method
    again = pickle.loads(pickle.dumps(model))
    assert again.method == method
    assert again.method is not method
    assert bits(again.fit(X, Y)) == bits(model)


def test_grid_search_over_methods() -> None:
    grid = {"method": ["annealing", Switching(max_switches=1), PairSwitching()]}
    search = GridSearchCV(TransductiveSVC(), grid, cv=SemiSupervisedSplit(2)).fit(X, Y)
    assert list(search.cv_results_["param_method"]) == grid["method"]
    assert search.best_params_["method"] in grid["method"]


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (TransductiveSVC, Switching(balance="labels", max_switches=3)),
        (SemiSupervisedLogisticRegression, Posterior(kl_weight=0.3)),
        (TransductiveSVC, "switching"),
    ],
)
def test_a_model_file_keeps_it(estimator: Any, method: Any, tmp_path: Path) -> None:
    model = estimator(method=method).fit(X, Y)
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.get_params() == model.get_params()
    assert type(again.method) is type(method)
    assert bits(again) == bits(model)


def test_many_classes() -> None:
    four = many_topics()
    found = TransductiveSVC(method=Annealing(balance="labels")).fit(four.X, four.y)
    assert np.mean(found.transduction_ == four.truth) > 0.9


def test_the_module_is_there_without_an_import_of_it() -> None:
    assert fewlabel.methods.Annealing is Annealing
    assert sorted(fewlabel.methods.__all__) == sorted(kind.__name__ for kind in {*OF_MARGINS, *OF_PROBABILITIES})
