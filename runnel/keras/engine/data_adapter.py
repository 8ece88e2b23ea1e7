"""From what users pass to fit, evaluate and predict to batches of tensors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import runnel as tf

from ...core.convert import tensor_of
from ...core.dtypes import from_numpy
from .composite_data import CompositeRows, EncodedRows, is_composite, rows_of, tensor_of_composite


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """The inputs, targets and weights in a batch; None for what is not there."""
    if isinstance(data, list):
        data = tuple(data)
    if not isinstance(data, tuple):
        return data, None, None
    if len(data) == 1:
        return data[0], None, None
    if len(data) == 2:
        return data[0], data[1], None
    if len(data) == 3:
        return data[0], data[1], data[2]
    raise ValueError(
        "Data is expected to be in format `x`, `(x,)`, `(x, y)`, or `(x, y, sample_weight)`, "
        f"found: {data}"
    )


def pack_x_y_sample_weight(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """A batch as `train_step` takes it."""
    if y is None:
        return (x,) if isinstance(x, list | tuple | dict) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def packed(x: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """A batch as a tuple, so that a list of inputs is not taken for inputs and targets."""
    return (x,) if y is None else pack_x_y_sample_weight(x, y, sample_weight)


class Batches:
    """Batches for one call of fit, evaluate or predict: `steps` (None: unknown) and `epoch()`."""

    steps: int | None = None
    ran_out = False  # Whether an epoch ended before its steps were done: fit ends with it.

    def epoch(self) -> Iterator[Any]:
        """The batches of the next epoch."""
        raise NotImplementedError


class ArrayBatches(Batches):
    """Slices of arrays in memory, with nothing between the array and the tensor."""

    def __init__(
        self, arrays: Any, batch_size: int, shuffle: bool, steps: int | None, name: str = ""
    ) -> None:
        self._structure = tf.nest.map_structure(_in_memory, arrays)
        self._flat = tf.nest.flatten(self._structure)
        self._is_tuple = isinstance(self._structure, tuple) and all(
            part is array for part, array in zip(self._structure, self._flat, strict=False)
        )
        self._parts = [_picker(array) for array in self._flat]
        self._count = len(next(each for each in self._flat if each is not None))
        self._batch_size = batch_size
        self._shuffle = shuffle
        full = math.ceil(self._count / batch_size) if batch_size else 0
        self.steps = self._limit = full if steps is None else steps

    def epoch(self) -> Iterator[Any]:
        order = np.random.permutation(self._count) if self._shuffle else None
        size = self._batch_size
        produced = 0
        while produced < self._limit:
            for start in range(0, self._count, size):
                if produced >= self._limit:
                    return
                where = slice(start, start + size) if order is None else order[start : start + size]
                parts = [part(where) for part in self._parts]
                yield (
                    tuple(parts)
                    if self._is_tuple
                    else tf.nest.pack_sequence_as(self._structure, parts)
                )
                produced += 1
            if not self._count:
                return


def _in_memory(value: Any) -> Any:
    if value is None:
        return None
    if is_composite(value):
        return rows_of(value)
    if isinstance(value, tf.Tensor | tf.Variable):
        value = np.asarray(value)
    elif not isinstance(value, np.ndarray):
        value = np.asarray(value.values if hasattr(value, "values") else value)
    if value.dtype == np.float64:
        value = value.astype(tf.keras.backend.floatx())
    return value


def _picker(array: Any) -> Callable[[Any], Any]:
    """What gives the rows of an array in a slice, or at places in any order, as a tensor."""
    if array is None:
        return lambda where: None
    if isinstance(array, CompositeRows | EncodedRows):
        return array.part
    if array.dtype.kind not in "fiub":
        return lambda where: tf.constant(array[where])
    dtype = from_numpy(array.dtype)

    def part(where: Any) -> Any:
        # Rows in order share the memory of the array.
        rows = array[where] if type(where) is slice else array.take(where, 0)
        rows.flags.writeable = False
        return tensor_of(rows, dtype)

    return part


class SequenceBatches(Batches):
    """Batches of a keras.utils.Sequence, in order or shuffled."""

    def __init__(self, sequence: Any, shuffle: bool, steps: int | None) -> None:
        self._sequence = sequence
        self._shuffle = shuffle
        self.steps = len(sequence) if steps is None else steps

    def epoch(self) -> Iterator[Any]:
        order = list(range(len(self._sequence)))
        if self._shuffle:
            np.random.shuffle(order)
        for index in order[: self.steps]:
            yield tensors_of(self._sequence[index])
        self._sequence.on_epoch_end()


class IterableBatches(Batches):
    """Batches of a generator or of anything else to loop over, such as a dataset."""

    def __init__(self, iterable: Any, steps: int | None, begin_anew: bool = False) -> None:
        self._iterable = iterable
        self._iterator: Iterator[Any] | None = None
        self.steps = steps if steps is not None else _length(iterable)
        # A dataset would begin an iteration, and draw its random order, only to be asked.
        dataset = isinstance(iterable, tf.data.Dataset)
        self._one_way = not dataset and iter(iterable) is iterable
        self._limit = steps
        self._anew = not self._one_way and (
            steps is None or (dataset and (begin_anew or steps == _length(iterable)))
        )
        if dataset and self._anew and not begin_anew:
            # As in the original, whose first epoch has the second of the random orders.
            iter(iterable)

    def epoch(self) -> Iterator[Any]:
        if self._iterator is None or self._anew:
            self._iterator = iter(self._iterable)
        produced = 0
        while self._limit is None or produced < self._limit:
            try:
                batch = next(self._iterator)
            except StopIteration:
                if self._limit is not None:
                    self.ran_out = True
                    tf.get_logger().warning(
                        "Your input ran out of data; interrupting training. Make sure that your "
                        "dataset or generator can generate at least `steps_per_epoch * epochs` "
                        "batches."
                    )
                self._iterator = None
                return
            yield tensors_of(batch)
            produced += 1


def _length(iterable: Any) -> int | None:
    try:
        return len(iterable)
    except TypeError:
        return None


def tensors_of(batch: Any) -> Any:
    """A batch with tensors in place of arrays; double precision becomes Keras's own."""

    def convert(value: Any) -> Any:
        if value is None or isinstance(value, tf.Tensor):
            return value
        if is_composite(value):
            return tensor_of_composite(value)
        return tf.constant(_in_memory(value))

    if isinstance(batch, list):
        batch = tuple(batch)
    return tf.nest.map_structure(convert, batch)


