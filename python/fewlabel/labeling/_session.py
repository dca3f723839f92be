"""A labeling session: which rows to label next, the answers, and how good the model is by now."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from fewlabel._inputs import _data, _markers, _numbers
from fewlabel.inspection import _linear_model
from fewlabel.labeling import _choose, _status
from fewlabel.labeling._answers import Answers, Reader, check, checked_label, names_of, renamed
from fewlabel.labeling._journal import CLASSES, Event, Journal
from fewlabel.labeling._learner import Fitted, Learner, labels

FIRST = 30  # answers before rows are drawn at random
DRAWN = 30  # rows


class Session:
    """A loop of labeling: rows that are worth a label, answers, refits, and a hint when to stop.

    A class may be new at any time. With `path` every answer is on the disk before the call returns, and a session that
    is made again with the same path continues after the last answer.

    Parameters
    ----------
    rows : data frame, series, list, array or sparse matrix of n_rows rows
        Input of the model. Rows are named by the index of a data frame, unique integers or texts, else by position.
    model : classifier, or pipeline that ends in one
        Not fitted. The steps before the last are fitted once, to all rows and without labels. One with
        class_prior="auto" and no `hierarchy` gets a dict of shares between batches, and if drawn rows contradict it.
    classes : iterable of label, default=()
        Classes that are known in advance, in the order of their buttons in the widget.
    descriptions : dict from class to text or row, default=None
        Of classes, as for `labels.with_descriptions`: every fit learns from them. With two or more, a fit needs no
        answer, and the first rows to label are drawn at random; with one they are typical. The file keeps texts, and
        of vectors the classes. A text that differs from that of the last call is an edit. The classes follow `classes`.
    path : path-like or None, default=None
        File of the answers, JSON lines, of one session at a time. None: in memory only.
    show : str, callable or None, default=None
        What the widget shows of a row: a column of a data frame, or what a function of the row (of a frame of Polars or
        Arrow, a dict) returns: a text, an array of pixels, or what notebooks show as a PNG image. None: all as text.

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
    """

    def __init__(
        self,
        rows: Any,
        model: Any,
        *,
        classes: Iterable[Any] = (),
        descriptions: Mapping[Any, Any] | None = None,
        path: str | os.PathLike[str] | None = None,
        show: Any = None,
    ) -> None:
        check(rows, model, classes, descriptions, path, show)
        self._rows, self._show = _data.admitted(rows, "rows"), show
        self._names = names_of(self._rows)
        self._positions = {name: k for k, name in enumerate(self._names)}
        self._learner = Learner(model, self._rows, descriptions or {})
        self._given: list[Any] = []
        self._valid = set[tuple[Any, ...]]()  # classes that were found to be so, with types
        for one in [*classes, *(descriptions or ())]:
            self._given.append(self._checked(one, None))
        self._journal = Journal(path, self._check)
        self._give(descriptions or {})
        self._reader = Reader(self._given, self._journal)
        self._fitted: Fitted | None = None
        self._by_descriptions: Fitted | None = None

    def __repr__(self) -> str:
        return f"<Session: {len(self._names)} rows, {len(self._read().rows)} with answers, classes {self.classes}>"

    @property
    def classes(self) -> list[Any]:
        """The classes given in advance, then those of the answers in the order in which they first came, as renamed."""
        return self._read().classes

    @property
    def y(self) -> np.ndarray:
        """The labels, sets of classes where some are ruled out, and the marker of the model for other rows."""
        return labels(self._read(), self._positions, self._learner.marker)

    def next(self, n: int = 10) -> list[Any]:
        """Choose rows to label, after a refit if there are new answers: a list of their names.

        Typical ones of clusters without an answer, and after 30 answers, with descriptions at first, 30 rows drawn at
        random. A model of fewlabel is refitted to 2,000 rows and those with answers.

        Parameters
        ----------
        n : int, default=10, most rows; none of them has an answer, and empty ones come last
        """
        n = _numbers.check_count("n", n)
        self._continue()
        return self._choose(n)

    def _continue(self) -> None:
        """Refit if there are new answers, and draw rows at random if it is time to."""
        if len(self._read().learned) > 1:
            self._draw(self._refit(whole=False))

    def _choose(self, n: int) -> list[Any]:
        """Rows that were drawn and have no answer, then typical ones."""
        answers, Z = self._read().rows, self._learner.coordinates
        waiting = [row for row in self._read().drawn if row not in answers][:n]
        more = _choose.batch(Z, self._mask([*answers, *waiting]), n - len(waiting)) if n > len(waiting) else []
        return waiting + [self._names[k] for k in more]

    def label(self, row: Any, label: Any) -> None:
        """Answer with the class of a row.

        Parameters
        ----------
        row : name of a row: a value of the index, or a position
        label : a text or a whole number, as the other classes are, and not the marker of unlabeled rows
        """
        row, label = self._name(row), self._checked(label, self._journal.last_class())
        event = {"row": row, "class": label}
        if self._fitted is not None and "class" not in self._fitted.answers.rows.get(row, ()):
            event["predicted"] = self._predicted(self._fitted, row)[0]
        self._journal.append(event)

    def rule_out(self, row: Any, label: Any) -> None:
        """Answer that a row does not have this class, but one of the others with labels, if these are two or more.

        Parameters
        ----------
        row : name of a row
        label : one of `classes`
        """
        self._journal.append({"row": self._name(row), "not": self._class(label)})

    def skip(self, row: Any) -> None:
        """Leave a row out of the rows to label.

        Parameters
        ----------
        row : name of a row
        """
        self._journal.append({"row": self._name(row), "skip": True})

    def rename(self, label: Any, new: Any) -> None:
        """Rename a class, or merge it with another one: all its answers so far become answers with the new name.

        Parameters
        ----------
        label : one of `classes`
        new : its new name; if that is a class already, the two are one from now on
        """
        label, new = self._class(label), self._checked(new, self._journal.last_class())
        if label != new:
            self._journal.append({"rename": label, "to": new})

    def describe(self, label: Any, text: str) -> None:
        """Describe a class by another text, where rows are texts; the next fit learns from it.

        Parameters
        ----------
        label : a class, which may be new
        text : str, its description from now on
        """
        if not self._learner.of_texts:
            raise ValueError("descriptions of rows that are no texts cannot be edited: make a new session with others")
        label = self._checked(label, self._journal.last_class())
        self._learner.description_rows({label: text})
        self._journal.append({"describe": label, "text": text})

    def undo(self) -> Any:
        """Withdraw the last answer, renaming or edit that stands; the row of the answer, None for the others."""
        return self._journal.undo()

    def to_frame(self) -> Any:
        """A pandas.DataFrame with a row for each row of the session, under its name, or with their index.

        `label` is its class, `ruled_out` a list, `predicted` the class in the last fit, or None; `skipped` is a bool.
        """
        import pandas as pd

        answers = self._read().rows
        table = [answers.get(name, {}) for name in self._names]
        columns = {
            "label": [answer.get("class") for answer in table],
            "ruled_out": [answer.get("not") for answer in table],
            "skipped": ["skip" in answer for answer in table],
            "predicted": self._predicted(self._fitted) if self._fitted else None,
        }
        index = self._rows.index.copy() if hasattr(self._rows, "iloc") else self._names
        return pd.DataFrame(columns, index=index, dtype=object).astype({"skipped": bool})

    def fit(self) -> Any:
        """The model, fitted to the answers so far from the start; the same as before if there is no new answer."""
        if (n_classes := len(self._read().learned)) < 2:
            raise ValueError(f"a fit needs labels or descriptions of two classes, there are {n_classes}")
        return self._refit(whole=True).model

    def status(self) -> _status.Status:
        """A `Status`: counts of the classes, an estimate of the accuracy, whether to stop, and why."""
        answers, fits = self._read(), self._journal.fits
        changed = float("nan") if not fits or fits[-1]["changed"] is None else fits[-1]["changed"]
        counts, n = answers.counts, len(self._names)
        labeled, n_skipped = {name: counts[name] for name in answers.classes}, len(answers.rows) - counts.total()
        alike = _markers.alike(answers.classes)
        named = (f"{_markers.almost_the_same(names)}: `rename` merges them" for names in alike)
        warned = (*named, *(self._fitted.warnings if self._fitted else ()))
        estimate, hint = _status.accuracy(answers.rows.values()), _status.hint(fits, counts, len(answers.learned))
        return _status.Status(labeled, n, n_skipped, *estimate, changed, *hint, self._alone(), warned)

    def _alone(self) -> tuple[int, float, float, float] | None:
        """How good a fit to descriptions alone is, by the answers to rows drawn at random."""
        answers = self._read()
        if len(answers.descriptions) < 2:
            return None
        found = [answers.rows[row] | {"row": row} for row in answers.drawn if "class" in answers.rows.get(row, ())]
        if not found:
            return None
        predicted = self._predicted(self._without_answers(), *(one["row"] for one in found))
        pairs = zip(predicted, found, strict=True)
        return _status.accuracy([{"predicted": name, "class": one["class"]} for name, one in pairs])

    def widget(self, n: int = 10) -> Any:
        """Show rows in a notebook, one after the other, with a button and a key for each class: an `AnyWidget`.

        Below the row stand the predicted class and its features. Needs `pip install 'fewlabel[widget]'`.

        Parameters
        ----------
        n : int, default=10, number of answers between two fits
        """
        from fewlabel.labeling._widget import LabelingWidget

        return LabelingWidget(self, _numbers.check_count("n", n))

    def _read(self) -> Answers:
        """The answers so far, as they are until the next one."""
        return self._reader.answers()

    def _refit(self, whole: bool) -> Fitted:
        """The last fit, or another one if there are new answers, or if one to all rows is wanted."""
        before, answers = self._fitted, self._read()
        same = before is not None and before.answers[:2] == answers[:2]
        if before is not None and same and (before.whole or not whole):
            return before
        found = self._fit(answers, whole, before) if answers.rows or whole else self._without_answers()
        if not same:
            self._record(found)
        self._fitted = found
        return found

    def _without_answers(self) -> Fitted:
        """The fit to the present descriptions alone."""
        before, answers = self._by_descriptions, self._read()._replace(rows={}, counts=Counter())
        if before is None or before.answers[:2] != answers[:2]:
            self._by_descriptions = before = self._fit(answers, False, None)
        return before

    def _fit(self, answers: Answers, whole: bool, before: Fitted | None) -> Fitted:
        """A fit of the answers; class shares that the model would estimate are corrected by rows drawn at random."""
        found = None
        known, ruled_out = answers.known, sum("not" in answer for answer in answers.rows.values())

        def fit(shares: Any) -> Fitted:
            if isinstance(shares, dict) and ruled_out > min(shares.values()) * (len(self._names) - len(known)):
                shares = "auto"  # they may contradict what is ruled out
            return self._learner.fit(answers, self._positions, shares, before, whole)

        if not self._learner.finds_shares:
            return fit(None)
        if whole or answers.descriptions:  # no row is nearest to a class without a label
            found = fit("auto")
            last = _linear_model.last(found.model)
            guess = dict(zip(last.classes_.tolist(), last.class_prior_.tolist(), strict=True))
        else:
            labeled = [self._positions[row] for row in known]
            guess = _choose.guessed(self._learner.coordinates, labeled, [*known.values()])
        whole_draw = all(row in answers.rows for row in answers.drawn)  # its first answers are no sample of all rows
        shares = _choose.corrected(guess, Counter(known[row] for row in answers.drawn if whole_draw and row in known))
        return fit(shares) if found is None or shares != guess else found

    def _draw(self, fitted: Fitted) -> None:
        """Draw rows at random if it is time to: what they are tells the class shares."""
        answers = self._read()
        free = ~self._mask(answers.rows) & self._learner.coordinates.any(axis=1)
        due = answers.descriptions or (self._learner.finds_shares and len(answers.rows) >= FIRST)
        if due and not answers.drawn and free.any():
            rows = _choose.drawn(self._predicted(fitted), free, DRAWN, len(answers.rows))
            self._journal.append({"draw": [self._names[k] for k in rows]})

    def _mask(self, rows: Iterable[Any]) -> np.ndarray:
        """Which rows these are (n_rows,)."""
        return np.isin(np.arange(len(self._names)), [self._positions[row] for row in rows])

    def _record(self, now: Fitted) -> None:
        """Keep how many predictions a fit changed, and the estimate at its time."""
        changed, fits, n_labels = None, self._journal.fits, len(now.answers.known)
        if self._fitted is not None:
            before = self._predicted(self._fitted)
            changed = float(np.mean([a != b for a, b in zip(before, now.predicted, strict=True)]))
        count, *estimate = _status.accuracy(self._read().rows.values())
        if changed is not None or not fits or fits[-1]["fit"] != n_labels:  # not again after a restart
            self._journal.append({"fit": n_labels, "changed": changed, "estimate": estimate if count else None})

    def _predicted(self, fitted: Fitted, *rows: Any) -> list[Any]:
        """The class of these rows, or of each, in a fit, under its present name."""
        before = {id(event) for event in fitted.answers.renames}
        found = [fitted.predicted[self._positions[row]] for row in rows] if rows else fitted.predicted
        return renamed(found, [event for event in self._read().renames if id(event) not in before])

    def _name(self, row: Any) -> Any:
        """The name of a row as it stands in the file."""
        name = _markers.plain(row)
        if isinstance(name, bool) or not isinstance(name, Integral | str) or name not in self._positions:
            raise ValueError(f"there is no row {row!r}: rows are named by {self._names[0]!r} ... {self._names[-1]!r}")
        return name

    def _check(self, event: Event, last_class: Callable[[], Any]) -> None:
        """Raise a ValueError for a line of the file that is of other rows, or has classes of another type than last."""
        for row in event.get("draw", [event["row"]] if "row" in event else []):
            if row not in self._positions:
                self._name(row)
        for name in CLASSES & event.keys():
            last = event.get("class", event.get("describe")) if (last := last_class()) is None else last
            label, beside = event[name], next(iter(self._given), last)
            if (checked := (type(label), type(beside), label)) not in self._valid:
                self._checked(label, last)
                self._valid.add(checked)
        if {"given", "describe"} & event.keys() and ("text" in event) != self._learner.of_texts:
            raise ValueError("a description must be a text where the rows are texts, and only there")
        if "given" in event and event["given"] not in self._given:
            self._given.append(event["given"])

    def _give(self, descriptions: Mapping[Any, Any]) -> None:
        """Keep the descriptions of a call that are new, or others than those of the last call."""
        last = {event["given"]: event for event in self._journal.events if "given" in event}
        given = {self._checked(label, self._journal.last_class()): text for label, text in descriptions.items()}
        missing = [name for name in last if name not in given]
        if missing and (given or not self._learner.of_texts):
            known = f"{self._journal.path} has one of {missing[0]!r}"
            raise ValueError(f"descriptions must have the classes of the calls before, or more: {known}")
        for name, text in given.items():
            event = {"given": name} | ({"text": text} if self._learner.of_texts else {})
            if last.get(name) != event:
                self._journal.append(event)

    def _checked(self, label: Any, last: Any) -> Any:
        """A label as it stands in the file, where `last` was the last class."""
        marker = getattr(self._learner.pipeline[-1], "unlabeled", None)
        return checked_label(label, marker, next(iter(self._given), last))

    def _class(self, label: Any) -> Any:
        if (label := self._checked(label, self._journal.last_class())) not in self.classes:
            raise ValueError(f"label must be one of the classes {self.classes}, got {label!r}")
        return label
