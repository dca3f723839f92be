"""Beside others: forks at any moment, pools of processes, many threads, another Go library, faulthandler.

Whatever could hang runs in a process of its own that is killed after a minute.
"""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
import textwrap
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from planted import many_topics, text_like
from sklearn.model_selection import GridSearchCV
from test_library import PACKAGE, WAIT, coefficients, needs_fork, python

from fewlabel import TransductiveSVC
from fewlabel._native import _library
from fewlabel.model_selection import SemiSupervisedSplit

X, Y, _ = text_like()
quiet_fork = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

# What the scripts share. A child that has not answered after 30 seconds has hung.
PRELUDE = """
import os, signal, sys, threading, time
import numpy as np
from planted import text_like
from fewlabel import TransductiveSVC
from fewlabel._native import _library

P = text_like()

def weights(n_jobs=2, **settings):
    return TransductiveSVC(n_jobs=n_jobs, **settings).fit(P.X, P.y).coef_.tobytes()

def in_fork(task):
    \"\"\"What a task returns in a forked child, as bytes.\"\"\"
    back, to = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        answer = task()
        while answer:
            answer = answer[os.write(to, answer):]
        os._exit(0)
    os.close(to)
    with open(back, "rb") as pipe:
        answer = pipe.read()
    assert os.waitpid(child, 0)[1] == 0, "the child hung or crashed"
    return answer
"""


def script(body: str) -> str:
    return PRELUDE + textwrap.dedent(body)


# --- forks -----------------------------------------------------------------------------------------------------------


@needs_fork
def test_fork_between_fits() -> None:
    python(
        script(
            """
            expected = weights()
            for _ in range(3):
                assert in_fork(weights) == expected
                assert weights() == expected
            assert in_fork(lambda: in_fork(lambda: in_fork(weights))) == expected
            """
        )
    )


@needs_fork
def test_fork_while_another_thread_fits() -> None:
    """The child has neither the thread nor its fit; the parent's fit ends as if nothing had been."""
    python(
        script(
            """
            expected, kept = weights(), []
            for pause in (0.0, 0.002, 0.01):
                large = text_like(n=3000, d=300)
                fit = lambda: kept.append(TransductiveSVC(n_jobs=2).fit(large.X, large.y).coef_)
                thread = threading.Thread(target=fit)
                thread.start()
                time.sleep(pause)
                assert in_fork(weights) == expected
                thread.join(30)
                assert not thread.is_alive()
            assert all((coef == kept[0]).all() for coef in kept) and len(kept) == 3
            assert _library.library().fewlabel_live_handles() == 0
            """
        )
    )


@needs_fork
def test_fork_while_another_thread_loads_the_library() -> None:
    python(
        script(
            """
            for _ in range(8):  # in children, as a process loads once
                def task():
                    threading.Thread(target=_library.library).start()
                    return in_fork(weights)
                assert len(in_fork(task)) > 0
            """
        )
    )


@needs_fork
def test_a_child_that_has_closed_all_files() -> None:
    """As daemons do: the numbers of the copies' files are then used again."""
    python(
        script(
            """
            def close_all_and(task):
                os.closerange(3, 12)  # the pipe for the answer came before the copy: it has a number above 12
                return task()

            expected = weights()
            spare = [os.open("/dev/null", os.O_RDONLY) for _ in range(12)]
            assert in_fork(lambda: weights() and in_fork(lambda: close_all_and(weights))) == expected
            """
        )
    )


@needs_fork
def test_a_child_with_the_number_of_its_parent() -> None:
    """Both are process 1, each in a namespace of its own, as a container's first process may be."""
    namespace = ["unshare", "--pid", "--fork"]
    if not shutil.which("unshare") or subprocess.run([*namespace, "true"], capture_output=True).returncode:
        pytest.skip("no namespaces of processes here")
    body = script(
        """
        import ctypes
        CLONE_NEWPID = 0x20000000
        expected = weights()
        def task():
            return repr((os.getpid(), weights() == expected)).encode()
        assert os.getpid() == 1
        assert ctypes.CDLL(None).unshare(CLONE_NEWPID) == 0
        assert in_fork(task) == b"(1, True)"
        """
    )
    python(body, before=namespace)


