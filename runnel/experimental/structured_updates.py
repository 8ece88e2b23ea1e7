"""Updates of structured tensors: fields replaced, added and removed."""

from __future__ import annotations

from typing import Any

from .structured_fields import as_field, is_structured

Path = tuple[str, ...]
_START = "`StructuredTensor.with_updates`"


def by_path(updates: dict[Any, Any]) -> dict[Path, Any]:
    """The updates keyed by the paths of their fields; ValueError where two of them conflict."""
    found: dict[Path, Any] = {}
    for name, value in updates.items():
        path = (name,) if isinstance(name, str) else tuple(name)
        if not path:
            raise ValueError(f"{_START} does not allow empty names ({name},).")
        found[path] = value
    for child in found:
        for length in range(1, len(child)):
            if child[:length] in found:
                raise ValueError(
                    f"{_START} does not allow both parent and child nodes to be updated: "
                    f"parent={child[:length]}, child={child}. If needed you can update child nodes "
                    "in the parent update value."
                )
    return found


def updated(structured: Any, updates: dict[Path, Any], before: Path, validate: bool) -> Any:
    """A structured tensor with the fields at some paths replaced; `before` is the path to it."""
    fields = dict(structured._fields)
    below: dict[str, dict[Path, Any]] = {}
    for path, value in updates.items():
        name, rest = path[0], path[1:]
        if rest:
            below.setdefault(name, {})[rest] = value
        else:
            _replace(fields, name, value, (*before, name))
    for name, inner in below.items():
        where = (*before, name)
        _require_structure(fields.get(name), where, (*where, *next(iter(inner))))
        fields[name] = updated(fields[name], inner, where, validate)
    return structured._with_fields(fields, validate)


def _replace(fields: dict[str, Any], name: str, value: Any, path: Path) -> None:
    if value is None:
        if name not in fields:
            raise ValueError(f"{_START} cannot delete field {path} because it is not present.")
        del fields[name]
    elif callable(value) and not is_structured(value):
        if name not in fields:
            raise ValueError(
                f"{_START} cannot update the field {path} because a transforming function was "
                "given, but that field does not already exist."
            )
        fields[name] = as_field(value(fields[name]))
    else:
        fields[name] = as_field(value)


def _require_structure(parent: Any, where: Path, path: Path) -> None:
    if parent is None:
        raise ValueError(
            f"{_START} cannot create new sub-field {path} if parent field {where} is not set."
        )
    if not is_structured(parent):
        raise ValueError(
            f"{_START} cannot create new sub-field {path} if parent structure {where} is not a "
            "`StructuredTensor` that can contain sub-structures -- it is a "
            f"`{type(parent)}`."
        )
