"""Import of GraphDefs: every node becomes an operation with a kernel of Runnel.

Function calls are inlined, unless that would add too many operations: then a call becomes a Case
with a single branch. Conditions and loops get branches. A resource that is known when a function is
imported (the handle of a variable) is used in it directly.

The input is untrusted, possibly malformed or malicious: see `limits` and `permissions`.
"""

from __future__ import annotations

import re
import weakref
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..core import dtypes, hooks
from ..core.context import name_scope, state
from ..core.convert import convert_to_tensor
from ..core.errors import NotFoundError, OpError
from ..core.graph.branch import Branch, BranchGraph, captured_by
from ..core.graph.graph import FuncGraph, Graph, Operation
from ..core.op import REGISTRY, Op
from ..core.shape_rules import UNKNOWN
from ..core.shapes import TensorShape
from ..core.tensor import OutOfScopeError, SymbolicTensor, Tensor
from .assets import asset_of
from .attributes import given_attributes, output_lengths, value_of
from .custom_gradients import CapturedTensor, FunctionLibrary, gradient_of, op_with_gradient
from .further_ops import OUTPUTS
from .graph_export import GraphDef
from .limits import DEEPEST_CALLS, MOST_INLINED, Budget, clean_errors, expanded_sizes
from .op_defs import require_kinds
from .other_ops import COMPOSED, SAME
from .permissions import Permissions

_CALLS = frozenset(["PartitionedCall", "StatefulPartitionedCall"])
_BRANCHING = frozenset(["Case", "If", "While"])
_CALL = "Case"
_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_./>-]*")
_NAME_OF_OP = re.compile(r"_?[A-Z][A-Za-z0-9]*")
# Variables of a graph, whose values sessions hold.
_OF_SESSIONS = frozenset(["VarHandleOp", "VarIsInitializedOp"])
# The tables of each graph by shared name.
_TABLES: weakref.WeakKeyDictionary[Graph, dict[str, Tensor]] = weakref.WeakKeyDictionary()


