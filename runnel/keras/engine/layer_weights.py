"""The weights and sublayers of a layer, tracked as attributes are set."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

import runnel as tf

from ...core.graph.session_calls import in_session
from ...core.suggestions import keyword_advice
from .. import constraints, initializers, loading_limits, regularizers
from .autocast import AutoCastVariable
from .tracking import holds_state, is_metric, leaves_of, unique

# Further arguments of `add_weight`: names of older versions, most of them ignored.
_WEIGHT_KEYWORDS = frozenset(
    {"autocast", "caching_device", "collections", "experimental_autocast", "getter", "layout"}
    | {"experimental_enable_variable_lifting", "partitioner"}
)
# Internal attributes that hold layers or tensors which are not sublayers.
UNTRACKED = frozenset(
    {"_tracked", "_inbound_nodes", "_outbound_nodes", "_losses", "_eager_losses", "_loss_functions"}
    | {"_metrics", "_initial_weights", "_batch_input_shape", "_layers", "_stack", "_steps"}
    | {"_nested_inputs", "_nested_outputs", "inputs", "outputs", "_compile_config", "_states"}
    | {"_ends", "_met_shape", "_input_spec"}
)

set_plainly = object.__setattr__


class LayerWeights(tf.Module):
    """The methods of a layer for its variables and sublayers."""

    _is_metric = False
    built: bool
    dtype: Any
    _autocast: bool
    _dtype_policy: Any
    _loss_functions: list[Any]
    # The metrics that were set as attributes, or created by `add_metric`.
    _metrics: list[Any]
    _tracked: list[Any]
    _trainable: bool

    # Attributes that hold layers, variables or containers of them, in order of assignment.

    def __setattr__(self, name: str, value: Any) -> None:
        old = self.__dict__.get(name)
        if old is not value and holds_state(old):
            self._forget(name, old)
        if holds_state(value) and name not in UNTRACKED:
            tracked = self.__dict__.get("_tracked")
            if tracked is not None:
                if not any(each is value for each in tracked):
                    tracked.append(value)
                self._metrics += [leaf for leaf in leaves_of(value) if is_metric(leaf)]
        self.__dict__.pop("_plain_inputs", None)
        set_plainly(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._forget(name, self.__dict__.get(name))
        object.__delattr__(self, name)

    def _forget(self, name: str, value: Any) -> None:
        """Stop tracking a value, unless another attribute refers to it."""
        tracked = self.__dict__.get("_tracked")
        if not tracked or name in UNTRACKED:
            return
        if not any(each is value for key, each in self.__dict__.items() if key != name):
            tracked[:] = [each for each in tracked if each is not value]

    def _sublayers(self) -> list[Any]:
        """The direct sublayers."""
        return self._variables_and_layers()[1]

    def _weight_holders(self, layers: list[Any]) -> list[Any]:
        """The direct sublayers whose weights count as this layer's: metrics are excluded."""
        return [each for each in layers if not each._is_metric]

    def _flatten_layers(self, include_self: bool = True) -> Iterator[Any]:
        """This layer and all nested layers, each once."""
        seen: set[int] = set()
        pending: list[Any] = [self]
        while pending:
            layer = pending.pop(0)
            if id(layer) in seen:
                continue
            seen.add(id(layer))
            if include_self or layer is not self:
                yield layer
            pending = layer._sublayers() + pending

    def _own_variables(self) -> list[tf.Variable]:
        """The variables of this layer itself, excluding sublayers."""
        return self._variables_and_layers()[0]

    def _variables_and_layers(self) -> tuple[list[tf.Variable], list[Any]]:
        """The variables of this layer itself, and the direct sublayers, each once."""
        variables: list[tf.Variable] = []
        layers: list[Any] = []
        for value in self._tracked:
            for leaf in leaves_of(value):
                if isinstance(leaf, tf.Variable):
                    variables.append(leaf)
                elif isinstance(leaf, LayerWeights):
                    layers.append(leaf)
                else:
                    variables.extend(leaf.variables)
        return unique(variables), unique(layers)

    @property
    def trainable_weights(self) -> list[tf.Variable]:
        if not self._trainable:
            return []
        variables, layers = self._variables_and_layers()
        own = [variable for variable in variables if variable.trainable]
        if not layers:
            return own
        below = [v for layer in self._weight_holders(layers) for v in layer.trainable_weights]
        return unique(own + below)

    @property
    def non_trainable_weights(self) -> list[tf.Variable]:
        own, layers = self._variables_and_layers()
        holders = self._weight_holders(layers)
        fixed = [variable for variable in own if not variable.trainable]
        if not self._trainable:
            trainable = [v for v in own if v.trainable]
            below = [v for layer in holders for v in layer.weights]
            return unique(trainable + fixed + below)
        if not layers:
            return fixed
        below = [v for layer in holders for v in layer.non_trainable_weights]
        return unique(fixed + below)

    @property
    def weights(self) -> list[tf.Variable]:
        return unique(self.trainable_weights + self.non_trainable_weights)

    # Lists, where a plain tf.Module returns tuples.

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
        """Create a variable of this layer; the shape may also come first, as in Keras 3."""
        for keyword in kwargs:
            if keyword not in _WEIGHT_KEYWORDS:
                near = keyword_advice(LayerWeights.add_weight, keyword)
                raise TypeError(f"Unknown keyword argument: {keyword!r}.{near}")
        if name is not None and not isinstance(name, str):
            name, shape = (shape if isinstance(shape, str) else None), name
        kind = tf.as_dtype(dtype or self.dtype or tf.keras.backend.floatx())
        if initializer is None:
            initializer = _default_initializer(kind, name)
        shape = () if shape is None else tuple(tf.TensorShape(shape).as_list())
        loading_limits.claim(self.name, shape, kind.size)
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
        variable._weight_name = name
        self._tracked.append(variable)
        return variable

    def add_variable(self, *args: Any, **kwargs: Any) -> tf.Variable:
        """The same as `add_weight`."""
        return self.add_weight(*args, **kwargs)

    @in_session
    def get_weights(self) -> list[np.ndarray]:
        """The values of the weights as NumPy arrays."""
        return [variable.numpy() for variable in self.weights]

    @in_session
    def set_weights(self, weights: Any) -> None:
        """Set the weights, in the order of `get_weights`."""
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
        for layer in self._flatten_layers():
            layer.finalize_state()

    def count_params(self) -> int:
        """The total number of elements in all weights."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on layer {self.name}, but the layer isn't "
                f"built. You can build it manually via: `{self.name}.build(batch_input_shape)`."
            )
        return sum(variable.shape.num_elements() or 0 for variable in self.weights)

    def _saved_variables(self) -> list[tf.Variable]:
        """The layer's own variables in file order: trainable ones first."""
        return sorted(self._own_variables(), key=lambda variable: not variable.trainable)

    def save_own_variables(self, store: Any) -> None:
        """Store the layer's own weights in a mapping."""
        for index, variable in enumerate(self._saved_variables()):
            store[f"{index}"] = variable.numpy()

    def load_own_variables(self, store: Any) -> None:
        """Load the layer's own weights from a mapping."""
        variables = self._saved_variables()
        if len(store.keys()) != len(variables):
            raise ValueError(
                f"Layer '{self.name}' expected {len(variables)} variables, but received "
                f"{len(store.keys())} variables during loading. Expected: "
                f"{[variable.name for variable in variables]}"
            )
        for index, variable in enumerate(variables):
            variable.assign(np.asarray(store[f"{index}"]))


def _default_initializer(dtype: Any, name: Any) -> Any:
    if dtype.is_floating or dtype.is_complex:
        return "glorot_uniform"
    if dtype.is_integer or dtype.is_bool:
        return "zeros"
    raise ValueError(f"An initializer for variable {name} of type {dtype} is required for layer.")


def _regularized(regularizer: Any, variable: tf.Variable) -> Any:
    return regularizer(variable)
