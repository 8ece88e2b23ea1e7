"""Ragged and sparse tensors in Keras: layers, models, training, configs and files."""

import json
import warnings

import numpy as np
import pytest
import tensorflow
import tf_keras

import runnel

FRAMEWORKS = [(tensorflow, tf_keras), (runnel, runnel.keras)]

VALUES = {
    "sequences": lambda tf: tf.RaggedTensor.from_row_lengths(_floats(6, 3), [2, 0, 3, 1]),
    "documents": lambda tf: tf.RaggedTensor.from_nested_row_lengths(
        _floats(6, 3), [[2, 1], [3, 2, 1]]
    ),
    "uniform": lambda tf: tf.RaggedTensor.from_tensor(_floats(2, 3, 4), ragged_rank=2),
    "rows": lambda tf: tf.ragged.constant([[1.0, 2.0], [], [4.0, -3.0, 2.0]], dtype=tf.float32),
    "ids": lambda tf: tf.ragged.constant([[1, 2], [0], [4, 3, 2]], dtype=tf.int64),
    "words": lambda tf: tf.ragged.constant([["a", "b"], ["c"], []], dtype=tf.string),
    "texts": lambda tf: tf.constant(["a b", "c", "b b a"]),
    "matrix": lambda tf: tf.sparse.from_dense(
        np.array([[0, 1.5, 0, 2], [0, 0, 0, 0], [3, 0, -1, 0]], np.float32)
    ),
    "sparse ids": lambda tf: tf.sparse.from_dense(
        np.array([[0, 1, 0, 2], [0, 0, 0, 0], [3, 0, 1, 0]], np.int64)
    ),
}
INPUTS = {
    "sequences": {"shape": [None, 3], "ragged": True},
    "documents": {"shape": [None, None, 3], "ragged": True},
    "rows": {"shape": [None], "ragged": True},
    "ids": {"shape": [None], "ragged": True, "dtype": "int64"},
    "words": {"shape": [None], "ragged": True, "dtype": "string"},
    "texts": {"shape": [], "dtype": "string"},
    "matrix": {"shape": [4], "sparse": True},
    "sparse ids": {"shape": [4], "sparse": True, "dtype": "int64"},
}


def _floats(*shape):
    return np.random.default_rng(1).normal(size=shape).astype(np.float32)


def parts(value):
    """What a dense, ragged or sparse value is made of, as arrays."""
    if hasattr(value, "row_splits"):
        return ["ragged", *[each.numpy() for each in (*value.nested_row_splits, value.flat_values)]]
    if hasattr(value, "dense_shape"):
        return [
            "sparse",
            *[np.asarray(x) for x in (value.indices, value.values, value.dense_shape)],
        ]
    return ["dense", np.asarray(value)]


def assert_same(got, wanted):
    got, wanted = runnel.nest.flatten(got), tensorflow.nest.flatten(wanted)
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted, strict=True):
        (kind, *arrays), (expected, *references) = parts(one), parts(other)
        assert kind == expected
        for array, reference in zip(arrays, references, strict=True):
            assert array.dtype == reference.dtype
            if array.dtype == object:
                assert array.tolist() == reference.tolist()
            else:
                np.testing.assert_allclose(array, reference, rtol=1e-5, atol=1e-6)


def quietly(function, *args):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


def with_weights(model, seed=5):
    random = np.random.default_rng(seed)
    values = model.get_weights()
    if all(each.dtype.kind == "f" for each in values):
        model.set_weights([random.normal(size=v.shape).astype(v.dtype) for v in values])
    return model


