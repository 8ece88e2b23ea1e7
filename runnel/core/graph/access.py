"""Introspection of a graph, and low-level construction of its operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .. import hooks
from ..context import state
from ..op import REGISTRY, Op

if TYPE_CHECKING:
    from .graph import Operation

# Gradient rules that `tf.RegisterGradient` registers under names that are no ops.
NAMED_GRADIENTS: dict[str, Callable[..., Any]] = {}


class GraphAccess:
    """The members of `tf.Graph` other than building and running."""

    operations: list[Operation]

    # Allocated on first use: most graphs need none of these.
    _unfeedable: frozenset[int] = frozenset()
    _unfetchable: frozenset[int] = frozenset()
    _beside: tuple[Operation, ...] = ()
    _colocated: Mapping[Operation, tuple[Operation, ...]] = {}
    _container = ""
    _contained: Mapping[Operation, str] = {}
    _gradients: Mapping[str, str] = {}

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exception: Any) -> None:
        """The graph stays unchanged; `as_default()` makes it the current graph."""

    # Names, numbers and versions.

    def get_name_scope(self) -> str:
        """The current name scope, without a trailing slash.

        >>> graph = tf.Graph()
        >>> with graph.as_default(), tf.name_scope("encoder"):
        ...     print(graph.get_name_scope())
        encoder
        """
        return state.name_scope.rstrip("/")

    def num_operations(self) -> int:
        """The number of operations."""
        return len(self.operations)

    @property
    def seed(self) -> Any:
        """The graph-level seed of random operations; None if unset."""
        return hooks.seed_of_graph(self)

    @seed.setter
    def seed(self, seed: Any) -> None:
        with self.as_default():  # type: ignore[attr-defined]
            hooks.set_seed(seed)

    @property
    def graph_def_versions(self) -> Any:
        """The GraphDef versions of the graph's messages, as a VersionDef."""
        return hooks.graph_def_versions()

    def op_def_for_type(self, type: str) -> Any:
        """The OpDef message of the op with this name."""
        return hooks.op_def_for(type)

    # Feeding and fetching.

    def is_feedable(self, tensor: Any) -> bool:
        """Whether a session may feed this tensor."""
        return id(tensor) not in self._unfeedable

    def is_fetchable(self, tensor_or_op: Any) -> bool:
        """Whether a session may fetch this tensor or operation."""
        return id(_operation(tensor_or_op)) not in self._unfetchable

    def prevent_feeding(self, tensor: Any) -> None:
        """Do not allow feeding this tensor any more."""
        self._unfeedable |= {id(tensor)}

    def prevent_fetching(self, op: Any) -> None:
        """Do not allow fetching the results of this operation any more."""
        self._unfetchable |= {id(_operation(op))}

    # Placement.

    @contextmanager
    def colocate_with(self, op: Any, ignore_existing: bool = False) -> Iterator[None]:
        """Record that the operations of a block are colocated with another one.

        As all devices are the CPU, this has no other effect.
        """
        if op is None and not ignore_existing:
            raise ValueError(
                "Trying to reset colocation (op is None) but ignore_existing is not True"
            )
        outer, device = self._beside, state.device
        owner = None if op is None else _operation(op)
        self._beside = (() if ignore_existing else outer) + (() if owner is None else (owner,))
        if owner is not None:
            state.device = owner.device or None
        try:
            yield
        finally:
            self._beside, state.device = outer, device

    @contextmanager
    def container(self, container_name: str) -> Iterator[str]:
        """Put the variables and queues of a block into the resource container of this name.

        Sessions on one server share the resources of its containers, and `Session.reset` clears
        them.
        """
        outer, self._container = self._container, container_name
        try:
            yield container_name
        finally:
            self._container = outer

    def note_place(self, operation: Operation) -> None:
        """Record the colocation and container of the enclosing blocks for a new operation."""
        if self._beside:
            self._colocated = {**self._colocated, operation: self._beside}
        if self._container and operation.op.stateful:
            self._contained = {**self._contained, operation: self._container}

    def colocation_groups(self, operation: Operation) -> list[bytes]:
        """The names of an operation's colocation groups; its own name if there are none."""
        names = [each.name for each in self._colocated.get(operation, ())] or [operation.name]
        return [f"loc:@{name}".encode() for name in dict.fromkeys(names)]

    def is_colocated(self, operation: Operation) -> bool:
        """Whether an operation is colocated with another one."""
        return operation in self._colocated

    def container_of(self, operation: Operation) -> str:
        """The container of an operation's resource; empty for the server's default."""
        return self._contained.get(operation, "")

    # Gradient overrides.

    @contextmanager
    def gradient_override_map(self, op_type_map: Mapping[str, str]) -> Iterator[None]:
        """Give ops in a block the gradients that `tf.RegisterGradient` registered under these
        names.

        >>> @tf.RegisterGradient("Hundredfold")
        ... def _(op, gradient):
        ...     return 100.0 * gradient
        >>> with tf.Graph().as_default() as graph:
        ...     x = tf.constant(3.0)
        ...     with graph.gradient_override_map({"Square": "Hundredfold"}):
        ...         y = tf.square(x)
        ...     print(tf.compat.v1.Session().run(tf.gradients(y, x)[0]))
        100.0
        """
        if not isinstance(op_type_map, dict):
            raise TypeError(
                "`op_type_map` must be a dictionary mapping strings to strings, got "
                f"{op_type_map!r}."
            )
        for name, gradient in op_type_map.items():
            if not (isinstance(name, str) and isinstance(gradient, str)):
                raise TypeError(
                    "Keys and values of `op_type_map` must be names of ops and of gradients, "
                    f"strings; got {name!r}: {gradient!r}."
                )
        outer, self._gradients = self._gradients, {**self._gradients, **op_type_map}
        try:
            yield
        finally:
            self._gradients = outer

    def with_gradient(self, op: Op) -> Op:
        """An op with the gradient override of the current block, if any."""
        name = self._gradients.get(op.name)
        return op if name is None else _with_named_gradient(op, name)

    # Low-level construction.

    def create_op(
        self,
        op_type: str,
        inputs: Sequence[Any],
        dtypes: Sequence[Any] | None = None,
        input_types: Sequence[Any] | None = None,
        name: str | None = None,
        attrs: Mapping[str, Any] | None = None,
        op_def: Any = None,
        compute_shapes: bool = True,
        compute_device: bool = True,
    ) -> Operation:
        """Add an operation by op name, with attributes as AttrValue messages.

        The dtypes and shapes of its outputs are inferred from the op.
        """
        from tensorboard.compat.proto.node_def_pb2 import NodeDef

        node = NodeDef(name=name or op_type, op=op_type)
        for key, value in (attrs or {}).items():
            node.attr[key].MergeFromString(value.SerializeToString())
        return operation_from(node, self, inputs)


