"""Partial updates of variables: the scatter methods, and assignment to slices.

An update writes in place if the variable's buffer has no other references and to a copy otherwise,
so that tensors read before never change. All indices are checked before anything is written: a
failed update leaves the variable unchanged.
"""

from __future__ import annotations

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import NUMERIC, REAL, bool as bool_dtype, string
from ..core.errors import OutOfRangeError
from ..core.indexed_slices import IndexedSlices
from ..core.op import execute, op
from ..core.shape_rules import nothing, scalar
from ..core.variable import Variable
from .array import creation, joining, slicing
from .array.arguments import INDEX, INDICES, require_type
from .array.gathering import require_in_range
from .array.scatter import require_slices
from .array.scatter_kernels import scatter_nd_into, scatter_rows, shape_text
from .array.shaping import broadcast_to, reshape, shape as shape_of

_ANY = NUMERIC | {bool_dtype, string}


def change(variable, write) -> None:
    """Let `write(array)` update the variable, in place if its buffer has no other references."""
    with variable._lock:
        sizes = variable._tensor._array.shape
        in_place = sizes and variable._tensor._array.flags.c_contiguous
        taken = variable._take() if in_place else None
        if taken is not None:
            try:
                write(taken._array)
            finally:
                variable._tensor = taken
            return
        array = np.array(variable._tensor._array, order="C")
        write(array)
        variable._replace(array if sizes or array.dtype == object else array[()])


def _scatter(name, operation, types):
    """The op that combines rows of a variable with updates."""

    def kernel(resource, indices, updates):
        sizes = resource._tensor._array.shape
        if not sizes:
            # A scalar is treated as a single row.
            sizes = (1,)
        whole = indices.shape + sizes[1:]
        if updates.ndim and updates.shape[: indices.ndim] != indices.shape:
            raise ValueError(
                f"The shape of indices ({shape_text(indices.shape)}) must be a prefix of the shape "
                f"of updates ({shape_text(updates.shape)})"
            )
        if updates.ndim and updates.shape != whole:
            raise ValueError(
                "Must have updates.shape = indices.shape + params.shape[1:] or updates.shape = [], "
                f"got updates.shape {shape_text(updates.shape)}, indices.shape "
                f"{shape_text(indices.shape)}, params.shape {shape_text(sizes)}"
            )
        require_in_range(indices, sizes[0])
        if operation == "div" and updates.dtype.kind in "iu" and not np.all(updates):
            raise ValueError("updates must not contain 0")
        rows = np.asarray(indices).reshape(-1)
        if updates.ndim:
            updates = updates.reshape(rows.size, *sizes[1:])
        change(resource, lambda array: scatter_rows(array.reshape(sizes), rows, updates, operation))
        return []

    return op(
        name,
        "resource: resource, indices: Tindices, updates: dtype",
        dtype=types,
        Tindices=INDEX,
        shape=nothing,
        kernel=kernel,
        stateful=True,
        gradient=None,
    )


def _scatter_nd(name, operation, types):
    """The op that combines slices of a variable at index vectors with updates."""

    def kernel(ref, indices, updates, *, bad_indices_policy=""):
        def write(array):
            scatter_nd_into(array, indices, updates, operation, bad_indices_policy)

        change(ref, write)
        return []

    return op(
        name,
        "ref: resource, indices: Tindices, updates: T",
        T=types,
        Tindices=INDEX,
        shape=nothing,
        kernel=kernel,
        stateful=True,
        gradient=None,
    )


ResourceScatterAdd = _scatter("ResourceScatterAdd", "add", NUMERIC)
ResourceScatterSub = _scatter("ResourceScatterSub", "sub", NUMERIC)
ResourceScatterMul = _scatter("ResourceScatterMul", "mul", NUMERIC)
ResourceScatterDiv = _scatter("ResourceScatterDiv", "div", NUMERIC)
ResourceScatterMax = _scatter("ResourceScatterMax", "max", REAL)
ResourceScatterMin = _scatter("ResourceScatterMin", "min", REAL)
ResourceScatterUpdate = _scatter("ResourceScatterUpdate", "update", _ANY)
ResourceScatterNdAdd = _scatter_nd("ResourceScatterNdAdd", "add", NUMERIC | {bool_dtype})
ResourceScatterNdSub = _scatter_nd("ResourceScatterNdSub", "sub", NUMERIC)
ResourceScatterNdMax = _scatter_nd("ResourceScatterNdMax", "max", REAL)
ResourceScatterNdMin = _scatter_nd("ResourceScatterNdMin", "min", REAL)
ResourceScatterNdUpdate = _scatter_nd("ResourceScatterNdUpdate", "update", _ANY)


