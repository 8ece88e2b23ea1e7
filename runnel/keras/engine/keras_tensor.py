"""KerasTensor: a symbolic value in a model under construction, and the calls that produced it."""

from __future__ import annotations

import inspect
import itertools
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, NoReturn

import runnel as tf

from ...core.composites import is_composite
from ...core.exchange import is_stand_in, own_code
from ...core.graph.graph import Graph, Operation, Placeholder
from ...core.tensor import SymbolicTensor
from .call_context import context
from .naming import unique_name

_order = itertools.count()

_IN_A_LAYER = (
    "It is a symbolic input or output of a Keras model and has no value yet. Use a function of "
    "tf.* in place of Python's or NumPy's (tf.exp for np.exp; tf.where or tf.cond for `if`; "
    "x.shape for len), or put the code into the `call` of a layer of your own and call that layer "
    "on it."
)
_NO_VALUE = "{tensor!r} cannot be used as {use}. " + _IN_A_LAYER
_NO_LOOP = (
    "Cannot iterate over {tensor!r}, whose first dimension is not known: it is the batch. Use "
    "tf.map_fn or tf.vectorized_map in a layer of your own, or tf.unstack(x, axis=1) for an axis "
    "of known size."
)

# Modules whose frames are skipped: members of composites between the ops that use them, and the
# dispatch between a function's stand-in and the function itself.
_BETWEEN = frozenset({"runnel.keras.engine.composite", "runnel.core.dispatch"})
# The public functions of Python's operators, by the op that they call.
_OPERATORS = {
    "AddV2": "__operators__.add", "Sub": "math.subtract", "Mul": "math.multiply",
    "RealDiv": "math.truediv", "FloorDiv": "compat.v1.floor_div", "FloorMod": "math.floormod",
    "Pow": "math.pow", "Neg": "math.negative", "Abs": "math.abs", "MatMul": "linalg.matmul",
    "Greater": "math.greater", "GreaterEqual": "math.greater_equal", "Less": "math.less",
    "LessEqual": "math.less_equal", "Equal": "math.equal", "NotEqual": "math.not_equal",
    "LogicalAnd": "math.logical_and", "LogicalOr": "math.logical_or",
    "LogicalXor": "math.logical_xor", "LogicalNot": "math.logical_not",
    "BitwiseAnd": "bitwise.bitwise_and", "BitwiseOr": "bitwise.bitwise_or",
    "BitwiseXor": "bitwise.bitwise_xor", "Invert": "bitwise.invert",
    "StridedSlice": "__operators__.getitem",
}  # fmt: skip
_NAMESPACES = ("math", "linalg", "nn", "random", "bitwise", "dtypes", "image", "signal", "strings")
# The original's canonical names of functions with several names, or with an older form of equal
# arguments.
_NAMES = {
    **{
        name: f"compat.v1.{name}"
        for name in ("boolean_mask", "gather", "gather_nd", "norm", "pad", "shape", "size")
    },
    **{name: f"compat.v1.{name}" for name in ("squeeze", "transpose")},
    **{name: f"nn.{name}" for name in ("log_softmax", "softmax", "softsign")},
    **{name: name for name in ("cast", "einsum", "eye", "space_to_batch", "tensordot")},
    "matrix_square_root": "linalg.sqrtm",
}
# Functions whose `name` is serialized even if it is None, as for operators.
_NAMED = frozenset(
    {f"math.{name}" for name in (
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "digamma",
        "erf", "erfc", "expm1", "floormod", "greater", "greater_equal", "is_finite", "is_inf",
        "is_nan", "less", "less_equal", "lgamma", "log", "log1p", "logical_and", "logical_not",
        "logical_or", "maximum", "minimum", "negative", "reciprocal", "rint", "sin", "sinh",
        "square", "squared_difference", "tan", "tanh", "truediv", "xdivy", "xlogy", "zeta",
    )} | {"broadcast_to", "nn.elu", "nn.relu", "nn.selu", "nn.softsign", "reverse", "tile"}
)  # fmt: skip

_OUT_OF_MODEL = (
    "was passed to what computes with values: a tf.function, tf.map_fn, tf.Variable, a dataset or "
    "the like. " + _IN_A_LAYER
)
_LAST_OUTPUT_ONLY = (
    '. The layer before it, "{name}", gives its last output only: {kind}(..., '
    "return_sequences=True) gives one for each time step."
)
_INPUT_SHAPE = (
    ". The shape of an input leaves out the batch: {shape} is that of one example. Images have the "
    "axes (height, width, channels), sequences (steps, features)."
)


