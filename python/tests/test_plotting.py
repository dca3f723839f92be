"""Pictures: what is drawn is what was fitted, where it was asked for, and nothing lies on anything else."""

from __future__ import annotations

import itertools
import subprocess
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, load_model, save_model
from fewlabel.model_selection import SemiSupervisedSplit

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402

from fewlabel.plotting import HistoryDisplay, LearningCurveDisplay  # noqa: E402

TWO, FOUR = text_like(), many_topics()
FITS = {
    "annealing": lambda: TransductiveSVC().fit(TWO.X, TWO.y),
    "switching": lambda: TransductiveSVC(method="switching").fit(TWO.X, TWO.y),
    "pair_switching": lambda: TransductiveSVC(method="pair_switching").fit(TWO.X, TWO.y),
    "four classes": lambda: SemiSupervisedLogisticRegression().fit(FOUR.X, FOUR.y),
    "supervised": lambda: TransductiveSVC(unlabeled=None).fit(TWO.X, TWO.truth),
}


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.mark.parametrize("fit", FITS.values(), ids=FITS)
def test_history_draws_every_step(fit: Any) -> None:
    model = fit()
    display = HistoryDisplay.from_estimator(model)
    level = "temperature" if "temperature" in model.history_ else "unlabeled_weight"
    share = "positive_share" if "positive_share" in model.history_ else "share_distance"
    assert display.axes_.shape == (4,)
    for line, column in zip(display.lines_, ("objective", level, "n_switched", share), strict=True):
        np.testing.assert_array_equal(line.get_ydata(), model.history_[column])
        np.testing.assert_array_equal(line.get_xdata(), np.arange(1, len(model.history_[column]) + 1))
    assert display.axes_[1].get_ylabel() == level.replace("_", " ")
    assert display.axes_[0].get_title() == f"{type(model).__name__}, {model.method}"
    assert display.axes_[-1].get_xlabel() == "outer step"
    assert all(axes.figure is display.figure_ for axes in display.axes_)
    assert [axes.get_ylabel() for axes in display.axes_].count("share of class 1") == (len(model.classes_) == 2)
    assert_texts_do_not_overlap(display.figure_)


def test_history_shows_the_wanted_share() -> None:
    model = FITS["annealing"]()
    wanted = [line for line in HistoryDisplay.from_estimator(model).axes_[3].lines if line.get_label() == "wanted"]
    assert wanted[0].get_ydata()[0] == model.class_prior_[1]


def test_history_goes_where_it_is_asked_for() -> None:
    model = FITS["annealing"]()
    figure, axes = plt.subplots(2, 2, layout="constrained")
    display = HistoryDisplay.from_estimator(model, ax=axes, name="left")
    assert display.axes_.tolist() == axes.ravel().tolist()
    assert display.figure_ is figure
    assert_texts_do_not_overlap(figure)
    with pytest.raises(ValueError, match="ax must be 4 matplotlib Axes, got 3"):
        display.plot(ax=axes.ravel()[:3])


def test_history_of_pipelines_searches_and_files(tmp_path: Any) -> None:
    pipeline = make_pipeline(MaxAbsScaler(), TransductiveSVC()).fit(TWO.X, TWO.y)
    assert len(HistoryDisplay.from_estimator(pipeline).lines_) == 4
    search = GridSearchCV(TransductiveSVC(), {"alpha": [1e-3]}, cv=SemiSupervisedSplit(2)).fit(TWO.X, TWO.y)
    assert len(HistoryDisplay.from_estimator(search, name="best").lines_) == 4
    with pytest.raises(NotFittedError):
        HistoryDisplay.from_estimator(TransductiveSVC())
    save_model(pipeline[-1], tmp_path / "model")
    with pytest.raises(ValueError, match="no history: it was read from a file"):
        HistoryDisplay.from_estimator(load_model(tmp_path / "model"))


# ------------------------------------------------------------------ learning curves


def test_learning_curve_of_two_classes() -> None:
    settings = {"n_labels": [6, 12, 24], "n_draws": 3}
    display = LearningCurveDisplay.from_estimator(TransductiveSVC(), TWO.X, TWO.truth, **settings)
    assert display.scores.shape == display.supervised_scores.shape == (3, 3)
    assert display.scores.mean() > display.supervised_scores.mean()
    for line, scores in zip(display.lines_, (display.scores, display.supervised_scores), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [6, 12, 24])
        np.testing.assert_allclose(line.get_ydata(), scores.mean(axis=1))
    first, second = display.lines_
    assert first.get_linestyle() != second.get_linestyle()
    assert first.get_marker() != second.get_marker()
    assert len(display.fill_between_) == 2
    assert [label.get_text() for label in display.ax_.get_xticklabels()] == ["6", "12", "24"]
    assert display.ax_.get_ylabel() == "accuracy on unseen rows"
    assert_texts_do_not_overlap(display.figure_)
    again = LearningCurveDisplay.from_estimator(TransductiveSVC(), TWO.X, TWO.truth, **settings)
    np.testing.assert_array_equal(again.scores, display.scores)


class Told(LogisticRegression):
    """Remembers what each copy of it was told."""

    calls: list[tuple[int, list[Any]]] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any) -> Told:
        self.calls.append((X.shape[0], list(y)))
        return super().fit(X, y)


class ToldBoth(TransductiveSVC):
    """The same, semi-supervised."""

    calls: list[tuple[int, list[Any]]] = []  # noqa: RUF012

    def fit(self, X: Any, y: Any) -> ToldBoth:
        self.calls.append((X.shape[0], list(y)))
        return super().fit(X, y)


