"""model_to_dot and plot_model: the graphs that tf_keras draws."""

import re
import shutil
import sys

import pytest
from side_by_side import compare, compare_failure

import runnel


def graph(keras, model, **kwargs):
    """The text of a graph, with the numbers of layers as they come first."""
    pytest.importorskip("pydot", reason="pydot is not installed")
    numbers = {}
    text = keras.utils.model_to_dot(model, **kwargs).to_string()
    return re.sub(
        r"\d{10,}", lambda found: str(numbers.setdefault(found.group(), len(numbers))), text
    )


def stack(keras):
    layers = keras.layers
    return keras.Sequential(
        [
            layers.Dense(2, activation="relu", name="first"),
            layers.Dropout(0.1, name="dropout", trainable=False),
            layers.Activation("tanh", name="last"),
        ],
        name="stack",
    )


def branched(tf, keras):
    layers = keras.layers
    one, other = keras.Input([4, 3], name="one"), keras.Input([4, 3], name="other")
    both = layers.Concatenate(name="both")([one, other])
    output, *_ = layers.LSTM(2, name="lstm", return_state=True)(both)
    timed = layers.TimeDistributed(layers.Dense(5, name="step"), name="timed")(both)
    last = layers.Bidirectional(layers.GRU(2, name="gru"), name="two_ways")(timed)
    inner = keras.Sequential(
        [keras.Input([2], name="start"), layers.Dense(3, name="a"), layers.Dense(1, name="b")],
        name="inner",
    )
    return keras.Model([one, other], [layers.ReLU(name="relu")(inner(output)), last], name="outer")


OPTIONS = [
    {},
    {"show_shapes": True},
    {"show_dtype": True},
    {"show_layer_names": False, "rankdir": "LR", "dpi": 60},
    {"show_layer_activations": True},
    {"show_trainable": True},
    {
        "show_shapes": True,
        "show_dtype": True,
        "show_trainable": True,
        "show_layer_activations": True,
    },
    {"expand_nested": True, "show_shapes": True},
]


@pytest.mark.parametrize("kwargs", OPTIONS)
def test_graphs(kwargs):
    def texts(tf, keras):
        model = stack(keras)
        model.build([None, 3])
        found = [graph(keras, model, **kwargs), graph(keras, branched(tf, keras), **kwargs)]
        found.append(graph(keras, model, subgraph=True, **kwargs))
        return found

    compare(texts)


def test_a_model_in_a_stack():
    def text(tf, keras):
        inputs = keras.Input([3], name="start")
        hidden = keras.layers.Dense(2, name="hidden")(inputs)
        inner = keras.Model(inputs, keras.layers.Dense(1, name="end")(hidden), name="inner")
        outer = keras.Sequential([inner, keras.layers.Dense(3, name="top")], name="outer")
        return graph(keras, outer, expand_nested=True), graph(keras, outer)

    compare(text)


def test_operations_have_shapes():
    def text(tf, keras):
        inputs = keras.Input([3], name="start")
        model = keras.Model(inputs, tf.nn.relu(inputs), name="model")
        return re.sub(r"tf\.nn\.relu\w*", "relu", graph(keras, model, show_shapes=True))

    compare(text)


def test_a_range_of_layers():
    model = stack(runnel.keras)
    model.build([None, 3])
    text = graph(runnel.keras, model, layer_range=["first", "dropout"])
    assert "first|Dense" in text
    assert "dropout|Dropout" in text
    assert "last" not in text
    assert "InputLayer" not in text
    with pytest.raises(ValueError, match="names of two layers"):
        graph(runnel.keras, model, layer_range=["first", "third"])
    with pytest.raises(ValueError, match=r"shape \(2,\)"):
        graph(runnel.keras, model, layer_range=["first"])


def test_a_subclassed_model_is_one_node():
    def text(tf, keras):
        class Doubled(keras.Model):
            def call(self, inputs):
                return inputs * 2.0

        model = Doubled(name="doubled")
        model.build([1, 2])
        return graph(keras, model)

    compare(text)


def test_unbuilt_models():
    pytest.importorskip("pydot", reason="pydot is not installed")
    compare_failure(lambda tf, keras: keras.utils.model_to_dot(stack(keras)))
    compare_failure(lambda tf, keras: keras.utils.plot_model(stack(keras)))


@pytest.mark.parametrize("name", ["model.png", "model.svg", "model.dot", "model"])
def test_pictures(tmp_path, name):
    pytest.importorskip("pydot", reason="pydot is not installed")
    if not shutil.which("dot"):
        pytest.skip("Graphviz is not installed")
    model = stack(runnel.keras)
    model.build([None, 3])
    runnel.keras.utils.plot_model(model, tmp_path / name, show_shapes=True)
    content = (tmp_path / name).read_bytes()
    marks = {"model.svg": b"<svg", "model.dot": b"digraph"}
    assert marks.get(name, b"\x89PNG") in content


def test_what_is_missing_is_said(monkeypatch, tmp_path):
    model = stack(runnel.keras)
    model.build([None, 3])
    monkeypatch.setitem(sys.modules, "pydot", None)
    with pytest.raises(ImportError, match="pip install pydot"):
        runnel.keras.utils.model_to_dot(model)
    with pytest.raises(ImportError, match="install graphviz"):
        runnel.keras.utils.plot_model(model, tmp_path / "model.png")
    monkeypatch.undo()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ImportError, match="install graphviz"):
        runnel.keras.utils.plot_model(model, tmp_path / "model.png")
    assert not (tmp_path / "model.png").exists()
