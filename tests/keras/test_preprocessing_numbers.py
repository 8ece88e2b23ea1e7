"""Rescaling, Normalization, Discretization, CategoryEncoding, Hashing, HashedCrossing."""

import numpy as np
import pytest
from layer_check import layer_check, plain
from side_by_side import compare, compare_failure, tf_keras

import runnel

X = np.random.default_rng(0).normal(2.0, 3.0, size=(5, 4, 3)).astype("float32")
INTEGERS = np.random.default_rng(0).integers(0, 6, size=(4, 5))
COUNTED = {"gradients": False, "tolerance": 1e-6}


@pytest.mark.parametrize(
    "kwargs",
    [
        {"scale": 1 / 255.0},
        {"scale": 2, "offset": -1},
        {"scale": [1.0, 2.0, 3.0], "offset": [3, 2, 1]},
        {"scale": 0.5, "dtype": "float16"},
        {"scale": 0.5, "dtype": "float64"},
    ],
)
def test_rescaling(kwargs):
    layer_check("Rescaling", kwargs, X)
    layer_check("Rescaling", kwargs, INTEGERS[:, :3])


def test_rescaling_of_lists_and_bad_input():
    compare(lambda tf, keras: keras.layers.Rescaling(2.0)([[1, 2], [3, 4]]))
    compare_failure(lambda tf, keras: keras.layers.Rescaling("a")(np.ones(2)))
    compare_failure(lambda tf, keras: keras.layers.Rescaling(1.0)("a"))


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"axis": 1},
        {"axis": (1, 2)},
        {"axis": (-1, 1)},
        {"axis": None},
        {"mean": 3.0, "variance": 2.0},
        {"mean": [1.0, 2.0, 3.0], "variance": np.array([2.0, 0.0, 1e-12])},
        {"mean": [1.0, 2.0, 3.0], "variance": [2.0, 3.0, 4.0], "invert": True},
        {"invert": True},
        {"dtype": "float64"},
    ],
)
def test_normalization(kwargs):
    layer_check("Normalization", kwargs, X)


@pytest.mark.parametrize(
    ("axis", "dtype", "batch_size"),
    [
        (-1, "float32", None),
        (None, "float32", 2),
        ((1, 2), "float64", 2),
        (-1, "float16", 3),
        (None, "mixed_float16", None),
    ],
)
def test_normalization_adapts(axis, dtype, batch_size):
    def adapted(tf, keras):
        layer = keras.layers.Normalization(axis=axis, dtype=dtype, name="layer")
        layer.adapt(X, batch_size=batch_size)
        weights = {weight.name: weight.numpy() for weight in layer.weights}
        config = plain(layer.get_config())
        return layer(X[:2]), layer.mean, layer.variance, weights, config, layer.is_adapted

    compare(adapted, tolerance=2e-3 if "16" in dtype else 3e-6)


def test_normalization_adapts_again():
    def adapted(tf, keras, *data):
        layer = keras.layers.Normalization(input_shape=(3,), name="layer")
        results = []
        for each in data:
            layer.adapt(each)
            results += [layer(X[0]), *layer.get_weights()]
        layer.reset_state()
        results += [*layer.get_weights(), layer.is_adapted, plain(layer.get_config())]
        layer.update_state(tf.constant(X[0]))
        layer.update_state(tf.constant(X[1]))
        layer.finalize_state()
        return [*results, layer(X[0]), layer.get_build_config()]

    compare(adapted, X[0], X[1].tolist(), X[0].astype("int32"))


def test_normalization_adapts_to_steps_and_slices():
    def adapted(tf, keras):
        layer = keras.layers.Normalization()
        layer.compile(steps_per_execution=2)
        layer.adapt(X[:, 0], batch_size=2, steps=2)
        return layer.get_weights()

    compare(adapted, tolerance=1e-5)


