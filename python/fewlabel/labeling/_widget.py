"""The widget of a session. widget.js draws `state`, and sends what was clicked or typed together with its row."""

import base64
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from fewlabel.inspection import explain

try:
    import anywidget
    import traitlets
except ImportError as reason:
    raise ImportError("the widget needs anywidget: pip install 'fewlabel[widget]'") from reason

_REASONS = 6  # features that are listed


class LabelingWidget(anywidget.AnyWidget):
    """A row, what the model predicts and why, buttons, and the course of the session."""

    _esm = Path(__file__).parent / "widget.js"
    _css = Path(__file__).parent / "widget.css"
    state = traitlets.Dict().tag(sync=True)

    def __init__(self, session: Any, n: int) -> None:
        super().__init__()
        self._session, self._rows, self._show, self._n = session, session._rows, session._show, n
        self._queue = session.next(n)
        self.on_msg(self._receive)
        self._update()

    def _receive(self, _: Any, message: dict[str, Any], __: Any) -> None:
        """Act on a message, unless it is about a row that is no longer shown."""
        if message["row"] == self.state["row"]:
            try:
                self._act(message["do"], message.get("value"))
                self._update()
            except ValueError as reason:
                self.state = {**self.state, "message": str(reason)}

    def _act(self, action: str, value: Any) -> None:
        session = self._session
        if action == "undo":
            self._queue.insert(0, session.undo())
            return
        row = self._queue[0]
        if action == "skip":
            session.skip(row)
        elif action == "not":
            session.rule_out(row, session.classes[value])
        else:
            session.label(row, self._new(value) if action == "new" else session.classes[value])
        if not self._queue[1:]:
            self.state = {**self.state, "busy": True}
        self._queue = self._queue[1:] or session.next(self._n)

    def _new(self, text: str) -> Any:
        """A typed name, as a number where classes are numbers."""
        return type(self._session.classes[0])(text) if self._session.classes else text

    def _update(self) -> None:
        status = self._session.status()
        self.state = {
            "row": self._queue[0] if self._queue else None,
            "classes": [[str(name), count] for name, count in status.classes.items()],
            "labels": sum(status.classes.values()),
            "rows": status.n_rows,
            "left": len(self._queue),
            "status": str(status).splitlines()[1:],
            "stop": status.stop,
            "history": [
                [event["fit"], *event["estimate"]] for event in self._session._journal.fits() if event["estimate"]
            ],
            "busy": False,
            "message": "",
            **(self._of_row(self._queue[0]) if self._queue else {}),
        }

    def _of_row(self, name: Any) -> dict[str, Any]:
        """What is shown of a row, what the model predicts and why."""
        k = self._session._positions[name]
        row = _row(self._rows, k)
        shown = self._show(row) if callable(self._show) else row if self._show is None else row[self._show]
        return _content(shown) | self._prediction(k)

    def _prediction(self, k: int) -> dict[str, Any]:
        fitted = self._session._fitted
        if fitted is None:
            return {"predicted": None, "reasons": []}
        x = self._rows.iloc[[k]] if getattr(self._rows, "ndim", 1) == 2 and hasattr(self._rows, "iloc") else None
        x = _row(self._rows, k) if x is None else x
        try:
            found = explain(fitted.model, x, n=_REASONS)
        except TypeError:  # no weights of features
            return {"predicted": str(fitted.predicted[k]), "reasons": []}
        reasons = [str(name) for name, value in zip(found.features, found.contributions, strict=True) if value > 0]
        return {"predicted": str(found.label), "reasons": reasons}


def _row(rows: Any, k: int) -> Any:
    """A row, for a function of the user."""
    if hasattr(rows, "iloc"):
        return rows.iloc[k]
    return rows[[k]] if sp.issparse(rows) else rows[k]


def _content(shown: Any) -> dict[str, Any]:
    if isinstance(shown, np.ndarray) and shown.ndim > 1:
        shown = _image(shown)
    if hasattr(shown, "_repr_png_"):
        return {"text": None, "image": base64.b64encode(shown._repr_png_()).decode()}
    return {"text": str(shown), "image": None}


def _image(pixels: np.ndarray) -> Any:
    """An image of Pillow; values that are not bytes are scaled to the whole range."""
    from PIL import Image

    if pixels.dtype != np.uint8:
        low, high = np.min(pixels), np.max(pixels)
        pixels = (255 * (pixels - low) / ((high - low) or 1)).astype(np.uint8)
    return Image.fromarray(pixels)