def batches_of(
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    batch_size: int | None = None,
    shuffle: bool = False,
    steps: int | None = None,
    class_weight: Any = None,
    begin_anew: bool = False,
) -> Batches:
    """The batches that the arguments of fit, evaluate or predict describe.

    With `begin_anew`, a number of steps always means the first of a dataset's batches.
    """
    if isinstance(x, tf.keras.utils.experimental.DatasetCreator):
        _refuse(y, sample_weight, "DatasetCreator")
        x = x._for_steps(steps)
    if isinstance(x, tf.keras.utils.Sequence):
        _refuse(y, sample_weight, "keras.utils.Sequence")
        return _weighted(SequenceBatches(x, shuffle, steps), class_weight)
    if _is_iterable_of_batches(x):
        _refuse(y, sample_weight, type(x).__name__)
        return _weighted(IterableBatches(x, steps, begin_anew), class_weight)
    if x is None:
        raise ValueError("`x` is missing: give NumPy arrays, tensors, a generator or a dataset.")
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Expected batch_size to be positive. Received is {batch_size}.")
    data = packed(x, y, sample_weight)
    arrays = ArrayBatches(data, batch_size or 32, bool(shuffle), steps)
    check_cardinality(x, y, sample_weight)
    return _weighted(arrays, class_weight)


