"""Discrete Fourier transforms of the innermost one, two or three axes, and of given axes.

The kernels are NumPy's and, for large arrays, SciPy's; both compute float32 and complex64 in that
precision.
"""

from __future__ import annotations

import math

import numpy as np

from ...core.convert import constant_value, convert_to_tensor
from ...core.dtypes import COMPLEX, complex64, complex128, float32, float64, int32
from ...core.op import REGISTRY, execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ..array import joining, ordering, padding, shaping, slicing
from ..math import arithmetic, casting, comparison, reduction

# The number of elements above which SciPy's transforms, vectorized over rows, are faster.
_LARGE = 4096
COMPLEX_OF = {float32: complex64, float64: complex128}
REAL_OF = {complex64: float32, complex128: float64}


def transforms_for(array):
    """The module whose transforms are faster for an array."""
    if array.size < _LARGE:
        return np.fft
    from scipy import fft

    return fft


def size_of(tensor, axis):
    """The size of an axis: an integer where it is static, else a scalar tensor."""
    shape = tensor.shape
    if shape.rank is not None and shape[axis] is not None:
        return shape[axis]
    return shaping.sizes_of(tensor)[axis]


def _require_axes(value, count):
    if value.shape.rank is not None and value.shape.rank < count:
        raise ValueError(
            f"Input must have rank of at least {count} but got: {dimensions_text(value.shape)}"
        )


def _require_rank(array, count):
    if array.ndim < count:
        raise ValueError(f"Input must have rank of at least {count} but got: {list(array.shape)}")


def _transform(name, count, kernel):
    """A complex transform over the innermost `count` axes."""
    axes = tuple(range(-count, 0))

    def shape_rule(inputs, attrs):
        _require_axes(inputs[0], count)
        return inputs[0].shape

    def compute(input):
        _require_rank(input, count)
        return getattr(transforms_for(input), kernel)(input, axes=axes) if input.size else input

    return op(
        name,
        "input: Tcomplex -> output: Tcomplex",
        Tcomplex=COMPLEX,
        shape=shape_rule,
        kernel=compute,
    )


FFT = _transform("FFT", 1, "fftn")
IFFT = _transform("IFFT", 1, "ifftn")
FFT2D = _transform("FFT2D", 2, "fftn")
IFFT2D = _transform("IFFT2D", 2, "ifftn")
FFT3D = _transform("FFT3D", 3, "fftn")
IFFT3D = _transform("IFFT3D", 3, "ifftn")


def _innermost_size(value, count):
    """The number of elements of one transform, in the dtype of the value."""
    sizes = shaping.sizes_of(value)[-count:]
    return casting.cast(reduction.reduce_prod(sizes), value.dtype)


def _adjoint(forward, inverse, count):
    """The gradient rules of a pair: each is the other's adjoint up to the inverse's factor 1/n."""
    forward.gradient(lambda op, grad: inverse(grad) * _innermost_size(grad, count))
    inverse.gradient(lambda op, grad: forward(grad) / _innermost_size(grad, count))


_adjoint(FFT, IFFT, 1)
_adjoint(FFT2D, IFFT2D, 2)
_adjoint(FFT3D, IFFT3D, 3)


def _complex(input):
    return convert_to_tensor(input, dtype_hint=complex64)


def fft(input, name=None):
    """The Fourier transform of the last axis: X[k] = Σ x[n] e^(-2πi kn/N).

    >>> tf.signal.fft([1 + 0j, 2, 3, 4]).numpy().tolist()
    [(10+0j), (-2+2j), (-2+0j), (-2-2j)]
    """
    return execute(FFT, (_complex(input),))


def ifft(input, name=None):
    """The inverse Fourier transform of the last axis: x[n] = 1/N Σ X[k] e^(2πi kn/N)."""
    return execute(IFFT, (_complex(input),))


def fft2d(input, name=None):
    """The Fourier transform of the last two axes."""
    return execute(FFT2D, (_complex(input),))


