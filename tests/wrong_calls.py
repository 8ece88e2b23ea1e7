"""Mistakes that users make, and what the message must say of each.

A case is a name, a call of `(tf, keras)`, and what the message holds: the argument's name, what
came, what fits or how to mend it. The class of the exception is the original's.
"""

from __future__ import annotations

import operator

import numpy as np

import runnel

X = np.random.default_rng(0).random((8, 4)).astype("float32")
Y = np.random.default_rng(1).random((8, 1)).astype("float32")
CLASSES = np.array([0, 1, 2, 0, 1, 2, 0, 1])
ONE_HOT = np.eye(3, dtype="float32")[CLASSES]
IMAGES = np.random.default_rng(2).random((8, 8, 8, 3)).astype("float32")

SPARSE = "sparse_categorical_crossentropy"
CATEGORICAL = "categorical_crossentropy"


def compiled(k, *layers, **options):
    model = k.Sequential(list(layers) or [k.layers.Dense(1)])
    model.compile(**{"optimizer": "sgd", "loss": "mse", **options})
    return model


def classifier(k, loss, **options):
    return compiled(k, k.layers.Dense(3, "softmax"), loss=loss, **options)


def trained(k, x=X, y=Y, **fit):
    return compiled(k).fit(x, y, verbose=0, **fit)


def named(k):
    """A model whose input is called "image"."""
    inputs = k.Input((4,), name="image")
    model = k.Model(inputs, k.layers.Dense(1)(inputs))
    model.compile("sgd", "mse")
    return model


def of_two_outputs(k, loss="mse"):
    inputs = k.Input((4,))
    model = k.Model(inputs, [k.layers.Dense(1)(inputs), k.layers.Dense(1)(inputs)])
    model.compile("sgd", loss)
    return model


def traced(tf, function, *arguments, **options):
    return tf.function(function, autograph=False, **options)(*arguments)


def of_unknown_sizes(tf, function, *arguments):
    specs = [tf.TensorSpec([None] * value.ndim) for value in arguments]
    return traced(tf, function, *map(tf.constant, arguments), input_signature=specs)


def own_step(k, step):
    kind = type("Own", (k.Sequential,), {"train_step": lambda self, data: step(self, data)})
    model = kind([k.layers.Dense(1, input_shape=(4,))])
    model.compile("sgd", "mse")
    return model.fit(X, Y, verbose=0)


def custom_gradient(tf, rule):
    variable = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        result = tf.custom_gradient(lambda value: (value, rule))(variable * 1.0)
    return tape.gradient(result, variable)


def without_constructor(k):
    class Own(k.Model):
        def __init__(self):
            self.dense = k.layers.Dense(1)

        def call(self, inputs):
            return self.dense(inputs)

    return Own()(X)


def of_one(value):
    return value


def applied(tf, k, pairs):
    return k.optimizers.SGD().apply_gradients(pairs)


