"""Classifiers from few labels and many unlabeled rows.

Importing the package loads neither the native library nor scikit-learn; each name below is imported when it is first
used, and the library at the first `fit` or file operation. `predict` never needs it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fewlabel import (
        dask,
        datasets,
        inspection,
        labeling,
        labels,
        methods,
        metrics,
        model_selection,
        plotting,
        preprocessing,
        sequences,
        spmd,
    )
    from fewlabel._aso_transformer import ASOTransformer
    from fewlabel._kernel_features import KernelFeatures
    from fewlabel._logistic_regression import SemiSupervisedLogisticRegression
    from fewlabel._model_file import load_model, save_model
    from fewlabel._sequence_svc import SequenceSVC
    from fewlabel._show_versions import show_versions
    from fewlabel._transductive_svc import TransductiveSVC
    from fewlabel._version import __version__
    from fewlabel._warnings import ClassPriorWarning, DataWarning, FewlabelWarning
    from fewlabel.inspection import estimate_class_prior

__all__ = ["ASOTransformer", "KernelFeatures", "SemiSupervisedLogisticRegression", "SequenceSVC", "TransductiveSVC"]
__all__ += ["ClassPriorWarning", "DataWarning", "FewlabelWarning", "__version__"]
__all__ += ["estimate_class_prior", "load_model", "save_model", "show_versions"]
__all__ += ["dask", "datasets", "inspection", "labeling", "labels", "methods", "metrics", "model_selection"]
__all__ += ["plotting", "preprocessing", "sequences", "spmd"]

_MODULE_OF = {  # of the names that are not modules themselves
    "ASOTransformer": "_aso_transformer",
    "KernelFeatures": "_kernel_features",
    "SemiSupervisedLogisticRegression": "_logistic_regression",
    "SequenceSVC": "_sequence_svc",
    "TransductiveSVC": "_transductive_svc",
    "__version__": "_version",
    "estimate_class_prior": "inspection",
    "show_versions": "_show_versions",
    **dict.fromkeys(("ClassPriorWarning", "DataWarning", "FewlabelWarning"), "_warnings"),
    **dict.fromkeys(("load_model", "save_model"), "_model_file"),
}


if not TYPE_CHECKING:  # to which every name would be right

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module 'fewlabel' has no attribute {name!r}")
        if name in _MODULE_OF:
            return getattr(import_module(f"fewlabel.{_MODULE_OF[name]}"), name)
        return import_module(f"fewlabel.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