LAYERS = [
    ("ids", lambda layers: layers.Embedding(5, 3)),
    ("sparse ids", lambda layers: layers.Embedding(5, 3)),
    ("texts", lambda layers: layers.TextVectorization(ragged=True, vocabulary=["a", "b"])),
    ("words", lambda layers: layers.StringLookup(vocabulary=["a", "b"])),
    ("words", lambda layers: layers.StringLookup(vocabulary=["a", "b"], output_mode="multi_hot")),
    ("words", lambda layers: layers.StringLookup(vocabulary=["a", "b"], output_mode="count")),
    ("ids", lambda layers: layers.IntegerLookup(vocabulary=[3, 4])),
    ("sparse ids", lambda layers: layers.IntegerLookup(vocabulary=[3, 4])),
    ("words", lambda layers: layers.Hashing(3)),
    ("rows", lambda layers: layers.Discretization([0.0, 1.0])),
    ("ids", lambda layers: layers.CategoryEncoding(5)),
    ("ids", lambda layers: layers.CategoryEncoding(5, output_mode="count")),
    ("sparse ids", lambda layers: layers.CategoryEncoding(5)),
    ("matrix", lambda layers: layers.Dense(2)),
    ("sequences", lambda layers: layers.Dense(2, activation="relu")),
    ("documents", lambda layers: layers.Dense(2)),
    ("sequences", lambda layers: layers.Activation("softmax")),
    ("sequences", lambda layers: layers.Activation("gelu")),
    ("sequences", lambda layers: layers.ELU()),
    ("sequences", lambda layers: layers.LeakyReLU()),
    ("rows", lambda layers: layers.Softmax()),
    ("sequences", lambda layers: layers.Dropout(0.5)),
    ("matrix", lambda layers: layers.Dropout(0.5)),
    ("sequences", lambda layers: layers.LSTM(2)),
    ("sequences", lambda layers: layers.LSTM(2, return_sequences=True, return_state=True)),
    ("sequences", lambda layers: layers.LSTM(2, return_sequences=True, go_backwards=True)),
    ("sequences", lambda layers: layers.GRU(2, return_sequences=True)),
    ("sequences", lambda layers: layers.GRU(2, go_backwards=True)),
    ("sequences", lambda layers: layers.SimpleRNN(2, return_sequences=True, go_backwards=True)),
    ("sequences", lambda layers: layers.RNN([layers.LSTMCell(2), layers.GRUCell(3)])),
    ("sequences", lambda layers: layers.Bidirectional(layers.LSTM(2, return_sequences=True))),
    ("sequences", lambda layers: layers.TimeDistributed(layers.Dense(2))),
    ("documents", lambda layers: layers.TimeDistributed(layers.Dense(2))),
    ("sequences", lambda layers: layers.GlobalAveragePooling1D()),
    ("sequences", lambda layers: layers.GlobalMaxPooling1D()),
    ("sequences", lambda layers: layers.Rescaling(2.0, 1.0)),
    ("sequences", lambda layers: layers.LayerNormalization()),
    ("sequences", lambda layers: layers.Masking()),
    ("sequences", lambda layers: lambda x: layers.Add()([x, x])),
    ("rows", lambda layers: lambda x: layers.Maximum()([x, x])),
    ("sequences", lambda layers: lambda x: layers.Average()([x, x])),
    ("sequences", lambda layers: lambda x: layers.Concatenate()([x, x])),
    ("rows", lambda layers: lambda x: layers.Concatenate(axis=1)([x, x])),
    ("matrix", lambda layers: lambda x: layers.Concatenate()([x, x])),
    ("sequences", lambda layers: layers.Lambda(lambda x: x.to_tensor())),
]


@pytest.mark.parametrize(("kind", "make"), LAYERS, ids=range(len(LAYERS)))
def test_layers(kind, make):
    """In a functional model: the values, the types of outputs, and the layers."""
    results = []
    for tf, keras in FRAMEWORKS:
        keras.backend.clear_session()
        value = VALUES[kind](tf)
        inputs = keras.Input(**INPUTS[kind], name="given")
        outputs = make(keras.layers)(inputs)
        model = with_weights(keras.Model(inputs, outputs))
        results.append(
            {
                "model": model(value),
                "types": [each.type_spec for each in tf.nest.flatten(outputs)],
                "layers": [type(layer).__name__ for layer in model.layers],
            }
        )
    wanted, got = results
    assert_same(got["model"], wanted["model"])
    if kind != "sparse ids":  # where more is known than in the original
        assert list(map(repr, got["types"])) == list(map(repr, wanted["types"]))
    assert got["layers"] == wanted["layers"]


PREDICTED = [
    ("sequences", lambda layers: layers.Dense(2)),
    ("texts", lambda layers: layers.TextVectorization(ragged=True, vocabulary=["a", "b"])),
    ("sequences", lambda layers: layers.Lambda(lambda x: x.to_tensor())),
    ("sequences", lambda layers: layers.LSTM(2, return_sequences=True, return_state=True)),
    ("matrix", lambda layers: layers.Dropout(0.5)),
]


