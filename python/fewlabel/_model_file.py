"""Saving and loading fitted estimators in safetensors files, which C and other languages read too.

The library writes and checks the file. The metadata that it keeps with a model say what it does not know:

    {"estimator": "TransductiveSVC", "fewlabel": "0.1.0",
     "classes": {"dtype": "int64", "values": [0, 1]}, "parameters": {"alpha": 0.001, ...}, "feature_names": null,
     "hierarchy": null, "temperature": 0.8, "smoothing": 0.01}

The last three are of linear classifiers only; classes of an `ASOTransformer` are null. A dict, as `hierarchy` or a
parameter can be, is written as {"dict": [[key, value], ...]}, NaN as {"float": "nan"}.
"""

import ctypes
import hashlib
import json
import math
import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from fewlabel import _columns, methods
from fewlabel._aso_transformer import ASOTransformer
from fewlabel._inputs import _hierarchy, _markers, _numbers
from fewlabel._logistic_regression import SemiSupervisedLogisticRegression
from fewlabel._native import _fit, _library
from fewlabel._sequence_svc import SequenceSVC
from fewlabel._transductive_svc import TransductiveSVC
from fewlabel._version import __version__

_LINEAR = (TransductiveSVC, SemiSupervisedLogisticRegression)
_ESTIMATORS = {kind.__name__: kind for kind in (*_LINEAR, SequenceSVC, ASOTransformer)}
# Attributes of a linear model by their fields.
_OWN = {"hierarchy": "hierarchy_", "temperature": "calibration_temperature_", "smoothing": "calibration_smoothing_"}


_LONGEST = 100_000_000  # bytes of a header
_TEXT, _NUMBER = (str,), (int, float)
_UNKNOWN: dict[str, Any] = {  # of a report, where a file does not have it
    "n_outputs": 0, "method": "", "n_iter": 0, "objective": None, "termination_condition": "", "warnings": [],
    "metadata": None,
}  # fmt: skip
_TYPES = {
    **dict.fromkeys(("n_classes", "n_features", "n_outputs", "n_iter"), (int,)), "objective": (*_NUMBER, type(None)),
    "method": _TEXT, "termination_condition": _TEXT, "warnings": (list,), "metadata": (),
}  # fmt: skip
_WARNING = {"kind": _TEXT, "values": (dict,), "text": _TEXT}


def save_model(model: Any, path: str | bytes | os.PathLike[Any]) -> None:
    """Save a fitted estimator to a safetensors file for `load_model`, C or other programs.

    Parameters
    ----------
    model : TransductiveSVC, SemiSupervisedLogisticRegression, SequenceSVC or ASOTransformer
        Fitted. Not saved are `alpha_`, `unlabeled_weight_`, `loss_`, `transduction_`, `label_distributions_`,
        `method_`, `history_`, `n_fits_`, `supervised_agreement_`, and of a structure `strengths_`, `n_problems_`,
        `objective_`.
    path : path-like
        The file, usually with the ending .safetensors. An existing file, or the target of a link, is replaced.
    """
    _numbers.check_text("path", path)
    if type(model).__name__ not in _ESTIMATORS:
        cure = "use joblib" + ", or save its last step, pipeline[-1]" * hasattr(model, "steps")
        raise TypeError(f"save_model takes {', '.join(_ESTIMATORS)}, got {type(model).__name__}: {cure}")
    check_is_fitted(model)
    if isinstance(model, _LINEAR):
        _columns.refuse(model, "save_model")
    try:
        metadata = json.dumps(_metadata(model), allow_nan=False, ensure_ascii=False).encode()
    except UnicodeEncodeError as reason:
        raise ValueError(f"the model has a class or a name that is no Unicode: {reason}: use joblib") from reason
    with _library.released(model._assemble()) as handle:
        _library.call("fewlabel_save", handle, os.fsencode(path), metadata)


def load_model(path: str | bytes | os.PathLike[Any]) -> Any:
    """Load a fitted estimator, with the attributes that `save_model` saves, from a model file.

    Parameters
    ----------
    path : path-like
        A file written by `save_model` or `fewlabel_save`. A file without Python's metadata is loaded as a
        `TransductiveSVC`, `SequenceSVC` or `ASOTransformer` with the classes 0, 1, and so on.

    Raises
    ------
    ValueError
        If the file is damaged, was written by a later version, or is not a model file.
    RuntimeError
        If the native library cannot be loaded, and the model is no classifier, which NumPy reads.
    """
    os.stat(_numbers.check_text("path", path))  # a missing file is a FileNotFoundError with its name
    fitted = _read(path)
    metadata = fitted.report["metadata"]
    if not isinstance(metadata, dict) or "estimator" not in metadata:
        metadata = _foreign(fitted.report)
    try:
        return _restored(metadata, fitted)
    except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as reason:
        versions = f"It was written by fewlabel {metadata.get('fewlabel')}, this is fewlabel {__version__}"
        found = f"the metadata of the model file {path!r} cannot be used: {reason!r}"
        raise ValueError(f"{found}. {versions}: install the version that wrote it") from reason


