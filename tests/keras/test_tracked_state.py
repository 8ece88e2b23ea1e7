"""What layers, models and metrics find among their attributes: metrics, losses, weights."""

import pytest
from agreement import agree

PLACES = {
    "attribute": "self.one = new()",
    "private": "self._one = new()",
    "list": "self.more = [new()]",
    "tuple": "self.more = (new(),)",
    "dict": "self.more = {'a': new()}",
    "nested": "self.more = [{'a': [new()]}]",
    "appended": "self.more = []; self.more.append(new())",
    "in a module": "self.module = tf.Module(); self.module.x = new()",
    "in a layer": "self.inner = Inner()",
    "twice": "self.one = new(); self.other = self.one",
}
THINGS = {
    "metric": "K.metrics.Mean('m')",
    "layer": "built(L.Dense(2, name='d'))",
    "regularized": "built(L.Dense(2, name='d', kernel_regularizer='l2'))",
    "variable": "tf.Variable(1.0, name='v')",
    "model": "K.Sequential([L.Dense(1, input_shape=(2,), name='d')])",
}
SETUP = """
def built(layer):
    layer.build((None, 2))
    return layer

def names(values):
    return [each.name for each in values]

class Inner(L.Layer):
    def __init__(self):
        super().__init__()
        self.x = new()
"""
HOLDER = """
class Holder({base}):
    def __init__(self):
        super().__init__()
        {place}
    def update_state(self, *args): pass
    def result(self): return 0.0

h = Holder()
lists = h.metrics, h.weights, h.trainable_weights, h.non_trainable_weights, h.submodules
r = [names(each) for each in lists], len(h.losses)
"""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("base", ["L.Layer", "K.Model", "K.metrics.Metric"])
def test_things_in_attributes(base, place):
    for thing in THINGS.values():
        if (base, place) == ("K.metrics.Metric", "appended") and "Variable" in thing:
            continue  # Lists are looked into when asked, there as elsewhere.
        agree(
            f"new = lambda: {thing}\n{HOLDER.format(base=base, place=PLACES[place])}",
            SETUP,
        )


def test_a_metric_does_not_reset_the_model_it_holds():
    import runnel as tf

    class Features(tf.keras.metrics.Mean):
        def __init__(self):
            super().__init__()
            self.model = tf.keras.Sequential(
                [tf.keras.layers.Dense(1, kernel_initializer="ones", input_shape=(2,))]
            )

    metric = Features()
    metric.reset_state()
    assert metric.model.get_weights()[0].tolist() == [[1.0], [1.0]]


LOSSES = {
    "shared layer": """
        d = L.Dense(2, kernel_regularizer="l2", activity_regularizer="l1")
        a, b = K.Input((3,)), K.Input((3,))
        m = K.Model([a, b], [d(a), d(b)])
        r = [len(m.losses), len(d.losses)]
        m([np.ones((2, 3), "f4")] * 2)
        r += [len(m.losses), len(d.losses)]
        """,
    "in call": """
        class Penalty(L.Layer):
            def call(self, x):
                self.add_loss(tf.reduce_sum(x)); self.add_metric(tf.reduce_mean(x), name="q")
                return x
        i = K.Input((3,)); m = K.Model(i, Penalty()(i))
        r = [len(m.losses), [x.name for x in m.metrics]]
        m(np.ones((1, 3), "f4")); r += [len(m.losses), float(m.losses[0])]
        """,
    "trained": """
        d = L.Dense(1, kernel_initializer="ones", activity_regularizer="l1")
        i = K.Input((3,)); m = K.Model(i, d(d2(i))); m.compile("sgd", "mse")
        r = m.fit(np.ones((4, 3)), np.ones(4), verbose=0).history["loss"]
        """,
}


@pytest.mark.parametrize("program", LOSSES.values(), ids=LOSSES.keys())
def test_losses_of_calls(program):
    agree(program, "d2 = L.Dense(2, kernel_initializer='ones', kernel_regularizer='l2')")


VALUES = ["lambda x: 0.5", "lambda x: 1", "lambda x: tf.reduce_sum(x)", "'l2'", "tf.function(sum_)"]


@pytest.mark.parametrize("value", [*VALUES, "lambda x: np.float64(2)", "K.regularizers.L1(0.5)"])
def test_activity_regularizers(value):
    agree(
        f"""
        l = L.Dense(2, kernel_initializer="ones", activity_regularizer={value})
        l(np.ones((4, 2), "f4")); r = [float(x) for x in l.losses], l.losses[0].dtype.name
        """,
        "def sum_(x): return tf.reduce_sum(x)",
    )


