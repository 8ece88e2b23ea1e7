"""Batch, layer, group, unit and spectral normalization."""

import numpy as np
import pytest
from layer_check import assert_close, layer_check, random_weights
from side_by_side import compare, compare_failure, tf_keras

import runnel

MODES = (None, False, True)
OPTIONS = {
    "beta_initializer": "ones",
    "gamma_initializer": "zeros",
    "beta_regularizer": "l1",
    "gamma_regularizer": "l2",
    "beta_constraint": "non_neg",
    "gamma_constraint": "unit_norm",
}


@pytest.mark.parametrize(
    ("kwargs", "shape"),
    [
        ({}, (4, 3)),
        ({"momentum": 0.5, "epsilon": 1e-5}, (4, 3)),
        ({"scale": False}, (4, 5, 3)),
        ({"center": False, "scale": False}, (4, 3)),
        ({"axis": 1}, (4, 3, 5)),
        ({"axis": [1, 2]}, (4, 3, 5)),
        ({"axis": (1, -1)}, (4, 3, 5)),
        ({}, (3, 4, 5, 2)),
        ({"momentum": 0.5, "epsilon": 1e-7}, (3, 4, 5, 2)),
        ({"center": False, "scale": False}, (3, 4, 5, 2)),
        ({"axis": 2}, (3, 4, 5, 2)),
        ({}, (2, 3, 4, 2, 2)),
        ({"fused": False, "momentum": 0.5}, (3, 4, 5, 2)),
        ({"fused": True, "momentum": 0.5}, (3, 4, 5, 2)),
        ({"dtype": "float64"}, (3, 4, 5, 2)),
        ({"dtype": "float16"}, (4, 3)),
        ({"dtype": "mixed_float16", "momentum": 0.5}, (3, 4, 5, 2)),
        ({"trainable": False}, (4, 3)),
        ({**OPTIONS, "moving_mean_initializer": "ones"}, (4, 3)),
        ({"synchronized": True}, (3, 4, 5, 2)),
    ],
)
def test_batch_normalization(kwargs, shape):
    layer_check("BatchNormalization", kwargs, shape, training=MODES, tolerance=_loose(kwargs))


def _loose(kwargs):
    return 3e-2 if "float16" in kwargs.get("dtype", "") else 1e-4


def test_batch_normalization_channels_first():
    """The original has no fused operation for it on a CPU, so without it."""
    kwargs = {"axis": 1, "momentum": 0.5}
    layer = runnel.keras.layers.BatchNormalization(**kwargs)
    plain = runnel.keras.layers.BatchNormalization(**kwargs, fused=False)
    images = np.random.default_rng(1).normal(size=(3, 4, 5, 2)).astype("float32")
    for each in (layer, plain):
        each.build(images.shape)
        each.set_weights(random_weights(each))
    assert layer.fused
    for mode in (False, True):
        want, got = (each(images, training=mode).numpy() for each in (plain, layer))
        assert_close(want, got, 1e-5)
    assert_close(plain.moving_mean.numpy(), layer.moving_mean.numpy(), 1e-5)
    layer_check("BatchNormalization", {**kwargs, "fused": False}, (3, 4, 5, 2), training=MODES)


@pytest.mark.parametrize(("shape", "kwargs"), [((2, 4, 3), {}), ((2, 4, 3, 2), {"axis": 2})])
def test_batch_normalization_with_mask(shape, kwargs):
    generator = np.random.default_rng(2)
    mask = generator.uniform(size=shape[:-1]) < 0.6
    layer_check(
        "BatchNormalization",
        {"momentum": 0.5, **kwargs},
        shape,
        training=MODES,
        call={"mask": mask},
        tolerance=1e-4,
    )


def test_fused_batch_normalization_ignores_the_mask():
    layer = runnel.keras.layers.BatchNormalization()
    images = np.ones((1, 2, 2, 1), "float32")
    with pytest.warns(UserWarning, match="Masking is not supported with `fused=True`"):
        layer(images, mask=runnel.constant([[True, False]]))


def test_batch_normalization_with_a_tensor_for_training():
    def results(tf, keras):
        layer = keras.layers.BatchNormalization(momentum=0.5)
        x = tf.constant([[1.0], [3.0]])
        trained = layer(x, training=tf.constant(True))
        return trained, layer(x, training=tf.constant(False)), tf.identity(layer.moving_mean)

    compare(results, tolerance=1e-5)


def test_frozen_batch_normalization_uses_the_averages():
    layer = runnel.keras.layers.BatchNormalization()
    x = np.array([[1.0], [3.0]], "float32")
    layer(x)
    layer.trainable = False
    np.testing.assert_allclose(layer(x, training=True), x, rtol=1e-3)
    np.testing.assert_array_equal(layer.moving_mean, [0.0])


@pytest.mark.parametrize(
    ("kwargs", "shape"),
    [
        ({}, (4, 3)),
        ({"epsilon": 1e-6}, (2, 4, 3)),
        ({"center": False}, (2, 4, 3)),
        ({"scale": False}, (2, 4, 3)),
        ({"axis": [1, 2]}, (2, 4, 3)),
        ({"axis": (-1, -2)}, (2, 4, 3)),
        ({"axis": 1}, (2, 4, 3)),
        ({"axis": [1, 3]}, (2, 4, 3, 2)),
        ({"dtype": "float64"}, (2, 4, 3)),
        ({"dtype": "float16"}, (2, 4, 3)),
        ({"dtype": "mixed_float16"}, (2, 4, 3)),
        (OPTIONS, (4, 3)),
    ],
)
def test_layer_normalization(kwargs, shape):
    layer_check("LayerNormalization", kwargs, shape, tolerance=_loose(kwargs))


