"""tensor[key], slice, strided_slice and assignment to slices of variables against TensorFlow."""

import numpy as np
import pytest
from compare import COMPUTED, check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel
from runnel.core.graph.graph import Graph

TABLE = np.arange(6.0).reshape(2, 3)
CUBE = np.arange(24.0).reshape(2, 3, 4)
STRINGS = np.array([["a", "bc"], ["", "d"]], object)
ALL = slice(None)
bounds = st.one_of(st.none(), st.integers(-6, 6))
slices = st.builds(slice, bounds, bounds, st.one_of(st.none(), st.integers(-3, 3)))
entries = st.one_of(st.integers(-4, 3), slices, st.none(), st.just(Ellipsis))
arrays = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
    elements=st.floats(-9, 9, width=16),
)


@settings(max_examples=60)
@given(arrays, st.one_of(entries, st.lists(entries, max_size=4).map(tuple)))
def test_any_key(x, key):
    check(lambda tf, x: x[key], x, may_raise=True)


@pytest.mark.parametrize(
    "key",
    [
        0, -1, 1, (0, 1), (0, ALL), (ALL, 0), ALL, slice(1, None), slice(None, None, -1), Ellipsis,
        None, (None, Ellipsis, None), (Ellipsis, 0), (0, Ellipsis), (ALL, None, slice(0, 2)), (),
        [0, 1], [0], [slice(0, 1), 1], [], np.int64(1), np.array(1), np.uint8(1),
        (slice(None, None, 2), slice(2, 0, -1)), slice(5, None), slice(None, 5), slice(-5, None),
        slice(2**40, None), slice(None, 2**40), slice(np.int32(0), np.int64(1)), (0, True),
    ],
)  # fmt: skip
def test_keys(key):
    check(lambda tf, x: x[key], TABLE)


@pytest.mark.parametrize(
    "key", [0, (1, 2), ALL, slice(None, None, -2), (ALL, 1), (Ellipsis, None, 0), (0, slice(1, 3))]
)
def test_second_derivatives(key):
    check(lambda tf, x: tf.square(x[key]), TABLE)
    check(lambda tf, x, n: tf.square(x[:, n:]), TABLE, np.array(1))
    check(lambda tf, x: tf.square(tf.slice(x, [0, 1], [2, -1])), TABLE)


@pytest.mark.parametrize(
    "key",
    [
        2, -3, (0, 3), (0, -4), (0, 0, 0), (Ellipsis, 0, 0, 0), (0, Ellipsis, 0, Ellipsis), 0.0,
        1.5, "a", b"a", 1j, {}, (0, [1]), slice(0, 1.5), slice(0, "a"), slice(None, None, 0),
        (0, slice(None, None, 0)), np.array([0]), np.float32(0), np.bool_(True), True, False,
        2**40,
        2**31, slice(None, 2**70), [True, False], range(2), (np.array([True, False]), 0),
        slice(np.float32(0), 1),
    ],
)  # fmt: skip
def test_keys_refused(key):
    check_raises(lambda tf, x: x[key], TABLE)


def test_messages():
    check_raises(lambda tf, x: x[5], TABLE, message="slice index 5 of dimension 0 out of bounds.")
    check_raises(lambda tf, x: x[0, -4], TABLE, message="slice index -1 of dimension 1 out of")
    check_raises(lambda tf, x: x[0], np.array(1.0), message="Attempting to slice scalar input.")
    check_raises(lambda tf, x: x[::0], TABLE, message="strides[0] must be non-zero")
    check_raises(lambda tf, x: x[0.5], TABLE, message="Only integers, slices")


def test_keys_with_tensors():
    two = np.array(2)
    check(lambda tf, x, n: x[n], CUBE, np.array(1, np.int32))
    check(lambda tf, x, n: x[n], CUBE, np.array(-1, np.int64))
    # The original cannot differentiate through an int16 index.
    check(lambda tf, x, n: x[n], CUBE, np.array(1, np.int16), gradient=False)
    check(lambda tf, x, n: x[:n], CUBE, two)
    check(lambda tf, x, n: x[0, n:], CUBE, two)
    check(lambda tf, x, n: x[..., n - 1 : n + 1], CUBE, two)
    check(lambda tf, x, n: x[:, n, None, :: n - 3], CUBE, two)
    check(lambda tf, x, n, m: x[n:m], CUBE, np.array(0), np.array(2, np.int32))
    check(lambda tf, x, n: x[n, n], CUBE, np.array(1))
    check(lambda tf, x: x[tf.Variable(1)], CUBE, traced=False)
    check(lambda tf, x: x[tf.shape(x)[0] - 1], CUBE)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float32])