NAMES = [
    ("layer keyword", lambda tf, k: k.layers.Dense(1, activaton="relu"), "mean 'activation'"),
    (
        "recurrent keyword",
        lambda tf, k: k.layers.LSTM(1, return_sequence=True),
        "'return_sequences",
    ),
    ("optimizer keyword", lambda tf, k: k.optimizers.Adam(learningrate=1.0), "'learning_rate'"),
    ("loss keyword", lambda tf, k: k.losses.BinaryCrossentropy(from_logit=True), "'from_logits'"),
    ("metric keyword", lambda tf, k: k.metrics.Mean(nam="a"), "mean 'name'"),
    ("callback keyword", lambda tf, k: k.callbacks.EarlyStopping(monitr="a"), "mean 'monitor'"),
    ("initializer keyword", lambda tf, k: k.initializers.RandomNormal(std=1.0), "mean 'stddev'"),
    ("constraint keyword", lambda tf, k: k.constraints.MaxNorm(max=1.0), "mean 'max_value'"),
    ("regularizer keyword", lambda tf, k: k.regularizers.L2(l1=1.0), "arguments are: l2"),
    ("model keyword", lambda tf, k: k.Sequential(nam="a"), "mean 'name'"),
    ("Input keyword", lambda tf, k: k.Input((2,), nme="a"), "mean 'name'"),
    ("compile keyword", lambda tf, k: k.Sequential().compile("sgd", "mse", metric=[]), "'metrics'"),
    ("fit keyword", lambda tf, k: trained(k, epoch=3), "mean 'epochs'"),
    ("evaluate keyword", lambda tf, k: compiled(k).evaluate(X, Y, batchsize=2), "'batch_size'"),
    ("predict keyword", lambda tf, k: compiled(k).predict(X, batchsize=2), "mean 'batch_size'"),
    (
        "weight keyword",
        lambda tf, k: k.layers.Layer().add_weight("w", [2], init="zeros"),
        "mean 'initializer'",
    ),
    ("tf name", lambda tf, k: tf.reduce_men, "mean 'reduce_mean'"),
    ("tf.math name", lambda tf, k: tf.math.sqr, "mean 'sqrt'"),
    ("tf.nn name", lambda tf, k: tf.nn.reluu, "mean 'relu'"),
    ("tf.data name", lambda tf, k: tf.data.DataSet, "mean 'Dataset'"),
    ("tf.image name", lambda tf, k: tf.image.resise, "mean 'resize'"),
    ("tf.strings name", lambda tf, k: tf.strings.spilt, "mean 'split'"),
    ("layer name", lambda tf, k: k.layers.Dens, "mean 'Dense'"),
    ("optimizer name", lambda tf, k: k.optimizers.Adm, "mean 'Adam'"),
    ("callback name", lambda tf, k: k.callbacks.EarlyStoping, "mean 'EarlyStopping'"),
    ("version 1 name", lambda tf, k: tf.placeholder, "tf.compat.v1.placeholder"),
    ("input name", lambda tf, k: named(k).fit({"imge": X}, Y, verbose=0), "mean 'imge'"),
    ("input name in predict", lambda tf, k: named(k).predict({"imge": X}, verbose=0), "'image'"),
    ("input name in a call", lambda tf, k: named(k)({"picture": X}), "keys ['picture']"),
]

NUMBERS = [
    ("learning rate", lambda tf, k: k.optimizers.Adam("fast"), "learning_rate='fast'"),
    (
        "learning rate set",
        lambda tf, k: setattr(k.optimizers.Adam(), "learning_rate", "a"),
        "learning_rate='a'",
    ),
    (
        "clipnorm",
        lambda tf, k: k.optimizers.SGD(clipnorm="a").apply_gradients(
            [(tf.constant(1.0), tf.Variable(1.0))]
        ),
        "clipnorm='a'",
    ),
    ("units of Dense", lambda tf, k: k.layers.Dense(None), "units=None"),
    ("units of LSTM", lambda tf, k: k.layers.LSTM("a"), "units='a'"),
    ("filters", lambda tf, k: k.layers.Conv2D("a", 3), "filters='a'"),
    ("input_dim", lambda tf, k: k.layers.Embedding("a", 2), "input_dim='a'"),
    ("input_shape", lambda tf, k: k.layers.Dense(2, input_shape=4), "(4,)"),
    ("min_delta", lambda tf, k: k.callbacks.EarlyStopping(min_delta="a"), "min_delta='a'"),
    ("factor", lambda tf, k: k.callbacks.ReduceLROnPlateau(factor="a"), "factor='a'"),
    ("threshold", lambda tf, k: k.metrics.Precision(thresholds="a"), "thresholds='a'"),
    ("epochs", lambda tf, k: trained(k, epochs="3"), "epochs='3'"),
    ("batch_size", lambda tf, k: trained(k, batch_size="4"), "batch_size='4'"),
    ("broken batch_size", lambda tf, k: trained(k, batch_size=2.5), "must be an integer"),
    ("steps_per_epoch", lambda tf, k: trained(k, steps_per_epoch="a"), "steps_per_epoch='a'"),
    ("validation_split", lambda tf, k: trained(k, validation_split="a"), "validation_split='a'"),
    ("batch", lambda tf, k: tf.data.Dataset.range(3).batch("2"), "batch_size='2'"),
    ("shuffle", lambda tf, k: tf.data.Dataset.range(3).shuffle(2.5), "buffer_size=2.5"),
    ("take", lambda tf, k: tf.data.Dataset.range(3).take("2"), "count='2'"),
    ("skip", lambda tf, k: tf.data.Dataset.range(3).skip([1]), "must be a scalar"),
    ("window", lambda tf, k: tf.data.Dataset.range(3).window(None), "size=None"),
    ("int32 count", lambda tf, k: tf.data.Dataset.range(3).take(tf.constant(2)), "tf.int64"),
    ("precision", lambda tf, k: tf.strings.as_string(1.0, precision="a"), "'precision'"),
    (
        "max_to_keep",
        lambda tf, k: tf.train.CheckpointManager(tf.train.Checkpoint(), "x", "a"),
        "max_to_keep='a'",
    ),
    ("text for a number", lambda tf, k: tf.constant("1", tf.float32), "tf.strings.to_number"),
    ("number for a text", lambda tf, k: tf.strings.length(5), "tf.strings.as_string"),
    ("text labels", lambda tf, k: k.utils.to_categorical(["a"]), "class numbers"),
    ("floating sizes", lambda tf, k: tf.zeros([3.0, 1.0]), "dtype int32"),
    (
        "axis of a scalar",
        lambda tf, k: tf.reduce_sum(1.0, axis=-1),
        "scalar (rank 0) has no axes",
    ),
]

