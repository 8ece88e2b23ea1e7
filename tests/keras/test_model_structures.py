"""Models of inputs and outputs in every structure, and Sequential in every state."""

import pytest
from agreement import agree

SETUP = """
def kinds(value):
    if isinstance(value, dict):
        return {key: kinds(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [kinds(each) for each in value]
    return type(value).__name__.replace("Eager", ""), str(getattr(value, "shape", ""))

def tried(*functions):
    found = []
    for function in functions:
        try:
            found.append(function())
        except Exception as error:
            found.append(type(error).__name__)
    return found

X = np.ones((3, 2), "f4")
"""

STRUCTURES = ["{0}", "[{0}]", "({0},)", "{{'a': {0}}}", "[[{0}]]"]


@pytest.mark.parametrize("outputs", [*STRUCTURES, "[{{'a': {0}}}]"])
@pytest.mark.parametrize("inputs", STRUCTURES)
def test_structures_of_one_input_and_one_output(inputs, outputs):
    data = [inputs.format("X"), "X", "[X]", "(X,)"]
    calls = "".join(
        f"lambda: kinds(m.predict({x}, verbose=0)), lambda: kinds(m({x})), " for x in data
    )
    agree(
        f"""
        i = K.Input((2,), name="a")
        m = K.Model({inputs.format("i")}, {outputs.format("L.Dense(1)(i)")})
        r = tried({calls}lambda: str(m.output_shape), lambda: str(m.input_shape),
                  lambda: kinds(m.outputs), lambda: kinds(m.output), lambda: kinds(m.input),
                  lambda: m.output_names, lambda: kinds(m.predict_on_batch(X)),
                  lambda: str(m.compute_output_shape((3, 2))), lambda: str(m.input_spec),
                  lambda: kinds(m(i)))
        """,
        SETUP,
    )


def sequential(layers, then):
    return f"m = K.Sequential({layers})\n{then}"


DTYPES = "r = [m(np.ones((3, 2), t)).dtype.name for t in ('i4', 'f4', 'i8', 'u1', 'f8', 'i4')]"
STATE = "r = m.built, len(m.layers), len(m.weights), str(m.output_shape), str(m.input_shape)"

