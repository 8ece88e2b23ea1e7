"""The values of a SavedModel: a checkpoint of its variables."""

from __future__ import annotations

from typing import Any

from tensorboard.compat.proto.trackable_object_graph_pb2 import TrackableObjectGraph

from ..core.variable import Variable
from ..train.object_graph import VALUE, _mark_values, escaped, graph_tensor
from ..train.trackables import slots_of
from .export_objects import Exported
from .loading import TABLE
from .table_export import TableExport, contents_of
from .tensors import shape_proto


class ExportedValues:
    """The tensors of all variables, with the object graph by which they are restored.

    The slots of legacy optimizers get nodes of their own, without edges to them.
    """

    def __init__(self, objects: Exported, nodes: Any) -> None:
        self._objects = objects
        self._nodes = nodes
        self._variables = {
            number: value
            for number, value in enumerate(objects.nodes)
            if isinstance(value, Variable)
        }
        self._keys = {
            number: f"{self._path(number)}/.ATTRIBUTES/{VALUE}" for number in self._variables
        }
        self._add_slots()
        self.message = self._described()
        # The keys of the checkpoint, with their variables.
        self.saved = [(self._keys[n], self._variables[n]) for n in sorted(self._keys)]
        self.tensors: list[tuple[str, Any, Any]] = [
            (key, v.dtype, v._tensor._array) for key, v in self.saved
        ]
        self._add_tables()
        self.tensors.append(graph_tensor(self.message))

    def _path(self, number: int) -> str:
        return "/".join(map(escaped, self._objects.paths[number]))

    def _add_slots(self) -> None:
        by_key = {variable._key: number for number, variable in self._variables.items()}
        for number, value in enumerate(self._objects.nodes):
            for key, slot_name, slot in slots_of(value):
                owner = by_key.get(key)
                if owner is None:
                    continue
                place = by_key.get(slot._key)
                if place is None:
                    place = by_key[slot._key] = len(self._nodes)
                    describe_variable(self._nodes.add().variable, slot)
                    self._variables[place] = slot
                    path = f"{self._path(owner)}/.OPTIMIZER_SLOT/{self._path(number)}"
                    self._keys[place] = f"{path}/{escaped(slot_name)}/.ATTRIBUTES/{VALUE}"
                self._nodes[number].slot_variables.add(
                    original_variable_node_id=owner,
                    slot_name=slot_name,
                    slot_variable_node_id=place,
                )

    def _add_tables(self) -> None:
        for number, key in self._tables().items():
            table = self._objects.nodes[number].table
            keys, values = contents_of(table)
            self.tensors.append((f"{key}-keys", table.key_dtype, keys))
            self.tensors.append((f"{key}-values", table.value_dtype, values))

    def _tables(self) -> dict[int, str]:
        """The checkpoint keys of mutable tables."""
        return {
            number: f"{self._path(number)}/.ATTRIBUTES/{TABLE}"
            for number, value in enumerate(self._objects.nodes)
            if isinstance(value, TableExport) and value.changes
        }

    def _described(self) -> Any:
        message = TrackableObjectGraph()
        tables = self._tables()
        for number, saved in enumerate(self._nodes):
            node = message.nodes.add()
            for child in saved.children:
                node.children.add(node_id=child.node_id, local_name=child.local_name)
            for slot in saved.slot_variables:
                node.slot_variables.add(
                    original_variable_node_id=slot.original_variable_node_id,
                    slot_name=slot.slot_name,
                    slot_variable_node_id=slot.slot_variable_node_id,
                )
            if number in self._keys:
                full_name = self._variables[number]._name.removesuffix(":0")
                node.attributes.add(
                    name=VALUE, full_name=full_name, checkpoint_key=self._keys[number]
                )
            if number in tables:
                node.attributes.add(name=TABLE, checkpoint_key=tables[number])
        _mark_values(message)
        return message


def describe_variable(message: Any, variable: Variable) -> None:
    """Fill in the message of a variable."""
    message.dtype = variable.dtype.as_datatype_enum
    message.shape.CopyFrom(shape_proto(variable.shape))
    message.trainable = variable.trainable
    message.synchronization = variable.synchronization.value
    message.aggregation = variable.aggregation.value
    message.name = variable._name.removesuffix(":0")