@pytest.mark.parametrize(("kind", "make"), PREDICTED, ids=range(len(PREDICTED)))
def test_predict_in_batches(kind, make):
    results = []
    for tf, keras in FRAMEWORKS:
        inputs = keras.Input(**INPUTS[kind])
        model = with_weights(keras.Model(inputs, make(keras.layers)(inputs)))
        value = VALUES[kind](tf)
        results.append(quietly(lambda: model.predict(value, batch_size=2, verbose=0)))
    assert_same(results[1], results[0])


def test_a_uniform_last_axis():
    results = []
    for tf, keras in FRAMEWORKS:
        layer = keras.layers.Dense(2)
        layer.build([2, None, 4])
        results.append(with_weights(layer)(VALUES["uniform"](tf)))
    assert_same(results[1].to_tensor(), results[0].to_tensor())


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": [None], "ragged": True},
        {"shape": [None, 3], "ragged": True, "dtype": "int32"},
        {"shape": [None, None, 5], "ragged": True},
        {"shape": [None], "batch_size": 3, "ragged": True},
        {"shape": [4], "sparse": True},
        {"type_spec": ("RaggedTensorSpec", [None, None], "int64")},
        {"type_spec": ("SparseTensorSpec", [None, 4], "int64")},
        {"type_spec": ("TensorSpec", [None, 4], "int64")},
    ],
)
def test_inputs(arguments):
    texts = []
    for tf, keras in FRAMEWORKS:
        given = dict(arguments)
        if "type_spec" in given:
            kind, *rest = given["type_spec"]
            given["type_spec"] = getattr(tf, kind)(*rest)
        x = keras.Input(**given, name="x")
        layer = x._keras_history.layer
        # The original gives inputs of a type no name.
        named = [] if "type_spec" in given else [str(x), x.name]
        texts.append(
            [repr(x), *named, type(x).__name__, repr(x.shape), repr(x.type_spec), repr(x.dtype),
             repr(layer.get_config()), keras.backend.is_keras_tensor(x)]
        )  # fmt: skip
    assert texts[1] == texts[0]


OPERATIONS = {
    "to_tensor": ("sequences", lambda tf, x: x.to_tensor()),
    "to_tensor with arguments": (
        "sequences", lambda tf, x: x.to_tensor(default_value=1.0, shape=[None, 4, 3])
    ),
    "values": ("sequences", lambda tf, x: x.values),
    "flat values": ("documents", lambda tf, x: x.flat_values),
    "row_splits": ("sequences", lambda tf, x: x.row_splits),
    "row_lengths": ("sequences", lambda tf, x: x.row_lengths()),
    "sparse values": ("matrix", lambda tf, x: x.values),
    "sum": ("sequences", lambda tf, x: x + x),
    "reflected": ("sequences", lambda tf, x: 1 - x),
    "slice": ("sequences", lambda tf, x: x[:, 1:]),
    "from_tensor": ("dense", lambda tf, x: tf.RaggedTensor.from_tensor(x)),
    "concat": ("rows", lambda tf, x: tf.concat([x, x], 1)),
    "mean": ("sequences", lambda tf, x: tf.reduce_mean(x, axis=1)),
    "boolean_mask": ("ids", lambda tf, x: tf.ragged.boolean_mask(x, x > 1)),
    "cast": ("matrix", lambda tf, x: tf.cast(x, tf.int32)),
    "split": ("texts", lambda tf, x: tf.strings.split(x)),
    "chain": ("sequences", lambda tf, x: tf.reduce_sum((tf.abs(x) * 2.0).to_tensor(), axis=[1, 2])),
}  # fmt: skip


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name):
    """Public functions and members of composites as layers: values, configs, clones."""
    kind, function = OPERATIONS[name]
    results, configs = [], []
    for tf, keras in FRAMEWORKS:
        keras.backend.clear_session()
        value = tf.constant(_floats(2, 3)) if kind == "dense" else VALUES[kind](tf)
        given = {"shape": [3]} if kind == "dense" else INPUTS[kind]
        inputs = keras.Input(**given, name="given")
        model = keras.Model(inputs, function(tf, inputs), name="model")
        results.append(model(value))
        configs.append(model.get_config())
        again = keras.Model.from_config(model.get_config())
        assert_same(again(value) if tf is runnel else results[0], results[0])
        if tf is runnel:
            assert_same(keras.models.clone_model(model)(value), results[0])
    assert_same(results[1], results[0])
    assert _text(configs[1]) == _text(configs[0])


def _text(config):
    return json.dumps(config, sort_keys=True, default=lambda value: value.name)


