"""Models for images: the same layers, weights and outputs as the original's."""

import hashlib
import json

import numpy as np
import pytest
import tf_keras

import runnel as tf
from runnel.keras.applications.hashes import HASHES

ours, theirs = tf.keras, tf_keras
TOP = {"weights": None, "input_shape": (32, 32, 3), "classes": 7}
BODY = {"weights": None, "input_shape": (33, 33, 3), "include_top": False, "pooling": "avg"}
MODELS = [
    ("VGG16", {**BODY, "pooling": "max"}),
    ("VGG19", {**BODY, "input_shape": (32, 32, 1), "pooling": None}),
    ("ResNet50", TOP),
    ("ResNet50V2", BODY),
    ("MobileNet", {**TOP, "alpha": 0.5}),
    ("MobileNetV2", {**TOP, "alpha": 0.35}),
    ("MobileNetV2", {**BODY, "alpha": 1.4}),
    ("DenseNet121", TOP),
    ("Xception", {**BODY, "input_shape": (71, 71, 3)}),
    ("InceptionV3", {**TOP, "input_shape": (75, 75, 3)}),
]


@pytest.mark.parametrize(("name", "arguments"), MODELS)
def test_model_is_the_same(name, arguments):
    models = []
    for keras in (ours, theirs):
        keras.backend.clear_session()
        models.append(getattr(keras.applications, name)(**arguments))
    model, expected = models
    assert model.name == expected.name
    assert [layer.name for layer in model.layers] == [layer.name for layer in expected.layers]
    assert model.count_params() == expected.count_params()
    assert len(model.trainable_weights) == len(expected.trainable_weights)
    generator = np.random.default_rng(3)
    weights = expected.get_weights()
    for weight in weights:
        if weight.ndim == 1:
            # Means, variances and scales away from where they begin, so that each counts.
            weight *= generator.uniform(0.8, 1.2, weight.shape)
            weight += generator.uniform(0.0, 0.1, weight.shape)
    expected.set_weights(weights)
    model.set_weights(weights)
    image = generator.uniform(-1, 1, (1, *arguments["input_shape"])).astype("float32")
    wanted = expected(image).numpy()
    np.testing.assert_allclose(model(image).numpy(), wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("name", ["ResNet50", "MobileNet"])
@pytest.mark.parametrize(
    "arguments",
    [
        {"weights": "nowhere.h5"},
        {"weights": "imagenet", "classes": 5},
        {"weights": "imagenet", "input_shape": (96, 96, 3)},
        {"weights": "imagenet", "input_shape": (96, 96, 1), "include_top": False},
        {"weights": "imagenet", "classifier_activation": "relu"},
        {"weights": None, "input_shape": (10, 10, 3)},
        {"weights": None, "input_shape": (None, None, 3)},
    ],
)
def test_errors(name, arguments):
    for keras in (theirs, ours):
        with pytest.raises(ValueError):
            getattr(keras.applications, name)(**arguments)


def test_an_image_has_three_axes():
    for keras in (theirs, ours):
        with pytest.raises(ValueError, match="tuple of three integers"):
            keras.applications.VGG16(weights=None, input_shape=(200,), include_top=False)


def test_input_tensor_and_weights_from_a_file(tmp_path):
    image = ours.Input([32, 32, 3])
    options = {"include_top": False, "pooling": "avg"}
    scaled = ours.layers.Activation("tanh")(image)
    model = ours.applications.ResNet50(weights=None, input_tensor=scaled, **options)
    assert model.input is image
    path = str(tmp_path / "model.weights.h5")
    model.save_weights(path)
    again = ours.applications.ResNet50(weights=path, input_tensor=scaled, **options)
    for weight, expected in zip(again.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, expected)


@pytest.mark.parametrize("mode", ["caffe", "tf", "torch"])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_preprocess_input(mode, data_format, dtype):
    shape = (2, 4, 5, 3) if data_format == "channels_last" else (2, 3, 4, 5)
    images = np.random.default_rng(1).integers(0, 256, shape).astype(dtype)
    for batch in (images, images[0]):
        expected = theirs.applications.imagenet_utils.preprocess_input(
            batch.copy(), data_format, mode
        )
        ours_preprocess = ours.applications.imagenet_utils.preprocess_input
        array = ours_preprocess(batch.copy(), data_format, mode)
        assert array.dtype == expected.dtype
        np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-5)
        tensor = ours_preprocess(tf.constant(batch), data_format, mode)
        np.testing.assert_allclose(tensor.numpy(), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize(
    "module",
    [
        "vgg16",
        "resnet",
        "resnet50",
        "resnet_v2",
        "mobilenet",
        "mobilenet_v2",
        "densenet",
        "xception",
        "inception_v3",
    ],
)
def test_families_scale_as_they_were_trained(module):
    images = np.random.default_rng(2).uniform(0, 255, (1, 2, 2, 3))
    expected = getattr(theirs.applications, module).preprocess_input(images.copy())
    actual = getattr(ours.applications, module).preprocess_input(images.copy())
    np.testing.assert_allclose(actual, expected, rtol=1e-6)


def test_preprocess_input_refuses_unknown_modes():
    for keras in (theirs, ours):
        preprocess = keras.applications.imagenet_utils.preprocess_input
        with pytest.raises(ValueError):
            preprocess(np.zeros((1, 2, 2, 3)), mode="other")
        with pytest.raises(ValueError):
            preprocess(np.zeros((1, 2, 2, 3)), data_format="other")


def test_decode_predictions(tmp_path, monkeypatch):
    classes = {str(index): [f"n{index}", f"class {index}"] for index in range(1000)}
    (tmp_path / "models").mkdir()
    index = tmp_path / "models" / "imagenet_class_index.json"
    index.write_text(json.dumps(classes))
    monkeypatch.setitem(HASHES, index.name, hashlib.md5(index.read_bytes()).hexdigest())
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    scores = np.zeros((1, 1000), "float32")
    scores[0, [5, 17]] = 0.25, 0.75
    decode = ours.applications.vgg16.decode_predictions
    assert decode(scores, top=2) == [[("n17", "class 17", 0.75), ("n5", "class 5", 0.25)]]
    with pytest.raises(ValueError, match="expects a batch of predictions"):
        decode(np.zeros((1, 10)))
