"""What the plots share: colors and axes."""

from typing import Any

import numpy as np

# Blue and vermilion of Okabe and Ito, distinguishable with any color vision; line and marker differ as well.
BLUE, ORANGE, GRAY = "#0072B2", "#D55E00", "0.45"


def need_matplotlib(caller: str) -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError as reason:
        raise ImportError(f"{caller} needs matplotlib: pip install 'fewlabel[plot]', or matplotlib alone") from reason


def panels(ax: Any, n: int) -> np.ndarray:
    """Axes (n,) from top to bottom: new or given ones."""
    from matplotlib import pyplot as plt

    if ax is None:
        return plt.subplots(n, figsize=(6, 1.9 * n), sharex=True, layout="constrained")[1]
    given = np.ravel(np.asarray(ax, dtype=object))
    if len(given) != n:
        raise ValueError(f"ax must be {n} matplotlib Axes, got {len(given)}")
    return given


def whole(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins="auto", min_n_ticks=1))
