"""The main graph of a SavedModel, for sessions: variables, tables, signatures, saver."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core import dtypes
from ..core.shapes import TensorShape
from ..core.variable import Variable
from .assets import Asset
from .attributes import NameAttrList, attr_value
from .export_objects import Constant
from .graph_export import FunctionDef, NodeDef, _clean
from .table_export import TableExport
from .tensors import tensor_proto

_SCALAR = TensorShape([])


def node_def(name: str, op: str, inputs: Sequence[str] = (), **attrs: Any) -> Any:
    """A node with its attributes as messages."""
    node = NodeDef(name=name, op=op)
    node.input.extend(inputs)
    for key, value in attrs.items():
        node.attr[key].CopyFrom(attr_value(value))
    return node


def constant_node(name: str, array: Any, dtype: Any) -> Any:
    """A node for a value."""
    node = node_def(name, "Const", dtype=dtype)
    node.attr["value"].tensor.CopyFrom(tensor_proto(np.asarray(array), dtype))
    return node


class MainGraph:
    """Adds nodes to a GraphDef; each object is represented by one set of nodes."""

    def __init__(self, graph_def: Any) -> None:
        self._graph_def = graph_def
        self._names: set[str] = set()
        self._sources: dict[int, str] = {}
        # Initialization before the signatures work, in this order.
        self._initial: list[str] = []
        # The file of each asset, with the placeholder node of its path.
        self.assets: list[tuple[Asset, str]] = []

    def fresh(self, name: str) -> str:
        """A unique node name."""
        stem = found = _clean(name)
        number = 0
        while found in self._names:
            number += 1
            found = f"{stem}_{number}"
        self._names.add(found)
        return found

    def add(self, name: str, op: str, inputs: Sequence[str] = (), **attrs: Any) -> str:
        """Add a node; returns its name."""
        node = node_def(self.fresh(name), op, inputs, **attrs)
        self._graph_def.node.append(node)
        return str(node.name)

    def call(
        self, function: str, inputs: Sequence[str], types: Sequence[Any], results: Sequence[Any]
    ) -> str:
        """Add a function call; returns its name."""
        return self.add(
            "StatefulPartitionedCall",
            "StatefulPartitionedCall",
            inputs,
            f=NameAttrList(name=function),
            Tin=list(types),
            Tout=list(results),
            config="",
            config_proto="",
            executor_type="",
        )

    def source(self, value: Any) -> str:
        """The node of an object that functions capture."""
        key = value._key if isinstance(value, Variable) else -id(value)
        known = self._sources.get(key)
        if known is None:
            known = self._sources[key] = self._added(value)
        return known

    def _added(self, value: Any) -> str:
        if isinstance(value, Variable):
            return self._variable(value._name.partition(":")[0], value.dtype, value.shape)
        if isinstance(value, Constant):
            name = self.fresh("Const")
            array, dtype = value.tensor._array, value.tensor.dtype
            self._graph_def.node.append(constant_node(name, array, dtype))
            return name
        if isinstance(value, Asset):
            return self._asset(value)
        return self._table(value)

    def _variable(self, name: str, dtype: Any, shape: TensorShape) -> str:
        given = self.fresh(name or "Variable")
        node = node_def(
            given, "VarHandleOp", dtype=dtype, shape=shape, shared_name=given, container="",
            debug_name=f"{given}/", allowed_devices=[],
        )  # fmt: skip
        self._graph_def.node.append(node)
        return given

    def _asset(self, asset: Asset) -> str:
        """The path in a variable, initialized at loading with that of the copied file."""
        string = dtypes.string
        fed = self.add("asset_path_initializer", "Placeholder", dtype=string, shape=_SCALAR)
        variable = self._variable("asset_path", string, _SCALAR)
        assigned = self.add(
            f"{variable}/Assign", "AssignVariableOp", [variable, fed],
            dtype=string, validate_shape=False,
        )  # fmt: skip
        self._initial.append(assigned)
        self.assets.append((asset, fed))
        return self.add(
            "ReadVariableOp", "ReadVariableOp", [variable, f"^{assigned}"], dtype=string
        )

    def _table(self, table: TableExport) -> str:
        op, attrs = table.creation
        markers = [self.source(Constant(each)) for each in table.markers()]
        return self.add("hash_table", op, markers, container="", use_node_name_sharing=False,
                        **attrs)  # fmt: skip

    def happens_first(self, name: str) -> None:
        """Add a node to the initialization."""
        self._initial.append(name)

    def initialization(self) -> str:
        """Add the node that runs the initialization; returns its name."""
        return self.add("init", "NoOp", [f"^{name}" for name in self._initial])


class Saver:
    """The functions that save and restore the variables of a graph in a session."""

    def __init__(self, variables: Sequence[tuple[str, Variable]], objects: bytes) -> None:
        self._variables = list(variables)
        self._objects = objects

    def _definition(self, name: str) -> Any:
        definition = FunctionDef()
        definition.signature.name = name
        definition.signature.is_stateful = True
        prefix = dtypes.string.as_datatype_enum
        definition.signature.input_arg.add(name="file_prefix", type=prefix)
        for i, (_, variable) in enumerate(self._variables):
            added = definition.signature.input_arg.add(
                name=f"variable_{i}", type=dtypes.resource.as_datatype_enum
            )
            added.handle_data.add(dtype=variable.dtype.as_datatype_enum)
        definition.signature.output_arg.add(name="path", type=prefix)
        return definition

    def _names(self, more: Sequence[bytes] = ()) -> list[Any]:
        keys = [*(key.encode() for key, _ in self._variables), *more]
        names = np.array([*keys, None], dtype=object)[:-1]
        return [
            constant_node("names", names, dtypes.string),
            constant_node("slices", np.full(len(keys), b"", object), dtypes.string),
        ]

    def _finished(self, definition: Any, before: Sequence[str]) -> Any:
        path = node_def("path", "Identity", ["file_prefix", *(f"^{name}" for name in before)],
                        T=dtypes.string)  # fmt: skip
        definition.node_def.append(path)
        definition.ret["path"] = "path:output:0"
        for name in before:
            definition.control_ret[name] = name
            definition.signature.control_output.append(name)
        return definition

    def save_function(self, name: str, key: str) -> Any:
        """The function that writes the variables, and the object graph under a key, to a prefix."""
        definition = self._definition(name)
        definition.node_def.extend(self._names([key.encode()]))
        definition.node_def.append(
            constant_node("objects", np.array(self._objects, object), dtypes.string)
        )
        values, types = [], []
        for i, (_, variable) in enumerate(self._variables):
            definition.node_def.append(
                node_def(f"read_{i}", "ReadVariableOp", [f"variable_{i}"], dtype=variable.dtype)
            )
            values.append(f"read_{i}:value:0")
            types.append(variable.dtype)
        inputs = ["file_prefix", "names:output:0", "slices:output:0", *values, "objects:output:0"]
        definition.node_def.append(
            node_def("save", "SaveV2", inputs, dtypes=[*types, dtypes.string])
        )
        return self._finished(definition, ["save"])

    def restore_function(self, name: str) -> Any:
        """The function that assigns the values saved at a prefix to the variables."""
        definition = self._definition(name)
        done: list[str] = []
        if self._variables:
            definition.node_def.extend(self._names())
            inputs = ["file_prefix", "names:output:0", "slices:output:0"]
            types = [variable.dtype for _, variable in self._variables]
            definition.node_def.append(node_def("restore", "RestoreV2", inputs, dtypes=types))
        for i, (_, variable) in enumerate(self._variables):
            done.append(f"assign_{i}")
            inputs = [f"variable_{i}", f"restore:tensors:{i}"]
            definition.node_def.append(
                node_def(done[-1], "AssignVariableOp", inputs, dtype=variable.dtype,
                         validate_shape=False)
            )  # fmt: skip
        return self._finished(definition, done)


def asset_name(path: str, taken: dict[str, str]) -> str:
    """A unique file name among the assets; duplicates are numbered."""
    base = os.path.basename(path)
    name, number = base, 1
    while taken.get(name, path) != path:
        name = f"{base}_{number}"
        number += 1
    taken[name] = path
    return name
