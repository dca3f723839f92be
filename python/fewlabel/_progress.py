"""What a running fit tells: a progress bar where `verbose` asks for one, and scikit-learn's callbacks."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from sklearn.utils import _safe_indexing

from fewlabel._inputs._labels import Given
from fewlabel._native._signatures import STOP, Progress

Watch = Callable[[Progress], None]


@contextlib.contextmanager
def shown(title: str, verbose: int, method: str) -> Iterator[Watch]:
    """A function that shows the progress of a method it is called with, if `verbose` is above 0.

    In a bar where tqdm is installed (on stderr, in a notebook as a widget), otherwise in lines on stdout.
    """
    names = {
        "annealing": "temperature",
        "stochastic": "",
        "lbfgs": "",
        "structure": "",
    }  # as in the columns of `history_`
    level = names.get(method, "unlabeled weight")
    if not verbose:
        yield lambda progress: None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _printer(title, level)
        return
    with tqdm(desc=title, unit=" steps") as bar:

        def update(progress: Progress) -> None:
            if progress.step != bar.n:
                bar.set_postfix_str(_state(progress, level), refresh=False)
                bar.update(progress.step - bar.n)

        yield update
        bar.refresh()  # tqdm skips what comes soon after the last; the end should be seen


@contextlib.contextmanager
def stage(title: str, name: str, verbose: int) -> Iterator[None]:
    """Show that a part of a fit is going on that has no steps, if `verbose` is above 0."""
    if not verbose:
        yield
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        print(f"[{title}] {name}", flush=True)
        yield
        return
    with tqdm(desc=f"{title}: {name}", total=1) as bar:
        yield
        bar.update()


class FitTask:
    """A fit as scikit-learn's callbacks see it: a task "fit" with an unknown number of tasks "step".

    Hooks get the labeled rows as X and y: markers would be scored as a class. A step has no `fitted_estimator`, as the
    library keeps the weights until the end; at the end of the fit there is one. If the end of a step answers True, the
    fit stops.
    """

    def __init__(self, estimator: Any, X: Any, given: Given, sample_weight: Any) -> None:
        self._estimator = estimator
        self._told = 0
        self._context = None
        if not hasattr(estimator, "_init_callback_context"):  # scikit-learn before 1.9
            return
        labeled = given.labeled.nonzero()[0]
        self._given = {"estimator": estimator, "X": lambda: _safe_indexing(X, labeled), "y": given.values}
        if sample_weight is not None:
            self._given["metadata"] = {"sample_weight": sample_weight[labeled]}
        self._context = estimator._init_callback_context(max_subtasks=None)
        self._context.call_on_fit_task_begin(**self._given)

    def tell(self, progress: Progress) -> None:
        """Tell of the steps since the last time, each one, though they may have been done in one go."""
        if self._context is None or not hasattr(self._estimator, "_skl_callbacks"):
            return
        for _ in range(self._told, progress.step):
            step = self._context.subcontext(task_name="step")
            step.call_on_fit_task_begin(estimator=self._estimator)
            if step.call_on_fit_task_end(estimator=self._estimator):
                progress.cancel = STOP
            self._told += 1

    def end(self) -> None:
        """Tell that the estimator is fitted."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._given, reconstruction_attributes=dict)


def _printer(title: str, level: str) -> Watch:
    last = 0

    def update(progress: Progress) -> None:
        nonlocal last
        if progress.step != last:
            last = progress.step
            print(f"[{title}] step {last}: {_state(progress, level)}", flush=True)

    return update


def _state(progress: Progress, level: str) -> str:
    if not level:
        return f"objective {progress.objective:.6g}"
    return f"objective {progress.objective:.6g}, {level} {progress.level:.4g}, {progress.n_switched} labels changed"
