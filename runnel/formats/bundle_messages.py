"""The protocol messages of tensor bundles and of the `checkpoint` file.

They are described here in Python, not generated: four messages need no compiler. The fields and
their numbers are those of `tensor_bundle.proto`, `tensor_slice.proto`, `tensor_shape.proto`,
`versions.proto` and `checkpoint_state.proto`; the package is Runnel's own, so that they live in
one process with the original's.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELDS = descriptor_pb2.FieldDescriptorProto
_KINDS = {
    "double": _FIELDS.TYPE_DOUBLE,
    "int32": _FIELDS.TYPE_INT32,
    "int64": _FIELDS.TYPE_INT64,
    "fixed32": _FIELDS.TYPE_FIXED32,
    "bool": _FIELDS.TYPE_BOOL,
    "string": _FIELDS.TYPE_STRING,
}
_PACKAGE = "runnel.checkpoint"
# Message: its fields as (name, number, kind); a star before the kind: repeated.
_MESSAGES: dict[str, list[tuple[str, int, str]]] = {
    "Dim": [("size", 1, "int64"), ("name", 2, "string")],
    "TensorShapeProto": [("dim", 2, "*Dim"), ("unknown_rank", 3, "bool")],
    "Extent": [("start", 1, "int64"), ("length", 2, "int64")],
    "TensorSliceProto": [("extent", 1, "*Extent")],
    "VersionDef": [
        ("producer", 1, "int32"),
        ("min_consumer", 2, "int32"),
        ("bad_consumers", 3, "*int32"),
    ],
    "BundleHeaderProto": [
        ("num_shards", 1, "int32"),
        ("endianness", 2, "int32"),
        ("version", 3, "VersionDef"),
    ],
    "BundleEntryProto": [
        ("dtype", 1, "int32"),
        ("shape", 2, "TensorShapeProto"),
        ("shard_id", 3, "int32"),
        ("offset", 4, "int64"),
        ("size", 5, "int64"),
        ("crc32c", 6, "fixed32"),
        ("slices", 7, "*TensorSliceProto"),
    ],
    "CheckpointState": [
        ("model_checkpoint_path", 1, "string"),
        ("all_model_checkpoint_paths", 2, "*string"),
        ("all_model_checkpoint_timestamps", 3, "*double"),
        ("last_preserved_timestamp", 4, "double"),
    ],
}
# Fields of which zero and absent differ.
_OPTIONAL = frozenset({"length"})


def _described() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="runnel/formats/checkpoint.proto", package=_PACKAGE, syntax="proto3"
    )
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for name, number, kind in fields:
            field = message.field.add(name=name, number=number)
            field.label = _FIELDS.LABEL_REPEATED if kind.startswith("*") else _FIELDS.LABEL_OPTIONAL
            kind = kind.removeprefix("*")
            if kind in _KINDS:
                field.type = _KINDS[kind]
            else:
                field.type = _FIELDS.TYPE_MESSAGE
                field.type_name = f".{_PACKAGE}.{kind}"
            if name in _OPTIONAL:
                message.oneof_decl.add(name=f"has_{name}")
                field.oneof_index = 0
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_described())


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


BundleHeaderProto = _message("BundleHeaderProto")
BundleEntryProto = _message("BundleEntryProto")
TensorSliceProto = _message("TensorSliceProto")
CheckpointState = _message("CheckpointState")
