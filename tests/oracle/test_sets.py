"""Sets against TensorFlow: dense, sparse and mixed."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

FUNCTIONS = ["intersection", "difference", "union"]
DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16]


def parts(sparse):
    return sparse.indices, sparse.values, sparse.dense_shape


def operate(function, sparse_a=False, sparse_b=False, **keywords):
    def call(tf, a, b):
        a = tf.sparse.from_dense(a) if sparse_a else a
        b = tf.sparse.from_dense(b) if sparse_b else b
        return parts(getattr(tf.sets, function)(a, b, **keywords))

    return call


@settings(max_examples=15)
@given(st.data())
def test_operations(data):
    outer = data.draw(st.sampled_from([(3,), (1,), (0,), (2, 2)]))
    dtype = data.draw(st.sampled_from(DTYPES))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))
    a, b = (
        generator.integers(0, 6, (*outer, data.draw(st.integers(0, 4)))).astype(dtype)
        for _ in range(2)
    )
    sparse = data.draw(st.booleans()), data.draw(st.booleans())
    for function in FUNCTIONS:
        check(operate(function, *sparse), a, b)
    check(operate("difference", *sparse, aminusb=False), a, b)


def test_strings_and_negative_numbers():
    check(operate("union"), np.array([[b"b", b"a"]], object), np.array([[b"a", b"c"]], object))
    check(operate("difference"), np.array([[5, -3, 9, 0]]), np.array([[9]]))
    check(lambda tf: parts(tf.sets.union([[1, 2]], [[2, 3]])))


def test_sizes():
    def sizes(tf, indices, values, shape):
        return tf.sets.size(tf.SparseTensor(indices, values, shape))

    values, shape = np.array([7, 7, 8]), np.array([3, 3], np.int64)
    check(sizes, np.array([[0, 0], [0, 1], [2, 0]], np.int64), values, shape)
    shape = np.array([2, 2, 2], np.int64)
    check(sizes, np.array([[0, 0, 0], [0, 1, 1], [1, 1, 0]], np.int64), values, shape)
    check(lambda tf, x: tf.sets.size(tf.sparse.from_dense(x)), np.array([[1, 1, 0], [1, 2, 3]]))


def test_refusals():
    a, b = np.array([[1, 2, 2], [3, 4, 5]], np.int32), np.array([[2, 9], [3, 3]], np.int32)
    for function in FUNCTIONS:
        check_raises(operate(function), a, b.astype(np.int64))
        check_raises(operate(function), a.astype(np.float32), b.astype(np.float32))
        check_raises(operate(function), a.astype(np.uint32), b.astype(np.uint32))
        check_raises(operate(function), a[0], b[0])
        check_raises(operate(function), a, a[None])
        for sparse in ((False, False), (False, True), (True, False), (True, True)):
            check_raises(operate(function, *sparse), a, a[:1])
    check_raises(lambda tf, a: tf.sets.size(a), a)


@pytest.mark.parametrize(
    ("indices", "shape"),
    [([[1, 0], [0, 0]], [2, 2]), ([[0, 0], [5, 0]], [2, 2]), ([[0], [1]], [3])],
)
def test_refusals_of_bad_indices(indices, shape):
    def bad(tf):
        return tf.SparseTensor(indices, [1, 2], shape)

    check_raises(lambda tf: tf.sets.size(bad(tf)))
    check_raises(lambda tf: tf.sets.union(bad(tf), bad(tf)))
    check_raises(lambda tf: tf.sets.union([[1], [2]], bad(tf)))
