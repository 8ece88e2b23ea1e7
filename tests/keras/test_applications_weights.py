"""Pretrained weights: which files are asked for, and what becomes of good and broken ones."""

import functools
import hashlib
import http.server
import re
import sys
import threading

import numpy as np
import pytest
import tf_keras

import runnel as tf
from runnel.keras.applications import building
from runnel.keras.applications.hashes import HASHES

ours, theirs = tf.keras, tf_keras
FAMILIES = {
    "EfficientNetB0": "efficientnet",
    "EfficientNetV2B0": "efficientnet_v2",
    "ConvNeXtTiny": "convnext",
    "InceptionResNetV2": "inception_resnet_v2",
    "MobileNetV3Small": "mobilenet_v3",
    "NASNetMobile": "nasnet",
    "RegNetX002": "regnet",
    "ResNetRS50": "resnet_rs",
}
SMALL = {"include_top": False, "pooling": "avg", "alpha": 0.25, "input_shape": (128, 128, 3)}
FILE = "mobilenet_2_5_128_tf_no_top.h5"


class Asked(Exception):
    """A file was asked for."""


def asked_of(keras, monkeypatch, name, **arguments):
    """The file that a model asks get_file for: its name, address, hash and folder."""
    real = keras.utils.get_file
    asked = []

    def get_file(fname=None, origin=None, file_hash=None, cache_subdir="datasets"):
        asked.append((fname, origin, file_hash, cache_subdir))
        raise Asked

    for module in list(sys.modules.values()):
        name_of_module = getattr(module, "__name__", "")
        if name_of_module.startswith(keras.__name__) and vars(module).get("get_file") is real:
            monkeypatch.setattr(module, "get_file", get_file)
    with pytest.raises(Asked):
        getattr(keras.applications, name)(weights="imagenet", **arguments)
    return asked


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("EfficientNetB0", {}),
        ("ConvNeXtTiny", {}),
        ("MobileNetV3Small", {"minimalistic": True, "include_top": False}),
        ("MobileNetV2", {"alpha": 0.35, "input_shape": (96, 96, 3)}),
        ("RegNetX002", {"include_top": False}),
        ("ResNet50V2", {"include_top": False}),
    ],
)
def test_files_are_the_published_ones(name, arguments, monkeypatch):
    asked = [asked_of(keras, monkeypatch, name, **arguments) for keras in (theirs, ours)]
    assert asked[0] == asked[1]


def test_hashes_are_hashes():
    for name, value in HASHES.items():
        assert re.fullmatch("[0-9a-f]{32}|[0-9a-f]{64}", value), name


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Tests are quiet."""


@pytest.fixture
def published(tmp_path, monkeypatch):
    """The path of a file that a server on this machine offers as MobileNet's weights."""
    folder = tmp_path / "served"
    folder.joinpath("mobilenet").mkdir(parents=True)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(building, "_ORIGIN", f"http://127.0.0.1:{server.server_port}/")
        yield folder / "mobilenet" / FILE
        server.shutdown()
        thread.join(10)


@pytest.mark.parametrize("hashed", [False, True])
def test_weights_are_downloaded_and_loaded(published, tmp_path, monkeypatch, hashed):
    expected = ours.applications.MobileNet(weights=None, **SMALL)
    expected.save_weights(str(published))
    if hashed:
        digest = hashlib.md5(published.read_bytes()).hexdigest()
        monkeypatch.setitem(HASHES, FILE, digest)
    model = ours.applications.MobileNet(weights="imagenet", **SMALL)
    for weight, wanted in zip(model.get_weights(), expected.get_weights(), strict=True):
        np.testing.assert_array_equal(weight, wanted)
    assert (tmp_path / "home" / "models" / FILE).exists()


