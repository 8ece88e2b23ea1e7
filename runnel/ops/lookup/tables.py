"""The tables behind `tf.lookup`, and the operations on their handles.

A table's handle is a tensor of dtype resource whose value is the table itself, as a variable's is.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...core.convert import constant_value
from ...core.dtypes import DType, int32, int64, string
from ...core.errors import FailedPreconditionError, NotFoundError
from ...core.op import op, type_text
from ...core.shape_rules import SCALAR, UNKNOWN, dimensions_text, nothing
from ...core.shapes import TensorShape
from ..strings import hash_functions
from ..strings.elements import filled

_KEYS = (int32, int64, string)
# Below this, one dict lookup per key costs less than preparing arrays.
_FEW = 16


class Table:
    """Keys, each with a value of one shape."""

    # A handle is a scalar tensor.
    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...] = (),
        key_shape: tuple[int, ...] = (),
    ) -> None:
        if key_dtype not in _KEYS:
            raise NotFoundError(
                None,
                None,
                f"No table has keys of dtype {key_dtype.name} (values {value_dtype.name}). Keys "
                "are int32, int64 or string.",
            )
        self.key_dtype = key_dtype
        self.value_dtype = value_dtype
        self.key_shape = key_shape
        self.value_shape = value_shape
        self.entries: dict[Any, Any] = {}
        self._looked_up = 0
        self._index: _IntegerIndex | None = None

    # Arrays to keys and values, and the reverse.

    def keys_of(self, keys: np.ndarray) -> list[Any]:
        """The keys in an array, as the dict's keys."""
        if self.key_shape:
            return [tuple(row.ravel().tolist()) for row in keys.reshape(-1, *self.key_shape)]
        return keys.ravel().tolist()

    def outer_shape(self, keys: np.ndarray) -> tuple[int, ...]:
        """The shape of a tensor of keys without the dimensions inside a key."""
        inner = len(self.key_shape)
        if inner and keys.shape[-inner:] != self.key_shape:
            shown = dimensions_text(TensorShape(self.key_shape))
            got = dimensions_text(TensorShape(keys.shape[-inner:]))
            raise ValueError(f"Expected key shape {shown} got {got}")
        return keys.shape[: keys.ndim - inner]

    def _values_of(self, values: np.ndarray) -> list[Any]:
        if self.value_shape:
            return list(values.reshape(-1, *self.value_shape))
        return values.ravel().tolist()

    def array_of(self, values: list[Any], shape: tuple[int, ...]) -> np.ndarray:
        """Values as the array of a tensor."""
        whole = (*shape, *self.value_shape)
        if not values:
            return np.empty(whole, self.value_dtype.numpy)
        if self.value_dtype is string and not self.value_shape:
            return filled(values, whole)
        return np.array(values, self.value_dtype.numpy).reshape(whole)

    # Reading.

    def find(self, keys: np.ndarray, default: Any) -> np.ndarray:
        """The values of the keys; `default`, one for all or one for each, for missing keys."""
        shape = self.outer_shape(keys)
        default = np.asarray(default)
        one = default.shape == self.value_shape
        if not one and default.shape != (*shape, *self.value_shape):
            shapes = (self.value_shape, (*shape, *self.value_shape), default.shape)
            single, many, got = (dimensions_text(TensorShape(each)) for each in shapes)
            raise ValueError(f"Expected shape {single} or {many} for default value, got {got}")
        if one and not self.value_shape and keys.dtype != object and keys.size >= _FEW:
            index = self._ready_index(keys.size)
            if index is not None:
                return index.find(keys, default[()])
        get = self.entries.get
        if one:
            other = default if self.value_shape else default[()]
            found = [get(key, other) for key in self.keys_of(keys)]
        else:
            pairs = zip(self.keys_of(keys), self._values_of(default), strict=True)
            found = [get(key, other) for key, other in pairs]
        return self.array_of(found, shape)

    def _ready_index(self, count: int) -> _IntegerIndex | None:
        """Arrays to look up many integers at once, created when profitable."""
        if self._index is None:
            self._looked_up += count
            if self._looked_up < len(self.entries) or not self.entries:
                return None
            self._index = _IntegerIndex(*self.export())
        return self._index

    def size(self) -> int:
        """The number of keys."""
        return len(self.entries)

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All keys and their values."""
        items = list(self.entries.items())
        return self._key_array([key for key, _ in items]), self.array_of(
            [value for _, value in items], (len(items),)
        )

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """The keys and values in the form of checkpoints."""
        return self.export()

    def _key_array(self, keys: list[Any]) -> np.ndarray:
        shape = (len(keys), *self.key_shape)
        if self.key_dtype is not string:
            return np.array(keys, self.key_dtype.numpy).reshape(shape)
        flat = [part for key in keys for part in key] if self.key_shape else keys
        return filled(flat, shape)

    # Writing.

    def insert(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Insert keys with values; existing keys get new values."""
        self._require_values(self.outer_shape(keys), values)
        self._changed()
        self.entries.update(zip(self.keys_of(keys), self._values_of(values), strict=True))

    def import_all(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Initialize an immutable table; a repeated key must have the same value."""
        if not keys.size:
            raise ValueError("keys and values cannot be empty tensors.")
        self._require_values(keys.shape, values)
        names, found = self.keys_of(keys), self._values_of(values)
        entries = dict(zip(reversed(names), reversed(found), strict=True))
        if len(entries) < len(names):
            for key, value in zip(names, found, strict=True):
                if entries[key] != value:
                    raise FailedPreconditionError(
                        None,
                        None,
                        "HashTable has different value for same key. Key "
                        f"{_shown(key)} has {_shown(entries[key])} and trying to add value "
                        f"{_shown(value)}",
                    )
        self._changed()
        self.entries = (
            entries if len(entries) < len(names) else dict(zip(names, found, strict=True))
        )

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Replace all keys and values."""
        self._require_values(self.outer_shape(keys), values)
        names = self.keys_of(keys)
        self._changed()
        self.entries = dict(zip(names, self._values_of(values), strict=True))

    def remove(self, keys: np.ndarray) -> None:
        """Remove keys; missing ones are ignored."""
        self._changed()
        for key in self.keys_of(keys):
            self.entries.pop(key, None)

    def copy(self) -> Table:
        """Another table with the same keys and values."""
        clone = copy.copy(self)
        clone.entries = dict(self.entries)
        return clone

    def _changed(self) -> None:
        self._index = None
        self._looked_up = 0

    def _require_values(self, shape: tuple[int, ...], values: np.ndarray) -> None:
        expected = (*shape, *self.value_shape)
        if values.shape != expected:
            wanted, got = (dimensions_text(TensorShape(each)) for each in (expected, values.shape))
            raise ValueError(f"Expected shape {wanted} for value, got {got}")


def _shown(value: Any) -> Any:
    return value.decode(errors="backslashreplace") if isinstance(value, bytes) else value


class _IntegerIndex:
    """A table's integer keys as arrays: indexed by offset where they are dense, else sorted."""

    def __init__(self, keys: np.ndarray, values: np.ndarray) -> None:
        order = np.argsort(keys)
        self._keys, self._values = keys[order], values[order]
        self._low, self._high = int(self._keys[0]), int(self._keys[-1])
        self._rows: np.ndarray | None = None
        if self._high - self._low < 4 * len(keys) + 1024:
            self._rows = np.full(self._high - self._low + 1, -1)
            self._rows[self._keys - self._low] = np.arange(len(keys))

    def find(self, keys: np.ndarray, default: Any) -> np.ndarray:
        if self._rows is None:
            rows = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
            missing = self._keys[rows] != keys
        else:
            outside = (keys < self._low) | (keys > self._high)
            rows = self._rows[np.where(outside, 0, keys - self._low)]
            missing = outside | (rows < 0)
        result = self._values[rows]
        result[missing] = default
        return result


class DenseTable(Table):
    """A table in which two reserved keys mark empty and deleted slots."""

    def __init__(
        self,
        key_dtype: DType,
        value_dtype: DType,
        value_shape: tuple[int, ...],
        empty_key: np.ndarray,
        deleted_key: np.ndarray,
        buckets: int,
        load: float,
    ) -> None:
        super().__init__(key_dtype, value_dtype, value_shape, empty_key.shape)
        if empty_key.shape != deleted_key.shape:
            shapes = (dimensions_text(TensorShape(k.shape)) for k in (empty_key, deleted_key))
            raise ValueError(
                f"Empty and deleted keys must have same shape, got shapes: {' and '.join(shapes)}"
            )
        if buckets < 4 or buckets & (buckets - 1):
            raise ValueError(
                f"Number of buckets must be at least 4 and a power of 2, got: {buckets}"
            )
        (self._empty,) = super().keys_of(empty_key)
        (self._deleted,) = super().keys_of(deleted_key)
        if self._empty == self._deleted:
            raise ValueError("Empty and deleted keys cannot be equal")
        self._buckets, self._load = buckets, load

    def outer_shape(self, keys: np.ndarray) -> tuple[int, ...]:
        if not self.key_shape and keys.ndim > 1 and keys.shape[1:] != (1,) * (keys.ndim - 1):
            got = dimensions_text(TensorShape(keys.shape))
            raise ValueError(f"Expected key shape [1] got {got}")
        return super().outer_shape(keys)

    def keys_of(self, keys: np.ndarray) -> list[Any]:
        found = super().keys_of(keys)
        for name, marker in (("empty", self._empty), ("deleted", self._deleted)):
            if marker in found:
                raise ValueError(f"Using the {name}_key as a table key is not allowed")
        return found

    def export(self) -> tuple[np.ndarray, np.ndarray]:
        """All slots: those of keys first, then the empty ones."""
        while self._buckets * self._load < len(self.entries):
            self._buckets *= 2
        keys, values = super().export()
        if not self.key_shape:
            keys = keys.reshape(-1, 1)
        if not self.value_shape:
            values = values.reshape(-1, 1)
        free = self._buckets - len(keys)
        marker = b"" if self.value_dtype is string else 0
        padding = np.full((free, *values.shape[1:]), marker, values.dtype)
        empty = np.empty((free, *keys.shape[1:]), keys.dtype)
        empty[...] = self._key_array([self._empty]).reshape(1, *keys.shape[1:])
        return np.concatenate([keys, empty]), np.concatenate([values, padding])

    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """All slots as in the original's checkpoints: each key at the index of its hash.

        From there it probes the next slot, then two further, then three, until one is empty
        (quadratic probing).
        """
        keys, values = self.export()
        count, last = len(self.entries), len(keys) - 1
        # The last slot is always empty.
        placed_keys = np.repeat(keys[-1:], len(keys), axis=0)
        placed_values = np.repeat(values[-1:], len(keys), axis=0)
        taken: set[int] = set()
        for i, start in enumerate(self._hashes(keys[:count])):
            place, step = start & last, 0
            while place in taken:
                step += 1
                place = (place + step) & last
            taken.add(place)
            placed_keys[place], placed_values[place] = keys[i], values[i]
        return placed_keys, placed_values

    def _hashes(self, keys: np.ndarray) -> list[int]:
        if self.key_shape:
            return [0] * len(keys)
        if self.key_dtype is string:
            return hash_functions.hashes(hash_functions.murmur64, keys.ravel()).tolist()
        return keys.ravel().tolist()

    def replace(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Load the slots of a table: keys, and marks of empty or deleted ones."""
        keys = keys.reshape(len(keys), *self.key_shape)
        free = (self._empty, self._deleted)
        taken = np.array([key not in free for key in Table.keys_of(self, keys)], bool)
        kept = values.reshape(len(values), *self.value_shape)[taken]
        super().replace(keys[taken], kept)

    def _ready_index(self, count: int) -> None:
        return None


# The operations.


def _handle_of_table(inputs, attrs):
    return SCALAR


@op(
    "HashTableV2",
    "-> table_handle: resource",
    shape=_handle_of_table,
    stateful=True,
    gradient=None,
)
def HashTableV2(
    *, key_dtype, value_dtype, container="", shared_name="", use_node_name_sharing=False
):
    return Table(key_dtype, value_dtype)


@op(
    "MutableHashTableV2",
    "-> table_handle: resource",
    shape=_handle_of_table,
    stateful=True,
    gradient=None,
)
def MutableHashTableV2(
    *, key_dtype, value_dtype, container="", shared_name="", use_node_name_sharing=False
):
    return Table(key_dtype, value_dtype)


@op(
    "MutableHashTableOfTensorsV2",
    "-> table_handle: resource",
    shape=_handle_of_table,
    stateful=True,
    gradient=None,
)
def MutableHashTableOfTensorsV2(
    *,
    key_dtype,
    value_dtype,
    value_shape,
    container="",
    shared_name="",
    use_node_name_sharing=False,
):
    if value_shape.rank != 1:
        raise ValueError(
            f"Default value must be a vector, got shape {dimensions_text(value_shape)}"
        )
    return Table(key_dtype, value_dtype, tuple(value_shape.as_list()))


@op(
    "MutableDenseHashTableV2",
    "empty_key: key_dtype, deleted_key: key_dtype -> table_handle: resource",
    shape=_handle_of_table,
    stateful=True,
    gradient=None,
)
def MutableDenseHashTableV2(
    empty_key,
    deleted_key,
    *,
    key_dtype,
    value_dtype,
    value_shape=SCALAR,
    initial_num_buckets=131072,
    max_load_factor=0.8,
    container="",
    shared_name="",
    use_node_name_sharing=False,
):
    return DenseTable(
        key_dtype,
        value_dtype,
        tuple(value_shape.as_list()),
        np.asarray(empty_key),
        np.asarray(deleted_key),
        initial_num_buckets,
        max_load_factor,
    )


def _found_shape(inputs, attrs):
    handle, keys, _ = inputs
    table = constant_value(handle)
    if table is None or keys.shape.rank is None:
        return UNKNOWN
    outer = keys.shape.as_list()[: keys.shape.rank - len(table.key_shape)]
    return TensorShape([*outer, *table.value_shape])


def _require_types(table, keys, values=None):
    kinds = [(keys, table.key_dtype)]
    if values is not None:
        kinds.append((values, table.value_dtype))
    for array, dtype in kinds:
        if array.dtype != dtype.numpy:
            raise ValueError(
                f"Signature mismatch: the table has {type_text(table.key_dtype)} keys and "
                f"{type_text(table.value_dtype)} values, got {array.dtype.name}"
            )


@op(
    "LookupTableFindV2",
    "table_handle: resource, keys: Tin, default_value: Tout -> values: Tout",
    shape=_found_shape,
    stateful=True,
    gradient=None,
)
def LookupTableFindV2(table_handle, keys, default_value):
    _require_types(table_handle, keys, default_value)
    return table_handle.find(np.asarray(keys), default_value)


@op(
    "LookupTableInsertV2",
    "table_handle: resource, keys: Tin, values: Tout",
    shape=nothing,
    stateful=True,
    gradient=None,
)
def LookupTableInsertV2(table_handle, keys, values):
    _require_types(table_handle, keys, values)
    table_handle.insert(np.asarray(keys), np.asarray(values))
    return []


@op(
    "LookupTableImportV2",
    "table_handle: resource, keys: Tin, values: Tout",
    shape=nothing,
    stateful=True,
    gradient=None,
)
def LookupTableImportV2(table_handle, keys, values):
    _require_types(table_handle, keys, values)
    table_handle.import_all(np.asarray(keys), np.asarray(values))
    return []


@op(
    "LookupTableRemoveV2",
    "table_handle: resource, keys: Tin",
    shape=nothing,
    stateful=True,
    gradient=None,
)
def LookupTableRemoveV2(table_handle, keys):
    _require_types(table_handle, keys)
    table_handle.remove(np.asarray(keys))
    return []


@op(
    "LookupTableSizeV2",
    "table_handle: resource -> size: int64",
    shape=_handle_of_table,
    stateful=True,
    gradient=None,
)
def LookupTableSizeV2(table_handle):
    return np.int64(table_handle.size())


@op(
    "LookupTableExportV2",
    "table_handle: resource -> keys: Tkeys, values: Tvalues",
    shape=lambda inputs, attrs: [UNKNOWN, UNKNOWN],
    stateful=True,
    gradient=None,
)
def LookupTableExportV2(table_handle, *, Tkeys, Tvalues):
    return table_handle.export()
