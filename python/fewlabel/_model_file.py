"""Saving and loading fitted estimators in model files, which C and other languages can read too.

The library writes the arrays. Classes, parameters and feature names are stored in the metadata of the file:

    {"estimator": "TransductiveSVC", "fewlabel": "0.1.0",
     "classes": {"dtype": "int64", "values": [0, 1]}, "parameters": {"alpha": 0.001, ...}, "feature_names": null,
     "hierarchy": null, "temperature": 0.8, "smoothing": 0.01}

`SequenceSVC` and `ASOTransformer` have none of the last three, `ASOTransformer` has null as classes. A dict, as
`hierarchy` or a parameter can be, is written as {"dict": [[key, value], ...]}, NaN as {"float": "nan"}.
"""

import ctypes
import json
import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewlabel import _columns, methods
from fewlabel._aso_transformer import ASOTransformer
from fewlabel._inputs import _hierarchy
from fewlabel._logistic_regression import SemiSupervisedLogisticRegression
from fewlabel._native import _fit, _library, _threads
from fewlabel._sequence_svc import SequenceSVC
from fewlabel._transductive_svc import TransductiveSVC
from fewlabel._version import __version__

_LINEAR, _CHAIN, _STRUCTURE = (
    (TransductiveSVC, SemiSupervisedLogisticRegression),
    (SequenceSVC,),
    (ASOTransformer,),
)
_ESTIMATORS = {kind.__name__: kind for kind in (*_LINEAR, *_CHAIN, *_STRUCTURE)}

_OF_A_LINEAR_MODEL = {  # attributes by their fields
    "hierarchy": "hierarchy_",
    "temperature": "calibration_temperature_",
    "smoothing": "calibration_smoothing_",
}


def save_model(model: Any, path: str | bytes | os.PathLike[Any]) -> None:
    """Save a fitted estimator to a file for `load_model` or the C function `fewlabel_load`.

    Parameters
    ----------
    model : TransductiveSVC, SemiSupervisedLogisticRegression, SequenceSVC or ASOTransformer
        Fitted estimator. `alpha_`, `unlabeled_weight_`, `transduction_`, `label_distributions_`, `method_`,
        `history_`, `supervised_agreement_`, `strengths_`, `n_problems_` and `objective_` of a structure are not saved.
    path : path-like
        The file. An existing file is replaced; for a symbolic link, its target is replaced.

    Raises
    ------
    ValueError
        If the classes are not texts, integers, floats or bools, a parameter cannot be saved, or a row has several
        labels.
    TypeError
        If the model is of another type, such as a pipeline.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from fewlabel import TransductiveSVC, load_model, save_model
    >>> model = TransductiveSVC().fit([[0.0], [0.1], [0.9], [1.0]], ["no", None, None, "yes"])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "model.fewlabel")
    >>> save_model(model, path)
    >>> load_model(path).predict([[0.8]])
    array(['yes'], dtype=object)
    """
    if type(model).__name__ not in _ESTIMATORS:
        raise TypeError(
            f"save_model takes {', '.join(_ESTIMATORS)}, got {type(model).__name__}: save others with joblib, or the "
            "last step of a pipeline, pipeline[-1], if it is one of these"
        )
    check_is_fitted(model)
    if isinstance(model, _LINEAR):
        _columns.refuse(model, "save_model")
    metadata = json.dumps(_metadata(model), allow_nan=False).encode()
    with _library.released(model._assemble()) as handle:
        _library.call("fewlabel_save", handle, os.fsencode(path), metadata)


