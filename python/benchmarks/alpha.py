"""How far annealing ends above switching, at every strength of the regularization.

Both solve one problem, that of the papers (balance "labels"), with the true class shares given. The objective is
recomputed from the data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import scipy.sparse as sp
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import corpora, learners, objective, scale, tasks
from benchmarks.report import Report
from benchmarks.tasks import Task
from fewlabel.methods import Annealing, Switching

ALPHAS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)
DRAWS = (2, 3)  # 0 and 1 are those on which the method was chosen
MOST = 1.02  # of the objective of switching
METHODS = (Annealing(balance="labels"), Switching(balance="labels"))


def usual_sets(report: Report) -> None:
    """The sets of `make bench`."""
    _compare(report, "svmlin example", lambda _: [corpora.svmlin_example()], (0,))
    for make in (corpora.text1, corpora.pcmac, corpora.comp, corpora.ccat):
        _compare(report, make.__name__, lambda seed, make=make: [make(seed)])
    _compare(report, "reuters", corpora.reuters)


def unscaled_rows(report: Report) -> None:
    """Counts, of words and planted ones."""
    _compare(report, "planted counts", lambda seed: [planted_counts(seed)])
    _compare(report, "graphics against med, raw counts", lambda seed: [_two_groups(seed)])


def planted_counts(seed: int) -> Task:
    """400 rows of 60 counts, of which 20 are frequent in a class; three labels of each."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(400) % 2)
    rates = np.full((2, 60), 0.2)
    rates[0, :20] = rates[1, 20:40] = 3
    labeled = np.concatenate([np.flatnonzero(y == c)[:3] for c in (0, 1)])
    X = sp.csr_matrix(rng.poisson(rates[y]), dtype=float)
    return Task("planted counts", X, y, tasks.mask_labels(y, labeled))


SECTIONS = (usual_sets, unscaled_rows)


# ------------------------------------------------------------------ helpers
def _two_groups(seed: int) -> Task:
    texts, groups = scale.four_groups()
    kept = [g in ("comp.graphics", "sci.med") for g in groups]
    X = CountVectorizer(stop_words="english", min_df=2).fit_transform(
        [t for t, k in zip(texts, kept, strict=True) if k]
    )
    y = np.array([g == "sci.med" for g, k in zip(groups, kept, strict=True) if k], dtype=np.int64)
    return tasks.held_out("graphics / med", X.astype(float), y, 20, seed)


def _compare(report: Report, name: str, draw: Callable[[int], Iterable[Task]], seeds: tuple[int, ...] = DRAWS) -> None:
    """The largest ratio of the objectives, and the errors, at each alpha."""
    drawn = [task for seed in seeds for task in draw(seed)]
    for alpha in ALPHAS:
        ratios, errors = [], {method.name: [] for method in METHODS}
        for task in drawn:
            values = {}
            for method in METHODS:
                outcome = learners.transductive(task, method=method, alpha=alpha)
                fitted = outcome.estimator
                values[method.name] = objective.l2_objective(
                    task.X, task.given, fitted.coef_, fitted.intercept_, alpha, 1.0
                )
                errors[method.name].append(outcome.error)
            ratios.append(values["annealing"] / values["switching"])
        note = ", ".join(f"{method} {np.mean(found):.1f} %" for method, found in errors.items())
        what = f"{name}, alpha {alpha:g}: objective, annealing / switching"
        report.at_most(what, max(ratios), MOST, note=f"mean {np.mean(ratios):.3f}; errors: {note}", values=ratios)
