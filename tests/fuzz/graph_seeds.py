"""Sound GraphDefs and SavedModels, as the originals of mutations."""

from __future__ import annotations

import os

import numpy as np

import runnel as tf
from runnel.saved_model.graph_export import GraphDef

X = np.linspace(-1.5, 2.0, 12, dtype=np.float32).reshape(3, 4)
IMAGES = np.linspace(0, 1, 2 * 6 * 6 * 3, dtype=np.float32).reshape(2, 6, 6, 3)
WORDS = np.array([b"to be", b"or", b""], object)


def _loop(x):
    steps = tf.constant(0)
    while steps < 3:
        x = x * 2.0 if tf.reduce_sum(x) > 0.0 else x - 1.0
        steps += 1
    return x, steps


def _array(x):
    array = tf.TensorArray(tf.float32, size=3, element_shape=[4])
    for i in tf.range(3):
        array = array.write(i, tf.square(x[i]))
    return array.stack()


@tf.custom_gradient
def _clipped(x):
    return tf.identity(x), lambda weight: tf.clip_by_value(weight, -1.0, 1.0)


# Functions of one array.
PROGRAMS = {
    "arithmetic": (lambda x: (x + 1.0) * tf.exp(x) / (1.0 + tf.abs(x)) - x // 2.0, X),
    "reductions": (lambda x: (tf.reduce_sum(x, 0), tf.argmax(x, 1), tf.sort(x)), X),
    "matmul": (lambda x: tf.matmul(x, x, transpose_b=True) @ tf.ones([3, 2]), X),
    "slices": (lambda x: (x[1], x[:, ::2], tf.tile(x, [1, 2]), tf.pad(x, [[1, 0], [0, 2]])), X),
    "lists": (lambda x: (tf.split(x, 2, 1), tf.unstack(x), tf.concat([x, x], 0)), X),
    "gathering": (lambda x: (tf.gather(x, [2, 0]), tf.one_hot([1, 2], 4), tf.where(x > 0)), X),
    "scattering": (lambda x: tf.scatter_nd([[4], [0], [2]], x, [5, 4]), X),
    "condition": (lambda x: tf.cond(x[0, 0] > 0.0, lambda: x + 1.0, lambda: x * 2.0), X),
    "loop": (_loop, X),
    "array": (_array, X),
    "map": (lambda x: tf.map_fn(lambda row: row * 2.0, x), X),
    "images": (lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 3, 2]), 1, "SAME"), IMAGES),
    "convolutions": (
        lambda x: (
            tf.nn.depthwise_conv2d(x, tf.ones([2, 2, 3, 2]), [1, 2, 2, 1], "VALID"),
            tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 3]), [2, 12, 12, 4], 2),
            tf.nn.conv2d(x, tf.ones([2, 2, 3, 1]), 1, [[0, 0], [1, 0], [0, 1], [0, 0]]),
            tf.nn.avg_pool2d(x, 3, 1, "SAME"),
        ),
        IMAGES,
    ),
    "normalization": (
        lambda x: tf.compat.v1.nn.fused_batch_norm(x, tf.ones([3]), tf.zeros([3]))[0], IMAGES
    ),
    "blocks": (
        lambda x: (
            tf.nn.space_to_depth(x, 2),
            tf.nn.lrn(x),
            tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
            tf.image.crop_and_resize(x, [[0.0, 0.0, 1.0, 1.0]], [0], [3, 3]),
            tf.image.adjust_contrast(x, 2.0),
        ),
        IMAGES,
    ),
    "segments": (
        lambda x: (
            tf.math.segment_sum(x, [0, 0, 1]),
            tf.math.unsorted_segment_max(x, [0, 2, 1], 3),
            tf.math.top_k(x, 2),
            tf.cumsum(x, 1, exclusive=True),
            tf.math.bincount([1, 2, 2]),
            tf.unique([1, 2, 1]),
            tf.sequence_mask([1, 3]),
            tf.roll(x, 1, 0),
        ),
        X,
    ),
    "linear": (
        lambda x: (
            tf.linalg.svd(x, compute_uv=False),
            tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True) + 9.0 * tf.eye(3)),
            tf.einsum("ij,kj->ik", x, x),
            tf.signal.rfft(x),
            tf.linalg.band_part(x, 1, 0),
            tf.linalg.diag(x, k=1),
        ),
        X,
    ),
    "sparse": (
        lambda x: (
            tf.sparse.sparse_dense_matmul(tf.sparse.from_dense(x), tf.transpose(x)),
            tf.sparse.to_dense(tf.sparse.reorder(tf.sparse.from_dense(x))),
            tf.nn.embedding_lookup_sparse(
                x, tf.SparseTensor([[0, 0]], [1], [1, 1]), None, combiner="sum"
            ),
        ),
        X,
    ),
    "losses": (
        lambda x: (
            tf.nn.sparse_softmax_cross_entropy_with_logits([1, 2, 0], x),
            tf.quantization.fake_quant_with_min_max_args(x),
        ),
        X,
    ),
    "bytes": (
        lambda x: (
            tf.strings.substr(x, 0, 1),
            tf.strings.as_string(tf.strings.length(x), width=4, fill="0"),
            tf.strings.unicode_decode(x, "UTF-8").flat_values,
            tf.strings.join([x, x], "-"),
            tf.io.decode_raw(x[1], tf.uint8),
            tf.strings.to_hash_bucket_fast(x, 7),
            tf.strings.format("{}", [x]),
            tf.io.decode_csv(["1,2"], [[0], [0.5]]),
            tf.strings.ngrams(x, 2),
        ),
        WORDS,
    ),
    "pooling": (lambda x: tf.nn.max_pool2d(tf.image.resize(x, [4, 8]), 2, 2, "VALID"), IMAGES),
    "strings": (lambda x: (tf.strings.upper(x), tf.strings.split(x).values, x + "!"), WORDS),
    "regex": (lambda x: tf.strings.regex_replace(x, "o.", "[\\0]"), WORDS),
    "random": (lambda x: x + tf.random.stateless_uniform([3, 4], [1, 2]), X),
    "printing": (lambda x: (tf.print("x", output_stream="file://printed"), x + 1.0)[1], X),
    "reading": (lambda x: tf.io.read_file(x[0]), WORDS),
    "gradient": (lambda x: _clipped(x * x), X),
}  # fmt: skip


