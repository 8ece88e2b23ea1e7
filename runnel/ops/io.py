"""Reading and writing whole files, and numbers as bytes."""

from __future__ import annotations

import base64
import gzip
import os
import re
import sys
import zlib

import numpy as np

from ..core import errors
from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import (
    as_dtype,
    bfloat16,
    bool as bool_dtype,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
)
from ..core.op import READS_FILES, WRITES_FILES, op
from ..core.shape_rules import nothing, scalar, unchanged
from ..core.shapes import TensorShape
from ..core.variable import Variable
from ..formats.paths import local, matching, refusal
from . import tensor_proto
from .array.arguments import require_type

_PADDED = frozenset({float16, float32, float64, int32, uint16, uint8, int16, int8, int64, bfloat16})
_RAW = _PADDED | {complex64, complex128, bool_dtype}
_NOT_BASE64 = re.compile(rb"[^A-Za-z0-9_\-]")
# The maximum size of a single read; a folder reports a size far above.
_AT_ONCE = 1 << 30
_COMPRESSIONS = ("", "ZLIB", "GZIP")


def only(array, what) -> bytes:
    """The single string of a scalar argument."""
    array = np.asarray(array, dtype=object)
    if array.ndim:
        raise ValueError(f"{what} tensor must be scalar, but had shape: {list(array.shape)}")
    return array.item()


def _each(array, change):
    """Apply a function to every string of an array."""
    array = np.asarray(array, dtype=object)
    result = np.empty(array.shape, object)
    flat = result.reshape(-1)
    for index, text in enumerate(array.reshape(-1)):
        flat[index] = change(text)
    return result


def _contents(path) -> bytes:
    """Read a whole file.

    With few and short system calls: after each one the thread has to reacquire the GIL.
    """
    number = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        size = _size(number)
        if 0 < size <= _AT_ONCE:
            contents = os.pread(number, size, 0)
            if len(contents) == size:
                return contents
        if size:
            os.lseek(number, 0, os.SEEK_SET)
        with open(number, "rb", buffering=0, closefd=False) as file:
            return file.readall()
    finally:
        os.close(number)


def _size(number) -> int:
    """The size of an open file; 0 for a pipe, and where there is no positional read."""
    if not hasattr(os, "pread"):
        return 0
    try:
        return os.lseek(number, 0, os.SEEK_END)
    except OSError:
        return 0


@op(
    "ReadFile",
    "filename: string -> contents: string",
    shape=scalar,
    gradient=None,
    effect=READS_FILES,
)
def ReadFile(filename):
    name = only(filename, "Input filename")
    try:
        return np.array(_contents(local(name)), dtype=object)
    except OSError as failure:
        raise refusal(failure, name) from None


def read_file(filename, name=None):
    """The bytes of a file.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "greeting")
    >>> tf.io.write_file(path, "hello")
    >>> tf.io.read_file(path).numpy()
    b'hello'
    """
    return ReadFile(convert_to_tensor(filename, string))


@op(
    "WriteFile",
    "filename: string, contents: string",
    shape=nothing,
    gradient=None,
    stateful=True,
    effect=WRITES_FILES,
)
def WriteFile(filename, contents):
    name = only(filename, "Input filename")
    text = only(contents, "Contents")
    try:
        path = local(name)
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(path, "wb") as file:
            file.write(text)
    except OSError as failure:
        raise refusal(failure, name) from None
    return []


def write_file(filename, contents, name=None):
    """Write bytes to a file, creating parent folders."""
    WriteFile(convert_to_tensor(filename, string), convert_to_tensor(contents, string))


@op(
    "MatchingFiles",
    "pattern: string -> filenames: string",
    shape=lambda inputs, attrs: TensorShape([None]),
    gradient=None,
    effect=READS_FILES,
)
def MatchingFiles(pattern):
    array = np.asarray(pattern, dtype=object)
    if array.ndim > 1:
        raise ValueError(
            f"Input patterns tensor must be scalar or vector, but had shape: {list(array.shape)}"
        )
    found = []
    for each in array.reshape(-1):
        found += [os.fsencode(name) for name in matching(os.fsdecode(each))]
    result = np.empty(len(found), object)
    result[:] = sorted(found)
    return result


def matching_files(pattern, name=None):
    """The names of the files that match one of the patterns, sorted.

    >>> tf.io.matching_files("/no/such/folder/*").shape
    TensorShape([0])
    """
    return MatchingFiles(convert_to_tensor(pattern, string))


def match_filenames_once(pattern, name=None):
    """A variable with the names of the files that matched when it was initialized."""
    return Variable(matching_files(pattern), trainable=False, name=name)


@op("EncodeBase64", "input: string -> output: string", shape=unchanged, gradient=None)
def EncodeBase64(input, *, pad=False):
    def encode(text):
        encoded = base64.urlsafe_b64encode(text)
        return encoded if pad else encoded.rstrip(b"=")

    return _each(input, encode)


def encode_base64(input, pad=False, name=None):
    """Encode strings with web-safe base64, with or without `=` padding.

    >>> tf.io.encode_base64("hello").numpy()
    b'aGVsbG8'
    """
    return EncodeBase64(convert_to_tensor(input, string), pad=bool(pad))


def _decoded(text):
    if len(text) % 4 == 0 and text.endswith(b"="):
        text = text[:-2] if text.endswith(b"==") else text[:-1]
    if _NOT_BASE64.search(text):
        raise ValueError(f"Invalid character found in base64: {text[:60]!r}")
    if len(text) % 4 == 1:
        raise ValueError(f"Base64 string length cannot be 1 modulo 4: {text[:60]!r}")
    return base64.urlsafe_b64decode(text + b"=" * (-len(text) % 4))


