"""LossScaleOptimizer: scales the loss so that float16 gradients do not underflow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import runnel as tf

from ...core.graph.main_graph import main_graph_being_built
from . import legacy
from .base import Optimizer

_INITIAL_SCALE = 2.0**15
_GROWTH_STEPS = 2000
_OWN = frozenset({"inner_optimizer", "_scale", "_good_steps", "_initial_scale", "_growth_steps"})


class LossScaleOptimizer(Optimizer):
    """A wrapper around an optimizer for mixed-precision training.

    The loss is multiplied by the scale before the gradients are computed, and they are divided by
    it afterwards. With `dynamic` the scale doubles after `dynamic_growth_steps` finite steps; a
    step with non-finite gradients is skipped and halves the scale.

    >>> optimizer = tf.keras.mixed_precision.LossScaleOptimizer(
    ...     tf.keras.optimizers.SGD(), initial_scale=4.0)
    >>> optimizer.get_scaled_loss(tf.constant(3.0)).numpy().item()
    12.0
    """

    def __init__(
        self,
        inner_optimizer: Any,
        dynamic: bool = True,
        initial_scale: float | None = None,
        dynamic_growth_steps: int | None = None,
    ) -> None:
        if isinstance(inner_optimizer, LossScaleOptimizer):
            raise TypeError(
                "LossScaleOptimizer cannot wrap another LossScaleOptimizer, but got: "
                f"{inner_optimizer}"
            )
        if not isinstance(inner_optimizer, Optimizer | legacy.Optimizer):
            raise TypeError(
                '"inner_optimizer" must be an instance of `tf.keras.optimizers.Optimizer` or '
                "`tf.keras.optimizers.experimental.Optimizer`, but got: "
                f"{inner_optimizer}."
            )
        if not isinstance(dynamic, bool):
            raise TypeError(
                '"dynamic" argument to LossScaleOptimizer.__init__ must be a bool, but got: '
                f"{dynamic!r}"
            )
        if not dynamic and initial_scale is None:
            raise ValueError('"initial_scale" must be specified if "dynamic" is False')
        if not dynamic and dynamic_growth_steps is not None:
            raise ValueError(
                '"dynamic_growth_steps" must be None if "dynamic" is False, but got: '
                f"{dynamic_growth_steps}"
            )
        self.inner_optimizer = inner_optimizer
        self._initial_scale = float(_INITIAL_SCALE if initial_scale is None else initial_scale)
        self._growth_steps: Any = None
        self._scale: Any = tf.constant(self._initial_scale)
        self._good_steps: Any = None
        if dynamic:
            self._growth_steps = _GROWTH_STEPS if dynamic_growth_steps is None else (
                dynamic_growth_steps)  # fmt: skip
            with tf.init_scope():
                self._scale = tf.Variable(
                    self._initial_scale, name="current_loss_scale", trainable=False
                )
                self._good_steps = tf.Variable(0, name="good_steps", dtype="int64", trainable=False)

    # Attributes that delegate to the inner optimizer.

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "inner_optimizer":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self.inner_optimizer, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN:
            object.__setattr__(self, name, value)
        else:
            setattr(self.inner_optimizer, name, value)

    @property  # type: ignore[misc]
    def iterations(self) -> Any:
        return self.inner_optimizer.iterations

    @property  # type: ignore[misc]
    def learning_rate(self) -> Any:
        return self.inner_optimizer.learning_rate

    @property
    def lr(self) -> Any:
        return self.inner_optimizer.learning_rate

    @property
    def variables(self) -> Any:
        """The step count and the slots of the inner optimizer."""
        return self.inner_optimizer.variables

    def build(self, var_list: Sequence[Any]) -> None:
        """Create the slots of the inner optimizer."""
        if isinstance(self.inner_optimizer, Optimizer):
            self.inner_optimizer.build(var_list)
        else:
            self.inner_optimizer._create_all_weights(var_list)

    def update_step(self, gradient: Any, variable: Any) -> None:
        """Update one variable from its gradient."""
        self.inner_optimizer.update_step(gradient, variable)

    def add_variable(
        self, shape: Any, dtype: Any = None, initializer: Any = "zeros", name: str | None = None
    ) -> Any:
        """Create a variable of the inner optimizer."""
        return self.inner_optimizer.add_variable(shape, dtype, initializer, name)

    def add_variable_from_reference(
        self, model_variable: Any, variable_name: str, shape: Any = None, initial_value: Any = None
    ) -> Any:
        """Create a slot of the inner optimizer."""
        return self.inner_optimizer.add_variable_from_reference(
            model_variable, variable_name, shape, initial_value
        )

    def exclude_from_weight_decay(self, var_list: Any = None, var_names: Any = None) -> None:
        """Exclude variables from weight decay."""
        self.inner_optimizer.exclude_from_weight_decay(var_list, var_names)

    def finalize_variable_values(self, var_list: Any) -> None:
        """Overwrite variables with their final values at the end of training."""
        if isinstance(self.inner_optimizer, Optimizer):
            self.inner_optimizer.finalize_variable_values(var_list)

    def set_weights(self, weights: Sequence[Any]) -> None:
        """Set the variables of the inner optimizer."""
        self.inner_optimizer.set_weights(weights)

    # The scale.

    @property
    def dynamic(self) -> bool:
        """Whether the loss scale is dynamic."""
        return self._good_steps is not None

    @property
    def loss_scale(self) -> Any:
        """The current scale, a tensor."""
        return tf.convert_to_tensor(self._scale)

    @property
    def dynamic_counter(self) -> Any:
        """The number of finite steps since the scale last changed, a variable."""
        return self._good_steps

    @property
    def initial_scale(self) -> float:
        return self._initial_scale

    @property
    def dynamic_growth_steps(self) -> int | None:
        return self._growth_steps

    def get_scaled_loss(self, loss: Any) -> Any:
        """A scaled loss, or a function that computes one."""
        if callable(loss):
            return lambda: self.get_scaled_loss(loss())
        return loss * tf.cast(self.loss_scale, loss.dtype)

    def get_unscaled_gradients(self, grads: Sequence[Any]) -> list[Any]:
        """Scaled gradients divided by the scale."""
        inverse = 1.0 / self.loss_scale

        def unscaled(gradient: Any) -> Any:
            if isinstance(gradient, tf.IndexedSlices):
                values = gradient.values * tf.cast(inverse, gradient.values.dtype)
                return tf.IndexedSlices(values, gradient.indices, gradient.dense_shape)
            return None if gradient is None else gradient * tf.cast(inverse, gradient.dtype)

        return [unscaled(gradient) for gradient in grads]

    # One step.

    def minimize(self, loss: Any, var_list: Any, tape: Any = None) -> None:
        """Compute the gradients of the scaled loss and apply them unscaled."""
        self.apply_gradients(self.compute_gradients(loss, var_list, tape))

    def compute_gradients(self, loss: Any, var_list: Any, tape: Any = None) -> list[Any]:
        """The gradient-variable pairs of a loss, computed with loss scaling."""
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
        # Seeding the backward pass with the scale scales the loss without recording more
        # operations.
        start = tf.fill(tf.shape(loss), tf.cast(self.loss_scale, loss.dtype))
        grads = tape.gradient(loss, var_list, output_gradients=start)
        return list(zip(self.get_unscaled_gradients(grads), var_list, strict=True))

    def apply_gradients(  # type: ignore[override]
        self,
        grads_and_vars: Iterable[tuple[Any, Any]],
        skip_gradients_aggregation: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Update the variables from unscaled gradients, unless some are not finite."""
        pairs = list(grads_and_vars)
        if not pairs:
            return None
        if self._good_steps is None:
            count = self.inner_optimizer.apply_gradients(pairs, **kwargs)
            return None if main_graph_being_built() is None else count
        with tf.init_scope():
            self.build([variable for _, variable in pairs])
        graph = main_graph_being_built()
        if graph is None:
            self._apply_if_finite(pairs, kwargs)
            return None
        start = len(graph.operations)
        # All effects of a function run; of a conditional in the graph, only what its outputs need.
        tf.function(lambda: self._apply_if_finite(pairs, kwargs), autograph=False)()
        return graph.updated_since(start, self.iterations)

    def _apply_if_finite(self, pairs: list[Any], kwargs: dict[str, Any]) -> None:
        finite = _all_finite([gradient for gradient, _ in pairs])

        def apply() -> Any:
            self.inner_optimizer.apply_gradients(pairs, **kwargs)
            return tf.constant(True)

        def skip() -> Any:
            self.iterations.assign_add(1)
            return tf.constant(False)

        tf.cond(finite, apply, skip)
        self._follow(finite)

    def _follow(self, finite: Any) -> None:
        """Increase the scale after enough finite steps; halve it after a non-finite one."""
        scale, steps = self.loss_scale, self._good_steps + 1
        grown = tf.logical_and(finite, steps >= self._growth_steps)
        doubled = tf.where(tf.math.is_finite(scale * 2.0), scale * 2.0, scale)
        halved = tf.maximum(scale / 2.0, 1.0)
        self._scale.assign(tf.where(finite, tf.where(grown, doubled, scale), halved))
        kept = tf.logical_and(finite, tf.logical_not(grown))
        self._good_steps.assign(tf.where(kept, steps, tf.zeros_like(steps)))

    # Configuration and files.

    def get_config(self) -> dict[str, Any]:
        """The constructor arguments, as a dict."""
        return {
            "inner_optimizer": tf.keras.optimizers.serialize(self.inner_optimizer),
            "dynamic": self.dynamic,
            "initial_scale": self.initial_scale,
            "dynamic_growth_steps": self.dynamic_growth_steps,
        }

    @classmethod
    def from_config(
        cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None
    ) -> LossScaleOptimizer:
        """Create an optimizer from its config."""
        config = dict(config)
        inner = tf.keras.optimizers.deserialize(config.pop("inner_optimizer"), custom_objects)
        return cls(inner, **config)

    def save_own_variables(self, store: Any) -> None:
        """Store the variables in a mapping, those of the scale last."""
        variables = list(self.inner_optimizer.variables())
        if self._good_steps is not None:
            variables += [self._scale, self._good_steps]
        for index, variable in enumerate(variables):
            store[str(index)] = variable.numpy()

    def load_own_variables(self, store: Mapping[str, Any]) -> None:
        """Load the variables from a mapping that `save_own_variables` wrote."""
        values = [store[str(index)] for index in range(len(store.keys()))]
        variables = list(self.inner_optimizer.variables())
        if self._good_steps is not None and len(values) == len(variables) + 2:
            variables += [self._scale, self._good_steps]
        if len(values) != len(variables):
            tf.get_logger().warning(
                "Skipping variable loading for optimizer '%s', because it has %d variables whereas "
                "the saved optimizer has %d variables. ",
                type(self).__name__,
                len(variables),
                len(values),
            )
            return
        for variable, value in zip(variables, values, strict=True):
            variable.assign(value)


def _all_finite(grads: list[Any]) -> Any:
    found = [
        tf.reduce_all(tf.math.is_finite(tf.convert_to_tensor(getattr(each, "values", each))))
        for each in grads
        if each is not None
    ]
    return tf.reduce_all(tf.stack(found)) if found else tf.constant(True)
