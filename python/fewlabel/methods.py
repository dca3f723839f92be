"""Methods with options, for the parameter `method` of the estimators.

A name means the method with default options: `method="switching"` is the same as `method=Switching()`.
"""

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

__all__ = ["Annealing", "Auto", "Gradient", "PairSwitching", "Posterior", "Switching"]

_Balance = Literal["auto", "mean", "share", "labels"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """A method, with its options as fields."""

    name: ClassVar[str]


@dataclass(frozen=True, kw_only=True)
class _Balanced(Method):
    balance: _Balance = "auto"


class Annealing(_Balanced):
    """Soft labels of the unlabeled rows that become hard as a temperature decreases.

    Parameters
    ----------
    balance : {"auto", "mean", "share", "labels"}, default="auto"
        How the class prior is enforced. "labels": only by the label counts, as in the papers. "share": the thresholds
        are also adjusted at the end so that the predictions match the class shares. "mean": as "share", and the mean
        score of the unlabeled rows is constrained for each class (squared hinge only). "auto": "labels", adjusted in
        part, if shares are estimated and labels look picked; else "mean", or "share" with other losses.
    """

    name = "annealing"


class Auto(_Balanced):
    """Annealing, averaged with other classifiers or compared with another method.

    If the class shares are estimated, annealing is averaged with the supervised classifier and a mixture of all rows.
    Otherwise it is compared with switching and, from 32,768 unlabeled rows on, with a second start.

    Parameters
    ----------
    balance : {"auto", "mean", "share", "labels"}, default="auto"
        As in `Annealing`; that of switching is "auto" or the same.
    """

    name = "auto"


@dataclass(frozen=True, kw_only=True)
class Switching(_Balanced):
    """Hard labels of the unlabeled rows, many exchanged at a time, while the weight of the unlabeled rows increases.

    Parameters
    ----------
    balance : {"auto", "mean", "share", "labels"}, default="auto"
        As in `Annealing`; "auto" is "labels" or "share".
    max_switches : int, default=0
        Maximum number of label pairs exchanged at a time. 0: all that lower the objective.
    """

    name = "switching"
    max_switches: int = 0


class PairSwitching(_Balanced):
    """Joachims' algorithm: hard labels, one pair exchanged at a time, while the weight of the unlabeled rows doubles.

    Parameters
    ----------
    balance : {"auto", "mean", "share", "labels"}, default="auto"
        As in `Switching`.
    """

    name = "pair_switching"


class Gradient(_Balanced):
    """A smooth loss of the margin of unlabeled rows, whose weight increases. No labels are assigned.

    Parameters
    ----------
    balance : {"auto", "mean", "share", "labels"}, default="auto"
        As in `Annealing`, but there are no label counts: with "labels" the class prior is not enforced, as in the
        paper, and with "share", or where unlabeled rows weigh less than 1, only by the thresholds at the end. "auto" is
        "mean".
    """

    name = "gradient"


class _Entropy(Method):  # no options: the name says all
    name = "entropy"


class _Expectation(Method):
    name = "expectation"


@dataclass(frozen=True, kw_only=True)
class Posterior(_Balanced):
    """Posterior regularization: probabilities close to labels with the class prior as their mean.

    Parameters
    ----------
    balance : {"auto", "share", "labels"}, default="auto"
        As in `Annealing`; "auto" is "share". With "labels" only the labels have the class prior, as in the paper.
    kl_weight : float, default=0.1
        Weight of the divergence between labels and probabilities, above 0.
    """

    name = "posterior"
    kl_weight: float = 0.1


_KINDS = (Auto, Annealing, Switching, PairSwitching, Gradient, _Entropy, _Expectation, Posterior)
_BY_NAME: dict[str, type[Any]] = {kind.name: kind for kind in _KINDS}


def resolve(method: Any, names: tuple[str, ...]) -> Method:
    """The method with this name, or the given object, if its name is one of `names`."""
    found = _BY_NAME[method]() if isinstance(method, str) and method in _BY_NAME else method
    if not isinstance(found, Method) or found.name not in names:
        kinds = ", ".join(f"{name!r}" for name in names)
        example = f"an object such as fewlabel.methods.{_BY_NAME[names[0]]()!r}"
        raise ValueError(f"method={method!r} is not one of {kinds}, nor {example}")
    return found


def of_options(given: dict[str, Any]) -> Method:
    """The method that `options` gave these."""
    return _BY_NAME[given["method"]](**{name: value for name, value in given.items() if name != "method"})


def options(method: Method) -> dict[str, Any]:
    """The corresponding options of the library."""
    return {"method": method.name} | {field.name: getattr(method, field.name) for field in fields(method)}
