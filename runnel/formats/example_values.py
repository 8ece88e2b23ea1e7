"""`tf.train.Example` and its parts, fast to build: a part stays serialized until it is accessed.

A protocol message owns its memory, so that every part is copied when it is added to a larger one.
A program that writes records creates half a dozen parts for each, only to serialize the largest.
Here a part encodes its arguments at once:

    Int64List(value=[5])           b"\\n\\x01\\x05": which field, how many bytes, the bytes
    Feature(int64_list=those)      b"\\x1a\\x03" + those

Bytes are immutable, so no defensive copies are needed. Any other use (reading, changing,
comparing, printing) parses the bytes into the protocol message of `example_messages.py`, which
replaces them from then on. Values without such a simple encoding are passed to the protocol message
at once, which accepts or rejects them.

The parts of a protocol message are protocol messages. These count as instances of the classes here,
and accept these parts where they copy, merge, compare or collect messages.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence
from typing import Any

from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from numpy import ndarray

from . import example_messages as messages
from .wire import varint

_HOW_TO_MAKE = (
    " A tf.train.Feature holds a list of one kind: Feature(int64_list=Int64List(value=[5])) of "
    "integers, Feature(float_list=FloatList(value=[0.5])) of floats, Feature(bytes_list="
    "BytesList(value=[b'text'])) of bytes (text.encode())."
)


class _Table(dict[Any, Any]):
    """A bounded memo table of a function: a lookup is faster than a call."""

    def __init__(self, function: Callable[[Any], Any], most: int = 4096) -> None:
        self._function, self._most = function, most

    def __missing__(self, key: Any) -> Any:
        result = self._function(key)
        if len(self) < self._most:
            self[key] = result
        return result


def _heads(tag: int) -> _Table:
    """The header of a field by the length of its content."""

    def head(length: int) -> bytes:
        if length < 1 << 7:
            return bytes((tag, length))
        if length < 1 << 14:
            return bytes((tag, length & 127 | 128, length >> 7))
        return bytes((tag,)) + varint(length)

    return _Table(head)


def _entry_heads(key: str) -> _Table:
    """The header of a map entry's value by the length of the value."""
    text = key.encode()
    first = _FIRST[len(text)] + text

    def head(length: int) -> bytes:
        both = first + _SECOND[length]
        return bytes(_FIRST[len(both) + length] + both)

    return _Table(head, most=256)


def _one_integer(number: int) -> bytes:
    if not -(1 << 63) <= number < 1 << 63:
        return bytes(messages.Int64List(value=[number]).SerializeToString())  # Raises the error.
    packed = varint(number)
    return bytes(_FIRST[len(packed)] + packed)


# By field number, by key of the entry, by the only integer of a list.
_FIRST, _SECOND, _THIRD = _heads(0x0A), _heads(0x12), _heads(0x1A)
_ENTRIES = _Table(_entry_heads, most=256)
_ONE_INTEGER = _Table(_one_integer)


class _PartType(type):
    """The metaclass of the parts: protocol messages are their instances, too."""

    _real: Any = None

    def __instancecheck__(cls, value: Any) -> bool:
        return super().__instancecheck__(value) or type(value) is cls._real


