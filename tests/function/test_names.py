"""What operations are called in graphs, when nobody named them."""

import pytest
import tensorflow

import runnel

EXPRESSIONS = """
x + y; x - y; x * y; x / y; x // y; x % y; x ** y; -x; abs(x); x @ y; x < y; x >= y; x == y; x != y
x[0]; x[:, 1]; 1.0 + x; 2 * x; v + x; v * 2.0; 3.0 - v
tf.add(x, y); tf.subtract(x, y); tf.divide(x, y); tf.matmul(x, y); tf.reduce_sum(x); tf.square(x)
tf.nn.relu(x); tf.nn.softmax(x); tf.reshape(x, [-1]); tf.transpose(x); tf.concat([x, y], 0)
tf.stack([x, y]); tf.split(x, 2, 1); tf.one_hot([1], 3); tf.gather(x, [0]); tf.cast(x, tf.int32)
tf.clip_by_value(x, 0.0, 1.0); tf.random.uniform([2]); tf.nn.bias_add(x, x[0]); tf.argmax(x)
tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1], logits=x); tf.where(x > y, x, y)
tf.while_loop(lambda i: i < 3, lambda i: [i + 1], [n]); tf.math.l2_normalize(x)
"""


@pytest.mark.parametrize(
    "expression",
    [each.strip() for each in EXPRESSIONS.replace("\n", ";").split(";") if each.strip()],
)
def test_default_names(expression):
    tf_names, our_names = (_names(tf, expression) for tf in (tensorflow, runnel))
    assert our_names == tf_names


def _names(tf, expression):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    def f(x, y, n):
        eval(expression, {"tf": tf, "x": x, "y": y, "n": n, "v": v})

    matrix = tf.TensorSpec([2, 2])
    traced = tf.function(f, autograph=False)
    graph = traced.get_concrete_function(matrix, matrix, tf.TensorSpec([], tf.int32)).graph
    hidden = ("Placeholder", "Const", "NoOp")
    return [each.name for each in graph.get_operations() if each.type not in hidden]


def test_printed_in_a_function(capsys):
    @runnel.function
    def f(x):
        print(x + 1.0)
        return x

    f(runnel.constant([1.0, 2.0]))
    assert capsys.readouterr().out == 'Tensor("add:0", shape=(2,), dtype=float32)\n'
