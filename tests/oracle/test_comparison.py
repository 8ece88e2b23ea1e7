"""Comparisons, logic and bit operations against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

EQUALITY = ["equal", "not_equal"]
ORDER = ["less", "less_equal", "greater", "greater_equal"]
LOGIC = ["logical_and", "logical_or", "math.logical_xor"]
BITS = [f"bitwise.{name}" for name in ("bitwise_and", "bitwise_or", "bitwise_xor")]
SHIFTS = ["bitwise.left_shift", "bitwise.right_shift"]
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
DTYPES = [*FLOATS, *INTEGERS, np.bool_, np.complex64, np.complex128, object]


def call(name):
    def function(tf, *arguments):
        target = tf
        for part in name.split("."):
            target = getattr(target, part)
        return target(*arguments)

    return function


@st.composite
def pairs(draw, dtypes, elements=None):
    """Two arrays of one dtype that broadcast together."""
    dtype = draw(st.sampled_from(dtypes))
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
    if elements is None:
        elements = st.sampled_from([0, 1, 2] if np.dtype(dtype).kind == "u" else [-1, 0, 1, 2])
    return [draw(hnp.arrays(dtype, shape, elements=elements)) for shape in shapes.input_shapes]


@pytest.mark.parametrize("name", [*EQUALITY, *ORDER])
@settings(max_examples=12)
@given(pairs([*INTEGERS, np.float32, np.float64]))
def test_numbers(name, operands):
    check(call(name), *operands)


@pytest.mark.parametrize("name", [*EQUALITY, *ORDER])
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan_and_zeros(name, dtype):
    x = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0]).astype(dtype)
    check(call(name), x[:, None], x)


@pytest.mark.parametrize("name", EQUALITY)
def test_equality_of_other_dtypes(name):
    texts = np.array([b"a", b"b", b""], object)
    check(call(name), texts[:, None], texts)
    check(lambda tf: call(name)(tf, "a", "a"), traced=False)
    truth = np.array([True, False])
    check(call(name), truth[:, None], truth)
    points = np.array([1 + 2j, 1 - 2j, np.nan])
    check(call(name), points[:, None], points)


@pytest.mark.parametrize("name", LOGIC)
@settings(max_examples=6)
@given(pairs([np.bool_], st.booleans()))
def test_logic(name, operands):
    check(call(name), *operands)


def test_negation():
    check(lambda tf, x: tf.logical_not(x), np.array([[True, False]]))


@pytest.mark.parametrize("name", LOGIC)
@pytest.mark.parametrize("value", [1, 2.5, None, np.array([0.0, 2.0]), [True], True])
def test_logic_of_python_values(name, value):
    check(lambda tf: call(name)(tf, value, True), traced=False, may_raise=True)
    check(lambda tf: call(name)(tf, True, value), traced=False, may_raise=True)
    check(lambda tf: call(name)(tf, tf.Variable([True]), value), traced=False, may_raise=True)


@st.composite
def bits(draw):
    dtype = draw(st.sampled_from(INTEGERS))
    limits = np.iinfo(dtype)
    return draw(pairs([dtype], st.integers(int(limits.min), int(limits.max))))


@pytest.mark.parametrize("name", BITS)
@settings(max_examples=10)
@given(bits())
def test_bits(name, operands):
    check(call(name), *operands)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_inverted_bits_and_shifts(dtype):
    limits = np.iinfo(dtype)
    x = np.array([0, 1, 5, limits.max, limits.min, limits.max // 2], dtype)
    check(lambda tf, x: tf.bitwise.invert(x), x)
    # A count that is negative or beyond the width becomes 0 or the width minus one.
    counts = np.array([0, 1, 3, limits.bits - 1, limits.bits, limits.max, limits.min], dtype)
    for name in SHIFTS:
        check(call(name), x[:, None], counts)


@pytest.mark.parametrize("name", [*EQUALITY, *ORDER, *LOGIC, *BITS, *SHIFTS])
def test_dtypes_accepted(name):
    for dtype in DTYPES:
        x = np.array([b"a"], object) if dtype is object else np.ones(1, dtype)
        check(call(name), x, x, traced=False, may_raise=True)
    check_raises(call(name), np.ones(1, np.int32), np.ones(1, np.int64), message="int32")
    dtype = np.bool_ if name in LOGIC else np.int32
    check_raises(call(name), np.ones(2, dtype), np.ones(3, dtype), message="[2] vs. [3]")


@pytest.mark.parametrize("name", ["logical_not", "bitwise.invert"])
def test_dtypes_accepted_by_one(name):
    for dtype in DTYPES:
        x = np.array([b"a"], object) if dtype is object else np.ones(1, dtype)
        check(call(name), x, traced=False, may_raise=True)


@pytest.mark.parametrize("name", [*EQUALITY, *ORDER, *BITS, *SHIFTS])
def test_conversion_of_operands(name):
    for x in (lambda tf: tf.constant([1]), lambda tf: tf.Variable([2])):
        for y in (2.5, 1, True, None, np.array([1.5]), np.float32(3), [1], [2.5]):
            check(lambda tf: call(name)(tf, x(tf), y), traced=False, may_raise=True)
    for x in (2.5, 1, True, None, np.array([1.5]), [1], [2.5]):
        check(lambda tf: call(name)(tf, x, tf.constant([1])), traced=False, may_raise=True)


@pytest.mark.parametrize("name", ["is_non_decreasing", "is_strictly_increasing"])
@settings(max_examples=10)
@given(
    x=hnp.arrays(
        st.sampled_from([np.float32, np.int64, np.uint8]),
        hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
        elements=st.integers(0, 3),
    )
)
def test_monotony(name, x):
    check(lambda tf, x: getattr(tf.math, name)(x), np.asarray(x))
    check(lambda tf, x: getattr(tf.math, name)(x), np.sort(x, axis=None))


@pytest.mark.parametrize("name", ["is_non_decreasing", "is_strictly_increasing"])
def test_monotony_of_edges(name):
    def function(tf, x):
        return getattr(tf.math, name)(x)

    for x in ([np.nan, 1.0], [np.inf, np.inf], [-np.inf, 0.0, np.inf]):
        check(function, np.array(x))
    check(lambda tf: function(tf, [1, 2, 2]), traced=False)
    check_raises(function, np.array([True]))
    check_raises(function, np.array([b"a"], object))
    check_raises(function, np.array([1j, 2j]))
