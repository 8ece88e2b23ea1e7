"""Transformations for `Dataset.apply`, and questions about datasets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.dtypes import int64
from ...core.tensor import Tensor
from ..dataset import Dataset
from ..functions import Debugging
from ..selecting import _AssertCardinalityDataset
from ..sources import _ListDataset

Transformation = Callable[[Dataset], Dataset]


def assert_cardinality(expected_cardinality: Any) -> Transformation:
    """Declare how many elements there are; iterating raises an error if that is wrong.

    >>> dataset = tf.data.Dataset.range(9).filter(lambda x: x % 2 == 0)
    >>> len(dataset.apply(tf.data.experimental.assert_cardinality(5)))
    5
    """
    return lambda dataset: _AssertCardinalityDataset(dataset, expected_cardinality)


def cardinality(dataset: Dataset) -> Tensor:
    """The number of elements, or that it is infinite or unknown.

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
    """Run the functions of datasets made from now on as plain Python, in the caller's thread."""
    Debugging.on = True


def Counter(start: Any = 0, step: Any = 1, dtype: Any = int64) -> Dataset:
    """See `tf.data.Dataset.counter`."""
    return Dataset.counter(start, step, dtype)


def choose_from_datasets(
    datasets: Any, choice_dataset: Dataset, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Each element from the dataset whose number `choice_dataset` gives next."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(
    datasets: Any, weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False
) -> Dataset:
    """Each element from a dataset drawn at random."""
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
    """A map, then a batch."""
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
    """A shuffle, then a repeat."""
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
