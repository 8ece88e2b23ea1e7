"""Nested structures of Python containers: flatten, map, pack.

A structure is a leaf or a container of structures. Containers are sequences, mappings (values in
the order of the sorted keys), namedtuples, attrs classes, dictionary views and objects with the
`__tf_flatten__` protocol. Everything else is a leaf: numbers, strings, None, NumPy arrays, tensors.
Composite tensors (ragged, sparse, indexed slices) are leaves too, unless `expand_composites=True`
expands them into their component tensors.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Mapping, MappingView, MutableMapping, Sequence
from functools import lru_cache
from typing import Any

_LEAF = 0
_SEQUENCE = 1
_NAMEDTUPLE = 2
_MAPPING = 3
_ATTRS = 4
_VIEW = 5
_PROTOCOL = 6
_COMPOSITE = 7
_COMPOSITE_SPEC = 8


def _classify(cls: type) -> int:
    """The kind of container that instances of a class are."""
    if issubclass(cls, (str, bytes)):
        return _LEAF
    if hasattr(cls, "__tf_flatten__") and hasattr(cls, "__tf_unflatten__"):
        return _PROTOCOL
    if issubclass(cls, tuple) and _is_field_names(getattr(cls, "_fields", None)):
        return _NAMEDTUPLE
    if hasattr(cls, "__attrs_attrs__"):
        return _ATTRS
    if issubclass(cls, Mapping):
        return _MAPPING
    if issubclass(cls, (MappingView, range)):
        return _VIEW
    if issubclass(cls, Sequence):
        return _SEQUENCE
    return _composite_kind_of(cls)


def _composite_kind_of(cls: type) -> int:
    from .tensor import Tensor

    if hasattr(cls, "_type_spec"):
        return _LEAF if issubclass(cls, Tensor) else _COMPOSITE
    value_type = getattr(cls, "value_type", None)
    if value_type is not None and hasattr(cls, "_component_specs"):
        return _COMPOSITE_SPEC
    return _LEAF


# Bounded, so that dynamically created classes can be garbage-collected.
_kind_of: Callable[[type], int] = lru_cache(maxsize=4096)(_classify)


def _is_field_names(fields: Any) -> bool:
    return isinstance(fields, Sequence) and all(isinstance(field, str) for field in fields)


def _nesting_kind(structure: Any, expand_composites: bool) -> int:
    """The kind of a structure; a composite is a leaf unless it is expanded."""
    kind = _kind_of(type(structure))
    if kind < _COMPOSITE or (expand_composites and _expands(structure, kind)):
        return kind
    return _LEAF


def _expands(structure: Any, kind: int) -> bool:
    """Whether a composite, or its spec, has components other than itself."""
    if kind == _COMPOSITE:
        return structure._type_spec._to_components(structure) is not structure
    return structure._component_specs is not structure and (
        _kind_of(structure.value_type) == _COMPOSITE
    )


def _children(structure: Any, kind: int) -> Any:
    if kind in (_SEQUENCE, _NAMEDTUPLE, _VIEW):
        return structure
    if kind == _MAPPING:
        return [structure[key] for key in sorted(structure)]
    if kind == _ATTRS:
        return [getattr(structure, field.name) for field in structure.__attrs_attrs__]
    if kind == _PROTOCOL:
        return structure.__tf_flatten__()[1]
    if kind == _COMPOSITE:
        return [structure._type_spec._to_components(structure)]
    return [structure._component_specs]


def _named_children(structure: Any, kind: int) -> Iterator[tuple[Any, Any]]:
    names: Any
    if kind == _MAPPING:
        names = sorted(structure)
    elif kind == _NAMEDTUPLE:
        names = structure._fields
    elif kind == _ATTRS:
        names = [field.name for field in structure.__attrs_attrs__]
    else:
        return iter(enumerate(_children(structure, kind)))
    return zip(names, _children(structure, kind), strict=True)


def _rebuild(structure: Any, kind: int, children: list[Any]) -> Any:
    """A container of the type of `structure` with these `children`, in the order of `_children`."""
    cls = type(structure)
    if cls is list or kind == _VIEW:
        return children
    if kind == _SEQUENCE:
        return cls(children)
    if kind in (_NAMEDTUPLE, _ATTRS):
        return cls(*children)
    if kind == _MAPPING:
        return _rebuild_mapping(structure, dict(zip(sorted(structure), children, strict=True)))
    if kind == _PROTOCOL:
        return cls.__tf_unflatten__(structure.__tf_flatten__()[0], tuple(children))
    spec = structure._type_spec if kind == _COMPOSITE else structure
    return spec._from_components(children[0])


def _rebuild_mapping(structure: Mapping[Any, Any], values: dict[Any, Any]) -> Any:
    cls: Any = type(structure)
    if cls is dict:
        return {key: values[key] for key in structure}
    if isinstance(structure, MutableMapping):
        if isinstance(structure, collections.defaultdict):
            result = cls(structure.default_factory)
        else:
            result = cls()
        for key in structure:
            result[key] = values[key]
        return result
    try:
        return cls((key, values[key]) for key in structure)
    except TypeError as error:
        raise TypeError(
            f"Error creating an object of type {cls} like {structure}. Note that it must accept a "
            "single positional argument representing an iterable of key-value pairs, in addition "
            f"to self. Cause: {error}"
        ) from error


def named_children(structure: Any) -> Iterator[tuple[Any, Any]]:
    """The children of a container with their keys, field names or indices, in flattening order."""
    return _named_children(structure, _kind_of(type(structure)))


def is_nested(seq: Any) -> bool:
    """Whether a value is a container and not a leaf.

    >>> tf.nest.is_nested([1, 2]), tf.nest.is_nested("ab"), tf.nest.is_nested(tf.constant([1]))
    (True, False, False)
    """
    return 0 < _kind_of(type(seq)) < _COMPOSITE


def flatten(structure: Any, expand_composites: bool = False) -> list[Any]:
    """The leaves of a structure as a flat list; those of a mapping in the order of its sorted keys.

    >>> tf.nest.flatten({"b": [1, 2], "a": (3, {"c": 4})})
    [3, 4, 1, 2]
    """
    kind = _kind_of(type(structure))
    if kind == _LEAF:
        return [structure]
    leaves: list[Any] = []
    _flatten_into(structure, kind, expand_composites, leaves)
    return leaves


def _flatten_into(structure: Any, kind: int, expand_composites: bool, leaves: list[Any]) -> None:
    if kind >= _COMPOSITE and not (expand_composites and _expands(structure, kind)):
        leaves.append(structure)
        return
    for child in structure if kind <= _NAMEDTUPLE else _children(structure, kind):
        child_kind = _kind_of(type(child))
        if child_kind == _LEAF:
            leaves.append(child)
        else:
            _flatten_into(child, child_kind, expand_composites, leaves)


def flatten_with_tuple_paths(
    structure: Any, expand_composites: bool = False
) -> list[tuple[tuple[Any, ...], Any]]:
    """Each leaf with its path of keys, field names and indices."""
    found: list[tuple[tuple[Any, ...], Any]] = []

    def visit(path: tuple[Any, ...], part: Any) -> None:
        kind = _nesting_kind(part, expand_composites)
        if kind == _LEAF:
            found.append((path, part))
            return
        for name, child in _named_children(part, kind):
            visit((*path, name), child)

    visit((), structure)
    return found


def flatten_with_joined_string_paths(
    structure: Any, separator: str = "/", expand_composites: bool = False
) -> list[tuple[str, Any]]:
    """Each leaf with its path as a string, such as `"encoder/0/kernel"`."""
    return [
        (separator.join(str(name) for name in path), leaf)
        for path, leaf in flatten_with_tuple_paths(structure, expand_composites)
    ]


def pack_sequence_as(structure: Any, flat_sequence: Any, expand_composites: bool = False) -> Any:
    """A structure like `structure` whose leaves are the elements of `flat_sequence`.

    >>> tf.nest.pack_sequence_as({"b": 0, "a": (0, 0)}, [1, 2, 3])
    {'b': 3, 'a': (1, 2)}
    """
    if not is_nested(flat_sequence):
        raise TypeError(
            f"Attempted to pack value:\n  {flat_sequence}\ninto a structure, but found "
            f"incompatible type `{type(flat_sequence)}` instead."
        )
    kind = _nesting_kind(structure, expand_composites)
    if kind == _LEAF:
        if len(flat_sequence) != 1:
            raise ValueError(
                f"The target structure is of type `{type(structure)}`\n  {structure}\nHowever the "
                f"input is a sequence ({type(flat_sequence)}) of length {len(flat_sequence)}.\n  "
                f"{flat_sequence}\nnest cannot guarantee that it is safe to map one to the other."
            )
        return flat_sequence[0]
    values = [flat_sequence[index] for index in range(len(flat_sequence))]
    remaining = iter(values)
    try:
        packed = _pack(structure, kind, remaining, expand_composites)
    except _TooFewLeaves:
        packed = remaining
    if packed is remaining or next(remaining, _NOTHING) is not _NOTHING:
        raise ValueError(
            f"Could not pack sequence. Structure had {len(flatten(structure, expand_composites))} "
            f"atoms, but flat_sequence had {len(values)} items.  "
            f"Structure: {structure}, flat_sequence: {flat_sequence}."
        )
    return packed


class _TooFewLeaves(Exception):
    """The flat sequence has too few elements for the structure."""


_NOTHING = object()


def _pack(structure: Any, kind: int, leaves: Iterator[Any], expand_composites: bool) -> Any:
    packed = []
    for child in _children(structure, kind):
        child_kind = _nesting_kind(child, expand_composites)
        if child_kind == _LEAF:
            leaf = next(leaves, _NOTHING)
            if leaf is _NOTHING:
                raise _TooFewLeaves
            packed.append(leaf)
        else:
            packed.append(_pack(child, child_kind, leaves, expand_composites))
    return _rebuild(structure, kind, packed)


def map_structure(func: Callable[..., Any], *structure: Any, **kwargs: Any) -> Any:
    """Apply a function to the corresponding leaves of structures with equal nesting.

    `check_types=False` lets a list correspond to a tuple, `expand_composites=True` maps over the
    component tensors of composite tensors.

    >>> tf.nest.map_structure(lambda x, y: x + y, {"a": 1, "b": [2]}, {"a": 10, "b": [20]})
    {'a': 11, 'b': [22]}
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    check_types = kwargs.pop("check_types", True)
    expand_composites = kwargs.pop("expand_composites", False)
    if kwargs:
        raise ValueError(
            "Only valid keyword arguments are `check_types` and `expand_composites`, "
            f"not: `{'`, `'.join(kwargs)}`"
        )
    first = structure[0]
    if len(structure) == 1 and _nesting_kind(first, expand_composites) == _LEAF:
        return func(first)
    for other in structure[1:]:
        assert_same_structure(first, other, check_types, expand_composites)
    columns = [flatten(part, expand_composites) for part in structure]
    results = [func(*leaves) for leaves in zip(*columns, strict=True)]
    return pack_sequence_as(first, results, expand_composites)


