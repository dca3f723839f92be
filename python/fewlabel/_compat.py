"""Differences between releases of scikit-learn, 1.6 to 1.9, in one place."""

from typing import Any

import scipy.sparse as sp
from sklearn import get_config

try:  # the mixin class of estimators that take callbacks, and the decorator of their `fit`
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before 1.9
    CallbackSupportMixin, with_callbacks = type("NoCallbacks", (), {}), lambda fit: fit

__all__ = ["CallbackSupportMixin", "as_chosen_sparse", "with_callbacks"]


def as_chosen_sparse(rows: Any) -> Any:
    """CSR in the container that scikit-learn 1.9 lets users choose (`sparse_interface`); a matrix before."""
    chosen = get_config().get("sparse_interface", "spmatrix")
    return sp.csr_array(rows) if chosen == "sparray" else sp.csr_matrix(rows)
