"""TFOpLambda: a call of a public function on KerasTensors, recorded as a layer."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

import runnel as tf

from ..engine.base_layer import Layer
from ..engine.keras_tensor import (
    apply_symbolically,
    holds_keras_tensors,
    is_keras_tensor,
    new_layer_name,
)
from ..engine.layer_nodes import shape_tuples
from ..engine.layer_order import inputs_of
from ..engine.naming import unique_name
from ..engine.tracking import unique

# The functions for operator names in saved files.
_OPERATORS = {"__operators__.add": "math.add", "compat.v1.floor_div": "math.floordiv"}
_SLICES = ("__operators__.getitem", "__operators__.ragged_getitem")
# The namespaces whose functions a model file may name: they compute tensors from tensors. They give
# no access to other modules, and no function in them handles files or processes.
_COMPUTING = frozenset(
    {"audio", "bitwise", "image", "linalg", "math", "nn", "quantization", "ragged", "random"}
    | {"sets", "signal", "sparse", "strings"}
)
# The functions of `tf.io` that only encode and decode bytes.
_CODECS = ("decode_", "encode_", "parse_", "serialize_", "deserialize_")
# Homes of functions that run Python functions, reach files or processes, or change variables or
# the random numbers of the program.
_FORBIDDEN = tuple(
    f"runnel.ops.{name}"
    for name in (
        *("debugging", "lookup", "message_types", "printing", "protos", "queues", "script"),
        *("random_generator", "random_streams", "training", "variable_updates"),
    )
)
# Parameters that take file paths.
_PATHS = frozenset({"filename", "vocab_file", "descriptor_source"})


@functools.cache
def computing_function(name: str) -> Any:
    """The public function of a name that a model may call, or None.

    The name may come from a file, so the function must be known to be pure computation: by its
    namespace, its module, and its parameters.
    """
    path = _OPERATORS.get(name, name).removeprefix("compat.v1.").split(".")
    if not path or not all(part.isidentifier() and part[0] != "_" for part in path):
        return None
    *spaces, last = path
    if spaces == ["io"]:
        if not last.startswith(_CODECS):
            return None
    elif spaces and spaces[0] not in _COMPUTING:
        return None
    target: Any = tf
    for part in spaces:
        target = getattr(target, part, None)
        if not inspect.ismodule(target):
            return None
    target = getattr(target, last, None)
    home = getattr(target, "__module__", None) or ""
    if not inspect.isfunction(target) or not home.startswith("runnel.ops."):
        return None
    if home.startswith(_FORBIDDEN) or (home == "runnel.ops.io" and spaces != ["io"]):
        return None
    return None if _PATHS & set(inspect.signature(target).parameters) else target


class TFOpLambda(Layer):
    """A recorded call of a function such as tf.reduce_mean in a functional model."""

    def __init__(self, function: Any, **kwargs: Any) -> None:
        if kwargs.get("name") is None:
            kwargs["name"] = new_layer_name(function)
        kwargs["autocast"] = False
        super().__init__(**kwargs)
        self.function_name = function
        self.operations: list[Any] = []
        self.arguments: dict[str, Any] = {}
        self.built = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # Arguments are passed through: no autocast, no `training`, no mask.
        if holds_keras_tensors((args, kwargs)):
            self._note_shapes(args[0])
            return apply_symbolically(self, args[0], args[1:], kwargs)
        return self.call(*args, **kwargs)

    def take_arguments(self, arguments: dict[str, Any]) -> None:
        """Record the call arguments, for configs."""
        self.arguments = arguments
        self._note_shapes(next(iter(arguments.values()), ()))

    def _note_shapes(self, first: Any) -> None:
        # A list with tensors in it is a structure; any other list is one constant.
        if is_keras_tensor(first) or not holds_keras_tensors(first):
            self._build_input_shape = tf.TensorShape(np.shape(first))
        else:
            self._build_input_shape = tf.nest.map_structure(
                lambda value: tf.TensorShape(np.shape(value)), first
            )

    @property
    def input(self) -> Any:
        if self._inbound_nodes:
            return super().input
        tensors = unique(iter(inputs_of(self)))
        return tensors[0] if len(tensors) == 1 else tensors

    @property
    def output(self) -> Any:
        if self._inbound_nodes or not self.operations:
            return super().output
        tensors = self.operations[-1].outputs
        return tensors[0] if len(tensors) == 1 else list(tensors)

    @property
    def input_shape(self) -> Any:
        return shape_tuples(self.input)

    @property
    def output_shape(self) -> Any:
        return shape_tuples(self.output)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, looked up by its public name."""
        function = self._function()
        names, variadic = _parameters(function)
        more = kwargs.pop(variadic, ()) if variadic else ()
        return function(*args, *more, **{k: v for k, v in kwargs.items() if k in names})

    def _function(self) -> Any:
        name = self.function_name
        target = computing_function(name)
        if target is None:
            raise ValueError(
                f"TF symbol `{name}` could not be found: the layer {self.name!r} calls a function "
                "that is not public here or does more than compute tensors from tensors, so it can "
                "be neither saved nor loaded. Put the computation into a layer of your own."
            )
        return target

    def _given(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments that differ from the defaults, and always the first."""
        try:
            parameters = inspect.signature(self._function()).parameters
        except ValueError:
            return arguments
        first = next(iter(arguments), None)
        return {
            name: value
            for name, value in arguments.items()
            if name == first
            or name not in parameters
            or value is not parameters[name].default
            or (name == "name" and value is None)
        }

    def get_config(self) -> dict[str, Any]:
        """The name of the function."""
        self._function()
        return {**super().get_config(), "function": self.function_name}


class SlicingOpLambda(TFOpLambda):
    """`tensor[key]`, with slices in the key serialized as dicts of start, stop and step."""

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The part of the tensor."""
        if self.function_name not in _SLICES:
            return super().call(*args, **kwargs)
        tensor, key = [*args, *kwargs.values()]
        return tensor[_key(key)]

    def _function(self) -> Any:
        return None if self.function_name in _SLICES else super()._function()


class InstanceProperty(Layer):
    """A property of a ragged or sparse tensor, such as `values`."""

    def __init__(self, attr_name: str, **kwargs: Any) -> None:
        if kwargs.get("name") is None:
            kwargs["name"] = unique_name(f"input.{attr_name}")
        kwargs["autocast"] = False
        super().__init__(**kwargs)
        self.attr_name = attr_name

    def call(self, obj: Any) -> Any:
        """The property of the tensor."""
        return self._member(obj)

    def _member(self, obj: Any) -> Any:
        # The name may come from a file: only listed properties are looked up.
        from ..engine import composite

        if self.attr_name not in composite.MEMBERS:
            raise ValueError(
                f"The layer {self.name!r} asks for the member {self.attr_name!r} of a ragged or "
                f"sparse tensor. Those that models may use are {sorted(composite.MEMBERS)}."
            )
        return getattr(obj, self.attr_name)

    def get_config(self) -> dict[str, Any]:
        """The name of the property."""
        return {**super().get_config(), "attr_name": self.attr_name}


class InstanceMethod(InstanceProperty):
    """A method of a ragged tensor, such as `to_tensor`, with arguments."""

    def call(self, obj: Any, args: Any, kwargs: Any) -> Any:  # type: ignore[override]
        """The result of the method."""
        return self._member(obj)(*args, **kwargs)


class ClassMethod(TFOpLambda):
    """A constructor of ragged tensors, such as `tf.RaggedTensor.from_tensor`."""

    def __init__(self, cls_symbol: str, method_name: str, **kwargs: Any) -> None:
        super().__init__(f"{cls_symbol}.{method_name}", **kwargs)
        self.cls_symbol = cls_symbol
        self.method_name = method_name

    def call(self, args: Any, kwargs: Any) -> Any:
        """The result of the method."""
        return self._function()(*args, **kwargs)

    def _function(self) -> Any:
        if self.cls_symbol != "RaggedTensor" or not self.method_name.startswith("from_"):
            raise ValueError(
                f"The layer {self.name!r} calls {self.function_name}, which models may not. They "
                "may call the `from_...` methods of tf.RaggedTensor."
            )
        return getattr(tf.RaggedTensor, self.method_name)

    def get_config(self) -> dict[str, Any]:
        """The names of the class and of its method."""
        config = Layer.get_config(self)
        return {**config, "cls_symbol": self.cls_symbol, "method_name": self.method_name}


@functools.cache
def _parameters(function: Any) -> tuple[frozenset[str], str | None]:
    parameters = inspect.signature(function).parameters.values()
    variadic = [each.name for each in parameters if each.kind is each.VAR_POSITIONAL]
    return frozenset(each.name for each in parameters), variadic[0] if variadic else None


def _key(spec: Any) -> Any:
    if isinstance(spec, list | tuple):
        return tuple(_key(each) for each in spec)
    if isinstance(spec, dict):
        if "class_name" in spec:
            return Ellipsis
        return slice(spec["start"], spec["stop"], spec["step"])
    return spec


def _spec(key: Any) -> Any:
    """A key with its slices as dicts, so that tensors in it are found."""
    if isinstance(key, list | tuple):
        return tuple(_spec(each) for each in key)
    if isinstance(key, slice):
        return {"start": key.start, "stop": key.stop, "step": key.step}
    return key


def op_layer(function: str, arguments: dict[str, Any]) -> TFOpLambda:
    """The layer for a call of a function with these arguments."""
    kind, _, method = function.partition(".")
    if kind == "RaggedTensor":
        values = arguments["kwargs"]
        parameters = inspect.signature(getattr(tf.RaggedTensor, method)).parameters
        given = {k: v for k, v in values.items() if v is not parameters[k].default}
        made = ClassMethod(kind, method)
        made.take_arguments({**arguments, "kwargs": given})
        return made
    slicing = function in (*_SLICES, "compat.v1.boolean_mask")
    layer = (SlicingOpLambda if slicing else TFOpLambda)(function)
    for name in ("slice_spec", "key"):
        if slicing and name in arguments:
            arguments = {**arguments, name: _spec(arguments[name])}
    layer.take_arguments(arguments if slicing else layer._given(arguments))
    return layer
