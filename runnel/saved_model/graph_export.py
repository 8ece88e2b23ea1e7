"""Graphs as GraphDefs: one node per operation, with TensorFlow's op names and attributes.

The branches of conditions and the bodies of loops become functions in the GraphDef's library. A
captured variable is a placeholder for its handle. Side effects are ordered, as in the program, by
control inputs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto import function_pb2, graph_pb2, node_def_pb2

from ..core import dtypes
from ..core.graph.branch import Branch
from ..core.graph.graph import FuncGraph, Graph, Operation
from ..core.graph.reachability import has_effects, needed_operations
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..release import GRAPH_DEF_VERSION
from .attributes import (
    OURS_ALONE,
    WITHDRAWN,
    NameAttrList,
    attr_value,
    attributes_of,
    output_lengths,
)
from .composed import COMPOSED, composition
from .custom_gradients import ATTRIBUTE, has_own_gradient, traced_gradient
from .tensors import shape_proto

GraphDef = graph_pb2.GraphDef
NodeDef = node_def_pb2.NodeDef
FunctionDef = function_pb2.FunctionDef

# The oldest consumer version that supports functions with control outputs.
_MIN_CONSUMER = 12
_BRANCHING = {"If": ["then_branch", "else_branch"], "While": ["cond", "body"]}
_OUTSIDE = "outside"
# The original's loops begin with an iteration counter and its maximum: their gradients depend on
# that.
_COUNTERS = tuple(Tensor(np.int32(value), dtypes.int32) for value in (0, -1))
_ONE_MORE = Tensor(np.int32(1), dtypes.int32)
# The original's mark on its own conditions and loops: their functions are inlined.
_LOWERED = {"_lower_using_switch_merge": True}


def as_graph_def(
    graph: Graph, from_version: int | None = None, add_shapes: bool = False, strict: bool = True
) -> Any:
    """The GraphDef of a graph; ValueError if TensorFlow has no equivalent of an operation.

    Without `strict` such operations become nodes like the others, for inspection.
    """
    library = Library(strict)
    nodes = _GraphNodes(library, graph, add_shapes)
    for operation in graph.operations[from_version or 0 :]:
        nodes.write(operation)
    library.require_complete()
    graph_def = GraphDef(node=nodes.nodes)
    graph_def.versions.CopyFrom(graph_def_versions())
    if library.functions:
        graph_def.library.function.extend(library.functions)
        graph_def.versions.min_consumer = _MIN_CONSUMER
    return graph_def


def graph_def_versions() -> Any:
    """The version of GraphDef messages."""
    return GraphDef(versions={"producer": GRAPH_DEF_VERSION}).versions


def node_def(operation: Operation) -> Any:
    """The NodeDef of one operation."""
    library = Library(strict=operation.type not in COMPOSED)
    nodes = _GraphNodes(library, operation.graph, False)
    nodes.write(operation)
    library.require_complete()
    return nodes.nodes[-1]


class Library:
    """The function library of a GraphDef, and the operations that could not be exported."""

    def __init__(self, strict: bool = True) -> None:
        self.strict = strict
        self.functions: list[Any] = []
        self._names: set[str] = set()
        self._missing: dict[str, str] = {}
        # Operations with custom gradients, by the gradient name in their nodes, with the gradient
        # graphs and the specs of their results.
        self.gradients: dict[str, tuple[Operation, FuncGraph, list[Any]]] = {}

    def refuse(self, operation: Operation, reason: str) -> None:
        """Record an operation that TensorFlow has no equivalent of."""
        self._missing.setdefault(reason, operation.name)

    def require_complete(self) -> None:
        """Raise ValueError if any operation could not be exported."""
        if self._missing:
            listed = ", ".join(f"{why} ('{name}')" for why, name in self._missing.items())
            raise ValueError(
                f"This graph has no GraphDef, as TensorFlow lacks operations of it: {listed}. "
                "Such operations are mostly parts of gradients: export the function without them."
            )

    def name_for(self, graph_name: str) -> str:
        """A unique function name."""
        stem = re.sub(r"\W", "_", graph_name).strip("_") or "function"
        name, number = stem, len(self._names)
        while name in self._names:
            name, number = f"{stem}_{number}", number + 1
        self._names.add(name)
        return name

    def add(
        self,
        branch: Branch,
        inputs: Sequence[tuple[Tensor | None, Tensor]],
        resources: Sequence[Tensor],
        passed_on: int | None = None,
        name: str | None = None,
        named: bool = False,
        counted: bool = False,
    ) -> Any:
        """Add a branch as a function of its feeds other than captures, followed by resources.

        With `passed_on`, its inputs from that index on are additional outputs. `named` arguments
        have the names of their feeds. A `counted` one takes the loop counters before all others,
        and one with additional outputs increments them.
        """
        nodes = FunctionNodes(self, name or self.name_for(branch.graph.name))
        nodes.names_gradients = named
        if counted:
            for counter in ("loop_counter", "maximum_iterations"):
                nodes.argument(dtypes.int32, None, TensorShape([]), counter)
        for feed, outside in inputs:
            given = feed.op.name if named and isinstance(feed, SymbolicTensor) else None
            nodes.argument(outside.dtype, feed, outside.shape, given)
        for handle in resources:
            nodes.argument(dtypes.resource, handle, TensorShape([]))
            nodes.tell_of_variable(handle)
        feeds = [feed for feed, _ in inputs if feed is not None]
        operations = needed_operations(branch.graph, feeds, branch.outputs)
        nodes.reserve(operations)
        nodes.keep(operations, branch.outputs)
        for operation in operations:
            if operation.type != "Placeholder":
                nodes.write(operation)
        if counted and passed_on is not None:
            nodes.count()
        for output in branch.outputs:
            nodes.result(output.dtype, nodes.reference(output))
        if passed_on is not None:
            for argument in nodes.arguments[passed_on + counted * len(_COUNTERS) :]:
                nodes.result(argument.type, argument.name)
        self.functions.append(nodes.finished())
        return NameAttrList(name=nodes.definition.signature.name)

    def add_function(
        self, graph: FuncGraph, feeds: Sequence[Tensor], name: str | None = None
    ) -> tuple[str, list[Tensor]]:
        """Add a function graph: its name here, and the handles that follow its arguments.

        Without a name it is named after its graph.
        """
        branch = Branch(graph, feeds, graph.outputs)
        handles = _resources([branch])
        given = name or self.name_for(graph.name)
        self._names.add(given)
        self.add(branch, [(feed, feed) for feed in feeds], handles, name=given, named=True)
        return given, handles


class _Nodes:
    """Writes operations as nodes that refer to each other."""

    # Whether loops have iteration counters; the outputs of their nodes then begin with these.
    counts_rounds = False
    # Whether nodes refer to custom gradients.
    names_gradients = False

    def __init__(self, library: Library, ordered: bool, add_shapes: bool) -> None:
        self.library = library
        self.nodes: list[Any] = []
        self.sources: dict[int, str] = {}
        self._compositions: list[FuncGraph] = []
        self._names: set[str] = set()
        self._writing = ""
        self._add_shapes = add_shapes
        # The number of outputs of conditions that are used, if not all are.
        self._kept: dict[int, int] = {}
        self.order = _Order() if ordered else None

    def reference(self, tensor: Tensor) -> str:
        """The reference to a tensor in the inputs of a node."""
        known = self.sources.get(_identity(tensor))
        if known is not None:
            return known
        if isinstance(tensor, SymbolicTensor):
            kept = tensor.op.type == "While" and tensor.index >= tensor.op.given["carried"]
            if kept and self.library.strict:
                self.library.refuse(tensor.op, "While that keeps values for a gradient")
            return self.output(tensor)
        made = self.resource(tensor) if tensor.dtype is dtypes.resource else self.constant(tensor)
        self.sources[_identity(tensor)] = made
        return made

    def output(self, tensor: SymbolicTensor) -> str:
        """The reference to an output of an operation."""
        raise NotImplementedError

    def resource(self, tensor: Tensor) -> str:
        """The reference to a variable, table or other resource."""
        raise NotImplementedError

    def constant(self, tensor: Tensor) -> str:
        """The reference to a node for an eager tensor."""
        node = NodeDef(name=self.fresh("Const"), op="Const")
        self._put(node, {"value": np.asarray(tensor._array), "dtype": tensor.dtype})
        self.nodes.append(node)
        return node.name

    def reserve(self, operations: Sequence[Operation]) -> None:
        """Reserve the names of these operations."""
        self._names.update(_clean(operation.name) for operation in operations)

    def keep(self, operations: Sequence[Operation], outputs: Sequence[Tensor]) -> None:
        """Omit the outputs of conditions that were added for gradients and are unused here."""
        for operation in operations:
            if operation.type in ("If", "Case"):
                self._kept[id(operation)] = 0
        for tensor in (*outputs, *(each for o in operations for each in o.inputs)):
            if isinstance(tensor, SymbolicTensor) and id(tensor.op) in self._kept:
                self._kept[id(tensor.op)] = max(self._kept[id(tensor.op)], tensor.index + 1)

    def fresh(self, name: str) -> str:
        """A unique node name."""
        found, number = name, 0
        while found in self._names:
            number += 1
            found = f"{name}_{number}"
        self._names.add(found)
        return found

    def write(self, operation: Operation) -> None:
        """Add the node of an operation, after those of its inputs."""
        if operation.type in COMPOSED and self.library.strict:
            self._write_composition(operation)
            return
        foreign = operation.type in OURS_ALONE | WITHDRAWN or operation.type.startswith("_")
        if foreign and self.library.strict:
            self.library.refuse(operation, operation.type)
            return
        inputs: Sequence[Tensor] = operation.inputs
        resources: Sequence[Tensor] = ()
        attrs: dict[str, Any]
        if operation.type in ("If", "Case"):
            inputs, resources, attrs = self._condition(operation)
        elif operation.type == "While":
            if _is_plain(operation):
                inputs, resources, attrs = self._loop(operation)
            elif self.library.strict:
                self.library.refuse(operation, "While that keeps values for a gradient")
                return
            else:
                attrs = {"T": [tensor.dtype for tensor in inputs]}
        elif operation.type == "VarHandleOp":
            attrs = _handle_attributes(operation)
        else:
            attrs = attributes_of(operation.op, inputs, operation.outputs, operation.given)
            if attrs.get("container") == "":
                attrs["container"] = operation.graph.container_of(operation)
        self._writing = _clean(operation.name)
        node = NodeDef(name=self._writing, op=operation.type, device=operation.device)
        node.input.extend(self.reference(tensor) for tensor in (*inputs, *resources))
        if operation.graph.is_colocated(operation):
            attrs = {**attrs, "_class": operation.colocation_groups()}
        self._put(node, attrs)
        if self.names_gradients and has_own_gradient(operation):
            traced = traced_gradient(operation)
            if traced is not None:
                name = f"CustomGradient-{len(self.library.gradients)}"
                self.library.gradients[name] = operation, *traced
                self._put(node, {ATTRIBUTE: name})
        if self._add_shapes and operation.outputs:
            node.attr["_output_shapes"].CopyFrom(attr_value([t.shape for t in operation.outputs]))
        before = dict.fromkeys(_clean(each.name) for each in operation.control_inputs)
        if self.order is not None:
            before.update(dict.fromkeys(self.order.before(operation, node.name)))
        node.input.extend(f"^{name}" for name in before)
        self.nodes.append(node)

    def _write_composition(self, operation: Operation) -> None:
        """Add nodes that are together equivalent to an operation."""
        graph, feeds, results = composition(operation)
        # References are keyed by the id of tensors, which must not be reused.
        self._compositions.append(graph)
        for feed, tensor in zip(feeds, operation.inputs, strict=True):
            # An input that only the operation itself inspects may have no reference.
            if any(feed is each for part in graph.operations for each in part.inputs):
                self.sources[_identity(feed)] = self.reference(tensor)
        for part in needed_operations(graph, feeds, [each for each in results if each is not None]):
            self.write(part)
        for output, result in zip(operation.outputs, results, strict=True):
            if result is not None:
                self.sources[_identity(output)] = self.reference(result)

    def _put(self, node: Any, attrs: dict[str, Any]) -> None:
        for name in sorted(attrs):
            node.attr[name].CopyFrom(attr_value(attrs[name]))

    def _condition(self, operation: Operation) -> tuple[Any, Any, dict[str, Any]]:
        given = operation.given
        kept = self._kept.get(id(operation), len(given["Tout"]))
        branches = [Branch(b.graph, b.feeds, b.outputs[:kept]) for b in _branches(operation)]
        rest = operation.inputs[1:]
        used = [i for i in range(len(rest)) if any(b.feeds[i] is not None for b in branches)]
        resources = _resources(branches)
        functions = [
            self.library.add(branch, [(branch.feeds[i], rest[i]) for i in used], resources)
            for branch in branches
        ]
        attrs: dict[str, Any] = {
            **_LOWERED,
            "Tin": [*(rest[i].dtype for i in used), *(handle.dtype for handle in resources)],
            "Tout": list(given["Tout"])[:kept],
            "output_shapes": list(given["output_shapes"])[:kept],
        }
        if operation.type == "Case":
            attrs["branches"] = functions
        else:
            attrs["Tcond"] = operation.inputs[0].dtype
            attrs["then_branch"], attrs["else_branch"] = functions
        return [operation.inputs[0], *(rest[i] for i in used)], resources, attrs

    def _loop(self, operation: Operation) -> tuple[Any, Any, dict[str, Any]]:
        given, inputs = operation.given, operation.inputs
        cond, body = _branches(operation)
        carried = given["carried"]
        body = Branch(body.graph, body.feeds, body.outputs[:carried])
        fixed = [
            i
            for i in range(carried, len(inputs))
            if cond.feeds[i] is not None or body.feeds[i] is not None
        ]
        used = [*range(carried), *fixed]
        resources = _resources([cond, body])
        counters = _COUNTERS if self.counts_rounds else ()
        taken = [*counters, *(inputs[i] for i in used)]
        counted = bool(counters)
        attrs = {
            **_LOWERED,
            "cond": self.library.add(
                cond, [(cond.feeds[i], inputs[i]) for i in used], resources, counted=counted
            ),
            "body": self.library.add(
                body,
                [(body.feeds[i], inputs[i]) for i in used],
                resources,
                carried,
                counted=counted,
            ),
            "T": [*(each.dtype for each in taken), *(handle.dtype for handle in resources)],
            "output_shapes": [
                *(TensorShape([]) for _ in counters),
                *given["output_shapes"][:carried],
                *(inputs[i].shape for i in fixed),
                *(TensorShape([]) for _ in resources),
            ],
            "parallel_iterations": 10,
        }
        return taken, resources, attrs


class _GraphNodes(_Nodes):
    """The nodes of a graph: an input is "node", "node:1" or "^node"."""

    def __init__(self, library: Library, graph: Graph, add_shapes: bool) -> None:
        super().__init__(library, graph.building_function, add_shapes)
        self._graph = graph
        self.reserve(graph.operations)

    def output(self, tensor: SymbolicTensor) -> str:
        name = _clean(tensor.op.name)
        return f"{name}:{tensor.index}" if tensor.index else name

    def resource(self, tensor: Tensor) -> str:
        owner = getattr(tensor._array, "_handle_op", None)
        if isinstance(owner, Operation) and owner.graph is self._graph:
            return _clean(owner.name)
        # In the scope of the first operation that uses it, so that scopes are collapsed as in the
        # original.
        node = NodeDef(name=self.fresh(f"{self._writing}/resource"), op="Placeholder")
        self._put(node, {"dtype": dtypes.resource, "shape": TensorShape([])})
        self.nodes.append(node)
        return node.name


class FunctionNodes(_Nodes):
    """The nodes of a function: an input is an argument, "node:output:0" or "^node"."""

    counts_rounds = True

    def __init__(self, library: Library, name: str) -> None:
        super().__init__(library, ordered=True, add_shapes=False)
        self.definition = FunctionDef()
        self.definition.signature.name = name

    @property
    def arguments(self) -> Any:
        return self.definition.signature.input_arg

    def argument(
        self, dtype: Any, tensor: Tensor | None, shape: TensorShape, name: str | None = None
    ) -> None:
        """An additional argument, which represents a tensor or a resource in the nodes."""
        place = len(self.arguments)
        name = f"arg_{place}" if name is None else self._argument_name(name)
        self.arguments.add(name=name, type=dtype.as_datatype_enum)
        if dtype is not dtypes.resource:
            attr = self.definition.arg_attr[place].attr["_output_shapes"]
            attr.CopyFrom(attr_value([shape]))
        if tensor is not None:
            self.sources[_identity(tensor)] = name

    def _argument_name(self, name: str) -> str:
        """A valid and unique argument name."""
        cleaned = re.sub(r"\W", "_", name.lower())
        stem = found = cleaned if re.match(r"[a-z]", cleaned) else f"arg_{cleaned}".rstrip("_")
        taken = {argument.name for argument in self.arguments}
        number = 0
        while found in taken:
            number += 1
            found = f"{stem}_{number}"
        return found

    def tell_of_variable(self, handle: Tensor) -> None:
        """Record dtype and shape of the variable whose handle the last argument is."""
        variable = handle._array
        if hasattr(variable, "trainable"):
            told = self.arguments[-1].handle_data.add(dtype=variable.dtype.as_datatype_enum)
            told.shape.CopyFrom(shape_proto(variable.shape))

    def count(self) -> None:
        """The results for the loop counters: the count plus one, and the unchanged maximum."""
        one = self.reference(_ONE_MORE)
        node = NodeDef(name=self.fresh("loop_counter/add"), op="AddV2")
        node.input.extend([self.arguments[0].name, one])
        self._put(node, {"T": dtypes.int32})
        self.nodes.append(node)
        self.result(dtypes.int32, f"{node.name}:z:0")
        self.result(dtypes.int32, self.arguments[1].name)

    def result(self, kind: Any, reference: str, name: str = "output") -> None:
        """An additional output."""
        results = self.definition.signature.output_arg
        enum = kind if isinstance(kind, int) else kind.as_datatype_enum
        added = results.add(name=f"{name}_{len(results)}", type=enum)
        self.definition.ret[added.name] = reference

    def output(self, tensor: SymbolicTensor) -> str:
        op = tensor.op.op
        place = tensor.index
        lengths = output_lengths(op, len(tensor.op.outputs))
        for argument, length in zip(op.outputs, lengths, strict=True):
            if place < length:
                place += _counters_before(tensor.op)
                return f"{_clean(tensor.op.name)}:{argument.name}:{place}"
            place -= length
        raise AssertionError(f"{tensor!r} is no output of its operation")

    def resource(self, tensor: Tensor) -> str:
        raise AssertionError(f"The resource {tensor._array!r} is no argument of the function")

    def constant(self, tensor: Tensor) -> str:
        return f"{super().constant(tensor)}:output:0"

    def finished(self) -> Any:
        """The finished FunctionDef; its side effects are control outputs."""
        assert self.order is not None
        self.definition.node_def.extend(self.nodes)
        for name in self.order.effects:
            self.definition.control_ret[name] = name
            self.definition.signature.control_output.append(name)
        self.definition.signature.is_stateful = bool(self.order.effects)
        return self.definition


class _Order:
    """The control dependencies that keep side effects in program order."""

    def __init__(self) -> None:
        self.effects: list[str] = []
        self._written: dict[Any, str] = {}
        self._read: dict[Any, list[str]] = {}

    def before(self, operation: Operation, name: str) -> list[str]:
        """The names of the preceding nodes; the operation itself is recorded."""
        found: list[str] = []
        touched = dict(_touched(operation))
        for key, writes in touched.items():
            readers = self._read.get(key, [])
            last = [self._written[key]] if key in self._written else []
            if writes:
                found += readers or last
                self._written[key], self._read[key] = name, []
            else:
                found += last
                self._read.setdefault(key, []).append(name)
        if any(touched.values()):
            self.effects.append(name)
        return list(dict.fromkeys(found))


def _touched(operation: Operation) -> Iterator[tuple[Any, bool]]:
    """The resources that an operation reads (False) or modifies (True) other than its inputs."""
    if operation.type in ("If", "While", "Case"):
        inside: dict[Any, bool] = {}
        for branch in _branches(operation):
            feeds = [feed for feed in branch.feeds if feed is not None]
            for each in needed_operations(branch.graph, feeds, branch.outputs):
                for key, writes in _touched(each):
                    inside[key] = writes or inside.get(key, False)
        yield from inside.items()
        return
    handles = [t for t in operation.inputs if t.dtype is dtypes.resource]
    for handle in handles:
        yield _identity(handle), operation.type != "ReadVariableOp"
    if not handles and has_effects(operation):
        yield _OUTSIDE, True


def _branches(operation: Operation) -> list[Branch]:
    given = operation.given
    if operation.type == "Case":
        return list(given["branches"])
    return [given[name] for name in _BRANCHING[operation.type] if given[name] is not None]


def _resources(branches: Sequence[Branch]) -> list[Tensor]:
    """The resource handles that branches, and nested branches, capture."""
    found: dict[int, Tensor] = {}
    for branch in branches:
        feeds = [feed for feed in branch.feeds if feed is not None]
        for operation in needed_operations(branch.graph, feeds, branch.outputs):
            for tensor in operation.inputs:
                if tensor.dtype is dtypes.resource and not isinstance(tensor, SymbolicTensor):
                    found.setdefault(_identity(tensor), tensor)
            if operation.type in ("If", "While", "Case"):
                for handle in _resources(_branches(operation)):
                    found.setdefault(_identity(handle), handle)
    return list(found.values())


def _counters_before(operation: Operation) -> int:
    """The number of outputs of the node that precede those of the operation."""
    return len(_COUNTERS) if operation.type == "While" and _is_plain(operation) else 0


def _is_plain(loop: Operation) -> bool:
    """Whether a loop is the program's own, not one over the saved values of another."""
    return len(loop.inputs) == loop.given["carried"] + loop.given["invariants"]


def _identity(tensor: Tensor) -> int:
    """A key that is equal for all handles of a resource."""
    if tensor.dtype is dtypes.resource and not isinstance(tensor, SymbolicTensor):
        return id(tensor._array)
    return id(tensor)


def _clean(name: str) -> str:
    """A valid node name."""
    cleaned = re.sub(r"[^A-Za-z0-9_.\\/>-]", "_", name)
    return cleaned if re.match(r"[A-Za-z0-9.]", cleaned) else f"op{cleaned}"


def _handle_attributes(operation: Operation) -> dict[str, Any]:
    variable = operation.given["variable"]
    name = _clean(operation.name)
    return {
        "allowed_devices": [],
        "container": operation.graph.container_of(operation),
        "debug_name": f"{name}/",
        "dtype": variable.dtype,
        "shape": variable.shape,
        "shared_name": name,
    }
