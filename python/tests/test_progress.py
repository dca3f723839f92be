"""What a running fit shows and tells: lines, a bar, nothing at all, and scikit-learn's callbacks."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC, _progress
from fewlabel._interrupts import interruptible
from fewlabel._native import _library
from fewlabel._native._signatures import Progress
from fewlabel.inspection import check, compare, suspicious_labels
from fewlabel.model_selection import SemiSupervisedSplit
from fewlabel.plotting import LearningCurveDisplay

X, Y, TRUTH = text_like()
LEVEL = {"annealing": "temperature", "switching": "unlabeled weight", "pair_switching": "unlabeled weight"}

STAGE = r"\[\w+\] (\w+): (\d+) models?, (\d+) passes"


@pytest.mark.filterwarnings("ignore::fewlabel.FewlabelWarning")
@pytest.mark.parametrize("y", [Y, np.column_stack([Y, Y])], ids=["classes", "columns"])
def test_verbose_tells_which_models_were_trained(y: Any, capfd: pytest.CaptureFixture[str]) -> None:
    model = TransductiveSVC(class_prior="labels", verbose=1, calibrate=True).fit(X, y)
    stages = [re.fullmatch(STAGE, line) for line in capfd.readouterr().out.splitlines()]
    told = [stage.groups() for stage in stages if stage]
    assert {name for name, _, _ in told} >= {"annealing", "switching"}
    assert sum(int(models) for _, models, _ in told) == model.n_fits_
    assert all(int(passes) > 0 for name, _, passes in told if name != "switching")
    assert TransductiveSVC(unlabeled=None).fit(X, TRUTH).n_fits_ == 1


def test_verbose_tells_the_weights_of_a_fit(capfd: pytest.CaptureFixture[str]) -> None:
    """c / (c + labels a class) of the committee, half of it where shares are near those of the labels.

    And as large a part of the shares as there are rows beside labels.
    """
    rows = np.sort(np.concatenate([np.flatnonzero(Y != -1), np.flatnonzero(Y == -1)[:9]]))
    for X_, y, more in ((X, Y, {}), (X[rows], Y[rows], {}), (X[rows], Y[rows], {"class_prior": "labels"})):
        TransductiveSVC(verbose=1, **more).fit(X_, y)
    told = re.findall(r"(\S+), the rows carry (\d+%) of the class shares", capfd.readouterr().out)
    assert told == [("0.2", "100%"), ("0.4", "75%"), ("0", "75%")]


def test_silence_is_the_default() -> None:
    """Nothing on file descriptors 1 and 2, whoever writes: Python or the library."""
    program = """if True:
        from planted import many_topics, text_like
        from fewlabel import SemiSupervisedLogisticRegression, TransductiveSVC
        for rows, y, _ in (text_like(labeled=40), many_topics(labels=60)):
            TransductiveSVC(verbose=0).fit(rows, y).predict(rows)
            SemiSupervisedLogisticRegression(method="switching").fit(rows, y).predict_proba(rows)
        """
    done = subprocess.run(
        [sys.executable, "-c", program], env=_with_path(), capture_output=True, text=True, check=True, timeout=120
    )
    assert (done.stdout, done.stderr) == ("", "")


def _with_path() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.parametrize("method", LEVEL)
def test_lines_without_tqdm(method: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)  # as if tqdm were not installed
    model = TransductiveSVC(method=method, verbose=1).fit(X, Y)
    shown = capfd.readouterr()
    assert shown.err == ""
    lines = [line for line in shown.out.splitlines() if " step " in line]
    pattern = rf"\[TransductiveSVC\] step (\d+): objective (\S+), {LEVEL[method]} (\S+), (\d+) labels changed"
    steps = [int(re.fullmatch(pattern, line)[1]) for line in lines]
    assert steps == sorted(set(steps))
    _, objective, level, changed = re.fullmatch(pattern, lines[-1]).groups()
    history = model.history_
    assert steps[-1] == len(history["objective"])
    assert float(objective) == pytest.approx(history["objective"][-1], rel=1e-5)
    assert float(level) == pytest.approx(history[LEVEL[method].replace(" ", "_")][-1], rel=1e-3)
    assert int(changed) == history["n_switched"][-1]


def test_one_bar_with_tqdm(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    model = SemiSupervisedLogisticRegression(verbose=1).fit(X, Y)
    shown = capfd.readouterr()
    assert " step " not in shown.out
    assert shown.err.count("\n") == 1  # one bar, drawn again and again on one line
    last = shown.err.rstrip().split("\r")[-1]
    assert last.startswith(f"SemiSupervisedLogisticRegression: {model.n_iter_} steps")
    assert re.search(r"objective \S+, temperature \S+, \d+ labels changed\]", last)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of Jupyter's
def test_one_bar_in_a_notebook() -> None:
    """A widget, and printed lines for the stages and weights alone."""
    pytest.importorskip("ipykernel", reason="there is no notebook kernel here")
    pytest.importorskip("ipywidgets", reason="there are no notebook widgets here")
    from jupyter_client.manager import start_new_kernel

    program = "from planted import text_like; from fewlabel import TransductiveSVC; X, y, _ = text_like()\n"
    manager, client = start_new_kernel(env=_with_path(), startup_timeout=300)
    messages: list[dict[str, Any]] = []
    try:
        reply = client.execute_interactive(
            program + "TransductiveSVC(verbose=1).fit(X, y);", output_hook=messages.append, timeout=120
        )
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["status"] == "ok"
    shown = [message["content"]["data"] for message in messages if message["msg_type"] == "display_data"]
    assert [data.keys() & {"application/vnd.jupyter.widget-view+json"} != set() for data in shown] == [True]
    printed = "".join(message["content"]["text"] for message in messages if message["msg_type"] == "stream")
    *stages, weights = printed.splitlines()
    assert stages
    assert all(re.fullmatch(STAGE, line) for line in stages)
    assert "] supervised and mixture have the weight " in weights
    told = [str(message["content"].get("data")).replace("\\u2007", " ") for message in messages]
    assert any(re.search(r"objective \S+, temperature \S+, \d+ labels changed", text) for text in told)


def test_the_bar_is_closed_when_the_fit_fails(capfd: pytest.CaptureFixture[str]) -> None:
    tqdm = pytest.importorskip("tqdm.auto").tqdm
    with pytest.raises(ValueError, match="alpha"):
        TransductiveSVC(alpha=-1, verbose=1).fit(X, Y)
    assert not tqdm._instances


CALLS = {  # that fit several times, each with the number of fits
    "compare": (12, lambda model: compare(model, X, Y, ["annealing", "switching"], cv=3)),
    "check": (12, lambda model: check(model, X, Y, cv=3)),
    "suspicious labels": (4, lambda model: suspicious_labels(model, X, Y, cv=4)),
    "learning curve": (8, lambda model: LearningCurveDisplay.from_estimator(model, X, Y, n_labels=[4, 8], n_draws=2)),
}


@pytest.mark.parametrize("call", CALLS)
def test_one_bar_for_a_call_of_several_fits(
    call: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tqdm")
    fits, function = CALLS[call]
    monkeypatch.setattr(_progress, "PATIENCE", 0)
    model = TransductiveSVC().fit(X, Y).set_params(verbose=1)
    function(model)
    shown = capfd.readouterr()
    assert "fit" not in shown.out
    assert shown.err.count("\n") == 1
    assert re.match(rf"{call}: 100%.* {fits}/{fits} ", shown.err.rstrip().split("\r")[-1])
    model.fit(X, Y)
    assert "TransductiveSVC: " in capfd.readouterr().err, "a fit afterwards has its own bar"


def test_lines_for_a_call_of_several_fits(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_progress, "PATIENCE", 0)
    check(TransductiveSVC(), X, Y, cv=2)
    assert capfd.readouterr().out.splitlines() == [f"[check] fit {k} of 9" for k in range(1, 10)]


@pytest.mark.parametrize("call", CALLS)
def test_calls_of_several_fits_that_take_a_moment_show_nothing(call: str, capfd: pytest.CaptureFixture[str]) -> None:
    function = CALLS[call][1]
    function(TransductiveSVC().fit(X, Y))
    shown = capfd.readouterr()
    assert "fit" not in shown.out
    assert shown.err == ""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("call", CALLS)
def test_warnings_of_inner_fits_are_not_shown(call: str) -> None:
    model = TransductiveSVC().fit(X, Y)
    CALLS[call][1](model.set_params(max_iter=1, class_prior=[0.6, 0.4]))


def test_fits_in_processes_give_the_same() -> None:
    model, wrong = TransductiveSVC().fit(X, Y), np.where(np.arange(len(Y)) == np.flatnonzero(Y == 0)[0], 1, Y)
    for ask in (
        lambda n: check(model, X, Y, cv=3, n_jobs=n),
        lambda n: str(compare(model, X, Y, ["annealing"], cv=3, verbose=0, n_jobs=n)),
        lambda n: repr(suspicious_labels(model, X, wrong, cv=3, margin=-9.0, n_jobs=n)),
        lambda n: LearningCurveDisplay.from_estimator(model, X, Y, n_labels=[4], n_draws=2, n_jobs=n).scores.tolist(),
    ):
        assert ask(2) == ask(None)


def test_watches_are_called_at_the_end_even_of_a_short_task() -> None:
    seen: list[int] = []
    progress = Progress()
    interruptible(lambda: setattr(progress, "step", 3), lambda: seen.append(progress.step))
    assert seen[-1] == 3


# ------------------------------------------------------------------ scikit-learn's callbacks


class Recorder:
    """A callback that writes down what it is told, and raises at the hook it is told to."""

    def __init__(self, failing: str = "") -> None:
        self.failing = failing
        self.hooks: list[str] = []
        self.ends: list[dict[str, Any]] = []

    def _note(self, hook: str) -> None:
        self.hooks.append(hook)
        if hook == self.failing:
            raise ZeroDivisionError(f"the user's own, in {hook}")

    def setup(self, estimator: Any, context: Any) -> None:
        self._note("setup")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self._note(f"begin {context.task_name}")

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any, y: Any, metadata: Any, fitted_estimator: Any
    ) -> None:
        if context.task_name == "fit":
            self.ends.append({"X": X, "y": y, "metadata": metadata, "model": fitted_estimator})
        self._note(f"end {context.task_name}")

    def teardown(self, estimator: Any, context: Any) -> None:
        self._note("teardown")


@pytest.fixture
def callback() -> Any:
    return pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
@pytest.mark.parametrize("problem", [text_like(), many_topics()], ids=["two classes", "four"])
def test_callbacks_are_told_of_every_step(callback: Any, kind: Any, problem: Any) -> None:
    recorder = Recorder()
    model = kind().set_callbacks(recorder).fit(problem.X, problem.y)
    steps = ["begin step", "end step"] * model.n_iter_
    assert recorder.hooks == ["setup", "begin fit", *steps, "end fit", "teardown"]
    np.testing.assert_array_equal(model.coef_, kind().fit(problem.X, problem.y).coef_)
    (end,) = recorder.ends
    labeled = problem.y >= 0
    np.testing.assert_array_equal(end["y"], problem.y[labeled])
    assert (end["X"] != problem.X[labeled]).nnz == 0
    assert end["model"].predict(problem.X).tolist() == model.predict(problem.X).tolist()
    assert end["metadata"] is None


def test_callbacks_get_the_weights_of_the_labeled_rows(callback: Any) -> None:
    recorder = Recorder()
    weights = 1.0 + np.arange(len(Y)) % 3
    TransductiveSVC(class_weight={0: 2, 1: 1}).set_callbacks(recorder).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(recorder.ends[0]["metadata"]["sample_weight"], weights[Y >= 0])


@pytest.mark.parametrize("hook", ["setup", "begin fit", "begin step", "end step", "end fit", "teardown"])
def test_a_callback_that_raises_ends_the_fit_and_the_next_one_works(callback: Any, hook: str) -> None:
    model, recorder = TransductiveSVC(), Recorder(failing=hook)
    with pytest.raises(ZeroDivisionError, match=f"the user's own, in {hook}"):
        model.set_callbacks(recorder).fit(X, Y)
    assert recorder.hooks[-1] == "teardown"
    assert _library.library().fewlabel_live_handles() == 0
    model.set_callbacks(Recorder()).fit(X, Y)
    np.testing.assert_array_equal(model.coef_, TransductiveSVC().fit(X, Y).coef_)


def test_a_callback_that_raises_cancels_a_running_fit(callback: Any) -> None:
    big = text_like(n=4000, d=800)
    recorder = Recorder(failing="end step")
    model = TransductiveSVC(method="pair_switching").set_callbacks(recorder)
    with pytest.raises(ZeroDivisionError):
        model.fit(big.X, big.y)
    assert recorder.hooks.count("end step") == 1
    assert not hasattr(model, "coef_")


@pytest.mark.parametrize("kind", [TransductiveSVC, SemiSupervisedLogisticRegression])
def test_a_callback_that_asks_to_stop_gets_the_model_so_far(callback: Any, kind: Any) -> None:
    class Stopper(Recorder):
        def on_fit_task_end(self, estimator: Any, context: Any) -> bool:  # type: ignore[override]
            self._note(f"end {context.task_name}")
            return context.task_name == "step"

    n, method = (4000, "pair_switching") if kind is TransductiveSVC else (40_000, "switching")
    big = text_like(n=n, d=800)  # for long enough that it is stopped before it ends by itself
    stopper = Stopper()
    model = kind(method=method, tol=1e-7).set_callbacks(stopper).fit(big.X, big.y)
    assert model.termination_condition_ == "stopped"
    assert stopper.hooks.count("end step") == len(model.history_["objective"])
    assert stopper.hooks[-2:] == ["end fit", "teardown"]
    assert len(model.history_["objective"]) < len(kind(method=method, tol=1e-7).fit(big.X, big.y).history_["objective"])
    np.testing.assert_array_equal(model.predict(big.X)[big.y < 0], model.transduction_[big.y < 0])


def test_scikit_learns_own_callbacks(callback: Any, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    monitor = callback.ScoringMonitor(scoring="accuracy")
    model = TransductiveSVC().set_callbacks(callback.ProgressBar(), monitor).fit(X, Y)
    assert "TransductiveSVC - fit" in capfd.readouterr().out
    scores = [row["accuracy"] for row in monitor.get_logs().data if "accuracy" in row]
    assert scores == [model.score(X[Y >= 0], Y[Y >= 0])]


def test_a_search_hands_its_callbacks_on(callback: Any, capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    search = GridSearchCV(TransductiveSVC(class_prior="labels"), {"alpha": [1e-3, 1e-2]}, cv=SemiSupervisedSplit(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        search.set_callbacks(callback.ProgressBar()).fit(X, Y)
    assert capfd.readouterr().out.count("TransductiveSVC") >= 5


def test_a_clone_has_the_callbacks_and_nothing_of_a_fit_stays(callback: Any) -> None:
    recorder = Recorder()
    model = TransductiveSVC().set_callbacks(recorder).fit(X, Y)
    assert not [name for name in vars(model) if "context" in name or "ctx" in name]
    clone(model).fit(X, Y)
    assert recorder.hooks.count("setup") == 2


def test_warnings_point_at_the_call_of_fit() -> None:
    with pytest.warns(UserWarning, match="no row is unlabeled") as caught:
        TransductiveSVC().fit(X, TRUTH)
    assert caught[0].filename == __file__
