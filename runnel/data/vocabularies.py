"""Lookup tables initialized from datasets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.context import init_scope
from ..core.dtypes import as_dtype, string
from ..core.op import execute
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec
from ..ops.lookup.initializers import TableInitializer
from ..ops.lookup.static import StaticHashTable, StaticVocabularyTable
from ..ops.lookup.tables import LookupTableImportV2
from .batching import stacked
from .dataset import Dataset


class DatasetInitializer(TableInitializer):
    """Initializes a table with the key-value pairs of a dataset.

    >>> pairs = tf.data.Dataset.range(3).map(lambda x: (x, x * x))
    >>> table = tf.lookup.StaticHashTable(tf.data.experimental.DatasetInitializer(pairs), -1)
    >>> table.lookup(tf.constant([2, 7], tf.int64)).numpy().tolist()
    [4, -1]
    """

    def __init__(self, dataset: Dataset) -> None:
        spec = dataset.element_spec
        if not (isinstance(spec, tuple) and len(spec) == 2):
            raise TypeError(f"A table takes a dataset of pairs of key and value, got {spec}.")
        if not all(type(each) is TensorSpec for each in spec):
            raise TypeError(f"The keys and values of a table are tensors, got {spec}.")
        self._dataset = dataset
        super().__init__(spec[0].dtype, spec[1].dtype)

    def initialize(self, table: Any) -> None:
        """Insert the pairs into a table."""
        self._require_types_of(table)
        with init_scope():
            pairs = list(self._dataset._start())
            columns: list[Any] = list(zip(*pairs, strict=True)) if pairs else [(), ()]
            tensors = [
                Tensor(stacked(column) if column else np.empty(0, dtype.numpy), dtype)
                for column, dtype in zip(columns, (self.key_dtype, self.value_dtype), strict=True)
            ]
            execute(LookupTableImportV2, (table.resource_handle, *tensors))


def table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: Any = None,
    hasher_spec: Any = None,
    key_dtype: Any = string,
    name: Any = None,
) -> Any:
    """A table of the key-value pairs of a dataset.

    >>> pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], [10, 20]))
    >>> table = tf.data.experimental.table_from_dataset(pairs, default_value=-1)
    >>> table.lookup(tf.constant(["b", "z"])).numpy().tolist()
    [20, -1]
    """
    spec = dataset.element_spec
    if not (isinstance(spec, tuple) and len(spec) == 2):
        raise TypeError(f"A table takes a dataset of pairs of key and value, got {spec}.")
    if spec[0].dtype is not as_dtype(key_dtype):
        raise TypeError(
            f"Invalid `dataset`: its keys have the type {spec[0].dtype.name}, key_dtype is "
            f"{as_dtype(key_dtype).name}."
        )
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got "
                         f"{num_oov_buckets}.")  # fmt: skip
    if vocab_size is not None:
        if vocab_size < 1:
            raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
        dataset = dataset.take(vocab_size)
    initializer = DatasetInitializer(dataset)
    if num_oov_buckets:
        return StaticVocabularyTable(initializer, num_oov_buckets, name=name)
    return StaticHashTable(initializer, -1 if default_value is None else default_value, name=name)


def index_table_from_dataset(
    dataset: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: Any = None,
    default_value: Any = -1,
    hasher_spec: Any = None,
    key_dtype: Any = string,
    name: Any = None,
) -> Any:
    """A table from the elements of a dataset to their indices.

    >>> words = tf.data.Dataset.from_tensor_slices(["to", "be"])
    >>> table = tf.data.experimental.index_table_from_dataset(words)
    >>> table.lookup(tf.constant(["be", "or"])).numpy().tolist()
    [1, -1]
    """
    numbered = dataset.enumerate().map(lambda number, word: (word, number))
    return table_from_dataset(
        numbered, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype, name
    )
