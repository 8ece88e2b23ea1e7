"""Layers of several inputs."""

import numpy as np
import pytest
from layer_check import layer_check, make_inputs
from side_by_side import compare, compare_failure, tf_keras

import runnel

MERGERS = ["Add", "Multiply", "Average", "Maximum", "Minimum"]


@pytest.mark.parametrize("name", MERGERS)
@pytest.mark.parametrize(
    "shapes",
    [
        [(2, 3), (2, 3)],
        [(2, 3)],
        [(2, 3), (2, 3), (2, 3)],
        [(2, 3), (2, 1)],
        [(2, 3), (2, 4, 3)],
        [(2, 4, 1), (2, 3)],
    ],
)
def test_merge(name, shapes):
    layer_check(name, {}, shapes)


@pytest.mark.parametrize("shapes", [[(2, 3), (2, 3)], [(2, 4, 3), (2, 3)]])
def test_subtract(shapes):
    layer_check("Subtract", {}, shapes)


@pytest.mark.parametrize(
    ("kwargs", "shapes"),
    [
        ({}, [(2, 3), (2, 4)]),
        ({}, [(2, 3)]),
        ({"axis": 1}, [(2, 3, 4), (2, 2, 4), (2, 1, 4)]),
        ({"axis": -2}, [(2, 3, 4), (2, 2, 4)]),
    ],
)
def test_concatenate(kwargs, shapes):
    layer_check("Concatenate", kwargs, shapes)


def test_concatenate_batches():
    layer_check("Concatenate", {"axis": 0}, [(2, 3), (1, 3)], symbolic=False)


@pytest.mark.parametrize(
    ("axes", "shapes"),
    [
        (1, [(2, 3), (2, 3)]),
        (-1, [(2, 3, 4), (2, 4)]),
        (1, [(2, 3, 4), (2, 3)]),
        ((2, 1), [(2, 3, 4), (2, 4, 5)]),
        ([1, 2], [(2, 3, 4), (2, 5, 3)]),
        ((3, 1), [(2, 3, 4, 5), (2, 5, 6, 7)]),
        (2, [(2, 3, 4, 5), (2, 3, 4)]),
    ],
)
@pytest.mark.parametrize("normalize", [False, True])
def test_dot(axes, shapes, normalize):
    layer_check("Dot", {"axes": axes, "normalize": normalize}, shapes)


@pytest.mark.parametrize(
    "name",
    ["add", "subtract", "multiply", "average", "maximum", "minimum", "concatenate"],
)
def test_functions(name):
    arrays = make_inputs(name, [(2, 3), (2, 3)])
    compare(lambda tf, keras, *tensors: getattr(keras.layers, name)(list(tensors)), *arrays)


def test_dot_function():
    arrays = make_inputs("dot", [(2, 3), (2, 3)])
    compare(lambda tf, keras, *tensors: keras.layers.dot(list(tensors), axes=1), *arrays)


def test_integers():
    array = np.array([[1, 2]], "int32")
    compare(lambda tf, keras, x: keras.layers.Add()([x, x]), array)
    compare(lambda tf, keras, x: keras.layers.Average()([x, x]), array)


FAILURES = [
    lambda L, z: L.Add()(z(2, 3)),
    lambda L, z: L.Add()([z(2, 3), z(2, 4)]),
    lambda L, z: L.Add()([z(2, 3), z(3, 3)]),
    lambda L, z: L.Add()([L.Input((3,)), L.Input((4,))]),
    lambda L, z: L.Subtract()([z(2, 3)] * 3),
    lambda L, z: L.Subtract()([z(2, 3)]),
    lambda L, z: L.Concatenate()([z(2, 3), z(3, 4)]),
    lambda L, z: L.Concatenate()([z(2, 3), z(2, 4, 1)]),
    lambda L, z: L.Concatenate()(z(2, 3)),
    lambda L, z: L.Concatenate().compute_output_shape((2, 4)),
    lambda L, z: L.Dot(1)([z(2, 3)]),
    lambda L, z: L.Dot(1)([z(2, 3), z(2, 4)]),
    lambda L, z: L.Dot("a"),
    lambda L, z: L.Dot((1,)),
    lambda L, z: L.Dot((1, "b")),
    lambda L, z: L.Add().compute_mask([z(2, 3)] * 2, 3),
    lambda L, z: L.Add().compute_mask([z(2, 3)], [None, None]),
    lambda L, z: L.Concatenate().compute_mask([z(2, 3)] * 2, 3),
]


@pytest.mark.parametrize("index", range(len(FAILURES)))
def test_bad_arguments(index):
    texts = []
    for keras in (tf_keras, runnel.keras):
        with pytest.raises((ValueError, TypeError)) as caught:
            FAILURES[index](keras.layers, lambda *shape: np.zeros(shape, "float32"))
        texts.append((caught.type, str(caught.value)))
    assert texts[1] == texts[0]


def test_axes_that_are_not_there():
    for make in (
        lambda L, x: L.Concatenate(axis=5)([x, x]),
        lambda L, x: L.Dot(5)([x, x]),
        lambda L, x: L.Dot(0)([x, x]),
    ):
        compare_failure(lambda tf, keras: make(keras.layers, tf.ones([2, 3])))


def test_masks():
    def masks(tf, keras):
        L = keras.layers
        one, other = tf.constant([[True, False]]), tf.constant([[True, True]])
        x = [tf.ones([1, 2, 3]), tf.ones([1, 2, 3])]
        return [
            L.Add().compute_mask(x, [one, other]),
            L.Add().compute_mask(x, [one, None]),
            L.Concatenate(axis=1).compute_mask(x, [one, other]),
            L.Concatenate(axis=-1).compute_mask(x, [one, other]),
        ]

    compare(masks)
    L = runnel.keras.layers
    x = [np.ones((2, 3), "float32")] * 2
    for layer in (L.Add(), L.Concatenate(), L.Dot(1)):
        assert layer.compute_mask(x, [None, None]) is None
        assert layer.compute_mask(x, None) is None
