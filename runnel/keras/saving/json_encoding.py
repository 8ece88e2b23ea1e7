"""Configs as JSON, with an encoding for the few values that JSON lacks."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

import runnel as tf

from ..code_objects import without_live_text
from ..serialization import serialize_keras_object, type_spec_from


def dumps(config: Any, **options: Any) -> str:
    """Encode a config as JSON."""
    return json.dumps(without_live_text(config), default=_plain, **options)


def _plain(value: Any) -> Any:
    if value is Ellipsis:
        return {"class_name": "__ellipsis__"}
    if isinstance(value, tf.DType):
        return value.name
    if isinstance(value, tf.TensorShape):
        items = None if value.rank is None else value.as_list()
        return {"class_name": "TensorShape", "items": items}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, set | frozenset):
        return sorted(value)
    return without_live_text(serialize_keras_object(value))


def loads(text: str | bytes) -> Any:
    """Decode a config that `dumps` wrote."""
    return json.loads(text, object_hook=_special)


def _special(value: dict[str, Any]) -> Any:
    kind = value.get("class_name")
    if kind == "__ellipsis__":
        return Ellipsis
    if kind == "TensorShape" and "items" in value:
        return tf.TensorShape(value["items"])
    if kind == "__tuple__" and "items" in value:
        return tuple(value["items"])
    if kind == "TypeSpec" and "serialized" in value:
        # The legacy format of `__typespec__`.
        name = value["type_spec"].removeprefix("tf.")
        parts = [_sizes(part) for part in value["serialized"]]
        return type_spec_from({"spec_name": name, "config": parts})
    return value


def _sizes(part: Any) -> Any:
    """A decoded shape converted back to a list."""
    if not isinstance(part, tf.TensorShape):
        return part
    return None if part.rank is None else part.as_list()
