"""Graph: operations under construction, in program order; Operation: one of them.

A `FuncGraph` is the graph of a function: it has inputs and outputs, and captures the tensors of
enclosing graphs that its operations use.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes, hooks
from ..context import state
from ..dtypes import DType
from ..errors import InvalidArgumentError
from ..op import REGISTRY, Op, op
from ..shapes import TensorShape
from ..tensor import OutOfScopeError, SymbolicTensor, Tensor
from .access import GraphAccess, operation_from
from .default_names import DEFAULT_NAMES
from .reachability import needed_of

_PACKAGE = os.path.join(str(Path(__file__).resolve().parents[2]), "")
_KINDS: dict[str, str] = {}


@op("Placeholder", "-> output: dtype", shape=lambda inputs, attrs: attrs["shape"], gradient=None)
def Placeholder(*, dtype: DType, shape: TensorShape) -> Any:
    raise ValueError("A placeholder has no value of its own: it must be fed.")


class Location(NamedTuple):
    """The user's source line that created an operation."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        import linecache

        text = linecache.getline(self.file, self.line).strip()
        place = f'File "{self.file}", line {self.line}, in {self.function}'
        return f"{place}\n    {text}" if text else place


def _kind_of(file: str) -> str:
    """The origin of a frame: the user's code, Runnel's, or AutoGraph's, which calls the user's."""
    known = _KINDS.get(file)
    if known is None:
        known = "ours" if file.startswith(_PACKAGE) else "user"
        if file.startswith(_PACKAGE + "autograph"):
            known = "autograph"
        _KINDS[file] = known
    return known


def _calling_frames() -> tuple[FrameType | None, FrameType | None]:
    """The innermost frame of the user's code, and the Runnel frame that it called."""
    ours: FrameType | None = None
    called = False
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (kind := _kind_of(frame.f_code.co_filename)) != "user":
        called = called or kind == "autograph"
        if not called:
            ours = frame
        frame = frame.f_back
    return frame, ours


class Operation:
    """An op with its inputs, attributes and outputs in a graph.

    Gradient rules use it through the same interface as a tape's `Record`.
    """

    __slots__ = ("control_inputs", "device", "given", "graph", "inputs", "location", "name", "op",
                 "outputs")  # fmt: skip

    def __init__(
        self, graph: Graph, op: Op, name: str, inputs: Sequence[Tensor], attrs: dict[str, Any]
    ) -> None:
        self.graph = graph
        self.op = op
        self.name = name
        self.inputs = tuple(inputs)
        self.given = attrs
        self.outputs: list[SymbolicTensor] = []
        self.location: Location | None = None
        self.control_inputs: list[Operation] = []
        self.device = state.device or ""

    @property
    def type(self) -> str:
        return self.op.name

    @property
    def attrs(self) -> dict[str, Any]:
        return {**self.op.defaults, **self.given}

    def get_attr(self, name: str) -> Any:
        """The value of an attribute; ValueError if there is none of this name."""
        try:
            return self.attrs[name]
        except KeyError:
            pass
        # The dtypes and the number of inputs are attributes, too, but implicit.
        attr = self.node_def.attr
        if name not in attr:
            raise ValueError(f"Operation '{self.name}' has no attr named '{name}'.")
        return hooks.attribute_value(attr[name])

    def values(self) -> tuple[SymbolicTensor, ...]:
        """The outputs."""
        return tuple(self.outputs)

    def run(self, feed_dict: Any = None, session: Any = None) -> None:
        """Run the operation in a session, by default the default one."""
        hooks.session_for(session, self.graph, "run()").run(self, feed_dict)

    @property
    def node_def(self) -> Any:
        """The operation as a NodeDef message."""
        return hooks.node_def(self)

    @property
    def op_def(self) -> Any:
        """The op as an OpDef message."""
        return hooks.op_def(self.op)

    @classmethod
    def from_node_def(
        cls,
        node_def: Any,
        g: Graph,
        inputs: Sequence[Tensor] | None = None,
        output_types: Sequence[Any] | None = None,
        control_inputs: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        original_op: Any = None,
        op_def: Any = None,
    ) -> Operation:
        """Add the operation of a NodeDef to a graph; its types are inferred from the op."""
        if not isinstance(g, Graph):
            raise TypeError(f"Argument g must be a Graph. Received an instance of type {type(g)}")
        return operation_from(node_def, g, inputs or (), control_inputs or ())

    def colocation_groups(self) -> list[bytes]:
        """The colocation groups as "loc:@name"; the operation itself if there are none."""
        return self.graph.colocation_groups(self)

    @property
    def traceback(self) -> list[tuple[str, int, str, str]]:
        if self.location is None:
            return []
        import linecache

        file, line, function = self.location
        return [(file, line, function, linecache.getline(file, line).strip())]

    def __repr__(self) -> str:
        return f"<tf.Operation '{self.name}' type={self.type}>"


