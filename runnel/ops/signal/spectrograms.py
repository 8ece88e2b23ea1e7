"""Short-time Fourier transforms, lapped cosine transforms, and mel scales."""

from __future__ import annotations

import math

from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, float32, float64
from ...core.errors import InvalidArgumentError
from ...core.tensor import Tensor
from ..array import creation, joining, ordering, padding, repeating, shaping
from ..math import arithmetic, casting, division, elementwise, reduction
from .cosine import dct, idct
from .fourier import enclosing_power_of_two, fit, irfft, rfft, size_of
from .frames import frame, overlap_and_add, scalar_size, sizes
from .windows import hann_window, vorbis_window


def stft(
    signals,
    frame_length,
    frame_step,
    fft_length=None,
    window_fn=hann_window,
    pad_end=False,
    name=None,
):
    """The spectra of overlapping frames: framing, windowing, real Fourier transform.

    `fft_length` is the smallest power of two that holds a frame, unless given.
    `window_fn(frame_length, dtype=...)` creates the window; None leaves frames unwindowed.

    >>> tf.signal.stft(tf.ones([16]), frame_length=8, frame_step=4).shape
    TensorShape([3, 5])
    """
    signals = convert_to_tensor(signals)
    length = scalar_size(frame_length, "frame_length")
    framed = frame(signals, length, frame_step, pad_end=pad_end)
    if window_fn is not None:
        framed = framed * window_fn(length, dtype=framed.dtype)
    if fft_length is None:
        fft_length = enclosing_power_of_two(length)
    return rfft(framed, sizes(scalar_size(fft_length, "fft_length")))


def inverse_stft(
    stfts, frame_length, frame_step, fft_length=None, window_fn=hann_window, name=None
):
    """The signal with these spectra: inverse transforms, windowed again, overlap-and-add.

    `tf.signal.inverse_stft_window_fn` creates the window with which this inverts `tf.signal.stft`.

    >>> x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    >>> window = tf.signal.inverse_stft_window_fn(frame_step=2)
    >>> back = tf.signal.inverse_stft(tf.signal.stft(x, 4, 2), 4, 2, window_fn=window)
    >>> back[2:6].numpy().round(4).tolist()
    [3.0, 4.0, 5.0, 6.0]
    """
    stfts = convert_to_tensor(stfts)
    if stfts.shape.rank is not None and stfts.shape.rank < 2:
        raise ValueError(
            f"Shape {stfts.shape} must have rank at least 2: frames and their frequencies"
        )
    length = scalar_size(frame_length, "frame_length")
    step = scalar_size(frame_step, "frame_step")
    if fft_length is None:
        fft_length = enclosing_power_of_two(length)
    frames = irfft(stfts, sizes(scalar_size(fft_length, "fft_length")))
    if frames.shape.is_fully_defined() and isinstance(length, int):
        target = [*frames.shape[:-1], length]
    else:
        target = sizes(shaping.sizes_of(frames)[:-1], length)
    frames = fit(frames, convert_to_tensor(target))
    if window_fn is not None:
        frames = frames * window_fn(length, dtype=frames.dtype)
    return overlap_and_add(frames, step)


