"""Examples written as JSON, made into serialized records."""

from __future__ import annotations

import base64
import binascii
import json
import struct

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import string
from ...core.op import op
from ...core.shape_rules import unchanged
from ...formats.wire import varint

_LISTS = {
    "bytesList": (0x0A, "bytes"),
    "bytes_list": (0x0A, "bytes"),
    "floatList": (0x12, "float"),
    "float_list": (0x12, "float"),
    "int64List": (0x1A, "int64"),
    "int64_list": (0x1A, "int64"),
}
_INTEGERS = (-(2**63), 2**63 - 1)


def _field(tag, data):
    return bytes([tag]) + varint(len(data)) + data


def _members(value, place, allowed=None):
    """The members of a JSON object, without null ones."""
    if not isinstance(value, dict):
        raise ValueError(f"{place or 'an Example'} must be an object, not {value!r:.60}")
    for name in value:
        if allowed is not None and name not in allowed:
            raise ValueError(f"no such field: {name!r} in {place or 'an Example'}")
    return {name: each for name, each in value.items() if each is not None}


def _value(value, kind, place):
    if kind == "bytes":
        if not isinstance(value, str):
            raise ValueError(f"{place} must be a string of base64, not {value!r:.60}")
        text = value.replace("-", "+").replace("_", "/").rstrip("=")
        try:
            data = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
        except (binascii.Error, ValueError):
            raise ValueError(f"{place}: corrupt base64: {value[:60]!r}") from None
        return _field(0x0A, data)
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"{place} must be a number, not {value!r:.60}")
    try:
        if kind == "float":
            return b"\x0d" + struct.pack("<f", float(value))
        number = int(value)
        if number != float(value) and not isinstance(value, str | int):
            raise ValueError("a fraction")
    except (ValueError, OverflowError):
        raise ValueError(f"{place} is no {kind}: {value!r:.60}") from None
    if not _INTEGERS[0] <= number <= _INTEGERS[1]:
        raise ValueError(f"{place} is out of the range of int64: {number}")
    return b"\x08" + varint(number & 0xFFFFFFFFFFFFFFFF)


def _feature(value, place):
    result = b""
    for name, values in _members(value, place, _LISTS).items():
        if result:
            raise ValueError(f"{place} has more than one list of values")
        tag, kind = _LISTS[name]
        listed = _members(values, f"{place}.{name}", ("value",)).get("value", [])
        if not isinstance(listed, list):
            raise ValueError(f"{place}.{name}.value must be an array, not {listed!r:.60}")
        data = [
            _value(each, kind, f"{place}.{name}.value[{index}]")
            for index, each in enumerate(listed)
        ]
        result = _field(tag, b"".join(data))
    return result


def _serialized(text):
    try:
        found = json.loads(text.decode())
        example = _members(found, "", ("features",))
        if "features" not in example:
            return b""
        entries = _members(example["features"], "features", ("feature",)).get("feature", {})
        features = []
        for key, value in _members(entries, "features.feature").items():
            feature = _feature(value, f"features.feature[{key!r}]")
            features.append(_field(0x0A, _field(0x0A, key.encode()) + _field(0x12, feature)))
        return _field(0x0A, b"".join(features))
    except (ValueError, RecursionError) as failure:
        raise ValueError(f"Error while parsing JSON: {failure}") from None


@op(
    "DecodeJSONExample",
    "json_examples: string -> binary_examples: string",
    shape=unchanged,
    gradient=None,
)
def DecodeJSONExample(json_examples):
    texts = np.asarray(json_examples, dtype=object)
    result = np.empty(texts.shape, object)
    flat = result.reshape(-1)
    for index, text in enumerate(texts.reshape(-1).tolist()):
        flat[index] = _serialized(text)
    return result


def decode_json_example(json_examples, name=None):
    """Examples written as JSON (in Protocol Buffers' mapping), as serialized Example records.

    >>> text = '{"features": {"feature": {"x": {"int64List": {"value": [7]}}}}}'
    >>> record = tf.train.Example.FromString(tf.io.decode_json_example(text).numpy())
    >>> list(record.features.feature["x"].int64_list.value)
    [7]
    """
    return DecodeJSONExample(convert_to_tensor(json_examples, string))