LABELS = [
    ("one-hot for sparse", lambda tf, k: classifier(k, SPARSE).fit(X, ONE_HOT, verbose=0),
     "use categorical_crossentropy"),
    ("one-hot in evaluate", lambda tf, k: classifier(k, SPARSE).evaluate(X, ONE_HOT, verbose=0),
     "use categorical_crossentropy"),
    ("one-hot in train_on_batch", lambda tf, k: classifier(k, SPARSE).train_on_batch(X, ONE_HOT),
     "use categorical_crossentropy"),
    ("one-hot, eagerly", lambda tf, k: classifier(k, SPARSE, run_eagerly=True).fit(
        X, ONE_HOT, verbose=0), "use categorical_crossentropy"),
    ("one-hot, loss alone", lambda tf, k: k.losses.SparseCategoricalCrossentropy()(
        ONE_HOT, tf.ones([8, 3]) / 3), "use categorical_crossentropy"),
    ("numbers for categorical", lambda tf, k: classifier(k, CATEGORICAL).fit(
        X, CLASSES, verbose=0), "use sparse_categorical_crossentropy"),
    ("numbers in train_on_batch", lambda tf, k: classifier(k, CATEGORICAL).train_on_batch(
        X, CLASSES), "use sparse_categorical_crossentropy"),
    ("numbers, loss alone", lambda tf, k: k.losses.CategoricalCrossentropy()(
        [0, 1], tf.ones([2, 3])), "tf.one_hot(labels, 3)"),
    ("no Flatten, sparse", lambda tf, k: compiled(
        k, k.layers.Conv2D(2, 3), k.layers.Dense(3, "softmax"), loss=SPARSE,
        ).fit(IMAGES, CLASSES, verbose=0), "Flatten"),
    ("no Flatten, categorical", lambda tf, k: compiled(
        k, k.layers.Conv2D(2, 3), k.layers.Dense(3, "softmax"), loss=CATEGORICAL,
        ).fit(IMAGES, ONE_HOT, verbose=0), "Flatten"),
    ("two units for binary", lambda tf, k: compiled(
        k, k.layers.Dense(2, "sigmoid"), loss="binary_crossentropy",
        ).fit(X, Y[:, 0], verbose=0), "Dense(1, activation='sigmoid')"),
    ("other units", lambda tf, k: compiled(k, k.layers.Dense(3)).fit(X, X[:, :2], verbose=0),
     "give the last layer 2 units"),
    ("loss without return", lambda tf, k: compiled(k, loss=lambda a, b: None).fit(
        X, Y, verbose=0), "Is a `return` missing"),
    ("metric without return", lambda tf, k: compiled(k, metrics=[lambda a, b: None]).fit(
        X, Y, verbose=0), "Is a `return` missing"),
    ("step without return", lambda tf, k: own_step(k, lambda model, data: None),
     "must return a dict"),
    ("class without a weight", lambda tf, k: classifier(k, SPARSE).fit(
        X, CLASSES, class_weight={0: 1.0}, verbose=0), "no weight for the classes [1, 2]"),
    ("too many targets", lambda tf, k: of_two_outputs(k).fit(X, [Y, Y, Y], verbose=0), "3 came"),
    ("validation without labels", lambda tf, k: trained(k, validation_data=X), "(x_val, y_val)"),
]  # fmt: skip