def inverse_stft_window_fn(frame_step, forward_window_fn=hann_window, name=None):
    """A window function with which `tf.signal.inverse_stft` inverts `tf.signal.stft`.

    It is the forward window divided by the sum of the squares that overlap at each position.
    """
    step = scalar_size(frame_step, "frame_step")

    def inverse_window(frame_length, dtype):
        """The window of `frame_length` elements."""
        length = scalar_size(frame_length, "frame_length")
        window = forward_window_fn(length, dtype=dtype)
        overlaps = -(-length // step)
        target = convert_to_tensor(sizes(overlaps * step))
        squares = shaping.reshape(fit(elementwise.square(window), target), sizes(overlaps, step))
        sums = repeating.tile(reduction.reduce_sum(squares, 0), sizes(overlaps))
        return division.divide_no_nan(window, sums[:length])

    return inverse_window


_ROOT_HALF = math.sqrt(0.5)


def _windowed(frames, window_fn, length):
    if window_fn is None:
        return frames * _ROOT_HALF
    return frames * window_fn(length, dtype=frames.dtype)


def mdct(signals, frame_length, window_fn=vorbis_window, pad_end=False, norm=None, name=None):
    """The modified discrete cosine transform: half-overlapping frames, half as many frequencies.

    A frame's quarters (a, b, c, d), b and c reversed where marked, are folded to (-c' - d, a - b')
    and transformed by a cosine transform of type IV.

    >>> tf.signal.mdct(tf.ones([16]), frame_length=8).shape
    TensorShape([3, 4])
    """
    signals = convert_to_tensor(signals)
    length = scalar_size(frame_length, "frame_length")
    if isinstance(length, int):
        if length % 4:
            raise ValueError(f"The frame length must be a multiple of 4. Got: {length}")
        if length <= 0:
            raise InvalidArgumentError(None, None, f"frame_length must be positive, got {length}")
    framed = frame(signals, length, length // 2, pad_end=pad_end)
    framed = _windowed(framed, window_fn, length)
    a, b, c, d = joining.split(framed, 4, axis=-1)
    folded = joining.concat([-_reversed(c) - d, a - _reversed(b)], -1)
    return dct(folded, type=4, norm=norm)


def inverse_mdct(mdcts, window_fn=vorbis_window, norm=None, name=None):
    """The signal with this modified cosine transform, except for the first and last half frame.

    >>> x = tf.constant([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0])
    >>> tf.signal.inverse_mdct(tf.signal.mdct(x, 4))[2:6].numpy().round(4).tolist()
    [3.0, 4.0, 5.0, 6.0]
    """
    mdcts = convert_to_tensor(mdcts)
    if mdcts.shape.rank is not None and mdcts.shape.rank < 2:
        raise ValueError(
            f"Shape {mdcts.shape} must have rank at least 2: frames and their frequencies"
        )
    half = size_of(mdcts, -1)
    folded = idct(mdcts, type=4, norm=norm)
    if norm is None:
        folded = folded * (0.5 / casting.cast(convert_to_tensor(half), folded.dtype))
    first, second = joining.split(folded, 2, axis=-1)
    frames = joining.concat([second, -_reversed(second), -_reversed(first), -first], -1)
    return overlap_and_add(_windowed(frames, window_fn, 2 * half), half)


def _reversed(tensor):
    return ordering.reverse(tensor, [-1])


# Mel, the perceived pitch: 1127 ln(1 + f / 700).
_BREAK_HERTZ = 700.0
_HIGH_Q = 1127.0


def _mel(hertz):
    return _HIGH_Q * elementwise.log(1.0 + hertz / _BREAK_HERTZ)


def _require_scale(num_mel_bins, sample_rate, lower, upper, dtype):
    if not isinstance(num_mel_bins, Tensor) and num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    known_rate = not isinstance(sample_rate, Tensor)
    if known_rate and sample_rate <= 0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    known_lower, known_upper = (not isinstance(edge, Tensor) for edge in (lower, upper))
    if known_lower and lower < 0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if known_lower and known_upper and lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower} >= upper_edge_hertz {upper}")
    if known_rate and known_upper and upper > sample_rate / 2:
        raise ValueError(
            "upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
            f"Got {upper} for sample_rate: {sample_rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype!r}")


def linear_to_mel_weight_matrix(
    num_mel_bins=20,
    num_spectrogram_bins=129,
    sample_rate=8000,
    lower_edge_hertz=125.0,
    upper_edge_hertz=3800.0,
    dtype=float32,
    name=None,
):
    """A matrix [spectrogram bins, mel bins] of triangular filters of equal width on the mel scale.

    `tf.matmul(spectrogram, matrix)` is the spectrogram on the mel scale.

    >>> tf.signal.linear_to_mel_weight_matrix(num_mel_bins=40, num_spectrogram_bins=257).shape
    TensorShape([257, 40])
    """
    dtype = as_dtype(dtype)
    _require_scale(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
    wide = dtype if dtype is float64 else float32
    bins = scalar_size(num_mel_bins, "num_mel_bins")
    frequencies = scalar_size(num_spectrogram_bins, "num_spectrogram_bins")
    nyquist = _number(sample_rate, wide) / 2
    linear = casting.cast(creation.range(frequencies)[1:], wide)
    heights = shaping.expand_dims(_mel(linear * nyquist / _number(frequencies - 1, wide)), 1)
    lowest, highest = _mel(_number(lower_edge_hertz, wide)), _mel(_number(upper_edge_hertz, wide))
    width = (highest - lowest) / _number(bins + 1, wide)
    lower = lowest + width * casting.cast(creation.range(bins), wide)
    rising = (heights - lower) / width
    triangles = arithmetic.maximum(arithmetic.minimum(rising, 2 - rising), _number(0, wide))
    # The zero frequency belongs to no band.
    return casting.cast(padding.pad(triangles, [[1, 0], [0, 0]]), dtype)


def _number(value, dtype):
    return casting.cast(convert_to_tensor(value), dtype)


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """Cepstral coefficients: the cosine transform of the logarithm of a mel spectrogram.

    As in HTK, of type II and scaled by 1 / sqrt(2 bins).

    >>> tf.signal.mfccs_from_log_mel_spectrograms(tf.constant([[1.0, 2.0]])).numpy().round(2)
    array([[ 3.  , -0.71]], dtype=float32)
    """
    value = convert_to_tensor(log_mel_spectrograms)
    if value.shape.rank == 0:
        raise InvalidArgumentError(None, None, "A spectrogram needs an axis of mel bins.")
    count = size_of(value, -1)
    if isinstance(count, int) and count == 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {value}")
    transformed = dct(value, type=2)
    return transformed * elementwise.rsqrt(_number(2 * count, transformed.dtype))
