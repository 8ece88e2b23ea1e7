"""Fourier transforms over given axes, of given lengths."""

from __future__ import annotations

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import COMPLEX, complex64, float32, float64, int32
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import UNKNOWN
from ...core.shapes import TensorShape
from ..array import joining, shaping
from ..math import casting, comparison, elementwise, reduction
from .fourier import (
    COMPLEX_OF,
    REAL_OF,
    fit,
    multiplicity,
    require_complex,
    require_real,
    transforms_for,
)


def _checked(rank, lengths, axes):
    """Non-negative axes; ValueError where they and the lengths do not match."""
    if len(lengths) != len(axes):
        raise ValueError(
            f"fft_length and axes must have the same size, got {len(lengths)} and {len(axes)}"
        )
    if not axes:
        raise ValueError("A transform needs at least one axis.")
    for axis in axes:
        if not -rank <= axis < rank:
            raise ValueError(f"axis {axis} is out of range [{-rank}, {rank})")
    front = [axis % rank for axis in axes]
    if len(set(front)) < len(front):
        raise ValueError(f"axes must be different from each other, got {axes}")
    for length in lengths:
        if length < 1:
            raise ValueError(f"fft_length must be positive, got {lengths}")
    return front


def _shape(halved):
    def rule(inputs, attrs):
        value, lengths, axes = inputs
        for what, each in (("fft_length", lengths), ("axes", axes)):
            if each.shape.rank not in (None, 1):
                raise ValueError(f"{what} must be a vector, got shape {each.shape}")
        rank = value.shape.rank
        known_axes, known = constant_value(axes), constant_value(lengths)
        if rank is None:
            return UNKNOWN
        if known_axes is None or known is None:
            return TensorShape([None] * rank)
        sizes = list(value.shape)
        front = _checked(rank, known.tolist(), known_axes.tolist())
        for axis, length in zip(front, known.tolist(), strict=True):
            sizes[axis] = length
        if halved:
            sizes[front[-1]] = sizes[front[-1]] // 2 + 1
        return TensorShape(sizes)

    return rule


def _compute(kernel, input, fft_length, axes, dtype):
    lengths = np.ravel(fft_length).tolist()
    front = _checked(input.ndim, lengths, np.ravel(axes).tolist())
    transform = getattr(transforms_for(input), kernel)
    return transform(input, lengths, axes=front).astype(dtype, copy=False)


def _over_axes(name, kernel):
    def compute(input, fft_length, axes):
        return _compute(kernel, input, fft_length, axes, input.dtype)

    signature = "input: Tcomplex, fft_length: int32, axes: int32 -> output: Tcomplex"
    return op(name, signature, Tcomplex=COMPLEX, shape=_shape(halved=False), kernel=compute)


FFTND = _over_axes("FFTND", "fftn")
IFFTND = _over_axes("IFFTND", "ifftn")


@op(
    "RFFTND",
    "input: Treal, fft_length: int32, axes: int32 -> output: Tcomplex",
    Treal={float32, float64},
    shape=_shape(halved=True),
)
def RFFTND(input, fft_length, axes, *, Tcomplex=complex64):
    return _compute("rfftn", input, fft_length, axes, Tcomplex.numpy)


@op(
    "IRFFTND",
    "input: Tcomplex, fft_length: int32, axes: int32 -> output: Treal",
    Tcomplex=COMPLEX,
    shape=_shape(halved=False),
)
def IRFFTND(input, fft_length, axes, *, Treal=float32):
    return _compute("irfftn", input, fft_length, axes, Treal.numpy)


def _elements(lengths, dtype):
    return casting.cast(reduction.reduce_prod(lengths), dtype)


def _multiplicity_along(value, lengths, axes, dtype):
    """How often the full spectrum has each element, shaped to broadcast along the halved axis."""
    rank = shaping.rank(value)
    axis = axes[-1:]
    axis = axis + rank * casting.cast(comparison.less(axis, 0), int32)
    one = convert_to_tensor(1, int32)
    before = REGISTRY["Fill"](axis, one)
    after = REGISTRY["Fill"](rank - axis - 1, one)
    weights = multiplicity(lengths[-1], dtype)
    return shaping.reshape(weights, joining.concat([before, [-1], after], 0))


def _back(tensor, value):
    return fit(tensor, shaping.sizes_of(value)), None, None


@FFTND.gradient
def _(op, grad):
    value, lengths, axes = op.inputs
    return _back(execute(IFFTND, (grad, lengths, axes)) * _elements(lengths, grad.dtype), value)


@IFFTND.gradient
def _(op, grad):
    value, lengths, axes = op.inputs
    return _back(execute(FFTND, (grad, lengths, axes)) / _elements(lengths, grad.dtype), value)


@RFFTND.gradient
def _(op, grad):
    value, lengths, axes = op.inputs
    weighted = grad / _multiplicity_along(value, lengths, axes, grad.dtype)
    back = execute(IRFFTND, (weighted, lengths, axes), {"Treal": value.dtype})
    return _back(back * _elements(lengths, value.dtype), value)


