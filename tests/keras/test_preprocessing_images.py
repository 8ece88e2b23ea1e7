"""Resizing and CenterCrop; augmentation: the same images as the original for the same seeds."""

import numpy as np
import pytest
from layer_check import layer_check, plain
from side_by_side import compare, compare_failure, tf_keras

import runnel
from runnel.core.graph.graph import Graph

IMAGES = (np.random.default_rng(0).uniform(size=(3, 7, 6, 2)) * 255).astype("float32")

SIZES = [(4, 4), (5, 3), (12, 4), (3, 8), (9, 8), (7, 6)]


@pytest.mark.parametrize("height, width", SIZES)
@pytest.mark.parametrize("crop", [False, True])
def test_resizing(height, width, crop):
    kwargs = {"height": height, "width": width, "crop_to_aspect_ratio": crop}
    layer_check("Resizing", kwargs, IMAGES, tolerance=1e-5)


METHODS = [
    "bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "MitchellCubic"
]  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_resizing_methods(method):
    def resized(tf, keras):
        results = []
        # Beyond 0 and 255 whole numbers are undefined in the original, and other methods go there.
        whole = ("uint8",) if method in ("bilinear", "nearest") else ()
        for dtype in ("float32", "float16", *whole):
            layer = keras.layers.Resizing(4, 5, method, dtype=dtype, name="layer")
            results += [layer(IMAGES), layer(IMAGES[0].astype("uint8")), layer.get_config()]
        return results

    compare(resized, tolerance=1e-3)


@pytest.mark.parametrize("height, width", SIZES)
def test_center_crop(height, width):
    layer_check("CenterCrop", {"height": height, "width": width}, IMAGES, tolerance=1e-5)


def test_center_crop_of_one_image():
    def cropped(tf, keras):
        layers = keras.layers
        return layers.CenterCrop(2, 3)(IMAGES[0]), layers.CenterCrop(2, 2, dtype="uint8")(
            IMAGES.astype("uint8")
        )

    compare(cropped)


@pytest.mark.parametrize("name", ["CenterCrop", "RandomCrop", "Resizing"])
@pytest.mark.parametrize("size", [(4, 3), (9, 8), (3, 8), (7, 6)])
def test_sizes_known_only_when_run(name, size):
    kwargs = {"crop_to_aspect_ratio": True} if name == "Resizing" else {}
    layer = getattr(runnel.keras.layers, name)(*size, **kwargs)
    mode = {"training": False} if name == "RandomCrop" else {}
    want = layer(IMAGES, **mode).numpy()
    graph = Graph()
    with graph.as_default():
        images = graph.placeholder(runnel.float32, runnel.TensorShape([None, None, None, 2]))
        output = layer(images, **mode)
    assert output.shape.as_list() == [None, *size, 2]
    (got,) = graph.compute([output], [(images, IMAGES)])
    np.testing.assert_allclose(got, want, rtol=1e-6)
    symbolic = layer(runnel.keras.Input((None, None, 2)))
    assert symbolic.shape.as_list() == [None, *size, 2]


RANDOM = [
    ("RandomFlip", {}),
    ("RandomFlip", {"mode": "horizontal"}),
    ("RandomFlip", {"mode": "vertical"}),
    ("RandomTranslation", {"height_factor": 0.2, "width_factor": 0.3}),
    ("RandomTranslation", {"height_factor": (-0.3, 0.1), "width_factor": 0.0, "fill_mode": "wrap"}),
    ("RandomRotation", {"factor": 0.2}),
    ("RandomRotation", {"factor": (-0.1, 0.3), "fill_mode": "constant", "fill_value": 7.0}),
    ("RandomZoom", {"height_factor": 0.2}),
    ("RandomZoom", {"height_factor": 0.2, "width_factor": (0.1, 0.4), "fill_mode": "nearest"}),
    ("RandomZoom", {"height_factor": (-0.5, -0.2), "interpolation": "nearest"}),
    ("RandomHeight", {"factor": 0.5}),
    ("RandomHeight", {"factor": (0.1, 0.9), "interpolation": "bicubic"}),
    ("RandomWidth", {"factor": 0.5, "interpolation": "nearest"}),
    ("RandomCrop", {"height": 4, "width": 3}),
    ("RandomCrop", {"height": 9, "width": 3}),
    ("RandomContrast", {"factor": 0.5}),
    ("RandomContrast", {"factor": (0.2, 0.9)}),
    ("RandomBrightness", {"factor": 0.5}),
    ("RandomBrightness", {"factor": (0.3, -0.1), "value_range": (0, 100)}),
]


@pytest.mark.parametrize(("name", "kwargs"), RANDOM)
def test_augmentation_with_a_seed(name, kwargs):
    def augmented(tf, keras):
        layer = getattr(keras.layers, name)(**kwargs, seed=3, name="layer")
        results = [layer(IMAGES, training=True) for _ in range(4)]
        results += [layer(IMAGES[0], training=True), layer(IMAGES), layer(IMAGES, training=False)]
        results.append(layer(IMAGES.astype("uint8"), training=False))
        config = plain(layer.get_config())
        again = type(layer).from_config(config)
        return [*results, config, again(IMAGES, training=True), layer.weights]

    compare(augmented, tolerance=2e-6)


