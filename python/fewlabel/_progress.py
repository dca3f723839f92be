"""Progress of running fits: a bar if `verbose` is above 0, and scikit-learn's callbacks."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.utils import _safe_indexing

from fewlabel._inputs import _numbers
from fewlabel._inputs._targets import Targets
from fewlabel._native._signatures import STOP, Progress

Watch = Callable[[Progress], None]

# Name of the level of a method, as in `history_`; sequences, structure and columns have none.
_LEVELS = {"auto": "temperature", "annealing": "temperature"} | dict.fromkeys(("sequences", "structure", "columns"), "")

PATIENCE = 2.0  # seconds without a bar, where several fits have one


class _Lines:
    """In place of a bar of tqdm."""

    def __init__(self, desc: str, unit: str, total: int | None = None, delay: float = 0) -> None:
        self.desc, self.unit, self.of = desc, unit, f" of {total}" if total else ""
        self.n, self.state, self.begin = 0, "", time.monotonic() + delay

    def set_postfix_str(self, state: str, refresh: bool) -> None:
        self.state = f": {state}"

    def update(self, n: int = 1) -> None:
        self.n += n
        if time.monotonic() >= self.begin:
            print(f"[{self.desc}] {self.unit.strip().removesuffix('s')} {self.n}{self.of}{self.state}", flush=True)

    def refresh(self) -> None: ...

    def close(self) -> None: ...


def _bar(**settings: Any) -> "contextlib.closing[Any]":
    """A bar of tqdm (on stderr, in a notebook as a widget); without it, lines are printed on stdout."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        tqdm = _Lines
    return contextlib.closing(tqdm(**settings))


@contextlib.contextmanager
def shown(title: str, verbose: int, method: str) -> Iterator[Watch]:
    """A function that shows the progress of a fit, if `verbose` is above 0."""
    level = _LEVELS.get(method, "unlabeled weight")
    if not _numbers.check_flag("verbose", verbose):
        yield lambda progress: None
        return
    with _bar(desc=title, unit=" steps") as bar:

        def update(progress: Progress) -> None:
            if progress.step != bar.n:
                state = f"objective {progress.objective:.6g}"
                if level:
                    state += f", {level} {progress.level:.4g}, {progress.n_switched} labels changed"
                bar.set_postfix_str(state, refresh=False)
                bar.update(progress.step - bar.n)

        yield update
        bar.refresh()  # tqdm skips what comes soon after the last; the end should be seen


def tell(model: Any) -> None:
    """Print which models a fit has trained, and what their weights are, if `verbose` is above 0."""
    for stage in model._trained if model.verbose else ():
        models = f"{stage['n_models']} model{'s' if stage['n_models'] > 1 else ''}"
        print(f"[{type(model).__name__}] {stage['stage']}: {models}, {stage['n_passes']:.0f} passes", flush=True)
    for weight, carried in model._weights if model.verbose else ():
        if weight or 0 < carried < 1:
            what = f"supervised and mixture have the weight {weight:.2g}"
            print(f"[{type(model).__name__}] {what}, the rows carry {carried:.0%} of the class shares", flush=True)


@contextlib.contextmanager
def several(title: str, verbose: int, total: int) -> Iterator[Callable[[], Any]]:
    """A function to call after each of `total` fits: one bar for all, shown if they take longer than `PATIENCE`."""
    if not _numbers.check_flag("verbose", verbose):
        yield lambda: None
        return
    with _bar(desc=title, total=total, unit=" fits", delay=PATIENCE) as bar:
        yield bar.update


class FitTask:
    """A fit for scikit-learn's callbacks: a task "fit" with an unknown number of subtasks "step".

    Hooks get the labeled rows as X and y, because markers would be scored as a class. A step has no `fitted_estimator`.
    """

    def __init__(self, estimator: Any, X: Any, targets: Targets) -> None:
        self._estimator, self._context, self._reported = estimator, None, 0
        if not hasattr(estimator, "_init_callback_context"):  # scikit-learn before 1.9
            return
        labeled = targets.labeled.nonzero()[0]
        self._given = {"estimator": estimator, "X": lambda: _safe_indexing(X, labeled), "y": targets.values}
        if targets.weights is not None:
            self._given["metadata"] = {"sample_weight": targets.weights[labeled]}
        self._context = estimator._init_callback_context(max_subtasks=None)
        self._context.call_on_fit_task_begin(**self._given)

    def report(self, progress: Progress) -> None:
        """Report every step since the last call, even if several were done in between."""
        if self._context is None or not hasattr(self._estimator, "_skl_callbacks"):
            return
        for _ in range(self._reported, progress.step):
            step = self._context.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self._estimator)
            if step.call_on_fit_task_end(estimator=self._estimator):
                progress.cancel = STOP
            self._reported += 1

    def end(self) -> None:
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._given, reconstruction_attributes=dict)
