"""Optimizer: the base class; a subclass defines its slots (`build`) and its update."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import runnel as tf

from ...core.arguments import not_a_number, require_number
from ...core.context import scope_within, state
from ...core.graph.main_graph import main_graph_being_built
from ...core.indexed_slices import IndexedSlices
from ...core.suggestions import keyword_advice
from ...core.tensor import Tensor
from ...ops import training
from .. import backend, initializers
from . import schedules
from .gradients import clippable, deduplicated, dense, with_gradients
from .schedules import LearningRateSchedule

_DEPRECATED = frozenset({"decay", "gradient_aggregator", "gradient_transformers"})
# Not a tf.constant: the module may be imported while a graph is built.
_ONE = tf.Tensor(np.int64(1), tf.int64)
_NO_PAIR = (
    "`grads_and_vars` holds pairs of a gradient and its variable: zip(gradients, variables). "
    "Received an element {pair!r}"
)
_NO_VARIABLE = (
    "`grads_and_vars` holds pairs of a gradient and its variable, in this order, and only a "
    "tf.Variable can be changed. Received as variable: {variable!r}"
)
_NO_RATE = (
    "`learning_rate` of {kind} must be a number such as 0.001, or a schedule of "
    "tf.keras.optimizers.schedules. Received: learning_rate={given!r}"
)


class CallableList(list):
    """A list that returns itself when called: `optimizer.variables` used to be a method."""

    def __call__(self) -> CallableList:
        return self


class Optimizer:
    """Base class of the optimizers: updates variables from their gradients.

    A subclass creates its slots in `build(var_list)` and updates one variable in
    `update_step(gradient, variable)`.

    >>> class Plain(tf.keras.optimizers.Optimizer):
    ...     def __init__(self, learning_rate=0.1, name="Plain", **kwargs):
    ...         super().__init__(name, **kwargs)
    ...         self._learning_rate = self._build_learning_rate(learning_rate)
    ...     def update_step(self, gradient, variable):
    ...         variable.assign_sub(self.learning_rate * gradient)
    >>> v = tf.Variable([1.0, 2.0])
    >>> Plain().apply_gradients([(tf.constant([1.0, 1.0]), v)]).numpy().item()
    1
    >>> print(v.numpy())
    [0.9 1.9]
    """

    # Whether all variables of a step use the same hyperparameters: a custom `update_step` may
    # change one between variables.
    _shares_numbers = True

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls._shares_numbers = cls.update_step.__module__.startswith(f"{__package__}.")

    def __init__(
        self,
        name: str,
        weight_decay: float | None = 0,
        clipnorm: float | None = None,
        clipvalue: float | None = None,
        global_clipnorm: float | None = None,
        use_ema: bool = False,
        ema_momentum: float = 0.99,
        ema_overwrite_frequency: int | None = None,
        jit_compile: bool = True,
        **kwargs: Any,
    ) -> None:
        self.name = name
        self.weight_decay = weight_decay
        self.clipnorm = clipnorm
        self.global_clipnorm = global_clipnorm
        self.clipvalue = clipvalue
        self.use_ema = use_ema
        # The fused updates are compiled already; the argument is accepted and ignored.
        self.jit_compile = False
        given = {"clipnorm": clipnorm, "clipvalue": clipvalue, "global_clipnorm": global_clipnorm}
        for argument, value in given.items():
            if value is not None:
                require_number(value, argument, type(self).__name__)
        if clipnorm is not None and global_clipnorm is not None:
            raise ValueError(
                "At most one of `clipnorm` and `global_clipnorm` can be set. Received: "
                f"clipnorm={clipnorm}, global_clipnorm={global_clipnorm}."
            )
        if use_ema:
            _require_average_settings(ema_momentum, ema_overwrite_frequency)
        self.ema_momentum = ema_momentum
        self.ema_overwrite_frequency = ema_overwrite_frequency
        self._variables: list[Any] = []
        # The scalar inputs of the fused updates, by dtype, while a step is applied.
        self._numbers: dict[Any, Any] | None = None
        self._create_iteration_variable()
        self._process_kwargs(kwargs)

    def _process_kwargs(self, kwargs: dict[str, Any]) -> None:
        kwargs = dict(kwargs)
        kwargs.pop("is_legacy_optimizer", None)
        self._given_lr = kwargs.pop("lr", None)
        legacy = f"tf.keras.optimizers.legacy.{type(self).__name__}"
        if self._given_lr is not None:
            tf.get_logger().warning("`lr` is deprecated in optimizers, please use `learning_rate`.")
        for name in kwargs:
            if name in _DEPRECATED:
                raise ValueError(
                    f"{name} is deprecated in the new optimizers, please check the docstring for "
                    f"valid arguments, or use the legacy optimizer, e.g., {legacy}."
                )
            raise TypeError(
                f"{name} is not a valid argument of {type(self).__name__}."
                f"{keyword_advice(type(self), name)}"
            )

    # Learning rate and step count.

    def _create_iteration_variable(self) -> None:
        with tf.init_scope():
            self._iterations = tf.Variable(0, name="iteration", dtype=tf.int64, trainable=False)
        self._variables.append(self._iterations)

    @property
    def iterations(self) -> Any:
        """The step count: a variable."""
        return self._iterations

    @iterations.setter
    def iterations(self, variable: Any) -> None:
        if getattr(self, "_built", False):
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been "
                f"created. Here it is attempting to set `iterations` to {variable}. Set it before "
                "the first call of `apply_gradients()`, or use `optimizer.iterations.assign()`."
            )
        self._iterations = variable

    def _build_learning_rate(self, learning_rate: Any) -> Any:
        if self._given_lr is not None:
            learning_rate, self._given_lr = self._given_lr, None
        with tf.init_scope():
            if isinstance(learning_rate, LearningRateSchedule):
                self._current_learning_rate = tf.Variable(
                    tf.cast(learning_rate(self._iterations), backend.floatx()),
                    name="current_learning_rate",
                    trainable=False,
                )
                return learning_rate
            if isinstance(learning_rate, tf.Tensor | tf.Variable):
                learning_rate = tf.cast(learning_rate, backend.floatx())
            try:
                return tf.Variable(
                    learning_rate, name="learning_rate", dtype=backend.floatx(), trainable=False
                )
            except (TypeError, ValueError) as failure:
                kind = type(self).__name__
                message = _NO_RATE.format(kind=kind, given=learning_rate)
                raise type(failure)(message) from None

    @property
    def learning_rate(self) -> Any:
        """The learning rate of the current step: a variable."""
        rate = getattr(self, "_learning_rate", None)
        if rate is None:
            raise ValueError(
                "Missing learning rate, please set self.learning_rate at optimizer creation time."
            )
        return self._current_learning_rate if isinstance(rate, LearningRateSchedule) else rate

    @learning_rate.setter
    def learning_rate(self, learning_rate: Any) -> None:
        current = getattr(self, "_learning_rate", None)
        if isinstance(current, LearningRateSchedule):
            raise TypeError(
                "This optimizer was created with a `LearningRateSchedule` object as its "
                "`learning_rate` constructor argument, hence its learning rate is not settable. If "
                "you need the learning rate to be settable, you should instantiate the optimizer "
                "with a float `learning_rate` argument."
            )
        if current is None or isinstance(learning_rate, LearningRateSchedule):
            self._learning_rate = self._build_learning_rate(learning_rate)
        else:
            try:
                current.assign(learning_rate)
            except (TypeError, ValueError) as failure:
                message = _NO_RATE.format(kind=type(self).__name__, given=learning_rate)
                raise type(failure)(message) from None

    lr = learning_rate

    def _compute_current_learning_rate(self) -> None:
        if isinstance(self._learning_rate, LearningRateSchedule):
            rate = tf.cast(self._learning_rate(self._iterations), backend.floatx())
            if hasattr(self, "_current_learning_rate"):
                self._current_learning_rate.assign(rate)
            else:
                self._learning_rate = self._build_learning_rate(self._learning_rate)

    # Variables.

    @property
    def variables(self) -> CallableList:
        """The step count and all slots."""
        return CallableList(self._variables)

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots of the variables; subclasses call this first and add their own."""
        if getattr(self, "_built", False):
            return
        self._build_index_dict(var_list)
        if self.use_ema:
            self._model_variables_moving_average = [
                self.add_variable_from_reference(variable, "average", initial_value=variable)
                for variable in var_list
            ]

    def _build_index_dict(self, var_list: Sequence[Any]) -> None:
        self._index_dict = {self._var_key(variable): i for i, variable in enumerate(var_list)}

    def _var_key(self, variable: Any) -> Any:
        """The identity of a variable, as a key."""
        return variable._key

    def _slots(self, var_list: Sequence[Any], name: str) -> list[Any]:
        return [self.add_variable_from_reference(variable, name) for variable in var_list]

    def _slot(self, slots: Sequence[Any], variable: Any) -> Any:
        return slots[self._index_dict[variable._key]]

    def add_variable(
        self, shape: Any, dtype: Any = None, initializer: Any = "zeros", name: str | None = None
    ) -> Any:
        """Create a variable of the optimizer."""
        if isinstance(initializer, str):
            initializer = initializers.get(initializer)
        dtype = dtype or backend.floatx()
        shape = [] if shape is None else shape
        value = initializer(tf.TensorShape(shape), dtype=dtype)
        variable = tf.Variable(value, name=name, dtype=dtype, trainable=False)
        self._variables.append(variable)
        return variable

    def add_variable_from_reference(
        self, model_variable: Any, variable_name: str, shape: Any = None, initial_value: Any = None
    ) -> Any:
        """Create a slot: a variable named after another, with its shape and dtype, initialized to
        zero.
        """
        if initial_value is None:
            initial_value = tf.zeros(
                model_variable.shape if shape is None else shape, model_variable.dtype
            )
        elif isinstance(initial_value, tf.Variable):
            initial_value = initial_value.read_value()
        name = model_variable.name.partition(":")[0]
        variable = tf.Variable(
            initial_value, name=f"{variable_name}/{name}", dtype=model_variable.dtype,
            trainable=False,
        )  # fmt: skip
        self._variables.append(variable)
        return variable

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the optimizer's variables, in the order of `variables`."""
        if not getattr(self, "_built", False):
            raise ValueError(
                "You are calling `set_weights()` on an optimizer that has not yet been built. "
                "Please call `optimizer.build(trainable_variables)` to create the optimizer "
                "weights before calling `set_weights()`."
            )
        pairs = list(zip(self._variables, weights, strict=False))
        for variable, weight in pairs:
            if tuple(variable.shape) != tuple(weight.shape):
                raise ValueError(
                    f"Optimizer variable {variable.name} has shape {variable.shape} not "
                    f"compatible with provided weight shape {weight.shape}."
                )
        for variable, weight in pairs:
            variable.assign(weight)

    def save_own_variables(self, store: Any) -> None:
        """Store the variables in a mapping, keyed by index."""
        for i, variable in enumerate(self._variables):
            store[str(i)] = variable.numpy()

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """Load the variables from a mapping that `save_own_variables` wrote."""
        if len(store.keys()) != len(self._variables):
            tf.get_logger().warning(
                "Skipping variable loading for optimizer '%s', because it has %d variables whereas "
                "the saved optimizer has %d variables. ",
                self.name,
                len(self._variables),
                len(store.keys()),
            )
            return
        for i, variable in enumerate(self._variables):
            variable.assign(store[str(i)])

    # One step.

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> Any:
        """Compute the gradients of a loss and apply them; in a graph, returns the operation to run.

        >>> v = tf.Variable(3.0)
        >>> optimizer = tf.keras.optimizers.SGD(learning_rate=0.5)
        >>> optimizer.minimize(lambda: v * v, [v])
        >>> v.numpy().item()
        0.0
        """
        count = self.apply_gradients(self.compute_gradients(loss, var_list, tape))
        return None if main_graph_being_built() is None else count

    def compute_gradients(self, loss: Any, var_list: Any, tape: Any = None) -> list[Any]:
        """The gradient-variable pairs of a loss: a function, or a tensor and its tape."""
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
        return list(zip(tape.gradient(loss, var_list), var_list, strict=True))

    def aggregate_gradients(self, grads_and_vars: Iterable[Any]) -> list[Any]:
        """The gradients summed over all replicas; there is only one."""
        return list(grads_and_vars)

    def apply_gradients(
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        name: str | None = None,
        skip_gradients_aggregation: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Update the variables from their gradients; returns the step count."""
        graph = main_graph_being_built()
        start = 0 if graph is None else len(graph.operations)
        self._compute_current_learning_rate()
        pairs = list(grads_and_vars)
        if not pairs:
            return self._iterations
        given, name = name, None
        outer = state.name_scope
        try:
            state.name_scope = scope_within(outer, given or self.name or "optimizer")
            if not getattr(self, "_built", False):
                with tf.init_scope():
                    self.build([variable for _, variable in pairs])
            count = self._apply_pairs(pairs)
            return count if graph is None else graph.updated_since(start, self._iterations)
        except (AttributeError, TypeError, ValueError) as failure:
            _require_pairs(pairs, failure)
            raise
        finally:
            state.name_scope = outer

    def _apply_pairs(self, pairs: list[tuple[Any, Any]]) -> Any:
        """Update the variables, which all have slots."""
        pairs = with_gradients(pairs)
        if self.clipnorm is not None or self.global_clipnorm or self.clipvalue is not None:
            grads = self._clip_gradients([gradient for gradient, _ in pairs])
            pairs = [(gradient, pair[1]) for gradient, pair in zip(grads, pairs, strict=True)]
        for gradient, _ in pairs:
            if type(gradient) is IndexedSlices:
                grads = self._deduplicate_sparse_grad([gradient for gradient, _ in pairs])
                pairs = [(gradient, pair[1]) for gradient, pair in zip(grads, pairs, strict=True)]
                break
        if self.weight_decay:
            self._apply_weight_decay([variable for _, variable in pairs])
        self._numbers = {} if self._shares_numbers else None
        try:
            iterations = self._internal_apply_gradients(pairs)
        finally:
            self._numbers = None
        for _, variable in pairs:
            if variable.constraint is not None:
                variable.assign(variable.constraint(variable))
        return iterations

    def _internal_apply_gradients(self, grads_and_vars: list[tuple[Any, Any]]) -> Any:
        known = self._index_dict
        for gradient, variable in grads_and_vars:
            if variable._key not in known:
                self._build_for_more([each for _, each in grads_and_vars])
                known = self._index_dict
            self.update_step(gradient, variable)
        if self.use_ema:
            variables = [variable for _, variable in grads_and_vars]
            self._update_model_variables_moving_average(variables)
            if self.ema_overwrite_frequency:
                due = (self._iterations + 1) % self.ema_overwrite_frequency == 0
                if state.graph is None:
                    if due:
                        self._overwrite_model_variables_with_average_value(variables)
                else:
                    for variable in variables:
                        average = self._slot(self._model_variables_moving_average, variable)
                        variable.assign(tf.where(due, average, variable))
        return self._iterations.assign_add(_ONE)

    def _build_for_more(self, variables: Sequence[Any]) -> None:
        """Create slots for variables that the optimizer sees after it was built.

        An optimizer used for several models has only the first model's slots when it sees the
        second.
        """
        known, before = self._index_dict, dict(vars(self))
        new = [variable for variable in variables if self._var_key(variable) not in known]
        self._built, self._variables = False, []
        with tf.init_scope():
            self.build(new)
        made, slots = self._variables, []
        for name, value in list(vars(self).items()):
            old: Any = before.get(name)
            per_variable = isinstance(old, list) and isinstance(value, list) and value is not old
            if per_variable and (len(old), len(value)) == (len(known), len(new)):
                slots += value
                setattr(self, name, old + value)
            elif name in before:
                setattr(self, name, old)
        kept = {id(each) for each in tf.nest.flatten(slots)}
        self._variables = before["_variables"] + [each for each in made if id(each) in kept]
        self._index_dict = {
            **known, **{self._var_key(each): len(known) + i for i, each in enumerate(new)}
        }  # fmt: skip

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient; for subclasses to implement."""
        raise NotImplementedError(
            f"{type(self).__name__} has no `update_step(gradient, variable)`: define it."
        )

    # Fused updates.

    def _scalars(self, dtype: tf.DType) -> Sequence[Any]:
        """The scalar inputs of the fused update, as NumPy scalars, or tensors in a graph."""
        raise NotImplementedError

    def _require_numbers(self) -> None:
        """Raise the error for a hyperparameter that is not a number."""
        for name, value in self.get_config().items():
            if isinstance(value, str) and name != "name":
                message = not_a_number(value, name, type(self).__name__, "a number")
                raise tf.errors.UnimplementedError(None, None, message)

    def _number(self, value: Any, dtype: tf.DType) -> Any:
        """A hyperparameter: a tensor in a graph, else a Python float without rounding."""
        if state.graph is None:
            try:
                return float(value)
            except (TypeError, ValueError):
                self._require_numbers()
                raise
        is_number = isinstance(value, int | float)
        return tf.constant(value, dtype) if is_number else tf.cast(value, dtype)

    def _rounded(self, value: Any, dtype: tf.DType) -> Any:
        """A hyperparameter that the original rounds to float32 before the cast to the dtype."""
        if type(value) is not float and not isinstance(value, int | float):
            return self._number(value, dtype)
        if state.graph is None:
            return _through_float32(value, dtype)
        return tf.constant(float(np.float32(value)), dtype)

    def _rate(self, dtype: tf.DType) -> Any:
        if state.graph is None:
            # The same object at every step, so that values derived from it stay cached.
            rate, kind = self.learning_rate._tensor._array, dtype.as_numpy_dtype
            return rate if type(rate) is kind else kind(rate.item())
        return tf.cast(self.learning_rate, dtype)

    def _step(self, dtype: tf.DType) -> Any:
        """The number of the current step, counted from 1."""
        if state.graph is None:
            return dtype.as_numpy_dtype(self._iterations._tensor._array.item() + 1)
        return tf.cast(self._iterations + 1, dtype)

    def _fuse(
        self, update: training.FusedUpdate, gradient: Any, cells: tuple[Any, ...], *attrs: Any
    ) -> None:
        """Update a variable and its slots by one fused kernel."""
        variable = cells[0]
        dtype = variable.dtype
        if not isinstance(gradient, Tensor):
            gradient = dense(gradient, variable)
        if gradient.dtype is not dtype:
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"The gradient of variable {variable.name} should be a {dtype.name} tensor as the "
                f"variable is, but it is a {gradient.dtype.name} tensor. tf.cast converts it. "
                f"[Op:{update.name}]",
            )
        if state.graph is not None:
            if gradient.shape != variable.shape:
                gradient = tf.broadcast_to(gradient, variable.shape)
            named = {"use_nesterov": attrs[0]} if attrs else {}
            update(cells, self._scalars(dtype), gradient, **named)
            return
        known = self._numbers
        numbers = None if known is None else known.get(dtype)
        if numbers is None:
            numbers = (*update.prepared(self._scalars(dtype), dtype.numpy), *attrs)
            if known is not None:
                known[dtype] = numbers
        update.update(cells, gradient._array, numbers)

    # Processing of gradients and variables around the update.

    def _clip_gradients(self, grads: Sequence[Any]) -> Sequence[Any]:
        # The first of these that is set: a value is ignored when a norm is given.
        grads = [clippable(gradient) for gradient in grads]
        if self.clipnorm is not None and self.clipnorm > 0:
            return [tf.clip_by_norm(gradient, self.clipnorm) for gradient in grads]
        if self.global_clipnorm is not None and self.global_clipnorm > 0:
            return list(tf.clip_by_global_norm(grads, self.global_clipnorm)[0])
        if self.clipvalue is not None and self.clipvalue > 0:
            limit = self.clipvalue
            return [tf.clip_by_value(gradient, -limit, limit) for gradient in grads]
        return grads

    def _deduplicate_sparse_grad(self, grads: Sequence[Any]) -> list[Any]:
        return [
            deduplicated(gradient) if type(gradient) is tf.IndexedSlices else gradient
            for gradient in grads
        ]

    def exclude_from_weight_decay(
        self, var_list: Sequence[Any] | None = None, var_names: Sequence[str] | None = None
    ) -> None:
        """Exclude variables, by identity or name, from weight decay; before the first step."""
        if getattr(self, "_built", False):
            raise ValueError(
                "`exclude_from_weight_decay()` can only be configured before the optimizer is "
                "built: call it before the first step."
            )
        self._exclude_from_weight_decay = [self._var_key(each) for each in var_list or []]
        self._exclude_from_weight_decay_names = list(var_names or [])

    def _use_weight_decay(self, variable: Any) -> bool:
        if self._var_key(variable) in getattr(self, "_exclude_from_weight_decay", ()):
            return False
        patterns = getattr(self, "_exclude_from_weight_decay_names", ())
        return not any(re.search(pattern, variable.name) for pattern in patterns)

    def _apply_weight_decay(self, variables: Iterable[Any]) -> None:
        if self.weight_decay is None:
            return
        for variable in variables:
            if self._use_weight_decay(variable):
                dtype = variable.dtype
                factor = self._number(self.weight_decay, dtype) * self._rate(dtype)
                if state.graph is None:
                    training.decay(variable, dtype.as_numpy_dtype(factor))
                else:
                    variable.assign_sub(variable * factor)

    def _update_model_variables_moving_average(self, var_list: Iterable[Any]) -> None:
        if not self.use_ema:
            return
        for variable in var_list:
            average = self._slot(self._model_variables_moving_average, variable)
            if state.graph is None:
                training.update_average(average, variable, self.ema_momentum)
            else:
                momentum = tf.constant(self.ema_momentum, variable.dtype)
                average.assign(momentum * average + (1 - momentum) * variable)

    def _overwrite_model_variables_with_average_value(self, var_list: Iterable[Any]) -> None:
        for variable in var_list:
            average = self._slot(self._model_variables_moving_average, variable)
            variable.assign(average.read_value())

    def finalize_variable_values(self, var_list: Iterable[Any]) -> None:
        """After training: overwrite the variables with their moving averages, if these are
        maintained.
        """
        if self.use_ema:
            self._overwrite_model_variables_with_average_value(var_list)

    # Configuration.

    def _serialize_hyperparameter(self, hyperparameter: Any) -> Any:
        if isinstance(hyperparameter, LearningRateSchedule):
            return schedules.serialize(hyperparameter)
        if isinstance(hyperparameter, tf.Variable):
            return hyperparameter.numpy()
        return hyperparameter() if callable(hyperparameter) else hyperparameter

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        config = {
            "name": self.name,
            "weight_decay": self.weight_decay,
            "clipnorm": self.clipnorm,
            "global_clipnorm": self.global_clipnorm,
            "clipvalue": self.clipvalue,
            "use_ema": self.use_ema,
            "ema_momentum": self.ema_momentum,
            "ema_overwrite_frequency": self.ema_overwrite_frequency,
            "jit_compile": self.jit_compile,
            "is_legacy_optimizer": False,
        }
        return config

    def _config_with(self, *names: str) -> dict[str, Any]:
        """The config with the learning rate and further attributes."""
        config = Optimizer.get_config(self)
        config["learning_rate"] = self._serialize_hyperparameter(self._learning_rate)
        for name in names:
            config[name] = getattr(self, name)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """Create an optimizer from its config."""
        config = dict(config)
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = schedules.deserialize(
                config["learning_rate"], custom_objects=custom_objects
            )
        return cls(**config)


@functools.lru_cache(maxsize=64)
def _through_float32(value: float, dtype: tf.DType) -> Any:
    return dtype.as_numpy_dtype(float(np.float32(value)))


def _require_average_settings(momentum: float, frequency: Any) -> None:
    if momentum > 1 or momentum < 0:
        raise ValueError(
            f"`ema_momentum` must be in the range [0, 1]. Received: ema_momentum={momentum}"
        )
    if frequency and (not isinstance(frequency, int) or frequency < 1):
        raise ValueError(
            "`ema_overwrite_frequency` must be an integer > 1 or None. Received: "
            f"ema_overwrite_frequency={frequency}"
        )


def _require_pairs(pairs: list[Any], failure: Exception) -> None:
    """Raise a better error when a step failed for lack of gradient-variable pairs."""
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise type(failure)(_NO_PAIR.format(pair=pair)) from None
        if not hasattr(pair[1], "assign"):
            raise type(failure)(_NO_VARIABLE.format(variable=pair[1])) from None
