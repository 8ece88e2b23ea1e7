"""Layers called again and again: what they remember of a call must not outlive a change."""

import numpy as np
import pytest
import tensorflow
from side_by_side import compare, compare_failure

import runnel as tf

X = np.random.default_rng(0).standard_normal((5, 4)).astype(np.float32)


def values(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


def called_twice(keras, inputs, **options):
    """A dense layer with known weights that has seen such inputs before."""
    layer = keras.layers.Dense(3, **options)
    layer(inputs)
    layer(inputs)
    layer.set_weights(values(1, (4, 3), (3,))[: len(layer.weights)])
    return layer


def twice_differentiated(tf, layer, x):
    """The outputs of a layer, their gradients, and the gradients of those."""
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = layer(x)
            loss = tf.reduce_sum(y**3)
        first = inner.gradient(loss, [x, *layer.trainable_variables])
        again = tf.add_n([tf.reduce_sum(each**2) for each in first])
    return y, first, outer.gradient(again, [x, *layer.trainable_variables])


@pytest.mark.parametrize("activation", [None, "relu", "tanh", "sigmoid", "softmax", "elu"])
@pytest.mark.parametrize("use_bias", [True, False])
def test_dense_computes_and_differentiates(activation, use_bias):
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x, activation=activation, use_bias=use_bias)
        return twice_differentiated(tensorflow, layer, x)

    compare(program, X, tolerance=2e-5)


@pytest.mark.parametrize("activation", [tf.nn.relu, tf.nn.tanh, tf.keras.activations.linear])
def test_dense_at_once_is_dense_step_by_step(activation):
    layer = called_twice(tf.keras, X, activation=activation)
    expected = activation(tf.nn.bias_add(tf.matmul(X, layer.kernel), layer.bias))
    np.testing.assert_array_equal(layer(tf.constant(X)), expected)
    np.testing.assert_array_equal(layer(tf.zeros([0, 4])), np.zeros([0, 3], np.float32))


CONVOLUTIONS = [
    {"activation": "relu"},
    {"activation": "tanh", "strides": 2, "padding": "same"},
    {"activation": None, "dilation_rate": 2},
    {"activation": "elu"},
    {"activation": "relu", "groups": 2, "padding": "same"},
    {"activation": "relu", "use_bias": False},
]


@pytest.mark.parametrize("options", CONVOLUTIONS)
def test_convolutions_compute_and_differentiate(options):
    images = values(3, (2, 6, 7, 4))[0]
    kernels = values(4, (3, 3, 4 // options.get("groups", 1), 6), (6,))

    def program(tensorflow, keras, x):
        layer = keras.layers.Conv2D(6, 3, **options)
        layer(x)
        layer.set_weights(kernels[: len(layer.weights)])
        return twice_differentiated(tensorflow, layer, x)

    compare(program, images, tolerance=1e-4)


def test_convolutions_at_once_are_those_step_by_step():
    images = tf.constant(values(5, (2, 30, 30, 8))[0])
    layer = tf.keras.layers.Conv2D(9, 3, activation="relu", bias_initializer="ones")
    outputs = layer(images)
    summed = tf.nn.bias_add(tf.nn.conv2d(images, layer.kernel, 1, "VALID"), layer.bias)
    np.testing.assert_allclose(outputs, tf.nn.relu(summed), rtol=1e-6, atol=1e-6)
    traced = tf.function(layer)(images)
    np.testing.assert_allclose(outputs, traced, rtol=1e-6, atol=1e-6)


def test_a_convolution_of_ones_own_is_asked():
    class Doubled(tf.keras.layers.Conv2D):
        def convolution_op(self, inputs, kernel):
            return 2 * super().convolution_op(inputs, kernel)

    images = tf.ones([1, 5, 5, 2])
    layer = Doubled(3, 3, activation="relu", kernel_initializer="ones")
    assert (layer(images).numpy() == 36).all() and (layer(images).numpy() == 36).all()


def test_gradients_of_inputs_alone_and_of_frozen_layers():
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x, activation="relu")
        layer.trainable = False
        with tensorflow.GradientTape() as tape:
            tape.watch(x)
            loss = tensorflow.reduce_sum(layer(x) ** 2)
        return tape.gradient(loss, [x, layer.kernel])

    compare(program, X)


def test_a_new_activation_counts():
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x, activation="relu")
        before = layer(x)
        layer.activation = keras.activations.linear
        after = layer(x)
        layer.activation = lambda inputs: -inputs
        return before, after, layer(x), layer(x)

    compare(program, X)