def test_normalization_after_set_weights():
    values = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), np.array(7)]

    def normalized(tf, keras):
        model = keras.Sequential([keras.Input((3,)), keras.layers.Normalization()])
        model.set_weights(values)
        return model(X[0]), model.count_params()

    compare(normalized)


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.Normalization(mean=3.0),
        lambda layers: layers.Normalization(axis=1.5),
        lambda layers: layers.Normalization(foo=1),
        lambda layers: layers.Normalization(axis=5).build((2, 3, 4)),
        lambda layers: layers.Normalization(axis=1).build((2, None, 4)),
        lambda layers: layers.Normalization(mean=[1.0, 2.0], variance=[1.0, 2.0])(X),
        lambda layers: layers.Normalization(mean=1.0, variance=2.0).adapt(X),
        lambda layers: layers.Normalization().adapt(X[:0]),
        lambda layers: layers.Normalization().adapt([1.0, 2.0]),
        lambda layers: layers.Normalization().adapt("abc"),
        lambda layers: layers.Normalization().adapt({"a": X}),
        lambda layers: layers.Normalization().update_state(X),
        lambda layers: layers.experimental.preprocessing.PreprocessingLayer().adapt(X),
    ],
)
def test_normalization_refuses(make):
    compare_failure(lambda tf, keras: make(keras.layers))


def test_normalization_refuses_other_data():
    def adapted(tf, keras):
        layer = keras.layers.Normalization()
        layer.adapt(np.ones((4, 3)))
        layer.adapt(np.ones((4, 2)))

    compare_failure(adapted, message="(4, 2)")


@pytest.mark.parametrize(
    ("output_mode", "shape", "dtype"),
    [
        ("one_hot", (4,), "float32"),
        ("one_hot", (4, 1), "int64"),
        ("multi_hot", (4,), "int64"),
        ("multi_hot", (4, 1), "float32"),
        ("multi_hot", (2, 3), "float32"),
        ("multi_hot", (2, 0), "float32"),
        ("count", (4,), "float32"),
        ("count", (2, 3), "int64"),
    ],
)
def test_category_encoding(output_mode, shape, dtype):
    array = np.random.default_rng(1).integers(0, 6, size=shape)
    kwargs = {"num_tokens": 6, "output_mode": output_mode, "dtype": dtype}
    symbolic = len(shape) == 2 or output_mode == "one_hot"
    layer_check("CategoryEncoding", kwargs, array, symbolic=symbolic, **COUNTED)


def test_category_encoding_of_weights_and_other_numbers():
    def encoded(tf, keras):
        layer = keras.layers.CategoryEncoding(4, "count")
        weights = [[0.1, 0.2], [0.3, 0.4]]
        return (
            layer([[0, 1], [1, 1]], count_weights=weights),
            layer(2),
            keras.layers.CategoryEncoding(4)([1.0, 2.7]),
            keras.layers.CategoryEncoding(max_tokens=3).get_config()["num_tokens"],
            layer.compute_output_shape(()),
            str(layer.compute_output_signature(tf.TensorSpec((None, 3), "int64"))),
        )

    compare(encoded)


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.CategoryEncoding(),
        lambda layers: layers.CategoryEncoding(0),
        lambda layers: layers.CategoryEncoding("4"),
        lambda layers: layers.CategoryEncoding(4, "tf_idf"),
        lambda layers: layers.CategoryEncoding(4)([4]),
        lambda layers: layers.CategoryEncoding(4)([-1]),
        lambda layers: layers.CategoryEncoding(4)(["a"]),
        lambda layers: layers.CategoryEncoding(4, "one_hot")([[1, 2]]),
        lambda layers: layers.CategoryEncoding(4)(np.zeros((2, 2, 2), "int64")),
        lambda layers: layers.CategoryEncoding(4)([[1]], count_weights=[[1.0]]),
    ],
)
def test_category_encoding_refuses(make):
    compare_failure(lambda tf, keras: make(keras.layers))


@pytest.mark.parametrize(
    ("kwargs", "dtype"),
    [
        ({}, "float32"),
        ({}, "float64"),
        ({"output_mode": "one_hot"}, "int32"),
        ({"output_mode": "multi_hot"}, "float32"),
        ({"output_mode": "count"}, "int64"),
        ({"dtype": "int32"}, "float32"),
    ],
)
def test_discretization(kwargs, dtype):
    array = np.linspace(-2, 5, 6).reshape(6, 1).astype(dtype)
    kwargs = {"bin_boundaries": [0.0, 0.5, 2.0], **kwargs}
    # What the original says of the shapes of its vectors is not so.
    symbolic = kwargs.get("output_mode", "int") == "int"
    layer_check("Discretization", kwargs, array, symbolic=symbolic, **COUNTED)