def ifft2d(input, name=None):
    """The inverse Fourier transform of the last two axes."""
    return execute(IFFT2D, (_complex(input),))


def fft3d(input, name=None):
    """The Fourier transform of the last three axes."""
    return execute(FFT3D, (_complex(input),))


def ifft3d(input, name=None):
    """The inverse Fourier transform of the last three axes."""
    return execute(IFFT3D, (_complex(input),))


# A real signal's spectrum is conjugate-symmetric: the last axis holds the first half.


def _lengths_text(count):
    return f"fft_length must have shape [{count}]"


def _real_shape(count, halved):
    def rule(inputs, attrs):
        value, lengths = inputs
        _require_axes(value, count)
        if lengths.shape.rank not in (None, 1) or lengths.shape.num_elements() not in (None, count):
            raise ValueError(_lengths_text(count))
        if value.shape.rank is None:
            return UNKNOWN
        known = constant_value(lengths)
        sizes = [None] * count if known is None else known.tolist()
        if halved and sizes[-1] is not None:
            sizes[-1] = sizes[-1] // 2 + 1
        return TensorShape([*value.shape[:-count], *sizes])

    return rule


def _fitting(array, lengths, halved):
    """The part of the array that the transform uses; ValueError where it is too small."""
    count = len(lengths)
    _require_rank(array, count)
    needed = list(lengths)
    for axis, length in enumerate(lengths):
        if length < 0:
            raise ValueError(f"fft_length[{axis}] must >= 0, but got: {length}")
    if halved:
        needed[-1] = needed[-1] // 2 + 1 if needed[-1] else 0
    for axis, length in enumerate(needed, array.ndim - count):
        if array.shape[axis] < length:
            raise ValueError(
                f"Input dimension {axis} must have length of at least {length} but got: "
                f"{array.shape[axis]}"
            )
    return array[(..., *[slice(0, length) for length in needed])]


def _plain_lengths(fft_length, count):
    if fft_length.shape != (count,):
        raise ValueError(_lengths_text(count))
    return fft_length.tolist()


