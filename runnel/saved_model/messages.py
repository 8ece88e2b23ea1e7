"""The messages of SavedModels: those that there are already, and the few that are described here.

The fields and their numbers are those of `saved_model.proto`, `fingerprint.proto` and
`saved_metadata.proto`; the package is Runnel's own, so that they live in one process with the
original's.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from tensorboard.compat.proto import (
    meta_graph_pb2,
    saved_object_graph_pb2,
    struct_pb2,
    versions_pb2,
)

MetaGraphDef = meta_graph_pb2.MetaGraphDef
SignatureDef = meta_graph_pb2.SignatureDef
TensorInfo = meta_graph_pb2.TensorInfo
SavedObjectGraph = saved_object_graph_pb2.SavedObjectGraph
StructuredValue = struct_pb2.StructuredValue
TypeSpecProto = struct_pb2.TypeSpecProto

_FIELD = descriptor_pb2.FieldDescriptorProto
_PACKAGE = "runnel.saved_model"
_META_GRAPH = MetaGraphDef.DESCRIPTOR
_VERSION = versions_pb2.VersionDef.DESCRIPTOR
_KINDS = {
    "int32": _FIELD.TYPE_INT32,
    "int64": _FIELD.TYPE_INT64,
    "uint64": _FIELD.TYPE_UINT64,
    "string": _FIELD.TYPE_STRING,
}
# Message: its fields as (name, number, kind); a star before the kind: repeated.
_MESSAGES: dict[str, list[tuple[str, int, str]]] = {
    "SavedModel": [
        ("saved_model_schema_version", 1, "int64"),
        ("meta_graphs", 2, f"*.{_META_GRAPH.full_name}"),
    ],
    "FingerprintDef": [
        ("saved_model_checksum", 1, "uint64"),
        ("graph_def_program_hash", 2, "uint64"),
        ("signature_def_hash", 3, "uint64"),
        ("saved_object_graph_hash", 4, "uint64"),
        ("checkpoint_hash", 5, "uint64"),
        ("version", 6, f".{_VERSION.full_name}"),
        ("uuid", 7, "string"),
    ],
    "KerasObject": [
        ("node_id", 2, "int32"),
        ("node_path", 3, "string"),
        ("identifier", 4, "string"),
        ("metadata", 5, "string"),
        ("version", 6, f".{_VERSION.full_name}"),
    ],
    "KerasMetadata": [("nodes", 1, f"*.{_PACKAGE}.KerasObject")],
}


def _described() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="runnel/saved_model/messages.proto",
        package=_PACKAGE,
        syntax="proto3",
        dependency=[_META_GRAPH.file.name, _VERSION.file.name],
    )
    for message_name, fields in _MESSAGES.items():
        message = file.message_type.add(name=message_name)
        for name, number, kind in fields:
            field = message.field.add(name=name, number=number)
            field.label = _FIELD.LABEL_REPEATED if kind.startswith("*") else _FIELD.LABEL_OPTIONAL
            kind = kind.removeprefix("*")
            if kind in _KINDS:
                field.type = _KINDS[kind]
            else:
                field.type = _FIELD.TYPE_MESSAGE
                field.type_name = kind
    return file


_pool = descriptor_pool.Default()
_pool.Add(_described())


def _message(name: str) -> Any:
    return message_factory.GetMessageClass(_pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


SavedModel = _message("SavedModel")
FingerprintDef = _message("FingerprintDef")
KerasMetadata = _message("KerasMetadata")
