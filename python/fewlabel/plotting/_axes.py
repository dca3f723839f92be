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
    """Axes (n,) from top to bottom: new Axes, Axes in place of a single one, or the given Axes."""
    from matplotlib import pyplot as plt
    from matplotlib.axes import Axes
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    if ax is None:
        return plt.subplots(n, figsize=(6, 1.9 * n), sharex=True, layout="constrained")[1]
    if not isinstance(ax, Axes):
        given = np.asarray(ax, dtype=object).ravel()
        if len(given) != n:
            raise ValueError(f"ax must be one matplotlib Axes or {n} of them, got {len(given)}")
        return given
    ax.set_axis_off()
    place: Any = ax.get_subplotspec()
    if place is None:
        raise ValueError("ax has no place in a grid that could be divided: give Axes of plt.subplots, or several Axes")
    places = GridSpecFromSubplotSpec(n, 1, subplot_spec=place)
    top = ax.figure.add_subplot(places[0])
    panels = [top, *(ax.figure.add_subplot(places[k], sharex=top) for k in range(1, n))]
    for panel in panels[:-1]:
        panel.tick_params(labelbottom=False)  # as plt.subplots with sharex
    return np.array(panels)


def whole(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(integer=True, nbins="auto", min_n_ticks=1))