def test_new_weights_count():
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x)
        layer.kernel = tensorflow.ones([4, 3])
        first = layer(x)
        layer.bias = tensorflow.Variable([1.0, 2.0, 3.0])
        second = layer(x)
        layer.use_bias = False
        return first, second, layer(x)

    compare(program, X)


def test_a_new_call_and_a_new_regularizer_count():
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x)
        layer.activity_regularizer = keras.regularizers.L2(0.5)
        layer(x)
        losses = list(layer.losses)
        layer.call = lambda inputs: inputs * 2.0
        return losses, layer(x), layer(x)

    compare(program, X)


def test_inputs_that_do_not_fit_are_refused_after_those_that_did():
    compare_failure(lambda tensorflow, keras, x: called_twice(keras, x)(x[:, :3]), X)
    compare_failure(lambda tensorflow, keras, x: called_twice(keras, x)(x[0]), X)

    def with_new_spec(tensorflow, keras, x):
        layer = called_twice(keras, x)
        layer.input_spec = keras.layers.InputSpec(ndim=3)
        layer(x)

    compare_failure(with_new_spec, X)


def test_batches_of_a_fixed_size_are_checked():
    def program(tensorflow, keras, x):
        layer = keras.layers.Flatten()
        layer.input_spec = keras.layers.InputSpec(shape=(5, 4))
        layer(x)
        layer(x)
        layer(x[:3])

    compare_failure(program, X)


def test_other_dtypes_and_ranks():
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x, activation="relu")
        deep = tensorflow.stack([x, x])
        double = keras.layers.Dense(2, dtype="float64", kernel_initializer="ones")
        results = [
            layer(tensorflow.cast(x, "float64")),
            layer(deep),
            layer(x),
            double(x),
            double(x),
        ]
        return [*results, layer(x.numpy()), layer(inputs=x)]

    compare(program, X)


def test_mixed_precision_stays_mixed():
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x, dtype="mixed_float16")
        return layer(x), layer(tensorflow.cast(x, "float16"))

    compare(program, X)


def test_masks_are_passed_on_once_there_are_any():
    def program(tensorflow, keras, x):
        layer = called_twice(keras, x)
        rows = tensorflow.reshape(x, [1, 5, 4])
        layer(rows)
        masked = keras.layers.Masking()(tensorflow.concat([rows, tensorflow.zeros_like(rows)], 1))
        return layer(masked)._keras_mask

    compare(program, X)


def test_subclasses_with_a_call_of_their_own():
    def program(tensorflow, keras, x):
        class Scaled(keras.layers.Dense):
            def call(self, inputs, training=False):
                self.trained = training
                return super().call(inputs) * (2.0 if training else 1.0)

        layer = Scaled(3, kernel_initializer="ones")
        layer(x)
        layer(x)
        return layer(x), layer(x, training=True), layer(x)

    compare(program, X)


def test_names_of_summaries_in_activations():
    scopes = {tensorflow: [], tf: []}

    def program(framework, keras, x):
        def activation(inputs):
            scopes[framework].append(framework.get_current_name_scope())
            return inputs

        layer = keras.layers.Dense(3, activation=activation, name="named")
        for _ in range(3):
            layer(x)
        return scopes[framework]

    compare(program, X)


def test_every_operation_is_checked_for_nan_where_that_is_wanted():
    layer = called_twice(tf.keras, X)
    layer.kernel.assign(np.full([4, 3], np.inf, np.float32))
    tf.debugging.enable_check_numerics()
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
            layer(tf.constant(X))
    finally:
        tf.debugging.disable_check_numerics()


def test_flatten_convolution_and_pooling_called_again():
    images = np.random.default_rng(2).standard_normal((2, 8, 8, 3)).astype(np.float32)

    def program(tensorflow, keras, x):
        layers = [
            keras.layers.Conv2D(4, 3, activation="relu", kernel_initializer="ones"),
            keras.layers.MaxPooling2D(),
            keras.layers.Reshape((3, 12)),
            keras.layers.Flatten(),
        ]
        results = []
        for batch in (x, x[:1], x):
            for layer in layers:
                batch = layer(batch)
            results.append(batch)
        return results

    compare(program, images, tolerance=1e-5)