@pytest.mark.parametrize(
    ("kwargs", "shape"),
    [
        ({"groups": 2}, (3, 4)),
        ({"groups": 2}, (2, 5, 5, 4)),
        ({"groups": 4, "scale": False}, (2, 5, 4)),
        ({"groups": -1, "center": False}, (2, 5, 4)),
        ({"groups": 1, "epsilon": 1e-5}, (2, 5, 4)),
        ({"groups": 2, "axis": 1}, (2, 4, 5, 3)),
        ({"groups": 2, "dtype": "float64"}, (2, 5, 4)),
        ({"groups": 2, "dtype": "mixed_float16"}, (2, 5, 4)),
        ({"groups": 2, **OPTIONS}, (2, 5, 4)),
    ],
)
def test_group_normalization(kwargs, shape):
    layer_check("GroupNormalization", kwargs, shape, tolerance=_loose(kwargs))


def test_group_normalization_with_mask():
    mask = np.array([[True, True, False, False, True], [True, True, False, False, False]])
    layer_check(
        "GroupNormalization",
        {"groups": 2},
        (2, 5, 4),
        call={"mask": mask[:, :, None]},
        tolerance=1e-4,
    )


@pytest.mark.parametrize(
    ("kwargs", "shape"),
    [({}, (4, 3)), ({"axis": 1}, (2, 4, 3)), ({"axis": [1, 2]}, (2, 4, 3))],
)
def test_unit_normalization(kwargs, shape):
    layer_check("UnitNormalization", kwargs, shape)


@pytest.mark.parametrize(
    ("inner", "arguments", "kwargs", "shape"),
    [
        ("Dense", (2,), {}, (3, 4)),
        ("Dense", (2,), {"power_iterations": 3}, (3, 4)),
        ("Conv2D", (2, 3), {}, (1, 5, 5, 3)),
    ],
)
def test_spectral_normalization(inner, arguments, kwargs, shape):
    layer_check(
        "SpectralNormalization",
        lambda tf, keras: {
            "layer": getattr(keras.layers, inner)(*arguments, name="inner"),
            **kwargs,
        },
        shape,
        training=(None, False, True),
        tolerance=1e-4,
        gradients=False,
    )


def test_spectral_normalization_leaves_a_kernel_of_zeros():
    layer = runnel.keras.layers.SpectralNormalization(
        runnel.keras.layers.Dense(2, kernel_initializer="zeros")
    )
    layer(np.ones((1, 3), "float32"), training=True)
    np.testing.assert_array_equal(layer.kernel, np.zeros((3, 2)))


FAILURES = [
    lambda L, z: L.BatchNormalization(axis=1.5),
    lambda L, z: L.BatchNormalization(axis="a"),
    lambda L, z: L.BatchNormalization(axis=4)(z(2, 3)),
    lambda L, z: L.BatchNormalization(axis=[1, 1])(z(2, 3, 4)),
    lambda L, z: L.BatchNormalization(foo=1),
    lambda L, z: L.BatchNormalization()(L.Input((None,))),
    lambda L, z: L.LayerNormalization(axis=1.5),
    lambda L, z: L.LayerNormalization(axis=4)(z(2, 3)),
    lambda L, z: L.LayerNormalization(axis=[1, 1])(z(2, 3, 4)),
    lambda L, z: L.GroupNormalization(3)(z(2, 4)),
    lambda L, z: L.GroupNormalization(32)(z(2, 4)),
    lambda L, z: L.GroupNormalization(2, axis=3)(z(2, 4)),
    lambda L, z: L.GroupNormalization(2)(L.Input((None,))),
    lambda L, z: L.UnitNormalization(axis=1.5),
    lambda L, z: L.UnitNormalization(axis=3)(z(2, 3)),
    lambda L, z: L.SpectralNormalization(L.Dense(2), power_iterations=0),
    lambda L, z: L.SpectralNormalization(L.Flatten())(z(2, 3)),
    lambda L, z: L.SpectralNormalization(3),
]


@pytest.mark.parametrize("index", range(len(FAILURES)))
def test_bad_arguments(index):
    texts = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises((ValueError, TypeError)) as caught:
            FAILURES[index](keras.layers, lambda *shape: np.zeros(shape, "float32"))
        texts.append((caught.type, str(caught.value)))
    (wanted, words), (got, found) = texts
    assert got is wanted
    assert found.startswith(words) or "Keyword argument not understood: 'foo'." in found


def test_bad_fused():
    compare_failure(lambda tf, keras: keras.layers.BatchNormalization(fused=True)(tf.ones([2, 3])))
    compare_failure(
        lambda tf, keras: keras.layers.BatchNormalization(fused=True, synchronized=True)
    )


def test_layer_normalization_needs_a_known_axis():
    compare_failure(lambda tf, keras: keras.layers.LayerNormalization()(keras.Input((None,))))
