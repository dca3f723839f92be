"""Results with columns: as a data frame, and as a table in notebooks."""

from html import escape
from typing import Any

Columns = dict[str, list[Any]]


def frame(columns: Columns) -> Any:
    """A pandas.DataFrame."""
    import pandas

    return pandas.DataFrame(columns)


def html(columns: Columns) -> str:
    """A table for notebooks."""
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    rows = ("".join(f"<td>{_cell(value)}</td>" for value in row) for row in zip(*columns.values(), strict=True))
    return f"<table><tr>{head}</tr>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else escape(str(value))
