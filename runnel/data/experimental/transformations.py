"""Transformations for `Dataset.apply`, and functions that inspect datasets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ...core import dtypes, nest
from ...core.dtypes import int64
from ...core.tensor import Tensor
from ...core.type_spec import TensorSpec
from ...formats.tfrecord import TFRecordWriter as _RecordWriter
from ..cardinality import UNKNOWN
from ..combining import WhenAsked
from ..dataset import Dataset, _VariantDataset
from ..functions import Debugging
from ..iterators import handle_of
from ..reducing import Reducer, _GroupByReducerDataset
from ..selecting import _AssertCardinalityDataset, _Same
from ..sources import _ListDataset, _RandomDataset
from ..structure import Leaves, Packer

Transformation = Callable[[Dataset], Dataset]


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Declare the cardinality; iterating raises an error if it is wrong.

    >>> dataset = tf.data.Dataset.range(9).filter(lambda x: x % 2 == 0)
    >>> len(dataset.apply(tf.data.experimental.assert_cardinality(5)))
    5
    """
    return lambda dataset: _AssertCardinalityDataset(dataset, expected_cardinality)


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements, tf.data.INFINITE_CARDINALITY or tf.data.UNKNOWN_CARDINALITY.

    >>> tf.data.experimental.cardinality(tf.data.Dataset.range(42)).numpy()
    np.int64(42)
    """
    return dataset.cardinality()


def get_single_element(dataset: Dataset) -> Any:
    """The only element of a dataset."""
    return dataset.get_single_element()


def get_structure(dataset_or_iterator: Any) -> Any:
    """The specs of the elements of a dataset or an iterator."""
    try:
        return dataset_or_iterator.element_spec
    except AttributeError:
        raise TypeError(
            f"Invalid `dataset_or_iterator`. `dataset_or_iterator` must be a "
            f"`tf.data.Dataset` or tf.data.Iterator object, but got {type(dataset_or_iterator)}."
        ) from None


def from_list(elements: Any, name: Any = None) -> Dataset:
    """A dataset of the elements of a list.

    >>> list(tf.data.experimental.from_list([(1, "a"), (2, "b")]).as_numpy_iterator())
    [(np.int32(1), b'a'), (np.int32(2), b'b')]
    """
    return _ListDataset(elements)


def enable_debug_mode() -> None:
    """Run functions of datasets created from now on as plain Python, in the consumer's thread."""
    Debugging.on = True


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """See `tf.data.Dataset.counter`."""
    return Dataset.counter(start, step, dtype)


