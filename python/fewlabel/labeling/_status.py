"""How good the model of a session is by now, and whether more labels are worth it.

Estimate  Every answer is compared with the prediction made before it was given. The share of correct predictions among
          the last WINDOW of them estimates the accuracy of the models since then. The rows are typical ones of clusters
          without an answer. The interval is Wilson's (1927).
Stop      The refits to the last LABELS labels changed at most STABLE of the predictions, added up (Bloodgood and
          Vijay-Shanker, CoNLL 2009, stop when predictions are stable too), and at most RARE of the labels are the only
          one of their class: that share estimates how many rows have a class without any label (Good, Biometrika 1953),
          and rare classes change few predictions. Measured in docs/notes/labels-next.md.
"""

from collections.abc import Reversible
from html import escape
from itertools import islice
from typing import Any, NamedTuple

from scipy.stats import binomtest

from fewlabel.inspection import _table
from fewlabel.labeling._journal import Event

WINDOW = 50  # answers
CONFIDENCE = 0.9
LABELS = 30
STABLE = 0.1
RARE = 0.01


class Status(NamedTuple):
    """State of a session."""

    classes: dict[Any, int]  #: number of labels of each class
    n_rows: int  #: number of rows, labeled or not
    n_skipped: int  #: rows that were skipped or have only classes that they are not
    n_held_out: int  #: answers that `accuracy` is based on, at most the last 50
    accuracy: float  #: share of them that had been predicted; NaN without any
    lower: float  #: of a 90 % confidence interval of `accuracy`
    upper: float  #: its other end
    changed: float  #: share of the predictions that the last refit changed; NaN before the second fit
    stop: bool  #: whether more labels are unlikely to change much
    reason: str  #: why
    #: answers to rows drawn at random, the share of them that descriptions alone predict, its interval; None without
    descriptions: tuple[int, float, float, float] | None
    warnings: tuple[str, ...]  #: of the last fit, and of classes whose names differ in case, spaces or hyphens alone

    def __str__(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in self.classes.items())
        estimate = f"{self.accuracy:.0%} ({self.lower:.0%} to {self.upper:.0%}) of the last {self.n_held_out} answers"
        parts = [counts] * bool(counts) + [f"{self.n_skipped} skipped"]
        lines = [f"{sum(self.classes.values())} labels of {self.n_rows} rows: {', '.join(parts)}"]
        alone = "predicted by descriptions alone: {1:.0%} ({2:.0%} to {3:.0%}) of {0} rows drawn at random"
        lines += [alone.format(*self.descriptions)] if self.descriptions else []
        lines += [f"predicted before the answer: {estimate}"] if self.n_held_out else []
        return "\n".join([*lines, self.reason, *self.warnings])

    def _repr_html_(self) -> str:
        head = "<br>".join(escape(line) for line in str(self).splitlines()[1:])
        return _table.html({"class": [*self.classes], "labels": [*self.classes.values()]}) + f"<p dir=auto>{head}</p>"


def accuracy(answers: Reversible[Event]) -> tuple[int, float, float, float]:
    """Number of held-out answers, the share that was predicted, and the ends of its interval."""
    held_out = [*islice((one["predicted"] == one["class"] for one in reversed(answers) if "predicted" in one), WINDOW)]
    if not held_out:
        return 0, float("nan"), 0.0, 1.0
    found = binomtest(sum(held_out), len(held_out))
    interval = found.proportion_ci(CONFIDENCE, "wilson")
    return len(held_out), float(found.statistic), float(interval.low), float(interval.high)


def hint(fits: list[Event], classes: dict[Any, int], n_learned: int) -> tuple[bool, str]:
    """Whether to stop, and why. `classes` are the numbers of labels; n_learned: of classes of a fit."""
    if not fits:
        needed = "a fit needs labels of two classes" if n_learned < 2 else "the next rows come with the first one"
        return False, f"go on: there is no model yet, {needed}"
    since = max([event["fit"] for event in fits if event["changed"] is None] or [fits[0]["fit"]])
    if (missing := LABELS - (fits[-1]["fit"] - since)) > 0:
        return False, f"go on: about {missing} more answers until I can say whether to stop"
    late = [event["changed"] for event in fits if event["fit"] > fits[-1]["fit"] - LABELS]
    found = f"the last {LABELS} labels changed {sum(late):.1%} of the predictions"
    if sum(late) > STABLE:
        return False, f"go on: {found}"
    single = [str(name) for name, count in classes.items() if count == 1]
    if len(single) > RARE * sum(classes.values()):
        return False, f"go on: there is one label only of {', '.join(single)}"
    return True, f"stop: {found}"
