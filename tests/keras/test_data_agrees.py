"""What the steps of fit, evaluate and predict get, for data of every kind."""

import pytest
from agreement import agree

SETUP = """
def described(value):
    if isinstance(value, dict):
        return {key: described(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value).__name__, [described(each) for each in value]
    if value is None or value.dtype == tf.string:
        return None if value is None else str(value.shape)
    return value.dtype.name, str(value.shape), float(tf.reduce_sum(tf.cast(value, tf.float32)))

class Noting(K.Model):
    def train_step(self, data):
        seen.append(described(data)); return {"l": tf.constant(1.0)}
    def test_step(self, data):
        seen.append(described(data)); return {"l": tf.constant(2.0)}
    def predict_step(self, data):
        seen.append(described(data))
        return tf.nest.flatten(data)[0]

class Batches(K.utils.Sequence):
    def __init__(self, batch): self.batch = batch
    def __len__(self): return 3
    def __getitem__(self, index): return self.batch

def generated(batch):
    for _ in range(3):
        yield batch

def tried(method, *arguments, **options):
    global seen
    seen = []
    model = Noting(); model.compile(run_eagerly=True)
    try:
        result = getattr(model, method)(*arguments, **options)
        result = result.history if method == "fit" else result
    except Exception as error:
        result = type(error).__name__
    return result, seen

X, Y, W = np.arange(20.0).reshape(10, 2), np.arange(10.0), np.arange(10.0)
V = np.ones((5, 2)), np.ones(5)
"""
ARRAYS = {
    "float64": "np.arange(14.0).reshape(7, 2)", "float16": "np.ones((7, 2), 'f2')",
    "float32 of rank 1": "np.arange(7, dtype='f4')", "uint8": "np.ones((7, 2), 'u1')",
    "bool": "np.ones((7, 2), bool)", "strings": "np.array(['a'] * 7)",
    "list of lists": "[[1.0, 2.0]] * 7", "list of ints": "list(range(7))",
    "list of arrays": "[np.ones((7, 2)), np.ones((7, 3))]", "one in a list": "[np.ones((7, 2))]",
    "tuple": "(np.ones((7, 2)), np.ones((7, 3)))",
    "dict": "{'b': np.ones((7, 2)), 'a': np.ones(7)}",
    "tensor": "tf.ones((7, 2))", "tensor of float64": "tf.ones((7, 2), tf.float64)",
    "variable": "tf.Variable(tf.ones((7, 2)))",
    "nested": "{'a': [np.ones((7, 2)), np.ones((7, 1))]}",
    "matrix": "np.matrix(np.ones((7, 2)))", "scalar": "np.array(3.0)", "empty": "np.ones((0, 2))",
    "other rows": "[np.ones((7, 2)), np.ones((6, 2))]", "ragged": "tf.ragged.constant([[1.0]] * 7)",
}  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS.keys())
def test_arrays(array):
    agree(
        f"""
        a = {array}
        r = [
            tried("fit", a, np.arange(7.0), batch_size=3, shuffle=False, verbose=0),
            tried("fit", np.ones((7, 1)), a, batch_size=3, shuffle=False, verbose=0),
            tried("fit", a, batch_size=3, shuffle=False, verbose=0),
            tried("evaluate", a, np.arange(7.0), batch_size=3, verbose=0),
            tried("predict", a, batch_size=3, verbose=0)[1],
        ]
        """,
        SETUP,
    )
    if not array.startswith(("[[", "list", "np.array(3", "np.ones((0", "tf.ragged")):
        agree(
            f"a = {array}; r = [tried('train_on_batch', a, np.arange(7.0)),"
            " tried('test_on_batch', a, np.arange(7.0)), tried('predict_on_batch', a)[1]]",
            SETUP,
        )


@pytest.mark.parametrize("frame", ["DataFrame({'x': np.arange(7.0), 'y': np.arange(7)})",
                                   "Series(np.arange(7.0))", "Series(np.arange(7))"])  # fmt: skip
def test_tables(frame):
    pytest.importorskip("pandas")
    agree(
        f"""
        import pandas
        a = pandas.{frame}
        r = [tried("fit", a, a, batch_size=3, shuffle=False, verbose=0),
             tried("fit", a, a, shuffle=False, validation_split=0.3, verbose=0),
             tried("predict", a, verbose=0)[1]]
        """,
        SETUP,
    )


