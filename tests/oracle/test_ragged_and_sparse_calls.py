"""Calls of public functions with ragged and sparse tensors, eager and traced of unknown sizes.

Each call gives the same values, dtypes, shapes and row splits as in TensorFlow, or an exception of
the same class, both times.
"""

import contextlib

import numpy as np
import pytest
import tensorflow
from compare import _class_name, assert_close

import runnel

RAGGED = """
tf.gather(rows([[1, 5], [2, 3, 4]]), [1, 0], batch_dims=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), [[1, 0], [2, 1]], batch_dims=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), [[[1, 0]], [[2, 1]]], batch_dims=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), rows([[[1, 0]], [[2], [1]]]), batch_dims=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), [1, 0], axis=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), 0, axis=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), [[0], [1]], axis=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), rows([[0], [1, 0]]), axis=1)
tf.gather(rows([[1, 5], [2, 3, 4]]), [[0, 1], [1, 1]])
tf.gather(rows([[1, 5], [2, 3, 4]]), [7], axis=1)
tf.gather(rows([[[1], [5, 6]], [[2], [3, 4]]]), [[1, 0], [1, 1]], batch_dims=1)
tf.gather(rows([[[1], [5, 6]], [[2], [3, 4]]]), [0, 0], axis=2)
tf.gather(rows([[[1], [5, 6]], [[2], [3, 4]]]), rows([[0], [1, 0]]), axis=1)
tf.gather(rows([[[1], [5, 6]], [[2], [3, 4]]]), [[0, 0], [0, 0]], axis=2, batch_dims=1)
tf.gather(rows([[[1], [5]], [[2]]]), [[[0], [1]], [[0], [0]]], batch_dims=2)
tf.gather(dense([[1, 2, 3], [4, 5, 6]]), rows([[0, 1], [2]]), batch_dims=1)
tf.gather(dense([[1, 2, 3], [4, 5, 6]]), rows([[0, 1], [2]]), axis=1)
tf.gather(dense([[[1, 2, 3], [4, 5, 6]]]), rows([[0, 1], [0]]), axis=2)
tf.matmul(rows([[1., 2], [3, 4]]), dense([[1.], [2]]))
tf.matmul(rows([[1., 2, 5], [3, 4]]), dense([[1., 2]]), transpose_b=True)
tf.matmul(rows([[[1., 2], [3, 4]], [[5]]]), rows([[[1.], [3]], [[5]]]))
tf.matmul(rows([[[1., 2], [3, 4]], [[5]]]), rows([[[1.], [3]], [[5]]]), transpose_a=True)
tf.matmul(rows([[[1., 2], [3, 4]], [[5, 6]]]), dense([[[1.], [3]], [[5], [6]]]))
tf.matmul(rows([[[1., 2], [3, 4]], [[5]]]), dense([[[1.], [3]], [[5], [6]]]))
tf.matmul(dense([[[1., 2], [3, 4]]]), rows([[[1.], [3]]]))
tf.matmul(rows([[[1., 2], [3, 4]], [[5, 6]]], 1), dense([[[1.], [3]], [[5], [6]]]))
tf.matmul(rows([[[1., 2], [3, 4]], [[5, 6]]], 1), rows([[[1., 2]], [[5, 6]]], 1), transpose_b=True)
tf.matmul(rows([[[[1., 2], [3, 4]], [[5, 6]]]], 2), dense([[[[1.], [3]], [[5], [6]]]]))
tf.strings.reduce_join(rows([['a', 'b'], [], ['c']]), axis=0, keepdims=True, separator='-')
tf.strings.reduce_join(rows([[['a', 'b'], ['c']], [], [['d']]]), axis=1, separator='-')
tf.strings.reduce_join(rows([[['a', 'b'], ['c']], [], [['d']]]), axis=0)
tf.strings.reduce_join(rows([[['a', 'b'], ['c', 'd']], []], 1), axis=1)
tf.strings.format('{} and {}', (rows([[1.5], [2, 3]]), dense([1])))
tf.strings.format('{}', rows([['a'], ['b', 'c']]))
tf.strings.format('{}', rows([[1] * 9, [True] * 8, []] * 5), summarize=2)
tf.ones_like(rows([[1, 2], [3]]), dtype=tf.float32)
tf.zeros_like(rows([['a', 'b'], ['c']]), dtype=tf.int64)
tf.ragged.stack([[1, 2], [3]])
tf.ragged.stack([dense([[1, 2]]), dense([[3], [4]])])
tf.ragged.stack(rows([[1], [2, 3]]))
tf.ragged.stack([dense([1, 2]), dense([3, 4])], axis=1)
tf.ragged.constant([], ragged_rank=2)
tf.ragged.constant([[]], ragged_rank=2)
tf.ragged.segment_ids_to_row_splits([3, 1, 0, 3], num_segments=5)
tf.ragged.segment_ids_to_row_splits([5], num_segments=2)
tf.ragged.stack_dynamic_partitions([1, 2], [0, 5], 3)
tf.split(rows([[1, 2], [3, 5], [4], []]), 2)
tf.math.unsorted_segment_sum(rows([[1., 2], [3]]), [1, 5], 2)
rows([[1, 2], [3]]) + 1.5
rows([[1, 2], [3]])[True]
tf.Variable(rows([[1, 2], [3]]))
tf.py_function(lambda x: x * 2, [rows([[1], [2, 3]])], tf.RaggedTensorSpec([None, None], tf.int32))
tf.py_function(lambda x: x, [dense(3)], [tf.int32])
tf.math.top_k(rows([[1, 2], [3, 5]]), 1)
tf.transpose(rows([[1, 2], [3, 5]]))
"""

