"""What differs between releases of scikit-learn, 1.6 to 1.9, and what type checkers cannot read in it."""

from typing import TYPE_CHECKING, Any, Literal

import scipy.sparse as sp
from sklearn import get_config

MYPY = False  # mypy takes it for true
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from typing_extensions import Self

    _Fit = TypeVar("_Fit", bound=Callable[..., Any])
else:
    Self = Any
if MYPY:  # it takes scikit-learn's classes for Any, and with such a base every attribute for right

    class BaseEstimator:
        def get_params(self, deep: bool = True) -> dict[str, Any]: ...
        def set_params(self, **params: Any) -> Self: ...
        def get_metadata_routing(self) -> Any: ...
        def set_fit_request(self, **wanted: bool | str | None) -> Self: ...
        def set_predict_request(self, **wanted: bool | str | None) -> Self: ...
        def set_score_request(self, **wanted: bool | str | None) -> Self: ...
        def __sklearn_tags__(self) -> Any: ...

    class BaseCrossValidator: ...

    class ClassifierMixin:
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float: ...

    class TransformerMixin:
        def __init_subclass__(cls, **settings: Any) -> None: ...
        def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any: ...
        def set_output(self, *, transform: Literal["default", "pandas", "polars"] | None = None) -> Self: ...

    class OneToOneFeatureMixin:
        def get_feature_names_out(self, input_features: Any = None) -> Any: ...

    class ClassNamePrefixFeaturesOutMixin(OneToOneFeatureMixin): ...

    class CallbackSupportMixin:
        def set_callbacks(self, *callbacks: Any) -> Self: ...

    def with_callbacks(fit: "_Fit") -> "_Fit": ...

else:
    from sklearn.base import (
        BaseEstimator,
        ClassifierMixin,
        ClassNamePrefixFeaturesOutMixin,
        OneToOneFeatureMixin,
        TransformerMixin,
    )
    from sklearn.model_selection import BaseCrossValidator

    try:  # the mixin class of estimators that take callbacks, and the decorator of their `fit`
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:  # before 1.9
        CallbackSupportMixin, with_callbacks = type("NoCallbacks", (), {}), lambda fit: fit

__all__ = ["BaseCrossValidator", "BaseEstimator", "CallbackSupportMixin", "ClassNamePrefixFeaturesOutMixin"]
__all__ += ["ClassifierMixin", "OneToOneFeatureMixin", "Self", "TransformerMixin", "as_chosen_sparse", "with_callbacks"]


def as_chosen_sparse(rows: Any) -> Any:
    """CSR in the container that scikit-learn 1.9 lets users choose (`sparse_interface`); a matrix before."""
    chosen = get_config().get("sparse_interface", "spmatrix")
    return sp.csr_array(rows) if chosen == "sparray" else sp.csr_matrix(rows)
