"""Keras objects in SavedModels: their functions, and the metadata to revive them."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

import runnel as tf

from ...core.graph.function import Function
from ...saved_model.export_objects import methods_of, traces_of
from ..engine.base_layer import Layer
from ..engine.call_spec import call_spec
from ..engine.functional import Functional
from ..engine.model import Model
from ..engine.sequential import Sequential
from ..layers.input_layer import InputLayer
from ..layers.preprocessing.base import PreprocessingLayer
from ..layers.preprocessing.lookup import IndexLookup
from ..layers.recurrent.bidirectional import Bidirectional
from ..layers.recurrent.rnn import RNN
from ..metrics.base import Metric
from ..optimizers.base import Optimizer
from ..optimizers.legacy.base import Optimizer as OlderOptimizer
from .checkpoint_parts import children_function

# The cached functions and lists of layers while a model is saved.
_parts: dict[int, dict[str, Any]] = {}
_KINDS: list[tuple[Any, str]] = [
    (InputLayer, "_tf_keras_input_layer"),
    (Sequential, "_tf_keras_sequential"),
    (Functional, "_tf_keras_network"),
    (Model, "_tf_keras_model"),
    (Metric, "_tf_keras_metric"),
    (RNN, "_tf_keras_rnn_layer"),
    (Layer, "_tf_keras_layer"),
    (Optimizer, "experimentalOptimizer"),
    (OlderOptimizer, "optimizer"),
]


class _Choice:
    """The options of the SavedModel being written."""

    depth = 0
    optimizer = True
    functions = True


@contextlib.contextmanager
def exporting(include_optimizer: bool = True, functions: bool = True) -> Iterator[None]:
    """Trace the functions of each layer only once while a model is saved."""
    if not _Choice.depth:
        _Choice.optimizer, _Choice.functions = include_optimizer, functions
    _Choice.depth += 1
    try:
        yield
    finally:
        _Choice.depth -= 1
        if not _Choice.depth:
            _parts.clear()


def identifier_of(value: Any) -> str | None:
    """The SavedModel identifier of an object's kind; None for non-Keras objects."""
    for kind, identifier in _KINDS:
        if isinstance(value, kind):
            return identifier
    return None


def exported_parts(value: Any) -> dict[str, Any] | None:
    """The named children of an object in a SavedModel; None for non-Keras objects."""
    return parts_of(value) if children_function(value) is not None else None


def parts_of(value: Any) -> dict[str, Any]:
    """The named children of a Keras object in a SavedModel."""
    known = _parts.get(id(value))
    if known is None:
        known = _parts[id(value)] = _made_parts(value)
    return known


