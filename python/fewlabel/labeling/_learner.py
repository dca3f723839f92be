"""The model of a session: steps that are fitted once, and fits of the classifier after them."""

import warnings
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from fewlabel._base import LinearClassifier
from fewlabel._inputs import _data, _markers
from fewlabel.inspection import _linear_model
from fewlabel.labeling import _choose
from fewlabel.labeling._answers import Answers, columns_of
from fewlabel.labels import with_descriptions

NONE = object()  # no marker
PART = 2_000  # rows of a fit between two batches, and those with answers
ROUGH = 1e-2  # tol of such a fit that is continued


class Fitted(NamedTuple):
    """A fit, and the answers and descriptions that it is of."""

    answers: Answers
    model: Any
    predicted: list[Any]  # class of each row
    warnings: tuple[str, ...]
    whole: bool  # as `Session.fit` returns it


class Learner:
    """Fits of a model to the rows of a session, and to descriptions of its classes."""

    def __init__(self, model: Any, rows: Any, descriptions: Any) -> None:
        self.of_texts = columns_of(rows) is None and getattr(rows, "ndim", 1) == 1 and _data.holds_text(rows)
        self.pipeline = clone(model) if isinstance(model, Pipeline) else Pipeline([("classifier", clone(model))])
        rows = np.asarray(rows) if descriptions and isinstance(rows, list) and len(self.pipeline) == 1 else rows
        self._first, self._vectors = _safe_indexing(rows, [0]), {} if self.of_texts else descriptions
        try:
            self.rows, self.X = rows, rows if len(self.pipeline) == 1 else self.pipeline[:-1].fit_transform(rows)
        except Exception:
            if not hasattr(rows, "to_pydict"):
                raise
            self.rows = rows.to_pandas()  # of Arrow, whose texts no vectorizer takes
            self.X = self.pipeline[:-1].fit_transform(self.rows)
        if _data.holds_text(self.X):
            raise ValueError("rows hold texts, so model must be a pipeline that starts with a vectorizer")
        _data.refuse_dates(self.X, "rows")
        try:
            self.coordinates = _choose.coordinates(self.X)
        except (OverflowError, TypeError, ValueError) as reason:
            raise ValueError(f"rows: {reason}") from reason
        if descriptions:
            self.description_rows({name: text if self.of_texts else name for name, text in descriptions.items()})

    def description_rows(self, descriptions: dict[Any, Any]) -> dict[Any, Any]:
        """A row of the classifier for each description, of shape (1, n_features)."""
        for name, text in descriptions.items():
            if self.of_texts and not (isinstance(text, str) and text.strip()):
                raise ValueError(f"descriptions must have a text for class {name!r}, as the rows, got {text!r:.60}")
        given = {name: self._vectors.get(text, text) for name, text in descriptions.items()}
        rows = with_descriptions(self._first, None, given)[0]
        rows = rows if len(self.pipeline) == 1 else self.pipeline[:-1].transform(rows)
        return {name: _safe_indexing(rows, [k]) for k, name in enumerate(given, 1)}

    @property
    def marker(self) -> Any:
        """What marks unlabeled rows for the classifier; NONE if it takes labeled rows only."""
        unlabeled = getattr(self.pipeline[-1], "unlabeled", None)
        return NONE if unlabeled is None else None if _markers.is_auto(unlabeled) else unlabeled

    @property
    def finds_shares(self) -> bool:
        """Whether class shares are to be estimated; labels of a class tree may be groups, which have none."""
        given = self.pipeline[-1].get_params()
        return _markers.is_auto(given.get("class_prior")) and given.get("hierarchy") is None

    def fit(
        self, answers: Answers, positions: dict[Any, int], shares: Any, before: Fitted | None, whole: bool
    ) -> Fitted:
        """A fit to descriptions and all rows, or a part, continued if no class is new; shares: class_prior."""
        known, descriptions, classifier = answers.known, answers.descriptions, clone(self.pipeline[-1])
        X, y = self.X, labels(answers, positions, self.marker)
        if self.marker is NONE:
            X, y = _safe_indexing(X, [positions[name] for name in known]), np.array([*known.values()])
            whole = True
        elif not whole and isinstance(classifier, LinearClassifier):
            rows = np.unique([*_choose.evenly(np.arange(len(y)), PART), *map(positions.__getitem__, answers.rows)])
            X, y = _safe_indexing(X, rows), y[rows]
            if before is not None and before.answers.learned == answers.learned:
                classifier = deepcopy(_linear_model.last(before.model)).set_params(warm_start=True, tol=ROUGH)
        if descriptions:
            X, further = with_descriptions(X, y, self.description_rows(descriptions))
            y = np.array([*y, *descriptions]) if self.marker is NONE else further
        if shares is not None:
            classifier.set_params(class_prior=shares)
        marker = {"unlabeled": classifier.unlabeled} if self.marker is not NONE else {}
        if marker and not any(one is self.marker or one == self.marker for one in y):  # no name of a class is a marker
            classifier.set_params(unlabeled=None)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.filterwarnings("ignore", f"(?s).*{_markers.ALMOST}")  # the status knows later names
            classifier.fit(X, y)
        classifier.set_params(**marker)
        *before_it, (name, _) = self.pipeline.steps
        model = Pipeline([*before_it, (name, classifier)]) if before_it else classifier
        messages = tuple(dict.fromkeys(str(one.message) for one in caught))
        return Fitted(answers, model, classifier.predict(self.X).tolist(), messages, whole)


def labels(answers: Answers, positions: dict[Any, int], marker: Any) -> np.ndarray:
    """The labels of all rows, sets of classes where some are ruled out, and the marker."""
    known = answers.learned
    y = np.full(len(positions), None if marker is NONE else marker, dtype=object)
    for row, answer in answers.rows.items():
        left = known - set(answer.get("not", known))
        if "class" in answer or len(left) > 1:  # of one class that is left it is not certain: there may be others
            y[positions[row]] = answer.get("class", left)
    return y