class KerasHistory(NamedTuple):
    """The coordinates of a KerasTensor: layer, call index, output index."""

    layer: Any
    node_index: int
    tensor_index: int


class KerasTensor(SymbolicTensor):
    """A symbolic value in a functional model: shape, dtype, and the layer that produces it.

    >>> tf.keras.Input([4])
    <KerasTensor: shape=(None, 4) dtype=float32 (created by layer 'input_...')>
    """

    __slots__ = ("_keras_history", "_label")

    _keras_history: KerasHistory
    _label: str
    _scope_advice = _OUT_OF_MODEL
    # Configs refer to the tensor that was given.
    folds_as_index = False

    @property
    def name(self) -> str:
        return getattr(self, "_label", None) or f"{self.layer_name}:{self.index}"

    @property
    def layer_name(self) -> str:
        """The name of the layer that produces this value."""
        return self.op.layer.name  # type: ignore[attr-defined]

    def _no_value(self, what: str) -> NoReturn:
        raise TypeError(_NO_VALUE.format(tensor=self, use=f"a Python {what}"))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NoReturn:
        raise TypeError(_NO_VALUE.format(tensor=self, use="a NumPy array"))

    def __iter__(self) -> Iterator[tf.Tensor]:
        if not self._shape.rank or self._shape[0] is None:
            raise TypeError(_NO_LOOP.format(tensor=self))
        return (self[index] for index in range(self._shape[0]))

    def __len__(self) -> int:
        raise TypeError(_NO_VALUE.format(tensor=self, use="a sequence with len()"))

    @property
    def numpy(self) -> NoReturn:
        """Not available: a symbolic value has no data."""
        raise AttributeError(_NO_VALUE.format(tensor=self, use="an array of NumPy"))

    def _adopt(self, composite: Any) -> None:
        """Convert a ragged or sparse tensor of symbolic values to a Keras one."""
        from .composite import KINDS

        composite.__class__ = KINDS[type(composite)]

    @property
    def type_spec(self) -> tf.TensorSpec:
        return tf.TensorSpec(self.shape, self.dtype)

    def __repr__(self) -> str:
        return (
            f"<KerasTensor: shape={self.shape} dtype={self.dtype.name} (created by layer "
            f"'{self.layer_name}')>"
        )

    def __str__(self) -> str:
        return (
            f"KerasTensor(type_spec={self.type_spec!r}, name='{self.name}', "
            f"description=\"created by layer '{self.layer_name}'\")"
        )


class CompositeKerasTensor:
    """A symbolic composite tensor in a functional model: its components are KerasTensors."""

    _type_spec: Any

    @property
    def _main(self) -> KerasTensor:
        """The component with the values, which represents the whole."""
        raise NotImplementedError

    def _parts_of_value(self, value: Any) -> list[Any]:
        """The components of a value passed for this one; it may be dense."""
        raise NotImplementedError

    def _parts(self) -> list[Any]:
        """The component tensors."""
        return list(self._type_spec._to_components(self))

    def _of_parts(self, parts: list[Any]) -> Any:
        """The composite with these components."""
        return self._type_spec._from_components(parts)

    @property
    def op(self) -> Any:
        return self._main.op

    @property
    def name(self) -> str:
        return self._main.name

    @property
    def layer_name(self) -> str:
        """The name of the layer that produces this value."""
        return self._main.layer_name

    @property
    def _keras_history(self) -> KerasHistory:
        return self._main._keras_history

    @property
    def type_spec(self) -> Any:
        return self._type_spec

    def __repr__(self) -> str:
        return f"<KerasTensor: type_spec={self.type_spec!r} (created by layer '{self.layer_name}')>"

    __str__ = KerasTensor.__str__


def is_keras_tensor(value: Any) -> bool:
    """Whether a value is symbolic, dense or composite."""
    return isinstance(value, KerasTensor | CompositeKerasTensor)


def parts_of(value: Any) -> list[KerasTensor]:
    """The KerasTensors that make up a symbolic value."""
    if isinstance(value, KerasTensor):
        return [value]
    return [part for part in value._parts() if isinstance(part, KerasTensor)]


