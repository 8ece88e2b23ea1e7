"""Arithmetic of two tensors, sums of many, and clipping against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel
from runnel.core.op import REGISTRY

# Two intervals in which each function is smooth in both its arguments.
SMOOTH = {
    "add": [(-3, 3), (-3, 3)], "subtract": [(-3, 3), (-3, 3)], "multiply": [(-3, 3), (-3, 3)],
    "divide": [(-3, 3), (0.5, 3)], "truediv": [(-3, 3), (0.5, 3)], "realdiv": [(-3, 3), (0.5, 3)],
    "pow": [(0.5, 3), (-2, 3)], "maximum": [(0.1, 1), (1.1, 3)], "minimum": [(0.1, 1), (1.1, 3)],
    "atan2": [(0.5, 3), (0.5, 3)], "math.floormod": [(5.1, 5.9), (2.1, 2.4)],
    "math.squared_difference": [(-3, 3), (-3, 3)], "math.divide_no_nan": [(-3, 3), (0.5, 3)],
    "math.multiply_no_nan": [(-3, 3), (0.5, 3)], "math.xdivy": [(0.5, 3), (0.5, 3)],
}  # fmt: skip
STEPS = ["math.floordiv", "math.floormod", "truncatediv", "truncatemod", "math.nextafter"]
ALL = sorted({*SMOOTH, *STEPS})
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [
    "add", "subtract", "multiply", "divide", "pow", "math.squared_difference",
    "math.divide_no_nan", "math.multiply_no_nan", "math.xdivy",
]  # fmt: skip
EDGES = np.array([-np.inf, -2.5, -1, -0.0, 0, 0.5, 3, np.inf, np.nan])


def call(name):
    def function(tf, *arguments):
        target = tf
        for part in name.split("."):
            target = getattr(target, part)
        return target(*arguments)

    return function


@st.composite
def pairs(draw, bounds):
    """Two arrays that broadcast together."""
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
    return [
        draw(hnp.arrays(np.float64, shape, elements=st.floats(*interval)))
        for shape, interval in zip(shapes.input_shapes, bounds, strict=True)
    ]


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=3)
@given(data=st.data())
def test_value_and_derivatives(name, data):
    x, y = data.draw(pairs(SMOOTH[name]))
    check(call(name), x, y)


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("dtype", FLOATS[:3])
def test_floats(name, dtype):
    x, y = (np.linspace(*bounds, 4).astype(dtype) for bounds in SMOOTH[name])
    narrow = np.dtype(dtype).itemsize == 2
    check(call(name), x[:, None], y, second_order=not narrow, smooth=False, traced=False)


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("dtype", FLOATS)
def test_edges(name, dtype):
    if np.dtype(dtype).itemsize == 2 and name in ("truncatemod", "math.nextafter"):
        return
    edges = EDGES.astype(dtype)
    check(call(name), edges[:, None], edges, gradient=False)


@pytest.mark.parametrize("name", [name for name in STEPS if name != "truncatemod"])
def test_derivatives_of_steps(name):
    x, y = np.array([7.3, -7.3, 4.0]), np.array([[2.1], [-2.1]])
    check(call(name), x, y, second_order=False, smooth=False)


def test_derivative_of_truncatemod():
    # TensorFlow has none; the remainder grows with x and falls by whole quotients with y.
    x, y = runnel.constant([7.3, -7.3]), runnel.constant([2.0, 2.0])
    with runnel.GradientTape() as tape:
        tape.watch([x, y])
        remainder = runnel.truncatemod(x, y)
    by_x, by_y = tape.gradient(remainder, [x, y])
    assert by_x.numpy().tolist() == [1, 1]
    assert by_y.numpy().tolist() == [-3, 3]


@pytest.mark.parametrize("name", COMPLEX)
@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_complex(name, dtype):
    x = np.array([1 + 2j, 0.5 - 1j, -1 + 0.2j], dtype)
    y = np.array([[2 - 1j], [1 + 0.5j]], dtype)
    check(call(name), x, y, tolerance=1e-4 if dtype is np.complex64 else None)


@st.composite
def integer_pairs(draw):
    dtype = draw(st.sampled_from(INTEGERS))
    limits = np.iinfo(dtype)
    some = st.sampled_from([limits.min, limits.max, 0, 1, 2, 7]) | st.integers(
        limits.min, limits.max
    )
    shapes = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=2, max_side=3))
    x, y = (draw(hnp.arrays(dtype, shape, elements=some)) for shape in shapes.input_shapes)
    return x, y


@pytest.mark.parametrize("name", [*SMOOTH, *STEPS])
@settings(max_examples=8)
@given(integer_pairs())
def test_integers(name, operands):
    x, y = operands
    if name == "pow" and x.size:
        y = np.abs(y % 5)
    check(call(name), x, y, traced=False, may_raise=True)


def test_division_by_zero():
    for name in ("math.floordiv", "math.floormod", "truncatediv", "truncatemod"):
        check_raises(call(name), np.array([1, 2]), np.array([1, 0]), message="by zero")
        check(call(name), np.zeros(0, np.int32), np.zeros(1, np.int32), traced=False)


def test_negative_powers_of_integers():
    check_raises(call("pow"), np.array([1, 2]), np.array([2, -1]), message="negative")
    check(call("pow"), np.zeros(0, np.int32), np.array([-1], np.int32), traced=False)


@pytest.mark.parametrize("dtype", INTEGERS[:4])
def test_quotient_that_does_not_fit(dtype):
    least, minus_one = np.array([np.iinfo(dtype).min], dtype), np.array([-1], dtype)
    for name in ("math.floordiv", "math.floormod", "truncatediv"):
        check(call(name), least, minus_one)


@pytest.mark.parametrize("name", ALL)
def test_dtypes_accepted(name):
    for dtype in (*FLOATS, *INTEGERS, np.bool_, np.complex64, object):
        if name == "truncatemod" and dtype in FLOATS[:2]:
            continue
        x = np.array([b"a"], object) if dtype is object else np.ones(1, dtype)
        check(call(name), x, x, gradient=False, traced=False, may_raise=True)


TENSORS = [
    lambda tf: tf.constant([1]), lambda tf: tf.constant([1.5]), lambda tf: tf.Variable([2]),
    lambda tf: tf.constant([1.5], tf.float64), lambda tf: tf.Variable([2.5]),
]  # fmt: skip
VALUES = [2.5, 1, True, None, np.array([1.5]), np.float32(3), [1], [2.5]]


@pytest.mark.parametrize("name", ALL)
def test_conversion_of_operands(name):
    function = call(name)
    for x in TENSORS:
        for y in TENSORS:
            check(lambda tf: function(tf, x(tf), y(tf)), traced=False, may_raise=True)
        for y in VALUES:
            check(lambda tf: function(tf, x(tf), y), traced=False, may_raise=True)
            # Beside a value on the left the original takes no integer variable, and tf.add
            # only what has the value's own dtype.
            if name != "add" and x not in (TENSORS[2], TENSORS[4]):
                check(lambda tf: function(tf, y, x(tf)), traced=False, may_raise=True)


@pytest.mark.parametrize("name", [name for name in ALL if name != "divide"])
def test_conversion_of_values(name):
    for x in VALUES:
        for y in VALUES:
            # Whether tf.math.nextafter leaves float64 arrays as they are depends on the other.
            if name != "math.nextafter" or not isinstance(x, np.ndarray):
                check(lambda tf: call(name)(tf, x, y), traced=False, may_raise=True)


def test_strings_add_up():
    texts = np.array([b"a", b"bc"], object)
    check(lambda tf, x: tf.add(x, x), texts)
    check(lambda tf, x: tf.add(x, "!"), texts)
    check(lambda tf: tf.add("a", "b"), traced=False)


def test_shapes_that_do_not_fit():
    for name in ALL:
        check_raises(call(name), np.ones(2), np.ones(3), message="[2] vs. [3]")


@settings(max_examples=6)
@given(st.data())
def test_add_n(data):
    shape = data.draw(hnp.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3))
    count = data.draw(st.integers(1, 4))
    terms = [
        data.draw(hnp.arrays(np.float64, shape, elements=st.floats(-3, 3))) for _ in range(count)
    ]
    check(lambda tf, *terms: tf.add_n(terms), *terms)
    check(lambda tf, *terms: tf.math.accumulate_n(list(terms)), *terms)


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, np.complex64, np.bool_])
def test_add_n_of_each_dtype(dtype):
    check(
        lambda tf, x: tf.add_n([x, x, x]),
        np.array([1, 3]).astype(dtype),
        smooth=False,
        may_raise=True,
    )


def slices(tf):
    return tf.IndexedSlices(tf.constant([[3.0, 4.0]]), tf.constant([1]), tf.constant([3, 2]))


def test_add_n_of_other_values():
    check(lambda tf: tf.add_n([[1, 2], np.array([3, 4], np.int32)]), traced=False)
    check(lambda tf: tf.add_n(tf.constant([1, 2])), traced=False)
    check(lambda tf: tf.add_n([slices(tf), tf.ones([3, 2])]), traced=False)
    check(lambda tf: tf.add_n(tf.Variable([1.0, 2.0])), traced=False)


@pytest.mark.parametrize(
    "inputs",
    [[], [None, 1.0], 5, [[1, 2], [1, 2, 3]], [[1, 2], 1], [1, 2.5], ["a", "b"], [True, True]],
)
def test_add_n_of_what_does_not_add_up(inputs):
    check_raises(lambda tf: tf.add_n(inputs))


@pytest.mark.parametrize(
    "arguments",
    [{"shape": [3]}, {"tensor_dtype": "float32"}, {"inputs": []}, {"inputs": [[1], [2.5]]}],
)
def test_accumulate_n_of_what_does_not_add_up(arguments):
    arguments = {"inputs": [[1, 2], [3, 4]], **arguments}
    if "tensor_dtype" in arguments:
        check_raises(lambda tf: tf.math.accumulate_n(**{**arguments, "tensor_dtype": tf.float32}))
    else:
        check_raises(lambda tf: tf.math.accumulate_n(**arguments))


def test_scalar_mul():
    check(lambda tf, s, x: tf.scalar_mul(s, x), np.array(2.0), np.array([[1.0, 3.0]]))
    check(lambda tf: tf.scalar_mul(2.0, slices(tf)), traced=False)
    check(lambda tf: tf.scalar_mul(2.0, tf.Variable([1.0])), traced=False)
    check_raises(lambda tf, s, x: tf.scalar_mul(s, x), np.ones(1), np.ones(1))
    check_raises(lambda tf, x: tf.scalar_mul(2.5, x), np.ones(1, np.int32))


def test_polyval():
    check(
        lambda tf, a, b, x: tf.math.polyval([a, b, a], x), np.array(2.0), np.ones(3), np.ones(3) / 2
    )
    check(lambda tf, x: tf.math.polyval([], x), np.ones(3))
    check_raises(lambda tf, x: tf.math.polyval(x, x), np.ones(3))
    check_raises(lambda tf: tf.math.polyval([1, 2], 2.5))


@settings(max_examples=6)
@given(
    x=hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, max_side=3), elements=st.floats(-4, 4))
)
def test_clip_by_value(x):
    x = np.where(np.abs(np.abs(x) - 2) < 1e-3, 0.5, x)
    check(lambda tf, x: tf.clip_by_value(x, -2.0, 2.0), x)


def test_clip_by_value_of_many_kinds():
    def clip(tf, *arguments):
        return tf.clip_by_value(*arguments)

    check(
        clip,
        np.array([1.0, 2, 3, 0, 5, 4]),
        np.array(1.0),
        np.array([2.0, 2, 3, 4, 4, 4]),
        smooth=False,
        may_raise=True,
    )
    check(
        clip, np.array([1.0, np.nan, 9]), np.array(5.0), np.array(3.0), smooth=False, may_raise=True
    )
    check(
        clip,
        np.arange(6.0).reshape(2, 3),
        np.array([0.5, 3.5, 4.5]),
        np.array([[3.2], [4.2]]),
        may_raise=True,
    )
    check(lambda tf: tf.clip_by_value([1, 5, -3], 0, 2), traced=False, may_raise=True)
    check(lambda tf: tf.clip_by_value(slices(tf), 0.0, 3.5), traced=False, may_raise=True)
    for dtype in (*FLOATS, *INTEGERS, np.bool_, np.complex64):
        x = np.array([0, 1, 1]).astype(dtype)
        check(clip, x, x[1], x[1], gradient=False, traced=False, may_raise=True)
    check_raises(clip, np.array(1.0), np.zeros(3), np.array(5.0))
    check_raises(clip, np.ones(2), np.zeros(3), np.array(5.0))
    check_raises(lambda tf: tf.clip_by_value([1, 5, -3], 0.5, 2))


def test_clip_by_norm():
    x = np.array([[3.0, 4.0], [0.3, 0.4]])
    check(lambda tf, x, n: tf.clip_by_norm(x, n), x, np.array(2.0))
    check(lambda tf, x: tf.clip_by_norm(x, 2.0, axes=[1]), x)
    check(lambda tf, x: tf.clip_by_norm(x, 2.0, axes=0), x)
    check(lambda tf, x: tf.clip_by_norm(x, 2.0), np.zeros(3), smooth=False)
    check(lambda tf: tf.clip_by_norm(slices(tf), 1.0), traced=False)
    check_raises(lambda tf: tf.clip_by_norm([3, 4], 1))


def test_global_norm():
    x, y = np.array([3.0, 1.0]), np.array([[4.0]])
    check(lambda tf, x, y: tf.linalg.global_norm([x, None, y]), x, y)
    check(lambda tf, x, y: tf.clip_by_global_norm([x, y], 2.0), x, y)
    check(lambda tf, x, y: tf.clip_by_global_norm((x, y), 100.0), x, y)
    check(lambda tf, x, n: tf.clip_by_global_norm([x], 2.0, use_norm=n), x, np.array(10.0))
    check(lambda tf: tf.clip_by_global_norm([None, slices(tf)], 1.0), traced=False)
    check(lambda tf: tf.clip_by_global_norm([None], 1.0), traced=False)
    check(lambda tf: tf.clip_by_global_norm([tf.constant([np.inf])], 1.0), traced=False)
    check_raises(lambda tf, x: tf.linalg.global_norm(x), x)
    check_raises(lambda tf, x: tf.clip_by_global_norm(x, 1.0), x)
    check_raises(lambda tf: tf.linalg.global_norm([tf.constant(1.0), tf.constant(1.0, tf.float64)]))


def test_add_under_its_older_name():
    def add(tf, x, y):
        return tf.raw_ops.Add(x=x, y=y) if hasattr(tf, "raw_ops") else REGISTRY["Add"](x, y)

    check(add, np.array([1.0, 2.0]), np.array([[3.0]]))
