"""Convert the arguments of fit, evaluate and predict to batches of tensors."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import runnel as tf

from ...core.context import seeds
from ...core.convert import tensor_of
from ...core.dtypes import from_numpy
from .composite_data import CompositeRows, EncodedRows, is_composite, rows_of, tensor_of_composite


def unpack_x_y_sample_weight(data: Any) -> tuple[Any, Any, Any]:
    """The inputs, targets and sample weights of a batch; None for missing ones."""
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
    """A batch in the form that `train_step` takes."""
    if y is None and sample_weight is None:
        return (x,) if isinstance(x, list | tuple) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def one_batch(x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None) -> Any:
    """Arrays as one batch of tensors."""
    for each in tf.nest.flatten((x, y, sample_weight)):
        if isinstance(each, str | bool | int | float):
            raise AttributeError(
                f"A batch is made of arrays or tensors, and {each!r} has no shape. Make an array "
                "of lists of numbers: np.array(x)."
            )
    check_cardinality(x, y, sample_weight)
    data = tensors_of((x,) if y is None else pack_x_y_sample_weight(x, y, sample_weight))
    return class_weights(class_weight)(data) if class_weight else data


class Batches:
    """Batches for a fit, evaluate or predict call: `steps` (None: unknown) and `epoch()`."""

    steps: int | None = None
    ran_out = False  # Whether the data ran out before the epoch's steps were done: fit stops then.

    def epoch(self) -> Iterator[Any]:
        """The batches of the next epoch."""
        raise NotImplementedError

    def _run_out(self) -> None:
        self.ran_out = True
        tf.get_logger().warning(
            "Your input ran out of data; interrupting training. Make sure that your dataset or "
            "generator can generate at least `steps_per_epoch * epochs` batches."
        )


def _repacked(batch: Any) -> Any:
    """A batch without trailing None."""
    return pack_x_y_sample_weight(*unpack_x_y_sample_weight(batch))


class ArrayBatches(Batches):
    """Slices of in-memory arrays, converted directly to tensors."""

    def __init__(
        self,
        arrays: Any,
        batch_size: int,
        shuffle: bool | str = False,
        steps: int | None = None,
        epochs: int = 1,
        begin_anew: bool = False,
    ) -> None:
        self._structure = tf.nest.map_structure(_in_memory, _in_tuples(arrays))
        self._flat = tf.nest.flatten(self._structure)
        self._is_tuple = isinstance(self._structure, tuple) and all(
            part is array for part, array in zip(self._structure, self._flat, strict=False)
        )
        self._parts = [_picker(array) for array in self._flat]
        self._count = len(next(each for each in self._flat if each is not None))
        if not self._count:
            raise ValueError("Expected input data to be non-empty.")
        self._batch_size = batch_size
        self._shuffle = shuffle
        self._epochs = epochs
        self._begin_anew = begin_anew
        # If steps differ from the number of batches, epochs continue where the last one ended.
        self._places: Iterator[Any] | None = None
        self.steps = self._limit = math.ceil(self._count / batch_size) if steps is None else steps

    def epoch(self) -> Iterator[Any]:
        if self._places is None or self._begin_anew:
            self._places = self._all_places()
        for _ in range(self._limit):
            where = next(self._places, None)
            if where is None:
                self._run_out()
                return
            parts = [part(where) for part in self._parts]
            if self._is_tuple:
                yield tuple(parts)
            else:
                yield tf.nest.pack_sequence_as(self._structure, parts)

    def _all_places(self) -> Iterator[Any]:
        """The row indices of each batch, for all passes over the arrays."""
        count, size = self._count, self._batch_size
        if not self._shuffle:
            for _ in range(self._epochs):
                yield from (slice(start, start + size) for start in range(0, count, size))
        elif self._shuffle == "batch":
            yield from self._shuffled_batches().as_numpy_iterator()
        else:
            for order in self._shuffled_rows().as_numpy_iterator():
                yield from (order[start : start + size] for start in range(0, count, size))

    # The same shuffle orders as the original's for a seed: built by equal datasets.

    def _shuffled_rows(self) -> Any:
        rows = np.arange(self._count)
        passes = tf.data.Dataset.range(1).repeat(self._epochs)
        return passes.map(lambda _: tf.random.shuffle(rows))

    def _shuffled_batches(self) -> Any:
        count, size = self._count, self._batch_size
        batches = tf.data.Dataset.range(math.ceil(count / size))
        # The original's shuffle is the first random operation of a graph.
        seed = None if seeds.seed is None else 0
        order = batches.shuffle(1024, seed=seed).repeat(self._epochs)
        return order.map(
            lambda batch: tf.random.shuffle(
                tf.range(batch * size, tf.minimum((batch + 1) * size, count))
            )
        )


def _in_memory(value: Any) -> Any:
    if value is None:
        return None
    if is_composite(value):
        return rows_of(value)
    keeps_dtype = isinstance(value, tf.Tensor | tf.Variable)
    if type(value) is not np.ndarray:
        if hasattr(value, "iloc"):  # A pandas series becomes a column.
            value = value.to_numpy()
            keeps_dtype = value.ndim > 1
            value = value[:, None] if value.ndim == 1 else value
        value = np.asarray(value.values if hasattr(value, "values") else value)
    # Floats are cast to floatx, whatever their precision; tensors and data frames are unchanged.
    if value.dtype.kind == "f" and not keeps_dtype:
        value = value.astype(tf.keras.backend.floatx(), copy=False)
    return value


def _in_tuples(structure: Any) -> Any:
    """Lists of arrays converted to tuples, the structure of batches."""
    if isinstance(structure, list) or type(structure) is tuple:
        return tuple(_in_tuples(each) for each in structure)
    if type(structure) is dict:
        return {key: _in_tuples(each) for key, each in structure.items()}
    return structure


def _picker(array: Any) -> Callable[[Any], Any]:
    """A function from a slice or indices to the rows of an array, as a tensor."""
    if array is None:
        return lambda where: None
    if isinstance(array, CompositeRows | EncodedRows):
        return array.part
    if array.dtype.kind not in "fiub":
        return lambda where: tf.constant(array[where])
    dtype = from_numpy(array.dtype)
    # A slice is a view of the array; it is never written to.
    shared = array.view()
    shared.flags.writeable = False

    def part(where: Any) -> Any:
        rows = shared[where] if type(where) is slice else shared.take(where, 0)
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
            random.shuffle(order)
        for index in order[: self.steps]:
            yield tensors_of(_repacked(self._sequence[index]))
        self._sequence.on_epoch_end()
        if len(order) < (self.steps or 0):
            self._run_out()


class IterableBatches(Batches):
    """Batches of a generator or another iterable, such as a dataset."""

    def __init__(self, iterable: Any, steps: int | None, begin_anew: bool = False) -> None:
        self._iterable = iterable
        self._iterator: Iterator[Any] | None = None
        self.steps = steps if steps is not None else _length(iterable)
        # `iter` on a dataset would start an iteration and advance its shuffle order.
        dataset = isinstance(iterable, tf.data.Dataset)
        if dataset and steps is None and iterable.cardinality() == tf.data.INFINITE_CARDINALITY:
            raise ValueError(
                "When providing an infinite dataset, you must specify the number of steps to run, "
                "`steps_per_epoch` in fit and `steps` in evaluate and predict "
                "(if you did not intend to create an infinite dataset, make sure to not call "
                "`repeat()` on the dataset)."
            )
        self._is_dataset = dataset
        self._one_way = not dataset and iter(iterable) is iterable
        self._limit = steps
        whole = dataset and (steps is None or steps == _length(iterable))
        self._anew = not self._one_way and (steps is None or whole or (dataset and begin_anew))
        # As in the original, where the first epoch and each validation use the second shuffle
        # order.
        self._skips_order = whole
        self._begin_anew = begin_anew
        self._is_first = True

    def epoch(self) -> Iterator[Any]:
        return map(tensors_of, self.elements())

    def elements(self) -> Iterator[Any]:
        """The batches of an epoch, unconverted."""
        if self._skips_order and (self._is_first or self._begin_anew):
            iter(self._iterable)
        if self._iterator is None or self._anew:
            self._iterator = iter(self._iterable)
        produced = 0
        while self._limit is None or produced < self._limit:
            try:
                batch = next(self._iterator)
            except StopIteration:
                if self._limit is not None or (
                    self._one_way and not produced and not self._is_first
                ):
                    self._run_out()
                self._iterator = None
                break
            yield batch if self._is_dataset else _repacked(batch)
            produced += 1
        self._is_first = False


def _length(iterable: Any) -> int | None:
    try:
        return len(iterable)
    except TypeError:
        return None


def tensors_of(batch: Any) -> Any:
    """A batch with arrays converted to tensors; float64 is cast to floatx."""

    def convert(value: Any) -> Any:
        if value is None or isinstance(value, tf.Tensor):
            return value
        if is_composite(value):
            return tensor_of_composite(value)
        return tf.constant(_in_memory(value))

    return tf.nest.map_structure(convert, _in_tuples(batch))


def batches_of(
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    batch_size: int | None = None,
    shuffle: bool = False,
    steps: int | None = None,
    class_weight: Any = None,
    begin_anew: bool = False,
    epochs: int = 1,
) -> Batches:
    """The batches for the arguments of fit, evaluate or predict.

    With `begin_anew`, each pass restarts at the first batches of the data.
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
    if _is_list_of_numbers(x):
        # The original shuffles lists once; every epoch reuses that order.
        epochs, begin_anew = 1, True
    x, y, sample_weight = _from_lists(x, y, sample_weight)
    check_cardinality(x, y, sample_weight)
    data = pack_x_y_sample_weight(x, y, sample_weight)
    if batch_size is None:
        batch_size = _batch_size_for(data, steps)
    arrays = ArrayBatches(data, batch_size, shuffle, steps, epochs, begin_anew)
    return _weighted(arrays, class_weight)