class Graph(GraphAccess):
    """Operations in program order, which is their execution order.

    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     total = tf.constant(1.0) + 2.0
    >>> [operation.type for operation in graph.get_operations()]
    ['Const', 'Const', 'AddV2']
    """

    # Whether operations on this graph's tensors may be added while it is not the current graph.
    open = False
    tensor_type: type[SymbolicTensor] = SymbolicTensor
    building_function = False

    @property
    def keeps_effects(self) -> bool:
        """Whether operations with side effects run even if no result depends on them."""
        return self.building_function

    # Whether random operations use the graph's seed instead of the program's.
    has_own_seed = False

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._names: dict[str, int] = {}
        self._by_name: dict[str, Operation] = {}
        self._collections: dict[Any, list[Any]] = {}
        self._finalized = False
        self._named: tuple[FrameType, Operation] | None = None
        self._scoped: tuple[FrameType, str] | None = None
        # The next unused suffix of a name.
        self.reserved: tuple[Op, str] | None = None
        self._controls: tuple[Operation, ...] = ()

    # Names.

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """`name`, or `name_1`, `name_2`, ... where it is taken, be it in other letter case."""
        key = name.lower()
        count = self._names.get(key, 0)
        if mark_as_used:
            self._names[key] = count + 1
        return self.unique_name(f"{name}_{count}", mark_as_used) if count else name

    def _name_of(self, operation: Operation, ours: FrameType | None) -> str:
        """The name given in the call, or the op's; both in the current name scope.

        A call that adds several operations gives its name to the last of them.
        """
        if self.reserved is not None and self.reserved[0] is operation.op:
            return self.reserved[1]
        given = None
        is_read = operation.op.name == "ReadVariableOp"
        if ours is not None and not is_read and ours.f_code.co_name != "__init__":
            # Read once: each access to a frame's variables makes a dictionary.
            values = ours.f_locals
            given = values.get("name") or DEFAULT_NAMES.get(ours.f_code.co_name)
        if not isinstance(given, str) or ours is None:
            return self.unique_name(state.name_scope + operation.op.name)
        if given.endswith("/") and values.get("name", "") is None:
            return self.unique_name(f"{self._scope_of(ours, given[:-1])}/{operation.op.name}")
        if self._named is not None and self._named[0] is ours:
            earlier = self._named[1]
            name = earlier.name
            self._by_name.pop(name, None)
            earlier.name = self.unique_name(f"{name}/{earlier.op.name}")
            self._by_name[earlier.name] = earlier
        else:
            name = self.unique_name(state.name_scope + given.rstrip("/"))
        self._named = ours, operation
        return name

    def _scope_of(self, frame: FrameType, name: str) -> str:
        """The scope of all operations of a call, created with the first one."""
        if self._scoped is None or self._scoped[0] is not frame:
            self._scoped = frame, self.unique_name(state.name_scope + name)
        return self._scoped[1]

    def name_scope(self, name: str | None) -> Any:
        """A context manager that prefixes the names of operations."""
        from ..context import name_scope

        return name_scope(name or "")

    # Building.

    def add(self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        """Append an operation; returns its output, a list of outputs, or itself if it has none."""
        if self._finalized:
            raise RuntimeError("Graph is finalized and cannot be modified.")
        if self._gradients:
            op = self.with_gradient(op)
        try:
            types = op.types_of_results(inputs, attrs)
        except InvalidArgumentError as mismatch:
            # As in the original, a statically invalid operation is a TypeError or ValueError.
            raise TypeError(mismatch.message) from None
        shapes = op.infer_shapes(inputs, attrs)
        operation = self._append(op, inputs, attrs, [types] if op.single else types, shapes)
        for tape in state.tapes:
            tape.record(op, operation.inputs, operation.outputs, attrs)
        if op.single:
            return operation.outputs[0]
        return list(operation.outputs) or operation

    def _append(
        self,
        op: Op,
        inputs: Sequence[Tensor],
        attrs: dict[str, Any],
        types: Sequence[DType],
        shapes: Sequence[TensorShape],
        name: str | None = None,
    ) -> Operation:
        operation = Operation(self, op, "", inputs, attrs)
        operation.control_inputs = list(self._controls)
        theirs, ours = _calling_frames()
        operation.name = self._name_of(operation, ours) if name is None else name
        self._by_name[operation.name] = operation
        if theirs is not None:
            code = theirs.f_code
            operation.location = Location(code.co_filename, theirs.f_lineno, code.co_name)
        operation.outputs = [
            self.tensor_type(operation, index, dtype, shape)
            for index, (dtype, shape) in enumerate(zip(types, shapes, strict=True))
        ]
        self.operations.append(operation)
        if self._beside or self._container:
            self.note_place(operation)
        return operation

    def placeholder(
        self, dtype: DType, shape: TensorShape, name: str | None = None
    ) -> SymbolicTensor:
        """A value to be fed when the graph runs."""
        with self.as_default():
            fed: SymbolicTensor = self.add(Placeholder, (), {"dtype": dtype, "shape": shape})
        return fed

    @contextmanager
    def as_default(self) -> Iterator[Graph]:
        """Add the operations of a block to this graph."""
        outer, scope, state.graph = state.graph, state.name_scope, self
        if outer is not self:
            state.name_scope = ""
        try:
            yield self
        finally:
            # After an interrupt a block may exit late, when others have been restored already.
            if state.graph is self:
                state.graph, state.name_scope = outer, scope
            if outer is not self:
                self._named = self._scoped = None

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[None]:
        """Make the operations of a block run after these; None clears the control dependencies."""
        outer = self._controls
        self._controls = () if control_inputs is None else (*outer, *_operations(control_inputs))
        try:
            yield
        finally:
            self._controls = outer

    def device(self, device_name_or_function: Any) -> Any:
        """A context manager for the device of operations."""
        from ..devices import device

        return device(device_name_or_function)

    @property
    def version(self) -> int:
        """The number of operations."""
        return len(self.operations)

    @property
    def finalized(self) -> bool:
        return self._finalized

    def finalize(self) -> None:
        """Refuse further operations."""
        self._finalized = True

    # Lookup.

    def get_operations(self) -> list[Operation]:
        """All operations, in program order."""
        return list(self.operations)

    def get_operation_by_name(self, name: str) -> Operation:
        """The operation of this name; KeyError where there is none."""
        try:
            return self._by_name[name]
        except KeyError:
            raise KeyError(f"The name {name!r} refers to an Operation not in the graph.") from None

    def get_tensor_by_name(self, name: str) -> SymbolicTensor:
        """The tensor with the name "operation:index"."""
        owner, colon, index = name.rpartition(":")
        if not colon or not index.isdigit():
            raise ValueError(
                f"The name {name!r} looks like an (invalid) Operation name, not a Tensor. Tensor "
                'names must be of the form "<op_name>:<output_index>".'
            )
        operation = self._by_name.get(owner)
        if operation is None or int(index) >= len(operation.outputs):
            raise KeyError(
                f"The name {name!r} refers to a Tensor which does not exist. The operation, "
                f"{owner!r}, {'has fewer outputs' if operation else 'does not exist in the graph'}."
            )
        return operation.outputs[int(index)]

    def as_graph_def(
        self,
        from_version: int | None = None,
        add_shapes: bool = False,
        use_pybind11_proto: bool = False,
    ) -> Any:
        """The graph as a GraphDef message; with a version, only the operations added since.

        `add_shapes` includes the static shapes of outputs. There is only one implementation of
        messages, whatever `use_pybind11_proto` is.
        """
        return hooks.graph_def(self, from_version, add_shapes)

    def as_graph_element(
        self, obj: Any, allow_tensor: bool = True, allow_operation: bool = True
    ) -> Any:
        """The tensor or operation that a name or object refers to."""
        if isinstance(obj, str):
            return self.get_tensor_by_name(obj) if ":" in obj else self.get_operation_by_name(obj)
        if isinstance(obj, (SymbolicTensor, Operation)):
            if obj.graph is not self:
                raise ValueError(f"{obj!r} is not an element of this graph.")
            return obj
        raise TypeError(f"Can not convert a {type(obj).__name__} into a Tensor or Operation.")

    # Collections.

    def add_to_collection(self, name: Any, value: Any) -> None:
        """Add a value to the collection of this name."""
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names: Any, value: Any) -> None:
        """Add a value to several collections."""
        for name in [names] if isinstance(names, str) else names:
            self.add_to_collection(name, value)

    def get_collection(self, name: Any, scope: str | None = None) -> list[Any]:
        """The values of a collection; with a scope, those whose name begins with it."""
        import re

        values = list(self._collections.get(name, ()))
        if scope is None:
            return values
        return [v for v in values if hasattr(v, "name") and re.match(scope, v.name)]

    def get_collection_ref(self, name: Any) -> list[Any]:
        """The list that holds a collection, not a copy."""
        return self._collections.setdefault(name, [])

    def get_all_collection_keys(self) -> list[Any]:
        """The names of all non-empty collections."""
        return [name for name, values in self._collections.items() if values]

    @property
    def collections(self) -> list[Any]:
        return self.get_all_collection_keys()

    def clear_collection(self, name: Any) -> None:
        """Clear a collection."""
        self._collections.pop(name, None)

    # Running.

    def compute(
        self,
        fetches: Sequence[Tensor],
        feeds: dict[Tensor, Any] | Sequence[tuple[Tensor, Any]],
        needed_only: bool = False,
    ) -> list[Any]:
        """Run all operations, or those needed, on the arrays fed; returns the arrays of the
        fetches.
        """
        pairs = list(feeds.items() if isinstance(feeds, dict) else feeds)
        operations = [each for each in self.operations if each.op is not Placeholder]
        if needed_only:
            operations = needed_of(operations, [tensor for tensor, _ in pairs], fetches, False)
        plan = hooks.plan(self, [tensor for tensor, _ in pairs], fetches, operations=operations)
        return list(plan.run(*[array for _, array in pairs]))


