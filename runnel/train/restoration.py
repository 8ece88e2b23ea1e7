"""Restoring the values of a checkpoint to objects: existing ones, and those created later."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

from google.protobuf.message import DecodeError
from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from ..core.context import init_scope, name_scope
from ..core.errors import DataLossError, InvalidArgumentError, NotFoundError
from ..core.logger import get_logger
from ..core.shapes import TensorShape
from ..core.variable import Variable
from ..formats.tensor_bundle import BundleReader
from .awaited_variables import settle
from .object_graph import GRAPH_KEY, VALUE, identity_of
from .trackables import attribute_of, children_of, is_container, is_trackable, slots_of

_DELETED = (
    "Detecting that an object or model or tf.train.Checkpoint is being deleted with unrestored "
    "values. See the following logs for the specific values in question. To silence these "
    "warnings, use `status.expect_partial()`."
)


class Restoration:
    """A restoration of one checkpoint to the objects below a root."""

    def __init__(
        self, bundle: BundleReader, root: Any, attached: Callable[[], Any], slots: bool
    ) -> None:
        self.bundle = bundle
        self.graph = _graph_of(bundle)
        self.partial = False
        self._root = _reference(root)
        self._attached = attached
        self._with_slots = slots
        self._children = [
            {child.local_name: child.node_id for child in node.children}
            for node in self.graph.nodes
        ]
        # By node ID, a function that returns the object, or None if it is no longer alive.
        self.bound: dict[int, Callable[[], Any]] = {}
        self.restored: set[int] = set()
        self._count = sum(bool(node.attributes) for node in self.graph.nodes)
        self._nodes: dict[int, list[int]] = {}
        self._awaiting: set[int] = set()

    # Matching.

    def match(self, owner: Any = None) -> bool:
        """Match the children of an owner, or of all pending ones; whether any are still pending."""
        if owner is None:
            places = [(number, self.bound[number]()) for number in sorted(self._awaiting)]
            if 0 not in self.bound:
                places = [(0, self._root())]
        else:
            places = [(number, owner) for number in self.nodes_of(owner)]
        found: list[tuple[int, Any]] = []
        waiting = deque((number, value) for number, value in places if value is not None)
        while waiting:
            number, value = waiting.popleft()
            missing = False
            parts = self._parts(number, value)
            for name, child_number in self._children[number].items():
                child = parts.get(name)
                if child is None:
                    missing = missing or self._matters(child_number)
                elif is_container(child) or child_number not in self.bound:
                    self._bind(child_number, child, found)
                    waiting.append((child_number, child))
            if missing:
                self._awaiting.add(number)
            else:
                self._awaiting.discard(number)
        self._assign(found)
        if self._with_slots:
            self._match_slots()
        self._awaiting = {n for n in self._awaiting if self.bound[n]() is not None}
        return bool(self._awaiting) and not self.is_complete()

    def match_item(self, owner: Any, name: str, index: int, item: Variable) -> bool:
        """Match one item of a list, without visiting the others."""
        for number in self.nodes_of(owner):
            items = self._children[number].get(name)
            place = None if items is None else self._children[items].get(str(index))
            if place is not None and place not in self.bound:
                found: list[tuple[int, Any]] = []
                self._bind(place, item, found)
                self._assign(found)
                return True
        return False

    def awaited_items(self) -> tuple[bool, bool]:
        """Whether lists or dicts await items, and whether any of these are there by now."""
        awaited = False
        for number in self._awaiting:
            owner = self.bound[number]()
            is_one = isinstance(owner, list | dict)
            for name, child in self._children[number].items():
                if child in self.bound:
                    continue
                # Objects of Keras have their containers as parts only when something is in these.
                item = _item(owner, name) if is_one else getattr(owner, "__dict__", {}).get(name)
                if is_one and is_trackable(item):
                    return True, True
                if isinstance(item, list | dict) and name in self._parts(number, owner):
                    return True, True
                awaited = awaited or is_one or isinstance(item, list | dict)
        return awaited, False

    def begin(self) -> bool:
        """Match from the root; whether any objects are still pending."""
        root = self._root()
        found: list[tuple[int, Any]] = []
        self._bind(0, root, found)
        self._assign(found)
        return self.match(root)

    def _parts(self, number: int, value: Any) -> dict[str, Any]:
        parts = children_of(value)
        # A bound method of the checkpoint, which may not exist any more: its root is what matters.
        attached = self._attached() if number == 0 else None
        return parts if attached is None else {**parts, **attached()}

    def _matters(self, number: int) -> bool:
        node = self.graph.nodes[number]
        if node.HasField("has_checkpoint_values"):
            return bool(node.has_checkpoint_values.value)
        return True

    def _bind(self, number: int, value: Any, found: list[tuple[int, Any]]) -> None:
        is_new = number not in self.bound
        if isinstance(value, Variable):
            settle(value)
        self.bound[number] = _reference(value)
        if is_new or not is_container(value):
            self._nodes.setdefault(identity_of(value), []).append(number)
        if is_new and self._key(number, _value_name(value)) is not None:
            found.append((number, value))

    def nodes_of(self, value: Any) -> list[int]:
        """The nodes matched to an object."""
        wanted = identity_of(value)
        numbers = self._nodes.get(wanted, ())
        return [number for number in numbers if identity_of(self.bound[number]()) == wanted]

    def _key(self, number: int, name: str | None = VALUE) -> str | None:
        for attribute in self.graph.nodes[number].attributes:
            if attribute.name == name:
                return str(attribute.checkpoint_key)
        return None

    # Values.

    def _assign(self, found: list[tuple[int, Any]]) -> None:
        """Assign values to objects; all are validated before the first assignment."""
        others: dict[int, dict[str, Any]] = {}
        for number, value in found:
            if isinstance(value, Variable):
                self._require_fit(value, self._key(number) or "")
            else:
                others[number] = self._tensors(number, value)
        for number, value in found:
            if isinstance(value, Variable):
                assign(value, self.bundle.read(self._key(number) or ""))
            else:
                value._restore_tensors(others[number])
            self.restored.add(number)

    def _tensors(self, number: int, value: Any) -> dict[str, Any]:
        """The tensors of an object other than a variable, by key suffix."""
        prefix = self._key(number, attribute_of(value))
        found = {}
        for ending, (dtype, _) in value._checkpoint_tensors().items():
            key = f"{prefix}{ending}"
            if key in self.bundle and self.bundle.dtype(key) is not dtype:
                raise self._other_dtype(key, dtype, type(value).__name__)
            found[ending] = self.bundle.read(key)
        return found

    def _require_fit(self, variable: Variable, key: str) -> None:
        if key not in self.bundle:
            raise NotFoundError(
                None, None, f"Key {key} not found in checkpoint {self.bundle.prefix}"
            )
        dtype, shape = self.bundle.dtype(key), TensorShape(self.bundle.shape(key))
        if not variable.shape.is_compatible_with(shape):
            raise ValueError(
                f"Received incompatible tensor with shape {shape} when attempting to restore "
                f"variable with shape {variable.shape} and name {variable._name}. (The tensor is "
                f"{key} of {self.bundle.prefix}.)"
            )
        if dtype is not variable.dtype:
            raise self._other_dtype(key, variable.dtype, f"variable {variable._name}")

    def _other_dtype(self, key: str, wanted: Any, owner: str) -> InvalidArgumentError:
        return InvalidArgumentError(
            None, None, f"tensor_name = {key}; expected dtype {wanted.name} of the {owner} does "
            f"not equal original dtype {self.bundle.dtype(key).name} in {self.bundle.prefix} "
            "[Op:RestoreV2]",
        )  # fmt: skip

    def _match_slots(self) -> None:
        """Restore the slots of legacy optimizers, and create missing ones."""
        for number, reference in list(self.bound.items()):
            slots = self.graph.nodes[number].slot_variables
            if not slots:
                continue
            optimizer = reference()
            if not hasattr(optimizer, "add_slot"):
                continue
            existing = {(key, name): slot for key, name, slot in slots_of(optimizer)}
            for each in slots:
                self._match_slot(optimizer, each, existing)

    def _match_slot(self, optimizer: Any, slot: Any, existing: dict[Any, Any]) -> None:
        owner = self.bound.get(slot.original_variable_node_id)
        variable = None if owner is None else owner()
        number = slot.slot_variable_node_id
        if variable is None or number in self.bound:
            return
        target = existing.get((variable._key, slot.slot_name))
        if target is None:
            shape = self.bundle.shape(self._key(number) or "")
            # Matched first: creating a slot triggers this method again.
            self.bound[number] = _reference(variable)
            with init_scope(), name_scope(f"{optimizer._name}/"):
                target = optimizer.add_slot(variable, slot.slot_name, shape=shape)
            del self.bound[number]
        found: list[tuple[int, Any]] = []
        self._bind(number, target, found)
        self._assign(found)

    # The remaining values.

    def is_awaited(self) -> bool:
        """Whether the root, or any pending object, is still alive."""
        return self._root() is not None or any(map(self._is_there, self._awaiting))

    def _is_there(self, number: int) -> bool:
        value = self.bound[number]() if number in self.bound else None
        if not is_container(value):
            return value is not None
        # Lists do not support weak references: they live as long as their owners.
        return any(
            number in children.values() and self._is_there(parent)
            for parent, children in enumerate(self._children)
        )

    def unused(self) -> list[int]:
        """The nodes with values that were not matched to objects."""
        return [
            number
            for number, node in enumerate(self.graph.nodes)
            if node.attributes and number not in self.restored
        ]

    def is_complete(self) -> bool:
        """Whether every value was matched."""
        return len(self.restored) == self._count

    def paths(self) -> dict[int, str]:
        """The path from the root to every node, such as `(root).model.layer-0`."""
        paths = {0: "(root)"}
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            for name, child in self._children[number].items():
                if child not in paths:
                    paths[child] = f"{paths[number]}.{name}"
                    waiting.append(child)
            for slot in self.graph.nodes[number].slot_variables:
                paths.setdefault(
                    slot.slot_variable_node_id,
                    f"{paths[number]}'s state '{slot.slot_name}' for "
                    f"{paths.get(slot.original_variable_node_id, 'a variable')}",
                )
        return paths

    def __del__(self) -> None:
        if sys.is_finalizing() or getattr(self, "partial", True):
            return
        unused = self.unused()
        if unused:
            paths = self.paths()
            get_logger().warning(_DELETED)
            for number in unused:
                get_logger().warning(
                    "Value in checkpoint could not be found in the restored object: %s",
                    paths.get(number),
                )


def _item(container: Any, name: str) -> Any:
    """What stands in a list or dict under the name that its parts have; None if nothing does."""
    if isinstance(container, dict):
        return container.get(name)
    return container[int(name)] if name.isdecimal() and int(name) < len(container) else None


def _value_name(value: Any) -> str | None:
    return VALUE if isinstance(value, Variable) else attribute_of(value)


def assign(variable: Variable, value: Any) -> None:
    """Assign a value of a variable's dtype without a copy."""
    with variable._lock:
        variable._replace(value)


def _graph_of(bundle: BundleReader) -> Any:
    data = bundle.read(GRAPH_KEY)[()]
    try:
        graph = TrackableObjectGraph.FromString(data)
    except (DecodeError, TypeError):
        raise DataLossError(
            None, None, f"The object graph of checkpoint {bundle.prefix} cannot be read."
        ) from None
    count = len(graph.nodes)
    numbers = [child.node_id for node in graph.nodes for child in node.children]
    for node in graph.nodes:
        for slot in node.slot_variables:
            numbers += [slot.original_variable_node_id, slot.slot_variable_node_id]
    if not count or any(not 0 <= number < count for number in numbers):
        raise DataLossError(
            None, None, f"The object graph of checkpoint {bundle.prefix} is corrupt."
        )
    return graph


def _reference(value: Any) -> Callable[[], Any]:
    """A weak reference to an object, if its type supports that."""
    try:
        return weakref.ref(value)
    except TypeError:
        return lambda: value
