"""StringLookup, IntegerLookup and TextVectorization beside the original's."""

import numpy as np
import pytest
from layer_check import plain
from side_by_side import compare, compare_failure

import runnel
from runnel.core.graph.graph import Graph

TEXTS = np.array([["a", "q"], ["", "b"], ["x", "a"], ["é", "c"]])
NUMBERS = np.array([[12, -1], [42, 1000], [0, 12], [37, 1138]])
VOCABULARIES = {"StringLookup": ["a", "b", "c"], "IntegerLookup": [12, 1138, 42]}
INPUTS = {"StringLookup": TEXTS, "IntegerLookup": NUMBERS}
MASKS = {"StringLookup": "", "IntegerLookup": 0}


def plainly(values):
    """A list with Python's own values for NumPy's."""
    return [value.item() if isinstance(value, np.generic) else value for value in values]


def vocabulary_of(layer):
    """The vocabulary as plain values."""
    return plainly(layer.get_vocabulary())


def config_of(layer):
    """The config as plain values."""
    config = plain(layer.get_config())
    return dict(zip(config, plainly(config.values()), strict=True))


def state_of(layer):
    """What tells one lookup layer from another."""
    without = plainly(layer.get_vocabulary(include_special_tokens=False))
    return vocabulary_of(layer), without, layer.vocabulary_size(), config_of(layer)


@pytest.mark.parametrize("name", ["StringLookup", "IntegerLookup"])
@pytest.mark.parametrize("output_mode", ["int", "one_hot", "multi_hot", "count", "tf_idf"])
@pytest.mark.parametrize(
    ("num_oov_indices", "mask", "max_tokens"), [(1, False, None), (2, True, 9), (3, False, None)]
)
def test_lookup(name, output_mode, num_oov_indices, mask, max_tokens):
    kwargs = {
        "vocabulary": VOCABULARIES[name],
        "output_mode": output_mode,
        "num_oov_indices": num_oov_indices,
        "mask_token": MASKS[name] if mask else None,
        "max_tokens": max_tokens,
        "pad_to_max_tokens": max_tokens is not None,
        "name": "layer",
    }
    if output_mode == "tf_idf":
        kwargs["idf_weights"] = [0.1, 0.2, 0.4]
    array = INPUTS[name][:, :1] if output_mode == "one_hot" else INPUTS[name]

    def found(tf, keras):
        layer = getattr(keras.layers, name)(**kwargs)
        again = type(layer).from_config(config_of(layer))
        dtype = "string" if name == "StringLookup" else "int64"
        outputs = layer(keras.Input(array.shape[1:], dtype=dtype))
        return (
            layer(array),
            layer(array[:, 0]),
            layer(array[0, 0].item()),
            layer(array.tolist()),
            again(array),
            state_of(layer),
            layer.get_weights(),
            (tuple(outputs.shape), outputs.dtype.name),
            tuple(layer.compute_output_shape((None, 3))),
            layer.is_adapted,
        )

    compare(found)


@pytest.mark.parametrize("name", ["StringLookup", "IntegerLookup"])
@pytest.mark.parametrize("mask", [False, True])
def test_inverted(name, mask):
    def found(tf, keras):
        mask_token = MASKS[name] if mask else None
        layer = getattr(keras.layers, name)(
            vocabulary=VOCABULARIES[name], invert=True, mask_token=mask_token, name="layer"
        )
        outputs = layer(keras.Input((2,), dtype="int64"))
        return layer([[0, 1], [3, 9]]), layer(2), state_of(layer), outputs.dtype.name

    compare(found)


@pytest.mark.parametrize(("max_tokens", "mask"), [(None, False), (3, True), (5, False)])
def test_string_lookup_adapts(max_tokens, mask):
    generator = np.random.default_rng(max_tokens)
    words = ["".join(generator.choice(list("abé "), 2)).strip() for _ in range(30)]

    def adapted(tf, keras):
        layer = keras.layers.StringLookup(
            max_tokens=max_tokens, mask_token="" if mask else None, name="layer"
        )
        layer.adapt(np.array(words), batch_size=7)
        return layer(words), state_of(layer)

    compare(adapted)


@pytest.mark.parametrize("max_tokens", [None, 4])
def test_integer_lookup_adapts(max_tokens):
    numbers = np.random.default_rng(0).integers(-5, 6, size=(10, 3))

    def adapted(tf, keras):
        layer = keras.layers.IntegerLookup(max_tokens=max_tokens, name="layer")
        layer.adapt(numbers)
        return layer(numbers), state_of(layer)

    compare(adapted)


