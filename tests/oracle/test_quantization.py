"""Quantization against TensorFlow."""

import numpy as np
import pytest
import tensorflow
from compare import assert_same, check, check_raises
from expressions import assert_same_outcome
from hypothesis import given, settings, strategies as st

import runnel

X = np.array([-7.0, -6.0, -0.03, 0.0, 0.011, 0.5, 3.0, 6.0, 6.5], np.float32)
CHANNELS = np.array([[-3.0, -1.9, -1.0], [0.0, 1.1, 2.2]], np.float32)
LOW, HIGH = np.array([-1.0, -2.0, -0.5], np.float32), np.array([1.0, 2.0, 3.0], np.float32)


@settings(max_examples=15)
@given(st.floats(-8, 3, width=32), st.floats(0.5, 8, width=32), st.integers(2, 16), st.booleans())
def test_fake_quantization(low, width, bits, narrow):
    high = low + width
    keywords = {"num_bits": bits, "narrow_range": narrow}
    # A level more or less where a number is halfway: the tolerance is less than a level.
    check(
        lambda tf, x: tf.quantization.fake_quant_with_min_max_args(x, low, high, **keywords),
        X,
        smooth=False,
        tolerance=None if bits < 12 else 1e-3,
    )
    check(
        lambda tf, x, a, b: tf.quantization.fake_quant_with_min_max_vars(x, a, b, **keywords),
        X,
        np.array(low, np.float32),
        np.array(high, np.float32),
        smooth=False,
        tolerance=None if bits < 12 else 1e-3,
    )


def test_fake_quantization_of_other_values():
    check(lambda tf: tf.quantization.fake_quant_with_min_max_args([1, 2]))
    check(lambda tf: tf.quantization.fake_quant_with_min_max_args([np.nan, np.inf, -np.inf]))
    zero = np.array(0.0, np.float32)
    check(
        lambda tf, x, a, b: tf.quantization.fake_quant_with_min_max_vars(x, a, b),
        X, zero, zero, smooth=False,
    )  # fmt: skip


@pytest.mark.parametrize("shape", [(2, 3), (1, 2, 1, 3), (6,)])
def test_fake_quantization_by_channel(shape):
    x = CHANNELS.reshape(shape)
    low, high = (np.resize(each, shape[-1]) for each in (LOW, HIGH))
    for keywords in ({}, {"num_bits": 4, "narrow_range": True}):
        check(
            lambda tf, x, a, b: tf.quantization.fake_quant_with_min_max_vars_per_channel(
                x, a, b, **keywords
            ),
            x, low, high, smooth=False,
        )  # fmt: skip


def test_gradients_as_functions():
    gradients = np.linspace(-1, 1, 9, dtype=np.float32)
    zero, one = np.array(0, np.float32), np.array(1, np.float32)
    check(
        lambda tf, g, x: tf.quantization.fake_quant_with_min_max_args_gradient(g, x),
        gradients, X, gradient=False,
    )  # fmt: skip
    for low in (-one, zero):
        check(
            lambda tf, g, x, a, b: tf.quantization.fake_quant_with_min_max_vars_gradient(
                g, x, a, b
            ),
            gradients, X, low, one, gradient=False,
        )  # fmt: skip
    check(
        lambda tf, g, x, a, b: tf.quantization.fake_quant_with_min_max_vars_per_channel_gradient(
            g, x, a, b
        ),
        CHANNELS * 2, CHANNELS, LOW, HIGH, gradient=False,
    )  # fmt: skip


def test_refusals_of_fake_quantization():
    for keywords in [dict(num_bits=1), dict(num_bits=17), dict(min=6, max=-6), dict(min=0, max=0)]:
        check_raises(lambda tf, x: tf.quantization.fake_quant_with_min_max_args(x, **keywords), X)
    check_raises(lambda tf, x: tf.quantization.fake_quant_with_min_max_args(x), X.astype(float))
    check_raises(lambda tf, x: tf.quantization.fake_quant_with_min_max_vars(x, [0.0], [1.0]), X)
    check_raises(lambda tf, x: tf.quantization.fake_quant_with_min_max_args_gradient(x[:2], x), X)
    check_raises(
        lambda tf, x: tf.quantization.fake_quant_with_min_max_vars_per_channel(
            x, [-1.0, -2.0], [1.0, 2.0]
        ),
        CHANNELS,
    )


