"""Results with columns: as a data frame, and as a table in notebooks."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from fewlabel._estimator import kind

Columns = dict[str, list[Any]]


class Table(ABC):
    @abstractmethod
    def _columns(self) -> Columns: ...

    def __repr__(self) -> str:
        return text(self._columns())

    def to_frame(self) -> Any:
        """The table as a pandas.DataFrame."""
        import pandas

        return pandas.DataFrame(self._columns())

    def _repr_html_(self) -> str:
        return html(self._columns())


def axes_of(given: Any, n: int, name: str = "ax") -> np.ndarray:
    """The Axes (n,) to draw on, which are named where they are something else."""
    axes, wanted = np.ravel(np.asarray(given, dtype=object)), f"{n} matplotlib Axes" if n > 1 else "matplotlib Axes"
    if len(axes) != n:
        raise ValueError(f"{name} must be {wanted}, got {len(axes)}")
    if others := [each for each in axes if isinstance(each, type) or not hasattr(each, "figure")]:
        raise TypeError(f"{name} must be {wanted}, got {kind(others[0])}")
    return axes


def html(columns: Columns) -> str:
    rows = [_row("th", columns), *(_row("td", row) for row in zip(*columns.values(), strict=True))]
    return f"<table>{''.join(rows)}</table>"


def text(columns: Columns) -> str:
    cells = [[name, *map(_cell, values)] for name, values in columns.items()]
    padded = ([cell.ljust(max(map(len, column))) for cell in column] for column in cells)
    return "\n".join("  ".join(row).rstrip() for row in zip(*padded, strict=True))


def _row(tag: str, values: Iterable[Any]) -> str:
    """A row of cells, each in the direction of its script."""
    return f"<tr>{''.join(f'<{tag} dir=auto>{escape(_cell(value))}</{tag}>' for value in values)}</tr>"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
