"""The object graph of a checkpoint: nodes for objects, edges for their named children."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from ..core import dtypes
from ..core.dtypes import DType
from ..core.variable import Variable
from .trackables import attribute_of, children_of, slots_of

GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"


def escaped(name: str) -> str:
    """A child's name as escaped in tensor keys.

    >>> from runnel.train.object_graph import escaped
    >>> escaped("a/b.c")
    'a.Sb..c'
    """
    return name.replace(".", "..").replace("/", ".S")


class ObjectWalk:
    """Breadth-first traversal of the objects below a root, with the shortest path to each."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.paths: list[tuple[str, ...]] = []
        self.edges: list[dict[str, int]] = []
        self._numbers: dict[int, int] = {}

    def _walk(self, root: Any, parts_of: Callable[[Any], Mapping[str, Any]], more: Any) -> None:
        """Visit the root and all descendants; `more` are additional children of the root."""
        waiting = deque([self._add(root, ())])
        while waiting:
            number = waiting.popleft()
            parts = parts_of(self.nodes[number])
            if number == 0:
                parts = {**parts, **more}
            for name, part in parts.items():
                known = self._numbers.get(identity_of(part))
                if known is None:
                    known = self._add(part, (*self.paths[number], name))
                    waiting.append(known)
                self.edges[number][name] = known

    def _add(self, value: Any, path: tuple[str, ...]) -> int:
        number = len(self.nodes)
        self._numbers[identity_of(value)] = number
        self.nodes.append(value)
        self.paths.append(path)
        self.edges.append({})
        return number

    def number_of(self, value: Any) -> int | None:
        """The node ID of an object."""
        return self._numbers.get(identity_of(value))


class ObjectGraph(ObjectWalk):
    """The object graph of a checkpoint."""

    def __init__(self, root: Any, attached: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.root = root
        self._walk(root, children_of, attached or {})

    def described(self, skip_slots: bool = False) -> tuple[Any, list[tuple[str, DType, Any]]]:
        """The graph message, and the keys and values of its tensors."""
        message = TrackableObjectGraph()
        tensors: list[tuple[str, DType, Any]] = []
        prefixes = ["/".join(map(escaped, path)) for path in self.paths]
        for number, value in enumerate(self.nodes):
            node = message.nodes.add()
            for name, child in self.edges[number].items():
                node.children.add(node_id=child, local_name=name)
            if isinstance(value, Variable):
                _add_value(node, value, prefixes[number], tensors)
            elif attribute_of(value):
                _add_tensors(node, value, prefixes[number], tensors)
        if not skip_slots:
            self._add_slots(message, prefixes, tensors)
        _mark_values(message)
        return message, tensors

    def _add_slots(self, message: Any, prefixes: list[str], tensors: list[Any]) -> None:
        by_key = {
            value._key: number
            for number, value in enumerate(self.nodes)
            if isinstance(value, Variable)
        }
        for number, value in enumerate(self.nodes):
            for key, slot_name, slot in slots_of(value):
                owner = by_key.get(key)
                if owner is None:
                    continue
                message.nodes[number].slot_variables.add(
                    original_variable_node_id=owner,
                    slot_name=slot_name,
                    slot_variable_node_id=len(message.nodes),
                )
                path = (
                    f"{prefixes[owner]}/.OPTIMIZER_SLOT/{prefixes[number]}/{escaped(slot_name)}"
                    if prefixes[number]
                    else f"{prefixes[owner]}/.OPTIMIZER_SLOT/{escaped(slot_name)}"
                )
                _add_value(message.nodes.add(), slot, path, tensors)


def identity_of(value: Any) -> int:
    """The identity of an object; the result of an update is identified with its variable."""
    return -value._key - 1 if isinstance(value, Variable) else id(value)


def _add_value(node: Any, variable: Variable, prefix: str, tensors: list[Any]) -> None:
    key = f"{prefix}/.ATTRIBUTES/{VALUE}"
    # The variable's own name: the result of an update has another one.
    full_name = variable._name.removesuffix(":0")
    node.attributes.add(name=VALUE, full_name=full_name, checkpoint_key=key)
    tensors.append((key, variable.dtype, variable._tensor._array))


def _add_tensors(node: Any, value: Any, prefix: str, tensors: list[Any]) -> None:
    """Add the values of an object other than a variable: a table, or custom Python state."""
    name = attribute_of(value)
    key = f"{prefix}/.ATTRIBUTES/{name}"
    node.attributes.add(name=name, checkpoint_key=key)
    for ending, (dtype, array) in value._checkpoint_tensors().items():
        tensors.append((f"{key}{ending}", dtype, array))


def _mark_values(message: Any) -> None:
    """Mark every node that has values, or whose descendants do."""
    above: list[list[int]] = [[] for _ in message.nodes]
    for number, node in enumerate(message.nodes):
        node.has_checkpoint_values.value = False
        for child in node.children:
            above[child.node_id].append(number)
        for slot in node.slot_variables:
            above[slot.slot_variable_node_id].append(number)
    waiting = [number for number, node in enumerate(message.nodes) if node.attributes]
    while waiting:
        node = message.nodes[waiting[-1]].has_checkpoint_values
        number = waiting.pop()
        if not node.value:
            node.value = True
            waiting.extend(above[number])


def graph_tensor(message: Any) -> tuple[str, DType, Any]:
    """The tensor that stores an object graph in a checkpoint."""
    return GRAPH_KEY, dtypes.string, np.array(message.SerializeToString(), dtype=object)
