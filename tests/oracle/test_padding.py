"""tf.pad against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

TABLE = np.arange(6.0).reshape(2, 3)
arrays = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
    elements=st.floats(-9, 9, width=16),
)


@settings(max_examples=15)
@given(arrays, st.data())
def test_constant(x, data):
    paddings = data.draw(hnp.arrays(np.int32, (x.ndim, 2), elements=st.integers(0, 2)))
    check(lambda tf, x: tf.pad(x, paddings), x)
    check(lambda tf, x, p: tf.pad(x, p, constant_values=7), x, paddings.astype(np.int64))


@pytest.mark.parametrize("mode", ["REFLECT", "SYMMETRIC", "reflect", "symmetric"])
@settings(max_examples=8)
@given(arrays.filter(lambda x: x.size), st.data())
def test_mirrored(mode, x, data):
    most = 1 if mode.upper() == "REFLECT" else 0
    paddings = [
        [data.draw(st.integers(0, max(size - most, 0))) for _ in range(2)] for size in x.shape
    ]
    paddings = np.array(paddings, np.int32).reshape(x.ndim, 2)
    check(lambda tf, x: tf.pad(x, paddings, mode), x)
    check(lambda tf, x, p: tf.pad(x, p, mode), x, paddings)


@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_second_derivatives(mode):
    check(lambda tf, x: tf.square(tf.pad(x, [[1, 1], [0, 2]], mode)), TABLE)
    check(lambda tf, x, p: tf.square(tf.pad(x, p, mode)), TABLE, np.array([[1, 0], [2, 1]]))


@pytest.mark.parametrize(
    "dtype", [ml_dtypes.bfloat16, np.float16, np.int8, np.uint16, np.int64, np.bool_, np.complex64]
)
@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT", "SYMMETRIC"])
def test_every_dtype(dtype, mode):
    x = np.arange(6).reshape(2, 3).astype(dtype)
    check(lambda tf, x: tf.pad(x, [[1, 1], [2, 0]], mode), x, gradient=False)


def test_strings():
    x = np.array(["a", "bc", ""], object)
    check(lambda tf, x: tf.pad(x, [[1, 2]]), x)
    check(lambda tf, x: tf.pad(x, [[1, 2]], constant_values="z"), x)
    check(lambda tf, x: tf.pad(x, [[1, 2]], "REFLECT"), x)


@pytest.mark.parametrize("value", [0, 0.0, 5, 2.5, True, np.nan, np.float64(3), [5], None, "a"])
def test_constant_values(value):
    check(
        lambda tf, x: tf.pad(x, [[1, 0], [0, 1]], constant_values=value),
        TABLE,
        smooth=False,
        may_raise=True,
    )
    check(lambda tf, x: tf.pad(x, [[1, 0]], constant_values=value), np.arange(3), may_raise=True)


def test_constant_values_as_tensors():
    # The original gives the constant no gradient, so finite differences would disagree.
    check(
        lambda tf, x, c: tf.pad(x, [[1, 0], [0, 1]], constant_values=c), TABLE, np.array(2.0),
        smooth=False,
    )  # fmt: skip
    check_raises(
        lambda tf, x, c: tf.pad(x, [[1, 0], [0, 1]], constant_values=c), TABLE, np.array(1)
    )


@pytest.mark.parametrize(
    "paddings",
    [
        [[1, 1]], [[1, 1], [2, -1]], [[1, 1], [2, 2.0]], 2, 2.0, [1, 1, 2, 2], None,
        [[1, 1, 1], [2, 2, 2]], [], "a",
    ],
)  # fmt: skip
@pytest.mark.parametrize("mode", ["CONSTANT", "REFLECT"])
def test_paddings_refused(paddings, mode):
    check_raises(lambda tf, x: tf.pad(x, paddings, mode), TABLE)


@pytest.mark.parametrize(
    ("paddings", "mode"),
    [
        ([[2, 0], [0, 0]], "REFLECT"), ([[0, 0], [0, 3]], "REFLECT"),
        ([[3, 0], [0, 0]], "SYMMETRIC"), ([[0, 0], [-1, 0]], "SYMMETRIC"),
        ([[0, 0], [0, 0]], "EDGE"),
    ],
)  # fmt: skip
def test_mirror_refuses(paddings, mode):
    check_raises(lambda tf, x: tf.pad(x, paddings, mode), TABLE)
    check_raises(lambda tf, x: tf.pad(x, [[1, 0]], "REFLECT"), np.zeros(0))
