"""Locally connected layers, random Fourier features, and the variants of BatchNormalization."""

import numpy as np
import pytest
from layer_check import assert_close, layer_check, plain, random_weights
from side_by_side import assert_alike, compare, compare_failure, tensorflow, tf_keras

import runnel

EVERYTHING = {
    "kernel_regularizer": "l2",
    "bias_regularizer": "l1",
    "activity_regularizer": "l2",
    "kernel_constraint": "unit_norm",
    "bias_constraint": "non_neg",
    "activation": "tanh",
}


@pytest.mark.parametrize("implementation", [1, 2, 3])
@pytest.mark.parametrize(
    ("name", "kwargs", "shape"),
    [
        ("LocallyConnected1D", {"filters": 3, "kernel_size": 2}, (2, 5, 4)),
        ("LocallyConnected1D", {"filters": 2, "kernel_size": 3, "strides": 2}, (2, 7, 2)),
        ("LocallyConnected2D", {"filters": 3, "kernel_size": 2, **EVERYTHING}, (2, 4, 5, 2)),
        (
            "LocallyConnected2D",
            {"filters": 2, "kernel_size": (3, 1), "strides": (1, 2), "use_bias": False},
            (2, 5, 4, 2),
        ),
    ],
)
def test_locally_connected(name, kwargs, shape, implementation):
    layer = layer_check(name, {**kwargs, "implementation": implementation}, shape)
    assert layer.kernel_shape


@pytest.mark.parametrize("implementation", [2, 3])
@pytest.mark.parametrize("kernel_size", [2, 3])
@pytest.mark.parametrize("strides", [1, 2])
def test_locally_connected_with_padding(implementation, kernel_size, strides):
    sizes = {"kernel_size": kernel_size, "strides": strides, "implementation": implementation}
    for name, shape in (("LocallyConnected1D", (2, 5, 2)), ("LocallyConnected2D", (2, 5, 4, 2))):
        layer_check(name, {"filters": 2, "padding": "same", **sizes}, shape, symbolic=False)


@pytest.mark.parametrize("implementation", [1, 2, 3])
def test_locally_connected_with_channels_first(implementation):
    """The same numbers as the original, whose kernels have another layout then."""
    kwargs = {"filters": 3, "kernel_size": 2, "data_format": "channels_first"}
    for name, shape in (("LocallyConnected1D", (2, 3, 5)), ("LocallyConnected2D", (2, 3, 5, 4))):
        layer_check(name, {**kwargs, "implementation": implementation}, shape)


def test_implementations_agree():
    """Each with the weights of the first at the places where it has weights."""
    x = np.random.default_rng(1).normal(size=(2, 5, 3)).astype("float32")
    first, second, third = (
        runnel.keras.layers.LocallyConnected1D(2, 3, implementation=each) for each in (1, 2, 3)
    )
    for layer in (first, second, third):
        layer(x)
    small = np.random.default_rng(2).normal(size=(3, 9, 2)).astype("float32")
    whole = np.zeros((5, 3, 3, 2), "float32")
    for place in range(3):
        whole[place : place + 3, :, place] = small[place].reshape(3, 3, 2)
    numbers = [whole.reshape(15, 6)[row, column] for column, row in third.kernel_idxs]
    bias = np.ones((3, 2), "float32")
    first.set_weights([small, bias])
    second.set_weights([whole, bias])
    third.set_weights([np.array(numbers), bias])
    for layer in (second, third):
        assert_close(first(x).numpy(), layer(x).numpy(), 1e-5)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, k: k.layers.LocallyConnected1D(3, 2, padding="same"),
        lambda tf, k: k.layers.LocallyConnected1D(3, 2, implementation=4)(tf.ones([2, 5, 4])),
        lambda tf, k: k.layers.LocallyConnected2D(3, 2)(k.Input([None, 4, 4])),
        lambda tf, k: k.layers.LocallyConnected2D(3, 2)(tf.ones([2, 3, 4])),
        lambda tf, k: k.layers.LocallyConnected1D(3, 7)(tf.ones([2, 5, 4])),
        lambda tf, k: k.layers.experimental.RandomFourierFeatures(0),
        lambda tf, k: k.layers.experimental.RandomFourierFeatures(2, "laplace"),
        lambda tf, k: k.layers.experimental.RandomFourierFeatures(2, scale=-1.0),
        lambda tf, k: k.layers.experimental.RandomFourierFeatures(2)(tf.ones([2, 3, 4])),
        lambda tf, k: k.layers.BatchNormalization(renorm=True, fused=True),
        lambda tf, k: k.layers.BatchNormalization(virtual_batch_size=2, fused=True),
        lambda tf, k: k.layers.BatchNormalization(renorm=True, renorm_clipping={"max": 1}),
        lambda tf, k: k.layers.experimental.SyncBatchNormalization(fused=True),
    ],
)
def test_bad_arguments(call):
    compare_failure(call)


