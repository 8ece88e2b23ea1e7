"""The protocol messages of records (`tf.train.Example`, ...) and of clusters.

They are described here in Python, not generated. Names, fields and numbers are those of
`feature.proto`, `example.proto` and `cluster.proto`. Their pool is their own, because two libraries
in one process cannot both describe `tensorflow.Example` in the default one.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

_FIELDS = descriptor_pb2.FieldDescriptorProto
_KINDS = {
    "bytes": _FIELDS.TYPE_BYTES,
    "float": _FIELDS.TYPE_FLOAT,
    "int32": _FIELDS.TYPE_INT32,
    "int64": _FIELDS.TYPE_INT64,
    "string": _FIELDS.TYPE_STRING,
}
_PACKAGE = "tensorflow"
# Message: its fields as (name, number, kind); a star before the kind: repeated; "a -> b": a map.
_MESSAGES: dict[str, list[tuple[str, int, str]]] = {
    "BytesList": [("value", 1, "*bytes")],
    "FloatList": [("value", 1, "*float")],
    "Int64List": [("value", 1, "*int64")],
    "Feature": [
        ("bytes_list", 1, "BytesList"),
        ("float_list", 2, "FloatList"),
        ("int64_list", 3, "Int64List"),
    ],
    "Features": [("feature", 1, "string -> Feature")],
    "FeatureList": [("feature", 1, "*Feature")],
    "FeatureLists": [("feature_list", 1, "string -> FeatureList")],
    "Example": [("features", 1, "Features")],
    "SequenceExample": [("context", 1, "Features"), ("feature_lists", 2, "FeatureLists")],
    "JobDef": [("name", 1, "string"), ("tasks", 2, "int32 -> string")],
    "ClusterDef": [("job", 1, "*JobDef")],
}
# Messages of which at most one field is set: the name of that choice.
_CHOICES = {"Feature": "kind"}


def _add_field(message: Any, name: str, number: int, kind: str) -> None:
    field = message.field.add(name=name, number=number)
    field.label = _FIELDS.LABEL_REPEATED if kind.startswith("*") else _FIELDS.LABEL_OPTIONAL
    kind = kind.lstrip("*")
    if kind in _KINDS:
        field.type = _KINDS[kind]
    else:
        field.type, field.type_name = _FIELDS.TYPE_MESSAGE, f".{_PACKAGE}.{kind}"


def _add_message(file: Any, name: str, fields: list[tuple[str, int, str]]) -> None:
    message = file.message_type.add(name=name)
    for field, number, kind in fields:
        key, arrow, value = kind.partition(" -> ")
        if arrow:
            entry = field.title().replace("_", "") + "Entry"
            pair = message.nested_type.add(name=entry)
            pair.options.map_entry = True
            _add_field(pair, "key", 1, key)
            _add_field(pair, "value", 2, value)
            kind = f"*{name}.{entry}"
        _add_field(message, field, number, kind)
    if name in _CHOICES:
        message.oneof_decl.add(name=_CHOICES[name])
        for each in message.field:
            each.oneof_index = 0


def _classes() -> dict[str, Any]:
    file = descriptor_pb2.FileDescriptorProto(
        name="runnel/example.proto", package=_PACKAGE, syntax="proto3"
    )
    for name, fields in _MESSAGES.items():
        _add_message(file, name, fields)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    classes = {}
    for name in _MESSAGES:
        found = pool.FindMessageTypeByName(f"{_PACKAGE}.{name}")
        classes[name] = message_factory.GetMessageClass(found)
        # Pickle looks for a class in the module that the class names.
        classes[name].__module__ = __name__
    return classes


_made = _classes()
BytesList: Any = _made["BytesList"]
FloatList: Any = _made["FloatList"]
Int64List: Any = _made["Int64List"]
Feature: Any = _made["Feature"]
Features: Any = _made["Features"]
FeatureList: Any = _made["FeatureList"]
FeatureLists: Any = _made["FeatureLists"]
Example: Any = _made["Example"]
SequenceExample: Any = _made["SequenceExample"]
JobDef: Any = _made["JobDef"]
ClusterDef: Any = _made["ClusterDef"]
