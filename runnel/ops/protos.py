"""Protocol messages as tensors: decoding fields of serialized messages, and encoding them."""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np

from ..core import errors
from ..core.convert import convert_to_tensor
from ..core.dtypes import (
    as_dtype,
    bool as boolean,
    float32,
    float64,
    int32,
    int64,
    string,
    uint32,
    uint64,
)
from ..core.op import READS_FILES, op, type_text
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..formats.wire import varint
from .message_types import message_type
from .proto_wire import FIXED, GROUP, SIZED, VARINT, Fields, Wanted

_SIGNED = int32, int64
_UNSIGNED = uint32, uint64


class Kind(NamedTuple):
    """A field type: its wire type, the dtypes that it can be read as, and its native dtype."""

    name: str
    wire: int
    dtypes: tuple[Any, ...]
    stored: str = ""
    zigzag: bool = False


# Keyed by FieldDescriptor.type; `stored` is the dtype of the numbers on the wire.
_KINDS = {
    1: Kind("double", FIXED[8], (float64,), "<f8"),
    2: Kind("float", FIXED[4], (float32, float64), "<f4"),
    3: Kind("int64", VARINT, (int64,), "i8"),
    4: Kind("uint64", VARINT, (uint64,), "u8"),
    5: Kind("int32", VARINT, _SIGNED, "i4"),
    6: Kind("fixed64", FIXED[8], (uint64,), "<u8"),
    7: Kind("fixed32", FIXED[4], _UNSIGNED, "<u4"),
    8: Kind("bool", VARINT, (boolean,), "?"),
    9: Kind("string", SIZED, (string,)),
    10: Kind("group", GROUP, (string,)),
    11: Kind("message", SIZED, (string,)),
    12: Kind("bytes", SIZED, (string,)),
    13: Kind("uint32", VARINT, _UNSIGNED, "u4"),
    14: Kind("enum", VARINT, (int32,), "i4"),
    15: Kind("sfixed32", FIXED[4], _SIGNED, "<i4"),
    16: Kind("sfixed64", FIXED[8], (int64,), "<i8"),
    17: Kind("sint32", VARINT, _SIGNED, "i4", zigzag=True),
    18: Kind("sint64", VARINT, (int64,), "i8", zigzag=True),
}


def _field(descriptor, pool, name, extensions):
    """The descriptor of a field by its name, or by the full name of an extension."""
    found = descriptor.fields_by_name.get(name)
    if found is None and extensions:
        try:
            found = pool.FindExtensionByName(name)
        except KeyError:
            found = None
        if found is not None and found.containing_type is not descriptor:
            found = None
    if found is None:
        known = ", ".join(each.name for each in descriptor.fields[:20])
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Unknown field: {name} in message type {descriptor.full_name}. Its fields are: "
            f"{known}",
        )
    return found


def _described(message, source, names, extensions):
    """The descriptor of a message type, its pool, and its fields of these names."""
    source = source if isinstance(source, bytes) else source.encode(errors="surrogateescape")
    descriptor, pool = message_type(source, message)
    return descriptor, pool, [_field(descriptor, pool, name, extensions) for name in names]


def _decoded_shapes(inputs, attrs):
    batch = inputs[0].shape
    values = [batch.concatenate([None])] * len(attrs["output_types"])
    return [batch.concatenate([len(attrs["field_names"])]), *values]


def _effect_of_source(attrs):
    """Any other descriptor source is a file name."""
    source = attrs["descriptor_source"]
    source = source.encode() if isinstance(source, str) else source
    inside = source in (b"", b"local://") or source.startswith(b"bytes://")
    return None if inside else READS_FILES


