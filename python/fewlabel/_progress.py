"""What `verbose` shows of a running fit."""

import contextlib
from collections.abc import Callable, Iterator

from fewlabel._signatures import Progress


@contextlib.contextmanager
def shown(title: str, verbose: int) -> Iterator[Callable[[Progress], None] | None]:
    """A function to call with the progress from time to time, or None where nothing is to be shown."""
    if not verbose:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield _printer(title)
        return
    with tqdm(desc=title, unit=" steps") as bar:

        def update(progress: Progress) -> None:
            if progress.step != bar.n:
                bar.set_postfix_str(_state(progress), refresh=False)
                bar.update(progress.step - bar.n)

        yield update


def _printer(title: str) -> Callable[[Progress], None]:
    last = 0

    def update(progress: Progress) -> None:
        nonlocal last
        if progress.step != last:
            last = progress.step
            print(f"[{title}] step {last}: {_state(progress)}", flush=True)

    return update


def _state(progress: Progress) -> str:
    return f"objective {progress.objective:.6g}, level {progress.level:.4g}, {progress.n_switched} labels changed"