def load_model(path: str | bytes | os.PathLike[Any]) -> Any:
    """Load a fitted estimator from a model file.

    Parameters
    ----------
    path : path-like
        A file written by `save_model` or `fewlabel_save`. A file without Python's metadata is loaded as a
        `TransductiveSVC`, `SequenceSVC` or `ASOTransformer` with the classes 0, 1, and so on.

    Returns
    -------
    model : TransductiveSVC, SemiSupervisedLogisticRegression, SequenceSVC or ASOTransformer
        The estimator, with the attributes that `save_model` saves.

    Raises
    ------
    ValueError
        If the file is damaged, was written by a later version, or is not a model file.
    OSError
        If the file cannot be read.
    """
    os.stat(path)  # a missing file is a FileNotFoundError with its name
    handle = ctypes.c_int64()
    _library.call("fewlabel_load", os.fsencode(path), handle)
    with _library.released(handle.value):
        fitted = _fit.read(handle.value)
    metadata = fitted.report["metadata"]
    if not isinstance(metadata, dict) or "estimator" not in metadata:
        return _foreign(fitted)
    kind, writer = metadata["estimator"], metadata.get("fewlabel")
    cure = (
        f"The file was written by fewlabel {writer}, this is fewlabel {__version__}: install the version that wrote it"
    )
    if not isinstance(kind, str) or kind not in _ESTIMATORS:
        raise ValueError(f"{path!r} holds a {kind!r}, which this version of fewlabel does not know. {cure}")
    try:
        return _restored(metadata, fitted)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as reason:
        raise ValueError(f"the metadata of the model file {path!r} cannot be used: {reason!r}. {cure}") from reason


def _metadata(model: Any) -> dict[str, Any]:
    names = getattr(model, "feature_names_in_", None)
    own = _OF_A_LINEAR_MODEL if isinstance(model, _LINEAR) else {}
    return {
        "estimator": type(model).__name__,
        "fewlabel": __version__,
        "classes": _encoded_classes(getattr(model, "classes_", None)),
        "parameters": {name: _encoded(name, value) for name, value in model.get_params(deep=False).items()},
        "feature_names": None if names is None else names.tolist(),
        **{field: _encoded(name, getattr(model, name)) for field, name in own.items()},
    }


def _foreign(fitted: _fit.Fitted) -> Any:
    """The estimator for a model that was not saved by `save_model`."""
    report, kinds = fitted.report, _kinds(fitted)
    if kinds is _STRUCTURE:
        return _with_structure(ASOTransformer(n_components=report["n_components"]), fitted)
    if kinds is _CHAIN:
        return _with_chain(SequenceSVC(loss=report["method"]), np.arange(report["n_tags"]), fitted)
    return _with(TransductiveSVC(method=report["method"]), np.arange(report["n_classes"]), None, fitted)


def _kinds(fitted: _fit.Fitted) -> tuple[type, ...]:
    """The estimators that match the kind of a model."""
    if "n_tags" in fitted.report:
        return _CHAIN
    return _STRUCTURE if "n_components" in fitted.report else _LINEAR


def _restored(metadata: dict[str, Any], fitted: _fit.Fitted) -> Any:
    kind, kinds = _ESTIMATORS[metadata["estimator"]], _kinds(fitted)
    if kind not in kinds:
        raise ValueError(f"the arrays of the file are not those of a {kind.__name__}")
    model = kind(**{key: _decoded(value) for key, value in metadata["parameters"].items()})
    _threads.resolve(model.n_jobs)  # refuses what is no number of threads
    if kinds is _STRUCTURE:
        _with_structure(model, fitted)
    elif kinds is _CHAIN:
        classes = _decoded_classes(metadata["classes"], fitted.report["n_tags"])
        _with_chain(model, classes, fitted)
    else:
        _restore_linear(model, metadata, _decoded_classes(metadata["classes"], fitted.report["n_classes"]), fitted)
    if metadata["feature_names"] is not None:
        model.feature_names_in_ = _names(metadata["feature_names"], model.n_features_in_)
    _check_anew(metadata, _metadata(model))
    return model


def _with_structure(model: ASOTransformer, fitted: _fit.Fitted) -> ASOTransformer:
    model._keep_model(fitted)
    return model


