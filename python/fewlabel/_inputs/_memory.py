"""Available memory, so that a computation that cannot fit is refused before it starts. On systems other than Linux
nothing is refused. The library does the same for its own arrays (engine/memory)."""

import contextlib
import math
from pathlib import Path

_UNASKED = 32 << 20  # bytes below which the check takes longer than the allocation
_CGROUP = Path("/sys/fs/cgroup")  # in a container, its own


def need(n_bytes: float, purpose: str, advice: str) -> None:
    if n_bytes < _UNASKED or n_bytes <= (left := available()):
        return
    found = f"{purpose} needs about {n_bytes / 1e9:.1f} GB of memory, and {left / 1e9:.1f} GB are available"
    raise MemoryError(f"{found}: {advice}")


def available() -> float:
    """Available bytes of the machine or container; infinity if unknown."""
    facts = dict(line.partition(":")[::2] for line in _text(Path("/proc/meminfo")).splitlines())
    machine = sum(1024 * _number(facts[name]) for name in ("MemAvailable", "SwapFree") if name in facts)
    used = _number(_text(_CGROUP / "memory.current"), 0)
    pages = dict(line.split() for line in _text(_CGROUP / "memory.stat").splitlines())
    given_back = _number(pages.get("inactive_file", ""), 0)  # pages of files, which the system drops first
    allowed = _number(_text(_CGROUP / "memory.max")) - used + given_back
    return min(machine if "MemAvailable" in facts else math.inf, allowed, address_space())


def address_space() -> float:
    """Bytes that `ulimit -v` leaves; infinity without a limit."""
    with contextlib.suppress(ImportError, OSError):
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY:
            return limit - resource.getpagesize() * _number(_text(Path("/proc/self/statm")), 0)
    return math.inf


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except OSError:
        return ""


def _number(text: str, otherwise: float = math.inf) -> float:
    """The first word, if it is a number; "max" is none."""
    word = text.split()[:1]
    return float(word[0]) if word and word[0].isdigit() else otherwise
