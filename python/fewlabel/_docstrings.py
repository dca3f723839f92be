"""Descriptions that are written once: in the source a docstring lacks what another one says.

When a class or function is made, its docstring gets these, for `help` and the pages: in place of a line such as "alpha,
tol : see `TransductiveSVC`" the whole descriptions; and descriptions of the parameters that it leaves out.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

_Described = TypeVar("_Described", bound=Callable[..., Any])
_ENTRY = re.compile(r"^(\w+) : .*\n(?:    .*\n)+", re.MULTILINE)
_SEE = re.compile(r"^(\w+(?:, \w+)*) : see `\w+`\n", re.MULTILINE)
_SECTION = re.compile(r"^(?=[A-Z]\w+(?: \w+)?\n-+$)", re.MULTILINE)
_FITTED = "Returns\n-------\nself : estimator\n    The fitted estimator.\n"


class Shared:
    """What most functions say of a parameter.

    X : {array-like, sparse matrix or array, data frame} of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Labels. Rows without one have the marker of the parameter `unlabeled`.
    sample_weight : array-like of shape (n_rows,) or None, default=None
        Weight of each row, at least 0.
    unlabeled : "auto", None or a label, default="auto"
        Marker of unlabeled rows in `y`, as in the estimator.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had names in `fit`.
    random_state : int, RandomState instance or None, default=None
        Seed. None means a fixed seed.
    verbose : int, default=0
        Above 0: show the steps of a fit, in a progress bar if tqdm is installed.
    feature_names : array-like of shape (n_features,) or None, default=None
        Names of the features of the classifier. None: those of the pipeline or data frame, otherwise x0, x1, ...
    n_jobs : int or None, default=None
        Number of threads, as in `TransductiveSVC`.
    """


class Unused:
    """What transformers have for scikit-learn's sake.

    y : None
        Not used.
    """


def described_as(*others: Any) -> Callable[[_Described], _Described]:
    """Complete the docstring of a function, or of a class and its methods, by those of others, and of its methods."""

    def complete(item: _Described) -> _Described:
        names = [name for name in vars(item) if not name.startswith("_")] if isinstance(item, type) else []
        methods = [method for name in names if inspect.isroutine(method := getattr(item, name))]
        known: dict[str, str] = {}
        for other in (*reversed(methods), *others):
            known |= _entries(other)
        if isinstance(item, type) and item.__doc__:  # python -OO leaves none
            item.__doc__ = _completed(item.__doc__, (), known)
        for function in methods if isinstance(item, type) else [item]:
            _complete(getattr(function, "__func__", function), known)
        return item

    return complete


def _entries(item: Any) -> dict[str, str]:
    text = inspect.cleandoc(item.__doc__ or "") + "\n"
    text = re.sub(r"see\s+Notes", f"see the notes of `{item.__name__}`", text) if isinstance(item, type) else text
    return {found[1]: found[0] for found in _ENTRY.finditer(text)}


def _complete(function: Any, known: Mapping[str, str]) -> None:
    if function.__doc__:
        names = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
        function.__doc__ = _completed(function.__doc__, names, known, function.__name__ == "fit")


def _completed(text: str, names: Iterable[str], known: Mapping[str, str], fits: bool = False) -> str:
    text = _SEE.sub(lambda see: "".join(known[name] for name in see[1].split(", ")), inspect.cleandoc(text) + "\n")
    summary, *sections = _SECTION.split(text)
    own = {found[1]: found[0] for found in _ENTRY.finditer(sections[0])} if text.count("\nParameters\n") else {}
    if not set(names) <= set(own):
        sections = sections[1:] if own else sections
        entries = "".join(own.get(name) or known[name] for name in names)
        sections.insert(0, f"Parameters\n----------\n{entries}\n")
    if fits and "\nReturns\n" not in text:
        sections.insert(1, f"{_FITTED}\n")
    return "\n\n".join(part.strip("\n") for part in (summary, *sections))