SHAPES = [
    ("unbatched dataset", lambda tf, k: compiled(k, k.layers.Dense(1, input_shape=(4,))).fit(
        tf.data.Dataset.from_tensor_slices((X, Y)), verbose=0), "dataset.batch(batch_size)"),
    ("single example", lambda tf, k: compiled(k, k.layers.Dense(1, input_shape=(4,))).predict(
        X[0], verbose=0), "tf.expand_dims(x, 0)"),
    ("stacked LSTM", lambda tf, k: k.Sequential(
        [k.layers.LSTM(3, input_shape=(5, 2)), k.layers.LSTM(2)]), "return_sequences=True"),
    ("stacked GRU in both directions", lambda tf, k: k.Sequential(
        [k.layers.Bidirectional(k.layers.GRU(3), input_shape=(5, 2)), k.layers.LSTM(2)]),
     "return_sequences=True"),
    ("images without channels", lambda tf, k: k.Sequential(
        [k.layers.Conv2D(2, 3, input_shape=(8, 8))]), "(height, width, channels)"),
    ("no recurrent layer", lambda tf, k: k.layers.Bidirectional(k.layers.Dense(1)),
     "takes a recurrent layer"),
    ("unknown sizes", lambda tf, k: of_unknown_sizes(
        tf, lambda a, b: a + b, np.ones(2, "f"), np.ones(3, "f")), "shapes: [2] vs. [3]"),
    ("sizes of a mask", lambda tf, k: tf.ones([3])[tf.constant([True, False])],
     "a mask has a value for each element"),
    ("None among sizes", lambda tf, k: tf.zeros([None, 2]), "tf.shape(x)[0]"),
    ("None among sizes of a trace", lambda tf, k: traced(tf, lambda: tf.zeros([None, 2])),
     "tf.shape(x)[0]"),
    ("rows of a scalar", lambda tf, k: tf.data.Dataset.from_tensor_slices(5), "from_tensors"),
    ("rows of None", lambda tf, k: tf.data.Dataset.from_tensor_slices(None), "not be empty"),
    ("batches of scalars", lambda tf, k: tf.data.Dataset.range(3).rebatch(2), "`batch`"),
]  # fmt: skip

VALUES = [
    ("truth of a vector", lambda tf, k: bool(tf.constant([True, False])), "tf.reduce_any"),
    ("and", lambda tf, k: tf.constant([1, 2]) and 1, "tf.reduce_all"),
    ("truth of a variable", lambda tf, k: bool(tf.Variable([1, 2])), "tf.reduce_any"),
    ("float of a vector", lambda tf, k: float(tf.ones([2])), "the shape (2,)"),
    ("int of a text", lambda tf, k: int(tf.constant("abc")), "tf.strings.to_number"),
    ("floating index", lambda tf, k: [1, 2][tf.constant(1.0)], "tf.cast(x, tf.int32)"),
    ("format of a vector", lambda tf, k: f"{tf.ones([2]):.2f}", "the shape (2,)"),
    ("list as index", lambda tf, k: tf.ones([3])[[0, 1]], "tf.gather(x, [0, 1])"),
    ("list as index of a variable", lambda tf, k: tf.Variable([1, 2])[[0, 1]], "tf.gather"),
    ("item assignment", lambda tf, k: operator.setitem(tf.ones([3]), 0, 1.0),
     "tf.tensor_scatter_nd_update"),
    ("item assignment in a variable", lambda tf, k: operator.setitem(tf.Variable([1]), 0, 1),
     "v[i].assign"),
    ("item of a dataset", lambda tf, k: tf.data.Dataset.range(3)[0], "next(iter(dataset))"),
    ("array as index", lambda tf, k: tf.ones([3])[np.array([0, 1])], "tf.gather"),
    ("broken index", lambda tf, k: tf.ones([3])[1.5], "Round it"),
    ("None as a value", lambda tf, k: tf.constant(1.0) + None, "is a `return` missing"),
    ("dict as a value", lambda tf, k: tf.constant(1.0) + {"a": 1}, "by its key"),
    ("unused tape", lambda tf, k: tf.GradientTape().gradient(tf.ones([]), tf.ones([])), "with "),
    ("no gradient function", lambda tf, k: custom_gradient(tf, None), "`return y, grad`"),
    ("gradients alone", lambda tf, k: applied(tf, k, [tf.constant(1.0)]),
     "zip(gradients, variables)"),
    ("tensor to train", lambda tf, k: applied(tf, k, [(tf.constant(1.0), tf.constant(1.0))]),
     "only a tf.Variable"),
    ("callback class", lambda tf, k: trained(k, callbacks=[k.callbacks.EarlyStopping]),
     "EarlyStopping(...)"),
    ("no callback", lambda tf, k: trained(k, callbacks=[5]), "no callback"),
    ("no schedule", lambda tf, k: trained(
        k, callbacks=[k.callbacks.LearningRateScheduler(0.1)]), "schedule=0.1"),
    ("map by a number", lambda tf, k: tf.data.Dataset.range(3).map(5), "func=5"),
    ("no super().__init__()", lambda tf, k: without_constructor(k), "super().__init__()"),
    ("map of pairs", lambda tf, k: tf.data.Dataset.from_tensor_slices((X, Y)).map(of_one),
     "gets 2 argument(s)"),
    ("number for a list", lambda tf, k: tf.train.Int64List(value=5), "value=[5]"),
    ("text for bytes", lambda tf, k: tf.train.BytesList(value=["a"]), "text.encode()"),
    ("list for a feature", lambda tf, k: tf.train.Feature(int64_list=[1]), "Int64List(value="),
    ("text for a TensorArray", lambda tf, k: tf.TensorArray(tf.float32, 1).write(0, "a"),
     "dtype is float32"),
    ("list beside a dataset", lambda tf, k: tf.data.Dataset.range(3).concatenate([1]), "[1]"),
    ("defaults of a CSV", lambda tf, k: tf.io.decode_csv("1", 0), "record_defaults=0"),
    ("generator of a seed", lambda tf, k: tf.random.Generator(5), "from_seed"),
]  # fmt: skip

