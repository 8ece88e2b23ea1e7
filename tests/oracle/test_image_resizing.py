"""Resizing and warping images against TensorFlow."""

import numpy as np
import pytest
import tensorflow
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

import runnel
from runnel.core.op import REGISTRY

METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian",
           "mitchellcubic"]  # fmt: skip
SIZES = st.integers(1, 12)


def image(*shape, dtype=np.float32, seed=0):
    values = np.random.default_rng(seed).uniform(-1, 2, shape)
    return (values * 80 if np.dtype(dtype).kind in "iu" else values).astype(dtype)


def of_rank(tf, x, rank):
    """Functions of images need to know the rank, as in TensorFlow."""
    return tf.ensure_shape(x, [None] * rank)


@pytest.mark.parametrize("method", METHODS)
@given(SIZES, SIZES, SIZES, SIZES, st.booleans(), st.booleans())
@settings(max_examples=6, deadline=None)
def test_resize(method, height, width, new_height, new_width, antialias, preserve):
    check(
        lambda tf, x: tf.image.resize(
            of_rank(tf, x, 4), [new_height, new_width], method, preserve, antialias
        ),
        image(2, height, width, 3),
        gradient=method != "area",
        smooth=False,
        may_raise=True,
    )


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "float64", "bool"])
def test_dtypes(method, dtype):
    x = image(5, 4, 2).astype(dtype)
    check(
        lambda tf, x: tf.image.resize(of_rank(tf, x, 3), [3, 7], method),
        x,
        gradient=False,
        may_raise=True,
    )


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "area", "lanczos3"])
def test_no_images(method):
    check(lambda tf, x: tf.image.resize(x[:0], [3, 7], method), image(1, 5, 4, 2), traced=False,
          gradient=False)  # fmt: skip


@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeNearestNeighbor", "ResizeBicubic"])
@pytest.mark.parametrize(("corners", "centers"), [(False, False), (True, False), (True, True)])
def test_older_places(op, corners, centers):
    def resized(tf, x):
        size = tf.constant([7, 3])
        places = {"align_corners": corners, "half_pixel_centers": centers}
        if tf is tensorflow:
            return getattr(tf.raw_ops, op)(images=x, size=size, **places)
        return REGISTRY[op](x, size, **places)

    check(resized, image(1, 4, 5, 2), smooth=False, may_raise=True)


@pytest.mark.parametrize("method", ["bilinear", "nearest", "bicubic", "lanczos3"])
def test_second_derivatives(method):
    """Resizing is linear: of sum(resize(x)^2) the second derivative along v is 2 R'Rv.

    TensorFlow has no gradient for the gradients of resizing; R' is its first derivative.
    """
    x, v = image(1, 5, 4, 2), image(1, 5, 4, 2, seed=1)

    def resized(tf, t):
        return tf.image.resize(t, [8, 3], method)

    a = runnel.constant(x)
    with runnel.GradientTape() as outer:
        outer.watch(a)
        with runnel.GradientTape() as inner:
            inner.watch(a)
            total = runnel.reduce_sum(resized(runnel, a) ** 2)
        slope = runnel.reduce_sum(inner.gradient(total, a) * v)
    actual = outer.gradient(slope, a).numpy()
    b = tensorflow.constant(x)
    with tensorflow.GradientTape() as tape:
        tape.watch(b)
        y = resized(tensorflow, b)
    expected = tape.gradient(y, b, output_gradients=2 * resized(tensorflow, v)).numpy()
    np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x: tf.image.resize(x[0, 0], [3, 3]),
        lambda tf, x: tf.image.resize(x, [3]),
        lambda tf, x: tf.image.resize(x, [0, 3]),
        lambda tf, x: tf.image.resize(x, [3.0, 3.0]),
        lambda tf, x: tf.image.resize(x, "size"),
        lambda tf, x: tf.image.resize(x, [3, 3], "unknown"),
        lambda tf, x: tf.image.resize(x[:, :, :0], [3, 3]),
        lambda tf, x: tf.image.resize(x[..., :0], [3, 3]),
    ],
)
def test_refused(call):
    check_raises(call, image(1, 4, 5, 2))


def test_no_gradient_of_area():
    def gradient(tf, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.resize(x, [2, 2], "area")
        return tape.gradient(y, x)

    check_raises(gradient, image(1, 4, 5, 2))


def transform(tf, images, transforms, size, fill, interpolation, mode):
    if tf is tensorflow:
        return tf.raw_ops.ImageProjectiveTransformV3(
            images=images, transforms=transforms, output_shape=size, fill_value=fill,
            interpolation=interpolation, fill_mode=mode,
        )  # fmt: skip
    return REGISTRY["ImageProjectiveTransformV3"](
        images, tf.convert_to_tensor(transforms), tf.constant(size), tf.constant(fill),
        interpolation=interpolation, fill_mode=mode,
    )  # fmt: skip


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "WRAP", "NEAREST"])
@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_transform(mode, interpolation):
    random = np.random.default_rng(3)
    for count in (1, 2):
        change = random.normal(size=(count, 8)) * [0.3, 0.3, 4, 0.3, 0.3, 4, 0.02, 0.02]
        transforms = np.add(change, [1, 0, 0, 0, 1, 0, 0, 0]).astype(np.float32)
        check(
            lambda tf, x: transform(tf, x, transforms, [5, 7], 1.5, interpolation, mode),
            image(2, 6, 4, 3),
            smooth=False,
            second_order=False,
        )


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT"])
@pytest.mark.parametrize("shape", [(40, 40, 30, 2), (2, 300, 200, 1)], ids=str)
def test_transform_of_many_pixels(shape, mode):
    random = np.random.default_rng(4)
    change = random.normal(size=(shape[0], 8)) * [0.3, 0.3, 40, 0.3, 0.3, 40, 1e-3, 0]
    transforms = np.add(change, [1, 0, 0, 0, 1, 0, 0, 0]).astype(np.float32)
    check(
        lambda tf, x: transform(tf, x, transforms, shape[1:3], 1.5, "NEAREST", mode),
        image(*shape),
        gradient=False,
    )


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float64"])
def test_transform_dtypes(dtype):
    transforms = np.array([[0.9, 0.2, -1, 0.1, 1.1, 0.5, 0, 0]], np.float32)
    x = image(1, 6, 4, 2, dtype=np.uint8).astype(dtype)
    check(
        lambda tf, x: transform(tf, x, transforms, [5, 7], 3.7, "BILINEAR", "CONSTANT"),
        x,
        gradient=False,
        tolerance=1e-6,
    )


@pytest.mark.parametrize(
    ("shape", "transforms", "size", "interpolation"),
    [
        ((6, 4, 2), (1, 8), [5, 7], "NEAREST"),
        ((3, 6, 4, 2), (2, 8), [5, 7], "NEAREST"),
        ((1, 6, 4, 2), (1, 7), [5, 7], "NEAREST"),
        ((1, 6, 4, 2), (1, 8), [0, 7], "NEAREST"),
        ((1, 6, 4, 2), (1, 8), [5], "NEAREST"),
    ],
)
def test_transform_refused(shape, transforms, size, interpolation):
    zeros = np.zeros(transforms, np.float32)
    check_raises(
        lambda tf, x: transform(tf, x, zeros, size, 0.0, interpolation, "CONSTANT"), image(*shape)
    )
