"""DynamicRaggedShape and RowPartition against TensorFlow."""

import numpy as np
import pytest
from compare import check, check_raises

SPLITS = np.array([0, 2, 2, 5, 6])


def parts(value):
    if hasattr(value, "nested_row_splits"):
        return [value.flat_values, *value.nested_row_splits]
    if hasattr(value, "row_partitions"):
        return [value.inner_shape, *[each.row_splits() for each in value.row_partitions]]
    return [value]


def shape_of(tf, values, splits, dtype=None):
    rt = tf.RaggedTensor.from_row_splits(tf.ensure_shape(values, [None]), splits)
    return tf.shape(rt, out_type=dtype)


def test_shape_of_ragged():
    def of(tf, v, s):
        found = shape_of(tf, v, s)
        return [*parts(found), found[0], *parts(found[:1]), *parts(shape_of(tf, v, s, tf.int64))]

    check(of, np.arange(6.0), SPLITS)


def test_values_of_that_shape():
    def of(tf, v, s):
        v = tf.ensure_shape(v, [None])
        shape = shape_of(tf, v, s)
        column = tf.constant([[1.0], [2.0], [3.0], [4.0]], tf.float64)
        return [
            *parts(tf.reshape(v, shape)), *parts(tf.broadcast_to(column, shape)),
            *parts(tf.broadcast_to(v[0], shape)), *parts(tf.fill(shape, 3)),
            *parts(tf.ones(shape)), *parts(tf.zeros(shape, tf.int32)),
            *parts(tf.broadcast_dynamic_shape(shape, tf.constant([4, 1]))),
        ]  # fmt: skip

    check(of, np.arange(6.0), SPLITS)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3]),
        lambda tf, shape: shape.from_lengths([2, 3]),
        lambda tf, shape: shape.from_lengths([2, (3, 3)]),
        lambda tf, shape: shape.from_lengths([2, (1, 2), (1, 2, 3)]),
        lambda tf, shape: shape.from_lengths([2, 2, (1, 2, 3, 4)]),
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3]).static_lengths(),
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3]).static_lengths(ragged_lengths=False),
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3])[2].numpy(),
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3]).rank,
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3]).inner_rank,
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3]).is_uniform(1),
        lambda tf, shape: shape.from_lengths([2, (1, 2), (1, 2, 3)])[:2],
        lambda tf, shape: shape.from_lengths([2, (1, 2)]).row_partitions,
        lambda tf, shape: shape.from_tensor([[1, 2]]),
        lambda tf, shape: shape([], [2, 3]),
        lambda tf, shape: shape.from_lengths([2, (1, 2)]) == shape.from_lengths([2, 3]),
        lambda tf, shape: bool(shape.from_lengths([2, (1, 2)]) == shape.from_lengths([2, (1, 2)])),
    ],
)
def test_shapes(function):
    check(lambda tf: repr(function(tf, tf.experimental.DynamicRaggedShape)), traced=False)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, shape: shape.from_lengths([2, (1, 2)])[1],
        lambda tf, shape: shape.from_lengths([2, (1, 2)])[5],
        lambda tf, shape: shape.from_lengths([2, (1, 2), 3])[1:],
        lambda tf, shape: shape.from_row_partitions([]),
        lambda tf, shape: shape(3, [2]),
        lambda tf, shape: hash(shape.from_lengths([2, 3])),
        lambda tf, shape: tf.random.uniform(shape.from_lengths([2, (1, 2)])),
    ],
)
def test_refused(function):
    check_raises(lambda tf: function(tf, tf.experimental.DynamicRaggedShape))


def test_row_partitions():
    def of(tf, splits):
        kind = tf.experimental.RowPartition
        partition = kind.from_row_splits(splits)
        uniform = kind.from_uniform_row_length(3, nvals=12)
        return [
            partition.row_splits(), partition.row_lengths(), partition.row_starts(),
            partition.row_limits(), partition.value_rowids(), partition.offsets_in_rows(),
            partition.nrows(), partition.nvals(), partition.with_dtype(tf.int32).row_splits(),
            uniform.row_splits(), uniform.row_lengths(), uniform.uniform_row_length(),
            kind.from_row_lengths([2, 0, 1], dtype=tf.int32).row_splits(),
            kind.from_value_rowids([0, 0, 2], nrows=4).row_splits(),
            kind.from_row_starts([0, 2], nvals=3).row_splits(),
            kind.from_row_limits([2, 3]).row_splits(),
        ]  # fmt: skip

    check(of, SPLITS)
    check(lambda tf: str(tf.experimental.RowPartition.from_uniform_row_length(3, 12).is_uniform()))
    check(lambda tf: str(tf.experimental.RowPartition.from_row_splits([0, 2]).static_nvals))
    check_raises(lambda tf: tf.experimental.RowPartition([0, 1]))


def test_dropout():
    def of(tf, v):
        tf.random.set_seed(3)
        rt = tf.RaggedTensor.from_row_splits(v, SPLITS)
        return parts(tf.nn.dropout(rt, 0.5, seed=1))

    check(of, np.arange(6.0, dtype=np.float32) + 1, traced=False, gradient=False)
    check_raises(lambda tf: tf.nn.dropout(tf.ragged.constant([[1.0]]), 0.5, noise_shape=[1, 1]))