def value_in(values: dict[int, Any], tensor: Any) -> Any:
    """The value assigned to a KerasTensor, or to a composite through its components."""
    if isinstance(tensor, CompositeKerasTensor) and id(tensor) not in values:
        return tensor._of_parts([values.get(id(part), part) for part in tensor._parts()])
    return values[id(tensor)]


def note_value(values: dict[int, Any], tensor: Any, value: Any) -> None:
    """Assign the value of a KerasTensor, and those of a composite's components."""
    values[id(tensor)] = value
    if isinstance(tensor, CompositeKerasTensor):
        for part, each in zip(tensor._parts(), tensor._parts_of_value(value), strict=True):
            values[id(part)] = each


class Node:
    """One call of a layer on KerasTensors."""

    # Its outputs act as placeholders for the operations on them.
    op = Placeholder
    inputs = ()

    def __init__(self, layer: Any, arguments: tuple[Any, Any, Any], outputs: Any) -> None:
        self.layer = layer
        self.arguments = arguments
        self.order = next(_order)
        self.graph = GRAPH
        self.keras_inputs = [v for v in tf.nest.flatten(arguments) if is_keras_tensor(v)]
        self.index = len(layer._inbound_nodes)
        layer._inbound_nodes.append(self)
        for tensor in self.keras_inputs:
            tensor.op.layer._outbound_nodes.append(self)
        self.masked: list[tuple[KerasTensor, int]] = []
        flat = [self._output(index, each) for index, each in enumerate(tf.nest.flatten(outputs))]
        self.flat_outputs = flat
        self.outputs = tf.nest.pack_sequence_as(outputs, flat)

    def _output(self, index: int, traced: Any) -> Any:
        if type(traced) in tf.core.op.COMPOSITES:
            spec = traced._type_spec
            parts = spec._to_components(traced)
            return spec._from_components([self._output(index, part) for part in parts])
        if not isinstance(traced, tf.Tensor):
            return self._composite_output(index, traced)
        tensor = KerasTensor(self, index, traced.dtype, traced.shape)  # type: ignore[arg-type]
        tensor._keras_history = KerasHistory(self.layer, self.index, index)
        made_by = getattr(getattr(traced, "op", None), "type", None)
        tensor._label = f"{self.layer.name}/{made_by}:0" if made_by else self.layer.name
        mask = getattr(traced, "_keras_mask", None)
        if mask is not None:
            tensor._keras_mask = KerasTensor(self, index, mask.dtype, mask.shape)  # type: ignore[arg-type]
            tensor._keras_mask._label = f"{self.layer.name}_mask"
            self.masked.append((tensor._keras_mask, index))
        return tensor

    def _composite_output(self, index: int, traced: Any) -> Any:
        """The symbolic counterpart of an extension-type value; other values unchanged."""
        if not is_composite(type(traced)):
            return traced
        from .extension_tensor import ExtensionKerasTensor

        spec = tf.type_spec_from_value(traced)
        return ExtensionKerasTensor(
            spec, [self._output(index, part) for part in spec.to_tensors(traced)]
        )

    @property
    def input_tensors(self) -> Any:
        """The inputs of the call: its first argument."""
        return self.arguments[0]

    def run(self, values: dict[int, Any]) -> None:
        """Call the layer on the values of its inputs."""

        def value_of(argument: Any) -> Any:
            return value_in(values, argument) if is_keras_tensor(argument) else argument

        inputs, rest, kwargs = self.arguments
        if isinstance(inputs, KerasTensor) and not rest and not kwargs:
            outputs = self.layer(values[id(inputs)])
        else:
            inputs, rest, kwargs = tf.nest.map_structure(value_of, self.arguments)
            outputs = self.layer(inputs, *rest, **kwargs)
        results = tf.nest.flatten(outputs)
        for tensor, value in zip(self.flat_outputs, results, strict=True):
            note_value(values, tensor, value)
        for tensor, index in self.masked:
            values[id(tensor)] = getattr(results[index], "_keras_mask", None)