def test_tensors_that_are_no_index(dtype):
    check_raises(lambda tf, x, n: x[n], TABLE, np.array(1, dtype))
    check_raises(lambda tf, x, n: x[n:], TABLE, np.array(1, dtype))


def test_vectors_are_no_index():
    check_raises(lambda tf, x, n: x[n], TABLE, np.array([0]))
    check_raises(lambda tf, x, n: x[n], TABLE, np.array([[0, 1]]))
    check_raises(lambda tf, x, n: x[0, n], TABLE, np.array([True, False, True]))


def test_masks():
    check(lambda tf, x: x[x > 2], TABLE, smooth=False)
    check(lambda tf, x, m: x[m], TABLE, np.array([True, False]))
    check(lambda tf, x: x[np.array([[True, False, True], [False, False, True]])], TABLE)
    check(lambda tf, x: x[np.array([True, False])], TABLE)
    check_raises(lambda tf, x, m: x[m], TABLE, np.array([True, False, True]))
    check_raises(lambda tf, x, m: x[m], TABLE, np.array(True))


def test_other_dtypes():
    check(lambda tf, x: [x[0], x[0, 1], x[:, ::-1], x[1, ..., None]], STRINGS)
    check(lambda tf, x: x[1], STRINGS[0])
    check(lambda tf, x: [x[0], x[1:]], np.array([True, False]))
    check(lambda tf, x: [x[0], x[1:]], np.array([1 + 1j, 2]))


@settings(max_examples=40)
@given(arrays, st.data())
def test_strided_slice(x, data):
    length = data.draw(st.integers(0, 4))
    numbers = st.lists(st.integers(-5, 5), min_size=length, max_size=length)
    begin, end = data.draw(numbers), data.draw(numbers)
    strides = data.draw(st.lists(st.integers(-2, 2), min_size=length, max_size=length))
    names = ["begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"]
    masks = {name: data.draw(st.integers(0, 15)) for name in names}
    masks["ellipsis_mask"] &= -masks["ellipsis_mask"]  # at most one
    vectors = [np.array(vector, np.int32) for vector in (begin, end, strides)]
    check(
        lambda tf, x, *v: tf.strided_slice(x, *v, **masks),
        x,
        *vectors,
        gradient=False,
        may_raise=True,
    )


def test_strided_slice_arguments():
    check(lambda tf, x: tf.strided_slice(x, [0, 1], [2, 3]), TABLE)
    check(lambda tf, x: tf.strided_slice(x, [1], [0], [-1]), TABLE)
    check_raises(lambda tf, x: tf.strided_slice(x, [0], [1, 1]), TABLE)
    check_raises(lambda tf, x: tf.strided_slice(x, 0, 1), TABLE)
    check_raises(lambda tf, x: tf.strided_slice(x, [0], [1], [0]), TABLE)
    check_raises(lambda tf, x: tf.strided_slice(x, [0, 0.0], [1, 1]), TABLE)
    check_raises(lambda tf, x: tf.strided_slice(x, [0, 0], [1, 1], ellipsis_mask=3), TABLE)
    check_raises(
        lambda tf, x: tf.strided_slice(x, [0, 0], [1, 1], [-1, 1], shrink_axis_mask=1), TABLE
    )
    v = lambda tf: tf.Variable([1.0, 2.0, 3.0])  # noqa: E731
    check(lambda tf: tf.strided_slice(v(tf), [0], [2]), traced=False)
    check(lambda tf: slice_and_assign(tf, v(tf)), traced=False)


def slice_and_assign(tf, v):
    tf.strided_slice(v, [0], [2], var=v, name="part").assign([7.0, 8.0])
    return v


