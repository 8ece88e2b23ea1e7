"""Boxes in images against TensorFlow: drawing, sampling and suppressing them."""

import numpy as np
import pytest
import tensorflow
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

import runnel


def draw(seed, *shape, low=0.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("coloured", [True, False])
def test_drawing(channels, coloured):
    images, boxes = draw(0, 2, 11, 9, channels), draw(1, 2, 13, 4, low=-0.3, high=1.3)
    colors = draw(2, 3, 4) if coloured else None
    check(
        lambda tf, x, boxes: tf.image.draw_bounding_boxes(x, boxes, colors),
        images,
        boxes,
        gradient=False,
    )


@pytest.mark.parametrize(
    ("images", "boxes", "colors"),
    [
        ((1, 6, 6, 2), (1, 1, 4), None),
        ((1, 6, 6, 3), (1, 1, 4), [[1.0]]),
        ((6, 6, 3), (1, 1, 4), None),
        ((2, 6, 6, 3), (1, 1, 4), None),
        ((1, 6, 6, 3), (1, 4), None),
    ],
)
def test_drawing_refused(images, boxes, colors):
    check_raises(
        lambda tf, x, boxes: tf.image.draw_bounding_boxes(x, boxes, colors),
        draw(0, *images),
        draw(1, *boxes),
    )


@given(st.integers(0, 10**6), st.integers(1, 90), st.integers(1, 90), st.integers(1, 20))
@settings(max_examples=25, deadline=None)
def test_sampling(seed, height, width, attempts):
    corners = draw(seed, 1, 3, 4)
    low = np.minimum(corners[..., :2], corners[..., 2:])
    boxes = np.concatenate([low, np.maximum(corners[..., :2], corners[..., 2:])], -1)
    covered = float(draw(seed + 1))
    ratios = sorted(draw(seed + 2, 2, low=0.3, high=3.0).tolist())
    areas = sorted(draw(seed + 3, 2, low=0.02).tolist())
    check(
        lambda tf, boxes: tf.image.stateless_sample_distorted_bounding_box(
            [height, width, 3], boxes, (seed, 7), covered, ratios, areas, attempts
        ),
        boxes,
        gradient=False,
    )


@pytest.mark.parametrize(
    "options",
    [
        {"aspect_ratio_range": (1.0,)},
        {"aspect_ratio_range": (-1.0, 1.0)},
        {"area_range": (0.5, 1.5)},
        {"max_attempts": 0},
        {"min_object_covered": -1.0},
        {"image_size": [50, 60]},
        {"bounding_boxes": np.zeros((1, 0, 4), np.float32)},
        {"bounding_boxes": np.full((1, 1, 4), 2, np.float32)},
        {"bounding_boxes": np.zeros((1, 4), np.float32)},
    ],
)
def test_sampling_refused(options):
    arguments = {
        "image_size": [50, 60, 3],
        "bounding_boxes": [[[0.1, 0.2, 0.6, 0.9]]],
        "seed": (1, 2),
        **options,
    }
    check_raises(lambda tf: tf.image.stateless_sample_distorted_bounding_box(**arguments))


def test_the_whole_image_is_a_box_where_there_is_none():
    check(
        lambda tf, boxes: tf.image.stateless_sample_distorted_bounding_box(
            [50, 60, 3], boxes, (1, 2), use_image_if_no_bounding_boxes=True
        ),
        np.zeros((1, 0, 4), np.float32),
        gradient=False,
    )


SEEDS = st.integers(0, 10**6)
COUNTS = st.integers(1, 25)


@given(SEEDS, COUNTS, st.integers(1, 20), st.sampled_from([0.2, 0.5, 0.8]), st.booleans())
@settings(max_examples=15, deadline=None)
def test_suppression(seed, count, size, threshold, limited):
    boxes, scores = draw(seed, count, 4), draw(seed + 1, count)
    least = 0.3 if limited else float("-inf")
    rest = (size, threshold, least)
    check(lambda tf, b, s: tf.image.non_max_suppression(b, s, *rest), boxes, scores, gradient=False)
    check(
        lambda tf, b, s: tf.image.non_max_suppression_with_scores(b, s, *rest),
        boxes,
        scores,
        gradient=False,
    )
    check(
        lambda tf, b, s: tf.image.non_max_suppression_with_scores(b, s, *rest, soft_nms_sigma=0.4),
        boxes,
        scores,
        gradient=False,
    )
    check(
        lambda tf, o, s: tf.image.non_max_suppression_overlaps(o, s, *rest),
        draw(seed + 2, count, count),
        scores,
        gradient=False,
    )


@pytest.mark.parametrize("size", [0, 3, 64, 200])
def test_suppression_of_many(size):
    """More than are compared with each other at once; some have no area."""
    boxes = draw(1, 200, 4)
    boxes[::7, 2:] = boxes[::7, :2]
    check(
        lambda tf, b, s: tf.image.non_max_suppression(b, s, size, 0.4, 0.1),
        boxes,
        draw(2, 200).round(1),
        gradient=False,
    )


@given(SEEDS, COUNTS, st.integers(1, 20), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=3, deadline=None)
def test_padded_suppression(seed, count, size, limited, ordered, canonical):
    least = 0.3 if limited else float("-inf")

    def padded(tf, boxes, scores):
        return tf.image.non_max_suppression_padded(
            boxes, scores, size, 0.3, least, True, None, ordered, canonical
        )

    check(padded, draw(seed, count, 4), draw(seed + 1, count), gradient=False)
    check(padded, draw(seed, 2, count, 4), draw(seed + 1, 2, count), gradient=False)


def test_suppression_without_padding():
    check(
        lambda tf, b, s: tf.image.non_max_suppression_padded(
            tf.ensure_shape(b, [None, 4]), tf.ensure_shape(s, [None]), 5
        ),
        draw(0, 9, 4),
        draw(1, 9),
        gradient=False,
    )


@given(SEEDS, COUNTS, st.integers(1, 9), st.integers(1, 9), st.booleans(), st.booleans())
@settings(max_examples=12, deadline=None)
def test_combined_suppression(seed, count, per_class, total, pad, clip):
    for shared in (1, 3):
        check(
            lambda tf, b, s: tf.image.combined_non_max_suppression(
                b, s, per_class, total, 0.4, 0.1, pad, clip
            ),
            draw(seed, 2, count, shared, 4, low=-0.2, high=1.2),
            draw(seed + 1, 2, count, 3),
            gradient=False,
        )


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, b, s: tf.image.non_max_suppression(b, s, -1),
        lambda tf, b, s: tf.image.non_max_suppression(b, s, 3, 1.5),
        lambda tf, b, s: tf.image.non_max_suppression(b, s[:3], 3),
        lambda tf, b, s: tf.image.non_max_suppression_with_scores(b, s, 3, soft_nms_sigma=-1.0),
        lambda tf, b, s: tf.image.non_max_suppression_overlaps(b, s, 3),
        lambda tf, b, s: tf.image.non_max_suppression_padded(b[None], s[None], 3),
        lambda tf, b, s: tf.image.combined_non_max_suppression(b[None], s[None, :, None], 3, 3),
        lambda tf, b, s: tf.image.combined_non_max_suppression(
            b[None, :, None], s[None, :, None], 0, 3
        ),
        lambda tf, b, s: tf.image.generate_bounding_box_proposals(
            b[None, None], b[None, None], b, b
        ),
    ],
)
def test_suppression_refused(call):
    check_raises(call, draw(0, 6, 4), draw(1, 6))


def test_the_type_of_combined_suppression():
    results = [
        tf.image.combined_non_max_suppression(tf.zeros([1, 2, 1, 4]), tf.zeros([1, 2, 1]), 1, 1)
        for tf in (tensorflow, runnel)
    ]
    assert len({(type(each).__name__, each._fields) for each in results}) == 1
