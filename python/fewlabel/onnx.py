"""Conversion of classifiers to ONNX by skl2onnx, alone and in pipelines: for programs without Python."""

from typing import Any

import numpy as np

from fewlabel import _columns
from fewlabel._logistic_regression import SemiSupervisedLogisticRegression
from fewlabel._transductive_svc import TransductiveSVC

__all__ = ["register"]

_KINDS = (TransductiveSVC, SemiSupervisedLogisticRegression)


def register() -> None:
    """Let skl2onnx convert `TransductiveSVC` and `SemiSupervisedLogisticRegression`.

    Call it once before `skl2onnx.to_onnx`. The outputs of a model are "label", shape (n_rows,), and "scores", those of
    `decision_function`, shape (n_rows, 1) for two classes and (n_rows, n_classes) for more. A model that has
    `predict_proba` also has "probabilities", shape (n_rows, n_classes). Values are float32, or float64 if the input is.
    Other classifiers of fewlabel are not converted. In pipelines of texts give the vectorizer
    ``token_pattern="[a-zA-Z0-9_]+"``: skl2onnx takes it in the place of the default one, without a warning, and words
    with other letters change the scores.

    Raises
    ------
    ImportError
        If skl2onnx is not installed (`pip install 'fewlabel[onnx]'`).

    Examples
    --------
    >>> from fewlabel import TransductiveSVC
    >>> from fewlabel.onnx import register
    >>> from skl2onnx import to_onnx
    >>> from skl2onnx.common.data_types import FloatTensorType
    >>> register()
    >>> model = TransductiveSVC().fit([[0.0, 1.0], [1.0, 0.0], [0.9, 0.1], [0.1, 0.9]], [0, 1, -1, -1])
    >>> converted = to_onnx(model, initial_types=[("X", FloatTensorType([None, 2]))])
    >>> [output.name for output in converted.graph.output]
    ['label', 'scores']
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as reason:
        raise ImportError("fewlabel.onnx needs skl2onnx: pip install 'fewlabel[onnx]'") from reason
    for kind in _KINDS:
        update_registered_converter(
            kind,
            f"Fewlabel{kind.__name__}",
            _shapes,
            _convert,
            parser=_parse,
            options={"zipmap": [True, False]},  # pipelines set it; outputs are arrays in any case
        )


def _is_probable(model: Any) -> bool:
    return hasattr(model, "predict_proba")


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare the operator with its outputs."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType

    _columns.refuse(model, "ONNX")
    kind = model.classes_.dtype.kind
    if kind not in "biuUO":
        raise ValueError(f"classes must be texts, integers or bools to be converted, got {model.classes_.dtype}")
    operator = scope.declare_local_operator(f"Fewlabel{type(model).__name__}", model)
    operator.inputs = inputs
    label = StringTensorType() if kind in "UO" else Int64TensorType()
    number = _number_type(inputs[0])
    outputs = [("label", label), ("scores", number())] + [("probabilities", number())] * _is_probable(model)
    for name, tensor in outputs:
        operator.outputs.append(scope.declare_local_variable(name, tensor))
    return operator.outputs


def _number_type(variable: Any) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType

    return DoubleTensorType if isinstance(variable.type, DoubleTensorType) else FloatTensorType


def _shapes(operator: Any) -> None:
    """Set the shapes of the outputs."""
    model, rows = operator.raw_operator, operator.inputs[0].get_first_dimension()
    operator.outputs[0].type.shape = [rows]
    operator.outputs[1].type.shape = [rows, len(model.coef_)]
    if _is_probable(model):
        operator.outputs[2].type.shape = [rows, len(model.classes_)]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes: scores = X W + b, the class of the largest score, and the calibrated softmax."""
    from skl2onnx.algebra import onnx_ops as onnx
    from skl2onnx.common.data_types import guess_numpy_type

    model, X, number = operator.raw_operator, operator.inputs[0], guess_numpy_type(operator.inputs[0].type)
    if number not in (np.float32, np.float64):
        X, number = onnx.OnnxCast(X, to=1, op_version=container.target_opset), np.float32
    version: dict[str, Any] = {"op_version": container.target_opset}
    label, scored, *probable = ([output] for output in operator.outputs)

    products = onnx.OnnxMatMul(X, model.coef_.T.astype(number), **version)
    scores = onnx.OnnxAdd(products, model.intercept_.astype(number), **version)
    every = scores  # of every class; that of the first of two is 0
    if len(model.coef_) == 1:
        second = np.arange(len(model.classes_), dtype=number)[None]  # [[0, 1]], or [[0]] of one class
        every = onnx.OnnxMatMul(scores, second, **version)
    numbers = onnx.OnnxArgMax(every, axis=1, keepdims=0, **version)
    nodes = [onnx.OnnxGather(_plain(model.classes_), numbers, output_names=label, **version)]
    nodes.append(onnx.OnnxIdentity(scores, output_names=scored, **version))
    if probable:
        temperature, smoothing = _calibration(model)
        softmax = onnx.OnnxSoftmax(
            onnx.OnnxMul(every, np.array([1 / temperature], number), **version), axis=1, **version
        )
        smooth = onnx.OnnxMul(softmax, np.array([1 - smoothing], number), **version)
        spread = np.array([smoothing / len(model.classes_)], number)
        nodes.append(onnx.OnnxAdd(smooth, spread, output_names=probable[0], **version))
    for node in nodes:
        node.add_to(scope, container)


def _calibration(model: Any) -> tuple[float, float]:
    """Temperature and smoothing of the probabilities."""
    if np.isnan(model.calibration_temperature_):
        return 1.0, 0.0
    return model.calibration_temperature_, model.calibration_smoothing_


def _plain(classes: np.ndarray) -> np.ndarray:
    """Classes as texts or integers."""
    return classes.astype(np.str_) if classes.dtype.kind in "UO" else classes.astype(np.int64)
