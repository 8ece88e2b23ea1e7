"""Saved datasets on disk, in TensorFlow's format.

    dataset_spec.pb                  the types of the elements, a StructuredValue
    snapshot.metadata                1 hash of the pipeline, 2 name of the run, 3 time, 4 version,
                                     5 dtypes, 6 number of elements, 1000 whether it is complete
    <run>/00000000.shard/00000000.snapshot    TFRecord file: a TensorProto for each tensor

Strings are stored in the proto's bytes as all their lengths followed by their characters. A
composite is a tensor of variants: messages with a type name and the component tensors. Files may be
compressed by GZIP, or in blocks by Snappy.
"""

from __future__ import annotations

import math
import operator
import os
import secrets
import struct
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core import dtypes, errors
from ..core.convert import convert_to_tensor
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec
from ..formats.safe_files import replace_file
from ..formats.tfrecord import TFRecordWriter, opened, read_records, records
from ..formats.wire import Reader, field, varint
from ..ops import tensor_proto
from .structure import Leaves

SPEC_FILE = "dataset_spec.pb"
METADATA_FILE = "snapshot.metadata"
_VERSION = 2
_COMPLETE = 1000
_RAGGED = b"RaggedTensorVariant"
_TENSOR = b"tensorflow::Tensor"
# Texts that a message may declare without bringing them.
_MOST_FILLED = 1 << 24


