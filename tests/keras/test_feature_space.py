"""FeatureSpace: columns encoded as tf_keras encodes them."""

import numpy as np
import pytest
from side_by_side import compare, compare_failure, tensorflow

import runnel

COLUMNS = {
    "plain": np.array([0.0, 0.1, 0.2, 0.3], "float32"),
    "number": np.array([4, 1, 4, 2]),
    "word": np.array(["a", "b", "a", "c"]),
    "normal": np.array([1.0, 2.0, 3.0, 4.0], "float32"),
    "binned": np.array([1.0, 2.0, 3.0, 4.0], "float32"),
    "hashed": np.array(["x", "y", "z", "w"]),
    "hashed_number": np.array([5, 6, 7, 8]),
    "scaled": np.array([1.0, 2.0, 3.0, 4.0], "float32"),
}
ROW = {name: values[1].item() for name, values in COLUMNS.items()}


def dataset(tf, size=2):
    """Batches of the columns: a tf.data.Dataset there, any iterable of dicts here."""
    if tf is tensorflow:
        return tf.data.Dataset.from_tensor_slices(COLUMNS).batch(size)

    class Batches:
        def __iter__(self):
            for start in range(0, 4, size):
                yield {name: each[start : start + size] for name, each in COLUMNS.items()}

    return Batches()


def space(keras, **kwargs):
    kind = keras.utils.FeatureSpace
    features = {
        "plain": kind.float(),
        "number": "integer_categorical",
        "word": "string_categorical",
        "normal": kind.float_normalized(),
        "binned": kind.float_discretized(num_bins=3),
        "hashed": kind.string_hashed(num_bins=4),
        "hashed_number": kind.integer_hashed(num_bins=4),
        "scaled": kind.float_rescaled(scale=0.5),
    }
    return kind(features, **kwargs)


def adapted(tf, keras, **kwargs):
    made = space(keras, **kwargs)
    made.adapt(dataset(tf))
    return made


OPTIONS = [
    {},
    {"output_mode": "dict"},
    {"crosses": [("word", "number")], "crossing_dim": 5},
    {"crosses": [("word", "number"), ("hashed", "word", "number")], "output_mode": "dict"},
]


@pytest.mark.parametrize("kwargs", OPTIONS)
def test_rows_and_columns(kwargs):
    def encoded(tf, keras):
        made = adapted(tf, keras, **kwargs)
        columns = {name: tf.constant(values) for name, values in COLUMNS.items()}
        unseen = {**ROW, "word": "never", "number": 99, "binned": 50.0}
        return made(ROW), made(columns), made(unseen)

    compare(encoded)


def test_crosses_as_integers():
    def encoded(tf, keras):
        kind = keras.utils.FeatureSpace
        cross = kind.cross(("word", "number"), crossing_dim=7, output_mode="int")
        return adapted(tf, keras, crosses=[cross], output_mode="dict")(ROW)

    compare(encoded)


@pytest.mark.parametrize("kwargs", OPTIONS)
def test_inputs_and_outputs_of_a_model(kwargs):
    def described(tf, keras):
        made = adapted(tf, keras, **kwargs)
        inputs, outputs = made.get_inputs(), made.get_encoded_features()
        shape = tf.nest.map_structure(lambda t: (tuple(t.shape), t.dtype.name), inputs)
        if kwargs.get("output_mode") == "dict":
            return shape, {key: (tuple(t.shape), t.dtype.name) for key, t in outputs.items()}
        model = keras.Model(inputs, outputs)
        columns = {name: tf.constant(each[:, None]) for name, each in COLUMNS.items()}
        return shape, model(columns)

    compare(described)


def test_spaces_that_need_no_data():
    def encoded(tf, keras):
        kind = keras.utils.FeatureSpace
        doubled = kind.feature("float32", keras.layers.Rescaling(2.0), output_mode="float")
        return kind({"a": doubled, "b": "float"})({"a": 1.0, "b": 2.0})

    compare(encoded)
    kind = runnel.keras.utils.FeatureSpace
    binned = kind.float_discretized(None, bin_boundaries=[1.0, 2.0])
    np.testing.assert_array_equal(kind({"a": binned})({"a": 1.5}), [0.0, 1.0, 0.0])


def test_names_of_kinds():
    def layers(tf, keras):
        kind = keras.utils.FeatureSpace
        names = ["float", "float_rescaled", "float_normalized", "string_categorical"]
        names += ["integer_categorical", "string_hashed", "integer_hashed", "float_discretized"]
        made = kind({name: name for name in names}, hashing_dim=5, num_discretization_bins=6)
        return [
            (each.dtype, each.output_mode, each.preprocessor.name, type(each.preprocessor).__name__)
            for each in made.features.values()
        ]

    compare(layers)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf, k: k.utils.FeatureSpace({}),
        lambda tf, k: k.utils.FeatureSpace({"a": "floating"}),
        lambda tf, k: k.utils.FeatureSpace({"a": 3}),
        lambda tf, k: k.utils.FeatureSpace({"a": "float"}, output_mode="list"),
        lambda tf, k: k.utils.FeatureSpace({"a": "float"}, crosses=[("a", "b")]),
        lambda tf, k: space(k)(ROW),
        lambda tf, k: space(k).get_inputs(),
        lambda tf, k: space(k).adapt(COLUMNS),
        lambda tf, k: adapted(tf, k)([1.0]),
        lambda tf, k: k.utils.FeatureSpace.cross(("a", "b"), 3, output_mode="float"),
    ],
)
def test_bad_arguments(call):
    compare_failure(call)


def test_config_and_file(tmp_path):
    made = adapted(runnel, runnel.keras, crosses=[("word", "number")], crossing_dim=5)
    again = runnel.keras.utils.FeatureSpace.from_config(made.get_config())
    assert again.get_config()["crosses"] == made.get_config()["crosses"]
    assert list(again.features) == list(made.features)
    made.save(tmp_path / "space.keras")
    loaded = runnel.keras.models.load_model(tmp_path / "space.keras")
    np.testing.assert_allclose(loaded(ROW), made(ROW), rtol=1e-6)
