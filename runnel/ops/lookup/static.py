"""Immutable tables; StaticVocabularyTable has buckets for out-of-vocabulary keys."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core import dtypes
from ...core.context import init_scope
from ...core.convert import convert_to_tensor
from ...core.dtypes import DType, as_dtype, int64, string
from ...core.op import execute
from ...core.tensor import Tensor
from ..array.selection import where
from ..math.casting import cast
from ..strings.elements import is_ragged
from ..strings.hashing import to_hash_bucket_fast
from ..strings.numbers import as_string
from .initializers import eager_if_known
from .tables import HashTableV2, LookupTableExportV2, LookupTableFindV2, LookupTableSizeV2


def on_values(function, keys):
    """Apply `function` to a tensor, or to the values of a ragged or sparse one."""
    if is_ragged(keys):
        return keys.with_flat_values(function(keys.flat_values))
    if not isinstance(keys, Tensor) and hasattr(keys, "dense_shape"):
        return type(keys)(keys.indices, function(keys.values), keys.dense_shape)
    return function(keys)


def keys_tensor(keys: Any, dtype: DType) -> Tensor:
    """Keys as a tensor; TypeError if their dtype is not the table's."""
    tensor = convert_to_tensor(keys, dtype) if not isinstance(keys, Tensor) else keys
    if tensor.dtype is not dtype:
        raise TypeError(
            f"Dtype of argument `keys` must be {dtype!r}, received: {tensor.dtype!r}. "
            "Use tf.cast to change it."
        )
    return tensor


class LookupTable:
    """Base class of all tables: a handle, dtypes, a size, and `table[keys]`."""

    # Tables may be parts of a checkpoint; only mutable ones have values in it.
    _checkpoint_attribute: str | None = None

    _handle: Tensor

    @property
    def resource_handle(self) -> Tensor:
        """The handle of the table for operations."""
        return self._handle

    @property
    def key_dtype(self) -> DType:
        return self._handle._array.key_dtype

    @property
    def value_dtype(self) -> DType:
        return self._handle._array.value_dtype

    @property
    def name(self) -> str | None:
        return None

    def size(self, name: str | None = None) -> Tensor:
        """The number of keys in the table."""
        return execute(LookupTableSizeV2, (self._handle,))

    def export(self, name: str | None = None) -> tuple[Tensor, Tensor]:
        """All keys and their values, in unspecified order."""
        attrs = {"Tkeys": self.key_dtype, "Tvalues": self.value_dtype}
        keys, values = execute(LookupTableExportV2, (self._handle,), attrs)
        return keys, values

    def lookup(self, keys, name=None):
        """The values of the keys."""
        raise NotImplementedError

    def __getitem__(self, keys):
        return self.lookup(keys)


class StaticHashTable(LookupTable):
    """A table initialized once, then immutable.

    >>> table = tf.lookup.StaticHashTable(
    ...     tf.lookup.KeyValueTensorInitializer(["a", "b"], [7, 11]), default_value=-1)
    >>> table[tf.constant(["a", "c"])].numpy()
    array([ 7, -1], dtype=int32)
    """

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        key_dtype, value_dtype = initializer.key_dtype, initializer.value_dtype
        default = eager_if_known(default_value, value_dtype)
        if default.shape.rank != 0:
            raise ValueError(
                f"The default value must be a scalar: shapes {default.shape} and () are not "
                "compatible"
            )
        self._default_value = default
        self._initializer = initializer
        with init_scope():
            attrs = {"key_dtype": key_dtype, "value_dtype": value_dtype}
            self._handle = execute(HashTableV2, (), attrs)
        initializer.initialize(self)

    @property
    def default_value(self) -> Tensor:
        return self._default_value

    def lookup(self, keys, name=None):
        """The values of the keys; the default value for keys that are not in the table."""
        return on_values(self._lookup, keys)

    def _lookup(self, keys):
        keys = keys_tensor(keys, self.key_dtype)
        return execute(LookupTableFindV2, (self._handle, keys, self._default_value))


class StaticVocabularyTable(LookupTable):
    """Ids of words: the table's own, and hash buckets for out-of-vocabulary words.

    >>> initializer = tf.lookup.KeyValueTensorInitializer(
    ...     ["emerson", "lake", "palmer"], [0, 1, 2], value_dtype=tf.int64)
    >>> table = tf.lookup.StaticVocabularyTable(initializer, num_oov_buckets=5)
    >>> table.lookup(tf.constant(["lake", "palmer", "king"])).numpy()[:2]
    array([1, 2])
    """

    def __init__(
        self,
        initializer,
        num_oov_buckets,
        lookup_key_dtype=None,
        name=None,
        experimental_is_anonymous=False,
    ):
        if num_oov_buckets <= 0:
            raise ValueError("`num_oov_buckets` must be > 0; use StaticHashTable.")
        self._buckets = int(num_oov_buckets)
        self._name = name
        self._table = None
        if initializer is None:
            self._name = name or "hash_bucket"
            self._key_dtype = string
            return
        if initializer.value_dtype is not int64:
            raise TypeError(
                f"Invalid `value_dtype`, expected {int64!r} but got {initializer.value_dtype!r}."
            )
        if initializer.key_dtype not in (int64, string):
            raise TypeError(
                "Invalid `key_dtype`, expected one of (tf.int64, tf.string), but got "
                f"{initializer.key_dtype!r}."
            )
        self._key_dtype = as_dtype(lookup_key_dtype or initializer.key_dtype)
        if initializer.key_dtype.is_integer != self._key_dtype.is_integer:
            kind = "integer" if self._key_dtype.is_integer else "non-integer"
            raise TypeError(
                f"Invalid `key_dtype`, expected {kind} but got {initializer.key_dtype!r}."
            )
        self._table = StaticHashTable(initializer, -1)

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    @property
    def key_dtype(self) -> DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> DType:
        return int64

    @property
    def name(self) -> str | None:
        return self._name

    @property
    def initializer(self):
        return None if self._table is None else self._table._initializer

    def size(self, name=None):
        """The number of keys and of buckets."""
        buckets = convert_to_tensor(np.int64(self._buckets))
        return buckets if self._table is None else self._table.size() + buckets

    def export(self, name=None):
        """Not supported: a vocabulary accepts every key."""
        raise AttributeError("A StaticVocabularyTable has no export: it takes every key.")

    def lookup(self, keys, name=None):
        """The id of each key: the table's, or that of its bucket after all of the table's ids."""
        return on_values(self._lookup, keys)

    def _lookup(self, keys):
        keys = keys_tensor(keys, self._key_dtype)
        words = keys if keys.dtype is dtypes.string else as_string(keys)
        if self._table is None:
            return to_hash_bucket_fast(words, self._buckets)
        if keys.dtype is not self._table.key_dtype:
            keys = cast(keys, int64)
        found = self._table._lookup(keys)
        buckets = to_hash_bucket_fast(words, self._buckets) + self._table.size()
        return where(found != self._table.default_value, found, buckets)