def test_learning_curve_hides_labels_and_holds_rows_out() -> None:
    Told.calls.clear()
    ToldBoth.calls.clear()
    y = np.where(FOUR.y >= 0, FOUR.y, np.where(np.arange(500) < 200, FOUR.truth, -1))
    n_labeled = int((y >= 0).sum())
    _, ax = plt.subplots()
    display = LearningCurveDisplay.from_estimator(
        ToldBoth(), FOUR.X, y, n_labels=[20, 40], n_draws=2, supervised=Told(), scoring="balanced_accuracy", ax=ax
    )
    assert display.ax_ is ax
    assert display.ax_.get_ylabel() == "balanced accuracy on unseen rows"
    n_test = round(0.25 * n_labeled)
    for (n_rows, told), (n_alone, alone), size in zip(ToldBoth.calls, Told.calls, [20, 40, 20, 40], strict=True):
        assert n_rows == len(told) == 500 - n_test
        labels = [label for label in told if label is not None]
        assert sorted(labels) == sorted(alone)
        assert n_alone == len(labels) == size
        assert set(labels) == {0, 1, 2, 3}


@pytest.mark.parametrize("marker", [7, np.nan])
def test_learning_curve_with_another_marker(marker: Any) -> None:
    y = np.where(np.arange(300) % 3 > 0, TWO.truth.astype(float), marker)
    settings = {"n_labels": [10], "n_draws": 1}
    ours = LearningCurveDisplay.from_estimator(TransductiveSVC(unlabeled=marker), TWO.X, y, **settings)
    y = np.where(np.arange(300) % 3 > 0, TWO.truth, -1)
    usual = LearningCurveDisplay.from_estimator(TransductiveSVC(), TWO.X, y, **settings)
    np.testing.assert_array_equal(ours.scores, usual.scores)
    np.testing.assert_array_equal(ours.supervised_scores, usual.supervised_scores)


def test_learning_curve_takes_the_sizes_for_which_there_are_labels() -> None:
    y = np.where(np.arange(300) < 48, TWO.truth, -1)
    assert LearningCurveDisplay.from_estimator(TransductiveSVC(), TWO.X, y, n_draws=1).n_labels == [10, 20]
    with pytest.raises(ValueError, match="y has 8 labels, 2 for testing: 80"):
        LearningCurveDisplay.from_estimator(TransductiveSVC(), TWO.X, np.where(np.arange(300) % 40 == 0, TWO.truth, -1))


def test_learning_curve_of_a_pipeline_does_not_change_it() -> None:
    pipeline = make_pipeline(MaxAbsScaler(), SemiSupervisedLogisticRegression(class_prior="labels"))
    display = LearningCurveDisplay.from_estimator(pipeline, TWO.X, TWO.truth, n_labels=[10, 20, 40], n_draws=1)
    assert pipeline[-1].unlabeled_weight == "auto"
    assert not hasattr(pipeline[-1], "coef_")
    assert (display.scores != display.supervised_scores).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_labels": [20, 10]}, "each larger than the one before"),
        ({"n_labels": []}, "n_labels must be integers"),
        ({"n_labels": [10, 290]}, "y has 300 labels, 75 for testing: 290 of n_labels cannot be drawn"),
        ({"n_labels": [1, 5]}, "n_labels begins with 1, too few for all of the 2 classes"),
        ({"n_draws": 0}, "n_draws must be an integer of at least 1"),
        ({"test_size": 1.5}, "test_size must lie between 0 and 1, got 1.5"),
        ({"y": TWO.truth[:7]}, "y has 7 entries"),
        ({"estimator": TransductiveSVC(unlabeled=None)}, "unlabeled=None"),
    ],
)
def test_bad_learning_curves(arguments: dict[str, Any], message: str) -> None:
    usual = {"estimator": TransductiveSVC(), "X": TWO.X, "y": TWO.truth}
    with pytest.raises(ValueError, match=message):
        LearningCurveDisplay.from_estimator(**(usual | arguments))


# ------------------------------------------------------------------ matplotlib


def test_matplotlib_is_imported_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import sys, fewlabel; fewlabel.plotting.HistoryDisplay; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)
    model = FITS["annealing"]()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for draw in (
        lambda: HistoryDisplay.from_estimator(model),
        lambda: LearningCurveDisplay.from_estimator(model, TWO.X, TWO.truth),
        lambda: LearningCurveDisplay([1], [[1]], [[1]]).plot(),
    ):
        with pytest.raises(ImportError, match=r"Display\.\w+ requires matplotlib. You can install"):
            draw()


def assert_texts_do_not_overlap(figure: Any) -> None:
    """No label, title or number of an axis lies on another one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.canvas.draw()
    texts = [text for axes in figure.axes if axes.axison for text in _texts(axes)]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text() and text.get_visible()]
    assert len(boxes) >= 6
    for (first, one), (second, other) in itertools.combinations(boxes, 2):
        assert not one.overlaps(other), f"{first!r} lies on {second!r}"


def _texts(axes: Any) -> Iterator[Any]:
    yield from (axes.title, axes.xaxis.label, axes.yaxis.label)
    for axis in (axes.xaxis, axes.yaxis):
        low, high = sorted(axis.get_view_interval())
        for tick in axis.get_major_ticks():
            if tick.label1.get_visible() and low <= tick.get_loc() <= high:
                yield tick.label1
