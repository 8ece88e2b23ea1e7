"""Mutable tables: MutableHashTable and DenseHashTable."""

from __future__ import annotations

import copy

from ...core.context import init_scope
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype
from ...core.op import execute
from ...core.tensor import Tensor
from .initializers import eager_if_known
from .static import LookupTable, keys_tensor, on_values
from .tables import (
    LookupTableFindV2,
    LookupTableInsertV2,
    LookupTableRemoveV2,
    MutableDenseHashTableV2,
    MutableHashTableOfTensorsV2,
    MutableHashTableV2,
)


class _ChangingTable(LookupTable):
    """The base class of mutable tables."""

    _default_value: Tensor
    # The name of the keys and values in checkpoints.
    _checkpoint_attribute: str | None = "table"

    def _checkpoint_tensors(self):
        """The keys and values with their dtypes, as checkpoints name them."""
        keys, values = self._handle._array.places()
        return {"-keys": (self.key_dtype, keys), "-values": (self.value_dtype, values)}

    def _restore_tensors(self, tensors):
        """Replace the keys and values by those of a checkpoint."""
        self._handle._array.replace(tensors["-keys"], tensors["-values"])

    def _find(self, keys, default):
        def find(values):
            tensor = _converted(values, self.key_dtype, "keys")
            return execute(LookupTableFindV2, (self._handle, tensor, default))

        return on_values(find, keys)

    def insert(self, keys, values, name=None):
        """Insert keys with values; an existing key gets the new value."""
        keys = _converted(keys, self.key_dtype, "keys")
        values = _converted(values, self.value_dtype, "values")
        execute(LookupTableInsertV2, (self._handle, keys, values))

    def remove(self, keys, name=None):
        """Remove keys; missing ones are ignored."""
        execute(LookupTableRemoveV2, (self._handle, keys_tensor(keys, self.key_dtype)))

    def __deepcopy__(self, memo):
        clone = memo[id(self)] = copy.copy(self)
        clone._handle = Tensor(self._handle._array.copy(), self._handle.dtype)
        return clone


def _converted(value, dtype, name):
    try:
        return convert_to_tensor(value, dtype)
    except ValueError as failure:
        raise ValueError(f"{name}: {failure}") from None


class MutableHashTable(_ChangingTable):
    """A mutable table with insertion and removal of keys.

    >>> table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, default_value=-1)
    >>> table.insert(["a", "b"], [1, 2])
    >>> table.lookup(["b", "c"]).numpy()
    array([ 2, -1])
    """

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        name="MutableHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        self._default_value = eager_if_known(default_value, value_dtype)
        with init_scope():
            attrs = {"key_dtype": as_dtype(key_dtype), "value_dtype": as_dtype(value_dtype)}
            if self._default_value.shape.rank == 0:
                self._handle = execute(MutableHashTableV2, (), attrs)
            else:
                attrs["value_shape"] = self._default_value.shape
                self._handle = execute(MutableHashTableOfTensorsV2, (), attrs)

    def lookup(self, keys, dynamic_default_values=None, name=None):
        """The values of the keys; a default, one for all or one for each, for missing keys."""
        if dynamic_default_values is None:
            return self._find(keys, self._default_value)
        return self._find(keys, convert_to_tensor(dynamic_default_values))


class DenseHashTable(_ChangingTable):
    """A table with insertion and erasure; two keys that never occur mark empty and deleted slots.

    >>> table = tf.lookup.experimental.DenseHashTable(
    ...     tf.int64, tf.int64, default_value=-1, empty_key=0, deleted_key=-1)
    >>> table.insert([1, 2], [10, 20])
    >>> table.lookup([2, 3]).numpy()
    array([20, -1])
    """

    def __init__(
        self,
        key_dtype,
        value_dtype,
        default_value,
        empty_key,
        deleted_key,
        initial_num_buckets=None,
        name="MutableDenseHashTable",
        checkpoint=True,
        experimental_is_anonymous=False,
    ):
        self._default_value = eager_if_known(default_value, value_dtype)
        keys = tuple(eager_if_known(key, key_dtype) for key in (empty_key, deleted_key))
        with init_scope():
            attrs = {
                "key_dtype": as_dtype(key_dtype),
                "value_dtype": as_dtype(value_dtype),
                "value_shape": self._default_value.shape,
                "initial_num_buckets": initial_num_buckets or 131072,
            }
            self._handle = execute(MutableDenseHashTableV2, keys, attrs)

    def lookup(self, keys, name=None):
        """The values of the keys; the default value for keys that are not in the table."""
        return self._find(keys, self._default_value)

    def insert_or_assign(self, keys, values, name=None):
        """The same as `insert`."""
        self.insert(keys, values)

    def erase(self, keys, name=None):
        """The same as `remove`."""
        self.remove(keys)