def _operations(values: Sequence[Any]) -> Iterator[Operation]:
    """The operations that compute these values."""
    for value in values:
        operation = value if isinstance(value, Operation) else getattr(value, "op", None)
        if isinstance(operation, Operation):
            yield operation


class FuncGraph(Graph):
    """The graph of a function's body.

    Tensors of enclosing graphs and eager tensors that its operations use become additional inputs
    (`captures`), through which gradients reach them.
    """

    building_function = True

    def __init__(self, name: str, outer: Graph | None = None) -> None:
        super().__init__()
        self.name = name
        self.outer_graph = state.graph if outer is None else outer
        self.inputs: list[SymbolicTensor] = []
        self.outputs: list[Tensor] = []
        self.captured: dict[int, tuple[Tensor, SymbolicTensor]] = {}
        self.variables: dict[int, Any] = {}
        # Control dependencies on operations of enclosing graphs.
        self.outer_controls: list[Operation] = []
        self._constants: dict[int, tuple[Tensor, Tensor]] = {}
        # Variables created while a function is traced for the first time; None if that is not
        # allowed.
        self.new_variables: list[Any] | None = []
        # The arrays of the call that caused the trace.
        self.example: list[Any] | None = None
        # Whether the function, and its gradient, are to be compiled as a whole.
        self.jit_compile: bool = getattr(self.outer_graph, "jit_compile", False)

    @property
    def captures(self) -> list[tuple[Tensor, SymbolicTensor]]:
        """Pairs of an outer tensor and the input that captures it."""
        return list(self.captured.values())

    @property
    def external_captures(self) -> list[Tensor]:
        return [outside for outside, _ in self.captured.values()]

    @property
    def internal_captures(self) -> list[SymbolicTensor]:
        return [inside for _, inside in self.captured.values()]

    def add_input(
        self, dtype: DType, shape: TensorShape, name: str | None = None
    ) -> SymbolicTensor:
        """Add an argument to the function."""
        name = self.unique_name(name or "args")
        attrs = {"dtype": dtype, "shape": shape}
        operation = self._append(Placeholder, (), attrs, [dtype], [shape])
        del self._by_name[operation.name]
        operation.name = name
        self._by_name[name] = operation
        self.inputs.append(operation.outputs[0])
        return operation.outputs[0]

    def add(self, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]) -> Any:
        return super().add(op, [self.own(tensor) for tensor in inputs], attrs)

    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Any:
        """Make the operations of a block run after these; outer ones run before the whole graph."""
        if control_inputs is not None:
            operations = list(_operations(control_inputs))
            control_inputs = [each for each in operations if each.graph is self]
            self.come_after([each for each in operations if each.graph is not self])
        return super().control_dependencies(control_inputs)

    def come_after(self, operations: Sequence[Operation]) -> None:
        """Record control dependencies of the graph on operations of enclosing graphs."""
        self.outer_controls += operations
        if isinstance(self.outer_graph, FuncGraph):
            outer = self.outer_graph
            outer.come_after([each for each in operations if each.graph is not outer])

    def own(self, tensor: Tensor) -> Tensor:
        """The tensor of this graph for any tensor."""
        if isinstance(tensor, SymbolicTensor):
            if tensor.op.graph is self:
                return tensor
            if not self._encloses(tensor.op.graph):
                raise OutOfScopeError(tensor)
            # A constant watched by a tape has a key, and its gradient flows through a capture. One
            # with control dependencies, as after an update, is captured to preserve these.
            if tensor.op.type == "Const" and not (tensor._key or tensor.op.control_inputs):
                with self.as_default():
                    constant: Tensor = Graph.add(self, tensor.op.op, (), tensor.op.given)
                return constant
        elif tensor.dtype is dtypes.resource:
            variable = tensor._array
            if hasattr(variable, "trainable"):
                self.variables[variable._key] = variable
            return tensor
        elif not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            # It is immutable and has no gradient: its value is embedded as a constant.
            return self._constant(tensor)
        return self.capture(tensor)

    def _constant(self, tensor: Tensor) -> Tensor:
        known = self._constants.get(id(tensor))
        if known is None:
            attrs = {"value": np.asarray(tensor._array), "dtype": tensor.dtype}
            with self.as_default():
                made: Tensor = Graph.add(self, REGISTRY["Const"], (), attrs)
            known = self._constants[id(tensor)] = tensor, made
        return known[1]

    def _encloses(self, graph: Graph) -> bool:
        outer = self.outer_graph
        while outer is not None:
            if outer is graph:
                return True
            outer = getattr(outer, "outer_graph", None)
        return False

    def capture(self, tensor: Tensor) -> SymbolicTensor:
        """The input that captures an outer tensor."""
        known = self.captured.get(id(tensor))
        if known is None:
            attrs = {"dtype": tensor.dtype, "shape": tensor.shape}
            operation = self._append(Placeholder, (), attrs, [tensor.dtype], [tensor.shape])
            known = self.captured[id(tensor)] = tensor, operation.outputs[0]
        return known[1]

    def function_graph(self) -> FuncGraph:
        """The function graph that contains this branch or loop body."""
        return self

    @contextmanager
    def building(self) -> Iterator[FuncGraph]:
        """Add the operations of a block to this graph, hidden from outer tapes."""
        tapes, state.tapes = state.tapes, ()
        try:
            with self.as_default():
                yield self
        finally:
            state.tapes = tapes


def replay(
    operations: Sequence[Operation], values: dict[int, Tensor], read: Callable[[Any], Tensor]
) -> None:
    """Re-execute a graph's operations in the current context; `values` maps its tensors.

    `read(variable)` reads a variable.
    """
    from ..op import execute

    graph = state.graph
    streams: dict[Any, Any] = {}
    for operation in operations:
        if operation.type == "Placeholder":
            continue
        if operation.type == "ReadVariableOp":
            values[id(operation.outputs[0])] = read(operation.inputs[0]._array)
            continue
        inputs = [values.get(id(tensor), tensor) for tensor in operation.inputs]
        attrs = operation.given
        if "_stream" in attrs:
            # Random numbers follow from the seeds anew at each place of a call.
            stream = attrs["_stream"]
            if stream not in streams:
                streams[stream] = stream.again()
            attrs = {**attrs, "_stream": streams[stream]}
        if graph is not None:
            name = graph.unique_name(state.name_scope + operation.name)
            graph.reserved = operation.op, name
        result = execute(operation.op, inputs, attrs)
        if not operation.outputs:
            continue
        for old, new in zip(
            operation.outputs, [result] if operation.op.single else result, strict=True
        ):
            values[id(old)] = new
    if graph is not None:
        graph.reserved = None
