"""Writing or adding slices at index vectors: scatter_nd and tensor_scatter_nd_*."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_shape, constant_value, convert_to_tensor, operands
from ...core.dtypes import NUMERIC, REAL, bool as bool_dtype, from_numpy, string
from ...core.errors import InvalidArgumentError
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import UNKNOWN
from ...core.tensor import Tensor
from ..math import casting, division, elementwise
from . import creation, gathering
from .arguments import INDICES, alike
from .scatter_kernels import require_fit, scatter_nd_into


def _require_fit(sizes, indices, updates):
    if None not in (sizes.rank, indices.rank, updates.rank):
        require_fit(tuple(sizes), tuple(indices), tuple(updates))


def _scattered(inputs, attrs):
    indices, updates, shape = inputs
    if shape.shape.rank not in (None, 1):
        raise ValueError("Shape must be a vector")
    known = constant_value(shape)
    if known is not None:
        for size in known.tolist():
            if size < 0:
                raise ValueError(f"Dimension {size} must be >= 0")
    wanted = constant_shape(shape) if shape.shape.rank == 1 else UNKNOWN
    _require_fit(wanted, indices.shape, updates.shape)
    return wanted


@op(
    "ScatterNd",
    "indices: Tindices, updates: T, shape: Tindices -> output: T",
    T=NUMERIC | {bool_dtype, string},
    Tindices=INDICES,
    shape=_scattered,
)
def ScatterNd(indices, updates, shape, *, bad_indices_policy=""):
    if shape.ndim != 1:
        raise ValueError("Shape must be a vector")
    sizes = shape.tolist()
    if sizes and min(sizes) < 0:
        raise ValueError("Dimensions must be >= 0")
    result = np.full(sizes, b"" if updates.dtype == object else 0, updates.dtype)
    scatter_nd_into(result, indices, updates, "sum", bad_indices_policy)
    return result


@ScatterNd.gradient
def _(op, grad):
    indices = op.inputs[0]
    policy = op.attrs["bad_indices_policy"]
    return None, gathering.gather_nd(grad, indices, bad_indices_policy=policy), None


def scatter_nd(indices, updates, shape, bad_indices_policy="", name=None) -> Tensor:
    """A tensor of zeros with `updates` added at the index vectors `indices`.

    >>> tf.scatter_nd([[1], [3], [1]], [5, 6, 7], [4]).numpy().tolist()
    [0, 12, 0, 6]
    """
    indices, shape = alike([indices, shape])
    updates = convert_to_tensor(updates)
    require_slices("ScatterNd", updates)
    return execute(ScatterNd, (indices, updates, shape), _policy(bad_indices_policy))


def _policy(bad_indices_policy):
    return {"bad_indices_policy": bad_indices_policy} if bad_indices_policy else {}


def require_slices(op, updates) -> None:
    """Reject scalar updates of a scatter."""
    if updates.shape.rank == 0:
        raise InvalidArgumentError(
            None,
            None,
            f"Updates shape must have rank at least one. Found:[] (a scalar) [Op:{op}]",
        )


def _changed(inputs, attrs):
    tensor, indices, updates = inputs
    _require_fit(tensor.shape, indices.shape, updates.shape)
    return tensor.shape


def _tensor_scatter(name, operation, types):
    def kernel(tensor, indices, updates, *, bad_indices_policy=""):
        if from_numpy(tensor.dtype) not in types:
            raise division.no_kernel(name, from_numpy(tensor.dtype))
        result = np.array(tensor)
        scatter_nd_into(result, indices, updates, operation, bad_indices_policy)
        return result

    return op(
        name,
        "tensor: T, indices: Tindices, updates: T -> output: T",
        Tindices=INDICES,
        shape=_changed,
        kernel=kernel,
    )


TensorScatterAdd = _tensor_scatter("TensorScatterAdd", "add", NUMERIC)
TensorScatterSub = _tensor_scatter("TensorScatterSub", "sub", NUMERIC)
TensorScatterMax = _tensor_scatter("TensorScatterMax", "max", REAL)
TensorScatterMin = _tensor_scatter("TensorScatterMin", "min", REAL)
TensorScatterUpdate = _tensor_scatter(
    "TensorScatterUpdate", "update", NUMERIC | {bool_dtype, string}
)


@TensorScatterAdd.gradient
def _(op, grad):
    return grad, None, _picked(op, grad)


@TensorScatterSub.gradient
def _(op, grad):
    return grad, None, elementwise.negative(_picked(op, grad))


@TensorScatterUpdate.gradient
def _(op, grad):
    _, indices, updates = op.inputs
    kept = execute(TensorScatterUpdate, (grad, indices, creation.zeros_like(updates)))
    return kept, None, _picked(op, grad)


def _picked(op, grad):
    policy = op.attrs["bad_indices_policy"]
    return gathering.gather_nd(grad, op.inputs[1], bad_indices_policy=policy)


@TensorScatterMax.gradient
@TensorScatterMin.gradient
def _(op, grad):
    # Ties divide the gradient equally.
    tensor, indices, updates = op.inputs
    (result,) = op.outputs
    equal = REGISTRY["Equal"]
    held = casting.cast(equal(result, tensor), grad.dtype)
    given = casting.cast(equal(updates, _picked(op, result)), grad.dtype)
    shares = execute(TensorScatterAdd, (held, indices, given), op.given)
    part = division.divide_no_nan(grad, shares)
    return held * part, None, given * _picked(op, part)


def _tensor_scattered(op, tensor, indices, updates, bad_indices_policy=""):
    tensor, updates = operands(tensor, updates)
    require_slices(op.name, updates)
    inputs = (tensor, convert_to_tensor(indices), updates)
    return execute(op, inputs, _policy(bad_indices_policy))


def tensor_scatter_nd_add(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """Add `updates` to a copy of the tensor at the index vectors `indices`.

    >>> tf.tensor_scatter_nd_add([1, 1, 1], [[0], [0]], [5, 6]).numpy().tolist()
    [12, 1, 1]
    """
    return _tensor_scattered(TensorScatterAdd, tensor, indices, updates, bad_indices_policy)


def tensor_scatter_nd_sub(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """Subtract `updates` from a copy of the tensor at the index vectors `indices`."""
    return _tensor_scattered(TensorScatterSub, tensor, indices, updates, bad_indices_policy)


def tensor_scatter_nd_max(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """The tensor with the maximum of itself and `updates` at the index vectors `indices`."""
    return _tensor_scattered(TensorScatterMax, tensor, indices, updates, bad_indices_policy)


def tensor_scatter_nd_min(tensor, indices, updates, bad_indices_policy="", name=None) -> Tensor:
    """The tensor with the minimum of itself and `updates` at the index vectors `indices`."""
    return _tensor_scattered(TensorScatterMin, tensor, indices, updates, bad_indices_policy)


def tensor_scatter_nd_update(tensor, indices, updates, name=None) -> Tensor:
    """The tensor with the slices at the index vectors `indices` replaced by `updates`.

    >>> tf.tensor_scatter_nd_update([1, 2, 3], [[0], [2]], [7, 9]).numpy().tolist()
    [7, 2, 9]
    """
    return _tensor_scattered(TensorScatterUpdate, tensor, indices, updates)