@pytest.mark.parametrize("kernel", ["gaussian", "laplacian", "ones"])
@pytest.mark.parametrize("scale", [None, 3.0])
def test_random_fourier_features(kernel, scale):
    def layers(tf, keras):
        initializer = keras.initializers.Ones() if kernel == "ones" else kernel
        layer = keras.layers.experimental.RandomFourierFeatures(
            5, initializer, scale=scale, trainable=True, name="features"
        )
        layer(tf.ones([2, 3]))
        return layer

    theirs, ours = layers(tensorflow, tf_keras), layers(runnel, runnel.keras)
    assert [w.name for w in ours.weights] == [w.name for w in theirs.weights]
    assert [w.name for w in ours.trainable_weights] == [w.name for w in theirs.trainable_weights]
    ours.set_weights(theirs.get_weights())
    x = np.random.default_rng(0).normal(size=(4, 3)).astype("float32")
    assert_close(theirs(x).numpy(), ours(x).numpy(), 1e-5)
    config = ours.get_config()
    assert_alike(plain({**theirs.get_config(), "scale": float(theirs.scale)}), plain(config))
    again = type(ours).from_config(config)
    assert again.get_config() == config
    assert tuple(ours.compute_output_shape([None, 3])) == (None, 5)


def test_laplacian_features_are_drawn_with_numpy():
    def kernel(tf, keras):
        np.random.seed(3)
        layer = keras.layers.experimental.RandomFourierFeatures(4, "laplacian")
        layer(tf.ones([1, 2]))
        return tf.convert_to_tensor(layer.unscaled_kernel)

    compare(kernel, tolerance=1e-6)


VARIANTS = [
    {"renorm": True},
    {"renorm": True, "momentum": 0.5, "renorm_momentum": 0.8},
    {"renorm": True, "renorm_clipping": {"rmax": 1.5, "rmin": 0.7, "dmax": 0.4}},
    {"renorm": True, "center": False, "scale": False},
    {"renorm": True, "axis": 1},
    {"renorm": True, "axis": [1, 2]},
    {"virtual_batch_size": 2, "momentum": 0.7},
    {"virtual_batch_size": 3, "renorm": True, "momentum": 0.7, "renorm_momentum": 0.6},
]


@pytest.mark.parametrize("kwargs", VARIANTS)
def test_variants_of_batch_normalization(kwargs):
    """Outputs and weights over some steps of training, then the outputs without training."""
    x = np.random.default_rng(5).normal(2.0, 3.0, size=(6, 4, 3)).astype("float32")

    def results(tf, keras):
        layer = keras.layers.BatchNormalization(name="norm", **kwargs)
        layer(x)
        layer.set_weights(random_weights_of(layer))
        found = []
        for step in range(3):
            inputs = tf.constant(x * (1 + step))
            with tf.GradientTape() as tape:
                tape.watch(inputs)
                outputs = layer(inputs, training=True)
                total = tf.reduce_sum(outputs * outputs * outputs)
            found += [outputs, *tape.gradient(total, [inputs, *layer.trainable_weights])]
        found += [layer(x, training=False), *map(tf.convert_to_tensor, layer.weights)]
        return found, [weight.name for weight in layer.weights]

    compare(results, tolerance=2e-4, least_scale=1.0)


def random_weights_of(layer):
    values = random_weights(layer)
    return [
        np.abs(value) + 0.5 if "stddev" in weight.name else value
        for value, weight in zip(values, layer.weights, strict=True)
    ]


def test_adjustment_of_batch_normalization():
    x = np.random.default_rng(5).normal(size=(4, 3)).astype("float32")

    def results(tf, keras):
        def adjustment(shape):
            return tf.fill([1, shape[-1]], 2.0), tf.fill([1, shape[-1]], 0.5)

        layer = keras.layers.BatchNormalization(adjustment=adjustment, beta_initializer="ones")
        return layer(x, training=True), layer(x, training=False)

    compare(results, tolerance=1e-5)


def test_config_of_variants():
    def configs(tf, keras):
        layers = keras.layers
        return [
            plain(layers.BatchNormalization(name="norm", **kwargs).get_config())
            for kwargs in VARIANTS
        ] + [plain(layers.experimental.SyncBatchNormalization(name="sync").get_config())]

    wanted, got = configs(tensorflow, tf_keras), configs(runnel, runnel.keras)
    assert_alike(wanted, got)
    layer = runnel.keras.layers.BatchNormalization(virtual_batch_size=2)
    layer(np.ones((4, 3), "float32"))
    again = runnel.keras.layers.BatchNormalization.from_config(layer.get_config())
    assert again(np.ones((4, 3), "float32"), training=True).shape == (4, 3)


def test_synchronized_batch_normalization():
    x = np.random.default_rng(5).normal(size=(4, 3)).astype("float32")

    def results(tf, keras):
        layer = keras.layers.experimental.SyncBatchNormalization(momentum=0.5)
        return layer(x, training=True), layer(x), tf.convert_to_tensor(layer.moving_variance)

    compare(results, tolerance=1e-5)