@pytest.mark.parametrize("content", ["garbage", "cut", "other"])
def test_broken_weights_are_refused_and_removed(published, tmp_path, content):
    alpha = 0.5 if content == "other" else 0.25
    model = ours.applications.MobileNet(weights=None, **{**SMALL, "alpha": alpha})
    model.save_weights(str(published))
    if content == "garbage":
        published.write_bytes(b"<html>not found</html>")
    elif content == "cut":
        published.write_bytes(published.read_bytes()[:100_000])
    with pytest.raises(ValueError, match="has been removed"):
        ours.applications.MobileNet(weights="imagenet", **SMALL)
    assert list((tmp_path / "home" / "models").iterdir()) == []


def test_a_wrong_hash_is_refused(published, tmp_path, monkeypatch):
    ours.applications.MobileNet(weights=None, **SMALL).save_weights(str(published))
    monkeypatch.setitem(HASHES, FILE, "0" * 32)
    with pytest.raises(ValueError, match="hash does not match"):
        ours.applications.MobileNet(weights="imagenet", **SMALL)
    assert list((tmp_path / "home" / "models").iterdir()) == []


def test_offline_the_message_names_the_address(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setattr(building, "_ORIGIN", "http://127.0.0.1:9/")
    with pytest.raises(Exception, match=f"URL fetch failure on http://127.0.0.1:9/.*{FILE}"):
        ours.applications.MobileNet(weights="imagenet", **SMALL)


@pytest.mark.parametrize("name", FAMILIES)
@pytest.mark.parametrize(
    "arguments",
    [
        {"weights": "nowhere.h5"},
        {"weights": "imagenet", "classes": 5},
        {"weights": None, "input_shape": (10, 10, 3)},
        {"weights": None, "input_shape": (16, 16, 3), "include_top": False},
        {"weights": None, "unknown": 1},
    ],
)
def test_bad_arguments(name, arguments, monkeypatch):
    monkeypatch.setattr(ours, "Model", None)  # No model is built before its arguments are checked.
    raised = []
    for keras in (theirs, ours):
        with pytest.raises((ValueError, TypeError)) as information:
            getattr(keras.applications, name)(**arguments)
        raised.append(information.type)
    assert raised[0] is raised[1]


@pytest.mark.parametrize(
    "name", ["EfficientNetB0", "EfficientNetV2B0", "ConvNeXtTiny", "NASNetMobile", "RegNetX002"]
)
@pytest.mark.parametrize(
    "arguments",
    [
        {"weights": "imagenet", "input_shape": (96, 96, 3)},
        {"weights": "imagenet", "input_shape": (96, 96, 1), "include_top": False},
        {"weights": None, "input_shape": (None, None, 3)},
        {"weights": None, "input_shape": (64, 64)},
    ],
)
def test_bad_sizes(name, arguments):
    for keras in (theirs, ours):
        with pytest.raises(ValueError):
            getattr(keras.applications, name)(**arguments)


def test_trained_scores_are_scores_or_probabilities():
    for keras in (theirs, ours):
        with pytest.raises(ValueError, match="`None` and `softmax` activations"):
            keras.applications.RegNetX002(weights="imagenet", classifier_activation="relu")


@pytest.mark.parametrize("arguments", [{"alpha": 0.5}, {"alpha": 0.75, "minimalistic": True}])
def test_mobilenet_v3_is_trained_for_some_widths(arguments):
    for keras in (theirs, ours):
        with pytest.raises(ValueError, match="alpha can be one of"):
            keras.applications.MobileNetV3Small(weights="imagenet", **arguments)


def test_mobilenet_v3_compares_shape_and_tensor():
    for keras in (theirs, ours):
        image = keras.Input([48, 48, 3])
        with pytest.raises(ValueError):
            keras.applications.MobileNetV3Small(
                weights=None, input_tensor=image, input_shape=(64, 64, 3)
            )


@pytest.mark.parametrize("module", FAMILIES.values())
def test_families_scale_as_they_were_trained(module):
    images = np.random.default_rng(2).uniform(0, 255, (1, 2, 2, 3))
    expected = getattr(theirs.applications, module).preprocess_input(images.copy())
    actual = getattr(ours.applications, module).preprocess_input(images.copy())
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