class KerasApi:
    """The lists by which a loaded layer exposes its parts, and its functions."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self._held = parts

    def _checkpoint_children(self) -> dict[str, Any]:
        return self._held


def _made_parts(value: Any) -> dict[str, Any]:
    parts: dict[str, Any] = dict(children_function(value)(value))
    if isinstance(value, InputLayer):
        return {}
    if isinstance(value, Model) and not _Choice.optimizer:
        parts.pop("optimizer", None)
    if isinstance(value, Bidirectional):
        # The template layer is skipped: the two directions are copies.
        parts.pop("layer", None)
    if isinstance(value, IndexLookup) and value.input_vocabulary is None:
        parts["token_counts"] = _counts(value)
        if value.output_mode == "tf_idf":
            parts["token_document_counts"] = _counts(value)
            parts["num_documents"] = tf.Variable(0, dtype=tf.int64, trainable=False)
    if isinstance(value, Layer) and not isinstance(value, Metric):
        attributes = vars(value).items()
        parts.update({
            name: each
            for name, each in attributes
            if not name.startswith("_") and (isinstance(each, Function) or _is_table(each))
        })  # fmt: skip
        parts.update(sorted(methods_of(value)))
        words = isinstance(value, PreprocessingLayer)
        parts.update({"keras_api": KerasApi({})} if words else _api_parts(value))
    return parts


def _counts(layer: IndexLookup) -> Any:
    """The table of token counts that the original uses in `adapt`."""
    return tf.lookup.experimental.MutableHashTable(layer.vocabulary_dtype, tf.int64, 0)


def _is_table(value: Any) -> bool:
    from ...saved_model.table_export import is_table

    return is_table(value)


def _api_parts(layer: Any) -> dict[str, Any]:
    functions = layer_functions(layer)
    lists = {
        "variables": list(layer.variables),
        "trainable_variables": list(layer.trainable_variables),
        "regularization_losses": [],
    }
    held = {
        "non_trainable_variables": list(layer.non_trainable_variables),
        "layers": layer.layers if isinstance(layer, Model) else layer._sublayers(),
        "metrics": [],
        "layer_regularization_losses": [],
        "layer_metrics": {},
        **lists,
        **functions,
    }
    if "call_and_return_all_conditional_losses" in functions:
        whole = functions["call_and_return_all_conditional_losses"]
        held["call_and_return_conditional_losses"] = whole
    hidden = _hidden_variables(layer, functions)
    found = {**lists, "keras_api": KerasApi(held), **functions}
    return {**found, "_states_and_seeds": hidden} if hidden else found


def _hidden_variables(layer: Any, functions: dict[str, Any]) -> list[Any]:
    """The variables that functions use beside the weights: states, seeds."""
    known = {variable._key for variable in layer.variables}
    traces = [
        trace
        for function in functions.values()
        for trace in (traces_of(function) if isinstance(function, Function) else [function])
    ]
    used = {key: each for trace in traces for key, each in trace.graph.variables.items()}
    return [variable for key, variable in used.items() if key not in known]


# Functions.

_FUNCTIONS = (("__call__", False), ("call_and_return_all_conditional_losses", True))


class _Call:
    """A layer's call as a function of its inputs and the training flag."""

    def __init__(self, layer: Any, parameters: list[inspect.Parameter], losses: bool) -> None:
        self._layer = layer
        self._losses = losses
        ending = "layer_call_and_return_conditional_losses" if losses else "layer_call_fn"
        self.__name__ = f"{layer.name}_{ending}"
        self.__signature__ = inspect.Signature(parameters)

    def __call__(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        bound = self.__signature__.bind(inputs, *args, **kwargs)
        given = {k: v for k, v in list(bound.arguments.items())[1:] if v is not None}
        layer = self._layer
        before = [(each, each._eager_losses) for each in layer._flatten_layers()]
        for each, _ in before:
            each._eager_losses = []
        try:
            outputs = layer(inputs, **given)
            found = [loss for each in layer._flatten_layers() for loss in each._eager_losses]
        finally:
            for each, losses in before:
                each._eager_losses = losses
        return (outputs, found) if self._losses else outputs


def layer_functions(layer: Any) -> dict[str, Any]:
    """The functions of a layer by name; empty if its input signature is unknown."""
    spec = inputs_of(layer)
    parameters = _parameters(layer)
    if spec is None or parameters is None:
        return {}
    trains = any(each.name == "training" for each in parameters)
    functions: dict[str, Any] = {}
    for name, losses in _FUNCTIONS if _Choice.functions else ():
        call = _Call(layer, parameters, losses)
        function = Function(call, call.__name__, autograph=False)
        for training in (True, False) if trains else (None,):
            given = {} if training is None else {"training": training}
            function.get_concrete_function(spec, **given)
        functions[name] = function
    if isinstance(layer, Model):
        functions["_default_save_signature"] = _serving(layer, spec)
    return functions


def _parameters(layer: Any) -> list[inspect.Parameter] | None:
    """The parameters of a layer's call; None if it requires more than its inputs."""
    kind = inspect.Parameter
    found = list(inspect.signature(layer.call).parameters.values())
    plain = [p for p in found if p.kind in (kind.POSITIONAL_OR_KEYWORD, kind.POSITIONAL_ONLY)]
    if not plain or any(p.default is kind.empty for p in plain[1:]):
        return None
    if any(p.kind is kind.KEYWORD_ONLY and p.default is kind.empty for p in found):
        return None
    first = kind(plain[0].name, kind.POSITIONAL_OR_KEYWORD)
    rest = [
        p.replace(default=False if p.name == "training" and p.default is None else p.default,
                  annotation=kind.empty)
        for p in found
        if p.name != first.name and p.kind in (kind.POSITIONAL_OR_KEYWORD, kind.KEYWORD_ONLY)
    ]  # fmt: skip
    return [first, *rest]


def inputs_of(layer: Any) -> Any:
    """The input specs of a layer, with unknown batch size; None if unknown."""
    names: Iterator[Any] = iter(())
    if isinstance(layer, Functional):
        tensors = getattr(layer, "_nested_inputs", None)
        names = iter(getattr(layer, "input_names", ()))
    elif layer._inbound_nodes:
        tensors = layer._inbound_nodes[0].input_tensors
    else:
        return _built_for(layer)
    if tensors is None:
        return None
    try:
        return tf.nest.map_structure(lambda tensor: _spec_of(tensor, next(names, None)), tensors)
    except (AttributeError, TypeError, ValueError):
        return None


def _spec_of(tensor: Any, name: str | None) -> Any:
    spec = tensor._type_spec
    if isinstance(spec, tf.TensorSpec):
        return tf.TensorSpec(spec.shape, spec.dtype, name)
    return spec


def _built_for(layer: Any) -> Any:
    shapes, dtypes = layer._build_input_shape, layer._build_input_dtypes
    if shapes is None or dtypes is None:
        return None
    flat = [each for each in tf.nest.flatten(dtypes)]
    kept = iter(flat)
    number = iter(range(1, len(flat) + 1))

    def spec(dtype: Any, shape: Any) -> Any:
        sizes = shape.as_list() if shape.rank is not None else None
        if sizes:
            sizes[0] = None
        name = f"input_{next(number)}" if isinstance(layer, Model) else None
        return tf.TensorSpec(sizes, next(kept), name)

    try:
        return tf.nest.map_structure(spec, dtypes, shapes)
    except (TypeError, ValueError):
        return None


def _serving(model: Any, spec: Any) -> Any:
    """The serving function of a model, with outputs by name."""

    def wrapped_model(args_0: Any) -> dict[str, Any]:
        training = {"training": False} if call_spec(type(model)).takes_training else {}
        outputs = model(args_0, **training)
        if isinstance(outputs, dict):
            return outputs
        flat = tf.nest.flatten(outputs)
        names = getattr(model, "output_names", None)
        if not names or len(names) != len(flat):
            names = [f"output_{i}" for i in range(1, len(flat) + 1)]
        return dict(zip(names, flat, strict=True))

    function = Function(wrapped_model, "_wrapped_model", autograph=False)
    return function.get_concrete_function(spec)