def test_adapts_again_and_is_set():
    def adapted(tf, keras):
        layer = keras.layers.StringLookup(name="layer")
        layer.adapt(["b", "a", "c", "B", "aa"])
        results = [state_of(layer), layer(["a", "z"])]
        layer.set_vocabulary(["x", "y"])
        results += [state_of(layer), layer(["x", "a"])]
        layer.adapt([["k"], ["k"]])
        results += [vocabulary_of(layer), layer(["k", "x"]), layer.is_adapted]
        layer.reset_state()
        return [*results, vocabulary_of(layer), layer.is_adapted]

    compare(adapted)


def test_tf_idf_is_learnt():
    def adapted(tf, keras):
        results = []
        for kwargs in ({}, {"max_tokens": 3}, {"max_tokens": 6, "pad_to_max_tokens": True}):
            layer = keras.layers.StringLookup(output_mode="tf_idf", **kwargs, name="layer")
            layer.adapt(tf.ragged.constant([["a", "b"], ["a", "c", "c"], ["c"]]))
            results += [state_of(layer), layer([["a", "q"], ["c", "c"]]), layer.idf_weights.numpy()]
        return results

    compare(adapted)


def test_tf_idf_of_rows_with_repetitions():
    # The original cannot stack the different numbers of words in these rows.
    layer = runnel.keras.layers.StringLookup(output_mode="tf_idf")
    layer.adapt([["a", "b"], ["a", "c"], ["c", "c"]])
    want = np.log(1 + 3 / (1 + np.array([2, 2, 1])))
    np.testing.assert_allclose(layer.idf_weights.numpy()[1:], want, rtol=1e-6)
    np.testing.assert_allclose(layer.idf_weights.numpy()[0], want.mean(), rtol=1e-6)


def test_vocabulary_files(tmp_path):
    (tmp_path / "words.txt").write_text("x\ny\nz\n", encoding="utf-8")
    (tmp_path / "numbers.txt").write_text("5\n7\n", encoding="utf-8")

    def found(tf, keras):
        layers = keras.layers
        words = layers.StringLookup(vocabulary=str(tmp_path / "words.txt"), name="layer")
        numbers = layers.IntegerLookup(vocabulary=str(tmp_path / "numbers.txt"), name="layer")
        texts = layers.TextVectorization(vocabulary=str(tmp_path / "words.txt"), name="layer")
        results = [words(["x", "q", "z"]), numbers([5, 6, 7]), texts(["X z", "q"])]
        return [*results, state_of(words), state_of(numbers), config_of(texts)]

    compare(found)


def test_ragged_tokens():
    def found(tf, keras):
        ragged = tf.ragged.constant([["a", "b"], ["q"], []])
        results = keras.layers.StringLookup(vocabulary=["a", "b"])(ragged).to_list()
        for output_mode in ("multi_hot", "count"):
            layer = keras.layers.StringLookup(
                vocabulary=["a", "b"], output_mode=output_mode, mask_token="q"
            )
            results.append(layer(ragged))
        results.append(keras.layers.Hashing(100)(ragged).to_list())
        numbers = tf.ragged.constant([[1, 2], [3]])
        results.append(keras.layers.CategoryEncoding(4)(numbers))
        results.append(keras.layers.Rescaling(2.0)(numbers).to_list())
        results.append(keras.layers.Discretization([1.5, 2.5])(numbers).to_list())
        return results

    compare(found)


def test_in_a_graph():
    layer = runnel.keras.layers.StringLookup(
        vocabulary=["a", "b", "c"], num_oov_indices=2, mask_token="", output_mode="count"
    )
    texts = runnel.keras.layers.TextVectorization(vocabulary=["a", "b"], output_sequence_length=4)
    graph = Graph()
    with graph.as_default():
        tokens = graph.placeholder(runnel.string, runnel.TensorShape([None, 2]))
        lines = graph.placeholder(runnel.string, runnel.TensorShape([None]))
        outputs = [layer(tokens), texts(lines)]
    feeds = [runnel.constant(TEXTS), runnel.constant(["a b, a", "B", "a b c d e"])]
    got = graph.compute(outputs, list(zip([tokens, lines], [f._array for f in feeds], strict=True)))
    for eager, traced in zip((layer(feeds[0]), texts(feeds[1])), got, strict=True):
        np.testing.assert_array_equal(traced, eager.numpy())
    assert outputs[1].shape.as_list() == [None, 4]


class Elements:
    """What `adapt` needs of a dataset."""

    def __init__(self, elements, element_spec):
        self._elements = elements
        self.element_spec = element_spec

    def __iter__(self):
        return iter(self._elements)