def graph_defs():
    """GraphDefs by name, each with the name of its input, what to feed, and its outputs."""
    found = {}
    for name, (program, array) in PROGRAMS.items():
        spec = tf.TensorSpec(array.shape, tf.string if array is WORDS else tf.float32)
        concrete = tf.function(program).get_concrete_function(spec)
        outputs = [each.name for each in concrete.outputs]
        graph_def = concrete.graph.as_graph_def()
        found[name] = graph_def, concrete.inputs[0].name, array, outputs
    for name, graph_def in (("calls", calls(3, 2)), ("chain", calls(40, 1))):
        found[name] = graph_def, "p:0", X, ["out:0"]
    found["many calls"] = calls(17, 2), "p:0", X[:0], ["out:0"]
    return found


def calls(depth, times):
    """A GraphDef whose functions call each other so many times, so deep."""
    graph_def = GraphDef()
    for level in range(depth + 1):
        function = graph_def.library.function.add()
        function.signature.name = f"f{level}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        last = "x"
        for call in range(times if level else 1):
            op = f"f{level - 1}" if level else "Neg"
            node = function.node_def.add(name=f"n{call}", op=op, input=[last])
            last = f"n{call}:y:0"
            if not level:
                node.attr["T"].type = 1
        function.ret["y"] = last
    placeholder = graph_def.node.add(name="p", op="Placeholder")
    placeholder.attr["dtype"].type = 1
    graph_def.node.add(name="out", op=f"f{depth}", input=["p"])
    return graph_def


class Model(tf.Module):
    """An object with all that SavedModels keep: variables, functions, tables, assets."""

    def __init__(self, vocabulary):
        super().__init__()
        self.weights = tf.Variable(X, name="weights")
        self.steps = tf.Variable(0, trainable=False)
        self.parts = [tf.Variable([1.0]), {"word": tf.Variable("one")}]
        self.words = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )  # fmt: skip
        self.numbers = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), 0
        )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def find(self, words):
        return {"places": self.words.lookup(words), "numbers": self.numbers.lookup(words)}

    @tf.function(input_signature=[tf.TensorSpec([None, 4], tf.float32)])
    def serve(self, x):
        self.steps.assign_add(1)
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(_clipped(x @ tf.transpose(self.weights)))
        gradient = tape.gradient(y, self.weights)
        if y > 0.0:
            y = y + self.parts[0]
        return {"y": tf.reshape(y, [-1]), "gradient": gradient}

    @tf.function
    def double(self, x, scale=2.0):
        return [x * scale for _ in range(2)]


def saved_models(folder):
    """Folders of SavedModels by name, each with arrays for its signatures by their names."""
    vocabulary = os.path.join(folder, "vocabulary.txt")
    with open(vocabulary, "w") as file:
        file.write("a\nb\n")
    model = Model(vocabulary)
    model.double(tf.constant(X))
    found = {"objects": os.path.join(folder, "objects")}
    tf.saved_model.save(
        model, found["objects"], {"serving_default": model.serve, "find": model.find}
    )
    keras = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(2, activation="relu", input_shape=(4,)),
            tf.keras.layers.Reshape([2, 1]),
            tf.keras.layers.LSTM(3, return_sequences=True),
            tf.keras.layers.GRU(2),
            tf.keras.layers.BatchNormalization(),
            tf.keras.layers.Dense(1),
        ]
    )
    found["keras"] = os.path.join(folder, "keras")
    keras.save(found["keras"], save_format="tf")
    return found