@pytest.mark.parametrize(
    ("count", "num_bins", "epsilon", "batch_size"),
    [
        (1, 3, 0.01, 32),
        (3, 10, 0.01, 2),
        (10, 3, 0.1, 32),
        (37, 3, 0.1, 100),
        (37, 20, 0.1, 10),
        (57, 2, 0.3, 20),
        (64, 1, 0.5, 7),
        (300, 7, 0.01, 32),
    ],
)
def test_discretization_adapts(count, num_bins, epsilon, batch_size):
    values = np.random.default_rng(count).normal(size=count).astype("float32").round(1).tolist()

    def adapted(tf, keras):
        layer = keras.layers.Discretization(num_bins=num_bins, epsilon=epsilon, name="layer")
        layer.adapt(np.array(values, "float32")[:, None], batch_size=batch_size)
        weights = layer.get_weights()
        return weights, list(layer.bin_boundaries), plain(layer.get_config()), layer(values)

    compare(adapted, exact=True)


def test_discretization_of_vectors_after_adapting():
    def adapted(tf, keras):
        layer = keras.layers.Discretization(num_bins=3, output_mode="one_hot")
        layer.adapt(X.reshape(-1))
        first = layer(X[0, :, :1])
        layer.reset_state()
        return first, layer.get_weights(), layer.is_adapted, list(layer.bin_boundaries)

    compare(adapted)


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.Discretization([0, 1], sparse=True),
        lambda layers: layers.Discretization([0, 1], output_mode="a"),
        lambda layers: layers.Discretization([0, 1], num_bins=3),
        lambda layers: layers.Discretization(num_bins=-3),
        lambda layers: layers.Discretization([0.0, 1.0]).adapt([1.0]),
        lambda layers: layers.Discretization(num_bins=3).update_state([1.0]),
        lambda layers: layers.Discretization([3.0, 1.0])([1.0, 2.0]),
        lambda layers: layers.Discretization([3.0])(["a"]),
        lambda layers: layers.Discretization([3.0])(np.ones(2, "float16")),
        lambda layers: layers.Discretization([3.0], output_mode="one_hot")(np.ones((2, 2))),
    ],
)
def test_discretization_refuses(make):
    compare_failure(lambda tf, keras: make(keras.layers))


TEXTS = np.array([["A"], ["B"], [""], ["some longer text"], ["é"], ["x" * 100]])


@pytest.mark.parametrize(
    ("salt", "mask", "num_bins"),
    [
        (None, False, 3),
        (None, True, 10**6),
        (133, False, 10**6),
        ((133, 137), True, 3),
        ([7, 8], True, 1),
    ],
)
def test_hashing(salt, mask, num_bins):
    def hashed(tf, keras):
        results = []
        for array, mask_value in ((TEXTS, ""), (INTEGERS * 10**10 - 3, -3)):
            layer = keras.layers.Hashing(
                num_bins, mask_value=mask_value if mask else None, salt=salt, name="layer"
            )
            results += [layer(array), plain(layer.get_config())]
            inputs = keras.Input(array.shape[1:], dtype="string" if array is TEXTS else "int64")
            results.append(str(layer(inputs).shape))
        return results

    compare(hashed)


@pytest.mark.parametrize("output_mode", ["one_hot", "multi_hot", "count"])
def test_hashing_of_vectors(output_mode):
    def hashed(tf, keras):
        layer = keras.layers.Hashing(5, output_mode=output_mode, name="layer")
        return layer(TEXTS), layer(list(TEXTS[:, 0])), layer("A"), plain(layer.get_config())

    compare(hashed)


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.Hashing(0),
        lambda layers: layers.Hashing(None),
        lambda layers: layers.Hashing(3, salt="a"),
        lambda layers: layers.Hashing(3, salt=[1, 2, 3]),
        lambda layers: layers.Hashing(3, output_mode="a"),
        lambda layers: layers.Hashing(3, sparse=True),
        lambda layers: layers.Hashing(3)([1.0]),
    ],
)
def test_hashing_refuses(make):
    compare_failure(lambda tf, keras: make(keras.layers))