def _real_transform(name, count):
    axes = tuple(range(-count, 0))

    @op(
        name,
        "input: Treal, fft_length: int32 -> output: Tcomplex",
        Treal={float32, float64},
        shape=_real_shape(count, halved=True),
    )
    def transform(input, fft_length, *, Tcomplex=complex64):
        lengths = _plain_lengths(fft_length, count)
        part = _fitting(input, lengths, halved=False)
        if not part.size:
            *outer, last = lengths
            sizes = (*part.shape[:-count], *outer, last // 2 + 1)
            return np.zeros(sizes, Tcomplex.numpy)
        result = transforms_for(part).rfftn(part, axes=axes)
        return result.astype(Tcomplex.numpy, copy=False)

    return transform


def _inverse_real_transform(name, count):
    axes = tuple(range(-count, 0))

    @op(
        name,
        "input: Tcomplex, fft_length: int32 -> output: Treal",
        Tcomplex=COMPLEX,
        shape=_real_shape(count, halved=False),
    )
    def transform(input, fft_length, *, Treal=float32):
        lengths = _plain_lengths(fft_length, count)
        part = _fitting(input, lengths, halved=True)
        if not part.size:
            return np.zeros((*part.shape[:-count], *lengths), Treal.numpy)
        result = transforms_for(part).irfftn(part, lengths, axes=axes)
        return result.astype(Treal.numpy, copy=False)

    return transform


RFFT = _real_transform("RFFT", 1)
RFFT2D = _real_transform("RFFT2D", 2)
RFFT3D = _real_transform("RFFT3D", 3)
IRFFT = _inverse_real_transform("IRFFT", 1)
IRFFT2D = _inverse_real_transform("IRFFT2D", 2)
IRFFT3D = _inverse_real_transform("IRFFT3D", 3)


def multiplicity(length, dtype):
    """How often the full spectrum has each element of its first half: 1 at the ends, else 2."""
    position = REGISTRY["Range"](*_constants(0), length // 2 + 1, *_constants(1))
    alone = (position == 0) | (position * 2 == length)
    return casting.cast(2 - casting.cast(alone, int32), dtype)


def _constants(*values):
    return [convert_to_tensor(value, int32) for value in values]


def fit(tensor, sizes):
    """The tensor truncated or zero-padded at the end of each axis to these sizes."""
    kept = arithmetic.minimum(shaping.sizes_of(tensor), sizes)
    cut = slicing.slice(tensor, shaping.reshape(kept * 0, [-1]), kept)
    return padding.pad(cut, joining.stack([kept * 0, sizes - kept], axis=1))


def _real_rules(forward, inverse, count):
    # With w the multiplicities and n the number of elements, over the stored half of the spectrum:
    # rfft' = n irfft(g / w), irfft' = w rfft(g) / n. Truncated elements have zero gradients.
    @forward.gradient
    def _(op, grad):
        value, lengths = op.inputs
        weighted = grad / multiplicity(lengths[-1], grad.dtype)
        back = execute(inverse, (weighted, lengths), {"Treal": value.dtype})
        count_all = casting.cast(reduction.reduce_prod(lengths), value.dtype)
        return fit(back * count_all, shaping.sizes_of(value)), None

    @inverse.gradient
    def _(op, grad):
        value, lengths = op.inputs
        spectrum = execute(forward, (grad, lengths), {"Tcomplex": value.dtype})
        count_all = casting.cast(reduction.reduce_prod(lengths), value.dtype)
        weights = multiplicity(lengths[-1], value.dtype) / count_all
        return fit(spectrum * weights, shaping.sizes_of(value)), None


_real_rules(RFFT, IRFFT, 1)
_real_rules(RFFT2D, IRFFT2D, 2)
_real_rules(RFFT3D, IRFFT3D, 3)


def _padded(value, needed, count):
    """The value zero-padded at the end of the innermost axes where they are too short."""
    static = constant_value(needed)
    inner = None if value.shape.rank is None else value.shape[-count:]
    if static is not None and inner is not None and inner.is_fully_defined():
        missing = [max(0, want - have) for want, have in zip(static.tolist(), inner, strict=True)]
        if not any(missing):
            return value
        pairs = [[0, 0]] * (value.shape.rank - count) + [[0, more] for more in missing]
        return padding.pad(value, pairs)
    sizes = shaping.sizes_of(value)
    missing = arithmetic.maximum(needed - sizes[-count:], 0)
    after = joining.concat([sizes[:-count] * 0, missing], 0)
    return padding.pad(value, joining.stack([after * 0, after], axis=1))


def _lengths(fft_length, count):
    lengths = convert_to_tensor(fft_length, int32)
    if lengths.shape.rank == 0:
        raise TypeError(f"fft_length must be a list of {count} sizes, got one number: {fft_length}")
    return lengths


def require_real(value, name):
    if value.dtype not in COMPLEX_OF:
        raise ValueError(f"{name} requires tf.float32 or tf.float64 inputs, got: {value}")


def require_complex(value, name):
    if value.dtype not in REAL_OF:
        raise ValueError(f"{name} requires tf.complex64 or tf.complex128 inputs, got: {value}")


def _rfft(transform, count, input_tensor, fft_length):
    value = convert_to_tensor(input_tensor, dtype_hint=float32)
    require_real(value, "RFFT")
    _require_axes(value, count)
    if fft_length is None:
        lengths = shaping.sizes_of(value)[-count:]
    else:
        lengths = _lengths(fft_length, count)
        if lengths.shape.num_elements() in (None, count):
            value = _padded(value, lengths, count)
    return execute(transform, (value, lengths), {"Tcomplex": COMPLEX_OF[value.dtype]})


def _irfft(transform, count, input_tensor, fft_length):
    value = convert_to_tensor(input_tensor, dtype_hint=complex64)
    require_complex(value, "IRFFT")
    _require_axes(value, count)
    if fft_length is None:
        inner = shaping.sizes_of(value)[-count:]
        last = arithmetic.maximum(2 * (inner[-1:] - 1), 0)
        lengths = joining.concat([inner[:-1], last], 0)
    else:
        lengths = _lengths(fft_length, count)
        if lengths.shape.num_elements() in (None, count):
            needed = joining.concat([lengths[:-1], lengths[-1:] // 2 + 1], 0)
            value = _padded(value, needed, count)
    return execute(transform, (value, lengths), {"Treal": REAL_OF[value.dtype]})


def rfft(input_tensor, fft_length=None, name=None):
    """The first half of the Fourier transform of real numbers along the last axis.

    The axis is truncated or zero-padded to `fft_length[0]` elements; the result has `fft_length[0]
    // 2 + 1`.

    >>> tf.signal.rfft([1.0, 2.0, 3.0, 4.0]).numpy().tolist()
    [(10+0j), (-2+2j), (-2+0j)]
    """
    return _rfft(RFFT, 1, input_tensor, fft_length)


def irfft(input_tensor, fft_length=None, name=None):
    """The real signal whose spectrum's first half is the last axis.

    `fft_length[0]` is its length: 2 (size - 1) by default.

    >>> tf.signal.irfft([10 + 0j, -2 + 2j, -2 + 0j]).numpy().tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    return _irfft(IRFFT, 1, input_tensor, fft_length)


def rfft2d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers over the last two axes, the last one halved."""
    return _rfft(RFFT2D, 2, input_tensor, fft_length)


def irfft2d(input_tensor, fft_length=None, name=None):
    """The real signal with this Fourier transform over the last two axes, the last halved."""
    return _irfft(IRFFT2D, 2, input_tensor, fft_length)


def rfft3d(input_tensor, fft_length=None, name=None):
    """The Fourier transform of real numbers over the last three axes, the last one halved."""
    return _rfft(RFFT3D, 3, input_tensor, fft_length)


def irfft3d(input_tensor, fft_length=None, name=None):
    """The real signal with this transform over the last three axes, the last halved."""
    return _irfft(IRFFT3D, 3, input_tensor, fft_length)


def _shifted(x, axes, sign):
    x = convert_to_tensor(x)
    if axes is None:
        if x.shape.rank is None:
            axes = REGISTRY["Range"](*_constants(0), shaping.rank(x), *_constants(1))
        else:
            axes = list(range(x.shape.rank))
    axes = convert_to_tensor(axes, int32)
    rank = shaping.rank(x)
    from_front = arithmetic.add(axes, rank * casting.cast(comparison.less(axes, 0), int32))
    sizes = REGISTRY["GatherV2"](shaping.sizes_of(x), from_front, *_constants(0))
    return ordering.roll(x, sign * (sizes // 2), axes)


def fftshift(x, axes=None, name=None):
    """The zero frequency shifted to the center of the axes (all by default).

    >>> tf.signal.fftshift([0.0, 1.0, 2.0, -2.0, -1.0]).numpy().tolist()
    [-2.0, -1.0, 0.0, 1.0, 2.0]
    """
    return _shifted(x, axes, 1)


def ifftshift(x, axes=None, name=None):
    """The inverse of `fftshift`: the center of the axes shifted to their start."""
    return _shifted(x, axes, -1)


def enclosing_power_of_two(length):
    """The smallest power of two not below the length, an integer or a scalar tensor."""
    known = length if isinstance(length, int) else constant_value(length)
    if known is not None:
        return 2 ** max(0, math.ceil(math.log2(known))) if known > 0 else 1
    # A little less, so that rounding does not push an exact power to the next one.
    exponent = REGISTRY["Log"](casting.cast(length, float64)) / math.log(2.0) - 1e-9
    exponent = REGISTRY["Ceil"](exponent)
    return casting.cast(arithmetic.pow(convert_to_tensor(2.0, float64), exponent), int32)
