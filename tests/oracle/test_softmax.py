"""softmax and log_softmax against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

NAMES = ["softmax", "log_softmax"]
EDGES = np.array(
    [
        [1000.0, 0, -1000],
        [np.inf, 0, 0],
        [-np.inf, 0, 1],
        [-np.inf, -np.inf, -np.inf],
        [np.nan, 1, 2],
        [np.inf, np.inf, 1],
        [3.4e38, -3.4e38, 0],
    ],
    np.float32,
)


def call(name, axis=None):
    return lambda tf, x: getattr(tf.nn, name)(x, axis=axis)


@st.composite
def logits_and_axis(draw):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=4))
    axis = draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    return draw(hnp.arrays(np.float64, shape, elements=st.floats(-5, 5))), axis


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=15)
@given(case=logits_and_axis())
def test_value_and_derivatives(name, case):
    logits, axis = case
    check(call(name, axis), logits)


@pytest.mark.parametrize("name", NAMES)
def test_edges(name):
    check(call(name), EDGES, gradient=False)
    check(call(name), EDGES[[0, 2]], smooth=False, second_order=False)


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, np.float64])
@pytest.mark.parametrize("name", NAMES)
def test_floats(name, dtype):
    x = np.array([[1.0, 2.0, 3.5], [-20.0, 0.0, 10.0]]).astype(dtype)
    check(call(name), x, second_order=np.dtype(dtype).itemsize > 2)


@pytest.mark.parametrize("classes", [2, 10, 23, 24, 1000])
@pytest.mark.parametrize("name", NAMES)
def test_many_rows(name, classes):
    logits = np.random.default_rng(classes).normal(size=(6, 100, classes)).astype(np.float32)
    logits[0, 0, 0] = np.nan
    check(call(name), logits, gradient=False)
    check(call(name, axis=1), logits, gradient=False)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("x", [[1, 2], [True], ["a"], [1j], 1.0, None])
def test_refused(name, x):
    check_raises(lambda tf: call(name)(tf, x))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("axis", [2, -3, 9, [0], (0, 1)])
def test_wrong_axis(name, axis):
    check_raises(lambda tf: call(name, axis)(tf, [[1.0, 2.0]]))


@pytest.mark.parametrize("name", NAMES)
def test_axis_as_tensor(name):
    check(lambda tf, x: getattr(tf.nn, name)(x, axis=tf.constant(0)), np.array([[1.0, 2], [3, 5]]))
    axis = np.array(-2, np.int32)
    check(lambda tf, x, axis: getattr(tf.nn, name)(x, axis), np.array([[1.0, 2]]), axis)