class _Part(Message, metaclass=_PartType):
    """A message that stays serialized until it is accessed."""

    __slots__ = ("_held",)
    __dir__ = object.__dir__
    _held: Any

    def __init_subclass__(cls, real: Any = None) -> None:
        if real is None:
            raise TypeError("A Message class can only inherit from Message, not from a message.")
        cls._real = real
        cls.DESCRIPTOR = real.DESCRIPTOR
        cls.FromString = real.FromString
        for field in real.DESCRIPTOR.fields:
            setattr(cls, field.name, _field(field.name))
            setattr(cls, f"{field.name.upper()}_FIELD_NUMBER", field.number)
        for entry in real.DESCRIPTOR.nested_types:
            setattr(cls, entry.name, GetMessageClass(entry))

    def _made(self, positional: Any, unknown: dict[str, Any], **fields: Any) -> Any:
        """The protocol message with these arguments."""
        given = {**fields, **unknown}
        try:
            return self._real(*positional, **_realized(given))
        except TypeError as failure:
            shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
            message = f"{failure}. Received: {shown}.{_HOW_TO_MAKE}"
            raise TypeError(message) from None

    def _message(self) -> Any:
        """The protocol message; from now on this part holds it."""
        if type(self._held) is bytes:
            self._held = self._real.FromString(self._held) if self._held else self._real()
        return self._held

    def __eq__(self, other: object) -> bool:
        return bool(self._message() == _realized(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def ParseFromString(self, serialized: Any) -> Any:
        """Replace the content by parsed bytes."""
        if type(self._held) is bytes:
            self._held = self._real()
        return self._held.ParseFromString(serialized)

    def SerializeToString(self, *arguments: Any, **options: Any) -> Any:
        """The serialized message."""
        held = self._held
        if type(held) is bytes and not arguments and not options:
            return held
        return self._message().SerializeToString(*arguments, **options)


def _field(name: str) -> property:
    def read(self: Any) -> Any:
        held = self._held
        return getattr(self._message() if type(held) is bytes else held, name)

    def write(self: Any, value: Any) -> None:
        setattr(self._message(), name, value)

    return property(read, write)


def _forwarded(name: str, given: Callable[[Any], Any] | None = None) -> Any:
    """A method forwarded to the protocol message or container; may convert its arguments."""

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if given is not None:
            arguments, options = given(arguments), given(options)
        return getattr(self._message(), name)(*arguments, **options)

    return method


for _name in {*vars(Message), "FindInitializationErrors", "__repr__"} - {*vars(_Part)}:
    if callable(getattr(messages.Example, _name)):
        setattr(_Part, _name, _forwarded(_name))


def _realized(value: Any) -> Any:
    """A value in which parts are replaced by protocol messages."""
    if isinstance(value, (_Part, _Elements)):
        return value._message()
    if isinstance(value, Mapping):
        return {key: _realized(value[key]) for key in value}
    if isinstance(value, (list, tuple)):
        return [_realized(each) for each in value]
    return value


# How the values of a field are encoded; None: by the protocol message.


def _strings(values: Any) -> bytes | None:
    if type(values) is list and len(values) == 1 and type(values[0]) is bytes:
        return _FIRST[len(values[0])] + values[0]
    if not _consists_of(bytes, values):
        return None
    return b"".join([_FIRST[len(each)] + each for each in values])


def _floats(values: Any) -> bytes | None:
    if type(values) is ndarray and values.dtype.kind in "biuf":
        values = values.tolist()
    if type(values) is not list and type(values) is not tuple:
        return None
    try:
        packed = struct.pack(f"<{len(values)}f", *values)
    except struct.error:
        return None
    except OverflowError:
        # Values beyond float32 become infinite.
        return bytes(messages.FloatList(value=values).SerializeToString())
    return _FIRST[len(packed)] + packed if packed else b""


def _integers(values: Any) -> bytes | None:
    if type(values) is list and len(values) == 1 and type(values[0]) is int:
        return _ONE_INTEGER[values[0]]
    if type(values) is ndarray and values.dtype.kind in "iu":
        values = values.tolist()
    if not _consists_of(int, values):
        return None
    try:
        packed = bytes(values)
    except ValueError:
        packed = b"\xff"
    # Only numbers below 128 are encoded as a single byte.
    if not packed.isascii():
        return bytes(messages.Int64List(value=values).SerializeToString())
    return _FIRST[len(packed)] + packed if packed else b""


def _consists_of(kind: type, values: Any) -> bool:
    if type(values) is not list and type(values) is not tuple:
        return False
    return list(map(type, values)).count(kind) == len(values)


def _nested(kind: Any, heads: _Table, part: Any) -> bytes | None:
    if type(part) is kind:
        content = part._held
        return heads[len(content)] + content if type(content) is bytes else None
    return b"" if part is None else None


def _repeated(kind: type[_Part], parts: Any) -> bytes | None:
    if type(parts) is not list:
        return None
    pieces: list[bytes] = []
    for part in parts:
        if type(part) is not kind or type(part._held) is not bytes:
            return None
        pieces += _FIRST[len(part._held)], part._held
    return b"".join(pieces)


def _mapped(kind: type[_Part], parts: Any) -> bytes | None:
    if type(parts) is not dict:
        return b"" if parts is None else None
    pieces: list[bytes] = []
    for key, part in parts.items():
        if type(part) is not kind or type(key) is not str:
            return None
        content = part._held
        if type(content) is not bytes:
            return None
        pieces.append(_ENTRIES[key][len(content)])
        pieces.append(content)
    return b"".join(pieces)


class BytesList(_Part, real=messages.BytesList):
    """A list of byte strings.

    >>> tf.train.BytesList(value=[b"a", b"bc"]).SerializeToString()
    b'\\n\\x01a\\n\\x02bc'
    """

    __slots__ = ()

    def __init__(self, *positional: Any, value: Any = (), **unknown: Any) -> None:
        held = _strings(value)
        if held is None or positional or unknown:
            held = self._made(positional, unknown, value=value)
        self._held = held


class FloatList(_Part, real=messages.FloatList):
    """A list of float32 numbers.

    >>> list(tf.train.FloatList(value=[1, 2.5]).value)
    [1.0, 2.5]
    """

    __slots__ = ()

    def __init__(self, *positional: Any, value: Any = (), **unknown: Any) -> None:
        held = _floats(value)
        if held is None or positional or unknown:
            held = self._made(positional, unknown, value=value)
        self._held = held


class Int64List(_Part, real=messages.Int64List):
    """A list of int64 numbers.

    >>> tf.train.Int64List(value=[1, 300]).SerializeToString()
    b'\\n\\x03\\x01\\xac\\x02'
    """

    __slots__ = ()

    def __init__(self, *positional: Any, value: Any = (), **unknown: Any) -> None:
        held = _integers(value)
        if held is None or positional or unknown:
            held = self._made(positional, unknown, value=value)
        self._held = held


class Feature(_Part, real=messages.Feature):
    """A list of byte strings, floats or integers.

    >>> tf.train.Feature(int64_list=tf.train.Int64List(value=[7])).WhichOneof("kind")
    'int64_list'
    """

    __slots__ = ()

    # Of several lists the last one given is used; only `**lists` preserves that order.
    def __init__(self, *positional: Any, **lists: Any) -> None:
        if lists and not positional:
            name, part = lists.popitem()
            kind, heads = _LISTS.get(name, (None, _FIRST))
            if type(part) is kind and not lists:
                content = part._held
                if type(content) is bytes:
                    self._held = heads[len(content)] + content
                    return
            lists[name] = part
        self._held = self._made(positional, lists) if lists or positional else b""


_LISTS: dict[str, Any] = {
    "bytes_list": (BytesList, _FIRST),
    "float_list": (FloatList, _SECOND),
    "int64_list": (Int64List, _THIRD),
}


class Features(_Part, real=messages.Features):
    """Features by name.

    >>> tf.train.Features(feature={"a": tf.train.Feature()}).feature["a"].WhichOneof("kind")
    """

    __slots__ = ()

    def __init__(self, *positional: Any, feature: Any = None, **unknown: Any) -> None:
        held = _mapped(Feature, feature)
        if held is None or positional or unknown:
            held = self._made(positional, unknown, feature=feature)
        self._held = held


class FeatureList(_Part, real=messages.FeatureList):
    """The features of the steps of a sequence.

    >>> len(tf.train.FeatureList(feature=[tf.train.Feature()] * 3).feature)
    3
    """

    __slots__ = ()

    def __init__(self, *positional: Any, feature: Any = (), **unknown: Any) -> None:
        if type(feature) is not list and isinstance(feature, Iterable):
            feature = list(feature)
        held = _repeated(Feature, feature)
        if held is None or positional or unknown:
            held = self._made(positional, unknown, feature=feature)
        self._held = held


class FeatureLists(_Part, real=messages.FeatureLists):
    """Feature lists by name.

    >>> list(tf.train.FeatureLists(feature_list={"a": tf.train.FeatureList()}).feature_list)
    ['a']
    """

    __slots__ = ()

    def __init__(self, *positional: Any, feature_list: Any = None, **unknown: Any) -> None:
        held = _mapped(FeatureList, feature_list)
        if held is None or positional or unknown:
            held = self._made(positional, unknown, feature_list=feature_list)
        self._held = held


class Example(_Part, real=messages.Example):
    """A record: the features of one example.

    >>> label = tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))
    >>> example = tf.train.Example(features=tf.train.Features(feature={"label": label}))
    >>> tf.train.Example.FromString(example.SerializeToString()) == example
    True
    """

    __slots__ = ()

    def __init__(self, *positional: Any, features: Any = None, **unknown: Any) -> None:
        held = _nested(Features, _FIRST, features)
        if held is None or positional or unknown:
            held = self._made(positional, unknown, features=features)
        self._held = held


class SequenceExample(_Part, real=messages.SequenceExample):
    """A record: the features of a sequence, and those of its steps.

    >>> steps = tf.train.FeatureList(feature=[tf.train.Feature()] * 2)
    >>> lists = tf.train.FeatureLists(feature_list={"words": steps})
    >>> example = tf.train.SequenceExample(feature_lists=lists)
    >>> len(example.feature_lists.feature_list["words"].feature)
    2
    """

    __slots__ = ()

    def __init__(
        self, *positional: Any, context: Any = None, feature_lists: Any = None, **unknown: Any
    ) -> None:
        held = _nested(Features, _FIRST, context)
        lists = _nested(FeatureLists, _SECOND, feature_lists)
        if held is None or lists is None or positional or unknown:
            fields = {"context": context, "feature_lists": feature_lists}
            self._held = self._made(positional, unknown, **fields)
        else:
            self._held = held + lists


# What protocol messages accept from other messages: a part passes its protocol message. The classes
# belong to a separate pool, so that no one else's messages change.


def _taking_parts(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: method(self, _realized(other))


for _each in _Part.__subclasses__():
    for _name in ("CopyFrom", "MergeFrom", "__eq__"):
        setattr(_each._real, _name, _taking_parts(getattr(_each._real, _name)))


class _Elements:
    """The container in a FeatureList message, which accepts parts, too."""

    __slots__ = ("_container",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, container: Any) -> None:
        self._container = container

    def _message(self) -> Any:
        return self._container

    def extend(self, values: Any) -> None:
        self._container.extend([_realized(each) for each in values])

    MergeFrom = extend

    def __len__(self) -> int:
        return len(self._container)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._container)

    def __getitem__(self, place: Any) -> Any:
        return self._container[place]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._container, name)


MutableSequence.register(_Elements)
for _name in (
    "add",
    "append",
    "insert",
    "remove",
    "__delitem__",
    "__eq__",
    "__reduce_ex__",
    "__repr__",
    "__setitem__",
):
    setattr(_Elements, _name, _forwarded(_name, _realized))


def _attribute(self: Any, name: str, read: Any = messages.FeatureList.__getattribute__) -> Any:
    value = read(self, name)
    return _Elements(value) if name == "feature" else value


messages.FeatureList.__getattribute__ = _attribute
