"""Metrics and scorers."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import check_scoring
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metadata_routing import MetadataRequest, MetadataRouter, MethodMapping, get_routing_for_object

from fewlabel import _columns, _held_out
from fewlabel._inputs import _data, _markers, _targets

__all__ = ["labeled_scorer"]


def labeled_scorer(scoring: Any = None, *, unlabeled: Any = "auto") -> Callable[..., Any]:
    """Scorer that ignores unlabeled rows, which other scorers would treat as a class.

    For `cross_val_score`, `GridSearchCV` and similar functions with an ordinary splitter, whose test folds contain
    unlabeled rows. Of several labels a row, the rows that are known in all columns are scored. It is a
    scorer as those of scikit-learn: metadata such as `sample_weight` are routed to it as to the metric, or as to the
    `score` of the estimator. A ValueError if no row is labeled.

    Parameters
    ----------
    scoring : str, callable, list, tuple, dict or None, default=None
        Metric, as in `cross_validate`: the name of a metric, a scorer, or several. None: the estimator's `score`.
    unlabeled : as in `TransductiveSVC`

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from fewlabel.metrics import labeled_scorer
    >>> X, y = [[0], [0], [0], [0], [0], [0]], [0, 0, 0, 1, -1, -1]
    >>> labeled_scorer("accuracy")(DummyClassifier(strategy="constant", constant=0).fit(X, y), X, y)
    0.75
    """
    return _LabeledScorer(scoring, unlabeled)


@dataclass(eq=False, repr=False)
class _LabeledScorer:
    """Result of `labeled_scorer`, which can be pickled."""

    scoring: Any
    unlabeled: Any

    def __post_init__(self) -> None:
        if self.scoring is not None:
            _held_out.scorer(None, self.scoring)  # cross_val_score makes NaN of what is raised later
        self.request = MetadataRequest(owner=self)
        self.request.score.add_request(param="sample_weight", alias=True)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, **parameters: Any) -> Any:
        model = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
        classes = getattr(model, "classes_", ()) if hasattr(model, "unlabeled") else ()  # others may count the marker
        marker = _markers.of_model(self.unlabeled, classes)
        _columns.check_names(model, y)
        _data.check_order(X=X, y=y, **parameters)
        places, X = np.arange(_data.number_of_rows(X)), _data.admitted(X)
        rows, labels, weights = _targets.labeled_part(places, y, marker, sample_weight, columns=True)
        of_rows = {name: given for name, given in parameters.items() if np.shape(given)[:1] == places.shape}
        parameters |= {name: _safe_indexing(given, rows) for name, given in of_rows.items()}
        if weights is not None:
            parameters |= self._routed(estimator, model, weights)
        return _held_out.scorer(estimator, self.scoring)(estimator, _safe_indexing(X, rows), labels, **parameters)

    def _routed(self, estimator: Any, model: Any, weights: Any) -> Any:
        """The weights under the name in which the score wants them, unless it has requested that it gets none."""
        if self.scoring is not None or not get_config()["enable_metadata_routing"]:
            return {"sample_weight": weights}
        alias = getattr(getattr(get_routing_for_object(model), "score", None), "requests", {}).get("sample_weight")
        params = {alias if isinstance(alias, str) else "sample_weight": weights}
        score = MethodMapping().add(caller="score", callee="score")
        try:
            router = MetadataRouter(owner=self).add(estimator=estimator, method_mapping=score)
            return router.route_params(caller="score", params=params)["estimator"]["score"]
        except UnsetMetadataPassedError:
            return params

    def set_score_request(self, **names: bool | str | None) -> "_LabeledScorer":
        """As of a scorer of scikit-learn: the name in which metadata of the score are passed to a function."""
        if self.scoring is not None:
            self.scoring = check_scoring(None, self.scoring).set_score_request(**names)
        for name, alias in names.items():
            self.request.score.add_request(param=name, alias=alias)
        return self

    def get_metadata_routing(self) -> Any:
        return self.request if self.scoring is None else get_routing_for_object(check_scoring(None, self.scoring))

    def _accept_sample_weight(self) -> bool:  # without routing, where scikit-learn asks a scorer among several
        return True

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"
