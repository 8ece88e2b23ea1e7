"""Frames, windows, cosine transforms and spectrograms against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

WINDOWS = [
    "hann_window", "hamming_window", "kaiser_window", "kaiser_bessel_derived_window",
    "vorbis_window",
]  # fmt: skip


def real(shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@settings(max_examples=15)
@given(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9), st.data())
def test_frame(shape, data):
    length, step = data.draw(st.integers(0, 6)), data.draw(st.integers(1, 5))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    pad_end = data.draw(st.booleans())
    check(lambda tf, x: tf.signal.frame(x, length, step, pad_end, 0.5, axis), real(shape))


def test_frame_of_other_values():
    check(lambda tf: tf.signal.frame([1, 2, 3, 4], 2, 1))
    check(lambda tf: tf.signal.frame(["a", "b", "c"], 2, 2, True, "z"))
    check(lambda tf: tf.signal.frame([True, False, True], 2, 1))
    check(lambda tf: tf.signal.frame([1.0, 2.0, 3.0], 3, -1))
    check(lambda tf, x: tf.signal.frame(x, 2, 1, axis=tf.constant(0)), real((4, 2)))


def test_frame_with_sizes_as_tensors():
    sizes = np.array([4, 2], np.int32)
    for pad_end in (False, True):
        check(lambda tf, x, n: tf.signal.frame(x, n[0], n[1], pad_end), real((2, 9)), sizes)
    check(lambda tf, x, n: tf.signal.overlap_and_add(x, n[1]), real((2, 3, 5)), sizes)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refusals_of_frame():
    x = real((8,), np.float32)
    for length, step, pad_end in [(3, 0, False), (3, 0, True), (3, -1, True), (-1, 1, False),
                                  (-1, 1, True), ([3], 1, False)]:  # fmt: skip
        check_raises(lambda tf, x: tf.signal.frame(x, length, step, pad_end), x)
    for axis in (5, -3):
        check_raises(lambda tf, x: tf.signal.frame(x, 3, 1, axis=axis), x)
    check_raises(lambda tf, x: tf.signal.frame(x, 3, 2, True, [7.5]), x)
    check_raises(lambda tf: tf.signal.frame(1.0, 2, 1))


@settings(max_examples=15)
@given(hnp.array_shapes(min_dims=2, max_dims=4, min_side=0, max_side=5), st.integers(1, 6))
def test_overlap_and_add(shape, step):
    if (shape[-2] - 1) * step + shape[-1] >= 0:
        check(lambda tf, x: tf.signal.overlap_and_add(x, step), real(shape))


def test_overlap_and_add_of_other_values():
    check(lambda tf: tf.signal.overlap_and_add([[1, 2], [3, 4]], 1))
    x = real((2, 3)).astype(np.complex64)
    check(lambda tf, x: tf.signal.overlap_and_add(x, tf.constant(2, tf.int64)), x)


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refusals_of_overlap_and_add():
    x = real((2, 4), np.float32)
    for step in (0, -1, [1], 2.0):
        check_raises(lambda tf, x: tf.signal.overlap_and_add(x, step), x)
    check_raises(lambda tf, x: tf.signal.overlap_and_add(x, 1), x[0])


@pytest.mark.parametrize("name", WINDOWS)
def test_windows(name):
    for length in (1, 2, 5, 6, 64):
        for dtype in ("float32", "float64", "float16"):
            check(lambda tf: getattr(tf.signal, name)(length, dtype=tf.as_dtype(dtype)))
        check(lambda tf, n: getattr(tf.signal, name)(n), np.array(length, np.int32))
    for length in (-2, 5.0, [5, 2]):
        check_raises(lambda tf: getattr(tf.signal, name)(length))
    check_raises(lambda tf: getattr(tf.signal, name)(5, dtype=tf.int32))


def test_windows_of_no_length():
    for name in ("hann_window", "hamming_window", "vorbis_window", "kaiser_bessel_derived_window"):
        check(lambda tf: getattr(tf.signal, name)(0))
    check_raises(lambda tf: tf.signal.kaiser_window(0))


def test_parameters_of_windows():
    for name in ("hann_window", "hamming_window"):
        for length in (1, 2, 5, 6):
            check(lambda tf: getattr(tf.signal, name)(length, periodic=False))
        check(lambda tf, p: getattr(tf.signal, name)(6, p), np.array(False))
    for name in ("kaiser_window", "kaiser_bessel_derived_window"):
        for beta in (0.0, 3, -3.0):
            check(lambda tf: getattr(tf.signal, name)(7, beta))
        # The window is float32: too coarse for finite differences.
        beta = np.array(3.0, np.float32)
        check(lambda tf, beta: getattr(tf.signal, name)(7, beta), beta, smooth=False)


@settings(max_examples=12)
@given(hnp.array_shapes(min_dims=1, max_dims=3, min_side=2, max_side=7), st.data())
def test_cosine_transforms(shape, data):
    kind = data.draw(st.integers(1, 4))
    norm = None if kind == 1 else data.draw(st.sampled_from([None, "ortho"]))
    n = data.draw(st.sampled_from([None, 2, 4, 9]))
    x = real(shape, data.draw(st.sampled_from([np.float32, np.float64])))
    check(lambda tf, x: tf.signal.dct(x, kind, n, norm=norm), x)
    check(lambda tf, x: tf.signal.idct(x, kind, n, norm=norm), x)


def test_cosine_transform_of_a_length_in_a_tensor():
    check(lambda tf, x, n: tf.signal.dct(x, n=n), real((2, 5)), np.array(3, np.int32))


def test_refusals_of_cosine_transforms():
    x = real((8,), np.float32)
    for keywords in [dict(type=5), dict(type=1, norm="ortho"), dict(norm="x"), dict(axis=0),
                     dict(axis=1), dict(n=0), dict(n=-1), dict(n=5.5)]:  # fmt: skip
        check_raises(lambda tf, x: tf.signal.dct(x, **keywords), x)
        check_raises(lambda tf, x: tf.signal.idct(x, **keywords), x)
    check_raises(lambda tf: tf.signal.dct([1, 2, 3]))
    check_raises(lambda tf, x: tf.signal.dct(x), x.astype(np.float16))
    check_raises(lambda tf: tf.signal.dct(1.0))


@settings(max_examples=8)
@given(st.data())
def test_spectra_of_frames(data):
    length, step = data.draw(st.integers(2, 7)), data.draw(st.integers(1, 5))
    fft_length = data.draw(st.sampled_from([None, 4, 9]))
    window = data.draw(st.sampled_from(["hann_window", "hamming_window", None]))
    pad_end = data.draw(st.booleans())

    def spectra(tf, x):
        window_fn = window and getattr(tf.signal, window)
        return tf.signal.stft(x, length, step, fft_length, window_fn, pad_end)

    def back(tf, x):
        window_fn = window and getattr(tf.signal, window)
        return tf.signal.inverse_stft(x, length, step, fft_length, window_fn)

    # TensorFlow's rules fail where a frame is longer than its transform.
    short = fft_length is not None and fft_length < length
    x = real((2, 11), data.draw(st.sampled_from([np.float32, np.float64])))
    found = check(spectra, x, gradient=not short)
    check(back, found.numpy(), gradient=not short)


def test_spectra_with_sizes_as_tensors():
    sizes = np.array([4, 2], np.int32)
    check(lambda tf, x, n: tf.signal.stft(x, n[0], n[1]), real((9,)), sizes)
    spectra = real((3, 3)) + 1j
    check(lambda tf, x, n: tf.signal.inverse_stft(x, n[0], n[1]), spectra, sizes)


@pytest.mark.parametrize(("length", "step"), [(5, 2), (5, 3), (5, 7), (6, 2)])
def test_inverse_window(length, step):
    for forward in ("hann_window", "hamming_window"):

        def window(tf):
            make = tf.signal.inverse_stft_window_fn(step, getattr(tf.signal, forward))
            return make(length, tf.float32), make(length, dtype=tf.float64)

        check(window)
    check_raises(lambda tf: tf.signal.inverse_stft_window_fn([2])(5, dtype=tf.float32))


def test_refusals_of_spectra():
    x = real((8,), np.float32)
    check_raises(lambda tf, x: tf.signal.stft(x, [3], 2), x)
    check_raises(lambda tf, x: tf.signal.stft(x, 3, 2), x.astype(np.complex64))
    check_raises(lambda tf, x: tf.signal.stft(x, 3, 2), x.astype(np.float16))
    check_raises(lambda tf: tf.signal.stft([1, 2, 3, 4], 3, 2))
    check_raises(lambda tf: tf.signal.stft(1.0, 3, 2))
    spectra = real((3, 3)).astype(np.complex64)
    check_raises(lambda tf, x: tf.signal.inverse_stft(x, 4, 2), spectra[0])
    check_raises(lambda tf, x: tf.signal.inverse_stft(x, 4, 2), real((3, 3), np.float32))
    check_raises(lambda tf, x: tf.signal.inverse_stft(x, [4], 2), spectra)


def test_a_signal_shorter_than_a_frame_has_no_spectra():
    """TensorFlow fails where frames are shorter than the transform."""
    check(lambda tf, x: tf.signal.stft(x, 8, 2), real((7,), np.float32))
    assert runnel.signal.stft(runnel.ones([8]), 9, 2).shape == [0, 9]


@settings(max_examples=8)
@given(st.data())
def test_lapped_cosine_transforms(data):
    norm = data.draw(st.sampled_from([None, "ortho"]))
    window = data.draw(st.sampled_from(["vorbis_window", "kaiser_bessel_derived_window", None]))
    length, pad_end = data.draw(st.sampled_from([4, 8])), data.draw(st.booleans())

    def forward(tf, x):
        window_fn = window and getattr(tf.signal, window)
        return tf.signal.mdct(x, length, window_fn, pad_end, norm)

    def back(tf, x):
        window_fn = window and getattr(tf.signal, window)
        return tf.signal.inverse_mdct(x, window_fn, norm)

    x = real((2, 13), data.draw(st.sampled_from([np.float32, np.float64])))
    found = check(forward, x)
    check(back, found.numpy())


def test_lapped_cosine_transform_of_a_length_in_a_tensor():
    check(lambda tf, x, n: tf.signal.mdct(x, n), real((9,)), np.array(4, np.int32))


@pytest.mark.filterwarnings("ignore:divide by zero")
def test_refusals_of_lapped_cosine_transforms():
    x = real((8,), np.float32)
    for length in (2, 3, 6, 0, -4, 4.0):
        check_raises(lambda tf, x: tf.signal.mdct(x, length), x)
    check_raises(lambda tf, x: tf.signal.mdct(x, 4, norm="x"), x)
    check_raises(lambda tf, x: tf.signal.mdct(x, 4), x.astype(np.float16))
    check_raises(lambda tf: tf.signal.mdct(1.0, 4))
    check_raises(lambda tf: tf.signal.mdct([1, 2, 3, 4, 5], 4))
    check_raises(lambda tf, x: tf.signal.inverse_mdct(x), x)
    check_raises(lambda tf: tf.signal.inverse_mdct(tf.zeros([2, 3])))


def test_mel_scale():
    check(lambda tf: tf.signal.linear_to_mel_weight_matrix())
    for dtype, tolerance in [("float32", None), ("float64", None), ("float16", 2e-2)]:
        check(
            lambda tf: tf.signal.linear_to_mel_weight_matrix(
                5, 33, 16000, 0.0, 7600.0, tf.as_dtype(dtype)
            ),
            tolerance=tolerance,
        )
    check(lambda tf, rate: tf.signal.linear_to_mel_weight_matrix(3, 9, rate), np.array(8000))
    check(lambda tf, bins: tf.signal.linear_to_mel_weight_matrix(bins, bins), np.array(9))
    check(lambda tf: tf.signal.linear_to_mel_weight_matrix(3, 1))
    check(
        lambda tf: tf.signal.linear_to_mel_weight_matrix(np.int32(3), np.int64(9), np.float32(8000))
    )


@pytest.mark.parametrize(
    "arguments",
    [(0,), (3, 9, 0), (3, 9, 8000, -1.0), (3, 9, 8000, 3e3, 2e2), (3, 9, 8000, 0.0, 4001.0)],
)
def test_refusals_of_mel_scale(arguments):
    check_raises(lambda tf: tf.signal.linear_to_mel_weight_matrix(*arguments))


def test_cepstra():
    check(lambda tf, x: tf.signal.mfccs_from_log_mel_spectrograms(x), real((2, 3, 8)))
    check(lambda tf, x: tf.signal.mfccs_from_log_mel_spectrograms(x), real((3, 5), np.float32))
    check_raises(lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(tf.ones([2, 0])))
    check_raises(lambda tf: tf.signal.mfccs_from_log_mel_spectrograms(1.0))
    check_raises(lambda tf: tf.signal.mfccs_from_log_mel_spectrograms([1, 2]))
    check_raises(lambda tf: tf.signal.linear_to_mel_weight_matrix(dtype=tf.int32))
