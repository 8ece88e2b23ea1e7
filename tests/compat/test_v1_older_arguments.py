"""Functions whose arguments TensorFlow 2 renamed or put in another order, in graphs."""

import numpy as np
import pytest
from both_v1 import agree

# The original says of some of these functions that there is a newer one.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
X = np.random.RandomState(1).randn(2, 4, 4, 3).astype(np.float32)
VOLUMES = np.random.RandomState(2).randn(1, 2, 3, 3, 2).astype(np.float32)
KERNEL = np.random.RandomState(3).randn(2, 2, 3).astype(np.float32)
TABLE = np.random.RandomState(4).randn(6, 3).astype(np.float32)
STEPS = np.random.RandomState(5).randn(4, 2, 3).astype(np.float32)


def ids(tf):
    return tf.SparseTensor([[0, 0], [0, 2], [2, 1]], tf.constant([1, 3, 5], tf.int64), [3, 3])


def numbers(tf, sign=1.0):
    values = tf.constant([1.0, -2.0, 3.0]) * sign
    return tf.SparseTensor([[0, 0], [0, 2], [2, 1]], values, [3, 3])


def parts(sparse):
    return [sparse.indices, sparse.values, sparse.dense_shape]


def bidirectional(v1, tf, lengths):
    with v1.variable_scope("both", initializer=v1.random_uniform_initializer(-0.5, 0.5, seed=1)):
        cells = [v1.nn.rnn_cell.BasicLSTMCell(3), v1.nn.rnn_cell.GRUCell(2)]
        steps = tf.unstack(tf.constant(STEPS))
        outputs, ahead, back = v1.nn.static_bidirectional_rnn(
            *cells, steps, dtype=tf.float32, sequence_length=lengths
        )
    return [*outputs, ahead.c, back]


def scattered(v1, tf):
    table = v1.get_variable("table", initializer=tf.zeros([2, 4]))
    with v1.control_dependencies([table.initializer]):
        return v1.batch_scatter_update(table, [[0, 3], [1, 2]], [[1.0, 2.0], [3.0, 4.0]])


CALLS = {
    "batch_norm": lambda v1, tf: v1.nn.batch_norm_with_global_normalization(
        X, *np.full([4, 3], [[0.1], [2.0], [0.5], [1.5]], np.float32), 1e-3, True
    ),
    "conv3d_transpose": lambda v1, tf: v1.nn.conv3d_transpose(
        VOLUMES, np.ones((2, 2, 2, 1, 2), np.float32), [1, 4, 6, 6, 1], [1, 2, 2, 2, 1]
    ),
    "dilation2d": lambda v1, tf: v1.nn.dilation2d(X, KERNEL, [1, 1, 1, 1], [1, 1, 1, 1], "SAME"),
    "erosion2d": lambda v1, tf: v1.nn.erosion2d(X, KERNEL, [1, 1, 1, 1], [1, 2, 2, 1], "VALID"),
    "argmax": lambda v1, tf: list(
        v1.nn.max_pool_with_argmax(X, [1, 2, 2, 1], [1, 2, 2, 1], "VALID", Targmax=tf.int32)
    ),
    "pool": lambda v1, tf: v1.nn.pool(X, [2, 2], "AVG", "SAME", strides=[2, 1]),
    "pool_wide": lambda v1, tf: v1.nn.pool(X, [2, 2], "MAX", "VALID", dilation_rate=[2, 1]),
    "lookup": lambda v1, tf: v1.nn.embedding_lookup_sparse(TABLE, ids(tf), None),
    "lookup_sum": lambda v1, tf: v1.nn.embedding_lookup_sparse(
        TABLE, ids(tf), numbers(tf), combiner="sum"
    ),
    "safe": lambda v1, tf: v1.nn.safe_embedding_lookup_sparse(TABLE, ids(tf), default_id=2),
    "space_to_batch": lambda v1, tf: v1.nn.space_to_batch(X, [[0, 0], [2, 0]], 2),
    "batch_to_space": lambda v1, tf: v1.batch_to_space(
        np.concatenate([X, X]), [[0, 0], [1, 0]], block_size=2
    ),
    "batch_to_space_nd": lambda v1, tf: v1.batch_to_space_nd(X, [2, 1], [[0, 1], [0, 0]]),
    "patches": lambda v1, tf: v1.extract_image_patches(
        X, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID"
    ),
    "bidirectional": lambda v1, tf: bidirectional(v1, tf, None),
    "lengths": lambda v1, tf: bidirectional(v1, tf, [4, 2]),
    "ctc": lambda v1, tf: v1.nn.ctc_loss_v2(
        [[1, 2], [2, 1]], tf.constant(STEPS), [2, 2], [4, 4], blank_index=0
    ),
    "add": lambda v1, tf: parts(v1.sparse_add(numbers(tf), numbers(tf, -1.0), thresh=0.5)),
    "concat": lambda v1, tf: parts(v1.sparse_concat(1, [numbers(tf), numbers(tf)])),
    "max": lambda v1, tf: v1.sparse_reduce_max(numbers(tf), reduction_axes=1, keep_dims=True),
    "sum": lambda v1, tf: v1.sparse.reduce_sum(numbers(tf), 0),
    "sum_sparse": lambda v1, tf: parts(v1.sparse_reduce_sum_sparse(numbers(tf), 1)),
    "split": lambda v1, tf: [
        parts(part) for part in v1.sparse_split(sp_input=numbers(tf), num_split=2, axis=1)
    ],
    "matmul": lambda v1, tf: v1.sparse_matmul(TABLE, TABLE, transpose_b=True),
    "segment": lambda v1, tf: [
        getattr(v1, f"sparse_segment_{name}")(TABLE, [0, 2, 5], [0, 0, 2], num_segments=4)
        for name in ("mean", "sqrt_n", "sum")
    ],
    "boxes": lambda v1, tf: v1.image.draw_bounding_boxes(
        np.zeros((1, 5, 5, 3), np.float32), [[[0.1, 0.2, 0.8, 0.9]]], colors=[[1.0, 0.5, 0.2]]
    ),
    "multinomial": lambda v1, tf: v1.random.stateless_multinomial([[0.1, 2.0, 0.3]], 5, [1, 2]),
    "scatter": scattered,
}


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    def program(v1, tf):
        results = CALLS[name](v1, tf)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            return session.run(results)

    agree(program)