SEQUENTIAL = {
    "pop all": sequential("[L.Dense(1, input_shape=(2,))]", "m.pop(); r = m.outputs, m.inputs"),
    "pop all unbuilt": sequential("[L.Dense(1)]", "m.pop(); r = m.outputs, m.built"),
    "pop none": sequential("", "m.pop()"),
    "pop two": sequential(
        "[L.Dense(1, input_shape=(2,)), L.Dense(5), L.Dense(6)]", f"m.pop(); m.pop(); {STATE}"
    ),
    "pop after call": sequential("[L.Dense(1), L.Dense(5)]", f"m(X); m.pop(); {STATE}"),
    "add after build": sequential(
        "[L.Dense(1)]", f"m.build((None, 3)); m.add(L.Dense(4)); {STATE}"
    ),
    "add after call": sequential(
        "[L.Dense(1)]", f"m(X); m.add(L.Dense(4)); s = kinds(m(X)); {STATE}; r = r, s"
    ),
    "other batches": sequential(
        "[L.Dense(1)]", "r = []\nfor n in (2, 2, 5): m(np.ones((n, 3))); r.append(m.output_shape)"
    ),
    "build of a batch": sequential("[L.Dense(1)]", f"m.build((5, 3)); {STATE}"),
    "build twice": sequential("[L.Dense(1)]", f"m.build((5, 3)); m.build((5, 4)); {STATE}"),
    "build without shape": sequential("[L.Dense(1)]", "m.build()"),
    "build of none": sequential("", "m.build((None, 6)); r = m.built, m.outputs"),
    "build of none without shape": sequential("", "m.build()"),
    "summary of none": sequential("", "m.summary()"),
    "call of none": sequential("", "r = m(X)"),
    "predict of none": sequential("", "r = m.predict(np.ones((2, 3), 'f4'), verbose=0)"),
    "inputs alone": sequential(
        "[K.Input((2,))]", "r = m.built, str(m.output_shape), m(np.ones((1, 2), 'i8'))"
    ),
    "one layer": sequential("L.Dense(1)", "r = len(m.layers)"),
    "a generator": sequential("L.Dense(1) for _ in range(3)", "r = 1"),
    "a layer twice": sequential(
        "[L.InputLayer((2,)), d, L.ReLU(), d]",
        "r = [l.name for l in m.layers], m.count_params(), kinds(m(X))",
    ),
    "a layer twice, built later": sequential(
        "[d, d]", "m.build((None, 2)); r = len(m.layers), len(m.weights), m.count_params()"
    ),
    "two layers of a name": sequential("[L.Dense(2, name='a'), L.Dense(2, name='a')]", ""),
    "an empty model": sequential("[K.Sequential(), L.Dense(1)]", "r = kinds(m(X))"),
    "a model of a list": sequential(
        "[K.Model(i, [L.Dense(2)(i)]), L.Dense(1)]", "r = str(m.output_shape)"
    ),
    "several outputs": sequential("[L.LSTM(2, return_state=True)]", "m(np.ones((2, 4, 3)))"),
    "cast": sequential("[K.Input((2,)), L.Flatten()]", DTYPES),
    "cast, without inputs": sequential("[L.Flatten()]", DTYPES),
    "cast, whole numbers": sequential("[K.Input((2,), dtype='int32'), L.Flatten()]", DTYPES),
    "cast of a model": "m = K.Model(i, L.Flatten()(i))\n" + DTYPES,
    "rank 1": sequential(
        "[K.Input((1,)), L.Dense(1)]",
        "r = kinds(m(np.ones(4))), kinds(m.predict(np.ones(4), verbose=0))",
    ),
    "rank 1, fitted": sequential(
        "[K.Input((1,)), L.Dense(1)]",
        "m.compile('sgd', 'mse'); r = len(m.fit(np.ones(4), np.ones(4), verbose=0).history)",
    ),
    "rank 1, without inputs": sequential(
        "[L.Dense(1)]",
        "m.compile('sgd', 'mse'); m.fit(np.ones(4), np.ones(4), verbose=0); r = m.input_shape",
    ),
    "rank 3": sequential("[K.Input((4,)), L.Dense(1)]", "r = kinds(m(np.ones((3, 4, 1))))"),
    "images without channels": sequential(
        "[K.Input((4, 4, 1)), L.Conv2D(1, 1)]", "r = kinds(m(np.ones((3, 4, 4), 'f4')))"
    ),
    "another rank": sequential("[K.Input((2,)), L.ReLU()]", "m(np.ones((3, 5, 4)))"),
    "another size": sequential("[K.Input((2,)), L.ReLU()]", "m(np.ones((3, 5)))"),
    "another size of a model": "K.Model(i, L.ReLU()(i))(np.ones((3, 5)))",
    "input_spec": sequential("[K.Input((2,)), L.Dense(1)]", "r = str(m.input_spec)"),
    "input_spec, without inputs": sequential(
        "[L.Dense(1)]", "m.build((None, 2)); r = str(m.input_spec)"
    ),
    "input_spec, set": "m = K.Model(i, L.ReLU()(i)); m.input_spec = None\n"
    "r = str(m.input_spec), kinds(m(np.ones((3, 5))))",
    "a dict": sequential("[K.Input((2,), name='q'), L.Dense(1)]", "r = kinds(m({'q': X}))"),
    "a dict without the input": "K.Model(i, L.Dense(1)(i))({'other': X})",
    "an input twice": "K.Model([i, i], L.Dense(1)(i))",
    "adapted on a vector": sequential(
        "[n, L.Dense(1)]", "r = m.predict(np.arange(4.0), verbose=0).shape"
    ),
    "a list changed later": """
        l = [i, K.Input((2,))]; c = L.Concatenate(); c(l); l.append(i); r = len(c.input)
        """,
    "outputs changed later": """
        class Twice(L.Layer):
            def call(self, x): return [x, x]
        t = Twice(); o = t(i); o.append(1); r = len(t.output)
        """,
    "shapes of several calls": "d(i); d(K.Input((3, 2))); r = d.output_shape",
    "the same shapes of several calls": "d(i); d(K.Input((2,))); r = d.output_shape",
}
LAYERS = """
d = L.Dense(2); i = K.Input((2,))
n = L.Normalization(input_shape=[1], axis=None); n.adapt(np.arange(10.0))
"""


@pytest.mark.parametrize("program", SEQUENTIAL.values(), ids=SEQUENTIAL.keys())
def test_sequential(program):
    agree(program, SETUP + LAYERS)


def test_a_layer_called_twice_survives_the_config():
    import runnel as tf

    layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    model = tf.keras.Sequential([tf.keras.Input((2,)), layer, tf.keras.layers.ReLU(), layer])
    model.set_weights(model.get_weights())
    for copy in (
        tf.keras.Sequential.from_config(model.get_config()),
        tf.keras.models.clone_model(model),
    ):
        copy.set_weights(model.get_weights())
        assert len(copy.layers) == 2
        # Twice the sum of two ones, summed again.
        assert copy(tf.ones([1, 2])).numpy().tolist() == [[4.0, 4.0]]
