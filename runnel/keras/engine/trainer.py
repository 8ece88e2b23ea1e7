"""Training, evaluation and prediction: compile, fit, evaluate, predict and their parts."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Container
from typing import Any

import numpy as np

import runnel as tf

from ...core.arguments import require_integer, require_number
from ...core.graph.session_calls import in_session
from ...core.suggestions import keyword_advice
from .compiled import CompiledLoss, CompiledMetrics
from .composite_data import joined, plain
from .data_adapter import (
    batches_of,
    one_batch,
    train_validation_split,
    unpack_x_y_sample_weight,
)
from .layer_weights import set_plainly
from .older_methods import OlderMethods
from .steps import IN_METRICS, TracedStep

_NOT_COMPILED = (
    "You must compile your model before training/testing. Use `model.compile(optimizer, loss)`."
)

_LONE_VALIDATION_DATA = (
    "`validation_data` is a tuple (x_val, y_val) or (x_val, y_val, sample_weights), or a dataset "
    "or generator of such. Received a single {kind}, without targets."
)
_NO_LOGS = (
    "`train_step` of {kind} returned None: it must return a dict of numbers by name, such as "
    "{{'loss': loss}}. Is a `return` missing at its end?"
)


class Trainer:
    """The training methods of a model."""

    # The arguments of `compile`; the attribute does not exist before.
    loss: Any
    train_function: Any
    test_function: Any
    predict_function: Any
    _counters: dict[str, Any]

    def _init_trainer(self) -> None:
        self.optimizer: Any = None
        self.compiled_loss: Any = None
        self.compiled_metrics: Any = None
        self.history: Any = None
        self.stop_training = False
        self._is_compiled = False
        self._run_eagerly: Any = None
        self._jit_compile: Any = None
        self._steps_per_execution: Any = None
        self._autotune_steps_per_execution = False
        self._compile_config: dict[str, Any] = {}
        self._traced_steps: dict[str, TracedStep] = {}
        self.train_function = self.test_function = self.predict_function = None
        # The batch counters as variables, created on request.
        set_plainly(self, "_counters", {})

    def compile(
        self,
        optimizer: Any = "rmsprop",
        loss: Any = None,
        metrics: Any = None,
        loss_weights: Any = None,
        weighted_metrics: Any = None,
        run_eagerly: Any = None,
        steps_per_execution: Any = None,
        jit_compile: Any = None,
        pss_evaluation_shards: Any = 0,
        **kwargs: Any,
    ) -> None:
        """Configure the optimizer, the loss and the metrics."""
        _check_older_arguments(kwargs)
        if isinstance(optimizer, list | tuple):
            # For a custom `train_step`.
            self.optimizer = [self._scaling(tf.keras.optimizers.get(each)) for each in optimizer]
        else:
            self.optimizer = self._scaling(tf.keras.optimizers.get(optimizer))
        self.loss = {} if loss is None else loss
        names = getattr(self, "output_names", None)
        self.compiled_loss = CompiledLoss(loss, loss_weights, names)
        self.compiled_metrics = CompiledMetrics(
            copy.copy(metrics), copy.copy(weighted_metrics), names
        )
        self._has_loss = loss is not None
        self._run_eagerly = run_eagerly
        self._compile_config = {
            "optimizer": optimizer,
            "loss": loss,
            "metrics": metrics,
            "weighted_metrics": weighted_metrics,
            "loss_weights": loss_weights,
            "run_eagerly": run_eagerly,
            "steps_per_execution": steps_per_execution,
            "jit_compile": jit_compile,
        }
        self._is_compiled = True
        self._jit_compile = jit_compile
        self._autotune_steps_per_execution = steps_per_execution == "auto"
        self.steps_per_execution = (
            1 if steps_per_execution in (None, "auto") else steps_per_execution
        )
        self._traced_steps = {}
        self.train_function = self.test_function = self.predict_function = None

    def _scaling(self, optimizer: Any) -> Any:
        """The optimizer, with loss scaling if the model computes in float16."""
        if self.dtype_policy.name != "mixed_float16":  # type: ignore[attr-defined]
            return optimizer
        kind = tf.keras.mixed_precision.LossScaleOptimizer
        return optimizer if isinstance(optimizer, kind) else kind(optimizer)

    @property
    def run_eagerly(self) -> bool:
        return bool(self._run_eagerly) or tf.config.functions_run_eagerly()

    @run_eagerly.setter
    def run_eagerly(self, value: Any) -> None:
        self._run_eagerly = value

    @property
    def jit_compile(self) -> Any:
        return self._jit_compile

    @jit_compile.setter
    def jit_compile(self, value: Any) -> None:
        self._jit_compile = self._compile_config["jit_compile"] = value
        self._traced_steps = {}

    @property
    def steps_per_execution(self) -> Any:
        """The number of batches per callback invocation, a variable; None before `compile`."""
        return self._steps_per_execution

    @steps_per_execution.setter
    def steps_per_execution(self, value: Any) -> None:
        if self._steps_per_execution is None:
            # Not tracked as a variable of the model.
            made = tf.Variable(value, dtype=tf.int64, trainable=False)
            set_plainly(self, "_steps_per_execution", made)
        else:
            self._steps_per_execution.assign(value)

    @property
    def autotune_steps_per_execution(self) -> bool:
        return self._autotune_steps_per_execution

    @autotune_steps_per_execution.setter
    def autotune_steps_per_execution(self, value: bool) -> None:
        self._autotune_steps_per_execution = value

    def _executions(self, kind: str, batches: Any) -> Any:
        """The batches of an epoch, with the first and last batch index of each execution."""
        count = 1 if self._steps_per_execution is None else int(self._steps_per_execution)
        data = iter(batches.epoch())
        if count == 1:
            for step, batch in enumerate(data):
                yield step, step, (batch,)
                if self._counters:
                    self._count(kind, 1)
            return
        step = 0
        while group := list(itertools.islice(data, count)):
            yield step, step + len(group) - 1, group
            step += len(group)
            self._count(kind, len(group))

    def _count(self, kind: str, batches: int) -> None:
        if kind in self._counters:
            self._counters[kind].assign_add(batches)

    def _count_anew(self, kind: str) -> None:
        if kind in self._counters:
            self._counters[kind].assign(0)

    def _need_compiled(self) -> None:
        if not self._is_compiled:
            raise RuntimeError(_NOT_COMPILED)

    @property
    def _train_counter(self) -> Any:
        """The number of batches that `fit` has trained on; reset when it starts."""
        return self._counter("train")

    @property
    def _test_counter(self) -> Any:
        """The number of batches `evaluate` has seen."""
        return self._counter("test")

    @property
    def _predict_counter(self) -> Any:
        """The number of batches `predict` has seen."""
        return self._counter("predict")

    def _counter(self, kind: str) -> Any:
        if kind not in self._counters:
            with tf.init_scope():
                self._counters[kind] = tf.Variable(0, dtype=tf.int64, trainable=False)
        return self._counters[kind]

    @property
    def metrics(self) -> list[Any]:
        found: list[Any] = []
        if self._is_compiled:
            found += self.compiled_loss.metrics + self.compiled_metrics.metrics
        for layer in self._flatten_layers():  # type: ignore[attr-defined]
            found += layer._metrics
        return found

    @property
    def metrics_names(self) -> list[str]:
        return [metric.name for metric in self.metrics]

    def reset_metrics(self) -> None:
        """Reset all metrics."""
        for metric in self.metrics:
            metric.reset_state()

    # The steps, for users to override.

    def compute_loss(
        self, x: Any = None, y: Any = None, y_pred: Any = None, sample_weight: Any = None
    ) -> Any:
        """The loss of a batch, including regularization."""
        return self.compiled_loss(y, y_pred, sample_weight, regularization_losses=self.losses)  # type: ignore[attr-defined]

    def compute_metrics(self, x: Any, y: Any, y_pred: Any, sample_weight: Any) -> dict[str, Any]:
        """Update the metrics with a batch; returns their results."""
        self.compiled_metrics.update_state(y, y_pred, sample_weight)
        return self.get_metrics_result()

    def get_metrics_result(self) -> dict[str, Any]:
        """The results of all metrics by name."""
        results: dict[str, Any] = {}
        for metric in self.metrics:
            result = metric.result()
            if isinstance(result, dict):
                results.update(result)
            else:
                results[metric.name] = result
        return results

    def _validate_target_and_loss(self, y: Any) -> None:
        if self._has_loss and y is None:
            raise ValueError(
                "Target data is missing. Your model was compiled with "
                f"loss={self.loss}, and therefore expects target data to be provided in `fit()`."
            )
        own = type(self).compute_loss is not Trainer.compute_loss
        if not own and not self._has_loss and not self.losses:  # type: ignore[attr-defined]
            raise ValueError(
                "No loss found. You may have forgotten to provide a `loss` argument in the "
                "`compile()` method."
            )

    def train_step(self, data: Any) -> dict[str, Any]:
        """One training step on a batch; returns the logs."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)  # type: ignore[operator]
            loss = self.compute_loss(x, y, y_pred, sample_weight)
        self._validate_target_and_loss(y)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)  # type: ignore[attr-defined]
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def test_step(self, data: Any) -> dict[str, Any]:
        """Evaluate a batch; returns the logs."""
        x, y, sample_weight = unpack_x_y_sample_weight(data)
        y_pred = self(x, training=False)  # type: ignore[operator]
        self.compute_loss(x, y, y_pred, sample_weight)
        return self.compute_metrics(x, y, y_pred, sample_weight)

    def predict_step(self, data: Any) -> Any:
        """The outputs for a batch."""
        x, _, _ = unpack_x_y_sample_weight(data)
        return self(x, training=False)  # type: ignore[operator]

    def _step(self, name: str) -> Any:
        """train_step, test_step or predict_step: traced, or directly if it runs eagerly."""
        step = getattr(self, name)
        kind = name.removesuffix("_step")
        maker = getattr(self, f"make_{kind}_function")
        if getattr(maker, "__func__", None) is not getattr(OlderMethods, maker.__name__):
            # A custom function, which takes batches from an iterator.
            function = maker()
            return lambda data: function(iter((data,)))
        if self.run_eagerly or getattr(self, "dynamic", False):
            return step
        return self._traced_step(name)

    def _traced_step(self, name: str) -> TracedStep:
        traced = self._traced_steps.get(name)
        if traced is None:
            traced = TracedStep(getattr(self, name), self._jit_compile)
            self._traced_steps[name] = traced
        return traced

    def _step_in_loop(self, name: str, batches: Any, listeners: Any) -> Any:
        """The same for a loop over batches, where only the last logs may be needed.

        The built-in steps return the metrics' results, which can be read once at the end.
        """
        step = self._step(name)
        told = f"on_{name.removesuffix('_step')}_batch_end"
        is_own = all(
            getattr(getattr(self, each), "__func__", None) is getattr(Trainer, each)
            for each in (name, "compute_metrics", "get_metrics_result")
        )
        few = batches.steps is not None and batches.steps < 4
        if few or not is_own or not isinstance(step, TracedStep) or not step.has_effects_alone:
            return step
        heard = type(listeners) is not tf.keras.callbacks.CallbackList or listeners.listens(told)
        return step if heard else step.without_logs

    # The loops.

    @in_session
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: Any = "auto",
        callbacks: Any = None,
        validation_split: float = 0.0,
        validation_data: Any = None,
        shuffle: bool = True,
        class_weight: Any = None,
        sample_weight: Any = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_batch_size: int | None = None,
        validation_freq: Any = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """Train the model for a number of epochs; returns the History of losses and metrics."""
        self._need_compiled()
        _require_numbers(epochs, initial_epoch, steps_per_epoch, batch_size, validation_split)
        if epochs <= 0:
            raise ValueError(f"Expected epochs to be positive. Received is {epochs}.")
        verbose = 1 if verbose == "auto" else verbose
        if validation_split and validation_data is None:
            data, rest = train_validation_split((x, y, sample_weight), validation_split)
            x, y, sample_weight = data
            validation_data = rest
        batches = batches_of(
            x, y, sample_weight, batch_size, shuffle, steps_per_epoch, class_weight, epochs=epochs
        )
        validation = None
        if validation_data is not None:
            if not isinstance(validation_data, tuple | list) and hasattr(validation_data, "dtype"):
                raise ValueError(_LONE_VALIDATION_DATA.format(kind=type(validation_data).__name__))
            vx, vy, vw = unpack_x_y_sample_weight(validation_data)
            validation = batches_of(
                vx, vy, vw, validation_batch_size or batch_size, False, validation_steps,
                begin_anew=True,
            )  # fmt: skip
        listeners = self._listeners(callbacks, verbose, epochs=epochs, steps=batches.steps)
        self.stop_training = False
        self._count_anew("train")
        self._resume_at: tuple[int, int] = (initial_epoch, 0)
        listeners.on_train_begin()
        logs: dict[str, Any] | None = None
        first_epoch, first_batch = self._resume_at
        for epoch in range(first_epoch, epochs):
            self.reset_metrics()
            listeners.on_epoch_begin(epoch)
            logs = self._train_epoch(batches, listeners, first_batch, logs)
            first_batch = 0
            if validation is not None and _validates(epoch, validation_freq):
                found = self._evaluate(validation, listeners)
                logs.update({f"val_{name}": value for name, value in found.items()})
            listeners.on_epoch_end(epoch, logs)
            if self.stop_training or batches.ran_out:
                break
        if isinstance(self.optimizer, tf.keras.optimizers.Optimizer):
            variables = self.trainable_variables  # type: ignore[attr-defined]
            self.optimizer.finalize_variable_values(variables)
        listeners.on_train_end(logs)
        return self.history

    def _listeners(self, callbacks: Any, verbose: Any, **parameters: Any) -> Any:
        kind = tf.keras.callbacks.CallbackList
        if isinstance(callbacks, kind):
            return callbacks
        return kind(
            callbacks,
            add_history=True,
            add_progbar=verbose != 0,
            model=self,
            verbose=verbose,
            **parameters,
        )

    def _train_epoch(
        self, batches: Any, listeners: Any, first_batch: int, earlier: dict[str, Any] | None
    ) -> dict[str, Any]:
        # An epoch without data repeats the logs of the previous one.
        logs = None if earlier is None else dict(earlier)
        train_step = self._step_in_loop("train_step", batches, listeners)
        batches_seen = False
        for first, last, group in self._executions("train", batches):
            if first < first_batch:
                continue
            listeners.on_train_batch_begin(first)
            batches_seen = True
            for data in group:
                logs = train_step(data)
            listeners.on_train_batch_end(last, logs)
            if self.stop_training:
                break
        if logs is None and batches_seen:
            raise TypeError(_NO_LOGS.format(kind=type(self).__name__))
        if logs is None:
            raise ValueError(
                "Unexpected result of `train_function` (Empty Logs): the data has no batch."
            )
        return self._at_the_end(logs)

    def _at_the_end(self, logs: dict[str, Any]) -> dict[str, Any]:
        """The logs over all batches: the metrics' results, if the last logs report these."""
        names = set(logs) if isinstance(logs, dict) else None
        if logs is IN_METRICS or names == set(self.metrics_names):
            logs = self.get_metrics_result()
        return numbers(logs)

    @in_session
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: Any = "auto",
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        return_dict: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Evaluate the model; returns the loss and metrics as a number, a list, or a dict."""
        if kwargs:
            near = keyword_advice(Trainer.evaluate, next(iter(kwargs)))
            raise TypeError(f"Invalid keyword arguments: {list(kwargs)}.{near}")
        self._need_compiled()
        verbose = 1 if verbose == "auto" else verbose
        batches = batches_of(x, y, sample_weight, batch_size, False, steps)
        listeners = self._listeners(callbacks, verbose, epochs=1, steps=batches.steps)
        history = self.history
        logs = self._evaluate(batches, listeners)
        self.history = history
        return logs if return_dict else self._in_order(logs)

    def _in_order(self, logs: dict[str, Any]) -> Any:
        """The values of logs in metric order, others by name; a single value is unwrapped."""
        names = self.metrics_names
        known = [name for name in names if name in logs]
        values = [logs[name] for name in known + sorted(set(logs) - set(known))]
        return values[0] if len(values) == 1 else values

    def _evaluate(self, batches: Any, listeners: Any) -> dict[str, Any]:
        self.reset_metrics()
        if listeners is not None:
            listeners.on_test_begin()
        logs: dict[str, Any] | None = None
        test_step = self._step_in_loop("test_step", batches, listeners)
        self._count_anew("test")
        for first, last, group in self._executions("test", batches):
            if listeners is not None:
                listeners.on_test_batch_begin(first)
            for data in group:
                logs = test_step(data)
            if listeners is not None:
                listeners.on_test_batch_end(last, logs)
        if logs is None:
            raise ValueError(
                "Unexpected result of `test_function` (Empty Logs): the data has no batch."
            )
        found = self._at_the_end(logs)
        if listeners is not None:
            listeners.on_test_end(found)
        return found

    @in_session
    def predict(
        self,
        x: Any,
        batch_size: int | None = None,
        verbose: Any = "auto",
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for all inputs, as NumPy arrays."""
        verbose = 1 if verbose == "auto" else verbose
        batches = batches_of(x, None, None, batch_size, False, steps)
        listeners = None
        if verbose or callbacks:
            listeners = self._listeners(callbacks, verbose, epochs=1, steps=batches.steps)
            listeners.on_predict_begin()
        parts: list[Any] = []
        predict_step = self._step("predict_step")
        self._count_anew("predict")
        for first, last, group in self._executions("predict", batches):
            if listeners is not None:
                listeners.on_predict_batch_begin(first)
            found = [predict_step(data) for data in group]
            parts += [tf.nest.map_structure(plain, outputs) for outputs in found]
            if listeners is not None:
                outputs = found[0] if len(found) == 1 else _together(parts[-len(found) :])
                listeners.on_predict_batch_end(last, {"outputs": outputs})
        if not parts:
            raise ValueError("Unexpected result of `predict_function` (Empty batch_outputs).")
        if listeners is not None:
            listeners.on_predict_end()
        return _together(parts)

    @in_session
    def train_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        class_weight: Any = None,
        reset_metrics: bool = True,
        return_dict: bool = False,
    ) -> Any:
        """One training step; returns the loss and metrics."""
        self._need_compiled()
        data = one_batch(x, y, sample_weight, class_weight)
        return self._on_batch(self._step("train_step"), data, reset_metrics, return_dict)

    @in_session
    def test_on_batch(
        self,
        x: Any,
        y: Any = None,
        sample_weight: Any = None,
        reset_metrics: bool = True,
        return_dict: bool = False,
    ) -> Any:
        """The loss and metrics on one batch."""
        self._need_compiled()
        data = one_batch(x, y, sample_weight)
        return self._on_batch(self._step("test_step"), data, reset_metrics, return_dict)

    def _on_batch(self, step: Any, data: Any, reset_metrics: bool, return_dict: bool) -> Any:
        if reset_metrics:
            self.reset_metrics()
        try:
            logs = numbers(step(data))
        except tf.errors.InvalidArgumentError as failure:
            if "must have the same first dimension" not in failure.message:
                raise
            # The size of a single batch is static: as in the original, sizes that do not fit are a
            # ValueError.
            raise ValueError(failure.message) from failure
        return logs if return_dict else self._in_order(logs)

    @in_session
    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch, as NumPy arrays."""
        outputs = self._step("predict_step")(one_batch(x))
        return tf.nest.map_structure(plain, outputs)


# Arguments of `compile` that older programs pass, accepted and ignored.
_IGNORED = {"cloning", "experimental_run_tf_function", "from_serialized", "sample_weight_mode"}


def _require_numbers(
    epochs: Any, initial_epoch: Any, steps: Any, batch_size: Any, validation_split: Any
) -> None:
    """Raise TypeError for arguments of `fit` that are not numbers or not integers."""
    counts = {"epochs": epochs, "initial_epoch": initial_epoch, "batch_size": batch_size}
    for name, value in counts.items():
        if value is not None:
            require_integer(value, name, "fit")
    for name, value in {"steps_per_epoch": steps, "validation_split": validation_split}.items():
        if value is not None:
            require_number(value, name, "fit")


def _check_older_arguments(given: dict[str, Any]) -> None:
    for name in ("distribute", "target_tensors"):
        if given.get(name) is not None:
            raise ValueError(f"`{name}` argument in `compile()` is not supported in TF2.")
    unknown = set(given) - _IGNORED - {"distribute", "target_tensors"}
    if unknown:
        raise TypeError(
            f"Invalid keyword argument(s) in `compile()`: {unknown}."
            f"{keyword_advice(Trainer.compile, min(unknown))}"
        )


def _together(parts: list[Any]) -> Any:
    """The outputs of several batches, concatenated."""
    return tf.nest.map_structure(lambda *outputs: joined(outputs), *parts)


def _validates(epoch: int, validation_freq: Any) -> bool:
    if isinstance(validation_freq, int):
        return (epoch + 1) % validation_freq == 0
    if not isinstance(validation_freq, Container) or isinstance(validation_freq, str):
        raise ValueError(
            "Expected `validation_freq` to be a list or int. Received: "
            f"validation_freq={validation_freq} of the type {type(validation_freq)}."
        )
    return epoch + 1 in validation_freq


def numbers(logs: dict[str, Any]) -> dict[str, Any]:
    """Logs with tensors converted to Python numbers."""
    return {
        name: np.asarray(value).item() if getattr(value, "shape", ()) == () else np.asarray(value)
        for name, value in logs.items()
    }