@op(
    "DecodeProtoV2",
    "bytes: string -> sizes: int32, values: *output_types",
    shape=_decoded_shapes,
    gradient=None,
    effect=_effect_of_source,
)
def DecodeProtoV2(
    bytes,
    *,
    message_type,
    field_names,
    output_types,
    descriptor_source=b"local://",
    message_format="binary",
    sanitize=False,
):
    if len(field_names) != len(output_types):
        raise ValueError(
            "field_names and output_types attributes must have the same length, but there are "
            f"{len(field_names)} names and {len(output_types)} types"
        )
    if message_format not in ("binary", "text"):
        raise ValueError(f"format must be one of binary or text, not {message_format!r}")
    descriptor, pool, fields = _described(message_type, descriptor_source, field_names, True)
    for field, dtype in zip(fields, output_types, strict=True):
        kind = _KINDS[field.type]
        if dtype not in kind.dtypes:
            fitting = " or ".join(each.name for each in kind.dtypes)
            raise ValueError(
                f"Unexpected output type for {field.full_name}: {kind.name} to {dtype.name}; "
                f"the output type must be {fitting}"
            )
    if not bytes.size:
        raise ValueError(
            "Bufs argument must contain at least one value, but the batch of messages is empty"
        )
    messages = bytes.ravel().tolist()
    if message_format == "text":
        messages = [_from_text(each, descriptor, pool) for each in messages]
    elif sanitize:
        messages = [_sanitized(each, descriptor) for each in messages]
    wanted = [
        Wanted(field.number, _KINDS[field.type].wire, _is_repeated(field)) for field in fields
    ]
    found = Fields(wanted)
    for each in messages:
        found.read(each)
    sizes = np.array(found.sizes, np.int32).reshape(len(messages), len(fields))
    values = [
        _padded(field, found.parts[place], sizes[:, place], dtype)
        for place, (field, dtype) in enumerate(zip(fields, output_types, strict=True))
    ]
    sizes = sizes.reshape(*bytes.shape, len(fields))
    return [sizes, *[each.reshape(*bytes.shape, -1) for each in values]]


def _is_repeated(field):
    # `label` is deprecated in protobuf, `is_repeated` is new there.
    repeated = getattr(field, "is_repeated", None)
    return field.label == field.LABEL_REPEATED if repeated is None else repeated


def _padded(field, parts, sizes, dtype):
    """The values of a field, a row per message, padded with the field's default."""
    width = max(1, int(sizes.max(initial=0)))
    default = _default(field)
    array = np.full((len(sizes), width), default, dtype.numpy)
    if parts:
        array[np.arange(width) < sizes[:, None]] = _numbers(_KINDS[field.type], parts, dtype)
    return array


def _default(field):
    kind = _KINDS[field.type]
    if kind.name == "enum":
        return field.default_value if not _is_repeated(field) else field.enum_type.values[0].number
    if _is_repeated(field) or kind.name in ("message", "group"):
        return b"" if kind.dtypes[0] is string else 0
    value = field.default_value
    return value.encode() if isinstance(value, str) else value


def _numbers(kind, parts, dtype):
    """Decode wire contents to an array."""
    if kind.dtypes[0] is string:
        array = np.empty(len(parts), object)
        array[:] = parts
        return array
    if kind.wire != VARINT:
        return np.frombuffer(b"".join(parts), kind.stored)
    array = np.array(parts, np.uint64)
    if kind.name == "bool":
        return array != 0
    if kind.zigzag:
        if kind.stored == "i4":
            array &= np.uint64(0xFFFFFFFF)
        array = (array >> np.uint64(1)) ^ (np.uint64(0) - (array & np.uint64(1)))
    return array.astype(kind.stored)


def _message_of(descriptor):
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(descriptor)()


def _from_text(text, descriptor, pool):
    from google.protobuf import text_format
    from google.protobuf.message import EncodeError

    message = _message_of(descriptor)
    try:
        text_format.Parse(text, message, descriptor_pool=pool)
        return message.SerializeToString()
    except (text_format.ParseError, EncodeError, ValueError, RecursionError) as failure:
        raise errors.DataLossError(
            None, None, f"Unable to parse text protobuf {descriptor.full_name}: {failure}"
        ) from None


def _sanitized(data, descriptor):
    from google.protobuf.message import DecodeError, EncodeError

    message = _message_of(descriptor)
    try:
        message.ParseFromString(data)
        return message.SerializeToString()
    except (DecodeError, EncodeError, ValueError) as failure:
        raise errors.DataLossError(
            None, None, f"Unable to parse binary protobuf {descriptor.full_name}: {failure}"
        ) from None


class _Decoded(NamedTuple):
    """The number of values of each field per message, and the values."""

    sizes: Any
    values: Any


