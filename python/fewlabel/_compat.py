"""Differences between releases of scikit-learn, 1.6 to 1.9, in one place."""

from typing import Any

import scipy.sparse as sp
from sklearn import get_config


class _NoCallbacks:
    """Stands where scikit-learn 1.9 has its mixin of `set_callbacks`."""


def _callbacks() -> tuple[Any, Any]:
    """The mixin class of estimators that take callbacks, and the decorator of their `fit`."""
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks
    except ImportError:
        return _NoCallbacks, lambda fit: fit
    return CallbackSupportMixin, with_callbacks


CallbackSupport, with_callbacks = _callbacks()


def as_chosen_sparse(rows: Any) -> Any:
    """CSR in the container that scikit-learn 1.9 lets users choose (`sparse_interface`); a matrix before."""
    chosen = get_config().get("sparse_interface", "spmatrix")
    return sp.csr_array(rows) if chosen == "sparray" else sp.csr_matrix(rows)
