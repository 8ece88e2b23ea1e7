"""Lookup tables in SavedModels: functions that create, initialize and destroy them."""

from __future__ import annotations

import secrets
import sys
from typing import Any

import numpy as np

from ..core.convert import constant
from ..core.graph.function import Function
from ..core.op import REGISTRY, execute
from ..core.shapes import TensorShape
from ..train.trackables import attribute_of
from .assets import Asset
from .restored import RestoredResource


def is_table(value: Any) -> bool:
    """Whether a value is a lookup table, of this program or of a loaded SavedModel."""
    if isinstance(value, RestoredResource):
        return True
    module = sys.modules.get("runnel.ops.lookup.static")
    return module is not None and isinstance(value, module.LookupTable) and _has_own(value)


def _has_own(value: Any) -> bool:
    return getattr(value, "_handle", None) is not None or _inner(value) is not value


def _inner(value: Any) -> Any:
    """The table that holds a vocabulary."""
    return getattr(value, "_table", None) or value


def table_of(value: Any) -> Any:
    """The table that operations refer to by its handle."""
    return value.resource_handle._array


def contents_of(table: Any) -> tuple[np.ndarray, np.ndarray]:
    """The keys and values of a table."""
    items = list(table.entries.items())
    keys = table._key_array([key for key, _ in items])
    return keys, table.array_of([value for _, value in items], (len(items),))


class Initializer:
    """The initializer of a table: the file that it reads, if any."""

    def __init__(self, filename: Asset | None) -> None:
        self.filename = filename

    def _checkpoint_children(self) -> dict[str, Any]:
        return {} if self.filename is None else {"_filename": self.filename}


class TableExport:
    """A table to be exported."""

    def __init__(self, owner: Any, table: Any) -> None:
        owner = _inner(owner)
        self.table = table
        # The shared name by which all operations of a program find the table.
        self.shared_name = f"table_{secrets.token_hex(8)}"
        made_by = getattr(owner, "_initializer", None)
        self._attrs: dict[str, Any] = getattr(made_by, "_attrs", {})
        filename = getattr(made_by, "_filename", None)
        self._asset = None
        if filename is not None:
            self._asset = filename if isinstance(filename, Asset) else Asset(filename)
        self._handle = owner.resource_handle
        # Whether the table is mutable, so that its entries are saved in checkpoints.
        self.changes = hasattr(owner, "insert") and attribute_of(owner) is not None

    def parts(self) -> dict[str, Any]:
        """The children of the object: its initializer, and the functions."""
        return {
            "_initializer": Initializer(self._asset),
            "_create_resource": self._traced("_creator", self._create),
            "_initialize": self._traced("_initializer", self._initialize),
            "_destroy_resource": self._traced("_destroyer", lambda: constant(1)),
        }

    def _traced(self, name: str, python_function: Any) -> Function:
        function = Function(python_function, name, input_signature=[], autograph=False)
        function.get_concrete_function()
        return function

    @property
    def creation(self) -> tuple[str, dict[str, Any]]:
        """The op that creates such a table, and its attributes."""
        table = self.table
        attrs = {
            "key_dtype": table.key_dtype,
            "value_dtype": table.value_dtype,
            "shared_name": self.shared_name,
        }
        if hasattr(table, "_empty"):
            attrs["value_shape"] = TensorShape(table.value_shape)
            attrs["initial_num_buckets"] = table._buckets
            attrs["max_load_factor"] = table._load
            return "MutableDenseHashTableV2", attrs
        if table.value_shape:
            attrs["value_shape"] = TensorShape(table.value_shape)
            return "MutableHashTableOfTensorsV2", attrs
        return ("MutableHashTableV2" if self.changes else "HashTableV2"), attrs

    def markers(self) -> list[Any]:
        """The empty and deleted keys of a dense table."""
        if not hasattr(self.table, "_empty"):
            return []
        keys = (self.table._empty, self.table._deleted)
        return [constant(self.table._key_array([key])[0], self.table.key_dtype) for key in keys]

    def _create(self) -> Any:
        kind, attrs = self.creation
        return execute(REGISTRY[kind], self.markers(), attrs)

    def _initialize(self) -> Any:
        if self._asset is not None:
            inputs = (self._handle, self._asset.asset_path)
            execute(REGISTRY["InitializeTableFromTextFileV2"], inputs, self._attrs)
        elif self.table.entries:
            keys, values = contents_of(self.table)
            tensors = constant(keys, self.table.key_dtype), constant(values, self.table.value_dtype)
            execute(REGISTRY["LookupTableImportV2"], (self._handle, *tensors))
        return constant(1)