@pytest.mark.parametrize("output_mode", ["int", "one_hot"])
@pytest.mark.parametrize("num_bins", [5, 1000])
def test_hashed_crossing(output_mode, num_bins):
    numbers = np.arange(6) * 10**12 - 5

    def crossed(tf, keras):
        layer = keras.layers.HashedCrossing(num_bins, output_mode=output_mode, name="layer")
        inputs = (keras.Input((1,), dtype="string"), keras.Input((1,), dtype="int64"))
        return (
            layer((TEXTS[:, 0], numbers)),
            layer((tf.constant(TEXTS), tf.constant(TEXTS[::-1]))),
            layer([numbers, numbers.astype("int32"), TEXTS[:, 0]]),
            layer(("A", "B")),
            str(layer(inputs).shape),
            plain(layer.get_config()),
        )

    compare(crossed)


@pytest.mark.parametrize(
    "make",
    [
        lambda tf, layers: layers.HashedCrossing(5, output_mode="multi_hot"),
        lambda tf, layers: layers.HashedCrossing(5, dtype="float32"),
        lambda tf, layers: layers.HashedCrossing(5)((["A"],)),
        lambda tf, layers: layers.HashedCrossing(5)(tf.constant(["a", "b"])),
        lambda tf, layers: layers.HashedCrossing(5)((TEXTS[:2].T, TEXTS[:2].T)),
        lambda tf, layers: layers.HashedCrossing(5)((TEXTS, TEXTS[:, 0])),
        lambda tf, layers: layers.HashedCrossing(5)((TEXTS[None], TEXTS[None])),
        lambda tf, layers: layers.HashedCrossing(5)((np.ones(2), np.ones(2))),
    ],
)
def test_hashed_crossing_refuses(make):
    compare_failure(lambda tf, keras: make(tf, keras.layers))


def parts_of(sparse):
    """The parts of a sparse tensor."""
    return sparse.indices, sparse.values, sparse.dense_shape


MAKERS = {
    "categories": lambda layers, **mode: layers.CategoryEncoding(6, **mode),
    "bins": lambda layers, **mode: layers.Discretization([1, 3, 4], **mode),
    "hashes": lambda layers, **mode: layers.Hashing(5, **mode),
    "numbers": lambda layers, **mode: layers.IntegerLookup(vocabulary=[1, 3, 5], **mode),
}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("output_mode", ["one_hot", "multi_hot", "count"])
def test_sparse_vectors(name, output_mode):
    def encoded(tf, keras):
        layer = MAKERS[name](keras.layers, output_mode=output_mode, sparse=True)
        results = []
        for array in (INTEGERS[:, :1], INTEGERS[:, 0], INTEGERS):
            if array is not INTEGERS or output_mode != "one_hot":
                results += parts_of(layer(array))
        return results

    compare(encoded)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("output_mode", ["multi_hot", "count"])
def test_vectors_of_sparse_inputs(name, output_mode):
    def encoded(tf, keras):
        layer = MAKERS[name](keras.layers, output_mode=output_mode)
        return layer(tf.sparse.from_dense(INTEGERS))

    compare(encoded)


@pytest.mark.parametrize("name", ["bins", "hashes", "numbers"])
def test_numbers_of_sparse_inputs(name):
    def encoded(tf, keras):
        layer = MAKERS[name](keras.layers)
        return parts_of(layer(tf.sparse.from_dense(INTEGERS)))

    compare(encoded)


def test_sparse_counts_by_weights():
    weights = np.random.default_rng(3).uniform(size=INTEGERS.shape).astype("float32")

    def encoded(tf, keras):
        layers = keras.layers
        crossing = layers.HashedCrossing(5, output_mode="one_hot", sparse=True)
        weighed = layers.StringLookup(
            vocabulary=["a", "b"], output_mode="tf_idf", idf_weights=[0.5, 0.25], sparse=True
        )
        return (
            *parts_of(layers.CategoryEncoding(6, "count", sparse=True)(INTEGERS, weights)),
            *parts_of(crossing((["A", "B"], [101, 102]))),
            *parts_of(weighed([["a", "q", "a"], ["b", "b", "b"]])),
        )

    compare(encoded)


def test_older_names():
    older = runnel.keras.layers.experimental.preprocessing
    names = [n for n in vars(tf_keras.layers.experimental.preprocessing) if n[0].isupper()]
    assert len(names) > 15
    for name in names:
        kind = getattr(older, name)
        assert issubclass(kind, runnel.keras.layers.Layer)
        assert name == "PreprocessingLayer" or kind is getattr(runnel.keras.layers, name)