OPTIONS = [
    {}, {"range_given": True}, {"signed_input": False, "range_given": True},
    {"signed_input": False}, {"num_bits": 4}, {"narrow_range": True}, {"round_mode": "HALF_UP"},
    {"num_bits": 1}, {"axis": 0},
]  # fmt: skip


@pytest.mark.parametrize("keywords", OPTIONS, ids=str)
@pytest.mark.parametrize("function", ["quantize_and_dequantize_v2", "quantize_and_dequantize"])
def test_there_and_back(function, keywords):
    """TensorFlow's gradient of a gradient fails, and that of channels with one range for all."""
    for dtype in (np.float32, np.float64):
        low, high = np.array(-2, dtype), np.array(3, dtype)
        check(
            lambda tf, x, a, b: getattr(tf.quantization, function)(x, a, b, **keywords),
            X.astype(dtype), low, high, smooth=False, second_order=False,
            gradient="axis" not in keywords or function == "quantize_and_dequantize",
        )  # fmt: skip


def test_there_and_back_of_other_values():
    for x in (X[:0], X * 0):
        check(
            lambda tf, x: tf.quantization.quantize_and_dequantize_v2(x, -2, 3),
            x, smooth=False, second_order=False,
        )  # fmt: skip
    check(
        lambda tf, x: tf.quantization.quantize_and_dequantize_v2(x, LOW, HIGH, axis=1),
        CHANNELS, gradient=False,
    )  # fmt: skip


def test_refusals_of_there_and_back():
    for keywords in [dict(num_bits=0), dict(num_bits=64), dict(round_mode="X")]:
        check_raises(
            lambda tf, x: tf.quantization.quantize_and_dequantize_v2(x, -2.0, 3.0, **keywords), X
        )
    check_raises(
        lambda tf, x: tf.quantization.quantize_and_dequantize_v2(x, 2.0, -3.0, range_given=True), X
    )
    check_raises(lambda tf: tf.quantization.quantize_and_dequantize_v2([1, 2], -2, 3))


def quantized(dtype, low, high, **keywords):
    def call(tf, x):
        kind = getattr(tf, dtype)
        levels, start, end = tf.quantization.quantize(x, low, high, kind, **keywords)
        mode, narrow = keywords.get("mode", "MIN_COMBINED"), keywords.get("narrow_range", False)
        back = tf.quantization.dequantize(
            levels, low, high, mode, axis=keywords.get("axis"), narrow_range=narrow
        )
        return tf.cast(levels, tf.int32), start, end, back

    return call


@pytest.mark.parametrize("dtype", ["qint8", "quint8", "qint16", "quint16"])
@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
def test_quantize_and_dequantize(dtype, mode):
    check(quantized(dtype, -6.0, 7.0, mode=mode), X, gradient=False)
    check(quantized(dtype, 0.0, 5.0, mode=mode), X, gradient=False)
    by_channel = quantized(dtype, LOW, HIGH, mode=mode, axis=1)
    if mode == "MIN_FIRST":
        check_raises(by_channel, CHANNELS)
    else:
        check(by_channel, CHANNELS, gradient=False)


def test_options_of_quantize():
    for keywords in [dict(round_mode="HALF_TO_EVEN"), dict(narrow_range=True)]:
        check(quantized("qint8", -6.0, 7.0, mode="SCALED", **keywords), X, gradient=False)
    check(quantized("quint8", 1.0, 1.0), X, gradient=False)
    check(dequantized("bfloat16"), X, gradient=False)


def dequantized(dtype):
    def call(tf, x):
        levels = tf.cast(x, tf.qint8)
        return tf.quantization.dequantize(levels, -1.0, 1.0, dtype=getattr(tf, dtype))

    return call


def test_refusals_of_quantize():
    check_raises(quantized("quint8", 1.0, -1.0), X)
    check_raises(quantized("quint8", -1.0, 1.0, mode="X"), X)
    check_raises(quantized("float32", -1.0, 1.0), X)
    check_raises(quantized("int8", -1.0, 1.0), X)
    check_raises(quantized("qint8", -1.0, 1.0, round_mode="HALF_TO_EVEN"), X)
    check_raises(quantized("qint8", LOW[:2], HIGH[:2], mode="SCALED", axis=1), CHANNELS)
    check_raises(lambda tf: tf.quantization.dequantize([1, 2], -1.0, 1.0))
    check_raises(dequantized("float64"), X)