def _is_iterable_of_batches(x: Any) -> bool:
    if isinstance(x, list | tuple | dict | np.ndarray | tf.Tensor | tf.Variable):
        return False
    if is_composite(x):
        return False
    if hasattr(x, "values") and hasattr(x, "columns"):
        return False
    return hasattr(x, "__iter__") or hasattr(x, "__next__")


def _refuse(y: Any, sample_weight: Any, kind: str) -> None:
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise ValueError(
                f"`{name}` argument is not supported when using {kind} as input: its batches "
                "bring their own."
            )


def check_cardinality(x: Any, y: Any, sample_weight: Any) -> None:
    """Raise ValueError unless all arrays have equally many rows."""
    named = [("x", x), ("y", y), ("sample_weight", sample_weight)]
    sizes = {
        name: [
            _rows(each) for each in tf.nest.flatten(value) if is_composite(each) or np.ndim(each)
        ]
        for name, value in named
        if value is not None
    }
    if len({size for each in sizes.values() for size in each}) > 1:
        lines = [f"  {name} sizes: {', '.join(map(str, each))}" for name, each in sizes.items()]
        raise ValueError(
            "Data cardinality is ambiguous:\n"
            + "\n".join(lines)
            + "\nMake sure all arrays contain the same number of samples."
        )


def _rows(value: Any) -> int:
    return len(rows_of(value)) if is_composite(value) else np.shape(value)[0]


def _weighted(batches: Batches, class_weight: Any) -> Batches:
    return batches if not class_weight else _Mapped(batches, class_weights(class_weight))


class _Mapped(Batches):
    def __init__(self, batches: Batches, function: Callable[[Any], Any]) -> None:
        self._batches = batches
        self._function = function
        self.steps = batches.steps

    def epoch(self) -> Iterator[Any]:
        return map(self._function, self._batches.epoch())


def class_weights(class_weight: dict[int, float]) -> Callable[[Any], Any]:
    """A function that gives the examples of a batch the weights of their classes."""
    if set(class_weight) != set(range(len(class_weight))):
        raise ValueError(
            "Expected `class_weight` to be a dict with keys from 0 to one less than the number of "
            f"classes, found {class_weight}"
        )
    table = np.array([class_weight[index] for index in range(len(class_weight))], np.float32)

    def weigh(batch: Any) -> Any:
        x, y, sample_weight = unpack_x_y_sample_weight(batch)
        labels = np.asarray(y)
        if labels.ndim > 1 and labels.shape[-1] > 1:
            labels = labels.argmax(-1)
        weight = tf.constant(table[labels.reshape(len(labels), -1)[:, 0].astype(np.int64)])
        if sample_weight is not None:
            weight = weight * tf.cast(sample_weight, weight.dtype)
        return x, y, weight

    return weigh


def train_validation_split(arrays: Any, validation_split: float) -> tuple[Any, Any]:
    """The first part of all arrays for training, and the rest for validation."""
    flat = [each for each in tf.nest.flatten(arrays) if each is not None]
    for each in flat:
        if not hasattr(each, "shape") or is_composite(each):
            raise ValueError(
                "`validation_split` is only supported for Tensors or NumPy arrays, found "
                f"following types in the input: {type(each)}"
            )
    count = int(flat[0].shape[0])
    split = math.floor(count * (1.0 - validation_split))
    if split in (0, count):
        raise ValueError(
            f"Training data contains {count} samples, which is not sufficient to split it into a "
            f"validation and training set as specified by `validation_split={validation_split}`. "
            "Either provide more data, or a different value for the `validation_split` argument."
        )

    def part(start: int, end: int) -> Any:
        return tf.nest.map_structure(
            lambda each: None if each is None else np.asarray(each)[start:end], arrays
        )

    return part(0, split), part(split, count)