@op(
    "ResourceStridedSliceAssign",
    "ref: resource, begin: Index, end: Index, strides: Index, value: T",
    Index=INDICES,
    shape=nothing,
    stateful=True,
    gradient=None,
)
def ResourceStridedSliceAssign(
    ref,
    begin,
    end,
    strides,
    value,
    *,
    begin_mask=0,
    end_mask=0,
    ellipsis_mask=0,
    new_axis_mask=0,
    shrink_axis_mask=0,
):
    masks = (begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    key = slicing.checked_key(ref._tensor._array.shape, begin, end, strides, masks)

    def write(array):
        part = array[key]
        try:
            part[...] = value
        except ValueError:
            raise ValueError(
                f"Cannot broadcast input shape {shape_text(value.shape)} into final shape "
                f"{shape_text(part.shape)}"
            ) from None

    change(ref, write)
    return []


@op(
    "ResourceCountUpTo",
    "resource: resource -> output: T",
    shape=scalar,
    stateful=True,
    gradient=None,
)
def ResourceCountUpTo(resource, *, limit, T):
    with resource._lock:
        value = resource._tensor._array
        if value.ndim:
            raise ValueError(f"input is not a scalar: {shape_text(value.shape)}")
        if value >= limit:
            raise OutOfRangeError(None, None, f"Reached limit of {limit}")
        resource._replace(value + T.as_numpy_dtype(1))
    return value


def _update(variable, op, indices, updates):
    updates = convert_to_tensor(updates, variable.dtype)
    execute(op, (variable.handle, convert_to_tensor(indices), updates))
    return variable._updated()


def _sparse(op, summary):
    """A method that updates the rows of an IndexedSlices."""

    def method(self, sparse_delta, use_locking=False, name=None):
        _require_slices(sparse_delta)
        return _update(self, op, sparse_delta.indices, sparse_delta.values)

    method.__doc__ = summary
    return method


def _require_slices(sparse_delta):
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(
            "Argument `sparse_delta` must be a `tf.IndexedSlices`. Received arg: "
            f"{sparse_delta}. Make one of values and their rows: tf.IndexedSlices(values, indices)."
        )


def _nd(op, summary):
    """A method that updates slices at index vectors."""

    def method(self, indices, updates, name=None):
        updates = convert_to_tensor(updates, self.dtype)
        require_slices(op.name, updates)
        return _update(self, op, indices, updates)

    method.__doc__ = summary
    return method


def batch_scatter_update(self, sparse_delta, use_locking=False, name=None):
    """Replace, in each batch, the slices at the last axis of the indices by the values."""
    _require_slices(sparse_delta)
    indices = convert_to_tensor(sparse_delta.indices)
    sizes = shape_of(indices)
    rank = indices.shape.rank
    columns = [
        broadcast_to(
            reshape(creation.range(sizes[axis]), [-1 if i == axis else 1 for i in range(rank)]),
            sizes,
        )
        for axis in range(rank - 1)
    ]
    places = joining.stack([*columns, indices], axis=-1)
    return _update(self, ResourceScatterNdUpdate, places, sparse_delta.values)


def count_up_to(self, limit):
    """Add 1 to a scalar variable, give the value before; OutOfRangeError once at `limit`."""
    require_type("ResourceCountUpTo", "T", self.dtype, INDEX)
    return execute(ResourceCountUpTo, (self.handle,), {"limit": int(limit), "T": self.dtype})


_METHODS = {
    "scatter_add": _sparse(ResourceScatterAdd, "Add the values to the rows at the indices."),
    "scatter_sub": _sparse(ResourceScatterSub, "Subtract the values from the rows at the indices."),
    "scatter_mul": _sparse(ResourceScatterMul, "Multiply the rows at the indices by the values."),
    "scatter_div": _sparse(ResourceScatterDiv, "Divide the rows at the indices by the values."),
    "scatter_max": _sparse(ResourceScatterMax, "Raise the rows at the indices to the values."),
    "scatter_min": _sparse(ResourceScatterMin, "Lower the rows at the indices to the values."),
    "scatter_update": _sparse(
        ResourceScatterUpdate, "Replace the rows at the indices by the values."
    ),
    "scatter_nd_add": _nd(ResourceScatterNdAdd, "Add updates at index vectors."),
    "scatter_nd_sub": _nd(ResourceScatterNdSub, "Subtract updates at index vectors."),
    "scatter_nd_max": _nd(ResourceScatterNdMax, "Raise to the updates at index vectors."),
    "scatter_nd_min": _nd(ResourceScatterNdMin, "Lower to the updates at index vectors."),
    "scatter_nd_update": _nd(ResourceScatterNdUpdate, "Replace slices at index vectors."),
    "batch_scatter_update": batch_scatter_update,
    "count_up_to": count_up_to,
}

for _name, _method in _METHODS.items():
    _method.__name__ = _name
    _method.__qualname__ = f"Variable.{_name}"
    setattr(Variable, _name, _method)
