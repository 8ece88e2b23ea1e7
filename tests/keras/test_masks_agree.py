"""Masks through layers: attached, given by name and position, of bools and of floats."""

import pytest
from agreement import agree

SETUP = """
def mask_of(tensor):
    mask = getattr(tensor, "_keras_mask", None)
    return None if mask is None else (mask.dtype.name, np.asarray(mask).astype(int).tolist())

def masks_of(outputs):
    return [mask_of(each) for each in tf.nest.flatten(outputs)]

STEPS = np.array([[[1.0] * 4, [1.0] * 4, [0.0] * 4], [[1.0] * 4, [0.0] * 4, [0.0] * 4]], "f4")
X = tf.ones((2, 3, 4))
m, n = tf.constant([[True, False, True]] * 2), tf.constant([[True, True, False]] * 2)
f = tf.cast(m, tf.float32)

def masked():
    return L.Masking()(tf.constant(STEPS))

class Plain(L.Layer):
    def call(self, x): return x * 2

class Passing(Plain):
    def __init__(self):
        super().__init__()
        self.supports_masking = True

class Taking(Passing):
    def call(self, x, mask=None): return x * 2

class Turning(Plain):
    def compute_mask(self, x, mask=None): return None if mask is None else tf.logical_not(mask)

class Refusing(Turning):
    def __init__(self):
        super().__init__()
        self.supports_masking = False

class Two(Plain):
    def call(self, x, mask=None): return [x * 2, x + 1]
    def compute_mask(self, x, mask=None): return [mask, None]
"""

LAYERS = [
    "Plain()", "Passing()", "Taking()", "Turning()", "Refusing()", "Two()", "L.Dense(2)",
    "L.LSTM(2, return_sequences=True)", "L.LSTM(2, return_sequences=True, return_state=True)",
    "L.Bidirectional(L.GRU(2, return_sequences=True))", "L.TimeDistributed(L.Dense(2))",
    "L.TimeDistributed(Taking())", "L.Softmax()", "L.Flatten()", "L.GlobalAveragePooling1D()",
    "L.BatchNormalization()", "L.Lambda(lambda x: x + 1)", "L.Conv1D(2, 1)", "L.Masking(1.0)",
    "L.RNN(L.GRUCell(2), return_sequences=True)", "K.Sequential([L.Dense(2), Taking()])",
    "L.LSTM(2, return_sequences=True, zero_output_for_mask=True)", "L.ActivityRegularization(0.1)",
]  # fmt: skip


@pytest.mark.parametrize("layer", LAYERS)
def test_one_input(layer):
    none = "" if layer.startswith("K.Seq") else f"masks_of({layer}(masked(), mask=None)),"
    calls = [f"masks_of({layer}(masked()))", f"masks_of({layer}(X, mask=m))"]
    calls += [f"masks_of({layer}(X, m))", f"{layer}.compute_mask(X, m)"]
    agree(f"r = [{none} {calls[0]}]", SETUP)
    for call in calls[1:]:
        agree(f"r = {call}", SETUP)
    agree(f"i = K.Input((3, 4)); r = masks_of(K.Model(i, {layer}(L.Masking()(i)))(STEPS))", SETUP)


@pytest.mark.parametrize("masks", ["[m, m]", "[m, None]", "[None, None]", "[f, f]", "[m, n]", "m"])
@pytest.mark.parametrize("layer", ["Add", "Multiply", "Concatenate", "Dot", "Attention"])
def test_two_inputs(layer, masks):
    layer = "L.Dot(axes=(1, 1))" if layer == "Dot" else f"L.{layer}()"
    agree(f"r = {layer}.compute_mask([X, X], {masks})", SETUP)
    agree(f"o = {layer}([X, X], mask={masks}); r = mask_of(o), o", SETUP)


@pytest.mark.parametrize(
    "program",
    [
        "q = masked(); o, s = A(q, q, return_attention_scores=True); r = mask_of(o), o, s",
        "q = masked(); r = A(X, q), A(X, X, q), A(q, q, attention_mask=tf.ones((2, 3, 3)))",
        "q = tf.ones((2, 3, 4)); q._keras_mask = f; r = A(q, q), A(q, q, use_causal_mask=True)",
        "r = A(X, X, attention_mask=tf.constant([[[1, 0, 0]] * 3] * 2))",
        "r = A(R, R).to_list(), A(R, tf.ones((2, 3, 2))).to_list()",
        "r = A(tf.ones((2, 3, 2)), R)",
        "r = A(R, R, use_causal_mask=True).to_list(), A(R, R, R).to_list()",
        "o, s = A(R, R, return_attention_scores=True); r = o.to_list(), s",
        "r = tf.function(lambda x: A(x, x))(R).to_list()",
    ],
)
def test_attention_of_heads(program):
    agree(
        program,
        SETUP + "A = L.MultiHeadAttention(1, 2, kernel_initializer='ones')\n"
        "R = tf.ragged.constant([[[1., 2.]], [[1., 2.], [3., 4.]]], ragged_rank=1)",
    )


def test_losses_of_masked_steps():
    agree(
        """
        t = K.Sequential([L.Masking(input_shape=(3, 1)), L.TimeDistributed(
            L.Dense(1, kernel_initializer="ones"))])
        t.compile("sgd", "mse", metrics=["mae"], weighted_metrics=["mse"])
        x = np.array([[[1.0], [2.0], [0.0]]] * 2)
        r = [t.evaluate(x, x * 2, verbose=0)]
        r.append(t.evaluate(x, x * 2, sample_weight=np.array([1.0, 2.0]), verbose=0))
        r.append(t.evaluate(x, x * 2, sample_weight=np.array([[1.0, 2.0, 3.0]] * 2), verbose=0))
        """,
        SETUP,
    )
