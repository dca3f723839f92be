"""A labeling session: which rows to label next, the answers, and how good the model is by now."""

import os
import warnings
from collections import Counter
from collections.abc import Iterable
from copy import deepcopy
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from fewlabel._base import LinearClassifier
from fewlabel._docstrings import described_as
from fewlabel._inputs import _data, _markers, _numbers
from fewlabel.inspection import _linear_model
from fewlabel.labeling import _arguments, _choose, _status
from fewlabel.labeling._journal import Event, Journal

_NONE = object()  # no marker


class _Fitted(NamedTuple):
    """A fit, and the answers that it is of."""

    answers: dict[Any, Event]
    known: dict[Any, Any]  # of rows, to their classes
    model: Any
    predicted: list[Any]  # class of each row
    warnings: tuple[str, ...]
    anew: bool  # not continued from an earlier fit


@described_as()
class Session:
    """A loop of labeling: rows that are worth a label, answers, refits, and a hint when to stop.

    Answers may be given in any order, and a class may be new at any time. With `path` every answer is on the disk
    before the call returns; a session that is made again with the same path continues after the last answer.

    Parameters
    ----------
    rows : data frame, series, list, array or sparse matrix of n_rows rows
        Input of the model. Rows are named by the index of a data frame or series, which must be unique and of integers
        or texts, otherwise by their position.
    model : classifier, or pipeline that ends in one
        Not fitted. The steps before the last are fitted once, to all rows and without labels. A classifier for
        unlabeled rows is refitted to all rows, another one to the labeled rows. One with class_prior="auto" and without
        `hierarchy` gets class shares as a dict while there are fewer than ten labels a class.
    classes : iterable of label, default=()
        Classes that are known in advance, in the order of their buttons in the widget.
    path : path-like or None, default=None
        File of the answers, JSON lines. None: they are kept in memory only. Several sessions may share a file.
    show : str, callable or None, default=None
        What the widget shows of a row: a column of a data frame, or what a function of the row returns: a text, an
        array of pixels, or an object that notebooks show as a PNG image, as those of Pillow. None: the row as text.

    Attributes
    ----------
    classes : list
        The classes given in advance, then those of the answers in the order in which they first came.
    y : ndarray of shape (n_rows,), object
        The labels, and the marker of the model for unlabeled rows.

    Raises
    ------
    ValueError
        If there are no rows, the index has duplicates or other values, `path` is no file or has a line that is not of a
        session of these rows, rows hold texts and the model has no vectorizer, or `show` is no column.
    TypeError
        If `rows`, `model` or `classes` are of another type.
    OSError
        If the file cannot be read or written, or its folder does not exist. An answer that raises it is not recorded.

    Examples
    --------
    >>> import numpy as np
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.labeling import Session
    >>> X = np.array([[0.0, 1.0], [0.1, 0.9], [0.2, 0.9], [1.0, 0.1], [0.9, 0.0], [0.9, 0.2]])
    >>> session = Session(X, TransductiveSVC())
    >>> for row in session.next(2):
    ...     session.label(row, "left" if X[row, 0] < 0.5 else "right")
    >>> session.fit().predict(X).tolist()
    ['left', 'left', 'left', 'right', 'right', 'right']
    >>> sorted(session.status().classes.items())
    [('left', 1), ('right', 1)]
    """

    def __init__(
        self,
        rows: Any,
        model: Any,
        *,
        classes: Iterable[Any] = (),
        path: str | os.PathLike[str] | None = None,
        show: Any = None,
    ) -> None:
        _arguments.check(rows, model, classes, show)
        self._rows, self._show = _data.admitted(rows, "rows"), show
        self._names = _arguments.names(self._rows)
        self._positions = {name: k for k, name in enumerate(self._names)}
        self._pipeline = clone(model) if isinstance(model, Pipeline) else Pipeline([("classifier", clone(model))])
        self._classes: list[Any] = []
        for one in classes:
            self._classes.append(self._checked(one, ()))
        self._journal = Journal(path, self._check)
        self._X = self._rows if len(self._pipeline) == 1 else self._pipeline[:-1].fit_transform(self._rows)
        if _data.holds_text(self._X):
            raise ValueError("rows hold texts, so model must be a pipeline that starts with a vectorizer")
        self._coordinates = _choose.coordinates(self._X)
        self._fitted: _Fitted | None = None

    def __repr__(self) -> str:
        return f"<Session: {len(self._names)} rows, {len(self._answers())} with answers, classes {self.classes}>"

    @property
    def classes(self) -> list[Any]:
        """The classes given in advance, then those of the answers in the order in which they first came."""
        appeared = [*self._classes, *(event["class"] for event in self._journal.events if "class" in event)]
        standing = {*self._classes, *self._known().values()}
        return [name for name in dict.fromkeys(appeared) if name in standing]

    @property
    def y(self) -> np.ndarray:
        """The labels, sets of classes where some are ruled out, and the marker of the model for other rows."""
        marker, known = self._marker(), self._known()
        y = np.full(len(self._names), None if marker is _NONE else marker, dtype=object)
        for row, answer in self._answers().items():
            left = set(known.values()) - set(answer.get("not", known.values()))
            if "class" in answer or len(left) > 1:  # of one class that is left it is not certain: there may be others
                y[self._positions[row]] = answer.get("class", left)
        return y

    def next(self, n: int = 10) -> list[Any]:
        """Choose rows to label, after a refit if there are new answers.

        Rows are clustered, and the most typical ones of the largest clusters without an answer are chosen. Called again
        without a new answer, it returns the same rows. The refit, whose predictions `status` compares with the answers,
        continues from the last fit if the model is of fewlabel and no class is new: that takes a quarter of the time.

        Parameters
        ----------
        n : int, default=10
            Number of rows.

        Returns
        -------
        rows : list
            Names of at most `n` rows without an answer. None is empty.
        """
        n = _numbers.check_count("n", n)
        self._continue()
        return self._choose(n)

    def _continue(self) -> None:
        """Refit if there are new answers."""
        if len(set(self._known().values())) > 1:
            self._refit(anew=False)

    def _choose(self, n: int) -> list[Any]:
        answered = np.zeros(len(self._names), dtype=bool)
        answered[[self._positions[row] for row in self._answers()]] = True
        return [self._names[k] for k in _choose.batch(self._coordinates, answered, n)]

    def label(self, row: Any, label: Any) -> None:
        """Answer with the class of a row.

        Parameters
        ----------
        row : name of a row
            A value of the index, or a position. A former answer for the row is replaced.
        label : label
            Its class, of the same type as the others.

        Raises
        ------
        ValueError
            If there is no such row, or the label is of another type, the marker of unlabeled rows or a number that is
            not whole or not below 2**63.
        """
        row, label = self._name(row), self._checked(label)
        event = {"row": row, "class": label}
        if self._fitted is not None and row not in self._fitted.known:
            event["predicted"] = self._fitted.predicted[self._positions[row]]
        self._journal.append(event)

    def rule_out(self, row: Any, label: Any) -> None:
        """Answer that a row does not have this class.

        A classifier for unlabeled rows then finds the class of the row among the others that have labels, if these are
        at least two. Each class can be ruled out by an answer of its own.

        Parameters
        ----------
        label : label
            The class: one that a row or `classes` has.

        Raises
        ------
        ValueError
            If no row and not `classes` has this class.
        """
        label = self._checked(label)
        if label not in self.classes:
            raise ValueError(f"label must be one of the classes {self.classes}, got {label!r}")
        self._journal.append({"row": self._name(row), "not": label})

    def skip(self, row: Any) -> None:
        """Leave a row out of the rows to label."""
        self._journal.append({"row": self._name(row), "skip": True})

    def undo(self) -> Any:
        """Withdraw the last answer that stands.

        Returns
        -------
        row : name of a row
            The row of the answer.

        Raises
        ------
        ValueError
            If there is no answer.
        """
        return self._journal.undo()

    def fit(self) -> Any:
        """Fit the model to the answers so far, from the start.

        Returns
        -------
        model : classifier or pipeline
            Fitted; the one of the last call if there is no new answer.

        Raises
        ------
        ValueError
            If fewer than two classes have a label.
        """
        if (n_classes := len(set(self._known().values()))) < 2:
            raise ValueError(f"a fit needs labels of two classes, there are {n_classes}")
        return self._refit(anew=True).model

    def status(self) -> _status.Status:
        """Summarize the session.

        Returns
        -------
        status : Status
            Classes and their counts, the accuracy on answers that the model had predicted before they were given, the
            change of the predictions in the last refit, and whether to stop, with the reason.
        """
        answers, known, fits = self._answers(), self._known(), self._journal.fits()
        changed = fits[-1]["changed"] if fits else None
        counts = Counter(known.values())
        return _status.Status(
            {name: counts[name] for name in self.classes},
            len(self._names),
            len(answers) - len(known),
            *_status.accuracy(answers.values()),
            float("nan") if changed is None else changed,
            *_status.hint(fits, counts),
            self._fitted.warnings if self._fitted else (),
        )

    def widget(self, n: int = 10) -> Any:
        """Show rows in a notebook, one after the other, with a button and a key for each class.

        Below the row stand the predicted class and the features that speak for it. A row that cannot be shown can only
        be skipped, and a fit that fails leaves the last model. Needs `pip install 'fewlabel[widget]'`.

        Parameters
        ----------
        n : int, default=10
            Number of answers between two fits.

        Returns
        -------
        widget : anywidget.AnyWidget
            A widget for the front ends of anywidget, tested in JupyterLab.

        Raises
        ------
        ImportError
            If anywidget is not installed.
        """
        from fewlabel.labeling._widget import LabelingWidget

        return LabelingWidget(self, _numbers.check_count("n", n))

    def _answers(self) -> dict[Any, Event]:
        """The last answer for each row that has one, in the order in which they came; "not" lists all classes."""
        answers: dict[Any, Event] = {}
        for event in self._journal.answers():
            before = answers.pop(event["row"], {})
            if "not" in event:
                event = {"row": event["row"], "not": [*before.get("not", []), event["not"]]}
            answers[event["row"]] = event
        return answers

    def _known(self) -> dict[Any, Any]:
        return {row: event["class"] for row, event in self._answers().items() if "class" in event}

    def _refit(self, anew: bool) -> _Fitted:
        """The last fit, or another one if there are new answers, or if it was continued and is wanted anew."""
        before = self._fitted
        if before is not None and before.answers == self._answers() and (before.anew or not anew):
            return before
        found = self._fit(None if anew else self._start())
        if before is None or before.answers != found.answers:
            self._record(before, found)
        self._fitted = found
        return found

    def _start(self) -> Any:
        """A copy of the last classifier, if it is of the same classes and can continue with all rows, or None."""
        fitted = self._fitted
        if fitted is None or not isinstance(self._pipeline[-1], LinearClassifier):
            return None
        same = {*fitted.known.values()} == {*self._known().values()}
        return deepcopy(_linear_model.last(fitted.model)).set_params(warm_start=True) if same else None

    def _fit(self, start: Any) -> _Fitted:
        X, y, known = self._X, self.y, self._known()
        labeled = [self._positions[row] for row in known]
        classifier = clone(self._pipeline[-1]) if start is None else start
        if self._marker() is _NONE:
            X, y = _safe_indexing(X, labeled), np.array([*known.values()])
        if self._finds_shares():
            ruled_out = sum("not" in answer for answer in self._answers().values())
            shares = _choose.class_prior(self._coordinates, labeled, [*known.values()], ruled_out)
            classifier.set_params(class_prior=shares)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            classifier.fit(X, y)
        model = classifier
        if len(self._pipeline) > 1:
            model = Pipeline([*self._pipeline.steps[:-1], (self._pipeline.steps[-1][0], classifier)])
        messages = tuple(dict.fromkeys(str(one.message) for one in caught))
        predicted = classifier.predict(self._X).tolist()
        return _Fitted(self._answers(), known, model, predicted, messages, start is None)

    def _finds_shares(self) -> bool:
        """Whether class shares are to be estimated; labels of a class tree may be groups, which have none."""
        given = self._pipeline[-1].get_params()
        prior = given.get("class_prior")
        return isinstance(prior, str) and prior == "auto" and given.get("hierarchy") is None

    def _record(self, before: _Fitted | None, now: _Fitted) -> None:
        """Keep how many predictions a fit changed, and the estimate at its time."""
        changed, fits = None, self._journal.fits()
        if before is not None:
            changed = float(np.mean([a != b for a, b in zip(before.predicted, now.predicted, strict=True)]))
        count, *estimate = _status.accuracy(self._answers().values())
        if changed is not None or not fits or fits[-1]["fit"] != len(now.known):  # not again after a restart
            self._journal.append({
                "fit": len(now.known), "changed": changed, "estimate": estimate if count else None
            })  # fmt: skip

    def _marker(self) -> Any:
        """What marks unlabeled rows for the classifier; _NONE if it takes labeled rows only."""
        unlabeled = getattr(self._pipeline[-1], "unlabeled", None)
        if unlabeled is None:
            return _NONE
        return None if isinstance(unlabeled, str) and unlabeled == "auto" else unlabeled

    def _name(self, row: Any) -> Any:
        """The name of a row as it stands in the file."""
        name = row.item() if isinstance(row, np.generic) else row
        if isinstance(name, bool) or not isinstance(name, Integral | str) or name not in self._positions:
            raise ValueError(f"there is no row {row!r}: rows are named by {self._names[0]!r} ... {self._names[-1]!r}")
        return name

    def _check(self, event: Event, standing: Iterable[Event]) -> None:
        """Raise a ValueError for a line of the file that is of other rows, or has classes of another type."""
        if "row" in event:
            self._name(event["row"])
        beside = next((each for each in standing if "class" in each), event)
        for name in {"class", "not", "predicted"} & event.keys():
            self._checked(event[name], [beside])

    def _checked(self, label: Any, standing: Iterable[Event] | None = None) -> Any:
        """A label as it stands in the file."""
        label = label.item() if isinstance(label, np.generic) else label
        if label is not None and not isinstance(label, str | bool | int | float):
            raise ValueError(f"a class must be a text, a number or a bool, got {label!r}")
        if label == "":
            raise ValueError("a class must not be an empty text")
        marker = getattr(self._pipeline[-1], "unlabeled", None)
        if label is None or _markers.marked(np.array([label], dtype=object), marker)[0].any():
            raise ValueError(f"{label!r} marks rows without a label, so it cannot be a class")
        if not isinstance(label, str) and not (abs(label) < 2**63 and label == int(label)):
            raise ValueError(f"a class that is a number must be whole and below 2**63, got {label!r}")
        answers = self._journal.standing() if standing is None else standing
        labels = (event["class"] for event in answers if "class" in event)
        beside = next(iter(self._classes or labels), label)
        if isinstance(beside, str) != isinstance(label, str):
            raise ValueError(f"classes must be all texts or all numbers, got several types: {beside!r} and {label!r}")
        return label
