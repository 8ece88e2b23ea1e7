"""The protocol messages of tensor bundles and of the `checkpoint` file.

The fields and their numbers are those of `tensor_bundle.proto`, `tensor_slice.proto`,
`tensor_shape.proto`, `versions.proto` and `checkpoint_state.proto`; the package name is Runnel's,
to avoid conflicts with the original's in one process.
"""

from __future__ import annotations

from typing import Any

from .described import message_classes

_PACKAGE = "runnel.checkpoint"
_MESSAGES: dict[str, list[tuple[str, int, str]]] = {
    "Dim": [("size", 1, "int64"), ("name", 2, "string")],
    "TensorShapeProto": [("dim", 2, "*Dim"), ("unknown_rank", 3, "bool")],
    "Extent": [("start", 1, "int64"), ("length", 2, "?int64")],
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

_made = message_classes("runnel/formats/checkpoint.proto", _PACKAGE, _MESSAGES)
BundleHeaderProto: Any = _made["BundleHeaderProto"]
BundleEntryProto: Any = _made["BundleEntryProto"]
TensorSliceProto: Any = _made["TensorSliceProto"]
CheckpointState: Any = _made["CheckpointState"]
