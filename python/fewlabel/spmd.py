"""Fits with rows on all ranks of an MPI program: every rank calls `fit` with its own rows.

Run a program with `mpirun -n 3 python program.py`. Only this module needs mpi4py.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
import scipy.sparse as sp

from fewlabel import _advice, _progress, methods
from fewlabel._base import LinearClassifier, check_own_classifier
from fewlabel._inputs import _data, _markers, _numbers, _targets
from fewlabel._native import _fit, _signatures

__all__ = ["fit"]

_Classifier = TypeVar("_Classifier", bound=LinearClassifier)

# Parameters that may differ between ranks.
_OF_A_RANK = ("n_jobs", "verbose")
_COMMUNICATES = ("Get_rank", "Get_size", "allgather", "Allreduce")


def fit(estimator: _Classifier, X: Any, y: Any, sample_weight: Any = None, *, comm: Any) -> _Classifier:
    """Fit an estimator to the rows of all ranks of an MPI communicator; every rank gets the same model.

    It is that of one machine with all rows, up to the rounding of sums; `transduction_`, `label_distributions_` and the
    passes in `history_` are for the rows of this rank.

    Parameters
    ----------
    estimator : TransductiveSVC or SemiSupervisedLogisticRegression
        Fitted in place. All parameters except `n_jobs` and `verbose` must be the same on every rank. `calibrate`,
        method "pair_switching" and `max_switches` are for one machine. Every rank gets all labeled rows if
        class_prior="auto", and an eighth of the unlabeled ones if these are 4,096 a class and small.
    X : {array-like, sparse matrix or array} of shape (n_rows, n_features)
        Training rows of this rank, labeled and unlabeled; 0 rows are enough.
    y, sample_weight : as for `estimator.fit`, of these rows, except several labels a row; all ranks have all classes
    comm : mpi4py.MPI.Comm
        The ranks. Only the fit may use it, in another thread, for which MPI must be initialized, as mpi4py does.

    Raises
    ------
    ValueError
        If parameters or data are invalid, on the rank that has them; the other ranks raise RuntimeError.
    RuntimeError, KeyboardInterrupt
        If the user interrupts any rank, another one has failed, or parameters or a sum differ between ranks.
    """
    fit_with(estimator, X, y, sample_weight, comm, _progress.shown)
    if comm.Get_rank() == 0:
        _progress.tell(estimator)
    return estimator


def fit_with(
    estimator: _Classifier, X: Any, y: Any, sample_weight: Any, comm: Any, shown: Callable[..., Any]
) -> _Classifier:
    """`fit`, with another function in place of `_progress.shown` for the progress of rank 0."""
    ranks = _Ranks(comm)
    part = ranks.attempt(lambda: _Part(estimator, X, y, sample_weight))
    ranks.compare(estimator)
    classes, totals = part.number(ranks)
    plan = ranks.attempt(lambda: estimator._plan(part.method, classes, totals))
    verbose = estimator.verbose if ranks.rank == 0 else 0
    try:
        with shown(type(estimator).__name__, verbose, part.method.name) as show:
            fitted = _fit.fit(part.rows, part.targets, plan.options, (show,), plan.start, ranks.group)[0]
    except RuntimeError as failure:
        if ranks.raised is not None:  # in a sum
            raise ranks.raised from failure
        raise
    estimator._keep(plan, fitted)
    if ranks.rank == 0:
        _markers.warn_of_names(classes.tolist())
        _advice.of_the_library([fitted.report["warnings"]], estimator)
    return estimator


class _Ranks:
    """The ranks of a communicator, for the library and for Python."""

    def __init__(self, comm: Any) -> None:
        if isinstance(comm, type) or not all(hasattr(comm, name) for name in _COMMUNICATES) or not comm:
            raise TypeError(f"comm must be a communicator of mpi4py, such as MPI.COMM_WORLD, got {comm!r:.80}")
        self.comm, self.rank = comm, comm.Get_rank()
        self.raised: BaseException | None = None
        self._callback = _signatures.Allreduce(self._add)  # must live as long as the group
        self.group = _signatures.Group(self.rank, comm.Get_size(), self._callback, None)

    def attempt(self, make: Callable[[], Any]) -> Any:
        """The result of `make`, if it succeeds on all ranks; otherwise an exception on all of them."""
        failure, made = None, None
        try:
            made = make()
        except Exception as raised:
            failure = raised
        failed = [rank for rank, wrong in enumerate(self.comm.allgather(failure is not None)) if wrong]
        if failure is not None:
            raise failure
        if failed:
            raise RuntimeError(f"the fit has failed on rank {failed[0]} of {self.group.size}: see the error there")
        return made

    def compare(self, estimator: Any) -> None:
        """Raise a RuntimeError on all ranks if a parameter is not the same on all."""
        parameters = estimator.get_params(deep=False)
        own = {name: repr(_same(value)) for name, value in parameters.items() if name not in _OF_A_RANK}
        for rank, theirs in enumerate(self.comm.allgather(own)):
            if theirs.keys() != own.keys():
                raise RuntimeError(f"rank {rank} fits another estimator than rank {self.rank}")
            for name in [name for name in own if own[name] != theirs[name]]:
                found = f"{name} is {getattr(estimator, name)!r} on rank {self.rank}, but not on rank {rank}"
                raise RuntimeError(f"{found}: parameters must be the same on all ranks but for {', '.join(_OF_A_RANK)}")

    def _add(self, _: Any, values: Any, n: int) -> int:
        try:
            own = np.ctypeslib.as_array(values, (n,))
            self.comm.Allreduce(own.copy(), own)
        except BaseException as raised:  # ctypes would print it and continue
            self.raised = raised
            return 1
        return 0


def _same(value: Any) -> Any:
    """A form in which equal values of a parameter are the same: 1 and 1.0, a list and an array, dicts in any order."""
    if isinstance(value, np.ndarray | list | tuple):
        return [_same(each) for each in value]
    if isinstance(value, Mapping):
        return sorted((repr(_same(key)), _same(each)) for key, each in value.items())
    value = value.item() if isinstance(value, np.generic) else value
    return _numbers.as_float(value) if _numbers.is_real(value) and not isinstance(value, bool) else value


class _Summary(NamedTuple):
    """Facts about the rows of a rank that the other ranks need."""

    classes: np.ndarray  # of its labels
    counts: np.ndarray  # of its rows of each class
    minus_one: int  # rows whose label -1 is treated as the marker
    sparse: bool
    n_rows: int
    names: np.ndarray | None  # of its features


def _refuse_others(summaries: list[_Summary]) -> None:
    """Check that labels are of one kind on all ranks, and features in one order."""
    are_texts = [own.classes.dtype.kind in "OU" if len(own.classes) else None for own in summaries]
    if {True, False} <= {*are_texts}:
        first, other = are_texts.index(True), are_texts.index(False)
        raise ValueError(f"y has texts on rank {first}, but numbers on rank {other}: make all the same")
    if any(own.minus_one for own in summaries) and any(_markers.has_minus_one(own.classes) for own in summaries):
        found = "-1 beside None or NaN on one rank, where it is a class, and without them on another one, as the marker"
        raise ValueError(f"y has {found}: replace it by None there, or pass unlabeled=float('nan')")
    named = [(rank, own.names) for rank, own in enumerate(summaries) if own.names is not None]
    for rank, names in named[1:]:
        if not np.array_equal(names, named[0][1]):
            raise ValueError(f"X has other feature names on rank {rank} than on rank {named[0][0]}, or another order")


class _Part:
    def __init__(self, estimator: LinearClassifier, X: Any, y: Any, sample_weight: Any) -> None:
        self.estimator = estimator
        check_own_classifier("estimator", estimator)
        self.method = methods.resolve(estimator.method, estimator._methods)
        _data.check_order(X=X, y=y, sample_weight=sample_weight)
        self.targets = _targets.one_a_row(y, estimator.unlabeled, sample_weight=sample_weight, whole=False)
        estimator._check_names(self.targets)
        self.rows = self._rows(X)
        _data.check_lengths(self.rows, self.targets.codes)

    def _rows(self, X: Any) -> Any:
        shape = getattr(X, "shape", None) or np.shape(X)
        if shape[:1] != (0,):
            return _data.training_rows(self.estimator, X, reset=True)
        if len(shape) != 2:
            raise ValueError("X has no rows: give it the shape (0, n_features)")
        self.estimator.n_features_in_ = shape[1]
        return sp.csr_array((0, shape[1]))

    def number(self, ranks: _Ranks) -> tuple[np.ndarray, np.ndarray]:
        """Number the classes of all ranks; these, and the weights of their labeled rows."""
        prior = self.estimator.class_prior
        if self.estimator.hierarchy is not None:
            labels = {name for own in ranks.comm.allgather(self.targets.classes) for name in own.tolist()}
            self.targets = ranks.attempt(
                lambda: _targets.with_groups(self.targets, self.estimator.hierarchy, prior, sorted(labels, key=str))
            )
        n, own = len(self.targets.codes), self.targets.frequencies()
        names = getattr(self.estimator, "feature_names_in_", None) if n else None
        summaries = ranks.comm.allgather(_Summary(*own, n > 0 and sp.issparse(self.rows), n, names))
        known = [each for each in summaries if len(each.classes)]
        if not known:
            raise ValueError("y has no labeled row on any rank: give at least one row of each class a label")
        _refuse_others(summaries)
        classes, numbers = np.unique(np.concatenate([each.classes for each in known]), return_inverse=True)
        counts = np.bincount(numbers, np.concatenate([each.counts for each in known])).astype(int)
        every = classes, counts, sum(each.minus_one for each in summaries)
        _markers.refuse_signs(*every)
        if ranks.rank == 0:
            _markers.warn_of_three(*every)
        if any(each.sparse for each in summaries):
            self.rows = sp.csr_array(self.rows)
        elif not n:
            self.rows = np.zeros((0, self.rows.shape[1]))  # of the kind of the others
        classes = _targets.with_classes_of(prior, classes, sum(each.n_rows for each in summaries))
        self.targets = ranks.attempt(lambda: self.targets.among(classes))
        return classes, np.asarray(sum(ranks.comm.allgather(self.targets.totals())))
