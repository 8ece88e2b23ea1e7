"""Differences within images and between them, against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises


def draw(seed, *shape):
    return np.random.default_rng(seed).uniform(0.05, 0.95, shape).astype(np.float32)


FIRST, SECOND = draw(0, 2, 14, 13, 2), draw(1, 2, 14, 13, 2)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "float64"])
def test_psnr(dtype):
    scale = 255 if dtype == "uint8" else 1
    first, second = ((x * scale).astype(dtype) for x in (FIRST, SECOND))
    check(lambda tf, a, b: tf.image.psnr(a, b, scale), first, second, smooth=False, tolerance=1e-4)


@pytest.mark.parametrize("mapped", [False, True])
def test_ssim(mapped):
    check(
        lambda tf, a, b: tf.image.ssim(a, b, 1.0, 5, 1.2, return_index_map=mapped),
        FIRST,
        SECOND,
        smooth=False,
        second_order=False,
        tolerance=1e-4,
    )
    first, second = ((x[0] * 255).astype(np.uint8) for x in (FIRST, SECOND))
    check(lambda tf, a, b: tf.image.ssim(a, b, 255), first, second, tolerance=1e-4)


def test_ssim_at_scales():
    first = draw(2, 2, 23, 20, 1)
    second = (0.8 * first + 0.2 * draw(3, 2, 23, 20, 1)).astype(np.float32)
    check(
        lambda tf, a, b: tf.image.ssim_multiscale(a, b, 1.0, (0.3, 0.4), filter_size=5),
        first,
        second,
        smooth=False,
        second_order=False,
        tolerance=1e-4,
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, a, b: tf.image.psnr(a, b[:, :9], 1.0),
        lambda tf, a, b: tf.image.ssim(a, b[:, :9], 1.0),
        lambda tf, a, b: tf.image.ssim(a[0, 0], b[0, 0], 1.0),
        lambda tf, a, b: tf.image.ssim(a[:, :5], b[:, :5], 1.0),
        lambda tf, a, b: tf.image.ssim_multiscale(a, b, 1.0),
        lambda tf, a, b: tf.image.image_gradients(a[0]),
        lambda tf, a, b: tf.image.total_variation(a[0, 0]),
        lambda tf, a, b: tf.image.sobel_edges(a[0]),
    ],
)
def test_refused(call):
    check_raises(call, FIRST, SECOND)


def test_edges():
    x = FIRST[:, :5, :6]
    check(lambda tf, x: tf.image.sobel_edges(tf.ensure_shape(x, [None, None, None, 2])), x)
    check(lambda tf, x: tf.image.image_gradients(tf.ensure_shape(x, [None] * 4)), x)


@pytest.mark.parametrize("rank", [3, 4])
def test_total_variation(rank):
    x = FIRST[:, :5, :6] if rank == 4 else FIRST[0, :5, :6]
    check(lambda tf, x: tf.image.total_variation(tf.ensure_shape(x, [None] * rank)), x)