QUANTIZED = """
tf.constant([1, 2], tf.qint8)
tf.constant([1, 2], tf.quint16).numpy()
tf.constant(np.array([1, 2], tf.qint8.as_numpy_dtype))
tf.constant(3, tf.qint32).numpy()
tf.constant([1.5], tf.qint8)
tf.cast([1, 2], tf.quint8)
tf.bitcast(tf.cast([1, -2], tf.qint8), tf.uint8)
tf.bitcast(tf.constant([1, 2], tf.int32), tf.qint32)
tf.constant([[1, 2], [3, 4]], tf.qint8)[1:].numpy().tolist()
np.array(tf.constant([1, 2], tf.qint8)).dtype
str(tf.constant([1, 2], tf.qint8))
tf.qint8.as_numpy_dtype
tf.as_dtype(tf.quint16.as_numpy_dtype)
tf.quantization.quantize([-1.0, 0.0, 1.0], -1.0, 1.0, tf.qint8)
tf.reshape(tf.constant([1, 2], tf.quint8), [2, 1])
"""


@pytest.mark.parametrize("call", [line for line in QUANTIZED.split("\n") if line])
def test_quantized_tensors(call):
    assert_same_outcome(call)


def test_quantized_constants_in_a_graph():
    graph = runnel.Graph()
    with graph.as_default():
        runnel.cast(runnel.constant([1, -2], runnel.qint8), runnel.int32, name="several")
        runnel.cast(runnel.constant(7, runnel.quint8), runnel.int32, name="one")
    described = graph.as_graph_def()
    for tf in (tensorflow, runnel):
        with tf.Graph().as_default() as other, tf.compat.v1.Session() as session:
            message = tf.compat.v1.GraphDef.FromString(described.SerializeToString())
            tf.graph_util.import_graph_def(message, name="")
            assert session.run("several:0").tolist() == [1, -2]
            assert session.run("one:0") == 7
            assert other.get_operations()[0].type == "Const"


def joined(axis, ranges, dtype="quint8"):
    def call(tf, *levels):
        lows, highs = [low for low, _ in ranges], [high for _, high in ranges]
        tensors = [tf.bitcast(each, getattr(tf, dtype)) for each in levels]
        return tf.quantization.quantized_concat(axis, tensors, lows, highs)

    return call


LEVELS = np.arange(256, dtype=np.uint8).reshape(2, 128)


@pytest.mark.parametrize(
    "ranges", [[(-1.0, 1.0), (-3.0, 2.0)], [(0.0, 5.0)] * 2, [(0.5, 1.0), (0.25, 2.0)]]
)
def test_quantized_concat(ranges):
    check(joined(0, ranges), LEVELS, LEVELS[:1])
    check(joined(1, ranges), LEVELS, LEVELS[:, :5])
    found = joined(0, ranges)(runnel, LEVELS, LEVELS)
    assert type(found).__name__ == "QuantizedConcat"
    assert found._fields == joined(0, ranges)(tensorflow, LEVELS, LEVELS)._fields


@settings(max_examples=25)
@given(*[st.floats(-5, 5, width=32)] * 2, *[st.floats(0.5, 5, width=32)] * 2)
def test_quantized_concat_of_any_ranges(low, other, width, wide):
    call = joined(0, [(low, low + width), (other, other + wide)])
    wanted, found = call(tensorflow, LEVELS, LEVELS), call(runnel, LEVELS, LEVELS)
    assert_same(wanted[1:], found[1:])
    # Halves between two levels go either way.
    away = wanted.output.numpy().astype(int) - found.output.numpy()
    assert abs(away).max() <= 1
    assert (away != 0).mean() < 0.25


def test_quantized_concat_of_wide_integers():
    levels = np.int32([-(2**31), -5, 0, 1, 2**30])
    call = joined(0, [(-1.0, 1.0), (-3.0, 2.0)], "qint32")
    wanted, found = call(tensorflow, levels, levels), call(runnel, levels, levels)
    assert_same(wanted[1:], found[1:])
    np.testing.assert_allclose(found.output.numpy(), wanted.output.numpy(), atol=300)


def test_refusals_of_quantized_concat():
    pair = [(-1.0, 1.0)] * 2
    check_raises(joined(-1, pair), LEVELS, LEVELS)
    check_raises(joined(5, pair), LEVELS, LEVELS)
    check_raises(joined(0, pair), LEVELS, LEVELS[:, :5])
    check_raises(joined(0, pair), np.uint8(1), np.uint8(2))
    check_raises(joined(0, pair[:1]), LEVELS)
    check_raises(joined(0, pair[:1]), LEVELS, LEVELS)
