"""Cropping, padding, upsampling."""

import numpy as np
import pytest
from layer_check import channels_first_check, layer_check
from side_by_side import compare_failure, tf_keras

import runnel


@pytest.mark.parametrize(
    ("name", "kwargs", "shape"),
    [
        ("Cropping1D", {}, (2, 5, 3)),
        ("Cropping1D", {"cropping": (0, 2)}, (2, 5, 3)),
        ("Cropping2D", {"cropping": 1}, (2, 5, 6, 3)),
        ("Cropping2D", {"cropping": (1, 2)}, (2, 5, 6, 3)),
        ("Cropping2D", {"cropping": ((0, 1), (2, 0))}, (2, 5, 6, 3)),
        ("Cropping2D", {}, (2, 5, 6, 3)),
        ("Cropping3D", {}, (1, 3, 4, 5, 2)),
        ("Cropping3D", {"cropping": ((0, 1), (2, 0), (1, 1))}, (1, 3, 4, 5, 2)),
        ("ZeroPadding1D", {}, (2, 5, 3)),
        ("ZeroPadding1D", {"padding": (0, 2)}, (2, 5, 3)),
        ("ZeroPadding2D", {}, (2, 3, 4, 3)),
        ("ZeroPadding2D", {"padding": ((1, 2), 3)}, (2, 3, 4, 3)),
        ("ZeroPadding2D", {"padding": 1, "data_format": "channels_first"}, (2, 3, 4, 3)),
        ("ZeroPadding3D", {"padding": ((0, 1), (2, 0), (1, 1))}, (1, 3, 2, 2, 2)),
        ("UpSampling1D", {"size": 3}, (2, 4, 3)),
        ("UpSampling2D", {}, (2, 3, 4, 3)),
        ("UpSampling2D", {"size": (1, 3)}, (2, 3, 4, 3)),
        ("UpSampling2D", {"size": (2, 3), "data_format": "channels_first"}, (2, 3, 4, 3)),
        ("UpSampling2D", {"size": (2, 3), "interpolation": "bilinear"}, (2, 3, 4, 3)),
        ("UpSampling2D", {"size": 1, "interpolation": "bilinear"}, (2, 3, 4, 3)),
        ("UpSampling2D", {"size": 5, "interpolation": "bilinear"}, (1, 1, 2, 1)),
        ("UpSampling3D", {}, (1, 2, 3, 2, 2)),
        ("UpSampling3D", {"size": (1, 2, 3), "data_format": "channels_first"}, (1, 2, 3, 2, 2)),
    ],
)
def test_layer(name, kwargs, shape):
    layer_check(name, kwargs, shape)


@pytest.mark.parametrize(
    "interpolation", ["bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
)
@pytest.mark.parametrize("size", [1, 2, (3, 1)])
def test_interpolation(interpolation, size):
    kwargs = {"size": size, "interpolation": interpolation}
    layer_check("UpSampling2D", kwargs, (2, 5, 7, 2), tolerance=1e-5)


@pytest.mark.parametrize("interpolation", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("dtype", ["float16", "float64", "uint8"])
def test_dtypes_of_larger_images(interpolation, dtype):
    pixels = np.arange(12).reshape(1, 2, 2, 3).astype(dtype)
    wanted, got = (
        keras.layers.UpSampling2D(interpolation=interpolation, dtype=dtype)(pixels)
        for keras in (tf_keras, runnel.keras)
    )
    assert got.dtype.name == wanted.dtype.name
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def test_area_is_nearest_for_whole_factors():
    layer_check(
        "UpSampling2D",
        {"size": (2, 3), "interpolation": "area"},
        (2, 3, 4, 3),
        gradients=False,  # the original has none for it
    )


@pytest.mark.parametrize(
    ("name", "kwargs", "shape"),
    [
        ("Cropping2D", {"cropping": (1, 2)}, (2, 3, 5, 6)),
        ("Cropping3D", {}, (1, 2, 3, 4, 5)),
        ("ZeroPadding3D", {"padding": (1, 2, 1)}, (1, 2, 3, 4, 5)),
        ("UpSampling2D", {"interpolation": "bilinear"}, (2, 3, 4, 3)),
    ],
)
def test_channels_first(name, kwargs, shape):
    channels_first_check(name, kwargs, shape)


FAILURES = [
    lambda L, z: L.Cropping1D((1, 2, 3)),
    lambda L, z: L.Cropping1D(-1),
    lambda L, z: L.Cropping1D("a"),
    lambda L, z: L.Cropping2D(((1, 1), (1,))),
    lambda L, z: L.Cropping2D((1, 2, 3)),
    lambda L, z: L.Cropping2D(3.5),
    lambda L, z: L.Cropping2D(1, data_format="foo"),
    lambda L, z: L.Cropping3D((1, 2)),
    lambda L, z: L.ZeroPadding1D((1, 2, 3)),
    lambda L, z: L.ZeroPadding1D(-1),
    lambda L, z: L.ZeroPadding2D((1, 2, 3)),
    lambda L, z: L.ZeroPadding2D("a"),
    lambda L, z: L.ZeroPadding2D(2.5),
    lambda L, z: L.ZeroPadding3D((1, 2)),
    lambda L, z: L.ZeroPadding2D(1, name="p")(z(2, 3)),
    lambda L, z: L.UpSampling2D((2, 2, 2)),
    lambda L, z: L.UpSampling2D(0),
    lambda L, z: L.UpSampling3D((1, 2)),
]


@pytest.mark.parametrize("index", range(len(FAILURES)))
def test_bad_arguments(index):
    texts = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError) as caught:
            FAILURES[index](keras.layers, lambda *shape: np.zeros(shape, "float32"))
        texts.append(str(caught.value))
    assert texts[1] == texts[0]


@pytest.mark.parametrize(
    ("name", "shape"), [("Cropping1D", (1, 5, 2)), ("Cropping2D", (1, 5, 5, 2))]
)
def test_margins_as_large_as_the_input(name, shape):
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError, match="must be greater than the input shape"):
            getattr(keras.layers, name)(3)(np.zeros(shape, "float32"))


def test_neither_number_nor_numbers():
    compare_failure(lambda tf, keras: keras.layers.Cropping3D(3.5))
    compare_failure(lambda tf, keras: keras.layers.ZeroPadding3D(2.5))


def test_unknown_interpolation():
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(NotImplementedError, match="foo"):
            keras.layers.UpSampling2D(2, interpolation="foo")
