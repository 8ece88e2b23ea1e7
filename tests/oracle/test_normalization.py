"""Batch normalization against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

CHANNELS = 3


def numbers(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def fused(tf):
    """tf.compat.v1.nn.fused_batch_norm, which stands beside its op here."""
    if tf.__name__ == "runnel":
        from runnel.ops.nn.normalization import fused_batch_norm

        return fused_batch_norm
    return tf.compat.v1.nn.fused_batch_norm


@st.composite
def batches(draw):
    """Images or volumes with their channels last or second."""
    data_format = draw(st.sampled_from(["NHWC", "NCHW", "NDHWC", "NCDHW"]))
    sizes = [draw(st.integers(1, 3)) for _ in data_format]
    sizes[data_format.index("C")] = CHANNELS
    sizes[0] = max(sizes[0], 2)
    return numbers(*sizes, seed=draw(st.integers(0, 99))), data_format


SCALE = np.array([0.5, 1.0, 2.0], np.float32)
OFFSET = np.array([0.0, -1.0, 1.0], np.float32)
MEAN = np.array([0.1, 0.2, -0.3], np.float32)
VARIANCE = np.array([0.5, 1.0, 1.5], np.float32)


@settings(max_examples=12)
@given(case=batches(), factor=st.sampled_from([1.0, 0.25]))
def test_fused_training(case, factor):
    images, data_format = case

    def normalize(tf, x, scale, offset):
        return fused(tf)(
            x,
            scale,
            offset,
            mean=tf.constant(MEAN),
            variance=tf.constant(VARIANCE),
            epsilon=0.01,
            data_format=data_format,
            exponential_avg_factor=factor,
        )

    check(normalize, images, SCALE, OFFSET, gradient=False)
    check(lambda tf, *a: normalize(tf, *a)[0], images, SCALE, OFFSET, tolerance=1e-4)


@settings(max_examples=8)
@given(case=batches())
def test_fused_inference(case):
    images, data_format = case

    def normalize(tf, x, scale, offset):
        return fused(tf)(
            x,
            scale,
            offset,
            mean=tf.constant(MEAN),
            variance=tf.constant(VARIANCE),
            data_format=data_format,
            is_training=False,
        )

    check(normalize, images, SCALE, OFFSET, gradient=False)
    check(lambda tf, *a: normalize(tf, *a)[0], images, SCALE, OFFSET, tolerance=1e-4)


def test_fused_gradient_against_first_principles():
    # The op has no float64: the composed formula, differentiated by the tape, stands in.
    import runnel

    x = runnel.constant(numbers(4, 3, 2, CHANNELS))
    weights = runnel.constant(numbers(4, 3, 2, CHANNELS, seed=1))

    def composed(x, scale, offset):
        mean = runnel.reduce_mean(x, [0, 1, 2])
        variance = runnel.reduce_mean(runnel.square(x - mean), [0, 1, 2])
        return runnel.nn.batch_normalization(x, mean, variance, offset, scale, 0.001)

    def derivatives(function):
        sources = [x, runnel.constant(SCALE), runnel.constant(OFFSET)]
        with runnel.GradientTape(persistent=True) as outer:
            outer.watch(sources)
            with runnel.GradientTape() as tape:
                tape.watch(sources)
                loss = runnel.reduce_sum(weights * runnel.square(function(*sources)))
            first = tape.gradient(loss, sources)
            total = runnel.add_n([runnel.reduce_sum(runnel.square(g)) for g in first])
        return [*first, *outer.gradient(total, sources)]

    ours = derivatives(lambda *a: fused(runnel)(*a)[0])
    for actual, expected in zip(ours, derivatives(composed), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("is_training", [True, False])
def test_fused_halves(dtype, is_training):
    moments = {"mean": MEAN, "variance": VARIANCE} if not is_training else {}
    check(
        lambda tf, x: fused(tf)(x, SCALE, OFFSET, is_training=is_training, **moments)[0],
        numbers(4, 2, 2, CHANNELS, dtype=dtype),
        second_order=False,
    )


def test_fused_single_pixel_and_nothing():
    check(lambda tf, x: fused(tf)(x, SCALE, OFFSET), numbers(1, 1, 1, CHANNELS), gradient=False)
    check(lambda tf, x: fused(tf)(x, SCALE, OFFSET), numbers(0, 2, 2, CHANNELS), gradient=False)

    def gradients(tf, *sources):
        sources = [tf.constant(each) for each in sources]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            outputs = fused(tf)(*sources)[0]
        return tape.gradient(outputs, sources)

    check(gradients, numbers(0, 2, 2, CHANNELS), SCALE, OFFSET, gradient=False, traced=False)


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": numbers(2, 3)},
        {"x": numbers(2, 1, 1, 3).astype(np.float64)},
        {"x": np.ones((2, 1, 1, 3), np.int32)},
        {"scale": SCALE[:2]},
        {"scale": SCALE[np.newaxis]},
        {"scale": SCALE.astype(np.float16)},
        {"offset": OFFSET[:2]},
        {"mean": MEAN[:1], "is_training": False},
        {"mean": MEAN[:1], "exponential_avg_factor": 0.5},
        {"mean": None, "is_training": False},
        {"variance": None, "exponential_avg_factor": 0.5},
        {"data_format": "NWC"},
    ],
)
def test_fused_checks_its_arguments(arguments):
    complete = {
        "x": numbers(2, 1, 1, CHANNELS),
        "scale": SCALE,
        "offset": OFFSET,
        "mean": MEAN,
        "variance": VARIANCE,
        **arguments,
    }
    check_raises(lambda tf: fused(tf)(**complete))


@pytest.mark.parametrize("offset", [OFFSET, None])
@pytest.mark.parametrize("scale", [SCALE, None])
@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 2, 1, 3)])
def test_batch_normalization(shape, scale, offset):
    def normalize(tf, x, mean, variance, *rest):
        rest = iter(rest)
        return tf.nn.batch_normalization(
            x,
            mean,
            variance,
            None if offset is None else next(rest),
            None if scale is None else next(rest),
            1e-3,
        )

    given_arrays = [a.astype(np.float64) for a in (offset, scale) if a is not None]
    moments = MEAN.astype(np.float64), VARIANCE.astype(np.float64)
    check(normalize, numbers(*shape, dtype=np.float64), *moments, *given_arrays)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("moments_dtype", [np.float32, np.float64])
def test_batch_normalization_dtypes(dtype, moments_dtype):
    mean, variance = MEAN.astype(moments_dtype), VARIANCE.astype(moments_dtype)
    check(
        lambda tf, x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 1e-3),
        numbers(2, CHANNELS, dtype=dtype),
        mean,
        variance,
        second_order=False,
        smooth=False,
        tolerance=0.04 if np.dtype(dtype).itemsize == 2 else None,
    )


def test_batch_normalization_at_the_edges():
    x, zero = np.array([[1.0, 2.0]], np.float32), np.zeros(2, np.float32)
    for variance in (np.array([-1.0, 0.0], np.float32), np.array([np.nan, np.inf], np.float32)):
        check(
            lambda tf, x, m, v: tf.nn.batch_normalization(x, m, v, None, None, 0.0),
            x,
            zero,
            variance,
            gradient=False,
        )
    check_raises(
        lambda tf: tf.nn.batch_normalization(tf.constant(x), [0.0], [1.0], None, None, 1.0)
    )
    check_raises(
        lambda tf: tf.nn.batch_normalization(
            tf.constant(x), tf.zeros(3), tf.ones(3), None, None, 1e-3
        )
    )


@pytest.mark.parametrize("scale_after", [True, False])
def test_batch_norm_with_global_normalization(scale_after):
    check(
        lambda tf, x, *rest: tf.nn.batch_norm_with_global_normalization(
            x, *rest, variance_epsilon=1e-3, scale_after_normalization=scale_after
        ),
        numbers(2, 2, 1, CHANNELS),
        MEAN,
        VARIANCE,
        OFFSET,
        SCALE,
    )
