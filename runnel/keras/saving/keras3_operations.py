"""The operations of Keras 3 functional models, converted to layers.

In Keras 3, `x + 1` on a symbolic tensor is an `Add` from `keras.src.ops` in the model's config,
with the operation's options in its own config. Here it is a layer that calls a public function.
"""

from __future__ import annotations

from typing import Any

_REDUCTION = {"axis": "axis", "keepdims": "keepdims"}
# By operation class: the function here, its argument names, and where options go.
_FUNCTIONS: dict[str, tuple[str, tuple[str, ...], dict[str, str]]] = {
    **{
        name: (f"math.{function}", ("x", "y"), {})
        for name, function in {
            "Add": "add",
            "Subtract": "subtract",
            "Multiply": "multiply",
            "Divide": "divide",
            "TrueDivide": "divide",
            "FloorDivide": "floordiv",
            "Mod": "floormod",
            "Power": "pow",
            "Maximum": "maximum",
            "Minimum": "minimum",
            "Equal": "equal",
            "NotEqual": "not_equal",
            "Greater": "greater",
            "GreaterEqual": "greater_equal",
            "Less": "less",
            "LessEqual": "less_equal",
            "LogicalAnd": "logical_and",
            "LogicalOr": "logical_or",
            "LogicalXor": "logical_xor",
        }.items()
    },
    **{
        name: (f"math.{function}", ("x",), {})
        for name, function in {
            "Negative": "negative",
            "Absolute": "abs",
            "Abs": "abs",
            "Exp": "exp",
            "Expm1": "expm1",
            "Log": "log",
            "Log1p": "log1p",
            "Sqrt": "sqrt",
            "Rsqrt": "rsqrt",
            "Square": "square",
            "Reciprocal": "reciprocal",
            "Sign": "sign",
            "Floor": "floor",
            "Ceil": "ceil",
            "Round": "round",
            "Sin": "sin",
            "Cos": "cos",
            "Tan": "tan",
            "Sinh": "sinh",
            "Cosh": "cosh",
            "Tanh": "tanh",
            "Sigmoid": "sigmoid",
            "LogSigmoid": "log_sigmoid",
            "Erf": "erf",
            "LogicalNot": "logical_not",
            "Isnan": "is_nan",
            "Isfinite": "is_finite",
        }.items()
    },
    **{
        name: (f"nn.{function}", ("features",), {})
        for name, function in {
            "Relu": "relu",
            "Relu6": "relu6",
            "Elu": "elu",
            "Selu": "selu",
            "Softsign": "softsign",
            "Softplus": "softplus",
            "Silu": "silu",
        }.items()
    },
    **{
        name: (f"math.reduce_{function}", ("input_tensor",), _REDUCTION)
        for name, function in {
            "Mean": "mean",
            "Sum": "sum",
            "Max": "max",
            "Min": "min",
            "Prod": "prod",
            "Any": "any",
            "All": "all",
            "Std": "std",
            "Var": "variance",
            "Logsumexp": "logsumexp",
        }.items()
    },
    "LeakyRelu": ("nn.leaky_relu", ("features",), {"negative_slope": "alpha"}),
    "Gelu": ("nn.gelu", ("features",), {"approximate": "approximate"}),
    "Softmax": ("nn.softmax", ("logits",), {"axis": "axis"}),
    "LogSoftmax": ("nn.log_softmax", ("logits",), {"axis": "axis"}),
    "Matmul": ("linalg.matmul", ("a", "b"), {}),
    "Reshape": ("reshape", ("tensor",), {"newshape": "shape"}),
    "Transpose": ("transpose", ("a",), {"axes": "perm"}),
    "ExpandDims": ("expand_dims", ("input",), {"axis": "axis"}),
    "Squeeze": ("squeeze", ("input",), {"axis": "axis"}),
    "Concatenate": ("concat", ("values",), {"axis": "axis"}),
    "Stack": ("stack", ("values",), {"axis": "axis"}),
    "Tile": ("tile", ("input",), {"repeats": "multiples"}),
    "Flip": ("reverse", ("tensor",), {"axis": "axis"}),
    "Cast": ("cast", ("x",), {"dtype": "dtype"}),
    "Where": ("where", ("condition", "x", "y"), {}),
    "Clip": ("clip_by_value", ("t",), {"x_min": "clip_value_min", "x_max": "clip_value_max"}),
    "Argmax": ("math.argmax", ("input",), {"axis": "axis"}),
    "Argmin": ("math.argmin", ("input",), {"axis": "axis"}),
    "Cumsum": ("math.cumsum", ("x",), {"axis": "axis"}),
    "ZerosLike": ("zeros_like", ("input",), {}),
    "OnesLike": ("ones_like", ("input",), {}),
    "StopGradient": ("stop_gradient", ("input",), {}),
}
# Indices are int32 in Keras 3.
_FIXED = {"Argmax": {"output_type": "int32"}, "Argmin": {"output_type": "int32"}}


def is_operation(layer: dict[str, Any]) -> bool:
    """Whether a layer's config is that of an operation.

    HDF5 files have no modules, and some operations share names with layers; but all layers except
    inputs have the option `trainable`.
    """
    if layer.get("module"):
        return str(layer["module"]).startswith("keras.src.ops.")
    kind = layer["class_name"]
    return (kind in _FUNCTIONS or kind in ("GetItem", "Einsum")) and "trainable" not in layer[
        "config"
    ]


def as_layer(layer: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...], dict[str, Any]]:
    """The layer config for an operation, its argument names, and further arguments."""
    kind, options = layer["class_name"], dict(layer["config"])
    name = options.pop("name", layer.get("name"))
    if kind == "GetItem":
        return (
            _config("SlicingOpLambda", name, "__operators__.getitem"),
            ("tensor", "slice_spec"),
            {},
        )
    if kind == "Einsum":
        return _config("TFOpLambda", name, "einsum"), ("equation",), {}
    known = _FUNCTIONS.get(kind)
    if known is None:
        raise ValueError(
            f"The model uses the operation {kind!r} of Keras 3 (in {name!r}), which has no "
            "counterpart here. Put it into a layer of your own, and give that in `custom_objects`."
        )
    function, arguments, places = known
    given = dict(_FIXED.get(kind, {}))
    for key, value in options.items():
        if key in places:
            given[places[key]] = value
        elif value not in (None, False):
            raise ValueError(
                f"The operation {kind!r} of Keras 3 (in {name!r}) has the option {key}={value!r}, "
                "which has no counterpart here."
            )
    return _config("TFOpLambda", name, function), arguments, given


def call_of(layer: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    """A call of an operation with the arguments of its function here."""
    if layer["class_name"] == "Einsum":
        equation = layer["config"]["subscripts"]
        return {"args": [equation], "kwargs": {"inputs": list(node["args"])}}
    return node


def _config(kind: str, name: Any, function: str) -> dict[str, Any]:
    return {
        "module": "tf_keras.src.layers.core.tf_op_layer",
        "class_name": kind,
        "config": {"name": name, "trainable": True, "dtype": "float32", "function": function},
        "registered_name": kind,
    }