@pytest.mark.parametrize(("name", "kwargs"), RANDOM)
def test_shapes_of_augmented_images(name, kwargs):
    def shapes(tf, keras):
        layer = getattr(keras.layers, name)(**kwargs)
        inputs = [
            keras.Input((7, 6, 2)),
            keras.Input((None, None, 2)),
            keras.Input((7, 6, 2), dtype="uint8"),
        ]
        symbolic = [layer(each) for each in inputs]
        described = [(str(each.shape), each.dtype.name) for each in symbolic]
        static = [(None, 7, 6, 2), (7, 6, 2)]
        return described, [tuple(layer.compute_output_shape(each)) for each in static]

    compare(shapes)


@pytest.mark.parametrize(
    ("name", "kwargs", "dtype"),
    [
        (*case, dtype)
        for case in RANDOM[::2]
        for dtype in ("uint8", "float64", "float16", "int32")
        # The original has no contrast of half precision.
        if (case[0], dtype) != ("RandomContrast", "float16")
    ],
)
def test_dtypes_of_augmented_images(name, kwargs, dtype):
    def augmented(tf, keras):
        layer = getattr(keras.layers, name)(**kwargs, seed=4, dtype=dtype)
        images = IMAGES.astype("uint8")
        modes = [(images, True), (images, False), (IMAGES, True), (IMAGES, False)]
        return [layer(array, training=mode) for array, mode in modes]

    compare(augmented, tolerance=2e-3 if dtype == "float16" else 1e-6)


def test_seeds_nobody_gave():
    def augmented(tf, keras):
        keras.utils.set_random_seed(5)
        first, second = (keras.layers.RandomBrightness(0.5) for _ in range(2))
        return second(IMAGES, training=True), first(IMAGES, training=True)

    compare(augmented)


def test_in_a_model():
    def trained(tf, keras):
        keras.utils.set_random_seed(5)
        layers = keras.layers
        model = keras.Sequential(
            [
                keras.Input((7, 6, 2)),
                layers.Rescaling(1 / 255.0),
                layers.RandomFlip(seed=1),
                layers.RandomTranslation(0.2, 0.2, seed=2),
                layers.RandomCrop(5, 5, seed=4),
                layers.Flatten(),
                layers.Dense(1),
            ]
        )
        model.compile("sgd", "mse")
        before = model.predict(IMAGES, verbose=0)
        history = model.fit(IMAGES, np.ones(3), epochs=3, shuffle=False, verbose=0)
        return before, history.history["loss"], model.predict(IMAGES, verbose=0)

    wanted = trained(None, tf_keras)
    got = trained(None, runnel.keras)
    for one, other in zip(wanted, got, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.Resizing(4, 5, interpolation="foo"),
        lambda layers: layers.Resizing(4, 5)(np.ones((3, 3))),
        lambda layers: layers.Resizing(0, 5)(np.ones((3, 3, 1))),
        lambda layers: layers.CenterCrop(2, 2)(np.ones((3, 3))),
        lambda layers: layers.RandomFlip("foo"),
        lambda layers: layers.RandomFlip()(np.ones((3, 3))),
        lambda layers: layers.RandomFlip()(np.ones((1, 2, 3, 3, 3))),
        lambda layers: layers.RandomFlip()({"images": IMAGES}),
        lambda layers: layers.RandomTranslation(2, 0.1),
        lambda layers: layers.RandomTranslation(-0.1, 0.1),
        lambda layers: layers.RandomTranslation(0.1, (0.1, -0.1)),
        lambda layers: layers.RandomTranslation(0.1, 0.1, fill_mode="foo"),
        lambda layers: layers.RandomTranslation(0.1, 0.1, interpolation="foo"),
        lambda layers: layers.RandomRotation(-0.1),
        lambda layers: layers.RandomRotation(0.1)(np.ones((3, 3))),
        lambda layers: layers.RandomZoom((-2.0, 0.1)),
        lambda layers: layers.RandomZoom(0.1, (-2.0, 0.1)),
        lambda layers: layers.RandomHeight(-0.1),
        lambda layers: layers.RandomHeight(2.0),
        lambda layers: layers.RandomWidth(0.1, interpolation="foo"),
        lambda layers: layers.RandomCrop(2, 2)(np.ones((3, 3))),
        lambda layers: layers.RandomContrast(-0.1),
        lambda layers: layers.RandomContrast(1.1),
        lambda layers: layers.RandomContrast(0.0)(IMAGES, training=True),
        lambda layers: layers.RandomBrightness(1.5),
        lambda layers: layers.RandomBrightness((0.5, 0.2, 0.1)),
        lambda layers: layers.RandomBrightness("a"),
        lambda layers: layers.RandomBrightness(0.1, value_range=5),
        lambda layers: layers.RandomBrightness(0.1)(np.ones((3, 3))),
    ],
)
def test_refusals(make):
    compare_failure(lambda tf, keras: make(keras.layers))