SPARSE = """
tf.sparse.softmax(places([1., 2]))
tf.sparse.split(places([[1, 0, 3], [0, 2, 0]]), 5, axis=1)
tf.sparse.split(places([[1, 0, 3], [0, 2, 0]]), 0, axis=1)
tf.sparse.segment_sum(dense([[1., 2], [3, 4]]), [0, 1], [0])
tf.sparse.bincount(dense([-1]))
tf.py_function(tf.sparse.reduce_sum, [places([[1, 2]])], tf.int32)
tf.py_function(tf.sparse.from_dense, [dense([[1, 0]])], tf.SparseTensorSpec([None, None], tf.int32))
tf.exp(places([[1., 0]]))
tf.Variable(places([[1., 0]]))
"""

ATTRIBUTES = """
tf.strings.length(dense(['a']), unit='x')
tf.strings.substr(dense(['a']), 0, 1, unit='x')
tf.strings.unicode_decode(dense(['a']), 'UTF-8', errors='x')
tf.strings.unicode_encode(dense([65]), 'UTF-9')
tf.strings.unicode_transcode(dense(['a']), 'UTF-8', 'UTF-9')
tf.strings.to_hash_bucket_fast(dense(['a']), 0)
tf.strings.to_number(dense(['1']), tf.string)
"""


def lines(text):
    return [line for line in text.split("\n") if line]


class Maker:
    """Gives a call its tensors: made where it stands, or arguments of a function around it."""

    def __init__(self, tf, given=None):
        self._tf = tf
        self._given = given
        self.made = []

    def _next(self, make):
        if self._given is not None:
            return next(self._given)
        self.made.append(make())
        return self.made[-1]

    def evaluate(self, call):
        tf = self._tf
        names = {
            "tf": tf,
            "rows": lambda value, rank=None: self._next(
                lambda: tf.ragged.constant(value, ragged_rank=rank)
            ),
            "places": lambda value: self._next(lambda: tf.sparse.from_dense(value)),
            "dense": lambda value: self._next(lambda: tf.constant(value)),
        }
        return eval(call, names)


def of_unknown_sizes(tf, value):
    if isinstance(value, tf.RaggedTensor):
        inner = value.flat_values.shape[1:]
        shape = [None] * (value.ragged_rank + 1) + list(inner)
        return tf.RaggedTensorSpec(shape, value.dtype, value.ragged_rank, value.row_splits.dtype)
    shape = [None] * len(value.shape)
    if isinstance(value, tf.SparseTensor):
        return tf.SparseTensorSpec(shape, value.dtype)
    return tf.TensorSpec(shape, value.dtype)


