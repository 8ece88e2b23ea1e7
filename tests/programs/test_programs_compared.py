"""Pieces of whole programs, run by both libraries in one process, give the same."""

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow

import runnel

PROGRAMS = []


def program(function):
    PROGRAMS.append(pytest.param(function, id=function.__name__))
    return function


@pytest.mark.parametrize("function", PROGRAMS)
def test_the_same(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = []
    for library in (tensorflow, runnel):
        library.keras.backend.clear_session()
        results.append(function(library))
    assert results[0] == results[1]


SHAPES = [None, (), (2,), (None,), (None, 1), (2, None), (None, 3), (2, 2), (None, 2, 3)]


@program
def equality_keeps_the_static_shape(tf):
    shapes = []
    for one, other in itertools.product(SHAPES, SHAPES):

        @tf.function(input_signature=[tf.TensorSpec(one), tf.TensorSpec(other)])
        def compared(x, y):
            shapes.append(str((x == y).shape))
            return x

        compared.get_concrete_function()
    return shapes


@program
def tensors_of_unknown_shape_print_without_one(tf):
    texts = []

    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec([None])])
    def printed(x, y):
        texts.extend([str(x), repr(x), str(y)])
        return x

    printed.get_concrete_function()
    return texts


@program
def a_layer_builds_plain_variables_of_tensors(tf):
    class Line(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = tf.Variable(tf.ones([shape[-1], 2]), name="w")

        def call(self, inputs):
            return inputs @ self.w

    inputs = tf.keras.Input([3])
    model = tf.keras.Model(inputs, Line()(inputs))
    line = Line()
    traced = tf.function(lambda x: line(x))
    names = [variable.name for variable in (*model.variables, *line.variables)]
    return model(np.ones([1, 3])).numpy().tolist(), traced(tf.ones([1, 3])).numpy().tolist(), names


@program
def a_model_gives_itself_to_its_constructor(tf):
    class Net(tf.keras.Model):
        def __init__(self):
            super().__init__(self)
            self.dense = tf.keras.layers.Dense(2)

        def call(self, inputs):
            return self.dense(inputs)

    net = Net()
    return net(tf.ones([1, 3])).shape.as_list(), net.name, net.trainable


@program
def names_of_layers_made_while_others_are_called(tf):
    layers = tf.keras.layers

    class Late(layers.Layer):
        def __init__(self, in_call):
            super().__init__()
            self.inner = None
            self.in_call = in_call

        def build(self, shape):
            if not self.in_call:
                self.inner = layers.Dropout(0.1)

        def call(self, inputs):
            if self.inner is None:
                self.inner = layers.Dropout(0.1)
            return self.inner(inputs)

    names = []
    for in_call in (False, True):
        late = [Late(in_call) for _ in range(6)]
        x = late[1](layers.Dropout(0.1)(late[0](tf.keras.Input([3]))))
        late[3](late[2](tf.ones([1, 3])))
        tf.function(lambda x, late=late: late[5](late[4](x)))(tf.ones([1, 3]))
        names += [each.inner.name for each in late] + [layers.Dropout(0.1).name]
    x = layers.MultiHeadAttention(2, 2)(*[tf.keras.Input([3, 4])] * 2)
    x = layers.Dropout(0.1)(x)
    return names, x.name.partition("/")[0], layers.Softmax().name


@program
def names_of_functional_models_of_own_classes(tf):
    class OwnNet(tf.keras.Model):
        pass

    inputs = tf.keras.Input([3])
    outputs = tf.keras.layers.Dense(2)(inputs)
    models = [OwnNet(inputs, outputs), OwnNet(inputs=inputs, outputs=outputs)]
    models += [tf.keras.Model(inputs, outputs), OwnNet(inputs, outputs, name="given")]
    return [model.name for model in models]


@program
def masks_reach_layers_that_only_take_them(tf):
    layers = tf.keras.layers

    class Embedded(layers.Layer):
        def call(self, inputs):
            return tf.one_hot(inputs, 4)

        def compute_mask(self, inputs, mask=None):
            return tf.not_equal(inputs, 0)

    class Weighted(layers.Layer):
        def call(self, inputs, mask=None):
            return inputs * tf.cast(mask, tf.float32)[..., tf.newaxis]

    tokens = np.array([[1, 2, 0], [3, 0, 0]])
    inputs = tf.keras.Input([None], dtype="int32")
    model = tf.keras.Model(inputs, Weighted()(Embedded()(inputs)))
    return [model(tokens).numpy().tolist(), Weighted()(Embedded()(tokens)).numpy().tolist()]


@program
def weights_of_mixed_precision_inside_of_a_call(tf):
    seen = []

    class Scaled(tf.keras.layers.Layer):
        def build(self, shape):
            self.w = self.add_weight(name="w", shape=[2, 2], initializer="ones")
            self.count = self.add_weight(name="count", shape=[2], trainable=False,
                                         initializer="zeros")  # fmt: skip
            seen.append(self.w.dtype.name)

        def call(self, inputs):
            seen.append((self.w.dtype.name, self.w.true_dtype.name, str(self.w)))
            x = tf.cast(inputs, self.w.dtype) @ self.w
            for value in (x[0], tf.ones([2]), [1.0, 1.0], tf.ones([2], self.count.dtype)):
                seen.append(self.count.assign_add(value).dtype.name)
            seen.append(tf.zeros(2, self.w.dtype).dtype.name)
            return x

    layer = Scaled(dtype="mixed_float16")
    results = [layer(np.ones([1, 2])), tf.function(lambda x: layer(x))(tf.ones([1, 2]))]
    seen += [layer.w.dtype.name, layer.count.numpy().tolist(), str(layer.count)]
    return seen, [(result.dtype.name, result.numpy().tolist()) for result in results]


@program
def decorators_for_python_functions(tf):
    @tf.numpy_function(Tout=[tf.float32, tf.int32])
    def both(a, b):
        return np.float32(a + b), np.int32(a)

    @tf.py_function(Tout=tf.float32)
    def squared(x):
        return x * x

    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = squared(x)
    traced = tf.function(lambda x: (*both(x, 1.0), squared(x)))(x)
    values = [each.numpy().item() for each in (*both(2.0, 1.0), y, tape.gradient(y, x), *traced)]
    return values, both.__name__, squared.__name__


@program
def arrays_that_belong_to_the_program(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    outputs = model.predict_on_batch(np.ones([4, 3], "float32"))
    outputs[np.arange(4), 1] = 7.0

    @tf.function
    def traced(x):
        return tf.numpy_function(_overwrite, [x], tf.float32), x

    results = [tf.numpy_function(_overwrite, [tf.ones(3)], tf.float32), *traced(tf.ones(3))]
    return outputs[:, 1].tolist(), [each.numpy().tolist() for each in results[:2]]


def _overwrite(array):
    array[0] = 5.0
    return array


@program
def a_saver_makes_its_folder(tf):
    v1 = tf.compat.v1
    folder = tf.__name__
    with tf.Graph().as_default(), v1.Session() as session:
        v1.get_variable("v", initializer=1.0)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, f"{folder}/model", global_step=3)
        with pytest.raises(ValueError, match="doesn't exist, can't save"):
            v1.train.Saver().save(session, f"{folder}/deep/down/model")
    return path.removeprefix(folder), tf.train.list_variables(path)


@program
def records_of_a_file_that_grows(tf):
    path = f"{tf.__name__}.records"
    seen = []
    with tf.io.TFRecordWriter(path) as writer:
        records = tf.compat.v1.io.tf_record_iterator(path)
        for record in (b"one", b"two"):
            writer.write(record)
            writer.flush()
            seen.append([next(records), *records])
    with pytest.raises(tf.errors.NotFoundError):
        tf.compat.v1.io.tf_record_iterator("nowhere")
    return seen


READER = """
import tensorflow as tf
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

for name in ("train", "validation"):
    with tf.summary.create_file_writer(name).as_default():
        tf.summary.scalar("loss", 0.5, step=3)
    events = EventAccumulator(name)
    events.Reload()
    print(name, events.Tags()["tensors"], [event.step for event in events.Tensors("loss")])
"""


def test_tensorboard_reads_event_files_in_a_program(tmp_path):
    command = [sys.executable, "-m", "runnel", "-c", READER]
    paths = {**os.environ, "PYTHONPATH": str(Path(runnel.__file__).parents[1])}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env=paths, timeout=120
    )
    assert done.stdout == "train ['loss'] [3]\nvalidation ['loss'] [3]\n", done.stderr
