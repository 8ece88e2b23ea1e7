"""The same numbers in another order: between TensorFlow's filters and those oneDNN works with."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from .library import Library
from .primitive import DST, SRC, Primitive, address, described

Layout = tuple[tuple[int, ...], tuple[int, ...]]

# Filters are held after so many uses without a change; where that brought nothing, later.
_FIRST_PATIENCE, _LAST_PATIENCE = 2, 4096


def _references(array: Any) -> int:
    """How many hold an array, or that which it is a view of."""
    return sys.getrefcount(array if array.base is None else array.base)


# What that is for an array that only an entry of `Filters` holds.
_entries = (np.empty(2), None), (np.empty(2)[:1], None)
_LONE, _LONE_VIEW = (_references(held[0]) for held in _entries)


class Filters:
    """The filters that one primitive works with, in its order as long as they do not change.

    Whoever holds a variable's array keeps updates from changing it in place: they make a new one.
    So the numbers of an array that is held here are those it had when it was reordered. A training
    step changes its variables each time, and holding them would only cost a copy; it is tried
    ever more rarely there.
    """

    def __init__(self) -> None:
        self._uses: dict[int, int] = {}
        self._held: dict[int, tuple[Any, Any]] = {}
        self._patience = _FIRST_PATIENCE
        self._hits = 0

    def reordered(self, array: Any, *order: Any) -> Any:
        """The function of this name, or what it gave for the same array before."""
        place = address(array)
        held = self._held.get(place)
        if held is not None and array.flags.c_contiguous:
            self._hits += 1
            return held[1]
        if self._held:
            self._let_go()
        result = reordered(array, *order)
        self._count(place)
        if self._uses[place] >= self._patience and array.flags.c_contiguous:
            del self._uses[place]
            self._held[place] = array, result
        return result

    def _count(self, place: int) -> None:
        if len(self._uses) > _LAST_PATIENCE:
            self._uses.clear()
        self._uses[place] = self._uses.get(place, 0) + 1

    def _let_go(self) -> None:
        """Drop arrays that nobody else has any more; be more patient if they served for nothing."""
        for place in list(self._held):
            held = self._held[place]
            if _references(held[0]) > (_LONE if held[0].base is None else _LONE_VIEW):
                continue
            del self._held[place]
            if not self._hits:
                self._patience = min(4 * self._patience, _LAST_PATIENCE)
            self._hits = 0


def kept_filters(array: Any, layout: Layout, primitive: Primitive, kind: int) -> Any:
    """`reordered` for filters, which often are those of the call before."""
    known = primitive.filters.get(kind)
    if known is None:
        known = primitive.filters[kind] = Filters()
    kept: Any = known.reordered(array, layout, primitive, kind)
    return kept


def reordered(
    array: Any, layout: Layout, primitive: Primitive, kind: int, output: Any = None
) -> Any:
    """An array in the order a primitive chose for an argument; into `output`, back from it.

    `layout` has the dimensions and strides of the array (of `output` if given).
    """
    library = primitive.library
    plain = described(library, *layout)
    chosen = primitive.chosen[kind]
    if library.is_same(plain, chosen):
        if output is None:
            return np.ascontiguousarray(array)
        return array.reshape(output.shape)
    back = output is not None
    change = primitive.reorders.get((kind, layout, back))
    if change is None:
        change = _made(library, *((chosen, plain) if back else (plain, chosen)))
        primitive.reorders[kind, layout, back] = change
    if output is None:
        array = np.ascontiguousarray(array)
        output = np.empty(primitive.size(kind) // 4, np.float32)
    change.run(array, output)
    return output


def _made(library: Library, source: Any, target: Any) -> Primitive:
    engine = library.engine
    descriptor = library.made(
        "dnnl_reorder_primitive_desc_create", source, engine, target, engine, None
    )
    return Primitive(library, descriptor, {SRC: source, DST: target})
