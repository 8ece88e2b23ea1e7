"""Callback, the base class, and CallbackList, which calls them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import runnel as tf

from ..keywords import RefusesUnknownKeywords

_OLD_NAMES = {"on_train_batch_begin": "on_batch_begin", "on_train_batch_end": "on_batch_end"}
_BATCH_HOOKS = tuple(
    f"on_{phase}_batch_{moment}"
    for phase in ("train", "test", "predict")
    for moment in ("begin", "end")
)

_NO_CALLBACK = (
    "{callback!r} of type {kind} is no callback and has no {hook}: `callbacks` takes instances of "
    "tf.keras.callbacks.Callback, such as tf.keras.callbacks.EarlyStopping('val_loss')."
)
_CLASS_AS_CALLBACK = (
    "`callbacks` takes instances, not classes: write {kind}(...) with its arguments in place of "
    "{kind}."
)


def _hook(callback: Any, name: str) -> Any:
    try:
        return getattr(callback, name)
    except AttributeError:
        kind = type(callback).__name__
        message = _NO_CALLBACK.format(callback=callback, kind=kind, hook=name)
        raise AttributeError(message) from None


class Callback(RefusesUnknownKeywords):
    """Hooks into training, evaluation and prediction.

    Override the hooks of interest. `self.model` is the model, `self.params` a dict with `verbose`,
    `epochs` and `steps`; `logs` has the loss and the metrics as Python floats.

    >>> class Announcer(tf.keras.callbacks.Callback):
    ...     def on_epoch_end(self, epoch, logs=None):
    ...         print("epoch", epoch, "loss", logs["loss"])
    >>> tf.keras.callbacks.CallbackList([Announcer()]).on_epoch_end(0, {"loss": tf.constant(0.5)})
    epoch 0 loss 0.5
    """

    def __init__(self) -> None:
        self.validation_data = None
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        """Set the parameters of the run: verbose, epochs, steps."""
        self.params = params

    def set_model(self, model: Any) -> None:
        """Set the model being trained."""
        self.model = model

    def on_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """The older name of `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """The older name of `on_train_batch_end`."""

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Called at the start of an epoch of training."""

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """Called at the end of an epoch of training, after its validation."""

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Called before a batch in `fit`."""
        self.on_batch_begin(batch, logs=logs)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Called after a batch in `fit`."""
        self.on_batch_end(batch, logs=logs)

    def on_test_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Called before a batch in `evaluate`, and in the validation of `fit`."""

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Called after a batch in `evaluate`, and in the validation of `fit`."""

    def on_predict_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Called before a batch in `predict`."""

    def on_predict_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Called after a batch in `predict`."""

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Called at the start of training."""

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """Called at the end of training."""

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Called at the start of evaluation or validation."""

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """Called at the end of evaluation or validation."""

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """Called at the start of prediction."""

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """Called at the end of prediction."""

    def _listens(self, hook: str) -> bool:
        """Whether a batch hook is overridden, so that no-op calls can be skipped."""
        return _overrides(self, hook) or _overrides(self, _OLD_NAMES.get(hook, hook))

    def _meet(self, others: list[Any]) -> None:
        """Receive the callbacks that are called beside this one."""


def _overrides(callback: Callback, hook: str) -> bool:
    method = getattr(callback, hook)
    return getattr(method, "__func__", method) is not getattr(Callback, hook)


class CallbackList:
    """A list of callbacks; passes them logs of Python floats.

    Batches are frequent, so the callbacks that override a batch hook are determined once: where
    none does, a batch hook costs a call with an empty loop, and `listens(hook)` is False.

    Args:
      callbacks: Callbacks, arbitrarily nested.
      add_history: Add a `History`, which becomes `model.history`, unless there is one.
      add_progbar: Add a progress bar unless there is one.
      model: The model.
      **params: The parameters of the run: verbose, epochs, steps.
    """

    def __init__(
        self,
        callbacks: Any = None,
        add_history: bool = False,
        add_progbar: bool = False,
        model: Any = None,
        **params: Any,
    ) -> None:
        from .history import History
        from .progress import ProgbarLogger

        self.callbacks: list[Any] = tf.nest.flatten(callbacks) if callbacks else []
        self.model: Any = None
        self.params: dict[str, Any] = {}
        histories = [each for each in self.callbacks if isinstance(each, History)]
        if add_history and not histories:
            histories = [History()]
            self.callbacks.append(histories[0])
        if add_progbar and not any(isinstance(each, ProgbarLogger) for each in self.callbacks):
            self.callbacks.append(ProgbarLogger(count_mode="steps"))
        self._history = histories[-1] if histories else None
        self._find_listeners()
        if model:
            self.set_model(model)
        if params:
            self.set_params(params)

    def append(self, callback: Any) -> None:
        """Append a callback."""
        self.callbacks.append(callback)
        self._find_listeners()

    def set_params(self, params: dict[str, Any]) -> None:
        """Pass the parameters of the run to all callbacks."""
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)
        self._find_listeners()

    def set_model(self, model: Any) -> None:
        """Pass the model to all callbacks."""
        self.model = model
        if self._history is not None:
            model.history = self._history
        for callback in self.callbacks:
            if isinstance(callback, type):
                raise TypeError(_CLASS_AS_CALLBACK.format(kind=callback.__name__))
            callback.set_model(model)

    def listens(self, hook: str) -> bool:
        """Whether any callback overrides a batch hook such as "on_train_batch_end"."""
        return bool(self._listeners[hook])

    def _find_listeners(self) -> None:
        for callback in self.callbacks:
            if isinstance(callback, Callback):
                callback._meet([each for each in self.callbacks if each is not callback])
        self._listeners: dict[str, list[Callable]] = {
            hook: [
                _hook(callback, hook)
                for callback in self.callbacks
                if not isinstance(callback, Callback) or callback._listens(hook)
            ]
            for hook in _BATCH_HOOKS
        }
        self._train_begin = self._listeners["on_train_batch_begin"]
        self._train_end = self._listeners["on_train_batch_end"]
        self._test_begin = self._listeners["on_test_batch_begin"]
        self._test_end = self._listeners["on_test_batch_end"]
        self._predict_begin = self._listeners["on_predict_batch_begin"]
        self._predict_end = self._listeners["on_predict_batch_end"]

    def on_train_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch in `fit`."""
        if self._train_begin:
            _tell(self._train_begin, batch, logs)

    def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a batch in `fit`."""
        if self._train_end:
            _tell(self._train_end, batch, logs)

    def on_test_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch in `evaluate` or validation."""
        if self._test_begin:
            _tell(self._test_begin, batch, logs)

    def on_test_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a batch in `evaluate` or validation."""
        if self._test_end:
            _tell(self._test_end, batch, logs)

    def on_predict_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """Before a batch in `predict`."""
        if self._predict_begin:
            _tell(self._predict_begin, batch, logs)

    def on_predict_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """After a batch in `predict`."""
        if self._predict_end:
            _tell(self._predict_end, batch, logs)

    def on_batch_begin(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """The older name of `on_train_batch_begin`."""
        self.on_train_batch_begin(batch, logs)

    def on_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
        """The older name of `on_train_batch_end`."""
        self.on_train_batch_end(batch, logs)

    def on_epoch_begin(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """At the start of an epoch of training."""
        self._tell_all("on_epoch_begin", logs, epoch)

    def on_epoch_end(self, epoch: int, logs: dict[str, Any] | None = None) -> None:
        """At the end of an epoch of training."""
        self._tell_all("on_epoch_end", logs, epoch)

    def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
        """At the start of training."""
        self._tell_all("on_train_begin", logs)

    def on_train_end(self, logs: dict[str, Any] | None = None) -> None:
        """At the end of training."""
        self._tell_all("on_train_end", logs)

    def on_test_begin(self, logs: dict[str, Any] | None = None) -> None:
        """At the start of evaluation or validation."""
        self._tell_all("on_test_begin", logs)

    def on_test_end(self, logs: dict[str, Any] | None = None) -> None:
        """At the end of evaluation or validation."""
        self._tell_all("on_test_end", logs)

    def on_predict_begin(self, logs: dict[str, Any] | None = None) -> None:
        """At the start of prediction."""
        self._tell_all("on_predict_begin", logs)

    def on_predict_end(self, logs: dict[str, Any] | None = None) -> None:
        """At the end of prediction."""
        self._tell_all("on_predict_end", logs)

    def _tell_all(self, hook: str, logs: dict[str, Any] | None, *when: int) -> None:
        logs = plain_logs(logs)
        for callback in self.callbacks:
            getattr(callback, hook)(*when, logs)

    def make_logs(
        self, model: Any, logs: dict[str, Any], outputs: Any, mode: str, prefix: str = ""
    ) -> dict[str, Any]:
        """Add the model's metric values after a batch to the logs.

        `outputs` is the loss followed by the metrics, as `train_on_batch` returns them.
        """
        if mode in ("train", "test") and (names := getattr(model, "metrics_names", None)):
            logs.update({prefix + name: value for name, value in zip(names, outputs, strict=False)})
        else:
            logs["outputs"] = outputs
        return logs

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)


def _tell(hooks: list[Callable], batch: int, logs: dict[str, Any] | None) -> None:
    logs = plain_logs(logs)
    for hook in hooks:
        hook(batch, logs)


def plain_logs(logs: dict[str, Any] | None) -> dict[str, Any]:
    """Logs with scalars as Python numbers, and other tensors as NumPy arrays."""
    if not logs:
        return {}
    return {name: value if type(value) is float else _plain(value) for name, value in logs.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tf.Tensor | tf.Variable):
        value = value.numpy()
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        return value.item()
    if isinstance(value, dict | list | tuple):
        return tf.nest.map_structure(_plain, value)
    return value