@IRFFTND.gradient
def _(op, grad):
    value, lengths, axes = op.inputs
    spectrum = execute(RFFTND, (grad, lengths, axes), {"Tcomplex": value.dtype})
    weights = _multiplicity_along(value, lengths, axes, value.dtype)
    return _back(spectrum * (weights / _elements(lengths, value.dtype)), value)


def _arguments(value, fft_length, axes, halved=False):
    """Lengths and axes as tensors: all axes, or as many of the last as there are lengths."""
    if axes is None and fft_length is not None:
        fft_length = convert_to_tensor(fft_length, int32)
        count = fft_length.shape.num_elements()
        if count is None:
            raise ValueError("Without `axes`, the number of elements of fft_length must be known.")
        axes = list(range(-count, 0))
    elif axes is None:
        if value.shape.rank is None:
            axes = REGISTRY["Range"](*_scalars(0), shaping.rank(value), *_scalars(1))
        else:
            axes = list(range(value.shape.rank))
    axes = convert_to_tensor(axes, int32)
    if fft_length is None:
        front = axes + shaping.rank(value) * casting.cast(comparison.less(axes, 0), int32)
        fft_length = REGISTRY["GatherV2"](shaping.sizes_of(value), front, *_scalars(0))
        if halved:
            last = 2 * (fft_length[-1:] - 1)
            fft_length = joining.concat([fft_length[:-1], last], 0)
    return convert_to_tensor(fft_length, int32), axes


def _scalars(*values):
    return [convert_to_tensor(value, int32) for value in values]


def _normalized(result, lengths, norm, sign):
    """The result scaled by n^(-sign/2) (ortho) or n^(-sign) (forward); sign is -1 for inverses."""
    if norm is None or norm == "backward":
        return result
    if norm not in ("ortho", "forward"):
        raise ValueError(f"norm must be None, 'backward', 'ortho' or 'forward', got {norm!r}")
    real = REAL_OF.get(result.dtype, result.dtype)
    factor = _elements(lengths, real)
    if norm == "ortho":
        factor = elementwise.sqrt(factor)
    factor = casting.cast(factor, result.dtype)
    return result / factor if sign > 0 else result * factor


def signal_fftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform over the axes (all by default), truncated or padded to `fft_length`.

    `norm` selects where the division by the number of elements is: "backward" (default, in the
    inverse), "forward", or "ortho" (its square root in both).

    >>> tf.signal.fftnd([[1 + 0j, 2], [3, 4]]).numpy().tolist()
    [[(10+0j), (-2+0j)], [(-4+0j), 0j]]
    """
    value = convert_to_tensor(input_tensor, dtype_hint=complex64)
    lengths, axes = _arguments(value, fft_length, axes)
    return _normalized(execute(FFTND, (value, lengths, axes)), lengths, norm, 1)


def signal_ifftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The inverse Fourier transform over the axes (all by default)."""
    value = convert_to_tensor(input_tensor, dtype_hint=complex64)
    lengths, axes = _arguments(value, fft_length, axes)
    return _normalized(execute(IFFTND, (value, lengths, axes)), lengths, norm, -1)


def signal_rfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The Fourier transform of real numbers over the axes, the last one halved."""
    value = convert_to_tensor(input_tensor, dtype_hint=float32)
    require_real(value, "RFFT")
    lengths, axes = _arguments(value, fft_length, axes)
    attrs = {"Tcomplex": COMPLEX_OF[value.dtype]}
    return _normalized(execute(RFFTND, (value, lengths, axes), attrs), lengths, norm, 1)


def signal_irfftnd(input_tensor, fft_length=None, axes=None, norm=None, name=None):
    """The real signal with this transform over the axes, the last axis halved."""
    value = convert_to_tensor(input_tensor, dtype_hint=complex64)
    require_complex(value, "IRFFT")
    lengths, axes = _arguments(value, fft_length, axes, halved=True)
    attrs = {"Treal": REAL_OF[value.dtype]}
    return _normalized(execute(IRFFTND, (value, lengths, axes), attrs), lengths, norm, -1)


def _plain(input, fft_length, axes, hint):
    value = convert_to_tensor(input, dtype_hint=hint)
    return value, convert_to_tensor(fft_length, int32), convert_to_tensor(axes, int32)


def fftnd(input, fft_length, axes, name=None):
    """The Fourier transform over the axes, truncated or padded to `fft_length`."""
    return execute(FFTND, _plain(input, fft_length, axes, complex64))


def ifftnd(input, fft_length, axes, name=None):
    """The inverse Fourier transform over the axes, truncated or padded to `fft_length`."""
    return execute(IFFTND, _plain(input, fft_length, axes, complex64))


def rfftnd(input, fft_length, axes, Tcomplex=complex64, name=None):
    """The Fourier transform of real numbers over the axes, the last one halved."""
    return execute(RFFTND, _plain(input, fft_length, axes, float32), {"Tcomplex": Tcomplex})


def irfftnd(input, fft_length, axes, Treal=float32, name=None):
    """The real signal with this transform over the axes, the last axis halved."""
    return execute(IRFFTND, _plain(input, fft_length, axes, complex64), {"Treal": Treal})