MODELS = {
    "sequences": lambda layers, x: layers.LSTM(2)(x),
    "embedded": lambda layers, x: layers.GlobalAveragePooling1D()(layers.Embedding(5, 2)(x)),
    "matrix": lambda layers, x: layers.Dense(2)(x),
    "padded": lambda layers, x: layers.LSTM(2)((x + 1.0).to_tensor()),
}
KINDS = {"embedded": "ids", "padded": "sequences"}


def model_of(keras, name):
    keras.backend.clear_session()
    x = keras.Input(**INPUTS[KINDS.get(name, name)], name="x")
    return with_weights(keras.Model(x, MODELS[name](keras.layers, x)))


@pytest.mark.parametrize(
    ("name", "eager"), [*[(name, False) for name in MODELS], ("sequences", True), ("matrix", True)]
)
def test_training(name, eager):
    results = []
    for tf, keras in FRAMEWORKS:
        value = VALUES[KINDS.get(name, name)](tf)
        rows = int(value.shape[0])
        model = model_of(keras, name)
        model.compile(keras.optimizers.SGD(0.1), "mse", metrics=["mae"], run_eagerly=eager)
        targets = _floats(rows, 2)
        history = quietly(
            lambda: model.fit(value, targets, batch_size=2, epochs=2, shuffle=False, verbose=0)
        ).history
        results.append(
            [*history["loss"], *history["mae"],
             *quietly(lambda: model.evaluate(value, targets, batch_size=2, verbose=0)),
             *model.train_on_batch(value, targets), *model.test_on_batch(value, targets),
             *np.ravel(model.predict_on_batch(value)), *np.ravel(model.get_weights()[0])]
        )  # fmt: skip
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-5)


def test_shuffled_rows_belong_to_their_targets():
    """Every row is its own target, so that any other order would leave a loss."""
    rows = np.arange(12, dtype=np.float32).reshape(12, 1)
    ragged = runnel.RaggedTensor.from_row_lengths(rows, [1] * 12)
    for value in (ragged, runnel.sparse.from_dense(rows)):
        seen = []

        class Watching(runnel.keras.Model):
            def call(self, inputs):
                rank = inputs.shape.rank
                return runnel.sparse.to_dense(inputs) if rank == 2 else inputs.to_tensor()[:, 0]

            def train_step(self, data):
                x, y = data
                seen.append((self(x).numpy().ravel(), y.numpy().ravel()))
                return {"loss": runnel.constant(0.0)}

        model = Watching()
        model.compile("sgd", "mse", run_eagerly=True)
        model.fit(value, rows, batch_size=5, shuffle=True, verbose=0)
        inputs, targets = (np.concatenate(each) for each in zip(*seen, strict=True))
        np.testing.assert_array_equal(inputs, targets)
        assert sorted(targets) == list(range(12))
        assert list(targets) != sorted(targets)


def test_matrices_of_scipy():
    scipy_sparse = pytest.importorskip("scipy.sparse")
    results = []
    for _, keras in FRAMEWORKS:
        model = model_of(keras, "matrix")
        matrix = scipy_sparse.csr_matrix(np.eye(5, 4))
        results.append(quietly(lambda: model.predict(matrix, batch_size=2, verbose=0)))
    assert_same(results[1], results[0])


def test_dense_values_for_composite_inputs():
    results = []
    for tf, keras in FRAMEWORKS:
        sequences, matrix = model_of(keras, "sequences"), model_of(keras, "matrix")
        results.append([sequences(tf.constant(_floats(2, 4, 3))), matrix(_floats(5, 4))])
    assert_same(results[1], results[0])


@pytest.mark.parametrize(
    "name",
    ["mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error",
     "mean_squared_logarithmic_error", "binary_crossentropy", "categorical_crossentropy", "huber"],
)  # fmt: skip
def test_loss_functions(name):
    results = []
    for tf, keras in FRAMEWORKS:
        rows = tf.ragged.constant([[0.25, 0.5], [0.75]]), tf.ragged.constant([[0.5, 0.5], [0.2]])
        whole = [tf.RaggedTensor.from_row_lengths(np.abs(_floats(3, 2)) / 4 + shift, [2, 1])
                 for shift in (0.1, 0.2)]  # fmt: skip
        function = getattr(keras.losses, name)
        results.append([quietly(function, *rows), quietly(function, *whole)])
    assert_same(results[1], results[0])


