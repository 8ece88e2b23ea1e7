"""Fourier transforms against TensorFlow, and over chosen axes against their definition."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

PRECISIONS = st.sampled_from([np.float32, np.float64])


def real(shape, dtype, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def complex_(shape, dtype, seed=0):
    kind = np.complex64 if dtype == np.float32 else np.complex128
    return (real(shape, dtype, seed) + 1j * real(shape, dtype, seed + 1)).astype(kind)


def transform(name, *arguments, **keywords):
    return lambda tf, x: getattr(tf.signal, name)(x, *arguments, **keywords)


@pytest.mark.parametrize(("suffix", "count"), [("", 1), ("2d", 2), ("3d", 3)])
@settings(max_examples=5)
@given(st.data())
def test_complex_transforms(suffix, count, data):
    shape = data.draw(hnp.array_shapes(min_dims=count, max_dims=count + 1, max_side=5))
    x = complex_(shape, data.draw(PRECISIONS))
    for name in ("fft", "ifft"):
        check(transform(name + suffix), x)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_large_transforms(dtype):
    x = complex_((3, 4, 30, 35), dtype)
    for name in ("fft", "ifft", "fft2d", "ifft2d", "fft3d", "ifft3d"):
        check(transform(name), x, gradient=False, tolerance=1e-5)
        check(transform(name), x.swapaxes(1, 3), gradient=False, tolerance=1e-5)
    for name in ("rfft", "rfft2d", "rfft3d"):
        check(transform(name), x.real, gradient=False, tolerance=1e-5)
    for name in ("irfft", "irfft2d", "irfft3d"):
        check(transform(name), x, gradient=False, tolerance=1e-5)


# TensorFlow's rules for real transforms fail for other lengths than the input's, and there are
# none for three axes: the same is said by complex transforms.


def by_complex_transform(tf, x, lengths):
    count = len(lengths)
    cut = (..., *[slice(0, length) for length in lengths])
    padded = tf.pad(x, [[0, 0]] * (len(x.shape) - count) + [[0, 9]] * count)[cut]
    transform = [tf.signal.fft, tf.signal.fft2d, tf.signal.fft3d][count - 1]
    kind = tf.complex64 if x.dtype == tf.float32 else tf.complex128
    return transform(tf.cast(padded, kind))[..., : lengths[-1] // 2 + 1]


def by_inverse_complex_transform(tf, x, lengths):
    """The other half of the spectrum doubles the real part of this one, but for its ends."""
    count, half = len(lengths), lengths[-1] // 2 + 1
    padded = tf.pad(x, [[0, 0]] * (len(x.shape) - count) + [[0, 9]] * count)
    padded = padded[(..., *[slice(0, length) for length in (*lengths[:-1], half)])]
    weights = np.full(half, 2.0)
    weights[[0] if lengths[-1] % 2 else [0, -1]] = 1.0
    padded = tf.pad(padded * tf.constant(weights, x.dtype), [[0, 0]] * (len(x.shape) - 1)
                    + [[0, lengths[-1] - half]])  # fmt: skip
    transform = [tf.signal.ifft, tf.signal.ifft2d, tf.signal.ifft3d][count - 1]
    return tf.math.real(transform(padded))


def same_as(ours, theirs):
    """Ours on Runnel, theirs on TensorFlow."""
    return lambda tf, x: ours(tf, x) if tf is runnel else theirs(tf, x)


@pytest.mark.parametrize(("suffix", "count"), [("", 1), ("2d", 2), ("3d", 3)])
@settings(max_examples=5)
@given(st.data())
def test_real_transforms(suffix, count, data):
    shape = data.draw(hnp.array_shapes(min_dims=count, max_dims=count + 1, max_side=5))
    lengths = data.draw(st.lists(st.integers(1, 7), min_size=count, max_size=count))
    precision = data.draw(PRECISIONS)
    x, spectrum = real(shape, precision), complex_(shape, precision)
    forward, back = transform("rfft" + suffix, lengths), transform("irfft" + suffix, lengths)
    check(transform("rfft" + suffix), x, gradient=count < 3)
    check(forward, x, gradient=False)
    check(same_as(forward, lambda tf, x: by_complex_transform(tf, x, lengths)), x)
    if shape[-1] > 1:
        check(transform("irfft" + suffix), spectrum, gradient=count < 3)
    check(back, spectrum, gradient=False)
    check(same_as(back, lambda tf, x: by_inverse_complex_transform(tf, x, lengths)), spectrum)


def test_lengths_as_tensors():
    x, lengths = real((2, 5), np.float64), np.array([7], np.int32)
    check(lambda tf, x, n: tf.signal.rfft(x, n), x, lengths)
    spectrum = complex_((2, 5), np.float64)
    check(lambda tf, x, n: tf.signal.irfft(x, n), spectrum, lengths, gradient=False)


def test_plain_numbers_become_tensors():
    check(lambda tf: tf.signal.fft([1, 2]))
    check(lambda tf: tf.signal.ifft2d([[1.0, 2.0]]))
    check(lambda tf: tf.signal.rfft([1, 2, 3]))
    check(lambda tf: tf.signal.irfft([1, 2]))
    check(lambda tf: tf.signal.irfft([1j, 2]))


def test_no_signals():
    x = np.zeros((0, 4), np.float32)
    check(transform("rfft"), x)
    check(transform("fft"), x.astype(np.complex64))
    check(transform("irfft"), x.astype(np.complex64))


def test_empty_signals_have_empty_transforms():
    """TensorFlow ends the process at a real transform of length 0."""
    assert runnel.signal.rfft(runnel.zeros([2, 0])).shape == [2, 1]
    assert runnel.signal.irfft(runnel.zeros([2, 1], runnel.complex64)).shape == [2, 0]


def test_refusals():
    x = real((8,), np.float32)
    spectrum = x.astype(np.complex64)
    check_raises(transform("fft"), x)
    check_raises(transform("fft2d"), spectrum)
    check_raises(transform("fft"), spectrum[0:1].reshape(()))
    check_raises(transform("rfft"), spectrum)
    check_raises(transform("rfft"), x.astype(np.float16))
    check_raises(transform("irfft"), x)
    check_raises(transform("rfft2d", [3]), x.reshape(2, 4))
    for lengths in ([-1], 5, [5, 5], [5.0]):
        check_raises(transform("rfft", lengths), x)
    check_raises(lambda tf, x: tf.signal.rfft(x, tf.constant([5], tf.int64)), x)


@settings(max_examples=15)
@given(hnp.array_shapes(min_dims=1, max_dims=3, max_side=5), st.data())
def test_shifts(shape, data):
    x = real(shape, np.float64)
    axes = data.draw(st.sampled_from([None, 0, [-1], [0, -1], range(len(shape))]))
    axes = list(axes) if isinstance(axes, range) else axes
    for name in ("fftshift", "ifftshift"):
        check(transform(name, axes), x)


def test_shifts_of_other_values():
    check(lambda tf: tf.signal.fftshift(["a", "b", "c"]))
    check(lambda tf: tf.signal.ifftshift([1, 2, 3], (0,)))
    check_raises(lambda tf: tf.signal.fftshift([1.0, 2.0], [3]))


# TensorFlow has the transforms over chosen axes for GPUs only; those below equal others of its.

PAIRS = [("fftnd", "fft"), ("ifftnd", "ifft"), ("rfftnd", "rfft"), ("irfftnd", "irfft")]


def counterpart(name, lengths):
    """The same transform of the last axes in TensorFlow, by ops that have gradients there."""
    if name == "rfft":
        return lambda tf, x: by_complex_transform(tf, x, lengths)
    if name == "irfft":
        return lambda tf, x: by_inverse_complex_transform(tf, x, lengths)
    cut = (..., *[slice(0, length) for length in lengths])
    suffix = ["", "2d", "3d"][len(lengths) - 1]
    return lambda tf, x: getattr(tf.signal, name + suffix)(
        tf.pad(x, [[0, 0]] * (len(x.shape) - len(lengths)) + [[0, 9]] * len(lengths))[cut]
    )


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_all_axes(name, other):
    make = real if name == "rfftnd" else complex_
    for shape, precision in [((3, 4), np.float32), ((2, 3, 5), np.float64)]:
        lengths = list(shape)
        if name == "irfftnd":
            lengths[-1] = 2 * (shape[-1] - 1)
        check(same_as(transform(name), counterpart(other, lengths)), make(shape, precision))


@pytest.mark.parametrize(("name", "other"), PAIRS)
def test_one_axis_of_another_length(name, other):
    x = (real if name == "rfftnd" else complex_)((5, 3), np.float32)
    for length in (4, 5, 7):
        along_last = counterpart(other, [length])
        moved = lambda tf, x, last=along_last: tf.transpose(last(tf, tf.transpose(x)))  # noqa: E731
        ours = lambda tf, x, n=length: getattr(tf, name)(x, [n], [-2])  # noqa: E731
        check(same_as(ours, moved), x, smooth=False)
        check(
            same_as(transform(name, [length], [0]), moved), x.astype(np.result_type(x, np.float64))
        )


@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_axes_lengths_and_norms_as_in_numpy(norm):
    x = complex_((4, 3, 5), np.float64)
    for lengths, axes in [([3, 6], [2, 0]), ([5, 4], None), (None, [1, -1]), ([2], [1])]:
        for name, kernel in [("fftnd", np.fft.fftn), ("ifftnd", np.fft.ifftn),
                             ("rfftnd", np.fft.rfftn), ("irfftnd", np.fft.irfftn)]:  # fmt: skip
            value = x.real.copy() if name == "rfftnd" else x
            wanted_axes = range(-len(lengths), 0) if axes is None else axes
            wanted = kernel(value, lengths, axes=wanted_axes, norm=norm)
            got = getattr(runnel.signal, name)(runnel.constant(value), lengths, axes, norm)
            np.testing.assert_allclose(got.numpy(), wanted, atol=1e-12)


def test_refusals_over_axes():
    x = runnel.constant(complex_((2, 3), np.float32))
    failure = runnel.errors.InvalidArgumentError
    for lengths, axes in [([2], [2]), ([2, 2], [0, 0]), ([2], [0, 1]), ([0], [0])]:
        with pytest.raises(failure):
            runnel.signal.fftnd(x, lengths, axes)
    with pytest.raises(ValueError, match="norm"):
        runnel.signal.fftnd(x, norm="other")
    check_raises(transform("rfftnd"), complex_((2, 3), np.float32))
    check_raises(transform("irfftnd"), real((2, 3), np.float32))
    check_raises(transform("fftnd"), real((2, 3), np.float32))
