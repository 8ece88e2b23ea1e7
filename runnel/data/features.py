"""Datasets of serialized Examples, parsed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core import dtypes
from ..core.shapes import TensorShape
from ..core.type_spec import TensorSpec
from .csv_files import files_of, shuffled_and_repeated
from .dataset import Dataset
from .files import TFRecordDatasetV2
from .mapping import _ParallelMapDataset


class _ParseExampleDataset(_ParallelMapDataset):
    """Batches of serialized Examples as the tensors of their features."""

    def __init__(self, dataset: Dataset, features: Any, calls: Any, deterministic: Any) -> None:
        spec = dataset.element_spec
        if not (
            type(spec) is TensorSpec
            and spec.dtype is dtypes.string
            and spec.shape.is_compatible_with(TensorShape([None]))
        ):
            raise TypeError(
                "Input dataset should be a dataset of vectors of strings. Instead it is "
                f"`{spec}`. Use batch() first."
            )
        super().__init__(dataset, _parser(features), calls, deterministic)


def _parser(features: Any) -> Callable[[Any], Any]:
    def parse(serialized: Any) -> Any:
        from ..io import parse_example

        return parse_example(serialized, features)

    return parse


def parse_example_dataset(
    features: Any, num_parallel_calls: Any = 1, deterministic: Any = None
) -> Callable[[Dataset], Dataset]:
    """Parse batches of serialized Examples; see `tf.io.parse_example`."""
    if features is None:
        raise ValueError("Argument `features` is required, but not specified.")
    return lambda dataset: _ParseExampleDataset(
        dataset, features, num_parallel_calls, deterministic
    )


def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = None,
    label_key: Any = None,
    reader_args: Any = None,
    num_epochs: Any = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: Any = None,
    parser_num_threads: Any = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Dataset:
    """Batches of the features of Examples in files, for this many epochs (None: infinitely)."""
    files = files_of(file_pattern)
    read = TFRecordDatasetV2 if reader is None else reader
    given = [] if reader_args is None else list(reader_args)
    if label_key is not None and label_key not in features:
        raise ValueError(
            f"The `label_key` provided ({label_key}) must be one of the `features` keys: "
            f"{features.keys()}."
        )
    dataset = Dataset.from_tensor_slices(files)
    if shuffle:
        dataset = dataset.shuffle(len(files), shuffle_seed)
    dataset = dataset.interleave(
        lambda name: read(name, *given), cycle_length=reader_num_threads or 1
    )
    if isinstance(dataset.element_spec, tuple) and len(dataset.element_spec) == 2:
        dataset = dataset.map(lambda key, value: value)
    dataset = shuffled_and_repeated(
        dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed
    )  # fmt: skip
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, parser_num_threads or 2))
    if label_key is not None:
        dataset = dataset.map(lambda parsed: (parsed, parsed.pop(label_key)))
    return dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)
