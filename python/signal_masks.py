"""Edits of Go's runtime, by which no signal of the host reaches a thread of Go.

Why: a handler that the host has installed without SA_ONSTACK would run on the stack of a goroutine and write over other
memory. Go lets its threads have the signals that the loading thread has, and always SIGCHLD, SIGPROF and the first
real-time signal. With these edits they keep the synchronous signals, the two of glibc, and Go's own for preemption.

Upstream: https://github.com/golang/go/issues/13042 (libraries built with -buildmode=c-shared take SIGCHLD of their
host). Go's answer is that every handler of a host needs SA_ONSTACK, which Python's, for one, do not have.

A new release of Go may word these lines otherwise, or say the same with another meaning: then read how its threads get
their masks (minitSignalMask and initsig in runtime/signal_unix.go), run `make stress`, and add it to GO.
"""

FILE = "src/runtime/signal_unix.go"
GO = ("1.26",)  # releases that were looked at
ACCEPT = "FEWLABEL_WITHOUT_SIGNAL_MASKS"  # set to 1 in the environment: build a library without the edits

EDITS = (
    ("nmask := getg().m.sigmask", "nmask := sigset_all"),
    (
        "if flags&_SigUnblock != 0 {",
        "if flags&_SigUnblock != 0 && flags&(_SigPanic|_SigThrow) != 0 || sig == _SIGSYS || sig == 32 || sig == 33 {",
    ),
)


def edited(text: str, version: str) -> str:
    """The file of this version of Go ("go1.26.8") with the edits; a ValueError that says why there are none."""
    if version.removeprefix("go").rsplit(".", 1)[0] not in GO:
        raise ValueError(f"they were checked with Go {' and '.join(GO)}, this is {version}")
    for line, instead in EDITS:
        if text.count(line) != 1:
            raise ValueError(f"{FILE} of {version} has the line {line!r} {text.count(line)} times instead of once")
        text = text.replace(line, instead)
    return text
