"""Model: a layer that can be compiled, trained, evaluated and saved."""

from __future__ import annotations

import inspect
from typing import Any

import runnel as tf

from ..keywords import refuse_unknown
from .base_layer import Layer
from .half_private import ModelInternals
from .layer_weights import LayerWeights, set_plainly
from .older_methods import OlderMethods
from .saved import Saved
from .summary import print_summary
from .tracking import leaves_of, unique
from .trainer import Trainer


class Model(Trainer, Saved, OlderMethods, ModelInternals, Layer):
    """A layer with training, evaluation and prediction; subclassed or functional.

    >>> class Line(tf.keras.Model):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.dense = tf.keras.layers.Dense(1)
    ...     def call(self, inputs):
    ...         return self.dense(inputs)
    >>> Line()(tf.ones([2, 3])).shape
    TensorShape([2, 1])
    """

    _TF_MODULE_IGNORED_PROPERTIES = Layer._TF_MODULE_IGNORED_PROPERTIES | {
        "_init_arguments", "_counters"
    }  # fmt: skip

    _init_arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        if cls is Model and (len(args) >= 2 or "outputs" in kwargs):
            from .functional import Functional

            return object.__new__(Functional)
        if kwargs:
            refuse_unknown(cls, kwargs)
        model = object.__new__(cls)
        set_plainly(model, "_init_arguments", (args, kwargs))
        return model

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        functional = len(args) >= 2 or "outputs" in kwargs
        if functional and type(self).__name__ != "Functional":
            self._become_functional(args, kwargs)
            return
        # A single positional argument is ignored: programs write super().__init__(self).
        Layer.__init__(self, **kwargs)
        self._init_trainer()

    def _become_functional(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Turn a subclass into a functional one if its constructor receives inputs and outputs."""
        from .functional import Functional

        kind = type(self)
        if not issubclass(kind, Functional):
            self.__class__ = type(kind.__name__, (kind, Functional), {})
        Functional.__init__(self, *args, **kwargs)  # type: ignore[arg-type]

    @property
    def stateful(self) -> bool:
        """Whether the model or any of its layers is stateful across batches."""
        own = self.__dict__.get("_stateful", False)
        return own or any(getattr(layer, "stateful", False) for layer in self.layers)

    @stateful.setter
    def stateful(self, value: bool) -> None:
        self._stateful = value

    @property
    def layers(self) -> list[Any]:
        return [layer for layer in self._sublayers() if not _is_metric(layer)]

    def get_layer(self, name: str | None = None, index: int | None = None) -> Any:
        """A layer by its name or index."""
        if (name is None) == (index is None):
            raise ValueError(
                "Provide either a layer name or a layer index, not both or none. Received: "
                f"index={index}, name={name}."
            )
        layers = self.layers
        if index is not None:
            if index >= len(layers):
                raise ValueError(
                    f"Was asked to retrieve layer at index {index} but model only has "
                    f"{len(layers)} layers."
                )
            return layers[index]
        for layer in layers:
            if layer.name == name:
                return layer
        raise ValueError(
            f"No such layer: {name}. Existing layers are: {[layer.name for layer in layers]}."
        )

    @property
    def weights(self) -> list[Any]:
        self._need_weights()
        return self._weights_by_layer()

    @property
    def trainable_weights(self) -> list[Any]:
        self._need_weights()
        if not self._trainable:
            return []
        held = self._held_weights("trainable_weights")
        return unique(held + self._set_directly(trainable=True))

    @property
    def non_trainable_weights(self) -> list[Any]:
        self._need_weights()
        fixed = self._set_directly(trainable=False)
        if self._trainable:
            return unique(self._held_weights("non_trainable_weights") + fixed)
        in_containers = [
            leaf
            for value in self._tracked
            if not isinstance(value, tf.Variable)
            for leaf in leaves_of(value)
            if isinstance(leaf, tf.Variable) and leaf.trainable
        ]
        trained = in_containers + self._set_directly(trainable=True)
        return unique(trained + self._held_weights("weights") + fixed)

    def _weight_holders(self, layers: list[Any]) -> list[Any]:
        return layers

    def _weights_by_layer(self) -> list[Any]:
        """All weights, layer by layer; variables assigned directly as attributes last."""
        direct = self._set_directly(trainable=True) + self._set_directly(trainable=False)
        return unique(self._held_weights("weights") + direct)

    def _held_weights(self, kind: str) -> list[Any]:
        """The weights of the model's layers, modules and containers, in order."""
        found: list[Any] = []
        for value in self._tracked:
            if isinstance(value, tf.Variable):
                continue
            for leaf in leaves_of(value):
                if isinstance(leaf, LayerWeights):
                    found.extend(getattr(leaf, kind))
                else:
                    own = [leaf] if isinstance(leaf, tf.Variable) else leaf.variables
                    found.extend(each for each in own if _is_of_kind(each, kind))
        return found

    def _set_directly(self, trainable: bool) -> list[Any]:
        """The variables assigned directly as attributes of the model."""
        own = [value for value in self._tracked if isinstance(value, tf.Variable)]
        return [variable for variable in own if variable.trainable == trainable]

    def _need_weights(self) -> None:
        if self.built or not isinstance(self, tf.keras.Sequential):
            return
        if self.layers and not self._weights_by_layer():
            raise ValueError(
                f"Weights for model {self.name!r} have not yet been created. Weights are created "
                "when the model is first called on inputs or `build()` is called with an "
                "`input_shape`."
            )

    def build(self, input_shape: Any) -> None:
        """Create the weights by a trial call on inputs of a shape."""
        from .keras_tensor import trial_outputs
        from .masking import shapes_structure

        if type(self).call is not Model.call and input_shape is not None and not self.built:
            specs = tf.nest.map_structure(
                lambda shape: tf.TensorSpec(shape, self.compute_dtype),
                shapes_structure(input_shape),
            )
            self.built = True
            trial_outputs(self, specs)
        self._build_input_shape = input_shape
        self.built = True

    def _maybe_build(self, inputs: Any) -> None:
        # The layers of a subclassed model are built in `call`; only a custom `build` has an effect
        # here.
        if type(self).build is not Model.build:
            super()._maybe_build(inputs)
        # Extension-type values may lack these.
        self._build_input_shape, self._build_input_dtypes = (
            tf.nest.map_structure(lambda value, name=name: getattr(value, name, None), inputs)
            for name in ("shape", "dtype")
        )
        self.built = True

    def call(self, inputs: Any, training: Any = None, mask: Any = None) -> Any:
        """Compute the outputs; for subclasses to override."""
        raise NotImplementedError(
            "Unimplemented `tf.keras.Model.call()`: if you intend to create a `Model` with the "
            "Functional API, please provide `inputs` and `outputs` arguments. Otherwise, subclass "
            "`Model` with an overridden `call()` method."
        )

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Any = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: Any = None,
    ) -> None:
        """Print the layers with their output shapes and numbers of parameters."""
        if not self.built:
            raise ValueError(
                "This model has not yet been built. Build the model first by calling `build()` or "
                "by calling the model on a batch of data."
            )
        print_summary(
            self, line_length, positions, print_fn, expand_nested, show_trainable, layer_range
        )

    def reset_states(self) -> None:
        """Reset the states of stateful layers."""
        for layer in self.layers:
            if getattr(layer, "stateful", False) and hasattr(layer, "reset_states"):
                layer.reset_states()

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        if type(self).__init__ is Model.__init__:
            return {"name": self.name}
        args, kwargs = self._init_arguments
        signature = inspect.signature(type(self).__init__)
        given = signature.bind(self, *args, **kwargs).arguments
        several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        _, *names = signature.parameters
        config = {
            name: given[name]
            for name in names
            if name in given and signature.parameters[name].kind not in several
        }
        if all(map(_is_plain, config.values())):
            return config
        tf.get_logger().warning(
            "Model's `__init__()` arguments contain non-serializable objects. Please implement a "
            "`get_config()` method in the subclassed Model for proper saving and loading. "
            "Defaulting to empty config."
        )
        return {}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Create a model from its config."""
        if {"layers", "input_layers", "output_layers"} <= set(config):
            from .functional_config import functional_from_config

            return functional_from_config(cls, config, custom_objects)
        with tf.keras.utils.custom_object_scope(custom_objects or {}):
            return super().from_config(config)


def _is_plain(value: Any) -> bool:
    """Whether a value is JSON-serializable unchanged."""
    if isinstance(value, list | tuple):
        return all(map(_is_plain, value))
    if isinstance(value, dict):
        return all(map(_is_plain, value.values()))
    return value is None or isinstance(value, str | int | float)


def _is_of_kind(variable: Any, kind: str) -> bool:
    """Whether a variable belongs to `weights`, `trainable_weights` or the others."""
    return kind == "weights" or variable.trainable == (kind == "trainable_weights")


def _is_metric(layer: Any) -> bool:
    return isinstance(layer, tf.keras.metrics.Metric)
