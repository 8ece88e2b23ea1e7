"""tf.map_fn over composite tensors, encoded to be stacked or sliced, and with such results."""

from __future__ import annotations

from ..core import nest
from ..core.batchable import BatchableTypeSpec, part_specs, parts_of, value_of
from ..core.composites import is_composite
from ..core.convert import convert_to_tensor
from ..core.type_spec import TypeSpec, type_spec_from_value


def involves_encoded(elems, signature) -> bool:
    """Whether an element or a result is encoded; TypeError if one cannot be batched."""
    found = False
    for each in nest.flatten(elems):
        spec = _composite_spec(each)
        if spec is not None and not hasattr(spec, "_unbatch"):
            raise TypeError(f"map_fn can not consume {spec} inputs: got {each!r}")
        found = found or isinstance(spec, BatchableTypeSpec)
    for each in nest.flatten(signature):
        if isinstance(each, TypeSpec) and not hasattr(each, "_batch"):
            raise TypeError(f"map_fn can not generate {each} outputs")
        found = found or isinstance(each, BatchableTypeSpec)
    return found


def _composite_spec(value):
    """The spec of a composite tensor; None for a value that is, or converts to, one tensor."""
    return type_spec_from_value(value) if is_composite(type(value)) else None


class _Elements:
    """Elements, encoded as component tensors."""

    def __init__(self, elems):
        self._structure = elems
        leaves = nest.flatten(elems)
        specs = [_composite_spec(each) for each in leaves]
        self.row_specs = [None if spec is None else spec._unbatch() for spec in specs]
        self.parts = [
            part
            for spec, each in zip(specs, leaves, strict=True)
            for part in ([convert_to_tensor(each)] if spec is None else parts_of(spec, each, 1))
        ]
        sizes = [part.shape[0] for part in self.parts if part.shape.rank]
        self.count = next((size for size in sizes if size is not None), None)

    def row(self, parts):
        """Decode the components of a row."""
        rest = iter(parts)
        rows = [value_of(spec, rest) for spec in self.row_specs]
        return nest.pack_sequence_as(self._structure, rows)

    def signature(self):
        """The signature of a function whose results have the types of its arguments."""
        rest = iter(self.parts)
        kinds = []
        for spec in self.row_specs:
            taken = [next(rest) for _ in part_specs(spec)]
            kinds.append(taken[0].dtype if spec is None else spec)
        return nest.pack_sequence_as(self._structure, kinds)


def map_encoded(map_fn, fn, elems, signature):
    """`fn` applied to each row, the results stacked, with `map_fn` for the components."""
    elements = _Elements(elems)
    if signature is None:
        signature = elements.signature()
    kinds = nest.flatten(signature)

    def on_parts(parts):
        result = fn(elements.row(parts))
        nest.assert_same_structure(signature, result)
        return _encoded(kinds, nest.flatten(result))

    wanted = [part for kind in kinds for part in part_specs(kind)]
    made = map_fn(on_parts, elements.parts, fn_output_signature=wanted)
    return nest.pack_sequence_as(signature, _stacks(kinds, made, elements.count))


def map_encoded_at_once(vectorized_map, fn, elems):
    """The same for `vectorized_map`, which infers the results' signature from `fn`."""
    elements = _Elements(elems)
    kinds = []
    structure = []

    def on_parts(parts):
        result = fn(elements.row(parts))
        leaves = nest.flatten(result)
        structure[:] = [result]
        kinds[:] = [_composite_spec(each) for each in leaves]
        return _encoded(kinds, leaves)

    made = vectorized_map(on_parts, elements.parts)
    return nest.pack_sequence_as(structure[0], _stacks(kinds, made, elements.count))


def _encoded(kinds, leaves):
    """The components that encode the results of one row."""
    parts = []
    for kind, value in zip(kinds, leaves, strict=True):
        if isinstance(kind, BatchableTypeSpec) and not kind.is_compatible_with(value):
            raise ValueError(
                f"Error in map_fn:\n  Expected `fn` to return a:\n    {kind}\n  But it returned "
                f"a:\n    {type_spec_from_value(value)}\n    (value={value!r})\n  To fix, update "
                "the `fn_output_signature` (or `dtype`) argument to `map_fn`."
            )
        parts += parts_of(kind, value)
    return parts


def _stacks(kinds, made, rows):
    """Decode the stacked results of all rows."""
    rest = iter(made)
    batches = [kind._batch(rows) if isinstance(kind, BatchableTypeSpec) else kind for kind in kinds]
    return [value_of(each, rest) for each in batches]