class Metadata(NamedTuple):
    """The metadata of a complete run."""

    run: str
    dtypes: tuple[int, ...]
    elements: int
    pipeline: str = ""

    def write(self, folder: str) -> None:
        """Make this the current run of the folder."""
        parts = [field(1, self.pipeline.encode())] if self.pipeline else []
        parts.append(field(2, self.run.encode()))
        parts.append(b"\x18" + varint(time.time_ns() // 1000) + b"\x20" + varint(_VERSION))
        parts.append(field(5, b"".join(map(varint, self.dtypes))))
        if self.elements:
            parts.append(b"\x30" + varint(self.elements))
        parts.append(varint(_COMPLETE << 3) + b"\x01")
        replace_file(os.path.join(folder, METADATA_FILE), b"".join(parts))

    @staticmethod
    def read(folder: str) -> Metadata | None:
        """The current run of a folder; None if none is complete."""
        path = os.path.join(folder, METADATA_FILE)
        if not os.path.exists(path):
            return None
        fields: dict[int, Any] = {}
        kinds: list[int] = []
        try:
            with opened(path, "rb") as file:
                for number, value in Reader(file.read()):
                    if number == 5:
                        kinds += [value] if isinstance(value, int) else _varints(value)
                    fields[number] = value
            run = fields.get(2, b"").decode()
            # A folder beside this one, or any other, is none of this dataset.
            if run in (".", "..") or set(run) & {"/", os.sep, "\0"}:
                raise ValueError(f"{run!r} is no name of a folder in it")
            pipeline = fields.get(1, b"").decode()
            elements = operator.index(fields.get(6, 0))
        except (ValueError, AttributeError, TypeError) as failure:
            raise errors.DataLossError(
                None, None, f"{path} does not describe a saved dataset: {failure}"
            ) from None
        if not fields.get(_COMPLETE):
            return None
        return Metadata(run, tuple(kinds), elements, pipeline)


def _varints(data: bytes) -> list[int]:
    reader, found = Reader(data), []
    while reader._place < len(data):
        found.append(reader.varint())
    return found


def new_run() -> str:
    """A unique run name."""
    return str(secrets.randbits(64))


# Elements.


def _is_extension(spec: Any) -> bool:
    """Whether files hold the tensors of a leaf one by one: those of an extension type."""
    return hasattr(spec, "_registered_name")


def _written(specs: Sequence[Any]) -> list[Any]:
    """The specs of the records that an element is written as."""
    return [each for spec in specs for each in (spec.flatten() if _is_extension(spec) else [spec])]


def dtypes_of(specs: Sequence[Any]) -> tuple[int, ...]:
    """The dtypes of what is written for elements of these specs."""
    specs = _written(specs)
    kinds = [spec.dtype if type(spec) is TensorSpec else dtypes.variant for spec in specs]
    return tuple(int(kind.as_datatype_enum) for kind in kinds)


def encoded(spec: Any, leaf: Any) -> bytes:
    """The message of one leaf of an element."""
    if type(spec) is TensorSpec:
        return _message(np.asarray(leaf))
    if hasattr(spec, "ragged_rank"):
        # Rows of ragged tensors with one ragged dimension are plain tensors.
        plain = isinstance(leaf, Tensor)
        parts = [leaf] if plain else [*leaf.nested_row_splits, leaf.flat_values]
        return _variants([], [_variant(_RAGGED, parts)])
    if hasattr(leaf, "dense_shape"):
        parts = [leaf.indices, leaf.values, leaf.dense_shape]
        return _variants([3], [_variant(_TENSOR, [part]) for part in parts])
    raise errors.UnimplementedError(
        None, None, f"Files hold tensors, ragged and sparse tensors, not elements of {spec}."
    )


def decoded(spec: Any, record: bytes) -> Any:
    """The leaf of a message."""
    try:
        if type(spec) is TensorSpec:
            return _array(spec, record)
        parts = [_tensors_in(each) for each in _strings_in(record)[1]]
        if hasattr(spec, "ragged_rank"):
            from ..ops.ragged.ragged_tensor import RaggedTensor

            *splits, values = parts[0]
            if not splits:
                return values
            return RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        from ..ops.sparse.sparse_tensor import SparseTensor

        return SparseTensor(*[part[0] for part in parts])
    except (ValueError, IndexError, TypeError) as failure:
        raise errors.DataLossError(
            None, None, f"A record of a saved dataset does not hold {spec}: {failure}"
        ) from None


def _array(spec: Any, record: bytes) -> Any:
    if spec.dtype is not dtypes.string:
        kind, array = tensor_proto.load(record)
        if kind is not spec.dtype:
            raise errors.InvalidArgumentError(
                None, None,
                f"Data type mismatch: expected {spec.dtype.name} but got {kind.name}. The "
                "element_spec does not fit what was saved.",
            )  # fmt: skip
        return array[()] if array.ndim == 0 else array
    sizes, texts = _strings_in(record)
    array = np.empty(len(texts), object)
    array[:] = texts
    return array.reshape(sizes)


def _message(array: Any) -> bytes:
    if array.dtype != object:
        return tensor_proto.dump(array)
    texts = array.reshape(-1).tolist()
    content = b"".join([varint(len(text)) for text in texts] + texts)
    return _head(dtypes.string, array.shape) + (field(4, content) if texts else b"")


def _head(kind: Any, sizes: Sequence[int]) -> bytes:
    dims = [field(2, b"\x08" + varint(size) if size else b"") for size in sizes]
    return b"\x08" + varint(int(kind.as_datatype_enum)) + field(2, b"".join(dims))


def _variant(name: bytes, tensors: Sequence[Any]) -> bytes:
    parts = [field(3, _message(np.asarray(tensor._array))) for tensor in tensors]
    return field(1, name) + b"".join(parts)


def _variants(sizes: Sequence[int], messages: Sequence[bytes]) -> bytes:
    content = b"".join([varint(len(each)) for each in messages] + list(messages))
    return _head(dtypes.variant, sizes) + field(4, content)


def _strings_in(record: bytes) -> tuple[list[int], list[bytes]]:
    """The shape and the strings of a message of strings or variants."""
    sizes, content, listed = [], None, []
    for number, value in Reader(record):
        if number == 2 and isinstance(value, bytes):
            sizes = tensor_proto._sizes(value)
        elif number == 4 and isinstance(value, bytes):
            content = value
        elif number in (8, 15) and isinstance(value, bytes):
            listed.append(value)
    count = math.prod(sizes)
    if content is None:
        if count > _MOST_FILLED:
            raise ValueError(f"it declares {count} texts")
        if listed and len(listed) < count:
            listed += [listed[-1]] * (count - len(listed))
        return sizes, listed or [b""] * count
    if count > len(content):
        raise ValueError(f"{len(content)} bytes cannot hold {count} texts")
    reader = Reader(content)
    lengths = [reader.varint() for _ in range(count)]
    return sizes, [reader.take(length) for length in lengths]


def _tensors_in(variant: bytes) -> list[Tensor]:
    found = []
    for number, value in Reader(variant):
        if number == 3 and isinstance(value, bytes):
            kind = dtypes.as_dtype(int(dict(Reader(value)).get(1, 0)))
            spec = TensorSpec(None, kind)
            found.append(Tensor(_array(spec, value), kind))
    return found


# Shards.


def shard_folder(folder: str, run: str, number: int) -> str:
    """The folder of a shard's files."""
    return os.path.join(folder, run, f"{number:08d}.shard")


def shards(folder: str, run: str) -> list[str]:
    """The folders of all shards of a run."""
    base = os.path.join(folder, run)
    names = sorted(os.listdir(base)) if os.path.isdir(base) else []
    return [os.path.join(base, name) for name in names if name.endswith(".shard")]


class ShardWriter:
    """Writes the elements of one shard."""

    def __init__(self, folder: str, specs: Sequence[Any], compression: str) -> None:
        os.makedirs(folder, exist_ok=True)
        self._path = os.path.join(folder, "00000000.snapshot")
        self._specs = specs
        self._writer = TFRecordWriter(self._path, "GZIP" if compression == "GZIP" else "")
        if compression == "SNAPPY":
            self._writer._compressor = _Snappy()

    def write(self, leaves: Leaves) -> None:
        """Append an element."""
        for spec, leaf in zip(self._specs, leaves, strict=True):
            if _is_extension(spec):
                for tensor in spec.to_tensors(leaf):
                    self._writer.write(encoded(tensor._type_spec, tensor.numpy()))
            else:
                self._writer.write(encoded(spec, leaf))

    def close(self) -> None:
        """Finish the file."""
        self._writer.close()


def read_shard(folder: str, specs: Sequence[Any], compression: str) -> Iterator[Leaves]:
    """The elements of a shard."""
    written = _written(specs)
    extended = any(map(_is_extension, specs))
    leaves: Leaves = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".snapshot"):
            continue
        path = os.path.join(folder, name)
        for record in _records_of(path, compression):
            leaves.append(decoded(written[len(leaves)], record))
            if len(leaves) == len(written):
                yield _joined(specs, leaves) if extended else leaves
                leaves = []


def _joined(specs: Sequence[Any], parts: Leaves) -> Leaves:
    """The leaves of an element, made of what its records hold."""
    rest = iter(parts)
    return [
        spec.from_tensors(convert_to_tensor(next(rest)) for _ in spec.flatten())
        if _is_extension(spec)
        else next(rest)
        for spec in specs
    ]


def _records_of(path: str, compression: str) -> Iterator[bytes]:
    if compression != "SNAPPY":
        yield from read_records(path, compression)
        return
    with opened(path, "rb") as file:
        yield from records(_Unsnapped(file, path), path)


# Snappy: blocks, each prefixed with its length.

_BLOCK = 1 << 16
_LENGTH = struct.Struct(">I")
_LARGEST = 1 << 27


class _Snappy:
    """A Snappy compressor that emits literals only, without compression."""

    def __init__(self) -> None:
        self._held = bytearray()

    def compress(self, data: bytes) -> bytes:
        """The compressed data available so far."""
        self._held += data
        made = []
        while len(self._held) >= _BLOCK:
            made.append(self._block(bytes(self._held[:_BLOCK])))
            del self._held[:_BLOCK]
        return b"".join(made)

    def flush(self) -> bytes:
        """The remaining data."""
        rest, self._held = bytes(self._held), bytearray()
        return self._block(rest) if rest else b""

    @staticmethod
    def _block(data: bytes) -> bytes:
        # 61: a literal whose length minus one is in the next two bytes.
        body = varint(len(data)) + bytes([61 << 2]) + struct.pack("<H", len(data) - 1) + data
        return _LENGTH.pack(len(body)) + body


class _Unsnapped:
    """A file-like decompressor of Snappy blocks."""

    def __init__(self, file: Any, path: str) -> None:
        self._file = file
        self._path = path
        self._ready = b""
        self._place = 0

    def read(self, size: int) -> bytes:
        """At most this many bytes; none at the end."""
        if self._place == len(self._ready):
            head = self._file.read(4)
            if not head:
                return b""
            length = _LENGTH.unpack(head)[0] if len(head) == 4 else _LARGEST + 1
            block = self._file.read(length) if length <= _LARGEST else b""
            if len(block) < length:
                raise self._lost("it ends in the middle of a block")
            self._ready, self._place = self._whole(block), 0
        taken = self._ready[self._place : self._place + size]
        self._place += len(taken)
        return taken

    def _lost(self, why: str) -> Exception:
        return errors.DataLossError(
            None, None, f"{self._path} is not compressed by Snappy, or damaged: {why}"
        )

    def _whole(self, block: bytes) -> bytes:
        try:
            return unsnapped(block)
        except (ValueError, IndexError) as failure:
            raise self._lost(str(failure)) from None


def unsnapped(data: bytes) -> bytes:
    """A decompressed Snappy block; ValueError if it is malformed."""
    reader = Reader(data)
    size = reader.varint()
    if size > _LARGEST:
        raise ValueError(f"a block of {size} bytes is too large")
    result = bytearray()
    while reader._place < len(data):
        tag = reader.take(1)[0]
        kind = tag & 3
        if kind == 0:
            length = tag >> 2
            if length >= 60:
                length = int.from_bytes(reader.take(length - 59), "little")
            result += reader.take(length + 1)
            continue
        if kind == 1:
            length, offset = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | reader.take(1)[0]
        else:
            length, offset = (tag >> 2) + 1, int.from_bytes(reader.take(2 * kind - 2), "little")
        if not 0 < offset <= len(result):
            raise ValueError("a copy from before the beginning")
        if len(result) + length > size:
            raise ValueError("more bytes than announced")
        start = len(result) - offset
        # The copy may overlap its own output.
        piece = result[start : start + length]
        while len(piece) < length:
            piece *= 2
        result += piece[:length]
    if len(result) != size:
        raise ValueError(f"{len(result)} bytes instead of {size}")
    return bytes(result)
