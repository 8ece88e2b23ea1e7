"""Optimizer: the base class of the optimizers of TensorFlow 2.0 to 2.10.

A subclass creates its slots in `_create_slots` and updates a variable in `_resource_apply_dense`
or, for rows of unique indices, in `_resource_apply_sparse`. Hyperparameters are attributes; they
become variables when they are first read or used.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import runnel as tf

from ....core.graph.main_graph import main_graph_being_built
from ....core.suggestions import keyword_advice
from ... import backend, initializers
from .. import schedules
from ..gradients import clippable, deduplicated, with_gradients
from ..schedules import LearningRateSchedule

_ALLOWED = frozenset({"clipnorm", "clipvalue", "lr", "decay", "global_clipnorm"})


class Optimizer:
    """Base class of the optimizers of TensorFlow 2.0 to 2.10.

    >>> v = tf.Variable(1.0)
    >>> optimizer = tf.keras.optimizers.legacy.SGD(learning_rate=0.5, decay=1.0)
    >>> for _ in range(2):
    ...     _ = optimizer.apply_gradients([(tf.constant(1.0), v)])
    >>> v.numpy().item()
    0.25
    """

    _HAS_AGGREGATE_GRAD = True
    _use_locking = True

    clipnorm: float | None = None
    clipvalue: float | None = None
    global_clipnorm: float | None = None

    def __init__(
        self,
        name: str,
        gradient_aggregator: Any = None,
        gradient_transformers: Sequence[Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._hyper: dict[str, Any] = {}
        for key, value in kwargs.items():
            if key not in _ALLOWED:
                raise TypeError(
                    f"Unexpected keyword argument passed to optimizer: {key}. Allowed kwargs are "
                    f"{sorted(_ALLOWED)}.{keyword_advice(type(self), key)}"
                )
            if value is not None and value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
            if key == "lr":
                warnings.warn(
                    "The `lr` argument is deprecated, use `learning_rate` instead.", stacklevel=3
                )
        self._name = name
        self._initial_decay = kwargs.get("decay", 0.0)
        self.gradient_aggregator = gradient_aggregator
        self.gradient_transformers = list(gradient_transformers or [])
        self.clipnorm = kwargs.get("clipnorm")
        self.clipvalue = kwargs.get("clipvalue")
        self.global_clipnorm = kwargs.get("global_clipnorm")
        if self.clipnorm is not None and self.global_clipnorm is not None:
            raise ValueError(
                "Cannot accept both `clipnorm` and `global_clipnorm`. Received: "
                f"`clipnorm`={self.clipnorm}, `global_clipnorm`={self.global_clipnorm}."
            )
        self._hypers_created = False
        self._slots: dict[Any, dict[str, Any]] = {}
        self._slot_names: list[str] = []
        self._weights: list[Any] = []
        self._iterations: Any = None

    # Hyperparameters.

    def __getattr__(self, name: str) -> Any:
        known = self.__dict__.get("_hyper", {})
        name = "learning_rate" if name == "lr" else name
        if name in known:
            return self._get_hyper(name)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        name = "learning_rate" if name == "lr" else name
        if name in self.__dict__.get("_hyper", {}):
            self._set_hyper(name, value)
        else:
            super().__setattr__(name, value)

    def _set_hyper(self, name: str, value: Any) -> None:
        current = self._hyper.get(name)
        if isinstance(current, tf.Variable) and not callable(value):
            current.assign(tf.cast(value, current.dtype))
        else:
            self._hyper[name] = value

    def _get_hyper(self, name: str, dtype: Any = None) -> Any:
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        if callable(value):
            value = value()
        return value if dtype is None else tf.cast(value, dtype)

    def _create_hypers(self) -> None:
        self._hypers_created = True
        with tf.init_scope():
            for name, value in sorted(self._hyper.items()):
                if not callable(value) and not isinstance(value, tf.Variable):
                    # Stored as floats, integers too: they may be assigned another value.
                    kept = value if _is_bool(value) else tf.cast(value, backend.floatx())
                    self._hyper[name] = tf.Variable(kept, name=name, trainable=False)

    def _serialize_hyperparameter(self, hyperparameter_name: str) -> Any:
        value = self._hyper[hyperparameter_name]
        if isinstance(value, LearningRateSchedule):
            return schedules.serialize(value)
        if callable(value):
            return value()
        return value.numpy() if isinstance(value, tf.Variable | tf.Tensor) else value

    def _decayed_lr(self, var_dtype: Any) -> Any:
        """The learning rate of the next step, with decay."""
        rate = self._get_hyper("learning_rate")
        if isinstance(rate, LearningRateSchedule):
            rate = rate(self.iterations)
        rate = tf.convert_to_tensor(tf.cast(rate, var_dtype))
        if self._initial_decay > 0:
            steps = tf.cast(self.iterations, var_dtype)
            rate = rate / (1 + tf.cast(self._initial_decay, var_dtype) * steps)
        return rate

    # Variables.

    @property
    def iterations(self) -> Any:
        """The step count: a variable."""
        if self._iterations is None:
            self._iterations = self.add_weight("iter", shape=[], dtype=tf.int64, trainable=False)
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                f"created. Here it is attempting to set `iterations` to {variable}."
            )
        self._iterations = variable
        self._weights.append(variable)

    @property
    def weights(self) -> list[Any]:
        """The step count and all slots."""
        return self._weights

    def variables(self) -> list[Any]:
        """The step count and all slots."""
        return self._weights

    def get_weights(self) -> list[Any]:
        """The values of `weights`."""
        return [weight.numpy() for weight in self._weights]

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set `weights` to new values."""
        if len(weights) != len(self._weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a weight list "
                f"of length {len(weights)}, but the optimizer was expecting {len(self._weights)} "
                f"weights. Provided weights: {str(weights)[:50]}..."
            )
        for variable, value in zip(self._weights, weights, strict=True):
            if tuple(variable.shape) != tuple(value.shape):
                raise ValueError(
                    f"Optimizer weight shape {variable.shape} not compatible with provided weight "
                    f"shape {value.shape}."
                )
        for variable, value in zip(self._weights, weights, strict=True):
            variable.assign(value)

    def add_weight(
        self,
        name: str,
        shape: Any,
        dtype: Any = None,
        initializer: Any = "zeros",
        trainable: bool | None = None,
        synchronization: Any = tf.VariableSynchronization.AUTO,
        aggregation: Any = tf.VariableAggregation.NONE,
    ) -> Any:
        """Create a variable of the optimizer."""
        if isinstance(initializer, str) or callable(initializer):
            initializer = initializers.get(initializer)
            dtype = tf.as_dtype(dtype or backend.floatx())
            initializer = initializer(tf.TensorShape(shape), dtype=dtype)
        return tf.Variable(
            initializer, name=name, dtype=dtype, trainable=bool(trainable),
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip

    def add_slot(
        self, var: Any, slot_name: str, initializer: Any = "zeros", shape: Any = None
    ) -> Any:
        """The slot `slot_name` of a variable; created if missing."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(var._key, {})
        if slot_name not in slots:
            if isinstance(initializer, str) or callable(initializer):
                initializer = initializers.get(initializer)
                sizes = var.shape if shape is None else tf.TensorShape(shape)
                initializer = initializer(sizes, dtype=var.dtype)
            name = f"{var.name.partition(':')[0]}/{slot_name}"
            slots[slot_name] = tf.Variable(initializer, name=name, dtype=var.dtype, trainable=False)
            self._weights.append(slots[slot_name])
        return slots[slot_name]

    def get_slot(self, var: Any, slot_name: str) -> Any:
        """The slot `slot_name` of a variable."""
        return self._slots[var._key][slot_name]

    def get_slot_names(self) -> list[str]:
        """The names of the slots."""
        return self._slot_names

    def _create_slots(self, var_list: Sequence[Any]) -> None:
        """Create the slots; for subclasses to implement."""

    def _create_all_weights(self, var_list: Sequence[Any]) -> None:
        _ = self.iterations
        if not self._hypers_created:
            self._create_hypers()
        self._create_slots(var_list)

    # One step.

    def minimize(
        self, loss: Any, var_list: Any, grad_loss: Any = None, name: Any = None, tape: Any = None
    ) -> Any:
        """Compute the gradients of a loss and apply them."""
        pairs = self._compute_gradients(loss, var_list, grad_loss, tape)
        return self.apply_gradients(pairs, name=name)

    def _compute_gradients(
        self, loss: Any, var_list: Any, grad_loss: Any = None, tape: Any = None
    ) -> list[Any]:
        if not callable(loss) and tape is None:
            raise ValueError(
                "`tape` is required when a `Tensor` loss is passed. Received: "
                f"loss={loss}, tape={tape}."
            )
        tape = tf.GradientTape() if tape is None else tape
        if callable(loss):
            with tape:
                if not callable(var_list):
                    tape.watch(var_list)
                loss = loss()
        if callable(var_list):
            var_list = var_list()
        grads = tape.gradient(loss, var_list, output_gradients=grad_loss)
        return list(zip(grads, var_list, strict=True))

    def get_gradients(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The gradients of a graph loss; eagerly, use a tape."""
        grads = tf.gradients(loss, params)
        for gradient, variable in zip(grads, params, strict=True):
            if gradient is None:
                raise ValueError(
                    f"Variable {variable.name} has `None` for gradient. Make sure that the loss "
                    "depends on it by operations that have gradients."
                )
        return grads

    def get_updates(self, loss: Any, params: Sequence[Any]) -> list[Any]:
        """The update operations of one step of a graph, as a list."""
        grads = self.get_gradients(loss, params)
        return [self.apply_gradients(zip(grads, params, strict=True))]

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        name: str | None = None,
        experimental_aggregate_gradients: bool = True,
    ) -> Any:
        """Update the variables from their gradients; returns the step count."""
        graph = main_graph_being_built()
        start = 0 if graph is None else len(graph.operations)
        pairs = list(grads_and_vars)
        if not pairs:
            return None
        pairs = with_gradients(pairs)
        variables = [variable for _, variable in pairs]
        given, name = name or self._name, None
        with tf.name_scope(given):
            with tf.name_scope(f"{self._name}/"), tf.init_scope():
                self._create_all_weights(variables)
            apply_state = self._prepare(variables)
            for gradient, variable in self._transform_gradients(pairs):
                self._apply(gradient, variable, apply_state)
                if variable.constraint is not None:
                    variable.assign(variable.constraint(variable))
            count = self.iterations.assign_add(1)
            return count if graph is None else graph.one_for_all_since(start, "update")

    def _transform_gradients(self, grads_and_vars: list[Any]) -> list[Any]:
        limits = (self.clipvalue, self.clipnorm, self.global_clipnorm)
        if any(each is not None for each in limits):
            grads = [clippable(gradient) for gradient, _ in grads_and_vars]
            if self.clipvalue is not None:
                limit = self.clipvalue
                grads = [tf.clip_by_value(gradient, -limit, limit) for gradient in grads]
            if self.clipnorm is not None:
                grads = [tf.clip_by_norm(gradient, self.clipnorm) for gradient in grads]
            if self.global_clipnorm is not None:
                grads = tf.clip_by_global_norm(grads, self.global_clipnorm)[0]
            variables = [variable for _, variable in grads_and_vars]
            grads_and_vars = list(zip(grads, variables, strict=True))
        for transform in self.gradient_transformers:
            grads_and_vars = transform(grads_and_vars)
        return grads_and_vars

    def _prepare(self, var_list: Sequence[Any]) -> dict[Any, Any]:
        """The scalars that all variables of one device and dtype share in a step."""
        apply_state: dict[Any, Any] = {}
        for key in {(variable.device, variable.dtype): None for variable in var_list}:
            apply_state[key] = {}
            self._prepare_local(*key, apply_state)
        return apply_state

    def _prepare_local(self, var_device: Any, var_dtype: Any, apply_state: dict[Any, Any]) -> None:
        if "learning_rate" in self._hyper:
            rate = self._decayed_lr(var_dtype)
            apply_state[var_device, var_dtype]["lr_t"] = rate
            apply_state[var_device, var_dtype]["neg_lr_t"] = -rate

    def _fallback_apply_state(self, var_device: Any, var_dtype: Any) -> dict[str, Any]:
        apply_state: dict[Any, Any] = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, apply_state)
        return apply_state[var_device, var_dtype]

    def _coefficients(self, variable: Any, apply_state: Any) -> dict[str, Any]:
        key = (variable.device, variable.dtype)
        return (apply_state or {}).get(key) or self._fallback_apply_state(*key)

    def _apply(self, gradient: Any, variable: Any, apply_state: Any) -> None:
        if type(gradient) is tf.IndexedSlices:
            method = self._resource_apply_sparse_duplicate_indices
            takes = inspect.signature(self._resource_apply_sparse).parameters
            state = {"apply_state": apply_state} if "apply_state" in takes else {}
            method(gradient.values, variable, gradient.indices, **state)
        else:
            takes = inspect.signature(self._resource_apply_dense).parameters
            state = {"apply_state": apply_state} if "apply_state" in takes else {}
            self._resource_apply_dense(tf.convert_to_tensor(gradient), variable, **state)

    def _resource_apply_dense(self, grad: Any, handle: Any, apply_state: Any) -> Any:
        """Update a variable from a dense gradient; for subclasses to implement."""
        raise NotImplementedError("`_resource_apply_dense` must be implemented in subclasses.")

    def _resource_apply_sparse_duplicate_indices(
        self, grad: Any, handle: Any, indices: Any, **kwargs: Any
    ) -> Any:
        """Update rows of a variable; rows of duplicate indices are summed first."""
        slices = deduplicated(tf.IndexedSlices(grad, indices))
        return self._resource_apply_sparse(slices.values, handle, slices.indices, **kwargs)

    def _resource_apply_sparse(self, grad: Any, handle: Any, indices: Any, apply_state: Any) -> Any:
        """Update rows of a variable with unique indices; for subclasses to implement."""
        raise NotImplementedError("`_resource_apply_sparse` must be implemented in subclasses.")

    def _resource_scatter_add(self, x: Any, i: Any, v: Any) -> Any:
        return x.scatter_add(tf.IndexedSlices(v, i)).value()

    def _resource_scatter_update(self, x: Any, i: Any, v: Any) -> Any:
        return x.scatter_update(tf.IndexedSlices(v, i)).value()

    # Configuration.

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        config: dict[str, Any] = {"name": self._name}
        for name in ("clipnorm", "clipvalue", "global_clipnorm"):
            if getattr(self, name) is not None:
                config[name] = getattr(self, name)
        return config

    def _config_with(self, *names: str) -> dict[str, Any]:
        """The config with the learning rate, its decay, and further arguments."""
        config = Optimizer.get_config(self)
        config["learning_rate"] = self._serialize_hyperparameter("learning_rate")
        config["decay"] = self._initial_decay
        for name in names:
            is_hyper = name in self._hyper
            config[name] = self._serialize_hyperparameter(name) if is_hyper else getattr(self, name)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Create an optimizer from its config."""
        config = dict(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(
                config["learning_rate"], custom_objects=custom_objects
            )
        return cls(**config)


def require_momentum(momentum: Any) -> None:
    """Raise ValueError unless the momentum is between 0 and 1."""
    if isinstance(momentum, int | float) and (momentum < 0 or momentum > 1):
        raise ValueError(
            f"`momentum` must be between [0, 1]. Received: momentum={momentum} (of type "
            f"{type(momentum)})."
        )


def _is_bool(value: Any) -> bool:
    return isinstance(value, bool) or getattr(value, "dtype", None) in (bool, tf.bool)
