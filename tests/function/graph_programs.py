"""Programs over all families of operations, and GraphDefs run on both sides."""

from __future__ import annotations

import numpy as np
import tensorflow

import runnel
from runnel.core.graph.graph import Graph

X = np.linspace(-1.5, 2.0, 12, dtype=np.float32).reshape(3, 4)
IMAGES = np.linspace(0, 1, 2 * 6 * 6 * 3, dtype=np.float32).reshape(2, 6, 6, 3)
FILTERS = np.linspace(-1, 1, 3 * 3 * 3 * 2, dtype=np.float32).reshape(3, 3, 3, 2)
IDS = np.array([2, 0, 1], np.int32)


def _collatz(tf, n):
    return tf.while_loop(
        lambda n, steps: n > 1,
        lambda n, steps: (tf.cond(n % 2 == 0, lambda: n // 2, lambda: 3 * n + 1), steps + 1),
        [n, 0],
    )


def _scaled_loop(tf, x, y):
    scale = tf.reduce_sum(y)
    return tf.while_loop(
        lambda i, total: i < 4,
        lambda i, total: (i + 1, total * scale + x),
        [0, tf.zeros_like(x)],
        maximum_iterations=3,
    )


def _squares(tf, x):
    array = tf.TensorArray(tf.float32, size=3, element_shape=[4])
    for i in range(3):
        array = array.write(i, tf.square(x[i]))
    return array.stack(), array.read(1)


# Name: a function of tf and tensors, and the arrays for these.
PROGRAMS = {
    "arithmetic": (lambda tf, x, y: (x + y) * tf.exp(x) / (1 + tf.abs(y)) - x // 2, X, X + 1),
    "reductions": (
        lambda tf, x: (
            tf.reduce_sum(x, 0),
            tf.reduce_mean(x, [0, 1], keepdims=True),
            tf.argmax(x, 1),
            tf.reduce_any(x > 0, 1),
        ),
        X,
    ),
    "matmul": (lambda tf, x: tf.linalg.matmul(x, x, transpose_b=True) @ tf.ones([3, 2]), X),
    "einsum": (lambda tf, x: tf.einsum("ij,kj->ik", x, x), X),
    "solve": (lambda tf, x: tf.linalg.inv(tf.eye(3) * 5 + x[:, :3]), X),
    "slices": (lambda tf, x: (x[1], x[:, ::2], x[..., tf.newaxis, -1]), X),
    "shapes": (
        lambda tf, x: (tf.reshape(x, [2, -1]), tf.transpose(x), tf.shape(x), tf.tile(x, [1, 2])),
        X,
    ),
    "lists": (
        lambda tf, x: (tf.split(x, 2, 1), tf.unstack(x), tf.concat([x, x], 0), tf.stack([x, -x])),
        X,
    ),
    "gathering": (
        lambda tf, x, i: (tf.gather(x, i), tf.one_hot(i, 4), tf.gather_nd(x, i[:, None])),
        X,
        IDS,
    ),
    "scattering": (
        lambda tf, x, i: (
            tf.scatter_nd(i[:, None], x, [5, 4]),
            tf.math.segment_sum(x, tf.sort(i)),
            tf.tensor_scatter_nd_add(x, [[1, 1]], [3.0]),
        ),
        X,
        IDS,
    ),
    "selection": (lambda tf, x: (tf.where(x > 0, x, 0.0), tf.where(x > 0), tf.nn.top_k(x, 2)), X),
    "casting": (lambda tf, x: (tf.cast(x, tf.int32), tf.cast(x > 0, tf.complex64)), X),
    "convolution": (
        lambda tf, x, f: (
            tf.nn.conv2d(x, f, 1, "SAME"),
            tf.nn.conv2d(x, f, 2, [[0, 0], [1, 2], [0, 1], [0, 0]]),
            tf.nn.max_pool2d(x, 2, 2, "VALID"),
            tf.nn.avg_pool2d(x, 3, 1, "SAME"),
        ),
        IMAGES,
        FILTERS,
    ),
    "network": (
        lambda tf, x, i: tf.nn.sparse_softmax_cross_entropy_with_logits(
            i, tf.nn.leaky_relu(tf.nn.bias_add(tf.nn.softmax(x), [1.0, 2.0, 3.0, 4.0]), 0.1)
        ),
        X,
        IDS,
    ),
    "normalization": (
        lambda tf, x: tf.compat.v1.nn.fused_batch_norm(x, [1.0, 2.0, 3.0], [0.0, 1.0, 2.0])[0],
        IMAGES,
    ),
    "images": (
        lambda tf, x: (tf.image.resize(x, [4, 8]), tf.image.rgb_to_hsv(x)),
        IMAGES,
    ),
    "strings": (
        lambda tf, x: (
            tf.strings.join([tf.strings.as_string(x, precision=2), "m"], separator="-"),
            tf.strings.regex_replace(tf.strings.as_string(x), r"\d", "#"),
            tf.strings.length("héllo", unit="UTF8_CHAR"),
        ),
        X,
    ),
    "numbers at random": (
        lambda tf, x: tf.random.stateless_uniform([3, 4], [1, 2]) + tf.zeros_like(x),
        X,
    ),
    "condition": (
        lambda tf, x, y: tf.cond(
            tf.reduce_sum(x) > 0, lambda: (x * y, tf.shape(x)), lambda: (x, tf.shape(y))
        ),
        X,
        X + 3,
    ),
    "switch": (
        lambda tf, x, i: tf.switch_case(i[0], [lambda: x, lambda: x + 1, lambda: tf.exp(x)]),
        X,
        IDS,
    ),
    "loop with a condition": (_collatz, np.int32(27)),
    "loop": (_scaled_loop, X, X + 1),
    "map": (lambda tf, x: tf.map_fn(lambda row: tf.reduce_sum(row) * row, x), X),
    "scan": (lambda tf, x: tf.scan(lambda total, row: total + row, x), X),
    "tensor array": (_squares, X),
    "gradient": (lambda tf, x: tf.gradients(tf.reduce_sum(tf.sigmoid(x) * x), x), X),
    "gradient of a condition": (
        lambda tf, x: tf.gradients(tf.cond(x[0, 0] > 0, lambda: x * x, lambda: tf.sin(x)), x),
        X,
    ),
}


def specs(tf, arrays):
    return [tf.TensorSpec(np.shape(a), np.asarray(a).dtype) for a in arrays]


def traced(tf, program, arrays):
    function = tf.function(lambda *tensors: program(tf, *tensors), autograph=False)
    return function.get_concrete_function(*specs(tf, arrays))


def as_theirs(graph_def):
    """The message as TensorFlow's own."""
    return tensorflow.compat.v1.GraphDef.FromString(graph_def.SerializeToString())


def run_there(graph_def, fetches, feeds):
    with tensorflow.Graph().as_default(), tensorflow.compat.v1.Session() as session:
        tensorflow.graph_util.import_graph_def(as_theirs(graph_def), name="")
        return session.run(fetches, feeds)


def run_here(graph_def, fetches, feeds):
    graph = Graph()
    with graph.as_default():
        found = runnel.graph_util.import_graph_def(graph_def, return_elements=fetches, name="")
    return graph.compute(
        found, [(graph.get_tensor_by_name(name), array) for name, array in feeds.items()]
    )


def assert_equal(wanted, got):
    assert len(wanted) == len(got)
    for a, b in zip(wanted, got, strict=True):
        a, b = np.asarray(a), np.asarray(b)
        assert a.dtype == b.dtype
        if a.dtype.kind in "fc":
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(b, a)


def negation(tf):
    """The GraphDef of y = -x."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None], name="x")
        tf.negative(x, name="y")
    return graph.as_graph_def()