def _read(path: Any) -> _fit.Fitted:
    handle = ctypes.c_int64()
    try:
        _library.library()
    except RuntimeError as reason:
        return _of_linear(path, reason)
    _library.call("fewlabel_load", os.fsencode(path), handle)
    with _library.released(handle.value):
        return _fit.read(handle.value)


def _of_linear(path: Any, no_library: RuntimeError) -> _fit.Fitted:
    """Report and arrays of a classifier, read without the library and refused where it refuses: see docs/c.md."""
    name = _numbers.regular(path)
    with open(name, "rb") as file:
        try:
            size, length = os.fstat(file.fileno()).st_size - 8, int.from_bytes(file.read(8), "little")
            if length > min(size, _LONGEST):
                raise ValueError("it is cut short or of another format")
            text = file.read(length)
            header = _object(text, str.encode)  # numbers as they are written: -0 is no 0
            if text[:1] != b"{":
                raise ValueError("it does not begin with {")
            about = _fields(header.pop("__metadata__"), dict.fromkeys(("kind", "description", "sha256"), _TEXT))
            if about["kind"] == "linear":
                report = _report(_strict(about["description"].encode()))
                return _fit.Fitted(report, _arrays(report, header, file.read, size - length, about["sha256"]))
            if about["kind"] not in ("chain", "structure"):
                raise ValueError(f"a model of the kind {about['kind']!r} is not known")
        except (AttributeError, LookupError, OverflowError, TypeError, ValueError, RecursionError) as reason:
            raise ValueError(f"{name} is not a valid model file: {reason!r:.200}") from reason
    raise no_library


def _object(text: bytes, whole: Callable[[str], Any]) -> Any:
    return json.loads(text.decode(), object_pairs_hook=_numbers.once, parse_int=whole)


def _strict(text: bytes) -> Any:
    """An object in JSON that means the same to every reader."""
    value = _object(text, _whole)
    json.dumps(value, allow_nan=False, ensure_ascii=False).encode()  # refuses NaN, infinity and half characters
    inside = [value]
    for _ in range(64):
        each = (item for holder in inside for item in (holder.values() if isinstance(holder, dict) else holder))
        inside = [item for item in each if isinstance(item, dict | list)]
    if inside:
        raise ValueError("there are more than 64 levels")
    return value


def _whole(text: str) -> int:
    if math.isinf(float(text)):
        raise ValueError(f"the number {text:.40} is too large")
    return int(text)


def _fields(value: Any, types: dict[str, tuple[Any, ...]], needed: Collection[str] | None = None) -> dict[str, Any]:
    """A dict of these fields, by default all."""
    if not set(types if needed is None else needed) <= value.keys() <= types.keys():
        raise ValueError(f"the fields are {', '.join(value):.80}, and should be {', '.join(types)}")
    for name, item in value.items():
        if types[name] and type(item) not in types[name]:
            raise ValueError(f"the field {name} is {item!r:.40}")
    return value


def _report(written: dict[str, Any]) -> dict[str, Any]:
    report = _UNKNOWN | _fields(written, _TYPES, ("n_classes", "n_features"))
    sizes = n_classes, n_features = report["n_classes"], report["n_features"]
    n_outputs = n_classes if n_classes > 2 else 1
    if not all(1 <= n < 1 << 31 for n in sizes) or n_features * n_outputs > 1 << 31:
        raise ValueError(f"it has {n_classes} classes and {n_features} features")
    if report["n_outputs"] not in (0, n_outputs) or not -1 << 63 <= report["n_iter"] < 1 << 63:
        raise ValueError(f"n_outputs is {report['n_outputs']}, n_iter {report['n_iter']}")
    for warning in report["warnings"]:
        if not {*map(type, _fields(warning, _WARNING)["values"].values())} <= {int, float}:
            raise ValueError("a value of a warning is no number")
    objective = report["objective"]
    return report | {"n_outputs": n_outputs, "objective": 0.0 + (math.nan if objective is None else objective)}


def _arrays(
    report: dict[str, Any], header: dict[str, Any], read: Callable[[int], bytes], size: int, sha256: str
) -> dict[str, np.ndarray]:
    """Arrays of a linear model by name: the tensors, in any order, one behind the other."""
    n_classes, n_features, n_outputs = (report[name] for name in ("n_classes", "n_features", "n_outputs"))
    shapes = {"coef": [n_features, n_outputs], "intercept": [n_outputs], "class_prior": [n_classes]}
    firsts, end = dict[str, int](), 0
    for name in sorted(shapes, key=lambda name: int(header[name]["data_offsets"][0])):
        firsts[name], end = end, end + 8 * math.prod(shapes[name])
        written = {"shape": [b"%d" % n for n in shapes[name]], "data_offsets": [b"%d" % firsts[name], b"%d" % end]}
        if header[name] != {"dtype": "F64", **written}:
            raise ValueError(f"{name} should be F64 of shape {shapes[name]}, behind the tensor before it")
    if header.keys() != shapes.keys() or end != size:
        raise ValueError(f"it should have {end} bytes of {', '.join(shapes)}, and has {size} of {', '.join(header)}")
    data = read(size)
    if sha256 != hashlib.sha256(data).hexdigest():
        raise ValueError("the checksum does not match the values")
    arrays = {
        name: np.frombuffer(data, "<f8", math.prod(shape), firsts[name]).astype(np.float64)
        for name, shape in shapes.items()
    }
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise ValueError(f"{name} has NaN or infinity")
    return arrays


