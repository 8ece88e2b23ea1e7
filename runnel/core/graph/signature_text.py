"""The printed signature of a trace: its parameters, results and captures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .. import nest
from ..tensor import Tensor
from ..type_spec import TypeSpec
from ..variable import Variable

# A parameter: its name, its kind as in `inspect`, and the value or spec it was traced with.
Parameter = tuple[str, str, Any]


def type_text(value: Any) -> str:
    """A value's type: Dict[['a', TensorSpec(...)]], Tuple[...], Literal[3]."""
    if isinstance(value, TypeSpec):
        return repr(value)
    if isinstance(value, Tensor):
        return repr(value._type_spec)
    if isinstance(value, Variable):
        shape, dtype, trainable = value.shape, value.dtype, value.trainable
        return f"VariableSpec(shape={shape}, dtype={dtype!r}, trainable={trainable}, alias_id=0)"
    if isinstance(value, Mapping):
        return f"Dict[{', '.join(_item(name, each) for name, each in value.items())}]"
    fields = getattr(value, "_fields", None)
    if isinstance(value, tuple) and fields is not None:
        pairs = zip(fields, value, strict=True)
        return f"{type(value).__name__}[{', '.join(_item(name, each) for name, each in pairs)}]"
    if isinstance(value, list | tuple):
        kind = "List" if isinstance(value, list) else "Tuple"
        return f"{kind}[{', '.join(map(type_text, value))}]"
    if nest.is_nested(value):
        return repr(value)
    spec = getattr(value, "_type_spec", None)
    return repr(spec) if isinstance(spec, TypeSpec) else f"Literal[{value!r}]"


def _item(name: Any, value: Any) -> str:
    return f"[{name!r}, {type_text(value)}]"


def long_text(parameters: Sequence[Parameter], result: Any, captures: Mapping[int, Any]) -> str:
    """A line for each parameter, the type of the result and a line for each capture."""
    lines = ["Input Parameters:"]
    lines += [f"  {name} ({kind}): {type_text(value)}" for name, kind, value in parameters]
    lines += ["Output Type:", f"  {type_text(result)}", "Captures:"]
    lines += [f"  {number}: {spec}" for number, spec in captures.items()] or ["  None"]
    return "\n".join(lines)


def short_text(parameters: Sequence[Parameter], result: Any) -> str:
    """One line: (x: TensorSpec(...), *, y: Literal[2]) -> TensorSpec(...)."""
    parts = []
    kinds = [kind for _, kind, _ in parameters]
    for place, (name, kind, value) in enumerate(parameters):
        if kind == "KEYWORD_ONLY" and kind not in kinds[:place]:
            parts.append("*")
        parts.append(f"{name}: {type_text(value)}")
        if kind == "POSITIONAL_ONLY" and kind not in kinds[place + 1 :]:
            parts.append("/")
    return f"({', '.join(parts)}) -> {type_text(result)}"
