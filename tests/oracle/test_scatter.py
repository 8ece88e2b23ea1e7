"""scatter_nd and tensor_scatter_nd_* against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

TABLE = np.arange(6.0).reshape(2, 3)
NUMBERS = [
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.uint8, np.int16, np.uint16,
    np.int32, np.int64,
]  # fmt: skip
CHANGES = ["add", "sub", "max", "min", "update"]


def change(name):
    return lambda tf, x, i, u: getattr(tf, f"tensor_scatter_nd_{name}")(x, i, u)


@st.composite
def scatters(draw, repeated=True):
    """The shape of a tensor, index vectors into it and updates to it."""
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=3, max_side=3))
    depth = draw(st.integers(1, len(shape)))
    outer = draw(hnp.array_shapes(min_dims=1, max_dims=2, min_side=0, max_side=3))
    dtype = draw(st.sampled_from([np.int32, np.int64]))
    columns = [
        draw(hnp.arrays(dtype, outer, elements=st.integers(0, size - 1))) for size in shape[:depth]
    ]
    indices = np.stack(columns, -1)
    if not repeated:
        indices = np.unique(indices.reshape(-1, depth), axis=0)
        outer = indices.shape[:1]
    updates = draw(
        hnp.arrays(np.float64, outer + shape[depth:], elements=st.floats(-9, 9), unique=True)
    )
    return shape, indices, updates


@settings(max_examples=25)
@given(scatters())
def test_scatter_nd(case):
    shape, indices, updates = case
    check(lambda tf, i, u: tf.scatter_nd(i, u, shape), indices, updates)
    sizes = np.array(shape, indices.dtype)
    check(lambda tf, i, u, n: tf.scatter_nd(i, u, n), indices, updates, sizes)


@pytest.mark.parametrize("name", ["add", "sub"])
@settings(max_examples=15)
@given(scatters())
def test_add_and_subtract(name, case):
    shape, indices, updates = case
    check(change(name), np.linspace(-5, 5, int(np.prod(shape))).reshape(shape), indices, updates)


@pytest.mark.parametrize("name", ["max", "min", "update"])
@settings(max_examples=12)
@given(scatters(repeated=False))
def test_extremes_and_replacement(name, case):
    shape, indices, updates = case
    x = np.linspace(-5.1, 5.2, int(np.prod(shape))).reshape(shape)
    check(change(name), x, indices, updates)


@pytest.mark.parametrize("name", CHANGES)
def test_repeated_indices(name):
    x, indices = np.array([1.0, 2.0, 3.0]), np.array([[0], [0], [1], [0]])
    check(change(name), x, indices, np.array([5.0, -6.0, 2.0, 5.0]), smooth=False)
    table, rows = np.arange(6.0).reshape(3, 2), np.array([[1.0, -9], [7, 2], [2, 2], [7, 5]])
    check(change(name), table, indices, rows, smooth=False)


@pytest.mark.parametrize("name", CHANGES)
def test_second_derivatives(name):
    indices, updates = np.array([[2], [0]]), np.array([[5.5, -6.0], [0.5, 9.0]])
    x = np.arange(6.0).reshape(3, 2)
    check(lambda tf, x, u: tf.square(change(name)(tf, x, indices, u)), x, updates)
    check(lambda tf, u: tf.square(tf.scatter_nd(indices, u, [4, 2])), updates)


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", CHANGES)
def test_every_dtype(name, dtype):
    x, updates = np.arange(6).reshape(3, 2).astype(dtype), np.array([[7, 1], [2, 9]]).astype(dtype)
    for indices in ([[0], [2]], [[1], [1]]):
        check(change(name), x, np.array(indices), updates, gradient=False)
        check(
            lambda tf, i, u: tf.scatter_nd(i, u, [3, 2]), np.array(indices), updates, gradient=False
        )


def test_other_dtypes():
    flags, words = np.array([True, True]), np.array(["a", "b"], object)
    twice = np.array([[0], [0]])
    check(lambda tf, u: tf.scatter_nd(twice, u, [3]), flags)
    check(lambda tf, u: tf.scatter_nd(twice, u, [3]), words)
    check(lambda tf, u: tf.scatter_nd(twice, u, [3]), np.array([1 + 1j, 2]), gradient=False)
    check(lambda tf, u: tf.tensor_scatter_nd_update(u, [[1]], ["z"]), words)
    check(lambda tf, u: tf.tensor_scatter_nd_update(u, [[1]], [False]), flags)
    check(lambda tf, u: tf.tensor_scatter_nd_sub(u, [[1]], [1 + 2j]), np.array([1 + 1j, 2]))
    for name in ("add", "max"):
        check_raises(
            lambda tf, u, i, v, n=name: change(n)(tf, u, i, v), words, twice[:1], words[:1]
        )
        check_raises(
            lambda tf, u, i, v, n=name: change(n)(tf, u, i, v), flags, twice[:1], flags[:1]
        )


@pytest.mark.parametrize("name", ["max", "min"])
def test_nan(name):
    x, updates = np.array([1.0, np.nan, 2.0]), np.array([np.nan, 5.0, np.nan, 3.0])
    check(change(name), x, np.array([[0], [1], [2], [2]]), updates, gradient=False)


@pytest.mark.parametrize("policy", ["", "DEFAULT", "ERROR", "IGNORE", "x"])
def test_bad_indices(policy):
    indices = np.array([[0], [4], [-1]])
    updates = np.array([1.0, 2.0, 3.0])
    options = {"bad_indices_policy": policy}
    check(
        lambda tf, u: tf.scatter_nd(indices, u, [4], **options),
        updates,
        gradient=False,
        may_raise=True,
    )
    check(
        lambda tf, u: tf.tensor_scatter_nd_add([1.0, 2.0], indices, u, **options), updates,
        gradient=False, may_raise=True)  # fmt: skip


@pytest.mark.parametrize(
    ("indices", "updates", "shape"),
    [
        ([[0], [4]], [1.0, 2], [4]), ([[0], [2]], [1.0, 2, 3], [4]),
        ([[0], [2]], [[1.0], [2]], [4]),
        ([[0, 0, 0]], [1.0], [4, 2]), ([0, 2], 1.0, [4, 2]), ([0, 2], [1.0, 2], [4]), (0, 1.0, [4]),
        ([[0]], [1.0], 4), ([[0]], [1.0], []), ([[0]], [1.0], [-4]), ([[0.0]], [1.0], [4]),
        ([[0], [0]], [1, 2], [0]), ([[]], [1.0], [3]), (None, [1.0], [3]), ([[0]], None, [3]),
    ],
)  # fmt: skip
def test_scatter_nd_refuses(indices, updates, shape):
    check_raises(lambda tf: tf.scatter_nd(indices, updates, shape))


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize(
    ("indices", "updates"),
    [
        ([[0], [3]], [5, 6]), ([[0], [-1]], [5, 6]), ([[0], [1]], [5, 6, 7]),
        ([[0], [1]], [5.5, 6]),
        ([0, 1], [5, 6]), (0, 5), ([[0]], 5), ([[0, 0]], [5]), ([[0.0]], [5]), ([[0]], ["a"]),
    ],
)  # fmt: skip
def test_tensor_scatter_refuses(name, indices, updates):
    check_raises(lambda tf: change(name)(tf, [1, 2, 3], indices, updates))


def test_scatter_of_nothing():
    nowhere, nothing = np.zeros((0, 1), np.int32), np.zeros(0)
    check(lambda tf, i, u: tf.scatter_nd(i, u, [0]), nowhere, nothing)
    check(lambda tf, i, u: tf.scatter_nd(i, u, [3]), nowhere, nothing)
    check(change("update"), np.zeros(0), nowhere, nothing)
    check_raises(change("update"), np.zeros(0), np.array([[0]]), np.array([5.0]))


def test_message():
    check_raises(
        lambda tf: tf.scatter_nd([[0], [4]], [1.0, 2], [4]),
        message="indices[1] = [4] does not index into shape [4]",
    )