def import_graph_def(
    graph_def: Any,
    input_map: dict[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Any] | None:
    """Add the operations of a GraphDef to the graph being built; returns the requested ones or
    None.

    `input_map` replaces the outputs of nodes, "name" or "name:1", by tensors. `return_elements`
    names operations and tensors ("name:0") to return. `op_dict` is ignored. Operations that write
    files are refused: see `runnel.allow_file_operations`.

    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32, name="x")
    ...     y = tf.square(x, name="y")
    >>> with tf.Graph().as_default():
    ...     (y,) = tf.graph_util.import_graph_def(
    ...         graph.as_graph_def(), {"x": tf.constant(3.0)}, ["y:0"]
    ...     )
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(y))
    9.0
    """
    if not isinstance(graph_def, GraphDef):
        graph_def = _as_graph_def(graph_def)
    if input_map is not None and not isinstance(input_map, dict):
        raise TypeError(
            f"Argument `input_map` must be a dictionary. Obtained {type(input_map).__name__}"
        )
    # Not the name of an operation, which graphs look for in their callers' locals.
    given, name = name, None
    with clean_errors("The GraphDef", ValueError):
        return _imported(graph_def, input_map or {}, return_elements, given)


def _imported(
    graph_def: Any, input_map: dict[str, Any], return_elements: Sequence[str] | None, given: Any
) -> list[Any] | None:
    library = FunctionLibrary(graph_def.library.function)
    require_names(graph_def.node, library)
    graph = _default_graph()
    require_ops(graph_def.node, library, () if isinstance(graph, FuncGraph) else _OF_SESSIONS)
    with graph.as_default():
        prefix = "import" if given is None else given.rstrip("/")
        prefix = graph.unique_name(state.name_scope + prefix) if prefix else ""
        with name_scope(f"{prefix}/_inputs/".lstrip("/")):
            mapped = {
                key if ":" in key or key.startswith("^") else f"{key}:0": _substitute(value)
                for key, value in input_map.items()
            }
        importer = _Importer(graph, Source(graph_def.node, library), prefix, mapped=mapped)
        importer.add_all(graph_def.node)
    unused = sorted(set(mapped) - importer.used)
    if unused:
        raise ValueError(
            "Attempted to map inputs that were not found in graph_def: "
            f"[{', '.join(str(each) for each in unused)}]"
        )
    if return_elements is None:
        return None
    return [importer.element(each) for each in return_elements]


def require_names(nodes: Sequence[Any], library: dict[str, Any]) -> None:
    """Raise ValueError if nodes have invalid names, or functions the names of ops."""
    for node in nodes:
        if _NODE_NAME.fullmatch(node.name) is None:
            raise ValueError(f"Node {node.name[:100]!r}: Node name contains invalid characters")
    require_names_of_functions(library)


def require_names_of_functions(library: dict[str, Any]) -> None:
    """Raise ValueError if a function has the name of an op."""
    for name in library:
        is_op = name in _CALLS or name in COMPOSED or name in SAME
        if is_op or (_NAME_OF_OP.fullmatch(name) is not None and _op_of(name) is not None):
            raise ValueError(
                f"Cannot add function '{name}' because an op with the same name already exists."
            )


def _substitute(value: Any) -> Any:
    return value if isinstance(value, Operation) else convert_to_tensor(value)


def _as_graph_def(message: Any) -> Any:
    """The equivalent message of another package."""
    descriptor = getattr(message, "DESCRIPTOR", None)
    if getattr(descriptor, "name", None) != "GraphDef":
        raise TypeError("Argument `graph_def` must be a GraphDef proto.")
    return GraphDef.FromString(message.SerializeToString())


def _default_graph() -> Graph:
    if state.graph is not None:
        found: Graph = state.graph
        return found
    default: Graph = hooks.default_graph()
    return default


def missing_ops(
    nodes: Iterable[Any], library: dict[str, Any], more: Container[str] = ()
) -> list[str]:
    """The ops of nodes, and of the functions that they call, without kernels here."""
    seen: set[str] = set()
    missing: set[str] = set()
    waiting = [list(nodes)]
    while waiting:
        for node in waiting.pop():
            kind = SAME.get(node.op, node.op)
            known = kind in _CALLS or kind in COMPOSED or kind in library or kind in more
            if not known and _op_of(kind) is None:
                missing.add(node.op)
            for called in _called(node, library):
                if called not in seen:
                    seen.add(called)
                    waiting.append(list(library[called].node_def))
    return sorted(missing)


def require_ops(nodes: Iterable[Any], library: dict[str, Any], more: Container[str] = ()) -> None:
    """Raise NotFoundError with the names of all ops without kernels, except for those of `more`."""
    missing = missing_ops(nodes, library, more)
    if missing:
        raise NotFoundError(
            None,
            None,
            f"Op type not registered {', '.join(repr(name) for name in missing)}: Runnel has no "
            "kernel for it. Leave these operations out of the graph, or compute what they do "
            "with others.",
        )


def _op_of(name: str) -> Op | None:
    try:
        return REGISTRY[name]
    except KeyError:
        return None


def _called(node: Any, library: dict[str, Any]) -> Iterator[str]:
    if node.op in library:
        yield node.op
    for attr in node.attr.values():
        for function in (attr.func, *attr.list.func):
            if function.name in library:
                yield function.name


class Source:
    """The common state of one graph's importers: its functions, permissions and budget."""

    def __init__(
        self, nodes: Sequence[Any], library: dict[str, Any], permissions: Permissions | None = None
    ) -> None:
        if not isinstance(library, FunctionLibrary):
            library = FunctionLibrary(list(library.values()))
        self.library = library
        self.permissions = permissions or Permissions()
        self.budget = Budget(len(nodes) + sum(len(each.node_def) for each in library.values()))
        if library.sizes is None:
            library.sizes = expanded_sizes(library, lambda node: _called(node, library))
        sizes = library.sizes
        total = sum(sizes[each] for node in nodes for each in _called(node, library))
        # Whether calls are not inlined; then all calls of a function use one branch.
        self.keeps_calls = total >= MOST_INLINED
        self.outer: Graph | None = None
        self.branches: dict[Any, tuple[Branch, list[Tensor]]] = {}


def function_graph(
    definition: Any,
    library: dict[str, Any],
    captured: Sequence[Tensor] = (),
    permissions: Permissions | None = None,
) -> FuncGraph:
    """A FunctionDef as a function graph, whose last arguments are these captures."""
    require_ops(definition.node_def, library)
    arguments = definition.signature.input_arg
    graph = FuncGraph(definition.signature.name)
    own = len(arguments) - len(captured)
    with graph.building():
        values: list[Tensor] = []
        for place, argument in enumerate(arguments):
            if place >= own:
                values.append(_captured(graph, captured[place - own]))
            else:
                shape = _argument_shape(definition, place)
                dtype = dtypes.as_dtype(argument.type)
                values.append(graph.add_input(dtype, shape, argument.name))
        source = Source(definition.node_def, library, permissions)
        importer = _Importer(graph, source, "")
        graph.outputs = [graph.own(each) for each in importer.body(definition, values)]
    return graph


def _captured(graph: FuncGraph, tensor: Tensor) -> Tensor:
    # The path of an asset changes wherever the function is saved next.
    return graph.own(tensor) if asset_of(tensor) is None else graph.capture(tensor)


def _argument_shape(definition: Any, place: int) -> TensorShape:
    attrs = definition.arg_attr[place].attr if place in definition.arg_attr else {}
    shapes = value_of(attrs["_output_shapes"]) if "_output_shapes" in attrs else []
    return shapes[0] if shapes else UNKNOWN


class _Importer:
    """Imports the nodes of one GraphDef or of one function's body into a graph."""

    def __init__(
        self,
        graph: Graph,
        source: Source,
        prefix: str,
        arguments: dict[str, Tensor] | None = None,
        mapped: dict[str, Any] | None = None,
        controls: Sequence[Operation] = (),
        inside: tuple[str, ...] = (),
    ) -> None:
        self.used: set[str] = set()
        self._graph = graph
        self._source = source
        self._library = source.library
        if source.outer is None:
            source.outer = graph
        self._prefix = prefix
        self._arguments = arguments or {}
        self._mapped = mapped or {}
        self._controls = list(controls)
        # The functions whose bodies are being inlined, outermost first.
        self._inside = inside
        # By node name: the names of its outputs with the indices of their first tensors, its
        # outputs, its control outputs.
        self._nodes: dict[str, tuple[dict[str, int], list[Tensor], list[Operation]]] = {}

    def add_all(self, nodes: Sequence[Any]) -> None:
        """Add nodes in topological order."""
        by_name = {node.name: node for node in nodes}
        if len(by_name) < len(nodes):
            names = Counter(node.name for node in nodes)
            twice = names.most_common(1)[0][0]
            raise ValueError(f"Node '{twice}' is not unique")
        begun: set[str] = set()
        for first in nodes:
            waiting = [first]
            while waiting:
                node = waiting[-1]
                if node.name in self._nodes:
                    waiting.pop()
                    continue
                ahead = [by_name[each] for each in self._before(node, by_name)]
                ahead = [each for each in ahead if each.name not in self._nodes]
                if not ahead:
                    self._add_or_explain(waiting.pop())
                elif node.name in begun:
                    raise ValueError(f"The nodes of the graph form a cycle through '{node.name}'.")
                else:
                    begun.add(node.name)
                    waiting += reversed(ahead)

    def _before(self, node: Any, by_name: dict[str, Any]) -> Iterator[str]:
        gradient = gradient_of(node, self._library)
        for tensor in () if gradient is None else gradient.captured:
            if isinstance(tensor, CapturedTensor) and tensor.name.partition(":")[0] in by_name:
                yield tensor.name.partition(":")[0]
        for reference in node.input:
            owner = reference.lstrip("^").partition(":")[0]
            if owner in by_name:
                yield owner
            elif owner not in self._arguments and self._substitute(reference) is None:
                raise ValueError(f"Node '{node.name}': Unknown input node '{reference}'")

    def _substitute(self, reference: str) -> Any:
        is_plain = ":" not in reference and not reference.startswith("^")
        key = f"{reference}:0" if is_plain else reference
        if key in self._mapped:
            self.used.add(key)
            return self._mapped[key]
        return None

    def _value(self, reference: str) -> Tensor:
        found = self._substitute(reference)
        if found is not None:
            return found
        if reference in self._arguments:
            return self._arguments[reference]
        owner, _, place = reference.partition(":")
        if owner not in self._nodes:
            raise ValueError(f"Unknown input node '{reference}'")
        places, outputs, _ = self._nodes[owner]
        kind, colon, index = place.rpartition(":")
        start = places.get(kind, 0) if colon else 0
        if (index and not index.isdigit()) or start + int(index or 0) >= len(outputs):
            raise ValueError(
                f"Connecting to invalid output '{reference}' of the node '{owner}', which has "
                f"{len(outputs)} outputs."
            )
        return outputs[start + int(index or 0)]

    def element(self, name: str) -> Any:
        """The tensor or operation of this name."""
        owner, colon, index = name.partition(":")
        if colon and not index.isdigit():
            raise ValueError(
                f"Cannot convert {name!r} to a tensor name. Second component of the name "
                f"following the `:` should be an int. Got {index}."
            )
        if owner not in self._nodes:
            kind = "tensor" if colon else "node"
            raise ValueError(f"Requested return {kind} '{name}' not found in graph def")
        _, outputs, operations = self._nodes[owner]
        if not colon and operations:
            return operations[-1]
        if not colon:
            raise ValueError(f"The node '{name}' has become no operation: ask for its outputs.")
        if int(index) >= len(outputs):
            raise ValueError(
                f"Invalid return output {index} of node '{owner}', which has {len(outputs)} "
                "output(s)"
            )
        return outputs[int(index)]

    def _add_or_explain(self, node: Any) -> None:
        try:
            self._add(node)
        except (OutOfScopeError, OpError, RecursionError, MemoryError):
            raise
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError,
                UnicodeError) as failure:  # fmt: skip
            raise ValueError(
                f"The node '{node.name}' does not fit the op {node.op}: {failure}. Inputs: "
                f"{list(node.input)}, attributes: {sorted(node.attr)}."
            ) from failure

    def _add(self, node: Any) -> None:
        self._source.budget.take_tensors(node)
        inputs = [self._value(each) for each in node.input if not each.startswith("^")]
        controls = list(self._controls)
        for reference in node.input:
            if reference.startswith("^"):
                substitute = self._substitute(reference)
                happened = self._nodes.get(reference[1:], ({}, [], []))[2]
                controls += [substitute] if substitute is not None else happened
        kind = SAME.get(node.op, node.op)
        if kind in _CALLS or kind in self._library:
            function = self._function(kind if kind in self._library else node.attr["f"].func.name)
            results = function.signature.output_arg if kind in self._library else ()
            places = {result.name: place for place, result in enumerate(results)}
            call = self._kept_call if self._source.keeps_calls else self._inlined
            self._nodes[node.name] = places, *call(node, function, inputs, controls)
            return
        of_session = kind in _OF_SESSIONS and not isinstance(self._graph, FuncGraph)
        if kind in COMPOSED and not of_session:
            outputs, operations = self._composed(node, inputs, controls)
            places = {n: p % len(outputs) for n, p in OUTPUTS.get(node.op, {}).items()}
            self._nodes[node.name] = places, outputs, operations
            return
        if gradient_of(node, self._library) is not None:
            self._nodes[node.name] = {"output": 0}, *self._passed_on(node, inputs)
            return
        op = _op_of(kind)
        if op is None:
            self._nodes[node.name] = {}, *self._variable(node, inputs)
            return
        require_kinds(op, node)
        if not op.input_lists and len(inputs) != len(op.inputs):
            raise ValueError(
                f"NodeDef expected {len(op.inputs)} inputs but got {len(inputs)}: node "
                f"'{node.name}', whose op is {op.name}."
            )
        if _makes_resource(op) and not inputs:
            self._nodes[node.name] = {}, *self._table(node, op)
            return
        if kind == "While":
            outputs, operation = self._loop(node, op, inputs)
        elif kind in _BRANCHING:
            outputs, operation = self._condition(node, op, inputs)
        else:
            operation = self._operation(node, op, inputs, given_attributes(op, node))
            outputs = list(operation.outputs)
        operation.control_inputs = list(dict.fromkeys([*operation.control_inputs, *controls]))
        self._nodes[node.name] = _places(op, len(outputs)), outputs, [operation]

    def _operation(
        self, node: Any, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any]
    ) -> Operation:
        graph = self._graph
        self._source.budget.take_operation()
        if isinstance(graph, FuncGraph):
            inputs = [graph.own(tensor) for tensor in inputs]
        self._source.permissions.require(node.name, op, inputs, attrs, graph)
        kinds = op.types_of_results(inputs, attrs)
        if None in (kinds if isinstance(kinds, list) else [kinds]):
            raise ValueError(f"NodeDef missing a type of {op!r}; node '{node.name}'.")
        if op.name == "ReadVariableOp" and isinstance(inputs[0], SymbolicTensor):
            shapes = [UNKNOWN]
        else:
            shapes = op.infer_shapes(inputs, attrs)
        name = graph.unique_name(self._full_name(node.name))
        operation = graph._append(op, inputs, attrs, [kinds] if op.single else kinds, shapes, name)
        operation.device = node.device
        if op.name == "ReadVariableOp" and _is_handle(inputs[0]):
            # Gradients find the variable by this.
            variable = inputs[0]._array
            operation.outputs[0]._key = variable._key
            for tape in state.tapes:
                tape.variable_read(variable)
        for tape in state.tapes:
            tape.record(op, operation.inputs, operation.outputs, attrs)
        return operation

    def _passed_on(
        self, node: Any, inputs: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Operation]]:
        """The results of a node with a custom gradient."""
        gradient = gradient_of(node, self._library)
        assert gradient is not None
        held = [self._held(each) for each in gradient.captured]
        if any(each is None for each in held):
            # Its gradient belongs to another part of the function: here the op's own is used.
            operation = self._operation(node, REGISTRY[node.op], inputs, {})
            return list(operation.outputs), [operation]
        source, definition = self._source, gradient.definition

        def call(values: Sequence[Tensor]) -> list[Tensor]:
            graph: Any = state.graph
            prefix = graph.unique_name(definition.signature.name)
            body = _Importer(graph, source, prefix, inside=(definition.signature.name,))
            return body.body(definition, [graph.own(each) for each in values])

        op = op_with_gradient(len(inputs), call, gradient.places)
        given = [*inputs, *(each for each in held if each is not None)]
        operation = self._operation(node, op, given, {"Tout": [each.dtype for each in inputs]})
        return list(operation.outputs), [operation]

    def _held(self, tensor: Tensor | CapturedTensor) -> Tensor | None:
        if not isinstance(tensor, CapturedTensor):
            return tensor
        owner, _, index = tensor.name.partition(":")
        if owner in self._arguments:
            return self._arguments[owner]
        outputs = self._nodes[owner][1] if owner in self._nodes else []
        return outputs[int(index or 0)] if int(index or 0) < len(outputs) else None

    def _composed(
        self, node: Any, inputs: Sequence[Tensor], controls: Sequence[Operation]
    ) -> tuple[list[Tensor], list[Operation]]:
        """The results of a node composed of several operations; the last of them has its name."""
        graph = self._graph
        first = len(graph.operations)
        name = graph.unique_name(self._full_name(node.name))
        with graph.as_default(), name_scope(f"{name}/"), graph.control_dependencies(controls):
            outputs = COMPOSED[node.op](node, inputs)
        made = graph.operations[first:]
        if made:
            del graph._by_name[made[-1].name]
            made[-1].name = name
            graph._by_name[name] = made[-1]
        return outputs, made

    def _variable(
        self, node: Any, inputs: Sequence[Tensor]
    ) -> tuple[list[Tensor], list[Operation]]:
        """A session's variable, or whether it is initialized."""
        name = self._graph.unique_name(self._full_name(node.name))
        if node.op == "VarHandleOp":
            dtype, shape = (value_of(node.attr[each]) for each in ("dtype", "shape"))
            made = hooks.imported_variable(
                self._graph, name, dtype, UNKNOWN if shape is None else shape
            )
            return [made.handle], [made.op]
        asked = hooks.variable_is_initialized(self._graph, name, inputs[0])
        return list(asked.outputs), [asked]

    def _table(self, node: Any, op: Op) -> tuple[list[Tensor], list[Operation]]:
        """A table, created at once: all operations refer to the same one, in every session."""
        attrs = given_attributes(op, node)
        known = _TABLES.setdefault(self._graph, {})
        shared = attrs.get("shared_name") or self._full_name(node.name)
        if shared not in known:
            known[shared] = Tensor(op.kernel(**attrs), dtypes.resource)
        named = not isinstance(self._graph, FuncGraph)
        operations = [self._operation(node, op, (), attrs)] if named else []
        return [known[shared]], operations

    def _full_name(self, name: str) -> str:
        return f"{self._prefix}/{name}" if self._prefix else name

    # Functions.

    def _function(self, name: str) -> Any:
        if name not in self._library:
            raise NotFoundError(None, None, f"Function {name} is not defined in the GraphDef.")
        if name in self._inside:
            raise ValueError(f"The function {name} calls itself, which graphs here cannot do.")
        if len(self._inside) >= DEEPEST_CALLS:
            raise ValueError(
                f"The function {name} is called by functions that call each other more than "
                f"{DEEPEST_CALLS} deep, which graphs here cannot be."
            )
        return self._library[name]

    def _inlined(
        self, node: Any, function: Any, inputs: Sequence[Tensor], controls: Sequence[Operation]
    ) -> tuple[list[Tensor], list[Operation]]:
        """The results of an inlined call, and its operations."""
        body = _Importer(
            self._graph,
            self._source,
            self._full_name(node.name),
            controls=controls,
            inside=(*self._inside, function.signature.name),
        )
        outputs = body.body(function, inputs)
        return outputs, [each for _, _, operations in body._nodes.values() for each in operations]

    def _kept_call(
        self, node: Any, function: Any, inputs: Sequence[Tensor], controls: Sequence[Operation]
    ) -> tuple[list[Tensor], list[Operation]]:
        """The results of a call that is not inlined: a Case with a single branch, and its
        operation.
        """
        op = REGISTRY[_CALL]
        branch, outputs = self._branch(function.signature.name, inputs, [UNKNOWN] * len(inputs))
        captured = captured_by([branch.graph])
        computed = [each for each in outputs if not _is_handle(each)]
        branch = Branch(branch.graph, branch.feeds, computed).aligned(captured)
        attrs = {
            "branches": [branch],
            "Tout": [each.dtype for each in computed],
            "output_shapes": [each.shape for each in computed],
        }
        with self._graph.as_default():
            index = convert_to_tensor(np.int32(0))
        given = [each for each in inputs if not _is_handle(each)]
        operation = self._operation(node, op, [index, *given, *captured], attrs)
        operation.control_inputs = list(dict.fromkeys([*operation.control_inputs, *controls]))
        found = iter(operation.outputs)
        return [each if _is_handle(each) else next(found) for each in outputs], [operation]

    def body(self, definition: Any, values: Sequence[Tensor]) -> list[Tensor]:
        """The results of a function for the values of its arguments."""
        arguments = [each.name for each in definition.signature.input_arg]
        if len(arguments) != len(values):
            raise ValueError(
                f"The function {definition.signature.name} takes {len(arguments)} arguments, but "
                f"is called with {len(values)}."
            )
        self._arguments = dict(zip(arguments, values, strict=True))
        self.add_all(definition.node_def)
        return [self._value(definition.ret[each.name]) for each in definition.signature.output_arg]

    def _branch(
        self, name: str, inputs: Sequence[Tensor], shapes: Sequence[TensorShape]
    ) -> tuple[Branch, list[Tensor]]:
        """A function as a branch of the inputs that are no known resources; and all its outputs."""
        definition = self._function(name)
        if not self._source.keeps_calls:
            return self._new_branch(definition, inputs, shapes, self._graph)
        # A branch with inputs of unknown shapes, for all its uses.
        key = name, *[id(each) if _is_handle(each) else each.dtype for each in inputs]
        known = self._source.branches
        if key not in known:
            unknown = [UNKNOWN] * len(inputs)
            known[key] = self._new_branch(definition, inputs, unknown, self._source.outer)
        branch, outputs = known[key]
        return Branch(branch.graph, branch.feeds, branch.outputs), outputs

    def _new_branch(
        self, definition: Any, inputs: Sequence[Tensor], shapes: Sequence[TensorShape], outer: Any
    ) -> tuple[Branch, list[Tensor]]:
        name = definition.signature.name
        graph = BranchGraph(self._graph.unique_name(name), outer)
        feeds: list[Tensor] = []
        with graph.building():
            values: list[Tensor] = []
            for tensor, shape in zip(inputs, shapes, strict=True):
                if _is_handle(tensor):
                    values.append(tensor)
                else:
                    feeds.append(graph.add_input(tensor.dtype, shape))
                    values.append(feeds[-1])
            importer = _Importer(graph, self._source, "", inside=(*self._inside, name))
            outputs = importer.body(definition, values)
            owned = [each if _is_handle(each) else graph.own(each) for each in outputs]
        return Branch(graph, feeds, owned), owned

    def _condition(
        self, node: Any, op: Op, inputs: Sequence[Tensor]
    ) -> tuple[list[Tensor], Operation]:
        rest = inputs[1:]
        if op.name == "Case":
            names = [each.name for each in node.attr["branches"].list.func]
        else:
            names = [node.attr[each].func.name for each in ("then_branch", "else_branch")]
        branches = [self._branch(each, rest, [t.shape for t in rest])[0] for each in names]
        # The values of variables, too, by which gradients reach the variables.
        captured = captured_by([branch.graph for branch in branches])
        branches = [branch.aligned(captured) for branch in branches]
        types = value_of(node.attr["Tout"])
        shapes = _declared_shapes(node) or [
            _common_shape([b.outputs[i].shape for b in branches]) for i in range(len(types))
        ]
        attrs: dict[str, Any] = {"Tout": types, "output_shapes": shapes}
        if op.name == "Case":
            attrs["branches"] = branches
        else:
            attrs["then_branch"], attrs["else_branch"] = branches
        given = [inputs[0], *(tensor for tensor in rest if not _is_handle(tensor)), *captured]
        operation = self._operation(node, op, given, attrs)
        return list(operation.outputs), operation

    def _loop(self, node: Any, op: Op, inputs: Sequence[Tensor]) -> tuple[list[Tensor], Operation]:
        shapes = _declared_shapes(node) or [
            tensor.shape if _is_handle(tensor) else UNKNOWN for tensor in inputs
        ]
        cond, _ = self._branch(node.attr["cond"].func.name, inputs, shapes)
        body, outputs = self._branch(node.attr["body"].func.name, inputs, shapes)
        carried = [i for i, tensor in enumerate(inputs) if not _is_handle(tensor)]
        body = Branch(body.graph, body.feeds, [outputs[i] for i in carried])
        captured = captured_by([cond.graph, body.graph])
        attrs = {
            "cond": cond.aligned(captured),
            "body": body.aligned(captured),
            "carried": len(carried),
            "invariants": len(captured),
            "reverse": False,
            "Tout": [inputs[i].dtype for i in carried],
            "output_shapes": [shapes[i] for i in carried],
        }
        operation = self._operation(node, op, [*(inputs[i] for i in carried), *captured], attrs)
        found = iter(operation.outputs)
        return [t if _is_handle(t) else next(found) for t in inputs], operation


def _declared_shapes(node: Any) -> list[TensorShape]:
    shapes: list[TensorShape] = value_of(node.attr["output_shapes"]) or []
    return shapes


def _common_shape(shapes: Sequence[TensorShape]) -> TensorShape:
    first = shapes[0]
    if any(each.rank is None or each.rank != first.rank for each in shapes):
        return UNKNOWN
    columns = zip(*[each.as_list() for each in shapes], strict=True)
    return TensorShape([sizes[0] if len(set(sizes)) == 1 else None for sizes in columns])


def _is_handle(tensor: Tensor) -> bool:
    """Whether a tensor is a resource that is known now."""
    return tensor.dtype is dtypes.resource and not isinstance(tensor, SymbolicTensor)


def _makes_resource(op: Op) -> bool:
    return op.stateful and [output.type for output in op.outputs] == ["resource"]


def _places(op: Op, count: int) -> dict[str, int]:
    """The index of the first tensor of each output of an op."""
    places, start = {}, 0
    for argument, length in zip(op.outputs, output_lengths(op, count), strict=True):
        places[argument.name] = start
        start += length
    return places