def choose_from_datasets(
    datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements from the dataset whose index is the next element of `choice_dataset`."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Elements from datasets sampled at random."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def bucket_by_sequence_length(
    element_length_func: Callable[..., Any],
    bucket_boundaries: Any,
    bucket_batch_sizes: Any,
    padded_shapes: Any = None,
    padding_values: Any = None,
    pad_to_bucket_boundary: bool = False,
    no_padding: bool = False,
    drop_remainder: bool = False,
) -> Transformation:
    """See `tf.data.Dataset.bucket_by_sequence_length`."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder,
    )  # fmt: skip


def dense_to_ragged_batch(
    batch_size: Any, drop_remainder: bool = False, row_splits_dtype: Any = int64
) -> Transformation:
    """See `tf.data.Dataset.ragged_batch`."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def enumerate_dataset(start: Any = 0) -> Transformation:
    """See `tf.data.Dataset.enumerate`."""
    return lambda dataset: dataset.enumerate(start)


def group_by_window(
    key_func: Callable[..., Any],
    reduce_func: Callable[..., Any],
    window_size: Any = None,
    window_size_func: Any = None,
) -> Transformation:
    """See `tf.data.Dataset.group_by_window`."""
    return lambda dataset: dataset.group_by_window(
        key_func, reduce_func, window_size, window_size_func
    )


def ignore_errors(log_warning: bool = False) -> Transformation:
    """See `tf.data.Dataset.ignore_errors`."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def map_and_batch(
    map_func: Callable[..., Any],
    batch_size: Any,
    num_parallel_batches: Any = None,
    drop_remainder: bool = False,
    num_parallel_calls: Any = None,
) -> Transformation:
    """A map followed by a batch."""
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(
        batch_size, drop_remainder
    )


def parallel_interleave(
    map_func: Callable[..., Any],
    cycle_length: Any,
    block_length: Any = 1,
    sloppy: Any = False,
    buffer_output_elements: Any = None,
    prefetch_input_elements: Any = None,
) -> Transformation:
    """See `tf.data.Dataset.interleave`."""
    return lambda dataset: dataset.interleave(
        map_func, cycle_length, block_length, num_parallel_calls=cycle_length
    )


def rejection_resample(
    class_func: Callable[..., Any], target_dist: Any, initial_dist: Any = None, seed: Any = None
) -> Transformation:
    """See `tf.data.Dataset.rejection_resample`."""
    return lambda dataset: dataset.rejection_resample(class_func, target_dist, initial_dist, seed)


def scan(initial_state: Any, scan_func: Callable[..., Any]) -> Transformation:
    """See `tf.data.Dataset.scan`."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def shuffle_and_repeat(buffer_size: Any, count: Any = None, seed: Any = None) -> Transformation:
    """A shuffle followed by a repeat."""
    return lambda dataset: dataset.shuffle(buffer_size, seed).repeat(count)


def take_while(predicate: Callable[..., Any]) -> Transformation:
    """See `tf.data.Dataset.take_while`."""
    return lambda dataset: dataset.take_while(predicate)


def unbatch() -> Transformation:
    """See `tf.data.Dataset.unbatch`."""
    return lambda dataset: dataset.unbatch()


def unique() -> Transformation:
    """See `tf.data.Dataset.unique`."""
    return lambda dataset: dataset.unique()


def at(dataset: Dataset, index: Any) -> Any:
    """The element with this index, of a dataset of known length.

    >>> tf.data.experimental.at(tf.data.Dataset.range(10).batch(3), 1).numpy().tolist()
    [3, 4, 5]
    """
    from ..optimizing import element_at

    return Packer(dataset.element_spec).element(element_at(dataset, int(index)))


def to_variant(dataset: Dataset) -> Tensor:
    """A variant tensor that holds a dataset."""
    return handle_of(dataset)


def from_variant(variant: Any, structure: Any) -> Dataset:
    """The dataset held by a variant tensor.

    >>> variant = tf.data.experimental.to_variant(tf.data.Dataset.range(2))
    >>> list(tf.data.experimental.from_variant(variant, tf.TensorSpec([], tf.int64)))[1].numpy()
    np.int64(1)
    """
    return _VariantDataset(variant, structure)


def dense_to_sparse_batch(batch_size: Any, row_shape: Any) -> Transformation:
    """See `tf.data.Dataset.sparse_batch`."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def group_by_reducer(key_func: Callable[..., Any], reducer: Reducer) -> Transformation:
    """The reduction of all elements with equal keys, in the order of the keys."""
    return lambda dataset: _GroupByReducerDataset(dataset, key_func, reducer)


def snapshot(
    path: Any, compression: Any = "AUTO", reader_func: Any = None, shard_func: Any = None
) -> Transformation:
    """See `tf.data.Dataset.snapshot`."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)


def save(
    dataset: Dataset,
    path: Any,
    compression: Any = None,
    shard_func: Any = None,
    checkpoint_args: Any = None,
) -> None:
    """See `tf.data.Dataset.save`."""
    dataset.save(path, compression, shard_func, checkpoint_args)


def load(
    path: Any, element_spec: Any = None, compression: Any = None, reader_func: Any = None
) -> Dataset:
    """See `tf.data.Dataset.load`."""
    return Dataset.load(path, element_spec, compression, reader_func)


def pad_to_cardinality(cardinality: Any, mask_key: str = "valid") -> Transformation:
    """Pad with zero elements up to a cardinality; `mask_key` is the mask of actual elements.

    >>> dataset = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
    >>> padded = dataset.apply(tf.data.experimental.pad_to_cardinality(3))
    >>> [(int(x["a"]), bool(x["valid"])) for x in padded]
    [(1, True), (2, True), (0, False)]
    """

    def padded(dataset: Dataset) -> Dataset:
        size = dataset._size()
        if size < 0:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a known cardinalty, but "
                f"has cardinality {size}"
            )
        if size > cardinality:
            raise ValueError(
                "The dataset passed into `pad_to_cardinality` must have a cardinalty less than "
                f"the target cardinality ({cardinality}), but has cardinality {size}"
            )
        if not isinstance(dataset.element_spec, Mapping):
            raise ValueError(
                "`pad_to_cardinality` requires its input dataset to be a dictionary of tensors, "
                f"got {dataset.element_spec}."
            )
        marked = dataset.map(lambda element: {**element, mask_key: True})
        zeros = nest.map_structure(_zeros, marked.element_spec)
        rest = Dataset.from_tensors(zeros).repeat(cardinality - size)
        return marked.concatenate(rest)

    return padded


def _zeros(spec: Any) -> Any:
    sizes = [size or 0 for size in spec.shape.as_list()]
    if spec.dtype is dtypes.string:
        return np.full(sizes, b"", object)
    return np.zeros(sizes, spec.dtype.as_numpy_dtype)


class _CopyToDeviceDataset(_Same):
    """The same elements: there is a single memory."""

    def _size(self) -> int:
        return UNKNOWN

    def _elements(self) -> Iterator[Leaves]:
        return itertools.chain(WhenAsked(self._inputs[0]._elements))


def copy_to_device(target_device: Any, source_device: Any = "/cpu:0") -> Transformation:
    """The elements on a device; arrays are accessible from all devices."""
    return lambda dataset: _CopyToDeviceDataset(dataset)


def prefetch_to_device(device: Any, buffer_size: Any = None) -> Transformation:
    """The elements, prefetched, on a device."""
    return lambda dataset: _CopyToDeviceDataset(dataset).prefetch(buffer_size)


class RandomDatasetV2(_RandomDataset):
    """An infinite sequence of random numbers; see `tf.data.Dataset.random`."""

    def __init__(
        self, seed: Any = None, rerandomize_each_iteration: Any = None, name: Any = None
    ) -> None:
        super().__init__(seed, bool(rerandomize_each_iteration))


class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "words.tfrecord")
    >>> words = tf.data.Dataset.from_tensor_slices(["to", "be"])
    >>> tf.data.experimental.TFRecordWriter(path).write(words)
    >>> list(tf.data.TFRecordDataset(path).as_numpy_iterator())
    [b'to', b'be']
    """

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = filename
        self._compression = compression_type

    def write(self, dataset: Dataset) -> None:
        """Write all elements."""
        spec = dataset.element_spec
        fits = type(spec) is TensorSpec and spec.dtype is dtypes.string
        if not (fits and spec.shape.is_compatible_with([])):
            raise TypeError(
                "Invalid `dataset`. Expected a `dataset` that produces scalar `tf.string` "
                f"elements, but got one that produces {spec}."
            )
        with _RecordWriter(self._filename, self._compression) as writer:
            for leaves in dataset._start():
                writer.write(np.asarray(leaves[0]).item())
