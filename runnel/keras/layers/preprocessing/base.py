"""What preprocessing layers have in common: a state learnt from data by `adapt`."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

import runnel as tf

from ...engine.base_layer import Layer
from ...engine.data_adapter import IterableBatches, batches_of


class PreprocessingLayer(Layer):
    """A layer whose state is learnt from data before training, by `adapt`.

    A subclass has `update_state(data)` for each batch, `reset_state()`, and, when the outputs need
    more than what the batches gave, `finalize_state()`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._is_adapted = False
        self._steps_per_execution = 1

    @property
    def is_adapted(self) -> bool:
        return self._is_adapted

    def update_state(self, data):
        """Update the state from one batch; for subclasses to override."""
        raise NotImplementedError(
            f"Layer {self.name} ({type(self).__name__}) has no `update_state`, so it cannot `adapt`"
            " to data. A subclass learns from a batch there."
        )

    def reset_state(self):
        """Reset the state that `adapt` learnt; for subclasses to override."""
        raise NotImplementedError(
            f"Layer {self.name} ({type(self).__name__}) has no `reset_state`, so it cannot `adapt`"
            " again."
        )

    def compile(self, run_eagerly=None, steps_per_execution=None):
        """Set how many batches one call of the adapt function consumes."""
        del run_eagerly
        self._steps_per_execution = steps_per_execution or 1

    def make_adapt_function(self):
        """Create a function that updates the state from the next batches of an iterator."""

        def adapt_function(iterator: Iterator[Any]) -> None:
            for data in itertools.islice(iterator, self._steps_per_execution):
                self._adapt_step(data, None)

        return adapt_function

    def adapt(self, data, batch_size=None, steps=None):
        """Reset the state and learn it from data: arrays, tensors, lists or a dataset.

        >>> layer = tf.keras.layers.Normalization(axis=None)
        >>> layer.adapt([[1.0], [3.0]])
        >>> layer([[2.0], [3.0]]).numpy().tolist()
        [[0.0], [1.0]]
        """
        if not tf.executing_eagerly():
            raise RuntimeError(
                f"`{type(self).__name__}.adapt` is not supported inside a `tf.function`: it learns "
                "from data once, before the layer is used."
            )
        if self.built:
            self.reset_state()
        for batch, shape in batches_for_adapt(data, batch_size, steps):
            self._adapt_step(batch, shape)
        self.finalize_state()
        self._is_adapted = True

    def _adapt_step(self, data: Any, shape: Any) -> None:
        if not self.built:
            shape = data.shape if shape is None else shape
            if not hasattr(self, "_batch_input_shape"):
                self._batch_input_shape = (None,) * shape.rank
            self.build(shape)
            self._build_input_shape = shape
            self.built = True
        self.update_state(data)


class TakesText(Layer):
    """A layer that can be called on Python strings and lists of them."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if args and isinstance(args[0], str | bytes | list | tuple):
            args = (_as_text(args[0]), *args[1:])
        return super().__call__(*args, **kwargs)


def _as_text(inputs: Any) -> Any:
    if isinstance(inputs, list | tuple):
        return tf.constant(np.array(inputs)) if first_is_text(inputs) else inputs
    return tf.constant(inputs)


def batches_for_adapt(
    data: Any, batch_size: int | None, steps: int | None
) -> Iterator[tuple[Any, Any]]:
    """The batches of data, each with the static shape common to all batches."""
    if isinstance(data, str | bytes):
        raise IndexError(f"`adapt` takes arrays, tensors, lists or a dataset. Received: {data!r}")
    if is_composite(data):
        size = batch_size or 32
        count = int(data.shape[0])
        for start in itertools.islice(range(0, count, size), steps):
            yield _rows(data, start, min(size, count - start)), data.shape
        return
    if isinstance(data, dict):
        raise ValueError(
            "`adapt` takes one array, tensor, list or dataset. Received a dict with the keys "
            f"{list(data)}"
        )
    if isinstance(data, list | tuple):
        data = np.array(data)
    if hasattr(data, "element_spec") or hasattr(data, "__next__"):
        batches = _elements(data, steps)
    else:
        batches = _slices(data, batch_size, steps)
    empty = True
    for batch, shape in batches:
        empty = False
        yield batch, shape
    if empty:
        raise ValueError("Expected input data to be non-empty.")


def _elements(dataset: Any, steps: int | None) -> Iterator[tuple[Any, Any]]:
    spec = getattr(dataset, "element_spec", None)
    if isinstance(spec, tuple | list | dict):
        raise ValueError(
            "`adapt` takes a dataset of inputs alone. Received one of several parts: "
            f"{spec}. Take one of them with `dataset.map` first."
        )
    # A dataset is iterated exactly as `fit` does, so that it advances its shuffle order alike.
    for element in IterableBatches(dataset, steps).elements():
        if not isinstance(element, tf.Tensor) and not is_composite(element):
            element = tf.convert_to_tensor(element)
        shape = tf.TensorShape([None, *element.shape[1:]]) if spec is None else spec.shape
        yield element, shape


def _slices(data: Any, batch_size: int | None, steps: int | None) -> Iterator[tuple[Any, Any]]:
    for batch in batches_of(data, batch_size=batch_size, steps=steps).epoch():
        rows = batch[0] if isinstance(batch, tuple) else batch
        yield rows, tf.TensorShape([None, *rows.shape[1:]])


def _rows(data: Any, start: int, count: int) -> Any:
    if hasattr(data, "row_splits"):
        return data[start : start + count]
    rest = [int(size) for size in data.dense_shape[1:]]
    return tf.sparse.slice(data, [start] + [0] * len(rest), [count, *rest])


def is_composite(value: Any) -> bool:
    """Whether a value is a ragged or sparse tensor, which ops take unchanged."""
    return is_ragged(value) or is_sparse(value)


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor."""
    return hasattr(value, "flat_values")


def is_sparse(value: Any) -> bool:
    """Whether a value is a sparse tensor."""
    return hasattr(value, "dense_shape") and hasattr(value, "values")


def as_tensor(inputs: Any, dtype: Any = None) -> Any:
    """Inputs as one tensor, of a dtype if given; ragged and sparse ones are preserved."""
    if isinstance(inputs, dict):
        raise ValueError(
            "This layer can only be called on a single input: an array, a tensor or a list of "
            f"numbers. Received a dict: {inputs}"
        )
    if not isinstance(inputs, tf.Tensor) and not is_composite(inputs):
        if isinstance(inputs, list | tuple) and first_is_text(inputs):
            inputs = np.array(inputs)
        inputs = tf.convert_to_tensor(inputs)
    if dtype is not None and inputs.dtype is not tf.as_dtype(dtype):
        inputs = tf.cast(inputs, dtype)
    return inputs


def first_is_text(values: Any) -> bool:
    """Whether a value, or the first leaf of a structure, is a Python string."""
    flat = tf.nest.flatten(values)
    return bool(flat) and isinstance(flat[0], str | bytes)