def _batch_size_for(data: Any, steps: int | None) -> int:
    """The default batch size: such that `steps` batches cover all data."""
    flat = [each for each in tf.nest.flatten(data) if each is not None]
    if not steps or any(map(is_composite, flat)):
        return 32
    return math.ceil(_rows(flat[0]) / steps)


def _from_lists(*data: Any) -> tuple[Any, ...]:
    """Lists of numbers as arrays; other lists hold one array per input or output."""
    of_numbers = [_is_list_of_numbers(each) for each in data]
    given = [each for each, value in zip(of_numbers, data, strict=True) if value is not None]
    if any(given) and not all(given):
        raise ValueError(
            "Failed to find data adapter that can handle input: lists of numbers "
            f"beside other data, {', '.join(str(type(each)) for each in data)}. Make NumPy arrays "
            "of them all: np.array(y)."
        )
    return tuple(np.array(each) if given[0] and each is not None else each for each in data)


def _is_list_of_numbers(value: Any) -> bool:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return isinstance(value, bool | int | float | str)


def _is_iterable_of_batches(x: Any) -> bool:
    if isinstance(x, list | tuple | dict | np.ndarray | tf.Tensor | tf.Variable):
        return False
    if is_composite(x):
        return False
    if hasattr(x, "values") and hasattr(x, "iloc"):
        return False  # pandas objects
    return hasattr(x, "__iter__") or hasattr(x, "__next__")


