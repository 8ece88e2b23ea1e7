"""The same numbers in another order: between TensorFlow's filters and those oneDNN works with."""

from __future__ import annotations

from typing import Any

import numpy as np

from .library import Library
from .primitive import DST, SRC, Primitive, described

Layout = tuple[tuple[int, ...], tuple[int, ...]]


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