def test_datasets():
    batches = [["a b", "b"], ["b c"]]

    def learnt(tf, keras):
        layers = keras.layers
        lines, words = layers.TextVectorization(), layers.StringLookup()
        numbers = layers.Normalization()
        if tf is runnel:
            texts = Elements(batches, tf.TensorSpec([None], tf.string))
            rows = Elements([tf.constant([[1.0, 2.0]])] * 3, tf.TensorSpec([None, 2], tf.float32))
            single = Elements([tf.constant(t) for t in "abb"], tf.TensorSpec([], tf.string))
        else:
            texts = tf.data.Dataset.from_generator(
                lambda: iter(batches), output_signature=tf.TensorSpec([None], tf.string)
            )
            rows = tf.data.Dataset.from_tensors([[1.0, 2.0]]).repeat(3)
            single = tf.data.Dataset.from_tensor_slices(list("abb"))
        lines.adapt(texts)
        results = [vocabulary_of(lines)]
        lines.adapt(texts, steps=1)
        words.adapt(single)
        numbers.adapt(rows)
        return [*results, vocabulary_of(lines), vocabulary_of(words), numbers.get_weights()]

    compare(learnt)


def test_datasets_of_pairs_are_refused():
    spec = runnel.TensorSpec([None], runnel.string)
    pairs = Elements([(["a"], ["b"])], (spec, spec))
    with pytest.raises(ValueError, match="several parts"):
        runnel.keras.layers.StringLookup().adapt(pairs)


LINES = ["Foo bar, baz!", "foo FOO qux.", "", "b's #x_y @a-b É", "  foo\tbar\nfoo "]


@pytest.mark.parametrize(
    "kwargs",
    [
        {},
        {"max_tokens": 5},
        {"standardize": None},
        {"standardize": "lower"},
        {"standardize": "strip_punctuation", "split": "character"},
        {"ngrams": 2},
        {"ngrams": (1, 3), "output_mode": "count"},
        {"output_sequence_length": 3},
        {"output_mode": "multi_hot", "max_tokens": 20, "pad_to_max_tokens": True},
        {"output_mode": "tf_idf"},
        {"split": None},
    ],
)
def test_text_vectorization(kwargs):
    def vectors(tf, keras):
        layer = keras.layers.TextVectorization(**kwargs, name="layer")
        fresh = state_of(layer)
        layer.adapt(LINES)
        results = [layer(["foo qux zzz", "bar"]), layer(np.array([["foo bar, É"], ["baz"]]))]
        if kwargs.get("output_sequence_length") is None and kwargs.get("split") != "character":
            results.append(layer("foo bar"))
        inputs = keras.Input((1,), dtype="string")
        output = layer(inputs)
        static = (
            tuple(output.shape),
            output.dtype.name,
            tuple(layer.compute_output_shape((None, 1))),
        )
        return [fresh, *results, state_of(layer), static, layer.is_adapted]

    compare(vectors)


def test_text_vectorization_by_functions():
    def vectors(tf, keras):
        layer = keras.layers.TextVectorization(
            standardize=lambda texts: tf.strings.upper(texts),
            split=lambda texts: tf.strings.split(texts, ","),
        )
        layer.adapt(["A,b", "b,c"])
        return vocabulary_of(layer), layer(["a,b,z"])

    compare(vectors)


def test_text_vectorization_of_a_vocabulary():
    def vectors(tf, keras):
        layer = keras.layers.TextVectorization(vocabulary=["foo", "bar"], ragged=True)
        other = keras.layers.TextVectorization(
            vocabulary=["foo", "bar"], output_mode="tf_idf", idf_weights=[0.5, 0.2], name="layer"
        )
        results = [layer(["foo bar", "zzz"]).to_list(), other(["foo foo bar", "zzz a"])]
        layer.set_vocabulary(["x"])
        return [*results, layer(["x foo"]).to_list(), state_of(other)]

    compare(vectors)


def test_in_a_function():
    def traced(tf, keras):
        layers = keras.layers
        texts = layers.TextVectorization(vocabulary=["a", "b"], output_mode="count")
        flip = layers.RandomFlip(seed=1)
        encoding = layers.CategoryEncoding(4)

        @tf.function
        def compute(lines, images, numbers):
            return texts(lines), flip(images, training=True), encoding(numbers)

        images = np.arange(24, dtype="float32").reshape(2, 3, 2, 2)
        arguments = tf.constant(["a b", "c"]), tf.constant(images), tf.constant([[1, 2]])
        return [compute(*arguments) for _ in range(3)]

    compare(traced)