def _refuse(y: Any, sample_weight: Any, kind: str) -> None:
    for name, value in (("y", y), ("sample_weight", sample_weight)):
        if value is not None:
            raise ValueError(
                f"`{name}` argument is not supported when using {kind} as input: its batches "
                "bring their own."
            )


def check_cardinality(x: Any, y: Any, sample_weight: Any) -> None:
    """Raise ValueError unless all arrays have the same number of rows."""
    named = [("x", x), ("y", y), ("sample_weight", sample_weight)]
    for name, value in named:
        for each in tf.nest.flatten(value):
            if each is not None and not is_composite(each) and not np.ndim(each):
                raise IndexError(
                    f"`{name}` has no examples: {each!r} is a scalar. Batches are made along the "
                    "first axis of arrays."
                )
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

    @property
    def ran_out(self) -> bool:  # type: ignore[override]
        return self._batches.ran_out

    def epoch(self) -> Iterator[Any]:
        return map(self._function, self._batches.epoch())


_NO_CLASS_WEIGHT = (
    "`class_weight` has no weight for the classes {wrong} of the labels. It must have a weight for "
    "every class, from 0 on; a class that should count as always has the weight 1. Received: "
    "class_weight={given}"
)


def class_weights(class_weight: dict[int, float]) -> Callable[[Any], Any]:
    """A function that maps the examples of a batch to their class weights."""
    if set(class_weight) != set(range(len(class_weight))):
        raise ValueError(
            "Expected `class_weight` to be a dict with keys from 0 to one less than the number of "
            f"classes, found {class_weight}"
        )
    values = [class_weight[index] for index in range(len(class_weight))]
    kind = np.int32 if all(isinstance(each, int) for each in values) else np.float32
    table = np.array(values, kind)

    def weigh(batch: Any) -> Any:
        x, y, sample_weight = unpack_x_y_sample_weight(batch)
        if y is None or tf.nest.is_nested(y):
            raise ValueError(
                "`class_weight` is only supported for Models with a single output, and with its "
                f"targets. Got targets of the type {type(y)}; give `sample_weight` instead."
            )
        labels = np.asarray(y)
        if labels.ndim > 1 and labels.shape[-1] > 1:
            labels = labels.argmax(-1)
        else:
            # One weight per position of an image or a sequence.
            flat = labels.reshape(labels.shape[:-1]) if labels.ndim > 1 else labels
            labels = flat.round().astype(np.int64)
        try:
            weight = tf.gather(table, labels)
        except tf.errors.InvalidArgumentError:
            wrong = np.unique(labels[(labels < 0) | (labels >= len(table))]).tolist()
            message = _NO_CLASS_WEIGHT.format(wrong=wrong, given=class_weight)
            raise tf.errors.InvalidArgumentError(None, None, message) from None
        if sample_weight is not None:
            given = tf.cast(sample_weight, "float32")
            if given.shape.rank < labels.ndim:
                given = tf.reshape(given, [-1] + [1] * (labels.ndim - 1))
            weight = tf.cast(weight, "float32") * given
        return x, y, weight

    return weigh


def train_validation_split(arrays: Any, validation_split: float) -> tuple[Any, Any]:
    """Split all arrays: the first part for training, the rest for validation."""
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
        def rows(each: Any) -> Any:
            return None if each is None else getattr(each, "iloc", each)[start:end]

        return tf.nest.map_structure(rows, arrays)

    return part(0, split), part(split, count)
