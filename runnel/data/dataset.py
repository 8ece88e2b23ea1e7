"""Dataset: an immutable description of a sequence of elements.

A dataset knows its element spec, its cardinality and how to begin an iteration; the transformations
are classes in the other modules of this package. The tensors that a dataset needs at run time are
in `_tensors`, its input datasets in `_inputs`: if some of them belong to a graph under
construction, the dataset is created when the graph runs (`_bound`).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator as PythonIterator
from typing import Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.context import state
from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import int64
from ..core.item_access import NoItems
from ..core.op import execute
from ..core.tensor import SymbolicTensor, Tensor
from ..ops.random_streams import collected
from .cardinality import INFINITE, UNKNOWN
from .iterators import (
    DatasetSpec,
    NumpyIterator,
    OwnedIterator,
    iterator_in_graph,
    one_handle,
    stateful,
)
from .options import Options
from .structure import Leaves, Packer, arrays_of

AUTOTUNE = -1


_NOT_A_COUNT = (
    "`{name}` of a dataset must be an integer: a Python int, or a scalar tensor of the dtype int64 "
    "(tf.cast(n, tf.int64) makes one). Received: {name}={value!r}"
)


def scalar(value: Any, dtype: Any = int64, name: str = "") -> Tensor:
    """A scalar that a dataset needs at run time; eager wherever its value is known."""
    try:
        tensor = convert_to_tensor(value, dtype)
    except (TypeError, ValueError) as failure:
        if not name:
            raise
        raise type(failure)(_NOT_A_COUNT.format(name=name, value=value)) from None
    if name and tensor.shape.rank:
        message = f"{name} must be a scalar, got {name}={value!r}"
        raise errors.InvalidArgumentError(None, None, message)
    if isinstance(tensor, SymbolicTensor):
        known = constant_value(tensor)
        if known is not None:
            return Tensor(np.asarray(known)[()], tensor.dtype)
    return tensor


def number(tensor: Tensor) -> int | None:
    """The value of a scalar; None if it is not known yet."""
    return None if isinstance(tensor, SymbolicTensor) else int(tensor._array)


def invalid(message: str, op: str) -> errors.OpError:
    """The error for an invalid argument of a dataset."""
    return errors.InvalidArgumentError(None, None, f"{message} [Op:{op}]")


class Dataset:
    """A sequence of elements, each a nested structure of tensors.

    >>> dataset = tf.data.Dataset.range(5).map(lambda x: x * x).batch(2)
    >>> [batch.numpy().tolist() for batch in dataset]
    [[0, 1], [4, 9], [16]]
    """

    _spec: Any = None
    _inputs: tuple[Dataset, ...] = ()
    _tensors: tuple[Tensor, ...] = ()
    _given_options: Options | None = None
    _seeds: Any = None

    # Defined by transformations.

    def _elements(self) -> PythonIterator[Leaves]:
        """Begin an iteration over the unoptimized pipeline."""
        raise NotImplementedError

    def _size(self) -> int:
        """The cardinality."""
        return self._inputs[0]._size()

    # Execution.

    def _start(self, after: int = 0, functions: Any = None) -> PythonIterator[Leaves]:
        """Begin an iteration over the optimized pipeline, skipping the first `after` elements.

        `functions` belong to the enclosing iteration (`Traced.inner`).
        """
        from .optimizing import begin, begin_after

        return begin_after(self, after) if after else begin(self, functions)

    # Graphs.

    def _symbolic(self) -> list[SymbolicTensor]:
        """The symbolic tensors that this dataset depends on."""
        found = [tensor for tensor in self._tensors if isinstance(tensor, SymbolicTensor)]
        for each in self._inputs:
            found += each._symbolic()
        return found

    def _bound(self, values: PythonIterator[Tensor]) -> Dataset:
        """This dataset with values for those tensors."""
        bound = copy.copy(self)
        bound._tensors = tuple(
            next(values) if isinstance(tensor, SymbolicTensor) else tensor
            for tensor in self._tensors
        )
        bound._inputs = tuple(each._bound(values) for each in self._inputs)
        return bound

    @property
    def _type_spec(self) -> DatasetSpec:
        return DatasetSpec(self.element_spec)

    def __runnel_for__(
        self, extra_test: Any, body: Any, get_state: Any, set_state: Any, names: Any, options: Any
    ) -> None:
        """Stage a `for` statement over the elements while a graph is being built."""
        # Unlike loops over iterators, those over datasets take states whose shapes change.
        options = {**options, "relax_shapes": True}
        # The original makes a function of the body, whose random numbers begin with each loop.
        with collected() as streams:
            iterator = iterator_in_graph(self, streams)
            iterator.__runnel_for__(extra_test, body, get_state, set_state, names, options)

    def __runnel_builtin__(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        """The results of Python builtins for datasets in converted functions."""
        if state.graph is None or keywords:
            return NotImplemented
        if name == "enumerate":
            return self.enumerate(*arguments[1:])
        if name == "zip" and all(isinstance(each, Dataset) for each in arguments):
            return Dataset.zip(tuple(arguments))
        if name in ("map", "filter") and len(arguments) == 2:
            return getattr(self, name)(arguments[0])
        return NotImplemented

    # Saving.

    def _random_orders(self) -> list[Any]:
        """The seeds of this dataset and of its inputs."""
        own = [] if self._seeds is None else [self._seeds]
        return own + [seeds for each in self._inputs for seeds in each._random_orders()]

    def _restarted(self, orders: dict[int, Any]) -> Dataset:
        """This dataset with its seeds replaced, keyed by their ids."""
        copied = copy.copy(self)
        copied._seeds = orders.get(id(self._seeds), self._seeds)
        copied._inputs = tuple(each._restarted(orders) for each in self._inputs)
        return copied

    # The public methods.

    @property
    def element_spec(self) -> Any:
        """The specs of the elements.

        >>> tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]]).element_spec
        TensorSpec(shape=(2,), dtype=tf.int32, name=None)
        """
        return self._spec

    __getitem__ = NoItems(
        "A tf.data.Dataset is not subscriptable: its elements are made one after the other. "
        "next(iter(dataset)) is the first, dataset.skip(i).take(1) the one at i, list(dataset) "
        "all of them."
    )

    def __iter__(self) -> Any:
        return OwnedIterator(self) if state.graph is None else iterator_in_graph(self)

    def __len__(self) -> int:
        size = self._size()
        if size == INFINITE:
            raise TypeError("The dataset is infinite.")
        if size == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return size

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<{type(self).__name__} element_spec={self.element_spec}>"

    def cardinality(self) -> Tensor:
        """The number of elements, tf.data.INFINITE_CARDINALITY or tf.data.UNKNOWN_CARDINALITY.

        >>> tf.data.Dataset.range(42).cardinality().numpy()
        np.int64(42)
        """
        if state.graph is not None and self._symbolic():
            handle = self._type_spec.to_tensors(self)[0]
            counted: Tensor = execute(DatasetCardinality, (handle,), {})
            return counted
        return Tensor(np.int64(self._size()), int64)

    def as_numpy_iterator(self) -> NumpyIterator:
        """The elements as NumPy arrays.

        >>> for value in tf.data.Dataset.from_tensor_slices([1, 2]).as_numpy_iterator():
        ...     print(value)
        1
        2
        """
        for leaf in nest.flatten(self.element_spec):
            if isinstance(leaf, DatasetSpec):
                raise TypeError(
                    "`tf.data.Dataset.as_numpy_iterator()` is not supported for datasets that "
                    f"produce values of type {leaf.value_type}"
                )
        return NumpyIterator(self)

    def options(self) -> Options:
        """The options of this dataset, merged with those of its inputs."""
        merged = Options()
        for each in self._inputs:
            merged = merged.merge(each.options())
        return merged if self._given_options is None else merged.merge(self._given_options)

    def apply(self, transformation_func: Callable[[Dataset], Dataset]) -> Dataset:
        """The dataset that a function returns for this one."""
        dataset = transformation_func(self)
        if not isinstance(dataset, Dataset):
            raise TypeError(
                "`transformation_func` must return a `tf.data.Dataset` object. "
                f"Got {type(dataset)}."
            )
        return dataset

    def with_options(self, options: Options, name: Any = None) -> Dataset:
        """The same elements with these options."""
        from .selecting import _OptionsDataset

        if not isinstance(options, Options):
            raise AttributeError(
                f"with_options takes a tf.data.Options, received {options!r} of type "
                f"{type(options).__name__}."
            )
        return _OptionsDataset(self, options)

    # Sources.

    @staticmethod
    def from_tensors(tensors: Any, name: Any = None) -> Dataset:
        """One element.

        >>> list(tf.data.Dataset.from_tensors([1, 2]).as_numpy_iterator())
        [array([1, 2], dtype=int32)]
        """
        from .sources import _TensorDataset

        return _TensorDataset(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any, name: Any = None) -> Dataset:
        """The slices of tensors along the first dimension.

        >>> dataset = tf.data.Dataset.from_tensor_slices(([1, 2], ["a", "b"]))
        >>> list(dataset.as_numpy_iterator())
        [(np.int32(1), b'a'), (np.int32(2), b'b')]
        """
        from .sources import _TensorSliceDataset

        return _TensorSliceDataset(tensors)

    @staticmethod
    def from_generator(
        generator: Callable[..., Any],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: Any = None,
    ) -> Dataset:
        """The values of a Python generator, which is called for every iteration.

        >>> dataset = tf.data.Dataset.from_generator(
        ...     lambda: iter([1, 2]), output_signature=tf.TensorSpec([], tf.int32))
        >>> list(dataset.as_numpy_iterator())
        [np.int32(1), np.int32(2)]
        """
        from .generators import from_generator

        return from_generator(generator, output_types, output_shapes, args, output_signature)

    @staticmethod
    def range(*args: Any, **kwargs: Any) -> Dataset:
        """A range of numbers from `start` (0) to `stop`, with a step.

        >>> list(tf.data.Dataset.range(1, 5, 2).as_numpy_iterator())
        [np.int64(1), np.int64(3)]
        """
        from .sources import _RangeDataset

        return _RangeDataset(*args, **kwargs)

    @staticmethod
    def counter(start: Any = 0, step: Any = 1, dtype: Any = int64, name: Any = None) -> Dataset:
        """An infinite sequence of numbers.

        >>> list(tf.data.Dataset.counter(5, 2).take(3).as_numpy_iterator())
        [np.int64(5), np.int64(7), np.int64(9)]
        """
        start, step = convert_to_tensor(start, dtype), convert_to_tensor(step, dtype)
        return Dataset.from_tensors(0).repeat().scan(start, lambda now, _: (now + step, now))

    @staticmethod
    def random(
        seed: Any = None, rerandomize_each_iteration: Any = None, name: Any = None
    ) -> Dataset:
        """An infinite sequence of random numbers from 0 to 2**32 - 1."""
        from .sources import _RandomDataset

        return _RandomDataset(seed, bool(rerandomize_each_iteration))

    @staticmethod
    def list_files(
        file_pattern: Any, shuffle: Any = None, seed: Any = None, name: Any = None
    ) -> Dataset:
        """The names of all files that match one of the patterns, by default shuffled."""
        from ..ops.io import matching_files

        patterns = convert_to_tensor(file_pattern, dtypes.string)
        names = matching_files(patterns)
        if state.graph is None and not names._array.size:
            shown = ", ".join(each.decode() for each in np.ravel(patterns._array).tolist())
            raise errors.InvalidArgumentError(
                None, None, f"No files matched pattern: {shown}"
            )  # fmt: skip
        dataset = Dataset.from_tensor_slices(names)
        if shuffle is False or state.graph is not None:
            return dataset
        return dataset.shuffle(max(1, len(dataset)), seed=seed)

    @staticmethod
    def zip(*args: Any, datasets: Any = None, name: Any = None) -> Dataset:
        """Tuples of one element from each dataset, until the shortest ends.

        >>> a, b = tf.data.Dataset.range(2), tf.data.Dataset.range(5, 9)
        >>> list(tf.data.Dataset.zip(a, b).as_numpy_iterator())
        [(np.int64(0), np.int64(5)), (np.int64(1), np.int64(6))]
        """
        from .combining import _ZipDataset

        if not args and datasets is None:
            raise TypeError("Must pass at least one dataset to `zip`.")
        if args and datasets is not None:
            raise TypeError("Both `*args` and `datasets` cannot be set.")
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        return _ZipDataset(datasets)

    @staticmethod
    def choose_from_datasets(
        datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = True
    ) -> Dataset:
        """Elements from the dataset whose index is the next element of `choice_dataset`."""
        from .combining import choose_from_datasets

        return choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(
        datasets: Any,
        weights: Any = None,
        seed: Any = None,
        stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: Any = None,
    ) -> Dataset:
        """Elements from datasets sampled at random, with these probabilities."""
        from .combining import sample_from_datasets

        return sample_from_datasets(
            datasets, weights, seed, stop_on_empty_dataset, bool(rerandomize_each_iteration)
        )

    # Selection and order of elements.

    def concatenate(self, dataset: Dataset, name: Any = None) -> Dataset:
        """The elements of this dataset, followed by those of the other."""
        from .combining import _ConcatenateDataset

        if not isinstance(dataset, Dataset):
            raise AttributeError(
                f"concatenate takes another tf.data.Dataset, received {dataset!r} of type "
                f"{type(dataset).__name__}: Dataset.from_tensor_slices makes one."
            )
        return _ConcatenateDataset(self, dataset)

    def take(self, count: Any, name: Any = None) -> Dataset:
        """The first `count` elements; -1: all.

        >>> list(tf.data.Dataset.range(9).take(2).as_numpy_iterator())
        [np.int64(0), np.int64(1)]
        """
        from .selecting import _TakeDataset

        return _TakeDataset(self, count)

    def skip(self, count: Any, name: Any = None) -> Dataset:
        """All but the first `count` elements; -1: none."""
        from .selecting import _SkipDataset

        return _SkipDataset(self, count)

    def repeat(self, count: Any = None, name: Any = None) -> Dataset:
        """All elements `count` times; None or -1: infinitely."""
        from .selecting import _RepeatDataset

        return _RepeatDataset(self, -1 if count is None else count)

    def shard(self, num_shards: Any, index: Any, name: Any = None) -> Dataset:
        """Every `num_shards`-th element, starting at `index`."""
        from .selecting import _ShardDataset

        return _ShardDataset(self, num_shards, index)

    def shuffle(
        self,
        buffer_size: Any,
        seed: Any = None,
        reshuffle_each_iteration: Any = True,
        name: Any = None,
    ) -> Dataset:
        """The elements in random order: drawn from a buffer that is refilled from the input.

        >>> dataset = tf.data.Dataset.range(100).shuffle(100)
        >>> sorted(dataset.as_numpy_iterator()) == list(range(100))
        True
        """
        from .shuffling import _ShuffleDataset

        again = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        return _ShuffleDataset(self, buffer_size, seed, again)

    def enumerate(self, start: Any = 0, name: Any = None) -> Dataset:
        """Pairs of an index, starting with `start`, and an element."""
        from .combining import _ZipDataset
        from .sources import counting

        return _ZipDataset((counting(scalar(start, name="start")), self))

    def filter(self, predicate: Callable[..., Any], name: Any = None) -> Dataset:
        """The elements for which a predicate is true.

        >>> list(tf.data.Dataset.range(5).filter(lambda x: x > 2).as_numpy_iterator())
        [np.int64(3), np.int64(4)]
        """
        from .selecting import _FilterDataset

        return _FilterDataset(self, predicate)

    def take_while(self, predicate: Callable[..., Any], name: Any = None) -> Dataset:
        """The elements before the first one for which a predicate is false."""
        from .selecting import _TakeWhileDataset

        return _TakeWhileDataset(self, predicate)

    def unique(self, name: Any = None) -> Dataset:
        """The elements without duplicates."""
        from .selecting import _UniqueDataset

        return _UniqueDataset(self)

    def ignore_errors(self, log_warning: bool = False, name: Any = None) -> Dataset:
        """The elements without those whose computation raises an error."""
        from .selecting import _IgnoreErrorsDataset

        return _IgnoreErrorsDataset(self, log_warning)

    def cache(self, filename: Any = "", name: Any = None) -> Dataset:
        """The elements, cached in memory or in a file during a first complete iteration."""
        from .caching import CacheDataset

        return CacheDataset(self, filename)

    def prefetch(self, buffer_size: Any, name: Any = None) -> Dataset:
        """The same elements, prefetched by a background thread."""
        from .parallel import _PrefetchDataset

        return _PrefetchDataset(self, buffer_size)

    # Files.

    def save(
        self,
        path: Any,
        compression: Any = None,
        shard_func: Any = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements to a folder, for `Dataset.load`; TensorFlow can read it, too.

        `shard_func(element)` returns the index of the element's file. With `checkpoint_args`
        (`directory`, `checkpoint_interval`) an interrupted call can be resumed.

        >>> import tempfile
        >>> path = tempfile.mkdtemp()
        >>> tf.data.Dataset.range(3).save(path)
        >>> list(tf.data.Dataset.load(path).as_numpy_iterator())
        [np.int64(0), np.int64(1), np.int64(2)]
        """
        from .saving import save

        save(self, path, compression, shard_func, checkpoint_args)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: Any = None,
        reader_func: Any = None,
        wait: bool = False,
    ) -> Dataset:
        """The elements written by `save`.

        `reader_func(datasets)` combines the datasets of the files; `wait` waits for a `save` in
        progress.
        """
        from .saving import load

        return load(path, element_spec, compression, reader_func, wait)

    def snapshot(
        self,
        path: Any,
        compression: Any = "AUTO",
        reader_func: Any = None,
        shard_func: Any = None,
        name: Any = None,
    ) -> Dataset:
        """The elements, written by the first complete iteration and read by later ones."""
        from .saving import snapshot

        return snapshot(self, path, compression, reader_func, shard_func)

    def fingerprint(self) -> Tensor:
        """A 64-bit fingerprint that is equal for equal pipeline descriptions."""
        from .fingerprints import fingerprint

        return Tensor(np.uint64(fingerprint(self)), dtypes.uint64)

    # Functions of elements.

    def map(
        self,
        map_func: Callable[..., Any],
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        synchronous: Any = None,
        use_unbounded_threadpool: bool = False,
        name: Any = None,
    ) -> Dataset:
        """The result of a function for each element.

        >>> list(tf.data.Dataset.range(3).map(lambda x: x + 1).as_numpy_iterator())
        [np.int64(1), np.int64(2), np.int64(3)]
        """
        from .mapping import _MapDataset, _ParallelMapDataset

        if num_parallel_calls is None or synchronous:
            return _MapDataset(self, map_func)
        return _ParallelMapDataset(self, map_func, num_parallel_calls, deterministic)

    def flat_map(self, map_func: Callable[..., Any], name: Any = None) -> Dataset:
        """The concatenated elements of the datasets that a function returns for each element.

        >>> dataset = tf.data.Dataset.from_tensor_slices([[1, 2], [3, 4]])
        >>> list(dataset.flat_map(tf.data.Dataset.from_tensor_slices).as_numpy_iterator())
        [np.int32(1), np.int32(2), np.int32(3), np.int32(4)]
        """
        from .mapping import _FlatMapDataset

        return _FlatMapDataset(self, map_func)

    def interleave(
        self,
        map_func: Callable[..., Any],
        cycle_length: Any = None,
        block_length: Any = None,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: Any = None,
    ) -> Dataset:
        """As flat_map, with blocks of `block_length` elements from `cycle_length` datasets,
        round-robin.
        """
        from .mapping import _InterleaveDataset, _ParallelInterleaveDataset

        if num_parallel_calls is None:
            return _InterleaveDataset(self, map_func, cycle_length, block_length)
        return _ParallelInterleaveDataset(
            self, map_func, cycle_length, block_length, num_parallel_calls
        )

    def scan(self, initial_state: Any, scan_func: Callable[..., Any], name: Any = None) -> Dataset:
        """Outputs of a function of a state and each element, which also returns the next state."""
        from .mapping import _ScanDataset

        return _ScanDataset(self, initial_state, scan_func)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any], name: Any = None) -> Any:
        """The final state of a function that maps a state and an element to the next state.

        >>> tf.data.Dataset.range(5).reduce(np.int64(0), lambda total, x: total + x).numpy()
        np.int64(10)
        """
        from .mapping import reduce

        return reduce(self, initial_state, reduce_func)

    def get_single_element(self, name: Any = None) -> Any:
        """The only element; tf.errors.InvalidArgumentError if there are none or several."""
        packer = Packer(self.element_spec)
        if state.graph is None:
            return packer.element(_single(self))
        parts = [part for spec in packer.specs for part in spec.flatten()]
        attrs = {
            "specs": packer.specs,
            "Tout": [part.dtype for part in parts],
            "shapes": [part.shape for part in parts],
        }
        handle = self._type_spec.to_tensors(self)[0]
        tensors = iter(execute(DatasetToSingleElement, (handle,), attrs))
        return packer.packed([spec.from_tensors(tensors) for spec in packer.specs])

    # Batches and windows.

    def batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        num_parallel_calls: Any = None,
        deterministic: Any = None,
        name: Any = None,
    ) -> Dataset:
        """Batches of consecutive elements.

        >>> list(tf.data.Dataset.range(5).batch(2, drop_remainder=True).as_numpy_iterator())
        [array([0, 1]), array([2, 3])]
        """
        from .batching import _BatchDataset, _ParallelBatchDataset

        kind = _BatchDataset if num_parallel_calls is None else _ParallelBatchDataset
        return kind(self, batch_size, drop_remainder)

    def padded_batch(
        self,
        batch_size: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        drop_remainder: Any = False,
        name: Any = None,
    ) -> Dataset:
        """Batches of consecutive elements, padded to a common shape.

        >>> dataset = tf.data.Dataset.range(1, 4).map(lambda n: tf.fill([n], n)).padded_batch(3)
        >>> list(dataset.as_numpy_iterator())[0].tolist()
        [[1, 0, 0], [2, 2, 0], [3, 3, 3]]
        """
        from .padding import _PaddedBatchDataset

        return _PaddedBatchDataset(
            self, batch_size, padded_shapes, padding_values, drop_remainder
        )  # fmt: skip

    def ragged_batch(
        self,
        batch_size: Any,
        drop_remainder: Any = False,
        row_splits_dtype: Any = int64,
        name: Any = None,
    ) -> Dataset:
        """Batches of consecutive elements as ragged tensors."""
        from .batching import ragged_batch

        return ragged_batch(self, batch_size, drop_remainder, row_splits_dtype)

    def sparse_batch(self, batch_size: Any, row_shape: Any, name: Any = None) -> Dataset:
        """Batches of consecutive elements as sparse tensors, with rows of the shape `row_shape`.

        >>> dataset = tf.data.Dataset.range(1, 3).map(lambda n: tf.fill([n], n))
        >>> rows = dataset.sparse_batch(2, row_shape=[3]).get_single_element()
        >>> tf.sparse.to_dense(rows).numpy().tolist()
        [[1, 0, 0], [2, 2, 0]]
        """
        from .sparse_batches import _DenseToSparseBatchDataset

        return _DenseToSparseBatchDataset(self, batch_size, row_shape)

    def unbatch(self, name: Any = None) -> Dataset:
        """The rows of the elements."""
        from .batching import _UnbatchDataset

        return _UnbatchDataset(self)

    def rebatch(self, batch_size: Any, drop_remainder: Any = False, name: Any = None) -> Dataset:
        """Batches of another size, or of several sizes in a cycle."""
        from .batching import _RebatchDataset

        return _RebatchDataset(self, batch_size, drop_remainder)

    def window(
        self,
        size: Any,
        shift: Any = None,
        stride: Any = 1,
        drop_remainder: Any = False,
        name: Any = None,
    ) -> Dataset:
        """Datasets of `size` elements with a stride of `stride`, one starting every `shift`
        elements.

        >>> for window in tf.data.Dataset.range(5).window(3, shift=2):
        ...     print([x.numpy().tolist() for x in window])
        [0, 1, 2]
        [2, 3, 4]
        [4]
        """
        from .windows import _WindowDataset

        return _WindowDataset(self, size, shift, stride, drop_remainder)

    def group_by_window(
        self,
        key_func: Callable[..., Any],
        reduce_func: Callable[..., Any],
        window_size: Any = None,
        window_size_func: Any = None,
        name: Any = None,
    ) -> Dataset:
        """The results of `reduce_func(key, dataset)` for windows of elements with equal keys."""
        from .windows import _GroupByWindowDataset

        return _GroupByWindowDataset(self, key_func, reduce_func, window_size, window_size_func)

    def bucket_by_sequence_length(
        self,
        element_length_func: Callable[..., Any],
        bucket_boundaries: Any,
        bucket_batch_sizes: Any,
        padded_shapes: Any = None,
        padding_values: Any = None,
        pad_to_bucket_boundary: bool = False,
        no_padding: bool = False,
        drop_remainder: bool = False,
        name: Any = None,
    ) -> Dataset:
        """Padded batches of elements of similar lengths."""
        from .windows import bucket_by_sequence_length

        return bucket_by_sequence_length(
            self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes,
            padding_values, pad_to_bucket_boundary, no_padding, drop_remainder,
        )  # fmt: skip

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: Any = None,
        name: Any = None,
    ) -> Dataset:
        """Pairs of class and element, resampled so that the classes have the distribution
        `target_dist`.
        """
        from .resampling import rejection_resample

        return rejection_resample(self, class_func, target_dist, initial_dist, seed)


