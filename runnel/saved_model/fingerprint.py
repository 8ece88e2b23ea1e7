"""Fingerprints: hashes that identify SavedModels."""

from __future__ import annotations

import hashlib
import os
import uuid
from pathlib import Path
from typing import Any

from google.protobuf.message import DecodeError

from ..formats.saved_model_messages import FingerprintDef
from ..formats.saved_model_names import FINGERPRINT_FILENAME
from .limits import require_size
from .permissions import path_inside

_FIELDS = ("graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
           "checkpoint_hash")  # fmt: skip
_VERSION = 4
# Five numbers, a version and a name take some hundred bytes.
_LARGEST = 1 << 20


def fingerprint_of(saved_model: Any, data: bytes, prefix: str) -> bytes:
    """The fingerprint of a SavedModel with its variables, serialized."""
    meta_graph = saved_model.meta_graphs[0]
    signatures = b"".join(
        key.encode() + meta_graph.signature_def[key].SerializeToString(deterministic=True)
        for key in sorted(meta_graph.signature_def)
    )
    message = FingerprintDef(
        saved_model_checksum=_hash(data),
        graph_def_program_hash=_hash(meta_graph.graph_def.SerializeToString(deterministic=True)),
        signature_def_hash=_hash(signatures),
        saved_object_graph_hash=_hash(
            meta_graph.object_graph_def.SerializeToString(deterministic=True)
        ),
        checkpoint_hash=_hash(Path(f"{prefix}.index").read_bytes()),
        uuid=str(uuid.uuid4().int),
    )
    message.version.producer = _VERSION
    found: bytes = message.SerializeToString()
    return found


def _hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "little")


class Fingerprint:
    """The hashes that identify a SavedModel: of its graph, signatures, objects and values."""

    def __init__(
        self,
        saved_model_checksum: int | None = None,
        graph_def_program_hash: int | None = None,
        signature_def_hash: int | None = None,
        saved_object_graph_hash: int | None = None,
        checkpoint_hash: int | None = None,
        version: Any = None,
    ) -> None:
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version

    @classmethod
    def from_proto(cls, proto: Any) -> Fingerprint:
        """The fingerprint in a message or its serialized form."""
        if isinstance(proto, bytes):
            proto = FingerprintDef.FromString(proto)
        numbers = {name: getattr(proto, name) for name in ("saved_model_checksum", *_FIELDS)}
        return cls(**numbers, version=proto.version)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Fingerprint):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in _FIELDS)

    def __hash__(self) -> int:
        return hash(self.singleprint())

    def __str__(self) -> str:
        lines = ["SavedModel Fingerprint"]
        lines += [f"  {name}: {getattr(self, name)}" for name in ("saved_model_checksum", *_FIELDS)]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"Fingerprint({self.singleprint()})"

    def singleprint(self) -> str:
        """All hashes in one string: equal if graph, signatures, objects and values are."""
        return "/".join(str(getattr(self, name)) for name in _FIELDS)


def read_fingerprint(export_dir: Any) -> Fingerprint:
    """The fingerprint of the SavedModel in a folder; FileNotFoundError where there is none."""
    folder = os.fsdecode(os.fspath(export_dir))
    path = path_inside(folder, FINGERPRINT_FILENAME)
    try:
        require_size(path, _LARGEST)
        return Fingerprint.from_proto(Path(path).read_bytes())
    except DecodeError as failure:
        raise RuntimeError(
            f"SavedModel Fingerprint Error: Could not read fingerprint from {path}: {failure}"
        ) from None
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(
            f"SavedModel Fingerprint Error: Could not find fingerprint in directory: {export_dir}\n"
            f"NOT_FOUND: {path} not found"
        ) from None
