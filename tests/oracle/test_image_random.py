"""Random changes of images: the same seeds give TensorFlow's results."""

import numpy as np
import pytest
import tensorflow
from compare import assert_same, check, check_raises, noted

import runnel

ONE = np.random.default_rng(0).uniform(size=(6, 5, 3)).astype(np.float32)
BATCH = np.random.default_rng(1).uniform(size=(7, 4, 5, 3)).astype(np.float32)
BYTES = np.random.default_rng(2).integers(0, 256, (6, 5, 3)).astype(np.uint8)

CHANGES = {
    "brightness": (0.4,),
    "contrast": (0.2, 1.8),
    "hue": (0.4,),
    "saturation": (0.1, 1.9),
    "flip_left_right": (),
    "flip_up_down": (),
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("image", [ONE, BATCH, BYTES], ids=["one", "batch", "bytes"])
@pytest.mark.parametrize("seed", [(1, 2), (0, 0), (7, 2**40)])
def test_stateless(name, image, seed):
    def change(tf, x):
        return getattr(tf.image, f"stateless_random_{name}")(x, *CHANGES[name], seed=seed)

    check(change, image, gradient=False)


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("image", [ONE, BATCH], ids=["one", "batch"])
def test_streams(name, image):
    def changes(tf):
        tf.random.set_seed(5)
        change = getattr(tf.image, f"random_{name}")
        x = tf.constant(image)
        drawn = [change(x, *CHANGES[name]) for _ in range(3)]
        return drawn + [change(x, *CHANGES[name], seed=9) for _ in range(3)]

    assert_same(changes(tensorflow), changes(runnel))


def test_gradient_of_a_random_flip():
    check(lambda tf, x: tf.image.stateless_random_flip_left_right(x, seed=(3, 4)), BATCH)


def test_crop():
    check(lambda tf, x: tf.image.stateless_random_crop(x, [3, 2, 4, 3], seed=(3, 4)), BATCH)

    def crops(tf):
        tf.random.set_seed(2)
        return [tf.image.random_crop(tf.constant(BATCH), [1, 3, 3, 2], seed=s) for s in (None, 4)]

    assert_same(crops(tensorflow), crops(runnel))


@pytest.mark.parametrize("size", [[9, 9, 9, 9], [1, 1]])
def test_crop_refused(size):
    check_raises(lambda tf, x: tf.image.stateless_random_crop(x, size, seed=(1, 2)), BATCH)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("brightness", (-0.2,)),
        ("contrast", (0.8, 0.2)),
        ("contrast", (-0.8, 0.2)),
        ("hue", (0.6,)),
        ("hue", (-0.1,)),
        ("saturation", (0.9, 0.1)),
        ("jpeg_quality", (-1, 5)),
        ("jpeg_quality", (50, 20)),
    ],
)
def test_refused(name, arguments):
    check_raises(lambda tf, x: getattr(tf.image, f"random_{name}")(x, *arguments), ONE)
    check_raises(
        lambda tf, x: getattr(tf.image, f"stateless_random_{name}")(x, *arguments, seed=(1, 2)), ONE
    )


@pytest.mark.parametrize("image", [ONE, BYTES], ids=["floats", "bytes"])
def test_jpeg_quality(image):
    check(
        lambda tf, x: tf.image.adjust_jpeg_quality(tf.ensure_shape(x, [None, None, 3]), 40),
        image,
        gradient=False,
    )
    check(
        lambda tf, x: tf.image.stateless_random_jpeg_quality(
            tf.ensure_shape(x, [None, None, 3]), 20, 90, seed=(1, 2)
        ),
        image,
        gradient=False,
    )

    def drawn(tf):
        tf.random.set_seed(3)
        return [tf.image.random_jpeg_quality(tf.constant(image), 20, 90) for _ in range(3)]

    assert_same(drawn(tensorflow), drawn(runnel))


def test_sampled_boxes_follow_the_stream():
    boxes = np.array([[[0.1, 0.2, 0.6, 0.9]]], np.float32)

    def drawn(tf):
        tf.random.set_seed(3)
        sample = tf.image.sample_distorted_bounding_box
        return [sample([40, 60, 3], boxes, seed=5) for _ in range(3)]

    with noted():
        assert_same(drawn(tensorflow), drawn(runnel))
