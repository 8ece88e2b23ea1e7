"""The protocol messages of records (`tf.train.Example`, ...) and of clusters.

Names, fields and numbers are those of `feature.proto`, `example.proto` and `cluster.proto`. They
have a separate descriptor pool, as two libraries in one process cannot both register
`tensorflow.Example` in the default one.
"""

from __future__ import annotations

from typing import Any

from .described import message_classes

_PACKAGE = "tensorflow"
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
    "ServerDef": [
        ("cluster", 1, "ClusterDef"),
        ("job_name", 2, "string"),
        ("task_index", 3, "int32"),
        ("protocol", 5, "string"),
        ("port", 6, "int32"),
        ("replica", 8, "int32"),
    ],
}

_made = message_classes("runnel/example.proto", _PACKAGE, _MESSAGES, choices={"Feature": "kind"})
for _each in _made.values():
    # Pickle looks a class up in its `__module__`.
    _each.__module__ = __name__
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
ServerDef: Any = _made["ServerDef"]
