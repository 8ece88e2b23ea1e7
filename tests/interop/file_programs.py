"""One program for TensorFlow, with either Keras, and for Runnel: writes and reads all files.

    python file_programs.py OWN_FOLDER OTHER_FOLDER

writes into one folder with TensorFlow, reads what is in the other one, and prints as JSON how well
each kind of file was understood: `yes` (values, training state and what comes of more training),
`weights only` (values, but not the state of training) or `no`, with the reason.
"""

import json
import os
import sys

import numpy as np

X = np.random.default_rng(0).random((6, 5, 4)).astype(np.float32)
Y = np.random.default_rng(1).random((6, 2)).astype(np.float32)


def build(tf):
    """A compiled model, the same for everybody."""
    layers = tf.keras.layers
    inputs = tf.keras.Input((5, 4), name="series")
    x = layers.LSTM(3, name="memory")(inputs)
    x = layers.Concatenate(name="both")([x, layers.Flatten(name="flat")(inputs)])
    x = layers.BatchNormalization(name="norm")(x)
    outputs = layers.Dense(2, activation="sigmoid", name="answer")(x)
    model = tf.keras.Model(inputs, outputs)
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=tf.keras.losses.MeanSquaredError())
    model.optimizer.build(model.trainable_variables)
    return model


def module(tf, fill):
    """A module of variables without Keras."""

    class Saved(tf.Module):
        def __init__(self):
            super().__init__()
            self.w = tf.Variable(np.full([2, 2], fill, np.float32))
            self.parts = [tf.Variable(fill), {"name": tf.Variable(str(fill))}]

        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def times(self, x):
            return tf.matmul(x, self.w)

    return Saved()


def is_keras_2(tf):
    return tf.__name__ == "runnel" or os.environ.get("TF_USE_LEGACY_KERAS") == "1"


def example(tf, number):
    feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[number, -number]))
    text = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"n%d" % number]))
    return tf.train.Example(
        features=tf.train.Features(feature={"n": feature, "text": text})
    ).SerializeToString(deterministic=True)


# Writing.


def write(tf, folder):
    """Write a file of every kind, and what the reader must find."""

    def at(name):
        return os.path.join(folder, name)

    problems = {}

    def attempt(kind, action):
        try:
            action()
        except Exception as error:
            problems[kind] = f"{type(error).__name__}: {error}"[:300]

    os.makedirs(folder, exist_ok=True)
    tf.keras.utils.set_random_seed(1)
    model = build(tf)
    for _ in range(2):
        model.train_on_batch(X, Y)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    attempt("module", lambda: tf.train.Checkpoint(module=module(tf, 7)).write(at("module")))
    attempt("model", lambda: checkpoint.write(at("model")))
    if is_keras_2(tf):
        attempt("weights", lambda: model.save_weights(at("weights")))
    attempt("weights_h5", lambda: model.save_weights(at("state.weights.h5")))
    if is_keras_2(tf):
        attempt("old_h5", lambda: model.save_weights(at("old.h5")))
    # In this order: Keras 3 forgets the optimizer's config when it saves the older format.
    attempt("keras", lambda: model.save(at("model.keras")))
    attempt("h5", lambda: model.save(at("model.h5")))
    attempt("tfrecord", lambda: write_records(tf, folder))
    attempt("saved_module", lambda: tf.saved_model.save(module(tf, 7), at("saved_module")))
    if is_keras_2(tf):
        attempt("saved_keras", lambda: model.save(at("saved_keras"), save_format="tf"))
    else:
        attempt("saved_keras", lambda: model.export(at("saved_keras"), verbose=False))
    np.savez(at("expected.npz"), *model.get_weights(), prediction=model.predict(X, verbose=0))
    model.train_on_batch(X, Y)
    np.savez(at("further.npz"), *model.get_weights())
    return problems


def write_records(tf, folder):
    for compression in ("", "GZIP", "ZLIB"):
        options = tf.io.TFRecordOptions(compression_type=compression)
        path = os.path.join(folder, f"records{compression}")
        with tf.io.TFRecordWriter(path, options) as writer:
            for number in range(5):
                writer.write(example(tf, number))