class _Mismatch(Exception):
    """Two structures differ; carries the error class and the reason."""

    def __init__(self, error: type[Exception], reason: str) -> None:
        super().__init__(reason)
        self.error = error


def assert_same_structure(
    nest1: Any, nest2: Any, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise an error unless two structures have the same nesting.

    Raises:
        ValueError: The structures have different numbers of elements or different keys, or one
            has a leaf where the other has a container.
        TypeError: A container has another type than its counterpart (with `check_types=True`).

    >>> tf.nest.assert_same_structure([1, (2, 3)], ["a", ("b", "c")])
    """
    try:
        _check_same(nest1, nest2, check_types, expand_composites)
    except _Mismatch as mismatch:
        error, reason = mismatch.error, str(mismatch)
    else:
        return
    raise error(
        "The two structures don't have the same nested structure.\n\n"
        f"First structure: {_describe(nest1)}\n\nSecond structure: {_describe(nest2)}\n\n"
        f"More specifically: {reason}\n"
        f"Entire first structure:\n{_outline(nest1)}\n"
        f"Entire second structure:\n{_outline(nest2)}"
    )


def _describe(structure: Any) -> str:
    return f"type={type(structure).__name__} str={structure}"


class _Dot:
    """A leaf in the printed outline of a structure: a dot."""

    def __repr__(self) -> str:
        return "."


def _outline(structure: Any) -> str:
    dot = _Dot()
    try:
        return str(map_structure(lambda _: dot, structure))
    except TypeError:  # a container that cannot be rebuilt must not hide the actual difference
        return str(structure)


def _check_same(first: Any, second: Any, check_types: bool, expand_composites: bool) -> None:
    first_kind = _nesting_kind(first, expand_composites)
    second_kind = _nesting_kind(second, expand_composites)
    if first_kind == second_kind == _LEAF:
        return
    if first_kind == _LEAF or second_kind == _LEAF:
        container, leaf = (second, first) if first_kind == _LEAF else (first, second)
        raise _Mismatch(
            ValueError,
            f'Substructure "{_describe(container)}" is a sequence, while substructure '
            f'"{_describe(leaf)}" is not',
        )
    if first_kind >= _COMPOSITE and second_kind >= _COMPOSITE:
        _check_same_specs(first, first_kind, second, second_kind)
    elif check_types:
        _check_same_types(first, first_kind, second, second_kind)
    first_children = iter(_children(first, first_kind))
    second_children = iter(_children(second, second_kind))
    # Element by element, so that the first difference in order is the one reported.
    for one, other in zip(first_children, second_children, strict=False):
        _check_same(one, other, check_types, expand_composites)
    lengths = len(_children(first, first_kind)), len(_children(second, second_kind))
    if lengths[0] != lengths[1]:
        raise _Mismatch(
            ValueError,
            "The two structures don't have the same number of elements. "
            f"First structure: {_describe(first)}. Second structure: {_describe(second)}",
        )


def _check_same_types(first: Any, first_kind: int, second: Any, second_kind: int) -> None:
    if first_kind == second_kind == _MAPPING:
        if set(first) != set(second):
            raise _Mismatch(
                ValueError,
                "The two dictionaries don't have the same set of keys. First structure has keys "
                f"{_describe(list(first))}, while second structure has keys "
                f"{_describe(list(second))}",
            )
        return
    if type(first) is type(second) or (isinstance(first, list) and isinstance(second, list)):
        return
    if (
        first_kind == second_kind == _NAMEDTUPLE
        and type(first).__name__ == type(second).__name__
        and first._fields == second._fields
    ):
        return
    raise _Mismatch(
        TypeError,
        "The two structures don't have the same sequence type. "
        f"First structure {_describe(first)} has type {type(first).__name__}, while "
        f"second structure {_describe(second)} has type {type(second).__name__}",
    )


def _check_same_specs(first: Any, first_kind: int, second: Any, second_kind: int) -> None:
    first_spec = first._type_spec if first_kind == _COMPOSITE else first
    second_spec = second._type_spec if second_kind == _COMPOSITE else second
    if first_spec.most_specific_common_supertype([second_spec]) is None:
        raise _Mismatch(
            ValueError,
            f"Incompatible CompositeTensor TypeSpecs: {_describe(first_spec)} vs. "
            f"{_describe(second_spec)}",
        )


def flatten_up_to(shallow_tree: Any, input_tree: Any, check_types: bool = True) -> list[Any]:
    """The subtrees of `input_tree` at the leaves of `shallow_tree`."""
    parts: list[Any] = []

    def visit(shallow: Any, part: Any) -> None:
        kind = _nesting_kind(shallow, False)
        if kind == _LEAF:
            parts.append(part)
            return
        part_kind = _nesting_kind(part, False)
        if part_kind == _LEAF:
            raise TypeError(
                "If shallow structure is a sequence, input must also be a sequence. "
                f"Input has type: {type(part)}."
            )
        if check_types:
            _check_types_up_to(shallow, kind, part, part_kind)
        if kind == part_kind == _MAPPING:
            pairs = [(shallow[key], part[key]) for key in sorted(shallow)]
        else:
            pairs = _pair_up(_children(shallow, kind), _children(part, part_kind))
        for pair in pairs:
            visit(*pair)

    visit(shallow_tree, input_tree)
    return parts


def _check_types_up_to(shallow: Any, kind: int, part: Any, part_kind: int) -> None:
    try:
        _check_same_types(shallow, kind, part, part_kind)
    except _Mismatch as mismatch:
        raise mismatch.error(str(mismatch)) from None


def _pair_up(shallow_children: Any, children: Any) -> list[tuple[Any, Any]]:
    if len(shallow_children) != len(children):
        raise ValueError(
            "The two structures don't have the same sequence length. "
            f"Input structure has length {len(children)}, "
            f"while shallow structure has length {len(shallow_children)}."
        )
    return list(zip(shallow_children, children, strict=True))


def map_structure_up_to(
    shallow_tree: Any, func: Callable[..., Any], *inputs: Any, check_types: bool = True
) -> Any:
    """Apply a function to the subtrees of the inputs at the leaves of `shallow_tree`."""
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    columns = [flatten_up_to(shallow_tree, tree, check_types) for tree in inputs]
    results = [func(*parts) for parts in zip(*columns, strict=True)]
    return pack_sequence_as(shallow_tree, results)