def eagerly(tf, call):
    return Maker(tf).evaluate(call)


def traced(tf, call):
    return tf.function(lambda: Maker(tf).evaluate(call), autograph=False)()


def unknown(tf, call):
    maker = Maker(tf)
    # What it made until it failed is what matters.
    with contextlib.suppress(Exception):
        maker.evaluate(call)
    specs = [of_unknown_sizes(tf, value) for value in maker.made]

    def function(*arguments):
        return Maker(tf, iter(arguments)).evaluate(call)

    return tf.function(function, input_signature=specs, autograph=False)(*maker.made)


def described(tf, value):
    """What is compared: kinds, dtypes, shapes, numbers of rows, and arrays."""
    if isinstance(value, list | tuple):
        return [part for each in value for part in described(tf, each)]
    if isinstance(value, tf.RaggedTensor):
        return [str(value.shape), *described(tf, [value.flat_values, *value.nested_row_splits])]
    if isinstance(value, tf.SparseTensor):
        return described(tf, [value.indices, value.values, value.dense_shape])
    return [value.dtype.name, np.asarray(value.numpy())]


@pytest.mark.parametrize("way", [eagerly, unknown])
@pytest.mark.parametrize("call", lines(RAGGED + SPARSE + ATTRIBUTES))
def test_same(call, way):
    assert_same(call, way)


@pytest.mark.parametrize("call", lines(RAGGED + SPARSE)[::6])
def test_same_of_constants(call):
    assert_same(call, traced)


def assert_same(call, way):
    found = []
    for tf in (tensorflow, runnel):
        try:
            found.append(described(tf, way(tf, call)))
        except Exception as failure:
            found.append(_class_name(failure))
    expected, actual = found
    assert isinstance(actual, list) is isinstance(expected, list), f"{actual} instead of {expected}"
    if isinstance(expected, str):
        assert actual == expected
        return
    assert len(actual) == len(expected)
    for wanted, got in zip(expected, actual, strict=True):
        if isinstance(wanted, str):
            assert got == wanted
        else:
            assert got.shape == wanted.shape
            assert_close(wanted, got)


def gradients(tf):
    """Gradients by composites, of the kind that TensorFlow gives: dense where its are."""
    table = tf.Variable(np.linspace(0, 1, 12).reshape(2, 2, 3))
    rows = tf.ragged.constant([[[1.0, 2], [3, 4]], [[5, 6]]], tf.float64, ragged_rank=1)
    data = tf.constant([[1.0, 2], [3, 4], [5, 6]], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([rows.flat_values, data])
        product = tf.matmul(rows, table) ** 2
        square = tf.matmul(rows, rows, transpose_b=True)
        cut = tf.RaggedTensor.from_tensor(data, lengths=[2, 1, 2])
        picked = tf.gather(cut, [1, 0, 0], batch_dims=1) ** 2
        sums = [
            function(data, [0, 1, 1], [0, 0, 1]) ** 2
            for function in (tf.sparse.segment_sum, tf.sparse.segment_mean)
        ]
        sparse = tf.sparse.segment_sum(data, [0, 1, 1], [0, 0, 1], sparse_gradient=True)
    yield tape.gradient(product, table)
    yield tape.gradient(product, rows.flat_values)
    yield tape.gradient(square, rows.flat_values)
    yield tape.gradient(picked, data)
    for each in (*sums, sparse):
        yield tape.gradient(each, data)


def test_kinds_of_gradients():
    for expected, actual in zip(gradients(tensorflow), gradients(runnel), strict=True):
        assert isinstance(actual, runnel.Tensor) is isinstance(expected, tensorflow.Tensor)
        expected = np.asarray(tensorflow.convert_to_tensor(expected))
        assert_close(expected, np.asarray(runnel.convert_to_tensor(actual)))


def test_batches_have_the_row_splits_asked_for():
    for tf in (tensorflow, runnel):
        lengths = tf.data.Dataset.range(4).map(tf.range)
        batches = lengths.ragged_batch(2, row_splits_dtype=tf.int32)
        assert [batch.row_splits.dtype.name for batch in batches] == ["int32", "int32"]