@pytest.mark.parametrize("reduction", ["sum_over_batch_size", "sum", "none"])
@pytest.mark.parametrize(
    "name",
    ["MeanSquaredError", "BinaryCrossentropy", "CategoricalCrossentropy",
     "SparseCategoricalCrossentropy", "Huber"],
)  # fmt: skip
def test_losses(name, reduction):
    results = []
    for tf, keras in FRAMEWORKS:
        guesses = tf.ragged.constant([[[0.5, 0.5], [0.4, 0.6]], [[0.2, 0.8]]], ragged_rank=1)
        labels = tf.ragged.constant([[[0.0, 1.0], [1.0, 0.0]], [[0.0, 1.0]]], ragged_rank=1)
        if name.startswith("Sparse"):
            labels = tf.ragged.constant([[0, 1], [1]])
        results.append(getattr(keras.losses, name)(reduction=reduction)(labels, guesses))
    assert_same(results[1], results[0])


@pytest.mark.parametrize(
    "name",
    ["MeanSquaredError", "MeanAbsoluteError", "BinaryAccuracy", "BinaryCrossentropy", "Precision",
     "Recall", "AUC", "Mean", "Sum"],
)  # fmt: skip
def test_metrics(name):
    results = []
    for tf, keras in FRAMEWORKS:
        metric = getattr(keras.metrics, name)()
        labels = tf.ragged.constant([[0.0, 1.0], [1.0]])
        guesses = tf.ragged.constant([[0.5, 0.7], [0.2]])
        metric.update_state(*([guesses] if name in ("Mean", "Sum") else [labels, guesses]))
        results.append(metric.result())
    assert_same(results[1], results[0])


@pytest.mark.parametrize("suffix", ["keras", "h5"])
@pytest.mark.parametrize("name", MODELS)
def test_files(name, suffix, tmp_path):
    """What one framework saves, the other loads."""
    for (tf, keras), (other, reader) in (FRAMEWORKS, FRAMEWORKS[::-1]):
        model = model_of(keras, name)
        path = str(tmp_path / f"{tf.__name__}.{suffix}")
        quietly(model.save, path)
        loaded = quietly(reader.models.load_model, path)
        kind = KINDS.get(name, name)
        got, wanted = loaded(VALUES[kind](other)), model(VALUES[kind](tf))
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
        assert repr(loaded.input) == repr(model.input)


@pytest.mark.parametrize("suffix", ["keras", "h5"])
def test_files_with_a_type_spec(suffix, tmp_path):
    for (tf, keras), (_, reader) in (FRAMEWORKS, FRAMEWORKS[::-1]):
        x = keras.Input(type_spec=tf.RaggedTensorSpec([None, None, 3], ragged_rank=1), name="x")
        model = keras.Model(x, keras.layers.Dense(2)(x))
        path = str(tmp_path / f"{tf.__name__}.{suffix}")
        quietly(model.save, path)
        assert repr(quietly(reader.models.load_model, path).input) == repr(model.input)


BAD = {
    "a mask": lambda tf, keras, x: keras.layers.LSTM(2)(x, mask=tf.ones([4, 2], tf.bool)),
    "unrolled": lambda tf, keras, x: keras.layers.LSTM(2, unroll=True)(x),
    "one column": lambda tf, keras, x: keras.Input([None, 3], ragged=True)[:, 0],
    "both": lambda tf, keras, x: keras.Input([3], ragged=True, sparse=True),
    "validation_split": lambda tf, keras, x: _compiled(keras).fit(
        x, np.zeros([4, 2]), validation_split=0.5, verbose=0
    ),
    "cardinality": lambda tf, keras, x: _compiled(keras).fit(x, np.zeros([3, 2]), verbose=0),
    "added matrices": lambda tf, keras, x: keras.layers.Add()([VALUES["matrix"](tf)] * 2),
}


def _compiled(keras):
    model = model_of(keras, "sequences")
    model.compile("sgd", "mse")
    return model


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    kinds = []
    for tf, keras in FRAMEWORKS:
        with pytest.raises((ValueError, TypeError)) as error:
            quietly(BAD[name], tf, keras, VALUES["sequences"](tf))
        kinds.append(error.type)
    assert kinds[1] is kinds[0]


def test_files_name_no_other_member(tmp_path):
    x = runnel.keras.Input([None], ragged=True)
    config = runnel.keras.Model(x, x.row_lengths()).get_config()
    text = json.dumps(config).replace('"row_lengths"', '"__class__"')
    with pytest.raises(ValueError, match="__class__"):
        runnel.keras.Model.from_config(json.loads(text))