def _restore_linear(model: Any, metadata: dict[str, Any], classes: np.ndarray, fitted: _fit.Fitted) -> None:
    _with(model, classes, _hierarchy.checked(_decoded(metadata["hierarchy"]), classes), fitted)
    if not isinstance(model.method, str | methods.Method):  # a name of another program's is kept
        raise ValueError(f"method is {model.method!r}")
    model.calibration_temperature_ = float(_decoded(metadata["temperature"]))
    model.calibration_smoothing_ = float(_decoded(metadata["smoothing"]))


def _with_chain(model: SequenceSVC, classes: np.ndarray, fitted: _fit.Fitted) -> SequenceSVC:
    model._keep_model(classes, fitted)
    model.n_features_in_ = fitted.report["n_features"]
    return model


def _with(model: Any, classes: np.ndarray, tree: _hierarchy.Tree | None, fitted: _fit.Fitted) -> Any:
    model._keep_model(classes, tree, fitted)
    model.n_features_in_ = fitted.report["n_features"]
    model.calibration_temperature_ = model.calibration_smoothing_ = float("nan")
    return model


def _check_anew(read: dict[str, Any], anew: dict[str, Any]) -> None:
    """Check that `save_model` would write the metadata that was read. Missing parameters have their defaults."""
    anew = anew | {"fewlabel": read["fewlabel"]}
    anew["parameters"] = {name: anew["parameters"][name] for name in read["parameters"]}
    if read.keys() != anew.keys():
        raise ValueError(f"the fields {', '.join(sorted(read.keys() ^ anew.keys()))}")
    for name, value in read.items():
        if json.dumps(value, sort_keys=True) != json.dumps(anew[name], sort_keys=True):  # 1, 1.0 and true differ
            raise ValueError(f"{name} is {json.dumps(value):.80}")


def _names(names: list[Any], n_features: int) -> np.ndarray:
    if len(names) != n_features or not all(isinstance(name, str) for name in names):
        raise ValueError(f"feature_names has {len(names)} names for {n_features} features, or some that are no texts")
    return np.array(names, dtype=object)


def _encoded_classes(classes: np.ndarray | None) -> Any:
    if classes is None:
        return None
    values = classes.tolist()
    if not all(isinstance(value, str | int | float) for value in values):  # bool is an int
        kinds = ", ".join(sorted({type(value).__name__ for value in values}))
        raise ValueError(f"a model file keeps classes that are texts, integers, floats or bools; these are {kinds}")
    return {"dtype": classes.dtype.name if classes.dtype.kind != "U" else "str", "values": values}


def _decoded_classes(written: dict[str, Any], n_classes: int) -> np.ndarray:
    name, values = written["dtype"], written["values"]
    if name not in ("str", "object") and np.dtype(name).kind not in "biuf":
        raise ValueError(f"classes of type {name!r}")
    if len(values) != n_classes:
        raise ValueError(f"{len(values)} names for {n_classes} classes")
    classes = np.array(values, dtype=name)
    if not np.array_equal(np.unique(classes), classes):
        raise ValueError("classes that are not sorted, or one twice")
    return classes


def _encoded(name: str, value: Any) -> Any:
    if isinstance(value, np.ndarray | list | tuple):
        return [_encoded(name, item) for item in value]
    if isinstance(value, methods.Method):
        return {"method": methods.options(value)}
    if isinstance(value, Mapping):
        return {"dict": [[_encoded(name, key), _encoded(name, item)] for key, item in value.items()]}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if value is not None and not isinstance(value, str | bool | int | float):
        raise ValueError(f"{name}={value!r} cannot be kept in a model file: set it to a plain value first")
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if isinstance(value, dict) and "dict" in value:
        return {_decoded(key): _decoded(item) for key, item in value["dict"]}
    if isinstance(value, dict) and "method" in value:
        return methods.of_options(value["method"])
    if isinstance(value, dict):
        return float(value["float"])
    return value
