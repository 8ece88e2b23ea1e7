"""Modules that are saved by one library and loaded by the other: the same code for both.

Each entry of MODULES makes an object; CALLS has what is asked of it, before saving and after
loading. The results are structures of arrays.
"""

from __future__ import annotations

import collections
import os

import numpy as np

Pair = collections.namedtuple("Pair", "first second")


def arrays(value):
    """A result as something that can be compared and pickled."""
    if isinstance(value, dict):
        return {key: arrays(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [arrays(each) for each in value]
    if hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "dense_shape"):
        return [value.indices.numpy(), value.values.numpy(), value.dense_shape.numpy()]
    return value.numpy() if hasattr(value, "numpy") else value


def simple(tf, folder):
    class Scale(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable([1.0, 2.0], name="v")
            self.c = tf.constant([5.0, 6.0])
            self.frozen = tf.Variable(3, trainable=False, name="frozen")

        @tf.function
        def f(self, x, scale=2.0):
            return {"y": x * self.v * scale + self.c}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def sized(self, x):
            return tf.reduce_sum(x) + tf.cast(self.frozen, tf.float32)

    module = Scale()
    module.f(tf.constant([1.0, 1.0]))
    module.f(tf.constant(1.0), scale=7.0)
    concrete = module.f.get_concrete_function(tf.TensorSpec([None], tf.float32))
    return module, {"serving_default": concrete, "sized": module.sized}


def simple_gradient(tf, module):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(module.f(tf.constant([1.0, 3.0]))["y"] ** 2)
    return tape.gradient(y, module.v)


def control(tf, folder):
    class Control(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(2.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def branch(self, x):
            if x > 0.0:
                y = x * self.v
            elif x < -10.0:
                y = x - self.v
            else:
                y = self.v * 1.0
            return y

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def collect(self, n):
            items = tf.TensorArray(tf.float32, n)
            for i in tf.range(n):
                if i % 2 == 0:
                    items = items.write(i, tf.cast(i, tf.float32) * self.v)
                else:
                    items = items.write(i, -self.v)
            return items.stack()

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def until(self, limit):
            x, steps = tf.constant(1.0), 0
            while x < limit:
                x = x * self.v
                steps += 1
                if steps > 20:
                    break
            return x, steps

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def mapped(self, x):
            return tf.map_fn(lambda e: e * self.v, x), tf.scan(lambda a, e: a + e, x)

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def choose(self, i):
            choices = [lambda: self.v * 1.0, lambda: self.v * 2.0, lambda: tf.constant(7.0)]
            return tf.switch_case(i, choices)

    return Control(), None


def control_gradient(tf, module):
    found = []
    for call in (
        lambda: module.branch(tf.constant(3.0)),
        lambda: tf.reduce_sum(module.collect(tf.constant(4))),
        lambda: module.until(tf.constant(30.0))[0],
        lambda: tf.reduce_sum(module.mapped(tf.constant([1.0, 2.0]))[0]),
        lambda: module.choose(tf.constant(1)),
    ):
        with tf.GradientTape() as tape:
            y = call()
        found.append(tape.gradient(y, module.v))
    return found


def nested(tf, folder):
    class Dense(tf.Module):
        def __init__(self, size, name=None):
            super().__init__(name=name)
            self.w = tf.Variable(tf.ones([size, 2]), name="w")

        @tf.function
        def __call__(self, x):
            return x @ self.w

    class Net(tf.Module):
        def __init__(self):
            super().__init__()
            self.layers = [Dense(3), Dense(2)]
            self.named = {"one": Dense(2), "inner": {"two": tf.Variable(2.0)}}
            self.pair = (Dense(2), tf.Variable([True, False]))
            self.text = tf.Variable([b"a", b"\xff\x00"])
            self.half = tf.Variable(tf.constant([1.5, 2.5], tf.bfloat16))
            self.shared = self.layers[0]

        @tf.function(input_signature=[tf.TensorSpec([None, 3], tf.float32)])
        def __call__(self, x):
            for layer in self.layers:
                x = layer(x)
            return self.named["one"](self.pair[0](x)) * self.named["inner"]["two"]

    net = Net()
    net.layers[1](tf.ones([1, 2]))
    return net, None


def assets(tf, folder):
    path = os.path.join(folder, "words.txt")
    with open(path, "w") as file:
        file.write("a\nb\nc\n")

    class Lookup(tf.Module):
        def __init__(self):
            super().__init__()
            self.asset = tf.saved_model.Asset(path)
            index = tf.lookup.TextFileIndex
            filled = tf.lookup.TextFileInitializer(
                self.asset, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
            )
            self.words = tf.lookup.StaticHashTable(filled, -1)
            pairs = tf.lookup.KeyValueTensorInitializer(["x", "y"], [1.0, 2.0])
            self.numbers = tf.lookup.StaticHashTable(pairs, -1.0)
            ids = tf.lookup.KeyValueTensorInitializer(
                tf.constant([3, 5], tf.int64), tf.constant(["three", "five"])
            )
            self.back = tf.lookup.StaticHashTable(ids, "?")
            vocabulary = tf.lookup.KeyValueTensorInitializer(
                ["p", "q"], tf.constant([0, 1], tf.int64)
            )
            self.vocabulary = tf.lookup.StaticVocabularyTable(vocabulary, 3)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def find(self, x):
            return self.words.lookup(x), self.numbers.lookup(x)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int64)])
        def names(self, x):
            return self.back.lookup(x)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
        def numbered(self, x):
            return self.vocabulary.lookup(x)

        @tf.function(input_signature=[])
        def contents(self):
            return tf.io.read_file(self.asset.asset_path)

    module = Lookup()
    return module, {"serving_default": module.find, "numbered": module.numbered}


def composite(tf, folder):
    class Composite(tf.Module):
        @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
        def ragged(self, x):
            return x * 2.0, tf.reduce_sum(x, axis=1)

        @tf.function(input_signature=[tf.SparseTensorSpec([None, None], tf.float32)])
        def sparse(self, x):
            return tf.sparse.reduce_sum(x), x

    return Composite(), None


def structured(tf, folder):
    class Structured(tf.Module):
        @tf.function
        def pairs(self, x, options=None, *more, flag=False, **named):
            total = x["a"] + x["b"][0]
            for each in more:
                total += each
            for key in sorted(named):
                total *= named[key]
            return Pair(total, [x["b"][1], None, {"flagged": tf.constant(flag)}])

        @tf.function(input_signature=[{"x": tf.TensorSpec([], tf.float32, name="ex")}])
        def keyed(self, inputs):
            return {"out": inputs["x"] + 1.0, "again": inputs["x"]}

    module = Structured()
    one, two = tf.constant(1.0), tf.constant(2.0)
    module.pairs({"a": one, "b": [two, two]})
    module.pairs({"a": one, "b": [two, two]}, "mode", one, one, flag=True)
    module.pairs({"a": one, "b": [two, two]}, k=two)
    return module, {"keyed": module.keyed}


def changing(tf, folder):
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = tf.Variable(0)
            self.rows = tf.Variable(tf.zeros([4, 2]))

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def add(self, n):
            self.count.assign_add(n)
            if self.count > 5:
                self.count.assign(0)
            return self.count.read_value()

        @tf.function(input_signature=[tf.TensorSpec([], tf.int32)])
        def touch(self, i):
            self.rows.scatter_nd_add([[i]], [[1.0, 2.0]])
            tf.debugging.assert_less(i, 4)
            return tf.gather(self.rows, [i, 0])

        @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)])
        def draw(self, seed):
            return tf.random.stateless_uniform([3], seed)

    return Counter(), None


