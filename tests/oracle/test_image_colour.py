"""Colours of images against TensorFlow."""

import numpy as np
import pytest
import tensorflow
from compare import check, check_raises

import runnel

ADJUSTMENTS = ["adjust_brightness", "adjust_contrast", "adjust_hue", "adjust_saturation",
               "adjust_gamma"]  # fmt: skip


def image(*shape, dtype="float32", low=0.0, high=1.0):
    values = np.random.default_rng(1).uniform(low, high, shape)
    if np.dtype(dtype).kind in "iu":
        values = values * np.iinfo(dtype).max * 0.9
    return values.astype(dtype)


@pytest.mark.parametrize("name", ADJUSTMENTS)
@pytest.mark.parametrize("shape", [(5, 6, 3), (2, 4, 3, 3), (4, 0, 3)])
def test_adjust(name, shape):
    plain = name in ("adjust_brightness", "adjust_gamma")
    check(
        lambda tf, x: getattr(tf.image, name)(x, 0.3),
        image(*shape, low=0.1),
        gradient=plain,
        smooth=False,
    )


@pytest.mark.parametrize("name", ADJUSTMENTS)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float64"])
def test_adjust_dtypes(name, dtype):
    x = image(4, 5, 3, dtype=dtype)
    check(lambda tf, x: getattr(tf.image, name)(x, 0.3), x, gradient=False, tolerance=1e-5)


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_adjust_outside_the_range(name):
    low = 0.0 if name == "adjust_gamma" else -2.0
    x = image(4, 5, 3, low=low, high=3.0)
    check(lambda tf, x: getattr(tf.image, name)(x, 0.7), x, gradient=False)


@pytest.mark.parametrize("name", ["adjust_contrast", "adjust_hue", "adjust_saturation"])
def test_adjust_has_no_gradient(name):
    def gradient(tf, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(tf.image, name)(x, 0.3)
        return tape.gradient(y, x)

    check_raises(gradient, image(3, 3, 3))


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x: tf.image.adjust_contrast(x[0], 2.0),
        lambda tf, x: tf.image.adjust_contrast(x, [1.0, 2.0]),
        lambda tf, x: tf.image.adjust_hue(x[..., :1], 0.2),
        lambda tf, x: tf.image.adjust_hue(x, 1.5),
        lambda tf, x: tf.image.adjust_saturation(x[..., :2], 0.2),
        lambda tf, x: tf.image.adjust_gamma(x, -1.0),
        lambda tf, x: tf.image.adjust_gamma(x, tf.constant(-1.0)),
        lambda tf, x: tf.image.rgb_to_hsv(x[..., :2]),
        lambda tf, x: tf.image.hsv_to_rgb(x[..., :2]),
        lambda tf, x: tf.image.grayscale_to_rgb(x),
        lambda tf, x: tf.image.rgb_to_grayscale(x[..., :2]),
        lambda tf, x: tf.image.per_image_standardization(x[0]),
    ],
)
def test_refused(call):
    check_raises(call, image(4, 5, 3))


@pytest.mark.parametrize("tf", [tensorflow, runnel])
def test_only_numbers_are_pixels(tf):
    with pytest.raises(AttributeError, match="must be either floating point or integer"):
        tf.image.adjust_brightness(tf.constant([[[True]]]), 0.1)
    with pytest.raises(AttributeError, match="must be either floating point or integer"):
        tf.image.convert_image_dtype(tf.constant([[[1.0]]]), tf.string)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_hsv(dtype):
    x = image(6, 5, 3, dtype=dtype, low=0.05)
    check(lambda tf, x: tf.image.rgb_to_hsv(x), x)
    check(lambda tf, x: tf.image.hsv_to_rgb(x), x, gradient=False)


def test_many_pixels():
    """More than are changed at once."""
    x = image(2, 200, 100, 3, low=-0.2).round(2)
    x[0, :50] = 0.25
    for change in (
        lambda tf, x: tf.image.rgb_to_hsv(x),
        lambda tf, x: tf.image.hsv_to_rgb(x),
        lambda tf, x: tf.image.adjust_hue(x, -0.7),
        lambda tf, x: tf.image.adjust_saturation(x, 2.5),
    ):
        check(change, x, gradient=False)


def test_equal_colours_have_the_same_hue_and_gradient():
    levels = np.array([0.0, 0.5, 1.0], np.float32)
    x = np.stack(np.meshgrid(levels, levels, levels), -1).reshape(1, -1, 3)
    check(lambda tf, x: tf.image.rgb_to_hsv(x), x, smooth=False, second_order=False)
    check(lambda tf, x: tf.image.hsv_to_rgb(x), x, gradient=False)


@pytest.mark.parametrize("name", ["rgb_to_yiq", "yiq_to_rgb", "rgb_to_yuv", "yuv_to_rgb"])
def test_mixtures(name):
    check(lambda tf, x: getattr(tf.image, name)(tf.ensure_shape(x, [None] * 3)), image(4, 5, 3))


@pytest.mark.parametrize("dtype", ["uint8", "float32", "int32"])
def test_gray(dtype):
    x = image(4, 5, 3, dtype=dtype)
    check(lambda tf, x: tf.image.rgb_to_grayscale(x), x)
    check(lambda tf, x: tf.image.grayscale_to_rgb(x), np.ascontiguousarray(x[..., :1]))


@pytest.mark.parametrize("source", ["uint8", "int8", "uint16", "int32", "float32", "float64"])
@pytest.mark.parametrize("target", ["uint8", "int16", "uint16", "int32", "float32", "float16"])
@pytest.mark.parametrize("saturate", [False, True])
def test_convert_image_dtype(source, target, saturate):
    x = image(11, dtype=source, high=0.95)
    check(
        lambda tf, x: tf.image.convert_image_dtype(x, getattr(tf, target), saturate),
        x,
        gradient=False,
    )


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("shape", [(4, 5, 3), (2, 4, 5, 1)])
def test_standardization(dtype, shape):
    x = image(*shape, dtype=dtype)
    check(lambda tf, x: tf.image.per_image_standardization(x), x, tolerance=2e-5, smooth=False)
    flat = np.full(shape, 3, dtype)
    check(lambda tf, x: tf.image.per_image_standardization(x), flat, gradient=False)


@pytest.mark.parametrize("name", ["rgb_to_hsv", "hsv_to_rgb"])
@pytest.mark.parametrize("shape", [[None, None, None], [None], None, [2, 2, 3], [2, None]])
def test_the_last_dimension_is_known(name, shape):
    shapes = [
        tf.function(getattr(tf.image, name), input_signature=[tf.TensorSpec(shape)])
        .get_concrete_function()
        .structured_outputs.shape
        for tf in (tensorflow, runnel)
    ]
    assert str(shapes[0]) == str(shapes[1])