@op("DecodeBase64", "input: string -> output: string", shape=unchanged, gradient=None)
def DecodeBase64(input):
    return _each(input, _decoded)


def decode_base64(input, name=None):
    """Decode web-safe base64 strings.

    >>> tf.io.decode_base64("aGVsbG8").numpy()
    b'hello'
    """
    return DecodeBase64(convert_to_tensor(input, string))


def _numbers(texts, dtype, little_endian):
    """Reinterpret strings of one length as numbers in a new last axis."""
    array = np.frombuffer(b"".join(texts.reshape(-1)), dtype)
    if little_endian != (sys.byteorder == "little") and dtype.itemsize > 1:
        array = array.byteswap()
    return array


def _with_numbers(inputs, attrs):
    return inputs[0].shape.concatenate([None])


def _with_padded_numbers(inputs, attrs):
    length = constant_value(inputs[1])
    count = None if length is None else int(length) // attrs["out_type"].size
    return inputs[0].shape.concatenate([count])


@op("DecodeRaw", "bytes: string -> output: out_type", shape=_with_numbers, gradient=None)
def DecodeRaw(bytes, *, out_type, little_endian=True):
    texts = np.asarray(bytes, dtype=object)
    lengths = {len(text) for text in texts.reshape(-1)} or {0}
    if len(lengths) > 1:
        raise ValueError(
            "DecodeRaw requires input strings to all be the same size, but the sizes are "
            f"{sorted(lengths)}"
        )
    length = lengths.pop()
    if length % out_type.size:
        raise ValueError(
            f"Input to DecodeRaw has length {length} that is not a multiple of {out_type.size}, "
            f"the size of {out_type.name}"
        )
    array = _numbers(texts, out_type.numpy, little_endian)
    return array.reshape(*texts.shape, length // out_type.size)


@op(
    "DecodePaddedRaw",
    "input_bytes: string, fixed_length: int32 -> output: out_type",
    shape=_with_padded_numbers,
    gradient=None,
)
def DecodePaddedRaw(input_bytes, fixed_length, *, out_type, little_endian=True):
    length = int(fixed_length)
    if length <= 0 or length % out_type.size:
        raise ValueError(
            f"fixed_length ({length}) must be a multiple of the size of out_type ({out_type.size})"
        )
    texts = _each(input_bytes, lambda text: text[:length].ljust(length, b"\0"))
    array = _numbers(texts, out_type.numpy, little_endian)
    return array.reshape(*texts.shape, length // out_type.size)


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """Reinterpret the bytes of strings as numbers, in a new last axis.

    `fixed_length` truncates the strings or pads them with zeros.

    >>> tf.io.decode_raw(b"\\x01\\x00\\x02\\x00", tf.int16).numpy().tolist()
    [1, 2]
    """
    texts, out_type = convert_to_tensor(input_bytes, string), as_dtype(out_type)
    attrs = {"out_type": out_type, "little_endian": bool(little_endian)}
    if fixed_length is None:
        require_type("DecodeRaw", "out_type", out_type, _RAW)
        return DecodeRaw(texts, **attrs)
    require_type("DecodePaddedRaw", "out_type", out_type, _PADDED)
    return DecodePaddedRaw(texts, convert_to_tensor(fixed_length, int32), **attrs)


@op("DecodeCompressed", "bytes: string -> output: string", shape=unchanged, gradient=None)
def DecodeCompressed(bytes, *, compression_type=""):
    if compression_type not in _COMPRESSIONS:
        raise ValueError(
            f"Only ZLIB, GZIP or NONE ('') are supported compressions, got {compression_type!r}"
        )
    if not compression_type:
        return bytes
    decompress = zlib.decompress if compression_type == "ZLIB" else gzip.decompress

    def decode(text):
        try:
            return decompress(text) if text else text
        except (OSError, EOFError, zlib.error) as failure:
            raise errors.DataLossError(None, None, f"inflate() failed: {failure}") from None

    return _each(bytes, decode)


def decode_compressed(bytes, compression_type="", name=None):
    """Decompress strings: `compression_type` is "", "ZLIB" or "GZIP".

    >>> import zlib
    >>> tf.io.decode_compressed(zlib.compress(b"hello"), "ZLIB").numpy()
    b'hello'
    """
    return DecodeCompressed(convert_to_tensor(bytes, string), compression_type=compression_type)


@op("SerializeTensor", "tensor: T -> serialized: string", shape=scalar, gradient=None)
def SerializeTensor(tensor):
    return np.array(tensor_proto.dump(np.asarray(tensor)), dtype=object)


def serialize_tensor(tensor, name=None):
    """Serialize a tensor as a TensorProto.

    >>> tf.io.parse_tensor(tf.io.serialize_tensor([1.0, 2.0]), tf.float32).numpy().tolist()
    [1.0, 2.0]
    """
    return SerializeTensor(convert_to_tensor(tensor))


@op(
    "ParseTensor",
    "serialized: string -> output: out_type",
    shape=lambda inputs, attrs: TensorShape(None),
    gradient=None,
)
def ParseTensor(serialized, *, out_type):
    array = np.asarray(serialized, dtype=object)
    if array.ndim:
        raise ValueError(f"Expected `serialized` to be a scalar, got shape: {list(array.shape)}")
    dtype, result = tensor_proto.load(array.item())
    if dtype is not out_type:
        raise ValueError(
            f"Type mismatch between parsed tensor ({dtype.name}) and dtype ({out_type.name})"
        )
    return result


def parse_tensor(serialized, out_type, name=None):
    """Parse a serialized TensorProto."""
    return ParseTensor(convert_to_tensor(serialized, string), out_type=as_dtype(out_type))