SYMBOLIC = [
    ("NumPy", lambda tf, k: np.exp(k.Input((3,))), "tf.exp for np.exp"),
    ("if", lambda tf, k: 1 if k.Input((3,)) > 0 else 2, "tf.where"),
    ("float", lambda tf, k: float(k.Input(())), "as a Python float"),
    ("range", lambda tf, k: range(k.Input(())), "as a Python index"),
    ("len", lambda tf, k: len(k.Input((3,))), "x.shape"),
    ("for", lambda tf, k: list(k.Input((3,))), "tf.map_fn"),
    ("numpy()", lambda tf, k: k.Input((3,)).numpy(), "`call` of a layer"),
    ("tf.function", lambda tf, k: tf.function(lambda a: a)(k.Input((3,))), "`call` of a layer"),
    ("variable", lambda tf, k: tf.Variable(k.Input((3,))), "`call` of a layer"),
    ("text beside it", lambda tf, k: k.Input((3,)) + "a", "string tensor"),
    ("float in a trace", lambda tf, k: traced(tf, lambda a: float(a), tf.ones([])), "tf.cast"),
    ("index in a trace", lambda tf, k: traced(tf, lambda a: [1, 2][a], tf.constant(1)),
     "tf.gather"),
    ("if in a trace", lambda tf, k: traced(tf, lambda a: 1 if a > 0 else 2, tf.ones([])),
     "tf.cond"),
    ("NumPy in a trace", lambda tf, k: traced(tf, lambda a: np.exp(a), tf.ones([])), "tf.*"),
]  # fmt: skip

# What the original takes, and does something else with than the program says.
TAKEN_BY_THE_ORIGINAL = [
    ("regularizer", lambda tf, k: k.layers.Dense(1, kernel_regularizer="l3"), ValueError,
     "Known are L1"),
    ("more losses than outputs", lambda tf, k: of_two_outputs(k, ["mse"] * 3).fit(
        X, [Y, Y], verbose=0), ValueError, "2 outputs, but 3 were given"),
    ("unconnected model", lambda tf, k: k.Model(k.Input((3,)), k.Input((3,))), ValueError,
     "Graph disconnected"),
    ("window too large", lambda tf, k: k.layers.Conv2D(2, 9)(IMAGES),
     runnel.errors.InvalidArgumentError, "smaller `kernel_size`"),
    ("patience", lambda tf, k: k.callbacks.EarlyStopping(patience="a"), TypeError,
     "patience='a'"),
]  # fmt: skip
