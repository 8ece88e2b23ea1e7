"""Pooling of windows and of whole channels."""

import numpy as np
import pytest
from layer_check import channels_first_check, layer_check
from side_by_side import compare_failure, tf_keras

import runnel

MASK = np.array([[True, True, False, False, True], [True, False, False, False, False]])


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize(
    ("rank", "kwargs", "shape"),
    [
        (1, {}, (2, 7, 3)),
        (1, {"pool_size": 3, "strides": 2, "padding": "same"}, (2, 7, 3)),
        (2, {}, (2, 6, 5, 3)),
        (2, {"pool_size": (3, 2), "strides": (1, 2), "padding": "same"}, (2, 6, 5, 3)),
        (2, {"pool_size": 2, "strides": 1, "dtype": "float64"}, (2, 4, 5, 2)),
        (3, {}, (1, 4, 5, 4, 2)),
        (3, {"pool_size": 2, "strides": 1, "padding": "same"}, (1, 3, 4, 3, 2)),
    ],
)
def test_windows(kind, rank, kwargs, shape):
    layer_check(f"{kind}Pooling{rank}D", kwargs, shape)


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize(
    ("rank", "shape"), [(1, (2, 7, 3)), (2, (2, 4, 5, 3)), (3, (2, 3, 4, 2, 3))]
)
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_global(kind, rank, shape, keepdims, data_format):
    kwargs = {"keepdims": keepdims, "data_format": data_format}
    layer_check(f"Global{kind}Pooling{rank}D", kwargs, shape)


@pytest.mark.parametrize("kind", ["Max", "Average"])
@pytest.mark.parametrize(
    ("rank", "shape"), [(1, (2, 3, 7)), (2, (2, 3, 6, 5)), (3, (1, 2, 4, 5, 4))]
)
def test_channels_first(kind, rank, shape):
    channels_first_check(f"{kind}Pooling{rank}D", {"pool_size": 2}, shape)


@pytest.mark.parametrize("keepdims", [False, True])
def test_global_average_with_mask(keepdims):
    kwargs = {"keepdims": keepdims}
    layer_check("GlobalAveragePooling1D", kwargs, (2, 5, 3), call={"mask": MASK})


FAILURES = [
    lambda L, z: L.MaxPooling2D(0),
    lambda L, z: L.MaxPooling2D(-1),
    lambda L, z: L.MaxPooling2D((2, 2, 2)),
    lambda L, z: L.MaxPooling2D(2, padding="foo"),
    lambda L, z: L.MaxPooling2D(2, data_format="foo"),
    lambda L, z: L.MaxPooling2D(2, name="m")(z(1, 2, 2)),
    lambda L, z: L.MaxPooling1D((2, 2)),
    lambda L, z: L.AveragePooling3D(2, padding="foo"),
    lambda L, z: L.GlobalAveragePooling2D(data_format="foo"),
    lambda L, z: L.GlobalMaxPooling2D(name="m")(z(2, 3)),
]


@pytest.mark.parametrize("index", range(len(FAILURES)))
def test_bad_arguments(index):
    texts = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError) as caught:
            FAILURES[index](keras.layers, lambda *shape: np.zeros(shape, "float32"))
        texts.append(str(caught.value))
    assert texts[1].startswith(texts[0])  # and maybe advice


def test_window_larger_than_input():
    compare_failure(
        lambda tf, keras: keras.layers.MaxPooling2D(3)(keras.Input((2, 5, 3))),
        message="Negative dimension",
    )
    shape = runnel.keras.layers.MaxPooling2D(3).compute_output_shape((1, 2, 2, 1))
    assert tuple(shape) == (1, 0, 0, 1)


def test_aliases():
    L = runnel.keras.layers
    assert L.MaxPool2D is L.MaxPooling2D
    assert L.AvgPool1D is L.AveragePooling1D
    assert L.GlobalAvgPool2D is L.GlobalAveragePooling2D
    assert L.GlobalMaxPool3D is L.GlobalMaxPooling3D
