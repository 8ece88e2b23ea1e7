"""Protocol messages defined in Python, without protoc."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELDS = descriptor_pb2.FieldDescriptorProto
_SCALARS = "bool", "bytes", "double", "fixed32", "float", "int32", "int64", "string", "uint64"
_KINDS = {name: getattr(_FIELDS, f"TYPE_{name.upper()}") for name in _SCALARS}

# Message: its fields as (name, number, kind). Before a kind, "*" means repeated, "?" explicit
# presence; "a -> b" is a map; a kind with a leading dot is a message of another file.
Messages = Mapping[str, Sequence[tuple[str, int, str]]]


def message_classes(
    file: str,
    package: str,
    messages: Messages,
    pool: Any = None,
    choices: Mapping[str, str] | None = None,
    dependencies: Sequence[str] = (),
) -> dict[str, Any]:
    """The message classes by name.

    `choices` names, for messages with a oneof, that oneof. A separate descriptor pool, which is the
    default, avoids conflicts with messages of the same names in the process.
    """
    described = descriptor_pb2.FileDescriptorProto(
        name=file, package=package, syntax="proto3", dependency=dependencies
    )
    for name, fields in messages.items():
        _add_message(described, name, fields)
        if choices and name in choices:
            message = described.message_type[-1]
            message.oneof_decl.add(name=choices[name])
            for each in message.field:
                each.oneof_index = 0
    pool = descriptor_pool.DescriptorPool() if pool is None else pool
    pool.Add(described)
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{package}.{name}"))
        for name in messages
    }


def _add_message(file: Any, name: str, fields: Sequence[tuple[str, int, str]]) -> None:
    message = file.message_type.add(name=name)
    for field, number, kind in fields:
        key, arrow, value = kind.partition(" -> ")
        if arrow:
            entry = field.title().replace("_", "") + "Entry"
            pair = message.nested_type.add(name=entry)
            pair.options.map_entry = True
            _add_field(file.package, pair, "key", 1, key)
            _add_field(file.package, pair, "value", 2, value)
            kind = f"*{name}.{entry}"
        _add_field(file.package, message, field, number, kind.removeprefix("?"))
        if kind.startswith("?"):
            message.oneof_decl.add(name=f"has_{field}")
            message.field[-1].oneof_index = len(message.oneof_decl) - 1


def _add_field(package: str, message: Any, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _FIELDS.LABEL_REPEATED if kind.startswith("*") else _FIELDS.LABEL_OPTIONAL
    kind = kind.removeprefix("*")
    if kind in _KINDS:
        field.type = _KINDS[kind]
    else:
        field.type = _FIELDS.TYPE_MESSAGE
        field.type_name = kind if kind.startswith(".") else f".{package}.{kind}"