class OperationNode(Operation):
    """An operation on KerasTensors outside of layers: part of a TFOpLambda layer."""

    __slots__ = ("layer", "order")

    layer: Any
    order: int

    def run(self, values: dict[int, Any]) -> None:  # type: ignore[override]
        """Run the operation on the values of its inputs."""
        inputs = [
            values[id(each)] if isinstance(each, KerasTensor) else each for each in self.inputs
        ]
        results = tf.core.op.execute(self.op, inputs, self.given)
        for tensor, value in zip(
            self.outputs, [results] if self.op.single else results, strict=True
        ):
            values[id(tensor)] = value

    @property
    def keras_inputs(self) -> list[Any]:
        """The inputs that are produced in the model."""
        return [each for each in self.inputs if isinstance(each, KerasTensor)]


class LayersGraph(Graph):
    """The single graph of all KerasTensors; operations on them are appended as they are called."""

    open = True
    tensor_type = KerasTensor

    def __init__(self) -> None:
        super().__init__()
        self._frame: Any = None
        self._layer: Any = None

    def add(self, op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        for each in inputs:
            if isinstance(each, CompositeKerasTensor):
                return each._execute(op, inputs, attrs)  # type: ignore[attr-defined]
        return self.add_to(self._layer_of_call(op, inputs), op, inputs, attrs)

    def add_to(self, layer: Any, op: Any, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
        """Append an operation to those of a layer."""
        try:
            types = op.types_of_results(inputs, attrs)
        except tf.errors.InvalidArgumentError as mismatch:
            # As in every graph, an operation that can never run is a TypeError.
            raise TypeError(mismatch.message) from None
        shapes = op.infer_shapes(inputs, attrs)
        node = OperationNode(self, op, op.name, inputs, attrs)
        node.order = next(_order)
        node.layer = layer
        kinds = [types] if op.single else types
        outputs = [
            KerasTensor(node, index, dtype, shape)
            for index, (dtype, shape) in enumerate(zip(kinds, shapes, strict=True))
        ]
        node.outputs = list(outputs)
        for index, tensor in enumerate(outputs):
            tensor._keras_history = KerasHistory(node.layer, 0, index)
            tensor._label = f"{node.layer.name}/{op.name}:0"
        node.layer.operations.append(node)
        return node.outputs[0] if op.single else list(node.outputs)

    def _layer_of_call(self, op: Any, inputs: Sequence[Any]) -> Any:
        """One layer for all operations of one public function call."""
        frame = _outermost_library_frame()
        if frame is not self._frame:
            from ..layers.op_lambda import op_layer

            self._frame = frame
            self._layer = op_layer(*_public_call(frame, op, inputs))
        return self._layer


def _outermost_library_frame() -> Any:
    """The frame of the outermost public function, called by the user or by Keras."""
    frame: Any = sys._getframe(3)
    found = frame
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module not in _BETWEEN:
            if not module.startswith("runnel.") or module.startswith("runnel.keras."):
                break
            if not is_stand_in(frame.f_code):
                found = frame
        frame = frame.f_back
    return found


def _public_call(frame: Any, op: Any, inputs: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """The name of the public function, and its arguments at the time of its first operation."""
    module = frame.f_globals["__name__"]
    if module.endswith(".operators"):
        return _operator_call(frame.f_locals, op, inputs)
    if frame.f_code.co_name == "operator" and module.endswith(".ragged.dispatch"):
        function = frame.f_locals["function"].__code__
        return _public_name(function), {
            "x": frame.f_locals["other"], "y": frame.f_locals["self"], "name": None
        }  # fmt: skip
    if frame.f_code.co_name == "__getitem__":
        key = frame.f_locals["key"]
        return "__operators__.ragged_getitem", {"rt_input": frame.f_locals["rt_input"], "key": key}
    if module.endswith(".indexing"):
        tensor, key = frame.f_locals["tensor"], frame.f_locals["key"]
        if getattr(key, "dtype", None) in (tf.bool, bool):
            return "compat.v1.boolean_mask", {"tensor": tensor, "mask": key}
        return "__operators__.getitem", {"tensor": tensor, "slice_spec": key}
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & inspect.CO_VARARGS)
    values = frame.f_locals
    given = {name: values[name] for name in code.co_varnames[:count] if name in values}
    if isinstance(given.get("cls"), type):
        kind = given.pop("cls")
        first = next(iter(given))
        return f"{kind.__name__}.{code.co_name}", {"args": [given.pop(first)], "kwargs": given}
    function = _public_name(code)
    if given.get("name", "") is None and function not in _NAMED:
        del given["name"]
    return function, given


def _operator_call(values: Any, op: Any, inputs: Sequence[Any]) -> tuple[str, dict[str, Any]]:
    """The function of an operator; right-hand numbers as the user gave them."""
    if op.name == "Cast":
        op = values.get("op", op)
    names = ("a", "b") if op.name == "MatMul" else ("x", "y")
    operands = list(inputs)
    if "other" in values:
        tensor, other = values["self"], values["other"]
        if "reflected" in values:
            operands = [tensor, other]
        else:
            operands = [tf.convert_to_tensor(other, tensor.dtype), tensor]
    given = dict(zip(names, operands, strict=False))
    return _OPERATORS.get(op.name, op.name), {**given, "name": None}


def _public_name(code: Any) -> str:
    name = code.co_name
    for space in ("ragged", "sparse"):
        if f".ops.{space}" in code.co_filename.replace("\\", "/").replace("/", "."):
            return f"{space}.{name}"
    if name in _NAMES:
        return _NAMES[name]
    for space in _NAMESPACES:
        function = getattr(getattr(tf, space, None), name, None)
        if own_code(function) is code:
            return f"{space}.{name}"
    return name


GRAPH = LayersGraph()


def holds_keras_tensors(structure: Any) -> bool:
    """Whether a structure contains a symbolic value."""
    if isinstance(structure, KerasTensor | CompositeKerasTensor):
        return True
    if isinstance(structure, list | tuple):
        return any(holds_keras_tensors(each) for each in structure)
    if isinstance(structure, dict):
        return any(holds_keras_tensors(each) for each in structure.values())
    return False


def apply_symbolically(layer: Any, inputs: Any, rest: Any, kwargs: dict[str, Any]) -> Any:
    """Record a layer call in the graph of layers; returns KerasTensors for its outputs."""
    # A copy: later changes of the caller's lists and dicts have no effect here.
    arguments = _in_own_containers((inputs, list(rest), kwargs))
    try:
        outputs = trial_outputs(layer, inputs, rest, kwargs)
    except ValueError as failure:
        if type(failure) is not ValueError or "found ndim=" not in str(failure):
            raise
        raise ValueError(f"{failure}{_of_missing_axis(inputs)}") from None
    return _in_own_containers(Node(layer, arguments, outputs).outputs)


def _in_own_containers(structure: Any) -> Any:
    return tf.nest.map_structure(lambda each: each, structure)


def _of_missing_axis(inputs: Any) -> str:
    """The error message for a layer whose inputs have the wrong rank."""
    if not isinstance(inputs, KerasTensor):
        return ""
    before = inputs.op.layer  # type: ignore[attr-defined]
    if getattr(before, "return_sequences", None) is False:
        return _LAST_OUTPUT_ONLY.format(name=before.name, kind=type(before).__name__)
    if type(before).__name__ == "InputLayer":
        return _INPUT_SHAPE.format(shape=tuple(inputs.shape[1:]))
    return ""


def trial_outputs(layer: Any, inputs: Any, rest: Any = (), kwargs: Any = None) -> Any:
    """The symbolic outputs of a layer for inputs of known shapes and dtypes."""
    graph = Graph()

    def stand_in(value: Any) -> Any:
        if isinstance(value, KerasTensor | tf.TensorSpec):
            placeholder = graph.placeholder(value.dtype, value.shape)
            mask = getattr(value, "_keras_mask", None)
            if mask is not None:
                placeholder._keras_mask = stand_in(mask)
            return placeholder
        if isinstance(value, CompositeKerasTensor | tf.TypeSpec):
            return stand_in_composite(graph, value)
        return value

    inputs, rest, kwargs = tf.nest.map_structure(stand_in, (inputs, list(rest), kwargs or {}))
    depth, context.depth = context.depth, context.depth + 1
    trial, context.trial = context.trial, True
    try:
        with graph.as_default():
            return layer(inputs, *rest, **kwargs)
    finally:
        context.depth = depth
        context.trial = trial


def stand_in_composite(graph: Graph, value: Any) -> Any:
    """A composite of placeholders for a composite of KerasTensors, or for a spec."""
    spec = value if isinstance(value, tf.TypeSpec) else value._type_spec
    return spec.from_tensors(graph.placeholder(each.dtype, each.shape) for each in spec.flatten())


def new_layer_name(function_name: str) -> str:
    """The name of the layer for a call of a public function: tf.math.add, tf.math.add_1, ..."""
    return unique_name(f"tf.{function_name}")
