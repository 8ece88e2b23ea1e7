"""The objects of a SavedModel: those reachable from a root, their functions and captures."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from ..core import hooks, nest
from ..core.graph.concrete import _ONE, ConcreteFunction
from ..core.graph.function import Function
from ..core.graph.signature import named_spec
from ..core.logger import get_logger
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec
from ..core.variable import Variable
from ..train.object_graph import ObjectWalk
from ..train.trackables import children_of
from .assets import Asset, asset_of
from .restored import RestoredFunction, RestoredResource, SignatureMap, UserObject
from .structured_values import NotEncodable, NotRegistered, encode, is_callable
from .table_export import TableExport, is_table, table_of


class Constant:
    """A captured tensor that belongs to no object."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor


class Signatures:
    """The functions of a SavedModel's signatures, by name."""

    def __init__(self, functions: dict[str, ConcreteFunction]) -> None:
        self.functions = functions


class Exported(ObjectWalk):
    """The objects of a SavedModel, and the names of each one's children."""

    def __init__(self, root: Any, signatures: Signatures) -> None:
        super().__init__()
        self._signatures = signatures
        # Replacements of objects, created once.
        self._tables: dict[int, TableExport] = {}
        self._constants: dict[int, Constant] = {}
        self._walk(root, self._parts, {"signatures": signatures})

    def _parts(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Signatures):
            return dict(value.functions)
        if isinstance(value, Function):
            return {f"trace_{i}": each for i, each in enumerate(saved_traces(value))}
        if isinstance(value, ConcreteFunction):
            return {
                f"capture_{i}": self.captured(tensor) for i, tensor in enumerate(value._captured)
            }
        if isinstance(value, TableExport):
            return value.parts()
        if isinstance(value, Variable | Asset | Constant):
            return {}
        return {
            name: self._standing_for(part)
            for name, part in parts_of(value).items()
            if not isinstance(part, ConcreteFunction) or signature_messages(part) is not None
        }

    def _standing_for(self, part: Any) -> Any:
        if not is_table(part):
            return part
        table = table_of(part)
        return self._tables.setdefault(id(table), TableExport(part, table))

    def captured(self, tensor: Tensor) -> Any:
        """The object of a captured tensor."""
        asset = asset_of(tensor)
        return asset or self._constants.setdefault(id(tensor), Constant(tensor))

    def of_resource(self, handle: Tensor) -> Any:
        """The object of a handle: a variable or a table; None if it belongs to none of ours."""
        value = handle._array
        found = value if isinstance(value, Variable) else self._tables.get(id(value))
        return found if found is not None and self.number_of(found) is not None else None


def traces_of(function: Function) -> list[ConcreteFunction]:
    """All concrete functions of a function; a single one with an input signature."""
    if isinstance(function, RestoredFunction):
        return [
            trace.function for trace in function.traces if is_callable((trace.args, trace.kwargs))
        ]
    if function.input_signature is not None:
        function.get_concrete_function()
    found = {id(concrete): concrete for _, concrete in function._traces}
    return list(found.values())


def saved_traces(function: Function) -> list[ConcreteFunction]:
    """The traces of a function that can be encoded in SavedModels: not those for objects."""
    return [each for each in traces_of(function) if signature_messages(each) is not None]


def signature_messages(concrete: ConcreteFunction) -> tuple[Any, Any] | None:
    """The messages of a function's arguments and results; None if they cannot be encoded."""
    try:
        return encode(concrete.structured_input_signature), encode(result_specs(concrete))
    except NotRegistered:
        # The program can give the name, and would miss the trace.
        raise
    except NotEncodable as failure:
        get_logger().debug("A trace of %s is not saved: %s", concrete.graph.name, failure)
        return None


def result_specs(concrete: ConcreteFunction) -> Any:
    """The specs of results, in the structure of the return value."""
    if concrete._structure is _ONE:
        spec: Any = concrete.graph.outputs[0]._type_spec
        return TensorSpec(spec.shape, spec.dtype, "output_0")
    leaves = [
        leaf.constant if leaf.spec is None else named_spec(leaf.spec, _joined(path))
        for path, leaf in nest.flatten_with_tuple_paths(concrete._structure)
    ]
    return nest.pack_sequence_as(concrete._structure, leaves)


def _joined(path: tuple[Any, ...]) -> str:
    """A result's name by its path: `a_0` for the first of a list at "a", `tensor_0` in a list."""
    unnamed = ["tensor"] if path and isinstance(path[0], int) else []
    return "_".join(map(str, [*unnamed, *path]))


def parts_of(value: Any) -> dict[str, Any]:
    """The children of an object by name: those of its checkpoints, its functions and tables."""
    if isinstance(value, list | tuple):
        return {str(i): each for i, each in enumerate(value) if _is_part(each)}
    if isinstance(value, dict):
        held = {k: v for k, v in value.items() if isinstance(k, str)}
        return {**children_of(value), **{k: v for k, v in held.items() if _is_part(v)}}
    if isinstance(value, RestoredResource | SignatureMap):
        return {}
    parts: dict[str, Any] | None = hooks.exported_parts(value)
    return object_parts(value) if parts is None else parts


def object_parts(value: Any) -> dict[str, Any]:
    """The children of an object other than a container or Keras object."""
    parts = {
        name: each
        for name, each in children_of(value).items()
        if not isinstance(each, SignatureMap)
    }
    attributes = vars(value) if hasattr(value, "__dict__") else {}
    parts.update({name: each for name, each in attributes.items() if _is_more(each)})
    if not isinstance(value, UserObject):
        parts.update(sorted(methods_of(value)))
    return parts


def methods_of(value: Any) -> Iterator[tuple[str, Function]]:
    """The methods of an object that are functions."""
    seen: set[str] = set()
    for cls in type(value).__mro__:
        for name, each in vars(cls).items():
            if name not in seen and isinstance(each, Function):
                yield name, getattr(value, name)
            seen.add(name)


def _is_part(value: Any) -> bool:
    from ..train.trackables import is_trackable

    return is_trackable(value) or _is_more(value)


def _is_more(value: Any) -> bool:
    """Whether a value is a child in SavedModels, though not in checkpoints."""
    return isinstance(value, Function | ConcreteFunction | Asset) or is_table(value)


def full_arg_spec(parameters: inspect.Signature) -> tuple[Any, ...]:
    """The fields of a FullArgSpec."""
    kind = inspect.Parameter
    given = parameters.parameters.values()
    plain = [p for p in given if p.kind in (kind.POSITIONAL_ONLY, kind.POSITIONAL_OR_KEYWORD)]
    only = [p for p in given if p.kind is kind.KEYWORD_ONLY]
    defaults = tuple(p.default for p in plain if p.default is not kind.empty)
    known = {p.name: p.default for p in only if p.default is not kind.empty}
    variadic = {p.kind: p.name for p in given}
    return (
        [p.name for p in plain],
        variadic.get(kind.VAR_POSITIONAL),
        variadic.get(kind.VAR_KEYWORD),
        defaults or None,
        [p.name for p in only],
        known or None,
        {},
    )