OPTIONS = """
steps_per_epoch=2
steps_per_epoch=3
steps_per_epoch=20
steps_per_epoch=2, batch_size=3
steps_per_epoch=5, batch_size=3
steps_per_epoch=4, batch_size=3, epochs=2
batch_size=100
batch_size=0
epochs=3, initial_epoch=1
epochs=3, initial_epoch=3
validation_split=0.2, batch_size=4
validation_split=1.0
validation_split=0.2, sample_weight=W
validation_data=V, batch_size=3
validation_data=list(V), batch_size=3
validation_data=(*V, np.ones(5))
validation_data=V, validation_steps=2
validation_data=V, validation_steps=1, batch_size=2, epochs=2
validation_data=V, validation_steps=5, batch_size=2
validation_data=V, validation_batch_size=2, batch_size=5
validation_data=V, validation_freq=2, epochs=4
validation_data=V, validation_freq=[1, 3], epochs=3
validation_data=V, validation_freq="a"
sample_weight=W, batch_size=4
sample_weight=np.ones((10, 1))
sample_weight=np.ones(9)
class_weight={i: float(i) for i in range(10)}
class_weight={0: 1.0, 2: 1.0}
epochs=0
"""


@pytest.mark.parametrize("options", OPTIONS.strip().splitlines())
def test_options_of_fit(options):
    agree(f"r = tried('fit', X, Y, **{{'verbose': 0, 'shuffle': False, **dict({options})}})", SETUP)


@pytest.mark.parametrize("options", ["steps=2", "steps=2, batch_size=3", "steps=9, batch_size=3"])
def test_steps_of_evaluate_and_predict(options):
    agree(f"r = tried('evaluate', X, Y, verbose=0, {options})", SETUP)
    agree(f"r = tried('predict', X, verbose=0, {options})", SETUP)


BATCHES = {
    "x and y": "(np.ones((2, 3)), np.ones(2))",
    "weighted": "(np.ones((2, 3)),) + (np.ones(2),) * 2",
    "x alone": "np.ones((2, 3))", "x in a tuple": "(np.ones((2, 3)),)", "four": "(np.ones(2),) * 4",
    "list": "[np.ones((2, 3)), np.ones(2)]",
    "list of inputs": "([np.ones((2, 3))] * 2, np.ones(2))",
    "without targets": "(np.ones((2, 3)), None)", "dict": "({'a': np.ones((2, 3))}, np.ones(2))",
    "tensors": "(tf.ones((2, 3), tf.float64), tf.ones(2))",
    "small": "(np.ones((2, 3), 'u1'), np.ones(2, bool))",
}  # fmt: skip


@pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())
def test_batches(batch):
    makers = ["generated(b)", "Batches(b)"]
    if "None" not in batch:
        makers.append("tf.data.Dataset.from_tensors(b).repeat(3)")
    for maker in makers:
        for method in ("fit", "evaluate"):
            agree(f"b = {batch}; r = tried({method!r}, {maker}, verbose=0)", SETUP)
        agree(f"b = {batch}; r = tried('predict', {maker}, verbose=0)[1]", SETUP)


CLASSES = "np.array([0, 1, 2, 0, 1, 2, 0, 1, 2, 0])"
TARGETS = {
    "classes": CLASSES, "column": f"{CLASSES}[:, None]", "floats": f"{CLASSES} * 1.0",
    "one-hot": f"np.eye(3)[{CLASSES}]", "bytes": f"{CLASSES}.astype('u1')",
    "images": "(np.arange(40) % 3).reshape(10, 2, 2, 1)",
    "several": "[np.zeros(10), np.zeros(10)]",
}  # fmt: skip


@pytest.mark.parametrize("weights", ["{0: 1.0, 1: 2.0, 2: 3.0}", "{0: 1, 1: 2, 2: 3}"])
@pytest.mark.parametrize("targets", TARGETS.values(), ids=TARGETS.keys())
def test_class_weights(targets, weights):
    agree(
        f"""
        y, c = {targets}, {weights}
        r = [tried("fit", X, y, class_weight=c, batch_size=4, shuffle=False, verbose=0)]
        r.append(tried("train_on_batch", X, y, class_weight=c))
        """,
        SETUP,
    )


def test_images_are_weighted_by_their_positions():
    agree(
        """
        m = K.Sequential([L.Conv2D(3, 1, input_shape=(4, 4, 1), kernel_initializer="ones")])
        m.compile("sgd", K.losses.SparseCategoricalCrossentropy(from_logits=True))
        x, y = np.ones((2, 4, 4, 1)), (np.arange(32) % 3).reshape(2, 4, 4, 1)
        r = m.fit(x, y, class_weight={0: 1.0, 1: 5.0, 2: 0.0}, verbose=0).history
        """
    )
