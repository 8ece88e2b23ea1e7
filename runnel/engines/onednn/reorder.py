"""Reorders: arrays in another memory layout, between TensorFlow's filters and those of oneDNN."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

from ...core.ownership import is_own
from ...runtime.buffers import empty
from .library import Library
from .primitive import DST, FLOAT32, SRC, Primitive, address, compute, described, type_of

# Dimensions, strides and data type.
Layout = tuple[tuple[int, ...], tuple[int, ...], int]

# A primitive's filters are cached after so many uses; later, if caching was useless before.
_FIRST_PATIENCE, _LAST_PATIENCE = 2, 64
# Of a bfloat16.
_EXPONENT = np.uint16(0x7F80)
_UNKNOWN: Any = object()
# The number of counted uses; short-lived arrays must not fill the memory.
_MOST_COUNTED = 4096


def is_regular(array: Any) -> bool:
    """Whether an array is all finite, or all NaN."""
    if array.itemsize == 2:
        # Half-precision sums are slow; infinity and NaN have all exponent bits set.
        infinite = np.bitwise_and(array.view(np.uint16), _EXPONENT) == _EXPONENT
        return not infinite.any() or bool(np.isnan(array).all())
    return math.isfinite(np.add.reduce(array, None)) or bool(np.isnan(array).all())


class _Entry:
    """An array that is referenced here, and its reordered copies.

    They are keyed by the primitive's number and the argument: a primitive may get one array for two
    arguments, or two views with one address.
    """

    __slots__ = ("array", "hits", "is_regular", "results")

    def __init__(self, array: Any) -> None:
        self.array = array
        self.is_regular = is_regular(array)
        self.results: dict[tuple[int, int], Any] = {}
        self.hits = 0

    def is_lone(self) -> bool:
        """Whether nobody else references the array."""
        # It may already have the layout that a primitive chose.
        own = sum(result is self.array for result in self.results.values())
        return self.references() <= _LONE + own and is_own(self.array)

    def references(self) -> int:
        """The reference count of the array."""
        return sys.getrefcount(self.array)


_LONE = _Entry(np.empty(2)).references()


class Filters:
    """Cache of reordered filters, valid while the filters do not change.

    A reference to a variable's array keeps updates from changing it in place: they allocate a new
    one. So an array that is referenced here has the values it had when it was reordered. A training
    step changes its variables every time, and there the reference only costs a copy: its primitives
    cache rarely, those of a prediction beside it soon. The cache is shared by all threads: two that
    referenced an array would each see it as in use.
    """

    def __init__(self) -> None:
        self._held: dict[int, _Entry] = {}
        self._uses: dict[tuple[int, int], int] = {}
        # By the numbers of primitives.
        self._patience: dict[int, int] = {}
        self._misses = 0

    def __len__(self) -> int:
        return len(self._held)

    def reordered(self, array: Any, layout: Layout, primitive: Primitive, kind: int) -> Any:
        """The result of the function of this name, or its cached result for the same array."""
        if not array.flags.c_contiguous:
            return reordered(array, layout, primitive, kind)
        place = address(array)
        entry = self._held.get(place)
        if entry is not None:
            result = entry.results.get((primitive.number, kind))
            if result is not None:
                entry.hits += 1
                return result
        elif self._is_worth_holding(place, primitive):
            entry = self._held[place] = _Entry(array)
        result = reordered(array, layout, primitive, kind)
        if entry is not None:
            entry.results[primitive.number, kind] = result
        return result

    def are_regular(self, array: Any) -> bool:
        """The result of the function of a similar name, or its cached result for the same array."""
        entry = self._held.get(address(array)) if array.flags.c_contiguous else None
        if entry is not None and entry.array.size == array.size:
            return entry.is_regular
        return is_regular(array)

    def _is_worth_holding(self, place: int, primitive: Primitive) -> bool:
        self._misses += 1
        if self._misses > len(self._held):
            self._let_go()
        for counted in (self._uses, self._patience):
            if len(counted) > _MOST_COUNTED:
                counted.clear()
        uses = self._uses.get((place, primitive.number), 0) + 1
        self._uses[place, primitive.number] = uses
        return uses >= self._patience.get(primitive.number, _FIRST_PATIENCE)

    def _let_go(self) -> None:
        """Drop arrays that nobody else references; cache later if they were never reused."""
        self._misses = 0
        for place, entry in list(self._held.items()):
            if entry.is_lone():
                self._held.pop(place, None)
                if not entry.hits:
                    for number, _ in entry.results:
                        before = self._patience.get(number, _FIRST_PATIENCE)
                        self._patience[number] = min(4 * before, _LAST_PATIENCE)


filters = Filters()


def reordered(
    array: Any, layout: Layout, primitive: Primitive, kind: int, output: Any = None
) -> Any:
    """An array in the layout that a primitive chose for an argument; into `output`, back from it.

    `layout` has the dimensions and strides of the array (of `output` if given).
    """
    back = output is not None
    known = primitive.reorders.get((kind, layout, back), _UNKNOWN)
    change = _change(primitive, kind, layout, back) if known is _UNKNOWN else known
    if change is None:
        return array.reshape(output.shape) if back else np.ascontiguousarray(array)
    if output is None:
        array = np.ascontiguousarray(array)
        output = empty((primitive.size(kind) // array.itemsize,), array.dtype)
    change.run(array, output)
    return output


def _change(primitive: Primitive, kind: int, layout: Layout, back: bool) -> Primitive | None:
    """The reorder into the layout of an argument, or back; None if the layout is the same."""
    library, chosen = primitive.library, primitive.chosen[kind]
    plain = described(library, *layout)
    if library.is_same(plain, chosen):
        change = None
    else:
        change = _made(library, *((chosen, plain) if back else (plain, chosen)))
    primitive.reorders[kind, layout, back] = change
    return change


def _made(library: Library, source: Any, target: Any) -> Primitive:
    engine = library.engine
    descriptor = library.made(
        "dnnl_reorder_primitive_desc_create", source, engine, target, engine, None
    )
    return Primitive(library, descriptor, {SRC: source, DST: target})


def narrow(array: Any, dtype: Any) -> Any:
    """float32 rounded to bfloat16."""
    output = empty(array.shape, np.dtype(dtype))
    narrower = type_of(output)
    if narrower in (None, FLOAT32) or array.dtype != np.float32 or not array.flags.c_contiguous:
        return None
    size = array.size

    def make(library: Library) -> Primitive:
        return _made(
            library,
            described(library, (size,), (1,)),
            described(library, (size,), (1,), narrower),
        )

    return output if compute(("narrow", size), make, size, array, output) else None
