"""Descriptors of messages with fields of every type, and messages made of them."""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELDS = descriptor_pb2.FieldDescriptorProto
OPTIONAL, REQUIRED, REPEATED = 1, 2, 3
# The scalar types, each with a value and the dtypes it is read as.
SCALARS = {
    "double": (2.7, ["float64"]),
    "float": (1.1, ["float32", "float64"]),
    "int64": (-(2**62), ["int64"]),
    "uint64": (2**64 - 1, ["uint64"]),
    "int32": (-5, ["int32", "int64"]),
    "fixed64": (2**63 + 1, ["uint64"]),
    "fixed32": (2**32 - 1, ["uint32", "uint64"]),
    "bool": (True, ["bool"]),
    "string": ("é", ["string"]),
    "bytes": (b"\xff\0", ["string"]),
    "uint32": (2**32 - 2, ["uint32", "uint64"]),
    "sfixed32": (-9, ["int32", "int64"]),
    "sfixed64": (-10, ["int64"]),
    "sint32": (-11, ["int32", "int64"]),
    "sint64": (-(2**63), ["int64"]),
}
_DEFAULTS = {
    "double": "2.5", "float": "1.5", "int64": "-7", "uint64": "18446744073709551615",
    "int32": "-3", "fixed64": "8", "fixed32": "4294967295", "bool": "true", "string": "hey",
    "bytes": "by\\001", "uint32": "4000000000", "sfixed32": "-1", "sfixed64": "-2",
    "sint32": "-4", "sint64": "-5",
}  # fmt: skip


class _Message:
    """A message under construction; its fields are numbered as they come."""

    def __init__(self, file, name):
        self._message = file.message_type.add(name=name)
        self._number = 0

    def field(self, name, kind, label=OPTIONAL, of="", **more):
        self._number += 1
        kind = getattr(_FIELDS, f"TYPE_{kind.upper()}")
        packed = more.pop("packed", None)
        field = self._message.field.add(
            name=name, number=self._number, type=kind, label=label, type_name=of or None, **more
        )
        if packed is not None:
            field.options.packed = packed

    def nested(self, name):
        return self._message.nested_type.add(name=name)


def _proto2(file):
    colours = file.enum_type.add(name="Colour")
    for number, name in [(3, "RED"), (1, "GREEN"), (5, "BLUE"), (-2, "DARK")]:
        colours.value.add(name=name, number=number)
    inner = _Message(file, "Inner")
    inner.field("a", "int32")
    inner.field("b", "string", REPEATED)
    whole = _Message(file, "All")
    for label, prefix in ((OPTIONAL, "one"), (REPEATED, "many")):
        for kind in SCALARS:
            whole.field(f"{prefix}_{kind}", kind, label)
        whole.field(f"{prefix}_inner", "message", label, ".two.Inner")
        whole.field(f"{prefix}_colour", "enum", label, ".two.Colour")
    for kind in SCALARS:
        if kind not in ("string", "bytes"):
            whole.field(f"packed_{kind}", kind, REPEATED, packed=True)
    whole.field("packed_colour", "enum", REPEATED, ".two.Colour", packed=True)
    for name, label in (("Alone", OPTIONAL), ("Several", REPEATED)):
        whole.nested(name).field.add(name="a", number=1, type=_FIELDS.TYPE_INT32, label=1)
        whole.field(name.lower(), "group", label, f".two.All.{name}")
    pair = whole.nested("PairsEntry")
    pair.options.map_entry = True
    pair.field.add(name="key", number=1, type=_FIELDS.TYPE_STRING, label=1)
    pair.field.add(name="value", number=2, type=_FIELDS.TYPE_INT32, label=1)
    whole.field("pairs", "message", REPEATED, ".two.All.PairsEntry")
    reserved = file.message_type[-1].extension_range.add()
    reserved.start, reserved.end = 200, 300
    for number, name, kind, label in ((200, "plus", 5, 1), (201, "pluses", 9, 3)):
        file.extension.add(name=name, number=number, type=kind, label=label, extendee=".two.All")
    defaults = _Message(file, "Defaults")
    for kind in SCALARS:
        defaults.field(kind, kind, default_value=_DEFAULTS[kind])
    defaults.field("colour", "enum", of=".two.Colour", default_value="BLUE")
    required = _Message(file, "Required")
    required.field("x", "int32", REQUIRED)
    required.field("y", "int32")


def _proto3(file):
    whole = _Message(file, "All")
    for label, prefix in ((OPTIONAL, "one"), (REPEATED, "many")):
        for kind in SCALARS:
            whole.field(f"{prefix}_{kind}", kind, label)
    whole.field("inner", "message", of=".two.Inner")
    file.message_type[-1].oneof_decl.add(name="choice")
    whole.field("left", "int32", oneof_index=0)
    whole.field("right", "string", oneof_index=0)


def described():
    """A FileDescriptorSet of two files, the second of which imports the first."""
    files = descriptor_pb2.FileDescriptorSet()
    _proto2(files.file.add(name="two.proto", package="two", syntax="proto2"))
    _proto3(
        files.file.add(
            name="three.proto", package="three", syntax="proto3", dependency=["two.proto"]
        )
    )
    return files


FILES = described()
SOURCE = b"bytes://" + FILES.SerializeToString()
_POOL = descriptor_pool.DescriptorPool()
for _file in FILES.file:
    _POOL.AddSerializedFile(_file.SerializeToString())


def message(name, **fields):
    """A message of a type, by its full name."""
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(name))(**fields)


def number_of(field, name="two.All"):
    """The number of a field."""
    return _POOL.FindMessageTypeByName(name).fields_by_name[field].number


def full_message():
    """A message with something in all its fields."""
    whole = message("two.All", alone={"a": 7}, one_inner={"a": 3}, one_colour=5)
    for kind, (value, _) in SCALARS.items():
        setattr(whole, f"one_{kind}", value)
        getattr(whole, f"many_{kind}").extend([value, value])
        if kind not in ("string", "bytes"):
            getattr(whole, f"packed_{kind}").extend([value, 0, value])
    whole.many_inner.add(a=1)
    whole.many_inner.add(b=["x", "y"])
    whole.many_colour.extend([1, -2])
    whole.packed_colour.extend([5, 3])
    whole.several.add(a=8)
    whole.several.add()
    whole.pairs["k"] = 4
    return whole.SerializeToString()