# Results are a named tuple with the op's name.
_Decoded.__name__ = "DecodeProtoV2"


def _names(value, argument, function):
    if not isinstance(value, list | tuple):
        raise TypeError(
            f"Expected list for '{argument}' argument to '{function}' Op, not {value!r}."
        )
    return tuple(_text(each, argument) for each in value)


def _text(value, argument):
    if isinstance(value, bytes):
        return value.decode()
    if not isinstance(value, str):
        raise TypeError(f"Expected string for argument '{argument}' not {value!r}.")
    return value


def _source(value):
    if isinstance(value, bytes):
        return value
    return _text(value, "descriptor_source").encode(errors="surrogateescape")


def decode_proto(
    bytes,
    message_type,
    field_names,
    output_types,
    descriptor_source="local://",
    message_format="binary",
    sanitize=False,
    name=None,
):
    """Decode fields of serialized protocol messages, one tensor per field.

    `sizes[..., i]` is how often a message has the field `field_names[i]`; `values[i]` has a row for
    each message, padded with the field's default. A nested message is returned as a string, for
    another `decode_proto`. Descriptors come from a file with a FileDescriptorSet, from `bytes://`
    and such a set, or are those known to the process (`local://`).

    >>> record = tf.train.Example(features=tf.train.Features(feature={}))
    >>> sizes, [features] = tf.io.decode_proto(
    ...     [record.SerializeToString(), b""], "tensorflow.Example", ["features"], [tf.string])
    >>> sizes.numpy().tolist()
    [[1], [0]]
    """
    if not isinstance(output_types, list | tuple):
        raise TypeError(
            f"Expected list for 'output_types' argument to 'decode_proto_v2' Op, not "
            f"{output_types!r}."
        )
    results = DecodeProtoV2(
        convert_to_tensor(bytes, string),
        message_type=_text(message_type, "message_type"),
        field_names=_names(field_names, "field_names", "decode_proto_v2"),
        output_types=tuple(as_dtype(each) for each in output_types),
        descriptor_source=_source(descriptor_source),
        message_format=_text(message_format, "message_format"),
        sanitize=sanitize,
    )
    return _Decoded(results[0], results[1:])


def _encoded_shape(inputs, attrs):
    sizes, values = inputs
    batch = sizes.shape[:-1] if sizes.shape.rank else TensorShape(None)
    for name, value in zip(attrs["field_names"], values, strict=False):
        if value.shape.rank is not None and value.shape.rank < 2:
            raise ValueError(
                f"Invalid shape for field {name}.  Saw shape {value.shape} but it should be at "
                "least a matrix: the batch, and the repetitions of the field."
            )
        if value.shape.rank is not None:
            try:
                batch = batch.merge_with(value.shape[:-1])
            except ValueError:
                raise ValueError(
                    "Values must match up to the last dimension, and `sizes` must be of the shape "
                    f"batch_size + [len(field_names)]: the value of {name} has the shape "
                    f"{value.shape} beside a batch of {batch}"
                ) from None
    return batch


@op(
    "EncodeProto",
    "sizes: int32, values: *Tinput_types -> bytes: string",
    shape=_encoded_shape,
    gradient=None,
    effect=_effect_of_source,
)
def EncodeProto(sizes, values, *, field_names, message_type, descriptor_source=b"local://"):
    _, _, fields = _described(message_type, descriptor_source, field_names, False)
    if len(fields) != len(values):
        raise ValueError(
            f"Length of inputs list must match field_names: {len(values)} values for "
            f"{len(fields)} names"
        )
    batch = values[0].shape[:-1]
    for field, value in zip(fields, values, strict=True):
        _require_fitting(field, value, batch)
    if sizes.shape != (*batch, len(fields)):
        raise ValueError(
            f"sizes should be batch_size + [len(field_names)].  Saw: {list(sizes.shape)} but "
            f"expected: {[*batch, len(fields)]}"
        )
    counts = np.maximum(sizes.reshape(-1, len(fields)), 0)
    pieces: list[list[bytes]] = [[] for _ in range(len(counts))]
    for place in sorted(range(len(fields)), key=lambda each: fields[each].number):
        value = values[place]
        rows = value.reshape(len(counts), value.shape[-1])
        _check_counts(counts[:, place], value.shape[-1], place)
        _write(fields[place], rows, counts[:, place], pieces)
    result = np.empty(len(pieces), object)
    result[:] = [b"".join(each) for each in pieces]
    return result.reshape(batch)