def _operation(value: Any) -> Any:
    """The operation of a tensor or variable; an operation unchanged."""
    owner = getattr(value, "op", None)
    return value if owner is None or isinstance(owner, Op) else owner


def _with_named_gradient(op: Op, name: str) -> Op:
    def rule(record: Any, *gradients: Any) -> Any:
        found = NAMED_GRADIENTS.get(name)
        if found is None:
            known = _known(name)
            found = None if known is None else known.gradient_rule
        if found is None:
            raise LookupError(f"gradient registry has no entry for: {name}")
        return found(record, *gradients)

    changed = object.__new__(Op)
    for slot in Op.__slots__:
        setattr(changed, slot, getattr(op, slot))
    changed.gradient_rule, changed.differentiable, changed.partial = rule, True, False
    return changed


def _known(name: str) -> Op | None:
    try:
        return REGISTRY[name]
    except KeyError:
        return None


def operation_from(node: Any, graph: Any, inputs: Sequence[Any], controls: Any = ()) -> Operation:
    """Add the operation of a NodeDef to a graph, with these inputs."""
    op = _known(node.op)
    if op is None:
        raise RuntimeError(f"Op type not registered '{node.op}': no op of this name is known here.")
    with graph.as_default(), graph.control_dependencies(list(controls)):
        place = len(graph.operations)
        scoped = node.name[:-1] if node.name.endswith("/") else state.name_scope + node.name
        graph.reserved = op, graph.unique_name(scoped)
        try:
            graph.add(op, list(inputs), hooks.given_attributes(op, node))
        finally:
            graph.reserved = None
        made: Operation = graph.operations[place]
    return made
