"""Models with preprocessing layers: files of either are read by the other."""

import numpy as np
import pytest
from side_by_side import tensorflow, tf_keras

import runnel

BOTH = {"original": (tensorflow, tf_keras), "runnel": (runnel, runnel.keras)}
WORDS = np.array([["a b"], ["q"], ["b c, A"]])
TOKENS = np.array([["a"], ["q"], ["b"]])
NUMBERS = np.array([[5], [6], [-1]])
X = np.random.default_rng(0).normal(2.0, 3.0, size=(50, 1)).astype("float32")
IMAGES = np.random.default_rng(0).uniform(0, 255, size=(2, 6, 5, 3)).astype("float32")


def adapted(layer, data):
    """The layer, after it has learnt from data."""
    layer.adapt(data)
    return layer


LEARNT = {
    "text": (lambda layers: adapted(layers.TextVectorization(), ["a b", "b c"]), WORDS),
    "tf_idf": (
        lambda layers: adapted(layers.TextVectorization(output_mode="tf_idf"), ["a", "b a"]),
        WORDS,
    ),
    "strings": (
        lambda layers: adapted(layers.StringLookup(mask_token=""), ["a", "b", "b"]),
        TOKENS,
    ),
    "one_hot": (
        lambda layers: adapted(layers.StringLookup(output_mode="one_hot"), ["a", "b", "b"]),
        TOKENS,
    ),
    "integers": (lambda layers: adapted(layers.IntegerLookup(), [5, 7, 5]), NUMBERS),
}

OTHERS = {
    "normalization": (lambda layers: adapted(layers.Normalization(), X), X),
    "discretization": (lambda layers: adapted(layers.Discretization(num_bins=4), X), X),
    "boundaries": (lambda layers: layers.Discretization([0.0, 1.0], output_mode="one_hot"), X),
    "rescaling": (lambda layers: layers.Rescaling(2.0, offset=1), X),
    "hashing": (lambda layers: layers.Hashing(7, salt=[3, 4]), TOKENS),
    "categories": (lambda layers: layers.CategoryEncoding(9), np.abs(NUMBERS)),
    "given_text": (lambda layers: layers.TextVectorization(vocabulary=["a", "b"], ngrams=2), WORDS),
    "given_weights": (
        lambda layers: layers.StringLookup(
            vocabulary=["a", "b"], output_mode="tf_idf", idf_weights=[0.5, 0.25]
        ),
        TOKENS,
    ),
    "given_integers": (lambda layers: layers.IntegerLookup(vocabulary=[5, 7]), NUMBERS),
    "resizing": (lambda layers: layers.Resizing(3, 4, crop_to_aspect_ratio=True), IMAGES),
    "cropping": (lambda layers: layers.CenterCrop(3, 4), IMAGES),
    "turning": (lambda layers: layers.RandomRotation(0.2, seed=3), IMAGES),
    "zooming": (lambda layers: layers.RandomZoom((-0.2, 0.1), 0.3, seed=3), IMAGES),
    "brightness": (lambda layers: layers.RandomBrightness(0.2, seed=3), IMAGES),
}


def make_model(keras, make, inputs):
    """A model of one layer."""
    dtype = "string" if inputs.dtype.kind == "U" else inputs.dtype.name
    return keras.Sequential([keras.Input(inputs.shape[1:], dtype=dtype), make(keras.layers)])


def assert_same_files(case, path, writer, reader):
    """One writes a model into a file that the other reads; the outputs are the same."""
    make, array = case
    (tf, keras), (other_tf, other_keras) = BOTH[writer], BOTH[reader]
    model = make_model(keras, make, array)
    want = model(tf.constant(array), training=False).numpy()
    model.save(path)
    again = other_keras.models.load_model(path)
    got = again(other_tf.constant(array), training=False).numpy()
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert got.dtype == want.dtype


WAYS = [("original", "runnel"), ("runnel", "original"), ("runnel", "runnel")]


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
@pytest.mark.parametrize(
    ("name", "writer", "reader"),
    [
        (name, *way)
        for name in [*LEARNT, *OTHERS]
        for way in WAYS
        # The original forgets to make the boundaries again of what it has read.
        if (name, way[1]) != ("discretization", "original")
    ],
)
def test_keras_files(name, writer, reader, tmp_path):
    case = LEARNT.get(name) or OTHERS[name]
    assert_same_files(case, str(tmp_path / "model.keras"), writer, reader)


@pytest.mark.parametrize("name", [*LEARNT, *(name for name in OTHERS if "given" in name)])
@pytest.mark.parametrize(("writer", "reader"), WAYS)
def test_folders_of_vocabularies(name, writer, reader, tmp_path):
    """SavedModels have the words in the table alone, as the original has them."""
    assert_same_files(LEARNT.get(name) or OTHERS[name], str(tmp_path / "model"), writer, reader)


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize(("writer", "reader"), WAYS)
def test_h5_files(name, writer, reader, tmp_path):
    assert_same_files(OTHERS[name], str(tmp_path / "model.h5"), writer, reader)


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
@pytest.mark.parametrize("name", LEARNT)
def test_h5_has_no_place_for_a_learnt_vocabulary(name, tmp_path):
    make, array = LEARNT[name]
    model = make_model(runnel.keras, make, array)
    with pytest.raises(NotImplementedError, match="vocabulary"):
        model.save(str(tmp_path / "model.h5"))


@pytest.mark.parametrize(("writer", "reader"), WAYS)
def test_weights_of_normalization(writer, reader, tmp_path):
    make, array = OTHERS["normalization"]
    (tf, keras), (other_tf, other_keras) = BOTH[writer], BOTH[reader]
    model = make_model(keras, make, array)
    path = str(tmp_path / "model.weights.h5")
    model.save_weights(path)
    other = make_model(other_keras, lambda layers: layers.Normalization(), array)
    other.load_weights(path)
    want = model(tf.constant(array)).numpy()
    np.testing.assert_allclose(other(other_tf.constant(array)).numpy(), want, rtol=1e-5, atol=1e-6)


def test_functions_in_files(tmp_path):
    @runnel.keras.saving.register_keras_serializable("tests")
    def shout(texts):
        return runnel.strings.upper(texts)

    layer = runnel.keras.layers.TextVectorization(vocabulary=["A", "B"], standardize=shout)
    model = runnel.keras.Sequential([runnel.keras.Input((1,), dtype="string"), layer])
    path = str(tmp_path / "model.keras")
    model.save(path)
    again = runnel.keras.models.load_model(path)
    assert again(runnel.constant([["a b z"]])).numpy().tolist() == [[2, 3, 1]]


def test_clone_and_config():
    for tf, keras in BOTH.values():
        model = make_model(keras, lambda layers: layers.StringLookup(vocabulary=["a"]), TOKENS)
        cloned = keras.models.clone_model(model)
        assert cloned(tf.constant(TOKENS)).numpy().tolist() == [[1], [0], [0]]