def custom(tf, folder):
    @tf.custom_gradient
    def steep(x):
        def gradient(upstream):
            return upstream * 100.0 * x

        return x * x, gradient

    class Custom(tf.Module):
        def __init__(self):
            super().__init__()
            self.v = tf.Variable(3.0)

        @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
        def f(self, x):
            return steep(x * self.v) * 2.0

    return Custom(), None


def custom_gradient(tf, module):
    with tf.GradientTape() as tape:
        y = module.f(tf.constant(2.0))
    return tape.gradient(y, module.v)


MODULES = {
    "simple": simple,
    "control": control,
    "nested": nested,
    "assets": assets,
    "composite": composite,
    "structured": structured,
    "changing": changing,
    "custom": custom,
}

CALLS = {
    "simple": {
        "tensor": lambda tf, m: m.f(tf.constant([1.0, 4.0])),
        "list": lambda tf, m: m.f([1.0, 4.0]),
        "array": lambda tf, m: m.f(np.float32([1, 4])),
        "keyword": lambda tf, m: m.f(x=tf.constant(1.0), scale=7.0),
        "sized": lambda tf, m: m.sized(tf.constant([1.0, 2.0, 3.0])),
        "variables": lambda tf, m: [m.v, m.frozen],
        "trainable": lambda tf, m: [m.v.trainable, m.frozen.trainable, m.v.name],
        "gradient": simple_gradient,
    },
    "control": {
        "branches": lambda tf, m: [m.branch(tf.constant(x)) for x in (1.0, -1.0, -20.0)],
        "collect": lambda tf, m: m.collect(tf.constant(5)),
        "until": lambda tf, m: [m.until(tf.constant(x)) for x in (0.5, 30.0, 1e30)],
        "mapped": lambda tf, m: m.mapped(tf.constant([1.0, 2.0, 3.0])),
        "choose": lambda tf, m: [m.choose(tf.constant(i)) for i in range(3)],
        "gradient": control_gradient,
    },
    "nested": {
        "call": lambda tf, m: m(tf.ones([2, 3])),
        "layer": lambda tf, m: m.layers[1](tf.ones([1, 2])),
        "values": lambda tf, m: [m.named["inner"]["two"], m.pair[1], m.text],
        "half": lambda tf, m: tf.cast(m.half, tf.float32),
        "shared": lambda tf, m: m.shared.w is m.layers[0].w,
    },
    "assets": {
        "find": lambda tf, m: m.find(tf.constant(["a", "c", "y"])),
        "names": lambda tf, m: m.names(tf.constant([3, 4], tf.int64)),
        "numbered": lambda tf, m: m.numbered(tf.constant(["q", "zebra", "p"])),
        "contents": lambda tf, m: m.contents(),
    },
    "composite": {
        "ragged": lambda tf, m: m.ragged(tf.ragged.constant([[1.0, 2.0], [], [3.0]])),
        "sparse": lambda tf, m: m.sparse(tf.sparse.from_dense([[0.0, 1.0], [2.0, 0.0]])),
    },
    "structured": {
        "plain": lambda tf, m: m.pairs({"a": tf.constant(1.0), "b": _two(tf)}),
        "more": lambda tf, m: m.pairs(
            {"a": tf.constant(1.0), "b": _two(tf)}, "mode", tf.constant(3.0), tf.constant(4.0),
            flag=True,
        ),
        "named": lambda tf, m: m.pairs({"a": tf.constant(1.0), "b": _two(tf)}, k=tf.constant(5.0)),
        "keyed": lambda tf, m: m.keyed({"x": tf.constant(1.0)}),
    },
    "changing": {
        "add": lambda tf, m: [m.add(tf.constant(n)) for n in (2, 3, 4)],
        "touch": lambda tf, m: [m.touch(tf.constant(2)), m.touch(tf.constant(2))],
        "draw": lambda tf, m: m.draw(tf.constant([1, 2])),
    },
    "custom": {
        "f": lambda tf, m: m.f(tf.constant(2.0)),
        "gradient": custom_gradient,
    },
}  # fmt: skip

