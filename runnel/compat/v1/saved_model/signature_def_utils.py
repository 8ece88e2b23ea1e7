"""TensorInfo and SignatureDef messages for SavedModels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....core import dtypes
from ....formats import saved_model_names
from ....formats.saved_model_messages import SignatureDef, TensorInfo
from ....saved_model.tensors import shape_proto
from ....sparse import SparseTensor


def build_tensor_info(tensor: Any) -> Any:
    """The TensorInfo of a tensor of a graph: its name, dtype and shape."""
    if isinstance(tensor, SparseTensor):
        info = TensorInfo(dtype=tensor.dtype.as_datatype_enum)
        info.tensor_shape.CopyFrom(shape_proto(tensor.shape))
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
        return info
    if not hasattr(tensor, "graph"):
        raise RuntimeError("`build_tensor_info` is not supported in eager execution.")
    info = TensorInfo(name=tensor.name, dtype=tensor.dtype.as_datatype_enum)
    info.tensor_shape.CopyFrom(shape_proto(tensor.shape))
    return info


def get_tensor_from_tensor_info(
    tensor_info: Any, graph: Any = None, import_scope: str | None = None
) -> Any:
    """The tensor of a graph that a TensorInfo refers to."""
    from .. import get_default_graph

    graph = graph or get_default_graph()

    def found(name: str) -> Any:
        return graph.as_graph_element(f"{import_scope}/{name}" if import_scope else name)

    kind = tensor_info.WhichOneof("encoding")
    if kind == "name":
        return found(tensor_info.name)
    if kind == "coo_sparse":
        parts = tensor_info.coo_sparse
        return SparseTensor(
            found(parts.indices_tensor_name),
            found(parts.values_tensor_name),
            found(parts.dense_shape_tensor_name),
        )
    raise ValueError(f"Invalid TensorInfo.encoding: {kind}. Expected `name` or `coo_sparse`.")


def build_signature_def(
    inputs: Mapping[str, Any] | None = None,
    outputs: Mapping[str, Any] | None = None,
    method_name: str | None = None,
    defaults: Mapping[str, Any] | None = None,
) -> Any:
    """A signature from TensorInfos, keyed by their names in it."""
    signature = SignatureDef(method_name=method_name or "")
    for messages, given in ((signature.inputs, inputs), (signature.outputs, outputs)):
        for name, info in (given or {}).items():
            messages[name].CopyFrom(info)
    for name, value in (defaults or {}).items():
        signature.defaults[name].CopyFrom(value)
    return signature


def predict_signature_def(inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> Any:
    """The signature of a prediction, from tensors keyed by their names in it."""
    if not inputs:
        raise ValueError("Prediction `inputs` cannot be None or empty.")
    if not outputs:
        raise ValueError("Prediction `outputs` cannot be None or empty.")
    return build_signature_def(
        {name: build_tensor_info(tensor) for name, tensor in inputs.items()},
        {name: build_tensor_info(tensor) for name, tensor in outputs.items()},
        saved_model_names.PREDICT_METHOD_NAME,
    )


def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """The signature of a regression: serialized examples in, float32 predictions out."""
    _require("Regression", "examples", examples, dtypes.string)
    _require("Regression", "predictions", predictions, dtypes.float32)
    return build_signature_def(
        {saved_model_names.REGRESS_INPUTS: build_tensor_info(examples)},
        {saved_model_names.REGRESS_OUTPUTS: build_tensor_info(predictions)},
        saved_model_names.REGRESS_METHOD_NAME,
    )


def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """The signature of a classification: serialized examples in, classes or scores out."""
    _require("Classification", "examples", examples, dtypes.string)
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    outputs = {}
    if classes is not None:
        _require("Classification", "classes", classes, dtypes.string)
        outputs[saved_model_names.CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
    if scores is not None:
        _require("Classification", "scores", scores, dtypes.float32)
        outputs[saved_model_names.CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
    return build_signature_def(
        {saved_model_names.CLASSIFY_INPUTS: build_tensor_info(examples)},
        outputs,
        saved_model_names.CLASSIFY_METHOD_NAME,
    )


def _require(kind: str, name: str, tensor: Any, dtype: Any) -> None:
    if tensor is None:
        raise ValueError(f"{kind} `{name}` cannot be None.")
    if tensor.dtype != dtype:
        raise ValueError(
            f"{kind} `{name}` must be a tensor of {dtype.name}. Received one of "
            f"{tensor.dtype.name}: {tensor!r}"
        )