def test_in_a_model():
    def trained(tf, keras):
        layer = keras.layers.TextVectorization(output_sequence_length=4)
        inputs = keras.Input((1,), dtype="string")
        numbers = layer(inputs)
        model = keras.Model(inputs, keras.layers.Embedding(10, 2, "ones")(numbers))
        layer.adapt(["a b", "b c"])
        return model(tf.constant([["a b z"], ["c"]])), model.predict(np.array([["b"]]), verbose=0)

    compare(trained)


@pytest.mark.parametrize(
    "make",
    [
        lambda layers: layers.StringLookup(vocabulary=["a", "a"]),
        lambda layers: layers.StringLookup(vocabulary=["", "a"], mask_token=""),
        lambda layers: layers.StringLookup(vocabulary=["a", "[UNK]"], invert=True),
        lambda layers: layers.StringLookup(vocabulary=[]),
        lambda layers: layers.StringLookup(vocabulary=["a", "b"], max_tokens=2),
        lambda layers: layers.StringLookup(vocabulary=[1, 2]),
        lambda layers: layers.StringLookup(vocabulary="nowhere.txt"),
        lambda layers: layers.StringLookup(max_tokens=1),
        lambda layers: layers.StringLookup(num_oov_indices=-1),
        lambda layers: layers.StringLookup(output_mode="a"),
        lambda layers: layers.StringLookup(output_mode="one_hot", invert=True),
        lambda layers: layers.StringLookup(pad_to_max_tokens=True),
        lambda layers: layers.StringLookup(sparse=True),
        lambda layers: layers.StringLookup(vocabulary=["a"], idf_weights=[1.0]),
        lambda layers: layers.StringLookup(vocabulary=["a"], output_mode="tf_idf"),
        lambda layers: layers.StringLookup(
            vocabulary=["a"], output_mode="tf_idf", idf_weights=[1.0, 2.0]
        ),
        lambda layers: layers.StringLookup(vocabulary=["a"]).adapt(["b"]),
        lambda layers: layers.StringLookup(vocabulary=["a"]).set_vocabulary([]),
        lambda layers: layers.StringLookup(vocabulary=["a"])([1, 2]),
        lambda layers: layers.StringLookup(vocabulary=["a"], num_oov_indices=0)(["q"]),
        lambda layers: layers.StringLookup()(["a"]),
        lambda layers: layers.StringLookup(output_mode="count")(["a"]),
        lambda layers: layers.StringLookup(foo=1),
        lambda layers: layers.IntegerLookup(vocabulary=[5, 5]),
        lambda layers: layers.IntegerLookup(vocabulary=[5])(["a"]),
        lambda layers: layers.IntegerLookup(vocabulary=[5], num_oov_indices=0)([3]),
        lambda layers: layers.IntegerLookup(vocabulary_dtype="float32"),
        lambda layers: layers.IntegerLookup(max_tokens=1),
        lambda layers: layers.IntegerLookup(mask_token=0, vocabulary=[0, 5]),
        lambda layers: layers.TextVectorization(standardize="a"),
        lambda layers: layers.TextVectorization(split="a"),
        lambda layers: layers.TextVectorization(ngrams="a"),
        lambda layers: layers.TextVectorization(output_mode="a"),
        lambda layers: layers.TextVectorization(output_mode="count", output_sequence_length=3),
        lambda layers: layers.TextVectorization(output_mode="count", ragged=True),
        lambda layers: layers.TextVectorization(output_sequence_length=3, ragged=True),
        lambda layers: layers.TextVectorization(sparse=True),
        lambda layers: layers.TextVectorization(max_tokens=0),
        lambda layers: layers.TextVectorization(pad_to_max_tokens=True),
        lambda layers: layers.TextVectorization(dtype="float32"),
        lambda layers: layers.TextVectorization(vocabulary=["a"]).adapt(["b"]),
        lambda layers: layers.TextVectorization(vocabulary=["a"])([["a", "b"]]),
        lambda layers: layers.TextVectorization(vocabulary=["a"])([1, 2]),
        lambda layers: layers.TextVectorization()(["a"]),
        lambda layers: layers.TextVectorization(output_mode="multi_hot")(["a"]),
    ],
)
def test_refusals(make):
    compare_failure(lambda tf, keras: make(keras.layers))


def test_refuses_another_size_after_a_call():
    def changed(tf, keras):
        layer = keras.layers.StringLookup(vocabulary=["a"], output_mode="multi_hot")
        layer(["a"])
        layer.set_vocabulary(["b"])
        layer.set_vocabulary(["b", "c"])

    compare_failure(changed, message="Old vocab size is 2, new vocab size is 3")
