"""How many threads a call may use."""

from numbers import Integral

from joblib import cpu_count
from joblib.parallel import get_active_backend

from fewlabel._inputs import _numbers


def resolve(n_jobs: int | None) -> int:
    """Number of threads: None means all cores, but 1 inside a joblib worker; -1 means all cores, -2 all but one."""
    if n_jobs is None:
        return 1 if get_active_backend()[0].nesting_level else cpu_count()
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool):
        raise TypeError(f"n_jobs must be an integer or None, got {_numbers.shown(n_jobs)}")
    if n_jobs == 0 or abs(n_jobs) >= 2**31:
        wanted = "a number of threads below 2**31, -1 for all cores, or None"
        raise ValueError(f"n_jobs must not be {_numbers.shown(n_jobs)}: give {wanted}")
    return int(n_jobs) if n_jobs > 0 else max(1, cpu_count() + 1 + int(n_jobs))
