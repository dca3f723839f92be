"""Differences between releases of scikit-learn, 1.6 to 1.9, in one place."""

from typing import Any

import scipy.sparse as sp
from sklearn import get_config


def as_chosen_sparse(rows: Any) -> Any:
    """CSR in the container that scikit-learn 1.9 lets users choose (`sparse_interface`); a matrix before."""
    chosen = get_config().get("sparse_interface", "spmatrix")
    return sp.csr_array(rows) if chosen == "sparray" else sp.csr_matrix(rows)
