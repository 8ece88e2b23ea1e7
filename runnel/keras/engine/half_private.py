"""Underscore attributes that programs and libraries nevertheless rely on.

They are attributes of the original's layers and models; here most are views of state stored under
other names.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import runnel as tf

from .call_spec import call_spec
from .tracking import is_metric, leaves_of, unique


class _OwnVariables(list):
    """The variables of a layer itself; appended variables are tracked by the layer."""

    def __init__(self, layer: Any, variables: Iterable[Any]) -> None:
        super().__init__(variables)
        self._layer = layer

    def append(self, variable: Any) -> None:
        """Add a variable to the layer."""
        super().append(variable)
        _track(self._layer, variable)

    def extend(self, variables: Iterable[Any]) -> None:
        """Add variables to the layer."""
        for variable in variables:
            self.append(variable)

    def __iadd__(self, variables: Iterable[Any]) -> _OwnVariables:  # type: ignore[misc]
        self.extend(variables)
        return self


def _track(layer: Any, value: Any) -> None:
    if not any(each is value for each in layer._tracked):
        layer._tracked.append(value)


class LayerInternals:
    """Underscore attributes of layers."""

    _tracked: list[Any]

    @property
    def _dtype(self) -> Any:
        return self.dtype  # type: ignore[attr-defined]

    @_dtype.setter
    def _dtype(self, dtype: Any) -> None:
        self._set_dtype_policy(dtype)

    @property
    def _compute_dtype(self) -> Any:
        return self.compute_dtype  # type: ignore[attr-defined]

    @property
    def _trainable_weights(self) -> list[Any]:
        own = self._own_variables()  # type: ignore[attr-defined]
        return _OwnVariables(self, [variable for variable in own if variable.trainable])

    @_trainable_weights.setter
    def _trainable_weights(self, variables: Iterable[Any]) -> None:
        self._replace_variables(variables, trainable=True)

    @property
    def _non_trainable_weights(self) -> list[Any]:
        own = self._own_variables()  # type: ignore[attr-defined]
        return _OwnVariables(self, [variable for variable in own if not variable.trainable])

    @_non_trainable_weights.setter
    def _non_trainable_weights(self, variables: Iterable[Any]) -> None:
        self._replace_variables(variables, trainable=False)

    def _replace_variables(self, variables: Iterable[Any], trainable: bool) -> None:
        """Replace the trainable or non-trainable variables of the layer."""
        new = list(variables)
        tracked = self._tracked
        tracked[:] = [
            each
            for each in tracked
            if not isinstance(each, tf.Variable) or each.trainable != trainable
        ]
        for variable in new:
            _track(self, variable)

    @property
    def _self_tracked_trackables(self) -> list[Any]:
        """The layers, modules and containers assigned as attributes."""
        tracked = self._tracked
        return [
            value
            for value in tracked
            if not isinstance(value, tf.Variable)
            and (not isinstance(value, list | tuple | dict) or leaves_of(value))
            and (not is_metric(value) or is_metric(self))
        ]

    @property
    def _obj_reference_counts(self) -> Any:
        """How many attributes refer to each value."""
        counts: dict[int, int] = {}
        for value in vars(self).values():
            counts[id(value)] = counts.get(id(value), 0) + 1
        return counts

    @property
    def _expects_training_arg(self) -> bool:
        return call_spec(type(self)).takes_training

    @property
    def _expects_mask_arg(self) -> bool:
        return call_spec(type(self)).takes_mask

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Add a named child to this object's checkpoints."""
        if not overwrite and getattr(self, name, trackable) is not trackable:
            raise ValueError(
                f"Called `_track_trackable` with name={name!r}, but an object of this name is "
                f"there already: {getattr(self, name)!r}. Give overwrite=True, or another name."
            )
        self.__dict__[name] = trackable
        return trackable

    def _flatten_modules(self, recursive: bool = True, include_self: bool = True) -> Any:
        """This module and all submodules."""
        found: list[Any] = [self] if include_self else []
        modules: list[Any] = [
            leaf
            for value in self._tracked
            for leaf in leaves_of(value)
            if isinstance(leaf, tf.Module)
        ]
        for module in modules:
            is_layer = hasattr(module, "_flatten_modules")
            found += list(module._flatten_modules()) if recursive and is_layer else [module]
        return iter(unique(found))

    def _set_dtype_policy(self, dtype: Any) -> None:
        """Set the layer's dtype policy."""
        raise NotImplementedError

    def _handle_activity_regularization(self, inputs: Any, outputs: Any) -> None:
        """Add the losses of the activity regularizer on the layer's outputs."""
        if self._activity_regularizer is not None:  # type: ignore[attr-defined]
            self._regularize_activity(inputs, outputs)  # type: ignore[attr-defined]


class ModelInternals:
    """Underscore attributes of models."""

    _build_input_shape: Any
    _build_input_dtypes: Any

    @property
    def _is_graph_network(self) -> bool:
        """Whether the model is a functional graph."""
        return bool(getattr(self, "_nested_outputs", None) is not None and self.outputs)  # type: ignore[attr-defined]

    def _set_save_spec(self, inputs: Any, args: Any = None, kwargs: Any = None) -> None:
        """Set the input signature of a model that was never called."""
        if self._build_input_shape is None:
            self._build_input_shape = tf.nest.map_structure(lambda each: each.shape, inputs)
            self._build_input_dtypes = tf.nest.map_structure(lambda each: each.dtype, inputs)
