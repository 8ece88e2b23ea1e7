"""The messages of SavedModels: existing ones, and the few that are defined here.

The fields and their numbers are those of `saved_model.proto`, `fingerprint.proto` and
`saved_metadata.proto`; the package name is Runnel's, to avoid conflicts with the original's in one
process.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pool
from tensorboard.compat.proto import (
    meta_graph_pb2,
    saved_object_graph_pb2,
    struct_pb2,
    versions_pb2,
)

from .described import message_classes

MetaGraphDef = meta_graph_pb2.MetaGraphDef
SignatureDef = meta_graph_pb2.SignatureDef
TensorInfo = meta_graph_pb2.TensorInfo
SavedObjectGraph = saved_object_graph_pb2.SavedObjectGraph
StructuredValue = struct_pb2.StructuredValue
TypeSpecProto = struct_pb2.TypeSpecProto

_PACKAGE = "runnel.saved_model"
_META_GRAPH = MetaGraphDef.DESCRIPTOR
_VERSION = versions_pb2.VersionDef.DESCRIPTOR
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
    "KerasMetadata": [("nodes", 1, "*KerasObject")],
}

# Their nested messages are in the default pool.
_made = message_classes(
    "runnel/saved_model/messages.proto",
    _PACKAGE,
    _MESSAGES,
    descriptor_pool.Default(),
    dependencies=[_META_GRAPH.file.name, _VERSION.file.name],
)
SavedModel: Any = _made["SavedModel"]
FingerprintDef: Any = _made["FingerprintDef"]
KerasMetadata: Any = _made["KerasMetadata"]
