"""Layer: weights, and a computation on them that is built at its first call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import runnel as tf

from .. import constraints, initializers, regularizers
from ..mixed_precision import Policy, global_policy
from ..serialization import serialize_keras_object
from . import masking, naming
from .autocast import AutoCastVariable
from .call_context import CallContext, context
from .input_spec import InputSpec, check_inputs
from .keras_tensor import KerasTensor, apply_symbolically, holds_keras_tensors
from .tracking import holds_state, leaves_of, unique

_ALLOWED = frozenset(
    {"input_dim", "input_shape", "batch_input_shape", "batch_size", "weights", "autocast"}
    | {"activity_regularizer", "implementation"}
)

# Attributes of the machinery that hold layers or tensors which are not this layer's own parts.
_UNTRACKED = frozenset(
    {"_tracked", "_inbound_nodes", "_outbound_nodes", "_own_losses", "_loss_functions"}
    | {"_own_metrics", "_initial_weights", "_batch_input_shape", "_layers", "_stack", "_steps"}
    | {"_nested_inputs", "_nested_outputs", "inputs", "outputs", "_compile_config", "_states"}
)


class Layer(tf.Module):
    """A computation with weights of its own: `call` does it, `build` makes the weights.

    >>> class Scale(tf.keras.layers.Layer):
    ...     def build(self, input_shape):
    ...         self.factor = self.add_weight("factor", shape=[], initializer="ones")
    ...     def call(self, inputs):
    ...         return inputs * self.factor
    >>> Scale()(tf.constant([1.0, 2.0])).numpy().tolist()
    [1.0, 2.0]
    """

    _is_metric = False

    def __init__(
        self,
        trainable: bool = True,
        name: str | None = None,
        dtype: Any = None,
        dynamic: bool = False,
        **kwargs: Any,
    ) -> None:
        for key in kwargs:
            if key not in _ALLOWED:
                raise TypeError("Keyword argument not understood:", key)
        if not isinstance(trainable, bool | np.bool_):
            raise TypeError(
                "Expected `trainable` argument to be a boolean, but received: "
                f"trainable={trainable}"
            )
        self._tracked: list[Any]
        set_plainly(self, "_tracked", [])
        self._trainable = bool(trainable)
        self._dynamic = dynamic
        self.stateful = False
        self.built = False
        self.supports_masking = False
        self._build_input_shape: Any = None
        self._input_spec: Any = None
        self._inbound_nodes: list[Any] = []
        self._outbound_nodes: list[Any] = []
        self._own_losses: list[Any] = []
        self._loss_functions: list[Callable[[], Any]] = []
        self._own_metrics: list[Any] = []
        self._activity_regularizer = regularizers.get(kwargs.pop("activity_regularizer", None))
        self._dtype_policy = dtype if isinstance(dtype, Policy) else _policy_of(dtype)
        self._compute_dtype_object = _dtype_or_none(self._dtype_policy.compute_dtype)
        self._autocast = kwargs.get("autocast", True)
        self._initial_weights = kwargs.get("weights")
        self._name = naming.unique_name(naming.snake_case(type(self).__name__)) if (
            name is None) else str(name)  # fmt: skip
        self._batch_input_shape_given(kwargs)

    def _batch_input_shape_given(self, kwargs: dict[str, Any]) -> None:
        if "input_dim" in kwargs and "input_shape" not in kwargs:
            kwargs["input_shape"] = (kwargs["input_dim"],)
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])

    # Attributes: layers, variables and containers of them are remembered in order.

    def __setattr__(self, name: str, value: Any) -> None:
        if holds_state(value) and name not in _UNTRACKED:
            tracked = self.__dict__.get("_tracked")
            if tracked is not None:
                old = self.__dict__.get(name)
                tracked[:] = [each for each in tracked if each is not old or old is None]
                if not any(each is value for each in tracked):
                    tracked.append(value)
        set_plainly(self, name, value)

    def __delattr__(self, name: str) -> None:
        value = self.__dict__.get(name)
        tracked = self.__dict__.get("_tracked", [])
        tracked[:] = [each for each in tracked if each is not value]
        object.__delattr__(self, name)

    def _sublayers(self) -> list[Any]:
        """The layers directly below this one."""
        found = (leaf for value in self._tracked for leaf in leaves_of(value))
        return unique(leaf for leaf in found if isinstance(leaf, Layer))

    def _weight_holders(self) -> list[Any]:
        """The layers directly below whose weights count as this one's: no metrics."""
        return [each for each in self._sublayers() if not each._is_metric or self._is_metric]

    def _flatten_layers(self, include_self: bool = True) -> Iterator[Layer]:
        """This layer and all below it, each once."""
        seen: set[int] = set()
        pending: list[Layer] = [self]
        while pending:
            layer = pending.pop(0)
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            if include_self or layer is not self:
                yield layer
            pending = layer._sublayers() + pending

    def _own_variables(self) -> list[tf.Variable]:
        """The variables of this layer itself, not of the layers below it."""
        found: list[tf.Variable] = []
        for value in self._tracked:
            for leaf in leaves_of(value):
                if isinstance(leaf, tf.Variable):
                    found.append(leaf)
                elif not isinstance(leaf, Layer):
                    found.extend(leaf.variables)
        return unique(iter(found))

    @property
    def trainable_weights(self) -> list[tf.Variable]:
        if not self._trainable:
            return []
        own = [variable for variable in self._own_variables() if variable.trainable]
        below = [v for layer in self._weight_holders() for v in layer.trainable_weights]
        return unique(iter(own + below))

    @property
    def non_trainable_weights(self) -> list[tf.Variable]:
        own = self._own_variables()
        if not self._trainable:
            trainable = [v for v in own if v.trainable]
            fixed = [v for v in own if not v.trainable]
            below = [v for layer in self._weight_holders() for v in layer.weights]
            return unique(iter(trainable + fixed + below))
        fixed = [variable for variable in own if not variable.trainable]
        below = [v for layer in self._weight_holders() for v in layer.non_trainable_weights]
        return unique(iter(fixed + below))

    @property
    def weights(self) -> list[tf.Variable]:
        return unique(iter(self.trainable_weights + self.non_trainable_weights))

    # Lists, where a plain tf.Module gives tuples.

    @property
    def variables(self) -> list[tf.Variable]:  # type: ignore[override]
        return self.weights

    @property
    def trainable_variables(self) -> list[tf.Variable]:  # type: ignore[override]
        return self.trainable_weights

    @property
    def non_trainable_variables(self) -> list[tf.Variable]:  # type: ignore[override]
        return self.non_trainable_weights

    @property
    def trainable(self) -> bool:
        return self._trainable

    @trainable.setter
    def trainable(self, value: bool) -> None:
        for layer in self._flatten_layers():
            layer._trainable = value

    # What a layer is.

    @property
    def name(self) -> str:
        return self._name

    @property
    def name_scope(self) -> tf.name_scope:
        return tf.name_scope(self._name)

    @property
    def dtype(self) -> Any:
        return self._dtype_policy.variable_dtype

    @property
    def compute_dtype(self) -> Any:
        return self._dtype_policy.compute_dtype

    @property
    def variable_dtype(self) -> Any:
        return self._dtype_policy.variable_dtype

    @property
    def dtype_policy(self) -> Policy:
        return self._dtype_policy

    @property
    def dynamic(self) -> bool:
        return any(layer._dynamic for layer in self._flatten_layers())

    @property
    def activity_regularizer(self) -> Any:
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer: Any) -> None:
        self._activity_regularizer = regularizer

    @property
    def input_spec(self) -> Any:
        return self._input_spec

    @input_spec.setter
    def input_spec(self, value: Any) -> None:
        for spec in tf.nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {value}")
        self._input_spec = value

    # Weights.

    def add_weight(
        self,
        name: Any = None,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        trainable: bool | None = None,
        constraint: Any = None,
        use_resource: Any = None,
        synchronization: Any = tf.VariableSynchronization.AUTO,
        aggregation: Any = tf.VariableAggregation.NONE,
        **kwargs: Any,
    ) -> tf.Variable:
        """Make a variable of this layer; the shape may also come first, as in Keras 3."""
        if name is not None and not isinstance(name, str):
            name, shape = (shape if isinstance(shape, str) else None), name
        kind = tf.as_dtype(dtype or self.dtype or tf.keras.backend.floatx())
        if initializer is None:
            initializer = _default_initializer(kind, name)
        shape = () if shape is None else tuple(tf.TensorShape(shape).as_list())
        make = initializers.get(initializer)
        regularize = regularizers.get(regularizer)
        on_read = synchronization is tf.VariableSynchronization.ON_READ
        if on_read and trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for "
                "non-trainable variables. You have specified trainable=True."
            )
        kind_of_variable = tf.Variable
        if self._autocast and kind.is_floating and kwargs.get("experimental_autocast", True):
            policy = self._dtype_policy
            if policy.compute_dtype != policy.variable_dtype:
                kind_of_variable = AutoCastVariable
        variable = kind_of_variable(
            lambda: make(shape, dtype=kind),
            trainable=not on_read if trainable is None else trainable,
            name=name,
            dtype=kind,
            constraint=constraints.get(constraint),
            synchronization=synchronization,
            aggregation=aggregation,
        )
        if regularize is not None:
            self._loss_functions.append(functools.partial(_regularized, regularize, variable))
        self._tracked.append(variable)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> tf.Variable:
        """The same as `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def get_weights(self) -> list[np.ndarray]:
        """The values of the weights as NumPy arrays."""
        return [variable.numpy() for variable in self.weights]

    def set_weights(self, weights: Any) -> None:
        """Give the weights new values, in the order of `get_weights`."""
        variables = self.weights
        if len(weights) != len(variables):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a weight list of '
                f"length {len(weights)}, but the layer was expecting {len(variables)} weights. "
                f"Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            if not variable.shape.is_compatible_with(np.shape(value)):
                raise ValueError(
                    f"Layer {self.name} weight shape {variable.shape} is not compatible with "
                    f"provided weight shape {np.shape(value)}."
                )
        for variable, value in zip(variables, weights, strict=True):
            variable.assign(value)

    def count_params(self) -> int:
        """The number of numbers in all weights."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on layer {self.name}, but the layer isn't "
                f"built. You can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(variable.shape.num_elements() or 0 for variable in self.weights)

    # Losses and metrics made during a call.

    def add_loss(self, losses: Any, **kwargs: Any) -> None:
        """Add a term to the loss of the model: a tensor made in `call`, or a function."""
        kwargs.pop("inputs", None)
        if kwargs:
            raise TypeError(f"Unknown keyword arguments: {list(kwargs)}")
        for loss in tf.nest.flatten(losses):
            if loss is None:
                continue
            if callable(loss):
                self._loss_functions.append(loss)
            else:
                value = loss if tf.is_tensor(loss) else tf.convert_to_tensor(
                    loss, dtype_hint=tf.keras.backend.floatx()
                )  # fmt: skip
                self._own_losses.append(value)
                CallContext.losses_made = True

    @property
    def losses(self) -> list[Any]:
        found: list[Any] = []
        for layer in self._flatten_layers():
            found.extend(layer._own_losses)
            for function in layer._loss_functions:
                loss = function()
                if loss is not None:
                    found.append(loss)
        return found

    def _clear_losses(self) -> None:
        for layer in self._flatten_layers():
            layer._own_losses = []

    def add_metric(self, value: Any, name: str | None = None, **kwargs: Any) -> None:
        """Report the mean of a value made in `call` under a name."""
        aggregation = kwargs.pop("aggregation", None)
        if kwargs:
            raise TypeError(f"Unknown keyword arguments: {list(kwargs)}")
        if name is None and not hasattr(value, "_metric_obj"):
            raise ValueError(
                "Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs)"
                ", name='mean_activation')`"
            )
        del aggregation
        known = {metric.name: metric for metric in self._own_metrics}
        if name not in known:
            known[name] = tf.keras.metrics.Mean(name=name, dtype=value.dtype)
            self._own_metrics.append(known[name])
        known[name](value)

    @property
    def metrics(self) -> list[Any]:
        found = []
        for layer in self._flatten_layers():
            found.extend(layer._own_metrics)
        return unique(iter(found))

    @property
    def updates(self) -> list[Any]:
        return []

    # Building and calling.

    def build(self, input_shape: Any) -> None:
        """Make the weights; for subclasses to override."""
        self._build_input_shape = input_shape
        self.built = True

    def call(self, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Compute the outputs; for subclasses to override."""
        return inputs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        spec = _call_spec(type(self))
        if args:
            inputs, rest = args[0], args[1:]
        elif spec.first in kwargs:
            inputs, rest = kwargs.pop(spec.first), ()
        else:
            raise ValueError("The first argument to `Layer.call` must always be passed.")
        if type(inputs) is not tf.Tensor:
            if holds_keras_tensors((inputs, rest, kwargs)):
                return apply_symbolically(self, inputs, rest, kwargs)
            inputs = _as_tensors(inputs, self._name)
        outermost = context.depth == 0
        if outermost and context.losses_made and self._has_losses():
            self._clear_losses()
        if self._autocast:
            inputs = self._cast_inputs(inputs)
        if not self.built:
            self._maybe_build(inputs)
        if self._input_spec is not None:
            check_inputs(self._input_spec, inputs, self._name)
        return self._run(spec, inputs, rest, kwargs)

    def _run(self, spec: _CallSpec, inputs: Any, rest: tuple[Any, ...], kwargs: Any) -> Any:
        mask = None
        if masking.state.in_use and spec.takes_mask and self.supports_masking:
            mask = kwargs.get("mask")
            if mask is None:
                mask = masking.masks_of(inputs)
                if mask is not None:
                    kwargs["mask"] = mask
        training = context.training
        if spec.takes_training:
            given = spec.training_of(rest, kwargs)
            if given is None:
                given = training if training is not None else context.learning_phase
                if given is None:
                    given = spec.training_default
                if given is not None:
                    kwargs["training"] = given
            context.training = given
        elif "training" in kwargs:
            context.training = kwargs.pop("training")
        scope = context.scope
        context.scope = self._scope()
        compute_dtype, context.compute_dtype = context.compute_dtype, self._compute_dtype_object
        context.depth += 1
        try:
            outputs = self.call(inputs, *rest, **kwargs)
        finally:
            context.depth -= 1
            context.scope = scope
            context.compute_dtype = compute_dtype
            context.training = training
        if self._activity_regularizer is not None:
            self._regularize_activity(inputs, outputs)
        if masking.state.in_use or spec.makes_masks:
            self._pass_masks_on(inputs, outputs, kwargs.get("mask", mask))
        return outputs

    def _has_losses(self) -> bool:
        return any(layer._own_losses for layer in self._flatten_layers())

    def _cast_inputs(self, inputs: Any) -> Any:
        wanted = self._compute_dtype_object
        if type(inputs) is tf.Tensor:
            if inputs.dtype is wanted or wanted is None or not inputs.dtype.is_floating:
                return inputs
            return tf.cast(inputs, wanted) if wanted.is_floating else inputs
        if wanted is None or not wanted.is_floating:
            return inputs

        def cast(value: Any) -> Any:
            if not isinstance(value, tf.Tensor) or value.dtype is wanted:
                return value
            return tf.cast(value, wanted) if value.dtype.is_floating else value

        return tf.nest.map_structure(cast, inputs)

    def _maybe_build(self, inputs: Any) -> None:
        tensors = tf.nest.flatten(inputs)
        if self._dtype_policy.compute_dtype is None and tensors:
            first = tensors[0].dtype
            if first.is_floating:
                self._dtype_policy = Policy(first.name)
                self._compute_dtype_object = first
        if self._input_spec is not None:
            check_inputs(self._input_spec, inputs, self._name)
        shapes = None
        if all(hasattr(tensor, "shape") for tensor in tensors):
            shapes = tf.nest.map_structure(lambda value: value.shape, inputs)
        with tf.name_scope(self._scope() + "/"):
            self.build(shapes)
        self._build_input_shape = shapes
        self.built = True
        if self._initial_weights is not None:
            self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _scope(self) -> str:
        """The name scope of the weights: the layers being called, this one last."""
        outer = context.scope if context.depth else tf.get_current_name_scope()
        return f"{outer}/{self._name}" if outer else self._name

    def _regularize_activity(self, inputs: Any, outputs: Any) -> None:
        for output in tf.nest.flatten(outputs):
            loss = self._activity_regularizer(output)
            self.add_loss(loss / tf.cast(tf.shape(output)[0], loss.dtype))

    # Masks.

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """The mask of the outputs: the inputs' own, for layers that support masking."""
        if not self.supports_masking:
            if any(each is not None for each in tf.nest.flatten(mask)):
                raise TypeError(
                    f"Layer {self.name} does not support masking, but was passed an input_mask: "
                    f"{mask}"
                )
            return None
        return mask

    def _pass_masks_on(self, inputs: Any, outputs: Any, mask: Any) -> None:
        if mask is None:
            mask = masking.masks_of(inputs)
        custom = type(self).compute_mask is not Layer.compute_mask
        if not self.supports_masking and not custom:
            return
        masks = self.compute_mask(inputs, mask)
        if masks is not None:
            masking.attach(outputs, masks)

    # Shapes and configuration.

    def compute_output_shape(self, input_shape: Any) -> Any:
        """The shape of the outputs for inputs of a shape, found by a trial without values."""
        from .keras_tensor import trial_outputs

        specs = tf.nest.map_structure(
            lambda shape: tf.TensorSpec(shape, self.compute_dtype or tf.keras.backend.floatx()),
            masking.shapes_structure(input_shape),
        )
        return tf.nest.map_structure(lambda each: each.shape, trial_outputs(self, specs))

    def compute_output_signature(self, input_signature: Any) -> Any:
        """The shapes and dtypes of the outputs for inputs of a signature."""
        shapes = tf.nest.map_structure(lambda spec: spec.shape, input_signature)
        dtype = self.compute_dtype or tf.nest.flatten(input_signature)[0].dtype
        return tf.nest.map_structure(
            lambda shape: tf.TensorSpec(shape, dtype), self.compute_output_shape(shapes)
        )

    def get_config(self) -> dict[str, Any]:
        """The arguments to make an equal layer, without its weights."""
        config: dict[str, Any] = {"name": self.name, "trainable": self.trainable}
        policy = self._dtype_policy
        is_mixed = policy.compute_dtype != policy.variable_dtype
        config["dtype"] = serialize_keras_object(policy) if is_mixed else policy.name
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        if self._dynamic:
            config["dynamic"] = True
        return config if type(self).__init__ is Layer.__init__ else _automatic_config(self, config)

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Any:
        """A layer made from `get_config`."""
        try:
            return cls(**config)
        except TypeError as error:
            raise TypeError(
                f"Error when deserializing class '{cls.__name__}' using config={config}.\n\n"
                f"Exception encountered: {error}"
            ) from error

    def get_build_config(self) -> Any:
        """What is needed to build the layer again."""
        if self._build_input_shape is None:
            return None
        shape = tf.nest.map_structure(
            lambda each: tuple(each) if isinstance(each, tf.TensorShape) else each,
            self._build_input_shape,
        )
        return {"input_shape": shape}

    def build_from_config(self, config: Any) -> None:
        """Build the layer as `get_build_config` says."""
        if config and config.get("input_shape") is not None:
            shapes = masking.shapes_structure(config["input_shape"])
            with tf.name_scope(self._scope() + "/"):
                self.build(shapes)
            self._build_input_shape = shapes
            self.built = True

    # The graph of layers that a functional model is made of.

    def _node(self, index: int, what: str) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} is not connected, no {what} to return.")
        return self._inbound_nodes[index]

    @property
    def inbound_nodes(self) -> list[Any]:
        return self._inbound_nodes

    @property
    def outbound_nodes(self) -> list[Any]:
        return self._outbound_nodes

    @property
    def input(self) -> Any:
        if len(self._inbound_nodes) > 1:
            raise AttributeError(
                f'Layer {self.name} has multiple inbound nodes, hence the notion of "layer input"'
                " is ill-defined. Use `get_input_at(node_index)` instead."
            )
        return self._node(0, "input").input_tensors

    @property
    def output(self) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(f"Layer {self.name} has no inbound nodes.")
        return self._node(0, "output").outputs

    @property
    def input_shape(self) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(
                f'The layer "{self.name}" has never been called and thus has no defined input '
                "shape."
            )
        return shape_tuples(self._inbound_nodes[0].input_tensors)

    @property
    def output_shape(self) -> Any:
        if not self._inbound_nodes:
            raise AttributeError(
                f'The layer "{self.name}" has never been called and thus has no defined output '
                "shape."
            )
        return shape_tuples(self._inbound_nodes[0].outputs)

    def get_input_at(self, node_index: int) -> Any:
        """The inputs of the layer's call number `node_index`."""
        return self._inbound_nodes[node_index].input_tensors

    def get_output_at(self, node_index: int) -> Any:
        """The outputs of the layer's call number `node_index`."""
        return self._inbound_nodes[node_index].outputs

    def get_input_shape_at(self, node_index: int) -> Any:
        """The shapes of the inputs of the layer's call number `node_index`."""
        return shape_tuples(self.get_input_at(node_index))

    def get_output_shape_at(self, node_index: int) -> Any:
        """The shapes of the outputs of the layer's call number `node_index`."""
        return shape_tuples(self.get_output_at(node_index))

    def finalize_state(self) -> None:
        """Called when the weights of a layer that adapts to data are final."""

    def _saved_variables(self) -> list[tf.Variable]:
        """The layer's own variables in the order of files: those trained first."""
        return sorted(self._own_variables(), key=lambda variable: not variable.trainable)

    def save_own_variables(self, store: Any) -> None:
        """Write the layer's own weights into a mapping."""
        for index, variable in enumerate(self._saved_variables()):
            store[f"{index}"] = variable.numpy()

    def load_own_variables(self, store: Any) -> None:
        """Read the layer's own weights from a mapping."""
        variables = self._saved_variables()
        if len(store.keys()) != len(variables):
            raise ValueError(
                f"Layer '{self.name}' expected {len(variables)} variables, but received "
                f"{len(store.keys())} variables during loading. Expected: "
                f"{[variable.name for variable in variables]}"
            )
        for index, variable in enumerate(variables):
            variable.assign(np.asarray(store[f"{index}"]))