def _require_fitting(field, value, batch):
    kind = _KINDS[field.type]
    if value.ndim < 2:
        raise ValueError(
            f"Invalid shape for field {field.name}.  Saw shape {list(value.shape)} but it should "
            "be at least a matrix: the batch, and the repetitions of the field."
        )
    if value.shape[:-1] != batch:
        raise ValueError(
            f"Values must match up to the last dimension, but the value of {field.name} has the "
            f"shape {list(value.shape)} beside a batch of {list(batch)}"
        )
    if value.dtype not in [each.numpy for each in kind.dtypes]:
        fitting = " or ".join(type_text(each) for each in kind.dtypes)
        raise ValueError(
            f"Incompatible type for field {field.name}.  Saw dtype: {value.dtype.name} but field "
            f"type is: {kind.name}, which is written from {fitting}"
        )


def _check_counts(counts, width, place):
    beyond = np.flatnonzero(counts > width)
    if beyond.size:
        message = int(beyond[0])
        raise ValueError(
            "Size to write must not be larger than value tensor; but saw: "
            f"{counts[message]} > {width} at message {message} field {place}"
        )


def _write(field, rows, counts, pieces):
    """Append the encoding of a field in each message to the pieces of that message."""
    kind = _KINDS[field.type]
    packed = _is_repeated(field) and field.is_packed
    tag = varint(field.number << 3 | (SIZED if packed else kind.wire))
    end = varint(field.number << 3 | 4) if kind.wire == GROUP else b""
    written = _writer(kind)
    for row, count, target in zip(rows, counts.tolist(), pieces, strict=True):
        if count == 0:
            continue
        items = written(row[:count])
        if packed:
            content = b"".join(items)
            target += (tag, varint(len(content)), content)
        elif kind.wire == SIZED:
            for item in items:
                target += (tag, varint(len(item)), item)
        else:
            for item in items:
                target += (tag, item, end)


@functools.cache
def _writer(kind):
    """The function that encodes an array's items as bytes."""
    if kind.dtypes[0] is string:
        return lambda array: array.tolist()
    if kind.wire != VARINT:
        size = np.dtype(kind.stored).itemsize

        def fixed(array):
            data = array.astype(kind.stored).tobytes()
            return [data[start : start + size] for start in range(0, len(data), size)]

        return fixed

    def numbers(array):
        array = array.astype(kind.stored)
        if kind.zigzag:
            bits = array.dtype.itemsize * 8 - 1
            array = ((array << 1) ^ (array >> bits)).view(f"u{array.dtype.itemsize}")
        return [varint(each) for each in array.tolist()]

    return numbers


def encode_proto(sizes, values, field_names, message_type, descriptor_source="local://", name=None):
    """Serialize protocol messages from tensors of their fields.

    The first `sizes[..., i]` items of the last axis of `values[i]` become the field
    `field_names[i]`; fields are written in order of number. A message field takes strings.

    >>> numbers = tf.constant([[1, 2, 3]], tf.int64)
    >>> tf.io.encode_proto([[2]], [numbers], ["value"], "tensorflow.Int64List").numpy().tolist()
    [b'\\n\\x02\\x01\\x02']
    """
    if not isinstance(values, list | tuple):
        values = list(values)
    if not values:
        raise errors.InvalidArgumentError(
            None,
            None,
            "Length for attr 'Tinput_types' of 0 must be at least minimum 1: `values` is empty, "
            "so that the batch is unknown [Op:EncodeProto]",
        )
    return EncodeProto(
        sizes if isinstance(sizes, Tensor) else convert_to_tensor(sizes, int32),
        [convert_to_tensor(each) for each in values],
        field_names=_names(field_names, "field_names", "encode_proto"),
        message_type=_text(message_type, "message_type"),
        descriptor_source=_source(descriptor_source),
    )
