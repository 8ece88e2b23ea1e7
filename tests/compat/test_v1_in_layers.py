"""Code of TensorFlow 1 in layers and modules of TensorFlow 2, and equal random numbers in both."""

import numpy as np
import pytest
import tensorflow
from both_v1 import error_of, same

import runnel

# The original says of each of these functions that there is a newer one.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
X = np.array([[1.0, 2.0], [0.5, -1.0]], np.float32)


def both(program):
    """The results of `program(v1, tf)` on both libraries, outside of graphs."""
    theirs, ours = (program(each.compat.v1, each) for each in (tensorflow, runnel))
    same(theirs, ours)
    return ours


def dense_layer(v1, tf):
    class Wrapped(tf.keras.layers.Layer):
        def __init__(self, units, **options):
            super().__init__(**options)
            self.units = units

        @v1.keras.utils.track_tf1_style_variables
        def call(self, x, training=None):
            ones = v1.ones_initializer()
            with v1.variable_scope("body"):
                x = v1.layers.dense(
                    x, self.units, name="one", kernel_initializer=ones, kernel_regularizer="l2"
                )
                x = v1.layers.dense(x, self.units, kernel_initializer=ones)
                with v1.variable_scope("scale", reuse=v1.AUTO_REUSE):
                    l2 = tf.keras.regularizers.L2(0.1)
                    w = v1.get_variable("w", [self.units], initializer=ones, regularizer=l2)
                    w = v1.get_variable("w", [self.units])
                x = v1.layers.batch_normalization(x, training=training)
            return x * w

    return Wrapped


def test_a_layer_with_variables_of_scopes():
    def program(v1, tf):
        layer = dense_layer(v1, tf)(3)
        found = [layer(X, training=True).numpy() for _ in range(2)]
        found.append(tf.function(layer)(X, training=False).numpy())
        found.append([(w.name, w.shape.as_list(), w.trainable) for w in layer.weights])
        found.append([w.name for w in layer.trainable_variables])
        found.append([float(each) for each in layer.losses])
        found.append(error_of(lambda: layer(tf.ones([1, 5]))))
        return found

    both(program)


def test_models_of_such_layers_train():
    def program(v1, tf):
        model = tf.keras.Sequential([
            dense_layer(v1, tf)(4), tf.keras.layers.Dense(1, kernel_initializer="ones"),
        ])  # fmt: skip
        model.compile("sgd", "mse")
        history = model.fit(X, np.ones((2, 1), np.float32), epochs=3, verbose=0).history
        return [history["loss"], len(model.trainable_weights), len(model.losses)]

    both(program)


def test_layers_inside_of_modules_and_cells():
    def program(v1, tf):
        class Nested(tf.keras.layers.Layer):
            def inner(self):
                inputs = tf.keras.Input((2,))
                dense = tf.keras.layers.Dense(
                    3, name="dense", kernel_regularizer="l2", kernel_initializer="ones"
                )
                return tf.keras.Model(inputs, dense(inputs))

            @v1.keras.utils.track_tf1_style_variables
            def call(self, x):
                return v1.keras.utils.get_or_create_layer("inner", self.inner)(x)

        class Product(tf.Module):
            @v1.keras.utils.track_tf1_style_variables
            def __call__(self, x):
                w = v1.get_variable("w", [2, 2], initializer=v1.ones_initializer())
                return tf.matmul(x, w)

        class Recurrent(tf.keras.layers.Layer):
            @v1.keras.utils.track_tf1_style_variables
            def call(self, x):
                cell = v1.nn.rnn_cell.BasicLSTMCell(3)
                return v1.nn.dynamic_rnn(cell, x, dtype=tf.float32)[0]

        nested, product, recurrent = Nested(), Product(), Recurrent()
        found = [nested(X).numpy() for _ in range(2)] + [product(X).numpy() for _ in range(2)]
        shapes = [recurrent(X[:, None]).shape.as_list() for _ in range(2)]
        return [
            found, shapes, [float(each) for each in nested.losses],
            [w.name for w in nested.weights], [w.name for w in product.variables],
            sorted(w.name for w in recurrent.weights),
        ]  # fmt: skip

    both(program)


def test_checkpoints_have_the_same_keys(tmp_path):
    def program(v1, tf):
        layer = dense_layer(v1, tf)(3)
        layer(X, training=True)
        path = tf.train.Checkpoint(layer=layer).save(str(tmp_path / tf.__name__))
        return [name for name, _ in tf.train.list_variables(path)]

    both(program)


@pytest.mark.parametrize("mode", ["constant", "num_random_ops"])
def test_random_numbers_are_the_same_in_graphs_and_eagerly(mode):
    def draw(v1, tf):
        return [
            tf.random.uniform([3]), tf.random.normal([2]), tf.random.uniform([3], seed=5),
            tf.random.truncated_normal([2]), tf.random.shuffle(tf.range(5)),
            tf.random.uniform([2], 0, 9, tf.int32), v1.nn.dropout(tf.ones([6]), rate=0.5),
            v1.random_normal_initializer(seed=3)([2]),
        ]  # fmt: skip

    def program(v1, tf):
        tool = v1.keras.utils.DeterministicRandomTestTool(mode=mode, seed=7)
        with tool.scope():
            eager = [each.numpy() for each in draw(v1, tf)]
        found = [eager, tool.operation_seed]
        tool = v1.keras.utils.DeterministicRandomTestTool(mode=mode, seed=7)
        with tf.Graph().as_default(), v1.Session() as session, tool.scope():
            same(eager, session.run(draw(v1, tf)))
        with tool.scope():
            found += [tf.random.uniform([2]).numpy(), tool.operation_seed]
        return found

    both(program)


def test_seeds_are_not_used_twice():
    def program(v1, tf):
        tool = v1.keras.utils.DeterministicRandomTestTool(mode="num_random_ops")
        with tool.scope():
            tool.operation_seed = 3
            found = [tf.random.uniform([2]).numpy(), tool.operation_seed]
            tool.operation_seed = 3
            found.append(error_of(lambda: tf.random.uniform([2])))
        kind = v1.keras.utils.DeterministicRandomTestTool
        found.append(error_of(lambda: kind(mode="other").scope().__enter__()))
        return found

    both(program)
