"""The variables of GraphDefs, as graph variables whose values sessions hold."""

from __future__ import annotations

import threading
from typing import Any

from ...core.context import next_key
from ...core.convert import register_converter
from ...core.dtypes import DType, bool as bool_dtype, resource
from ...core.graph.graph import Graph, Operation
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...core.variable import VariableAggregation, VariableSynchronization, _convert_variable
from . import variables


class ImportedVariable(variables.GraphVariable):
    """A variable that nodes read and write; its initializer is one of them, too."""

    def __init__(self, graph: Graph, name: str, dtype: DType, shape: TensorShape) -> None:
        self.graph = graph
        self._key = next_key()
        variables.by_key[self._key] = self
        self._own_lock = threading.RLock()
        self._name = f"{name}:0"
        self.dtype = dtype
        self._shape = shape
        self.trainable = False
        self.constraint = None
        self.synchronization = VariableSynchronization.AUTO
        self.aggregation = VariableAggregation.NONE
        self._initial_value = None
        attrs: dict[str, Any] = {"dtype": resource, "variable": self}
        self._handle_op = variables.add_named(graph, name, variables.HandleOp, (), attrs)
        self._asked: Tensor | None = None

    @property
    def _is_initialized(self) -> Tensor:
        """Whether a session has a value for it; the operation is added when first asked for."""
        if self._asked is None:
            with self.graph.as_default():
                name = f"{self.op.name}/IsInitialized/VarIsInitializedOp"
                name = self.graph.unique_name(name)
                self._asked = whether_initialized(self.graph, name, self.handle).outputs[0]
        return self._asked


register_converter(ImportedVariable, _convert_variable)


def whether_initialized(graph: Graph, name: str, handle: Tensor) -> Operation:
    """The operation that checks whether a session has a value for a variable."""
    kind: Any = variables._VarIsInitializedOp
    asked: Operation = variables.add_named(graph, name, kind, (handle,), {"dtype": bool_dtype})
    return asked