set_plainly = object.__setattr__


class _CallSpec:
    """What the signature of a layer's `call` says."""

    def __init__(self, kind: Any) -> None:
        parameters = list(inspect.signature(kind.call).parameters.values())[1:]
        named = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
        self.names = [p.name for p in named]
        takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters)
        self.first = self.names[0] if self.names else "inputs"
        self.takes_training = "training" in self.names or takes_any
        self.takes_mask = "mask" in self.names
        # Whether the layer may give a mask to outputs of inputs that have none.
        self.makes_masks = kind.compute_mask is not Layer.compute_mask
        defaults = {p.name: p.default for p in named if p.default is not p.empty}
        self.training_default = defaults.get("training")
        self._position = self.names.index("training") - 1 if "training" in self.names else -1

    def training_of(self, rest: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The value given for `training`, by position or name."""
        if 0 <= self._position < len(rest):
            return rest[self._position]
        return kwargs.get("training")


_call_specs: dict[Any, _CallSpec] = {}


def _call_spec(kind: Any) -> _CallSpec:
    found = _call_specs.get(kind)
    if found is None:
        found = _call_specs[kind] = _CallSpec(kind)
    return found


def _policy_of(dtype: Any) -> Policy:
    if dtype is None:
        return global_policy()
    if isinstance(dtype, dict):
        return Policy(dtype["config"]["name"])
    return Policy(dtype if isinstance(dtype, str) else tf.as_dtype(dtype).name)


def _dtype_or_none(name: Any) -> Any:
    return None if name is None else tf.as_dtype(name)


def _default_initializer(dtype: Any, name: Any) -> Any:
    if dtype.is_floating or dtype.is_complex:
        return "glorot_uniform"
    if dtype.is_integer or dtype.is_bool:
        return "zeros"
    raise ValueError(f"An initializer for variable {name} of type {dtype} is required for layer.")


def _regularized(regularizer: Any, variable: tf.Variable) -> Any:
    return regularizer(variable)


def _as_tensors(inputs: Any, name: str) -> Any:
    if isinstance(inputs, tf.Tensor | tf.Variable):
        return tf.convert_to_tensor(inputs)
    if isinstance(inputs, str):
        raise TypeError(
            f"Inputs to a layer should be tensors. Got {inputs!r} (of type {type(inputs)}) as "
            f"input for layer '{name}'."
        )

    def convert(value: Any) -> Any:
        if isinstance(value, np.ndarray | float | int | np.generic):
            return tf.convert_to_tensor(value)
        return value

    return tf.nest.map_structure(convert, inputs)


def shape_tuples(tensors: Any) -> Any:
    """The shapes of tensors as plain tuples, in the structure of the tensors."""
    return tf.nest.map_structure(lambda tensor: tuple(tensor.shape), tensors)


def _automatic_config(layer: Layer, config: dict[str, Any]) -> dict[str, Any]:
    """The base configuration; layers with arguments of their own must add them."""
    if "get_config" in vars(type(layer)) or any(
        "get_config" in vars(base) for base in type(layer).__mro__[:-1] if base is not Layer
    ):
        return config
    parameters = inspect.signature(type(layer).__init__).parameters.values()
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    own = [name for name in named if name not in ("self", *config)]
    if not own:
        return config
    missing = [name for name in own if name not in vars(layer)]
    if missing:
        raise NotImplementedError(
            f"\n                Layer {type(layer).__name__} was created by passing\n"
            f"                non-serializable argument values in `__init__()`,\n"
            f"                and therefore the layer must override `get_config()` in\n"
            f"                order to be serializable: {missing} cannot be found again."
        )
    return {name: vars(layer)[name] for name in own}


__all__ = ["InputSpec", "KerasTensor", "Layer"]
