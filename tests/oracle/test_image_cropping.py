"""Flipping, turning, cropping and padding images, and cutting out of them, against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

IMAGES = {
    "one": np.random.default_rng(0).normal(size=(5, 7, 2)).astype(np.float32),
    "batch": np.random.default_rng(1).normal(size=(2, 4, 6, 3)).astype(np.float32),
}


@pytest.fixture(params=sorted(IMAGES))
def image(request):
    return IMAGES[request.param]


@pytest.mark.parametrize("name", ["flip_left_right", "flip_up_down", "transpose", "rot90"])
def test_orientation(name, image):
    check(lambda tf, x: getattr(tf.image, name)(x), image)


@pytest.mark.parametrize("k", [-1, 0, 2, 3, 5])
def test_turns(k, image):
    check(lambda tf, x: tf.image.rot90(x, k), image, gradient=False)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 0.73, 1.0])
def test_central_crop(fraction, image):
    rank = image.ndim
    check(lambda tf, x: tf.image.central_crop(tf.ensure_shape(x, [None] * rank), fraction), image)


@given(st.integers(0, 2), st.integers(0, 2), st.integers(1, 3), st.integers(1, 4))
@settings(max_examples=8, deadline=None)
def test_boxes(top, left, height, width):
    for image in IMAGES.values():
        rank = image.ndim
        check(
            lambda tf, x, rank=rank: tf.image.crop_to_bounding_box(
                tf.ensure_shape(x, [None] * rank), top, left, height, width
            ),
            image,
            may_raise=True,
        )
        check(
            lambda tf, x, rank=rank: tf.image.pad_to_bounding_box(
                tf.ensure_shape(x, [None] * rank), top, left, height + 7, width + 8
            ),
            image,
            may_raise=True,
        )


@pytest.mark.parametrize(("height", "width"), [(3, 3), (9, 3), (4, 11), (12, 12), (5, 7)])
def test_resize_to_fit(height, width, image):
    rank = image.ndim
    check(
        lambda tf, x: tf.image.resize_with_crop_or_pad(
            tf.ensure_shape(x, [None] * rank), height, width
        ),
        image,
    )
    check(
        lambda tf, x: tf.image.resize_with_pad(tf.ensure_shape(x, [None] * rank), height, width),
        image,
        smooth=False,
        second_order=False,
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, x: tf.image.flip_left_right(x[0]),
        lambda tf, x: tf.image.flip_up_down(x[None, None]),
        lambda tf, x: tf.image.transpose(x[:0]),
        lambda tf, x: tf.image.rot90(x, [1]),
        lambda tf, x: tf.image.central_crop(x, 0.0),
        lambda tf, x: tf.image.central_crop(x, 1.5),
        lambda tf, x: tf.image.central_crop(x[0], 0.5),
        lambda tf, x: tf.image.crop_to_bounding_box(x, -1, 0, 1, 1),
        lambda tf, x: tf.image.crop_to_bounding_box(x, 0, 0, 9, 1),
        lambda tf, x: tf.image.crop_to_bounding_box(x, 0, 0, tf.constant(9), 1),
        lambda tf, x: tf.image.crop_to_bounding_box(x, 0, 0, 0, 1),
        lambda tf, x: tf.image.pad_to_bounding_box(x, 0, 0, 3, 9),
        lambda tf, x: tf.image.pad_to_bounding_box(x, tf.constant(-1), 0, 9, 9),
        lambda tf, x: tf.image.resize_with_crop_or_pad(x, 0, 3),
        lambda tf, x: tf.image.resize_with_pad(x, 3, 0),
    ],
)
def test_refused(call):
    check_raises(call, IMAGES["one"])


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("sizes", "strides", "rates"), [((2, 3), (1, 1), (1, 1)), ((2, 2), (2, 1), (2, 1))]
)
def test_patches(padding, sizes, strides, rates):
    check(
        lambda tf, x: tf.image.extract_patches(
            tf.ensure_shape(x, [None] * 4),
            [1, *sizes, 1],
            [1, *strides, 1],
            [1, *rates, 1],
            padding,
        ),
        IMAGES["batch"],
    )


def test_second_derivative_of_patches():
    sizes, strides = [1, 3, 2, 1], [1, 2, 1, 1]
    check(
        lambda tf, x: tf.image.extract_patches(x, sizes, strides, [1, 1, 2, 1], "SAME") ** 2,
        IMAGES["batch"],
    )


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [([1, 2, 2], [1, 1, 1, 1]), ([2, 2, 2, 1], [1, 1, 1, 1]), ([1, 2, 2, 1], [1, 0, 1, 1])],
)
def test_patches_refused(sizes, strides):
    check_raises(
        lambda tf, x: tf.image.extract_patches(x, sizes, strides, [1, 1, 1, 1], "SAME"),
        IMAGES["batch"],
    )


@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("size", [(3, 4), (1, 5), (2, 1)])
def test_crop_and_resize(method, size):
    boxes = np.array(
        [[0.1, 0.2, 0.8, 0.9], [0.9, 0.1, -0.2, 1.3], [0.3, 0.3, 0.3, 0.3]], np.float32
    )
    check(
        lambda tf, x, boxes: tf.image.crop_and_resize(x, boxes, [0, 1, 0], size, method, 1.5),
        IMAGES["batch"],
        boxes,
        smooth=False,
        second_order=False,
        tolerance=1e-5,
    )


@pytest.mark.parametrize("source", [0, 1])
def test_crops_have_no_second_derivative(source):
    def twice(tf, x, boxes):
        watched = (x, boxes)[source]
        with tf.GradientTape() as outer:
            outer.watch(watched)
            with tf.GradientTape() as inner:
                inner.watch(watched)
                total = tf.reduce_sum(tf.image.crop_and_resize(x, boxes, [0], [2, 2]) ** 2)
            slope = inner.gradient(total, watched)
        return outer.gradient(slope, watched)

    check_raises(twice, IMAGES["batch"], np.array([[0.1, 0.2, 0.8, 0.9]], np.float32))


@pytest.mark.parametrize(
    ("boxes", "indices", "size"),
    [
        ([[0.0, 0, 1, 1]], [2], [3, 3]),
        ([[0.0, 0, 1]], [0], [3, 3]),
        ([[0.0, 0, 1, 1]], [0, 1], [3, 3]),
        ([[0.0, 0, 1, 1]], [0], [0, 3]),
        ([[0.0, 0, 1, float("nan")]], [0], [3, 3]),
    ],
)
def test_crop_and_resize_refused(boxes, indices, size):
    check_raises(lambda tf, x: tf.image.crop_and_resize(x, boxes, indices, size), IMAGES["batch"])


@pytest.mark.parametrize("centered", [True, False])
@pytest.mark.parametrize("normalized", [True, False])
def test_glimpse(centered, normalized):
    offsets = np.array([[-0.4, 0.7], [1.3, -2.2]], np.float32)
    check(
        lambda tf, x, offsets: tf.image.extract_glimpse(
            x, [3, 2], offsets, centered, normalized, "zero"
        ),
        IMAGES["batch"],
        offsets,
        gradient=False,
    )


def test_noise_of_a_glimpse_lies_within_the_image():
    import runnel

    image = IMAGES["batch"]
    for noise in ("uniform", "gaussian"):
        outside = runnel.image.extract_glimpse(image, [40, 40], [[9.0, 9.0]] * 2, noise=noise)
        for part, whole in zip(outside.numpy(), image, strict=True):
            assert whole.min() <= part.min() < part.max() <= whole.max()


def test_glimpse_has_no_gradient():
    def gradient(tf, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.image.extract_glimpse(x, [2, 2], [[0.0, 0.0]] * 2, noise="zero")
        return tape.gradient(y, x)

    check_raises(gradient, IMAGES["batch"])
