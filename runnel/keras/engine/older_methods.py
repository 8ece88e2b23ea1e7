"""Legacy methods of models, and introspection."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NoReturn

import runnel as tf

from .data_adapter import tensors_of
from .layer_weights import UNTRACKED

_DEPRECATED = (
    "`Model.{old}` is deprecated and will be removed in a future version. Please use "
    "`Model.{new}`, which supports generators."
)


def _warn(old: str, new: str) -> None:
    warnings.warn(_DEPRECATED.format(old=old, new=new), stacklevel=3)


class OlderMethods:
    """Training on generators under its legacy names, and the weights by path."""

    train_function: Any
    test_function: Any
    predict_function: Any

    def fit_generator(
        self,
        generator: Any,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: Any = 1,
        callbacks: Any = None,
        validation_data: Any = None,
        validation_steps: int | None = None,
        validation_freq: Any = 1,
        class_weight: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> Any:
        """The legacy name of `fit` on a generator."""
        _warn("fit_generator", "fit")
        return self.fit(  # type: ignore[attr-defined]
            generator,
            steps_per_epoch=steps_per_epoch,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
            class_weight=class_weight,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            shuffle=shuffle,
            initial_epoch=initial_epoch,
        )

    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: Any = 0,
    ) -> Any:
        """The legacy name of `evaluate` on a generator."""
        _warn("evaluate_generator", "evaluate")
        return self.evaluate(  # type: ignore[attr-defined]
            generator,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            verbose=verbose,
        )

    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: Any = 0,
    ) -> Any:
        """The legacy name of `predict` on a generator."""
        _warn("predict_generator", "predict")
        return self.predict(  # type: ignore[attr-defined]
            generator,
            steps=steps,
            callbacks=callbacks,
            max_queue_size=max_queue_size,
            workers=workers,
            use_multiprocessing=use_multiprocessing,
            verbose=verbose,
        )

    def make_train_function(self, force: bool = False) -> Callable[[Any], Any]:
        """Create a function that trains on an iterator's next batch, and returns the logs."""
        self.train_function = self._of_iterator("train_step")
        return self.train_function

    def make_test_function(self, force: bool = False) -> Callable[[Any], Any]:
        """Create a function that evaluates an iterator's next batch, and returns the logs."""
        self.test_function = self._of_iterator("test_step")
        return self.test_function

    def make_predict_function(self, force: bool = False) -> Callable[[Any], Any]:
        """Create a function that returns the outputs for an iterator's next batch."""
        self.predict_function = self._of_iterator("predict_step")
        return self.predict_function

    def _of_iterator(self, name: str) -> Callable[[Any], Any]:
        step = getattr(self, name)
        if not (self.run_eagerly or self.dynamic):  # type: ignore[attr-defined]
            step = self._traced_step(name)  # type: ignore[attr-defined]
        return lambda iterator: step(tensors_of(next(iterator)))

    @property
    def jit_compile(self) -> bool | None:
        """Whether training steps are compiled by XLA, as passed to `compile`."""
        return self._compile_config.get("jit_compile")  # type: ignore[attr-defined]

    @jit_compile.setter
    def jit_compile(self, value: bool | None) -> None:
        self._compile_config["jit_compile"] = value  # type: ignore[attr-defined]
        self._traced_steps.clear()  # type: ignore[attr-defined]

    def to_yaml(self, **kwargs: Any) -> NoReturn:
        """Not supported: YAML could execute code. Use `to_json`."""
        raise RuntimeError(
            "Method `model.to_yaml()` has been removed due to security risk of arbitrary code "
            "execution. Please use `model.to_json()` instead."
        )

    @property
    def state_updates(self) -> list[Any]:
        """Pending updates: none, since all run immediately."""
        return []

    def save_spec(self, dynamic_batch: bool = True) -> Any:
        """The input signature of `call`; None before the first call."""
        shapes = self._build_input_shape  # type: ignore[attr-defined]
        if shapes is None:
            return None
        names = iter(getattr(self, "input_names", None) or ())
        dtypes = iter([tensor.dtype for tensor in getattr(self, "inputs", None) or ()])

        def described(shape: Any) -> Any:
            sizes = tf.TensorShape(shape).as_list()
            if dynamic_batch and sizes:
                sizes[0] = None
            dtype = next(dtypes, None) or self.compute_dtype  # type: ignore[attr-defined]
            return tf.TensorSpec(sizes, dtype, name=next(names, None))

        return [tf.nest.map_structure(described, shapes)], {}

    def get_weight_paths(self) -> dict[str, Any]:
        """The variables by path: the attributes or layer names that lead to them.

        >>> layer = tf.keras.layers.Dense(1, name="top", input_shape=(2,))
        >>> list(tf.keras.Sequential([layer]).get_weight_paths())
        ['top.kernel', 'top.bias']
        """
        found: dict[str, Any] = {}
        _collect(self, (), found, set())
        return found


def _collect(value: Any, path: tuple[str, ...], found: dict[str, Any], seen: set[int]) -> None:
    if isinstance(value, tf.Variable):
        if id(value) not in seen:
            seen.add(id(value))
            found[".".join(path)] = value
        return
    if id(value) in seen:
        return
    parts: dict[Any, Any] = {}
    if isinstance(value, tf.Module):
        seen.add(id(value))
        if hasattr(value, "_nested_inputs"):
            parts = {layer.name: layer for layer in value.layers}  # type: ignore[attr-defined]
        else:
            parts = {name: each for name, each in vars(value).items() if name not in UNTRACKED}
    elif isinstance(value, dict):
        parts = value
    elif isinstance(value, list | tuple):
        parts = dict(enumerate(value))
    for name, each in parts.items():
        _collect(each, (*path, str(name)), found, seen)
