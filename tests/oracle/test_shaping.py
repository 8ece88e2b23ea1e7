"""identity, shape, reshape, broadcast_to, expand_dims, squeeze and their kin against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel

DTYPES = [
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.uint16,
    np.int32, np.uint32, np.int64, np.uint64, np.bool_, np.complex64, np.complex128,
]  # fmt: skip
shapes = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3)
arrays = hnp.arrays(np.float64, shapes, elements=st.floats(-9, 9, width=16))
CUBE = np.arange(24.0).reshape(2, 3, 4)
STRINGS = np.array([["a", "bc"], ["", "d"]], object)


@settings(max_examples=8)
@given(arrays)
def test_identity(x):
    check(lambda tf, x: tf.identity(x), x)
    check(lambda tf, x: tf.identity_n([x, tf.constant(1)]), x)
    check(lambda tf, x: [tf.shape(x), tf.shape(x, tf.int64), tf.size(x), tf.rank(x)], x)
    check(lambda tf, x: tf.size(x, tf.int64), x)
    check(lambda tf, x: tf.shape_n([x, x], tf.int64), x)
    check(lambda tf, x: tf.ensure_shape(x, [None] * len(x.shape)), x, traced=False)


def test_guarantee_const():
    # The original has no gradient for it; ours is that of the identity.
    check(lambda tf, x: tf.guarantee_const(x), CUBE, gradient=False)
    x = runnel.constant(3.0)
    with runnel.GradientTape() as tape:
        tape.watch(x)
        y = runnel.guarantee_const(x) * 2.0
    assert float(tape.gradient(y, x)) == 2.0


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: tf.identity(x), lambda tf, x: tf.identity_n([x, x]),
        lambda tf, x: tf.reshape(x, [-1]), lambda tf, x: tf.broadcast_to(x, [2, 2, 3]),
        lambda tf, x: tf.expand_dims(x, 1), lambda tf, x: tf.squeeze(tf.expand_dims(x, 1), 1),
        lambda tf, x: tf.ensure_shape(x, [2, None]),
    ],
)  # fmt: skip
def test_second_derivatives(function):
    check(lambda tf, x: tf.square(function(tf, x)), np.linspace(-1, 2, 6).reshape(2, 3))


def test_identity_of_indexed_slices():
    def slices(tf, values):
        return tf.IndexedSlices(values, tf.constant([0, 2]), tf.constant([3, 2]))

    check(lambda tf, v: tf.identity(slices(tf, v)).values, np.ones((2, 2)), traced=False)
    check(lambda tf, v: tf.shape(slices(tf, v)), np.ones((2, 2)), traced=False)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    x = np.arange(6).reshape(2, 3).astype(dtype)

    def all_of_them(tf, x):
        return [
            tf.identity(x),
            tf.reshape(x, [3, -1]),
            tf.broadcast_to(x, [2, 2, 3]),
            tf.expand_dims(x, 1),
            tf.squeeze(tf.expand_dims(x, 0)),
        ]

    check(all_of_them, x, gradient=dtype == np.float32)


def test_strings():
    check(lambda tf, x: tf.reshape(x, [-1]), STRINGS)
    check(lambda tf, x: tf.broadcast_to(x, [2, 2, 2]), STRINGS)
    check(lambda tf, x: tf.expand_dims(x, 0), STRINGS)
    check(lambda tf, x: tf.squeeze(x), STRINGS[:1, :1])
    check(lambda tf, x: tf.reshape(x, []), STRINGS[:1, :1])


@settings(max_examples=25)
@given(arrays, st.permutations([1, 2, 3]), st.sampled_from([None, 0, 1, 2]))
def test_reshape(x, order, unknown):
    sizes = [*x.shape, 1, 1, 1][:3]
    sizes = [sizes[i - 1] for i in order]
    if unknown is not None:
        sizes[unknown] = -1
    check(lambda tf, x: tf.reshape(x, sizes), x)


@pytest.mark.parametrize(
    "sizes", [24, [24], (4, 6), [-1], np.array([24], np.int16), np.array([2, 12]), [2, 3, 2, 2]]
)
def test_reshape_arguments(sizes):
    check(lambda tf, x: tf.reshape(x, sizes), CUBE)
    check(lambda tf, x: tf.reshape(x, tf.constant(sizes)), CUBE) if np.size(sizes) > 1 else None


def test_reshape_to_the_shape_of_another():
    check(lambda tf, x, y: tf.reshape(x, tf.shape(y)), CUBE, np.zeros((4, 6)))
    check(lambda tf, x: tf.reshape(x, [tf.shape(x)[0], -1]), CUBE)
    check(lambda tf, x: tf.reshape(x, tf.TensorShape([6, 4])), CUBE)
    check(lambda tf, x, sizes: tf.reshape(x, sizes), CUBE, np.array([6, -1]))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ([0, 3], [0, -1]), ([0, 3], [-1, 0]), ([0, 3], [0, -1, 2]), ([0, 3], [-1, 3]),
        ([0], [-1, 0]), ([0, 0], [0, 7]), ([0, 3], [-1]),
    ],
)  # fmt: skip
def test_reshape_of_nothing(old, new):
    check(lambda tf, x: tf.reshape(x, new), np.zeros(old))


@pytest.mark.parametrize(
    "sizes",
    [
        [5, 5], [-1, -1], [-1, 0], [-2, 12], [-1, 7], [[24]], [24.0], 24.0, None, [], "a",
        [2**31, 2**31, 2**31], np.array([-1, -3]),
    ],
)  # fmt: skip
def test_reshape_refuses(sizes):
    check_raises(lambda tf, x: tf.reshape(x, sizes), CUBE)


@settings(max_examples=15)
@given(st.data())
def test_broadcast_to(data):
    wanted = data.draw(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3))
    part = data.draw(hnp.broadcastable_shapes(wanted, max_dims=len(wanted), max_side=3))
    try:
        fits = np.broadcast_shapes(part, wanted) == wanted
    except ValueError:
        fits = False
    if fits:
        x = np.arange(float(np.prod(part))).reshape(part)
        check(lambda tf, x: tf.broadcast_to(x, wanted), x)
        check(lambda tf, x, sizes: tf.broadcast_to(x, sizes), x, np.array(wanted, np.int64))


@pytest.mark.parametrize("sizes", [[2, 2], [2], [-1, 3], 3, 3.0, [3.0], [[3]], None, [3, 1]])
def test_broadcast_to_refuses(sizes):
    check_raises(lambda tf, x: tf.broadcast_to(x, sizes), np.arange(3.0))
    check_raises(lambda tf, x: tf.broadcast_to(x, [3]), CUBE)
    check_raises(lambda tf, x: tf.broadcast_to(x, [3]), np.ones((1, 3)))


@settings(max_examples=12)
@given(arrays, st.integers(-5, 4))
def test_expand_dims(x, axis):
    check(lambda tf, x: tf.expand_dims(x, axis), x, may_raise=True)


@pytest.mark.parametrize("axis", [[1], np.int8(1), np.array(1), [1, 2], 1.0, [1.0], None, "a", 4])
def test_expand_dims_arguments(axis):
    check(lambda tf, x: tf.expand_dims(x, axis), CUBE, may_raise=True)


def test_axis_given_as_tensor():
    check(lambda tf, x, axis: tf.expand_dims(x, axis), CUBE, np.array(-1, np.int64))
    check_raises(lambda tf, x, axis: tf.expand_dims(x, axis), CUBE, np.array(1, np.int8))


@settings(max_examples=15)
@given(
    hnp.arrays(
        np.float64, hnp.array_shapes(min_dims=0, max_dims=4, max_side=2), elements=st.just(1.0)
    ),
    st.sampled_from([None, 0, 1, -1, -3, [0, 1], [0, -1], [0, 0], (2,), []]),
)
def test_squeeze(x, axis):
    check(lambda tf, x: tf.squeeze(x, axis), x, traced=x.ndim > 0, may_raise=True)


@pytest.mark.parametrize("axis", ["a", [[0]], np.array([0]), 3, -4, 1, [0, 1]])
def test_squeeze_refuses(axis):
    check_raises(lambda tf, x: tf.squeeze(x, axis), np.ones((1, 2, 1)))


@pytest.mark.parametrize("shape", [[2, 3, 4], [2, None, 4], None, [None, None, None]])
def test_ensure_shape(shape):
    check(lambda tf, x: tf.ensure_shape(x, shape), CUBE)


@pytest.mark.parametrize("shape", [[3, None, 4], [24], 24, "a", []])
def test_ensure_shape_refuses(shape):
    check_raises(lambda tf, x: tf.ensure_shape(x, shape), CUBE)


@pytest.mark.parametrize(
    ("a", "b"), [([1, 2], [3, 1]), ([], [3]), ([0], [1]), ([2, 1, 3], [4, 1]), ([5], [5])]
)
def test_broadcast_dynamic_shape(a, b):
    check(lambda tf: tf.broadcast_dynamic_shape(a, b))
    x, y = np.array(a, np.int64), np.array(b, np.int64)
    check(lambda tf, x, y: tf.broadcast_dynamic_shape(x, y), x, y)
    check(lambda tf, x: tf.broadcast_dynamic_shape(x, b), x)


@pytest.mark.parametrize(
    ("a", "b"), [([1, 2], [3, 3]), ([1.0], [2]), (2, [2]), ([[2]], [2]), ([0], [3])]
)
def test_broadcast_dynamic_shape_refuses(a, b):
    check_raises(lambda tf: tf.broadcast_dynamic_shape(a, b))


def test_refused_arguments():
    check_raises(lambda tf: tf.identity(None))
    check_raises(lambda tf: tf.identity_n([]))
    check_raises(lambda tf: tf.identity_n(5))
    check_raises(lambda tf, x: tf.shape(x, tf.float32), CUBE)
    check_raises(lambda tf, x: tf.shape_n([x, tf.constant(1)]), CUBE)
    check_raises(lambda tf: tf.shape_n([]))
    check_raises(lambda tf: tf.shape_n(5))
    check_raises(lambda tf, x: tf.size(x, tf.string), CUBE)
    check_raises(lambda tf: tf.rank([[1], [2, 3]]))


def test_messages():
    check_raises(
        lambda tf, x: tf.reshape(x, [5, 5]), CUBE,
        message="Input to reshape is a tensor with 24 values, but the requested shape has 25",
    )  # fmt: skip
    check_raises(
        lambda tf, x: tf.squeeze(x, 1), CUBE,
        message="Can not squeeze dim[1], expected a dimension of 1, got 3",
    )  # fmt: skip
    check_raises(
        lambda tf, x: tf.broadcast_to(x, [2, 2]), np.ones(3),
        message="Incompatible shapes: [3] vs. [2,2]",
    )  # fmt: skip
