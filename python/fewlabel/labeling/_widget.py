"""The widget of a session. widget.js draws `state`, and sends what was clicked or typed with its row and step."""

import base64
import contextlib
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from fewlabel._inputs import _markers
from fewlabel.inspection import _linear_model, explain
from fewlabel.labeling._answers import columns_of
from fewlabel.labeling._journal import Event

try:
    import anywidget
    import traitlets
except ImportError as reason:
    raise ImportError("the widget needs anywidget: pip install 'fewlabel[widget]'") from reason

_REASONS = 6  # features that are listed
_LONGEST = 50_000  # characters of a text
_LISTED, _START = 200, 60  # answers that are listed, characters of the text of each
_BOOLS = {"True": True, "False": False}


class LabelingWidget(anywidget.AnyWidget):
    """A row, what the model predicts and why, buttons, and the course of the session.

    An answer goes to the row and class that a message names, or nowhere. A new state that is not busy follows each.
    """

    _esm = Path(__file__).parent / "widget.js"
    _css = Path(__file__).parent / "widget.css"
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Any, n: int) -> None:
        super().__init__()
        self._session, self._rows, self._show, self._n = session, session._rows, session._show, n
        self._queue: list[Any] = []
        self._picture: dict[str, Any] = {}
        self._starts: dict[Any, str] = {}  # of the texts of rows
        self._publish(self._continue([]))
        self.on_msg(self._receive)

    def _receive(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """Act on a message, unless it is about a row or a state that is no longer shown."""
        shown, note = self.state, "interrupted"
        try:
            current = message["row"] == self._picture["row"] and message.get("step", shown["step"]) == shown["step"]
            note = self._act(message["do"], message.get("value")) if current else ""
        except Exception as reason:
            note = _message(reason)
        finally:
            self._publish(note)

    def _act(self, action: str, value: Any) -> str:
        """Record an answer and go on; what the user has to know."""
        session = self._session
        if action == "describe":
            session.describe(self._class(value[0]), value[1])
            return self._continue([])
        if action in ("undo", "show", "rename"):
            rows = self._queue
            if action == "rename":
                session.rename(self._class(value[0]), self._typed(value[1]))
            elif action == "show":
                listed = islice(reversed(session._read().rows), _LISTED)
                rows = [name for name in listed if _text(name) == value] + rows
            elif (row := session.undo()) is not None:
                rows = [row, *rows]
            self._go_to(rows)
            return ""
        if not self._queue:
            raise ValueError("there is no row to answer")
        if action != "skip" and self._picture["hidden"]:
            raise ValueError("a row that cannot be shown can only be skipped")
        row = self._queue[0]
        if action == "skip":
            session.skip(row)
        elif action == "not":
            session.rule_out(row, self._class(value))
        elif action == "label":
            session.label(row, self._class(value))
        elif action in ("new", "add"):
            label = self._typed(value)
            same = [name for group in _markers.alike({*session.classes, label}) if label in group for name in group]
            if same and action == "new" and label not in session.classes:
                self._picture["ask"] = [value, *(_text(name) for name in same if name != label)]
                return ""
            session.label(row, label)
        else:
            raise ValueError(f"there is no action {action!r}")
        return self._continue(self._queue[1:])

    def _continue(self, queue: list[Any]) -> str:
        """Go to the next row without an answer, which is of a new batch after the last one; what went wrong."""
        answers, note = self._session._read().rows, ""
        queue = [row for row in queue if row not in answers]
        if not queue:
            self.state = {**self.state, "busy": True}
            try:
                self._session._continue()
            except (Exception, KeyboardInterrupt) as reason:
                note = f"the answers are kept, but there is no new fit: {_message(reason)}"
            queue = self._session._choose(self._n)
        self._go_to(queue)
        return note

    def _go_to(self, queue: list[Any]) -> None:
        picture = self._of_row(queue[0]) if queue else {"row": None, "answer": None, "hidden": False}
        self._queue, self._picture = queue, picture | {"ask": None}

    def _class(self, name: Any) -> Any:
        """The class whose name is shown."""
        found = [known for known in self._session.classes if _text(known) == name]
        if len(found) != 1:
            raise ValueError(f"there is no class {name!r}")
        return found[0]

    def _typed(self, name: Any) -> Any:
        """The class whose name was typed, which may be new."""
        kinds = {type(known) for known in self._session.classes}
        if kinds <= {str}:
            return name
        with contextlib.suppress(ValueError):
            return self._class(name)
        try:
            return _BOOLS[name] if kinds == {bool} else (float if float in kinds else int)(name)
        except (KeyError, ValueError):
            kind = "True or False" if kinds == {bool} else "a number"
            raise ValueError(f"a class must be {kind}, as the others are, got {name!r}") from None

    def _publish(self, note: str) -> None:
        """Show the row, the course of the session and a message."""
        try:
            course = self._course()
        except BaseException as reason:
            course, note = {}, note or _message(reason)
        step = self.state.get("step", 0) + 1  # the front end sees a change only
        self.state = {**self.state, **self._picture, **course, "message": note, "busy": False, "step": step}

    def _course(self) -> dict[str, Any]:
        session, status, answers = self._session, self._session.status(), self._session._read()
        descriptions = [_text(answers.descriptions.get(name, "")) for name in status.classes]
        return {
            "answers": [self._listed(*each) for each in islice(reversed(answers.rows.items()), _LISTED)],
            "classes": [[_text(name), count] for name, count in status.classes.items()],
            "descriptions": descriptions if session._learner.of_texts else None,
            "labels": sum(status.classes.values()),
            "rows": status.n_rows,
            "left": len(self._queue),
            "status": _text(status).splitlines()[1:],
            "stop": status.stop,
            "history": [[fit["fit"], *fit["estimate"]] for fit in self._session._journal.fits if fit["estimate"]],
        }

    def _listed(self, name: Any, answer: Event) -> list[str]:
        """Row, answer and the start of the text, for the list of answers."""
        if name not in self._starts:
            self._starts[name] = (self._content(name)["text"] or "")[:_START]
        return [_text(name), _answer_text(answer), self._starts[name]]

    def _of_row(self, name: Any) -> dict[str, Any]:
        """What is shown of a row, what the model predicts and why."""
        answer = self._session._read().rows.get(name)
        about = {"row": _text(name), "answer": answer and _answer_text(answer)}
        return about | self._content(name) | self._prediction(name)

    def _content(self, name: Any) -> dict[str, Any]:
        try:
            row = _row(self._rows, self._session._positions[name])
            if self._show is None and columns_of(self._rows):
                row = "\n".join(f"{column}: {value}" for column, value in row.items())
            shown = self._show(row) if callable(self._show) else row if self._show is None else row[self._show]
            return _content(shown) | {"hidden": False}
        except Exception as reason:
            return {"text": f"this row cannot be shown: {_message(reason)}", "image": None, "hidden": True}

    def _prediction(self, name: Any) -> dict[str, Any]:
        fitted, k = self._session._fitted, self._session._positions[name]
        if fitted is None:
            return {"predicted": None, "reasons": []}
        try:
            rows = self._session._learner.rows
            row = _frame(rows, k) if columns_of(rows) else _row(rows, k)
            found = explain(fitted.model, row, n=_REASONS)
            words = _linear_model.without_steps(fitted.model, found.features[found.contributions > 0])
            reasons = [*dict.fromkeys(map(_text, words))]
        except Exception:  # a model without weights of features, for one
            reasons = []
        return {"predicted": _text(self._session._predicted(fitted, name)[0]), "reasons": reasons}


def _row(rows: Any, k: int) -> Any:
    """A row, for a function of the user: of pandas a series, of other data frames a dict of the columns."""
    if hasattr(rows, "iloc"):
        return rows.iloc[k]
    if names := columns_of(rows):
        return dict(zip(names, _markers.unpacked(_frame(rows, k))[0], strict=True))
    return rows[[k]] if sp.issparse(rows) else rows[k]


def _frame(rows: Any, k: int) -> Any:
    """A data frame of one row."""
    return rows.take([k]) if hasattr(rows, "to_pydict") else _safe_indexing(rows, [k])  # of Arrow, or of others


def _content(shown: Any) -> dict[str, Any]:
    if isinstance(shown, np.ndarray) and shown.ndim > 1:
        shown = _image(shown)
    if hasattr(shown, "_repr_png_"):
        return {"text": None, "image": base64.b64encode(shown._repr_png_()).decode()}
    text = _text(shown)
    cut = f" … cut after {_LONGEST:,} of {len(text):,} characters" if len(text) > _LONGEST else ""
    return {"text": text[:_LONGEST] + cut, "image": None}


def _answer_text(answer: Event) -> str:
    if "class" in answer:
        return _text(answer["class"])
    return _text("not " + ", ".join(map(str, answer["not"]))) if "not" in answer else "skipped"


def _text(value: Any) -> str:
    """As text that can be sent."""
    return _markers.text(value).encode("utf-8", "replace").decode()


def _message(reason: BaseException) -> str:
    try:
        text = str(reason)
    except Exception:
        text = "without a message"
    return _text(text if isinstance(reason, ValueError) and text else f"{type(reason).__name__}: {text}")


def _image(pixels: np.ndarray) -> Any:
    """An image of Pillow; values that are not bytes are scaled to the whole range."""
    from PIL import Image

    if pixels.dtype != np.uint8:
        low, high = np.min(pixels), np.max(pixels)
        pixels = (255 * (pixels - low) / ((high - low) or 1)).astype(np.uint8)
    return Image.fromarray(pixels)