@needs_fork
@quiet_fork
def test_pools_of_forked_processes() -> None:
    expected = coefficients()
    context = multiprocessing.get_context("fork")
    with context.Pool(2) as pool:
        assert pool.map_async(coefficients, range(6)).get(WAIT) == [expected] * 6
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        assert list(pool.map(coefficients, range(6), timeout=WAIT)) == [expected] * 6


def searched(backend: str) -> tuple[np.ndarray, float]:
    search = GridSearchCV(
        TransductiveSVC(n_jobs=1), {"alpha": [1e-3, 1e-2]}, cv=SemiSupervisedSplit(2), n_jobs=2, error_score="raise"
    )
    with joblib.parallel_backend(backend):
        search.fit(X, Y)
    return search.cv_results_["mean_test_score"], search.best_params_["alpha"]


@needs_fork
@quiet_fork
def test_grid_search_on_every_backend() -> None:
    coefficients()  # the parent has loaded the library
    scores, best = searched("sequential")
    for backend in ("loky", "threading", "multiprocessing"):
        found, chosen = searched(backend)
        np.testing.assert_array_equal(found, scores, err_msg=backend)
        assert chosen == best


# --- threads ---------------------------------------------------------------------------------------------------------


def test_sixteen_threads_with_fits_of_their_own() -> None:
    problems = [text_like(seed=k) if k % 2 else many_topics(seed=k) for k in range(16)]
    settings: list[dict[str, Any]] = [{"method": m} for m in ("annealing", "switching")]

    def fit(k: int) -> bytes:
        model = TransductiveSVC(n_jobs=1 + k % 3, **settings[k // 2 % 2])
        return model.fit(problems[k].X, problems[k].y).coef_.tobytes()

    alone = [fit(k) for k in range(16)]
    together = joblib.Parallel(n_jobs=16, backend="threading", timeout=WAIT)(
        joblib.delayed(fit)(k) for k in [*range(16), *range(16)]
    )
    assert together == alone * 2
    assert len(set(alone)) == 16
    assert _library.library().fewlabel_live_handles() == 0


# --- another Go library in the process -------------------------------------------------------------------------------

OTHER = """
package main

import "C"
import "runtime"

// work adds the numbers below n on goroutines, makes garbage, and recovers from a panic on the way.
//
//export work
func work(n C.long) (total C.long) {
	defer func() {
		if recover() == nil {
			total = -1
		}
	}()
	sums := make(chan int)
	for k := range 8 {
		go func() {
			sum, garbage := 0, [][]byte{}
			for i := k; i < int(n); i += 8 {
				sum += i
				garbage = append(garbage, make([]byte, 1000))
			}
			runtime.GC()
			sums <- sum
		}()
	}
	for range 8 {
		total += C.long(<-sums)
	}
	var nowhere *int
	*nowhere = 1
	return total
}

func main() {}
"""


@pytest.fixture(scope="session")
def other_go_library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which("go") is None:
        pytest.skip("there is no Go here to build a second Go library with")
    folder = tmp_path_factory.mktemp("other")
    (folder / "main.go").write_text(OTHER, encoding="utf-8")
    (folder / "go.mod").write_text("module other\n\ngo 1.24\n", encoding="utf-8")
    command = ["go", "build", "-trimpath", "-buildmode=c-shared", "-o", "libother.so", "."]
    subprocess.run(command, cwd=folder, check=True, timeout=300)
    return folder / "libother.so"


@pytest.mark.parametrize("first", ["ours", "the other"])
def test_a_second_go_library(other_go_library: Path, first: str) -> None:
    """Go's authors do not support that; it has worked on Linux whenever it was tried."""
    python(
        script(
            """
            import ctypes

            def load():
                other = ctypes.CDLL(sys.argv[1])
                other.work.restype, other.work.argtypes = ctypes.c_long, [ctypes.c_long]
                return other.work

            if sys.argv[2] == "ours":
                expected = weights()
            work = load()
            if sys.argv[2] != "ours":
                work(10)
                expected = weights()
            for _ in range(5):
                assert work(10_000) == 49_995_000
                assert weights() == expected
            busy = [threading.Thread(target=lambda: work(10_000)) for _ in range(4)]
            [thread.start() for thread in busy]
            assert weights() == expected
            [thread.join(30) for thread in busy]
            try:
                TransductiveSVC(alpha=-1).fit(P.X, P.y)
            except ValueError:
                print("an error, not a crash")
            """
        ),
        str(other_go_library),
        first,
    )


# --- faulthandler ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("when", ["never", "before", "after", "during"])
def test_faulthandler(when: str) -> None:
    """Fits work with it, and a crash of somebody else's C code ends the process with the traceback, at once.

    Tracebacks during fits are dumped by a thread that holds the interpreter lock: `dump_traceback_later` looks at
    running threads without it and crashes now and then by itself (CPython issue 131580).
    """
    body = script(
        """
        import ctypes, faulthandler
        when = sys.argv[1]
        faulthandler.disable()
        if when == "before":
            faulthandler.enable()
        expected = weights()
        if when == "after":
            faulthandler.enable()
        done, dumps = threading.Event(), []
        def dump():
            with open(os.devnull, "w") as nowhere:
                while not done.wait(0.01):
                    dumps.append(faulthandler.dump_traceback(nowhere))
        dumping = threading.Thread(target=dump, daemon=True)
        if when == "during":
            dumping.start()
        for _ in range(5):
            assert weights() == expected
        done.set()
        if when == "during":
            dumping.join()
            assert dumps
        print("fitted", flush=True)
        ctypes.string_at(8)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", body, when],
        env={"PYTHONPATH": f"{PACKAGE.parent}:{Path(__file__).parent}"},
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert done.stdout == "fitted\n", done.stderr
    assert done.returncode != 0
    assert ("Fatal Python error: Segmentation fault" in done.stderr) == (when in ("before", "after"))


# --- what docs/c.md says of handlers and of the environment ----------------------------------------------------------


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_handlers_that_loading_installs() -> None:
    python(
        script(
            """
            def caught():
                mask = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("SigCgt"))
                return {k for k in range(1, 65) if int(mask, 16) >> k - 1 & 1}

            before = caught()
            weights()
            go = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGPIPE, signal.SIGURG}
            assert caught() - before - {33} == go - before  # 33 is glibc's, in every process with threads
            """
        )
    )


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="reads /proc")
def test_threads_of_the_library_leave_signals_to_the_host() -> None:
    """Whatever Go it was built with: the edits of signal_masks.py must have taken effect."""
    python(
        script(
            """
            def unblocked(task):
                mask = next(line.split()[1] for line in open(f"/proc/self/task/{task}/status") if line[:6] == "SigBlk")
                return {k for k in range(1, 65) if not int(mask, 16) >> k - 1 & 1}

            host = set(os.listdir("/proc/self/task"))
            weights()
            threads = set(os.listdir("/proc/self/task")) - host
            assert len(threads) > 1
            own = {"SEGV", "BUS", "FPE", "ILL", "TRAP", "SYS", "STKFLT", "URG", "KILL", "STOP"}
            allowed = {getattr(signal, f"SIG{name}", 16) for name in own} | {32, 33}  # 16: no STKFLT before Python 3.11
            for task in threads:
                assert unblocked(task) <= allowed, (task, unblocked(task) - allowed)
            """
        )
    )


def collections(**environment: str) -> int:
    """How often Go's runtime looks for garbage during some fits."""
    done = subprocess.run(
        [sys.executable, "-c", script("for _ in range(60): weights()")],
        env={"PYTHONPATH": f"{PACKAGE.parent}:{Path(__file__).parent}", "GODEBUG": "gctrace=1"} | environment,
        capture_output=True,
        text=True,
        timeout=WAIT,
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.count("\ngc ")


def test_limits_in_the_environment_for_other_programs() -> None:
    usual = collections()
    assert usual > 5
    assert collections(GOMEMLIMIT="1MiB") < 20 * usual  # until the library is initialised it holds; then 200 times
    assert collections(GOGC="1000") > usual / 2
    with pytest.raises(AssertionError, match="malformed GOMEMLIMIT"):
        collections(GOMEMLIMIT="much")