class _VariantDataset(Dataset):
    """A dataset passed as a value: a window, or the argument of a function."""

    def __init__(self, handle: Tensor, spec: Any) -> None:
        self._tensors = (handle,)
        self._spec = spec

    def _inner(self) -> Dataset | None:
        handle = self._tensors[0]
        return None if isinstance(handle, SymbolicTensor) else handle._array.value

    def _elements(self) -> PythonIterator[Leaves]:
        inner = self._inner()
        assert inner is not None
        return inner._start()

    def _size(self) -> int:
        inner = self._inner()
        return UNKNOWN if inner is None else inner._size()


def _single(dataset: Dataset) -> Leaves:
    elements = dataset._start()
    leaves = next(elements, None)
    if leaves is None:
        raise invalid("Dataset was empty.", "DatasetToSingleElement")
    if next(elements, None) is not None:
        raise invalid("Dataset had more than one element.", "DatasetToSingleElement")
    return leaves


def _single_arrays(dataset: Any, *, specs: Any, Tout: Any, shapes: Any) -> list[Any]:
    return arrays_of(specs, _single(dataset.value))


DatasetToSingleElement = stateful(
    "DatasetToSingleElement", "dataset: resource -> components: *Tout", _single_arrays,
    lambda inputs, attrs: attrs["shapes"],
)  # fmt: skip
DatasetCardinality = stateful(
    "DatasetCardinality", "dataset: resource -> cardinality: int64",
    lambda dataset: np.int64(dataset.value._size()), one_handle,
)  # fmt: skip