# Reading.


def read(tf, folder):
    """How well each kind of file is understood, with the reasons where it is not."""

    def at(name):
        return os.path.join(folder, name)

    readers = {
        "module": lambda: read_module(tf, at("module")),
        "model": lambda: graded(tf, folder, lambda: restored(tf, at("model"))),
        "weights": lambda: graded(tf, folder, lambda: with_weights(tf, at("weights"))),
        "weights_h5": lambda: graded(tf, folder, lambda: with_weights(tf, at("state.weights.h5"))),
        "old_h5": lambda: graded(tf, folder, lambda: with_weights(tf, at("old.h5"))),
        "h5": lambda: graded(tf, folder, lambda: tf.keras.models.load_model(at("model.h5"))),
        "keras": lambda: graded(tf, folder, lambda: tf.keras.models.load_model(at("model.keras"))),
        "tfrecord": lambda: read_records(tf, folder),
        "saved_module": lambda: read_saved_module(tf, at("saved_module")),
        "saved_keras": lambda: read_saved_keras(tf, folder),
    }
    result = {}
    for kind, reader in readers.items():
        try:
            result[kind] = [reader(), ""]
        except Exception as error:
            result[kind] = ["no", f"{type(error).__name__}: {error}"[:300]]
    return result


def restored(tf, path):
    model = build(tf)
    status = tf.train.Checkpoint(model=model, optimizer=model.optimizer).read(path)
    status.assert_existing_objects_matched()
    return model


def with_weights(tf, path):
    model = build(tf)
    model.load_weights(path)
    return model


def graded(tf, folder, load):
    """Whether a loaded model predicts the same, and goes on training as the writer did."""
    model = load()
    with np.load(os.path.join(folder, "expected.npz")) as expected:
        np.testing.assert_allclose(
            model.predict(X, verbose=0), expected["prediction"], rtol=1e-4, atol=1e-5
        )
    if model.optimizer is None or int(model.optimizer.iterations) != 2:
        return "weights only"
    model.train_on_batch(X, Y)
    with np.load(os.path.join(folder, "further.npz")) as further:
        for one, other in zip(model.get_weights(), further.values(), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)
    return "yes"


def read_module(tf, path):
    target = module(tf, 0)
    tf.train.Checkpoint(module=target).read(path).assert_consumed()
    assert (target.w.numpy() == 7).all() and target.parts[0].numpy() == 7
    assert target.parts[1]["name"].numpy() == b"7"
    return "yes"


def read_records(tf, folder):
    for compression in ("", "GZIP", "ZLIB"):
        path = os.path.join(folder, f"records{compression}")
        records = list(tf.data.TFRecordDataset(path, compression_type=compression))
        assert len(records) == 5
        for number, record in enumerate(records):
            assert record.numpy() == example(tf, number)
            message = tf.train.Example.FromString(record.numpy())
            assert list(message.features.feature["n"].int64_list.value) == [number, -number]
    return "yes"


def read_saved_module(tf, path):
    loaded = tf.saved_model.load(path)
    result = loaded.times(tf.ones([3, 2])).numpy()
    np.testing.assert_allclose(result, np.full([3, 2], 14.0))
    loaded.w.assign(tf.zeros([2, 2]))
    assert not loaded.times(tf.ones([3, 2])).numpy().any()
    return "yes"


def read_saved_keras(tf, folder):
    """The answer of the model's default signature."""
    loaded = tf.saved_model.load(os.path.join(folder, "saved_keras"))
    signature = loaded.signatures["serving_default"]
    (name,) = signature.structured_input_signature[1]
    (answer,) = signature(**{name: tf.constant(X)}).values()
    with np.load(os.path.join(folder, "expected.npz")) as expected:
        np.testing.assert_allclose(answer.numpy(), expected["prediction"], rtol=1e-4, atol=1e-5)
    return "yes"


def main(own, other):
    import tensorflow as tf

    problems = write(tf, own)
    if not is_keras_2(tf):
        import keras3_models

        keras3_models.write(tf, own)
    print(json.dumps({"problems": problems, "read": read(tf, other)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