def _metadata(model: Any) -> dict[str, Any]:
    names, classes = getattr(model, "feature_names_in_", None), getattr(model, "classes_", None)
    own = _OWN if isinstance(model, _LINEAR) else {}
    return {
        "estimator": type(model).__name__,
        "fewlabel": __version__,
        "classes": None if classes is None else _encoded_classes(classes),
        "parameters": {name: _encoded(name, value) for name, value in model.get_params(deep=False).items()},
        "feature_names": None if names is None else _encoded("feature_names", names),
        **{field: _encoded(name, getattr(model, name)) for field, name in own.items()},
    }


def _foreign(report: dict[str, Any]) -> dict[str, Any]:
    own: dict[str, Any] = {"classes": None, "feature_names": None, "fewlabel": __version__}
    if "n_components" in report:
        return own | {"estimator": "ASOTransformer", "parameters": {"n_components": report["n_components"]}}
    own["classes"] = _encoded_classes(np.arange(report["n_tags" if "n_tags" in report else "n_classes"]))
    if "n_tags" in report:
        return own | {"estimator": "SequenceSVC", "parameters": {"loss": report["method"]}}
    own |= {"hierarchy": None, "temperature": {"float": "nan"}, "smoothing": {"float": "nan"}}
    return own | {"estimator": "TransductiveSVC", "parameters": {"method": report["method"]}}


def _restored(metadata: dict[str, Any], fitted: _fit.Fitted) -> Any:
    name, report = metadata["estimator"], fitted.report
    if name not in _ESTIMATORS:
        raise ValueError(f"this version does not know {name!r}")
    size = {"SequenceSVC": "n_tags", "ASOTransformer": "n_components"}.get(name, "n_classes")
    if size not in report:
        raise ValueError(f"the arrays of the file are not those of a {name}")
    model: Any = _ESTIMATORS[name](**{key: _decoded(value) for key, value in metadata["parameters"].items()})
    _numbers.threads(model.n_jobs)  # refuses what is no number of threads
    if isinstance(model, ASOTransformer):
        model._check_parameters()
    classes = _decoded_classes(metadata["classes"], report[size]) if name != "ASOTransformer" else None
    model._keep_model(classes, fitted)
    model.n_features_in_ = report["n_features"]
    if isinstance(model, _LINEAR):
        if not isinstance(model.method, str | methods.Method):  # a name of another program's is kept
            raise ValueError(f"method is {model.method!r}")
        model.hierarchy_ = _hierarchy.checked(_decoded(metadata["hierarchy"]), model.classes_)
        model.calibration_temperature_ = float(_decoded(metadata["temperature"]))
        model.calibration_smoothing_ = float(_decoded(metadata["smoothing"]))
    if (names := metadata["feature_names"]) is not None:
        if len(names) != (n := model.n_features_in_) or not all(isinstance(name, str) for name in names):
            raise ValueError(f"feature_names are {len(names)} for {n} features, or some are no texts")
        model.feature_names_in_ = np.array(names, dtype=object)
    _check_anew(metadata, _metadata(model))
    return model


def _check_anew(read: dict[str, Any], anew: dict[str, Any]) -> None:
    """Check that `save_model` would write the metadata that was read. Missing parameters have their defaults."""
    anew = anew | {"fewlabel": read["fewlabel"]}
    anew["parameters"] = {name: anew["parameters"][name] for name in read["parameters"]}
    for name in sorted(read.keys() | anew.keys()):
        if json.dumps(read[name], sort_keys=True) != json.dumps(anew[name], sort_keys=True):  # 1, 1.0 and true differ
            raise ValueError(f"{name} is {json.dumps(read[name]):.80}")


def _encoded_classes(classes: np.ndarray) -> dict[str, Any]:
    return {"dtype": classes.dtype.name if classes.dtype.kind != "U" else "str", "values": _encoded("classes", classes)}


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
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_encoded(name, item) for item in value]
    if isinstance(value, methods.Method):
        return {"method": methods.options(value)}
    if isinstance(value, Mapping):
        return {"dict": [[_encoded(name, key), _encoded(name, item)] for key, item in value.items()]}
    if isinstance(value, float) and not np.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, str):
        return _markers.plain(_numbers.check_text(name, value))
    if value is not None and not isinstance(value, bool | int | float):
        raise ValueError(f"{name}={value!r} cannot be kept in a model file, only texts, numbers and bools can")
    return value


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if "dict" in value:
        return {_decoded(key): _decoded(item) for key, item in value["dict"]}
    return methods.of_options(value["method"]) if "method" in value else float(value["float"])