# What is asked of the signatures of loaded models.
SIGNATURES = {
    "simple": {
        "serving_default": lambda tf: {"x": tf.constant([2.0, 3.0])},
        "sized": lambda tf: {"x": tf.constant([2.0, 3.0])},
    },
    "nested": {"serving_default": lambda tf: {"x": tf.ones([2, 3])}},
    "assets": {
        "serving_default": lambda tf: {"x": tf.constant(["b", "x"])},
        "numbered": lambda tf: {"x": tf.constant(["b", "q"])},
    },
    "structured": {"keyed": lambda tf: {"ex": tf.constant(4.0)}},
    "custom": {"serving_default": lambda tf: {"x": tf.constant(4.0)}},
}


def _two(tf):
    return [tf.constant(2.0), tf.constant(3.0)]


def answers(tf, name, module, calls=None):
    """The results of all calls for an object."""
    found = {}
    for call, function in (CALLS if calls is None else calls)[name].items():
        try:
            found[call] = arrays(function(tf, module))
        except Exception as failure:
            found[call] = f"{type(failure).__name__}: {failure}"
    return found


def signature_answers(tf, name, module, signatures=None):
    """The results of all signatures of a loaded object."""
    found = {}
    for key, arguments in (SIGNATURES if signatures is None else signatures).get(name, {}).items():
        try:
            found[key] = arrays(module.signatures[key](**arguments(tf)))
        except Exception as failure:
            found[key] = f"{type(failure).__name__}: {failure}"
    return found