LAYERS = {
    "Dense": "L.Dense(2)", "Conv1D": "L.Conv1D(2, 1)", "Conv2D": "L.Conv2D(2, 1)",
    "Conv1DTranspose": "L.Conv1DTranspose(2, 1)", "DepthwiseConv1D": "L.DepthwiseConv1D(1)",
    "SeparableConv1D": "L.SeparableConv1D(2, 1)", "SimpleRNN": "L.SimpleRNN(2)",
    "EinsumDense": "L.EinsumDense('...x,xy->...y', output_shape=2)", "LSTM": "L.LSTM(2)",
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_an_activation_taken_away(name):
    agree(
        f"""
        l = {LAYERS[name]}; l.activation = None
        r = str(l(np.ones((2,) + (3,) * {3 if name == "Conv2D" else 2}, "f4")).shape)
        """
    )


@pytest.mark.parametrize("value", ["True", "False", "0.5", "lambda: 2.0"])
def test_hyperparameters_of_older_optimizers(value):
    agree(
        f"""
        class Kept(K.optimizers.legacy.Optimizer):
            def __init__(self):
                super().__init__("o"); self._set_hyper("b", {value})
            def _resource_apply_dense(self, g, v, apply_state=None):
                self.seen = self._get_hyper("b"); return v.assign_sub(g)
        o = Kept(); o.apply_gradients([(tf.constant(1.0), tf.Variable(1.0))])
        r = getattr(o.seen, "dtype", type(o.seen).__name__), float(o.seen)
        r = str(getattr(r[0], "name", r[0])), r[1]
        """
    )


def test_names_with_an_underscore():
    agree(
        """
        d = L.Dense(1); d.build((None, 2)); m = K.metrics.Mean()
        v = tf.Variable(1.0, name="more"); d._trainable_weights.append(v)
        r = [d._dtype, d._compute_dtype, len(d._trainable_weights), d._non_trainable_weights]
        r += [d._losses, d._metrics, d._expects_training_arg, d._expects_mask_arg, m._dtype]
        r += [len(d.weights), K.Sequential([d])._is_graph_network, len(d._self_tracked_trackables)]
        s = K.Sequential([K.Input((2,)), L.Dense(1)]); r.append(s._is_graph_network)
        s._set_save_spec(tf.ones((1, 2))); d._track_trackable(tf.Variable(2.0), "other")
        cell = L.LSTMCell(1); cell.build((None, 1))
        one = tf.ones((1, 1)); carry, output = cell._compute_carry_and_output_fused([one] * 4, one)
        r += [carry, output, K.optimizers.legacy.SGD()._use_locking]
        """
    )


@pytest.mark.parametrize("name", ["LSTM", "GRU", "SimpleRNN"])
def test_an_unknown_number_of_steps_stays_unknown(name):
    agree(
        f"""
        l = L.{name}(2, return_sequences=True)
        r = [l(K.Input(batch_shape=s)).shape.as_list() for s in ((2, None, 3), (None, None, 3))]
        """
    )


@pytest.mark.parametrize("cell", ["GRUCell(2)", "GRUCell(2, reset_after=False)"])
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 1, 4), (0, 3, 4)])
def test_cells_on_more_axes(cell, shape):
    made = f"L.{cell[:-1]}, kernel_initializer='ones', recurrent_initializer='ones')"
    agree(
        f"""
        o, s = {made}(tf.ones({shape}), [tf.ones({(*shape[:-1], 2)})]); r = o, s
        """
    )


SHAPES = [
    "(4,)", "4", "(None, 3)", "[(4,), (5,)]", "{'a': (3,)}", "lambda s: s", "lambda s: [s, s]",
    "lambda s: (s[0], 4)", "lambda s: {'a': s}", "lambda s: [[None, 3], [None, 4]]",
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_output_shapes_of_lambda(shape):
    inputs = "(10, 10)", "[10, 10]", "tf.TensorShape([None, 10])", "[(2, 3), (2, 4)]", "None"
    for given in inputs:
        if shape in ("lambda s: (s[0], 4)",) and given == "None":
            continue
        agree(
            f"r = repr(L.Lambda(lambda x: x, output_shape={shape}).compute_output_shape({given}))"
        )


@pytest.mark.parametrize(
    "program",
    [
        "m.save(d + '/m.keras', save_format='keras_v3'); K.models.load_model(d + '/m.keras')",
        "m.save(pathlib.Path(d) / 'm.keras'); K.models.load_model(pathlib.Path(d) / 'm.keras')",
        "m.save_weights(d + '/checkpoint'); m.load_weights(d + '/checkpoint')",
        "m.save_weights(d + '/m', save_format='H5'); m.load_weights(d + '/m')",
        "f = d + '/m.weights.h5'; m.save_weights(f, save_format='tf'); m.load_weights(f)",
        "m.save_weights(d + '/m', save_format='other')",
        "m.save(d + '/m', save_format='KERAS')",
    ],
)
def test_names_of_formats(program):
    files = "[f for _, _, names in os.walk(d) for f in names if 'fingerprint' not in f]"
    agree(
        f"""
        import os, pathlib, tempfile
        d = tempfile.mkdtemp(); m = K.Sequential([L.Dense(1, input_shape=(2,))])
        {program}
        r = sorted({files})
        """
    )