@settings(max_examples=25)
@given(arrays, st.data())
def test_slice(x, data):
    begin = [data.draw(st.integers(0, size)) for size in x.shape]
    size = [data.draw(st.integers(-1, n - b)) for n, b in zip(x.shape, begin, strict=True)]
    begin, size = np.array(begin, np.int64), np.array(size, np.int64)
    check(lambda tf, x: tf.slice(x, begin, size), x)
    check(lambda tf, x, begin, size: tf.slice(x, begin, size), x, begin, size)


@pytest.mark.parametrize(
    ("begin", "size"),
    [
        ([0, 1], [1, 3]), ([0, 4], [1, 0]), ([-1, 0], [1, 1]), ([0, 0], [-2, 1]), ([0], [1]),
        ([0, 0, 0], [1, 1, 1]), (0, 1), ([0, 0.0], [1, 1]), ([0, 0], [1]), ([[0, 0]], [[1, 1]]),
        ([], []), (np.array([0, 0], np.int16), [1, 1]), (None, [1, 1]),
    ],
)  # fmt: skip
def test_slice_refuses(begin, size):
    check_raises(lambda tf, x: tf.slice(x, begin, size), TABLE)


def test_slice_of_mixed_arguments():
    check(lambda tf, x, n: tf.slice(x, [0, n], [1, 2]), TABLE, np.array(1, np.int32))
    check(lambda tf, x: tf.slice(x, [0, 1], [-1, -1]), STRINGS)


# Variables.

KEYS = [
    0, -1, slice(0, 2), ALL, slice(None, None, -1), slice(None, None, 2), (0, 1), (ALL, 1),
    Ellipsis, (Ellipsis, None), None, (None, slice(0, 1)), (1, slice(2, 0, -1)), slice(0, 0), (),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_variable_slices(key):
    def assigned(tf, x):
        v = tf.Variable(x)
        part = v[key]
        result = v[key].assign(part * 2 + 100)
        return [part, v, result]

    check(assigned, TABLE, gradient=False, traced=False)
    check(lambda tf: v_gradient(tf, key), traced=False)


def v_gradient(tf, key):
    v = tf.Variable(TABLE)
    with tf.GradientTape() as tape:
        y = v[key] * v[key]
    return tape.gradient(y, v)


@pytest.mark.parametrize(
    "value",
    [1.0, 7, [5.0, 6.0], [[5.0, 6.0]], [1.0], [1.0, 2.0, 3.0], np.ones((2, 2)), "a", [], None],
)
def test_assigned_values(value):
    def assigned(tf):
        v = tf.Variable([1.0, 2.0, 3.0])
        try:
            v[0:2].assign(value)
        except (ValueError, TypeError, tf.errors.InvalidArgumentError) as error:
            return [type(error).__name__, v]
        return v

    check(assigned, traced=False)


def test_assigned_tensor_of_another_dtype():
    check_raises(lambda tf: tf.Variable([1.0, 2.0])[0].assign(tf.constant(1)))
    check_raises(lambda tf: tf.Variable([1.0, 2.0])[2].assign(1.0))
    check_raises(lambda tf: tf.Variable([1.0, 2.0])["a"])


def test_variable_masks():
    check(lambda tf: tf.Variable([1.0, 2.0])[tf.constant([True, False])], traced=False)
    check_raises(lambda tf: tf.Variable([1.0, 2.0])[tf.constant([True])])


def test_variable_slices_of_strings():
    def assigned(tf):
        v = tf.Variable(["a", "b", "c"])
        v[1].assign("z")
        v[2:].assign(["y"])
        return v

    check(assigned, traced=False)


def test_adding_to_a_slice():
    v = runnel.Variable([1.0, 2.0, 3.0])
    v[:2].assign_add([10.0, 20.0])
    assert v.numpy().tolist() == [11.0, 22.0, 3.0]
    v[1:].assign_sub(1.0)
    assert v.numpy().tolist() == [11.0, 21.0, 2.0]


def test_variable_slices_in_a_graph():
    v = runnel.Variable([1.0, 2.0, 3.0])
    graph = Graph()
    with graph.as_default():
        before = v[1:] * 2.0
        v[1:].assign([5.0, 6.0])
        after = v[1:] * 2.0
    COMPUTED.update(operation.type for operation in graph.operations)
    values = [array.tolist() for array in graph.compute([before, after], {})]
    assert values == [[4.0, 6.0], [10.0, 12.0]]
    assert v.numpy().tolist() == [1.0, 5.0, 6.0]
