"""The workloads for frameworks with TensorFlow's interface: Runnel and TensorFlow itself.

Written so that Keras 2 and Keras 3 both run them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import inputs
import numpy as np
from inputs import Sizes
from measure import Work

Step = Callable[[], Any]


def add(tf: Any, sizes: Sizes) -> Work:
    """One eager addition of scalars."""
    one, two = tf.constant(1.0), tf.constant(2.0)

    def step() -> None:
        for _ in range(sizes.operations):
            one + two

    return Work(step, operations=sizes.operations)


def product(tf: Any, sizes: Sizes) -> Work:
    """One eager matmul of 32 x 32 matrices."""
    matrix = tf.constant(inputs.layers(((32, 32),))[0])

    def step() -> None:
        for _ in range(sizes.operations):
            tf.matmul(matrix, matrix)

    return Work(step, operations=sizes.operations)


def regression(tf: Any, sizes: Sizes, with_optimizer: bool) -> Step:
    """Linear regression of five points: loss, gradients, and an update of two variables."""
    years, price = map(tf.constant, inputs.prices())
    line = [tf.Variable(0.0), tf.Variable(0.0)]
    optimizer = tf.keras.optimizers.SGD(learning_rate=5e-4) if with_optimizer else None

    def step() -> float:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(line[0] * years + line[1] - price))
        gradients = tape.gradient(loss, line)
        if optimizer is not None:
            optimizer.apply_gradients(zip(gradients, line, strict=True))
        else:
            for variable, gradient in zip(line, gradients, strict=True):
                variable.assign_sub(5e-4 * gradient)
        return float(loss.numpy())

    return step


def training(tf: Any, model: Any, data: Any, graph: bool, **options: Any) -> Step:
    """One Adam step on one batch."""
    examples, labels = map(tf.constant, data)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = adam(tf)

    def train(examples: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(labels, model(examples, **options))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    run = tf.function(train) if graph else train
    return lambda: float(run(examples, labels).numpy())


def adam(tf: Any) -> Any:
    return tf.keras.optimizers.Adam(learning_rate=1e-3, epsilon=1e-7)


def with_weights(model: Any, examples: np.ndarray, weights: list[np.ndarray]) -> Any:
    """A model built for its examples, with the same initial weights as in the other frameworks."""
    model(examples)
    model.set_weights(weights)
    return model


def mlp(tf: Any, sizes: Sizes, graph: bool) -> Step:
    """784-100-10."""
    layers = tf.keras.layers

    class Perceptron(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.flat = layers.Flatten()
            self.hidden = layers.Dense(100, activation="relu")
            self.classes = layers.Dense(10)

        def call(self, images: Any) -> Any:
            return self.classes(self.hidden(self.flat(images)))

    data = inputs.digits(sizes.batch)
    model = with_weights(Perceptron(), data[0], inputs.layers(inputs.MLP))
    return training(tf, model, data, graph)


def cnn(tf: Any, sizes: Sizes, graph: bool) -> Step:
    """Two convolutions of 5 x 5 with pooling, then 1024 and 10."""
    layers = tf.keras.layers

    class Convolutional(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.stages = [
                layers.Conv2D(32, 5, padding="same", activation="relu"),
                layers.MaxPool2D(2, 2),
                layers.Conv2D(64, 5, padding="same", activation="relu"),
                layers.MaxPool2D(2, 2),
                layers.Reshape((3136,)),
                layers.Dense(1024, activation="relu"),
                layers.Dense(10),
            ]

        def call(self, images: Any) -> Any:
            for stage in self.stages:
                images = stage(images)
            return images

    data = inputs.digits(sizes.batch)
    model = with_weights(Convolutional(), data[0], inputs.layers(inputs.CNN))
    return training(tf, model, data, graph)


def rnn(tf: Any, sizes: Sizes, graph: bool, cell: bool = True) -> Step:
    """An LSTM over characters, as a cell in a Python loop or as a layer."""
    layers = tf.keras.layers

    class Recurrent(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.recurrent = (layers.LSTMCell if cell else layers.LSTM)(inputs.UNITS)
            self.classes = layers.Dense(inputs.CHARACTERS)

        def call(self, characters: Any) -> Any:
            steps = tf.one_hot(characters, inputs.CHARACTERS)
            if not cell:
                return self.classes(self.recurrent(steps))
            state = [tf.zeros((sizes.batch, inputs.UNITS)) for _ in range(2)]
            for place in range(sizes.steps):
                output, state = self.recurrent(steps[:, place], state)
            return self.classes(output)

    data = inputs.texts(sizes.batch, sizes.steps)
    model = with_weights(Recurrent(), data[0], inputs.recurrent_layers())
    return training(tf, model, data, graph)


def q_network(tf: Any, states: np.ndarray) -> Any:
    layers = tf.keras.layers

    class Values(tf.keras.Model):
        def __init__(self) -> None:
            super().__init__()
            self.first = layers.Dense(24, activation="relu")
            self.second = layers.Dense(24, activation="relu")
            self.third = layers.Dense(2)

        def call(self, states: Any) -> Any:
            return self.third(self.second(self.first(states)))

    return with_weights(Values(), states, inputs.layers(inputs.DQN))


def dqn_act(tf: Any, sizes: Sizes) -> Step:
    """Select one action."""
    state = inputs.replay(sizes.replayed)[0][:1]
    network = q_network(tf, state)
    return lambda: int(tf.argmax(network(state), axis=-1).numpy()[0])


def dqn(tf: Any, sizes: Sizes) -> Step:
    """Select an action, then train on a batch of earlier ones."""
    states, actions, rewards, following, ends = inputs.replay(sizes.replayed)
    network, optimizer = q_network(tf, states), adam(tf)

    def step() -> float:
        int(tf.argmax(network(states[:1]), axis=-1).numpy()[0])
        best = tf.reduce_max(network(following), axis=1)
        target = rewards + 0.99 * best * (1.0 - ends)
        with tf.GradientTape() as tape:
            chosen = tf.reduce_sum(network(states) * tf.one_hot(actions, 2), axis=1)
            loss = tf.reduce_mean(tf.square(target - chosen))
        gradients = tape.gradient(loss, network.trainable_variables)
        optimizer.apply_gradients(zip(gradients, network.trainable_variables, strict=True))
        return float(loss.numpy())

    return step


def mobilenet_train(tf: Any, sizes: Sizes) -> Step:
    side = sizes.mobile_side
    model = tf.keras.applications.MobileNetV2(
        input_shape=(side, side, 3), weights=None, classes=5, classifier_activation=None
    )
    images = inputs.photos(sizes.mobile_batch, side)
    labels = (np.arange(sizes.mobile_batch) % 5).astype(np.int32)
    step = training(tf, model, (images, labels), graph=True, training=True)
    # Its weights are random, and differ between frameworks: the losses are not comparable.
    return lambda: [step()]


def mobilenet_infer(tf: Any, sizes: Sizes) -> Step:
    side = sizes.photo_side
    model = tf.keras.applications.MobileNetV2(input_shape=(side, side, 3), weights=None)
    image = tf.constant(inputs.photos(1, side))
    infer = tf.function(lambda image: model(image, training=False))
    return lambda: infer(image).numpy()


def compiled(tf: Any) -> Any:
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [layers.Flatten(), layers.Dense(100, activation="relu"), layers.Dense(10)]
    )
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=adam(tf), loss=loss, metrics=["sparse_categorical_accuracy"])
    return model


def fit(tf: Any, sizes: Sizes) -> Step:
    images, labels = inputs.digits(sizes.training_rows)
    model = compiled(tf)
    return lambda: model.fit(images, labels, batch_size=50, epochs=1, verbose=0) and None


def predict(tf: Any, sizes: Sizes) -> Step:
    images, _ = inputs.digits(sizes.test_rows)
    model = compiled(tf)
    return lambda: model.predict(images, batch_size=32, verbose=0)


def evaluate(tf: Any, sizes: Sizes) -> Step:
    images, labels = inputs.digits(sizes.test_rows)
    model = compiled(tf)
    return lambda: model.evaluate(images, labels, batch_size=32, verbose=0)


def whole(dataset: Any) -> Step:
    """One full pass over a pipeline."""

    def step() -> None:
        for _ in dataset:
            pass

    return step


def shuffle_batch(tf: Any, sizes: Sizes) -> Step:
    dataset = tf.data.Dataset.from_tensor_slices(inputs.digits(sizes.training_rows))
    return whole(dataset.shuffle(10000).batch(50))


def map_rot90(tf: Any, sizes: Sizes) -> Step:
    dataset = tf.data.Dataset.from_tensor_slices(inputs.digits(sizes.training_rows))
    dataset = dataset.map(lambda image, label: (tf.image.rot90(image), label))
    return whole(dataset.shuffle(10000).batch(50).prefetch(tf.data.AUTOTUNE))


def jpeg(tf: Any, sizes: Sizes) -> Work:
    folder = tempfile.TemporaryDirectory()
    names = inputs.jpeg_files(Path(folder.name), sizes.photos)

    def load(name: Any) -> Any:
        return tf.image.resize(tf.image.decode_jpeg(tf.io.read_file(name), 3), [256, 256]) / 255.0

    dataset = tf.data.Dataset.from_tensor_slices(names)
    step = whole(dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32))
    return Work(step, after=lambda: folder.name)


def write_records(tf: Any, path: str, sizes: Sizes) -> None:
    train = tf.train
    with tf.io.TFRecordWriter(path) as writer:
        for row, label in zip(*inputs.records(sizes.records), strict=True):
            image = train.Feature(bytes_list=train.BytesList(value=[row.tobytes()]))
            number = train.Feature(int64_list=train.Int64List(value=[int(label)]))
            features = train.Features(feature={"image": image, "label": number})
            writer.write(train.Example(features=features).SerializeToString())


def tfrecord_write(tf: Any, sizes: Sizes) -> Step:
    path = str(Path(tempfile.mkdtemp()) / "train.tfrecords")
    return lambda: write_records(tf, path, sizes)


def tfrecord_read(tf: Any, sizes: Sizes) -> Step:
    path = str(Path(tempfile.mkdtemp()) / "train.tfrecords")
    write_records(tf, path, sizes)
    wanted = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
    }

    def parse(text: Any) -> Any:
        found = tf.io.parse_single_example(text, wanted)
        return tf.io.decode_raw(found["image"], tf.uint8), found["label"]

    return whole(tf.data.TFRecordDataset(path).map(parse).batch(50))


def checkpoint(tf: Any, sizes: Sizes, restore: bool) -> Work:
    """Four layers, with both Adam slots each: 25 million parameters in full size."""
    model = tf.keras.Sequential([tf.keras.layers.Dense(sizes.wide) for _ in range(4)])
    optimizer = adam(tf)
    model(tf.zeros((1, sizes.wide)))
    variables = model.trainable_variables
    optimizer.apply_gradients((tf.ones_like(variable), variable) for variable in variables)
    saved = tf.train.Checkpoint(model=model, optimizer=optimizer)
    folder = Path(tempfile.mkdtemp())
    if restore:
        path = saved.save(str(folder / "model"))
        return Work(lambda: saved.restore(path))

    def clear() -> None:
        for file in folder.iterdir():
            file.unlink()

    return Work(lambda: saved.save(str(folder / "model")), after=clear)


WORKLOADS: dict[str, Callable[[Any, Sizes], Work | Step]] = {
    "op_add": add,
    "op_matmul32": product,
    "grad_eager": partial(regression, with_optimizer=False),
    "linreg_eager": partial(regression, with_optimizer=True),
    "mlp_eager": partial(mlp, graph=False),
    "mlp_graph": partial(mlp, graph=True),
    "cnn_eager": partial(cnn, graph=False),
    "cnn_graph": partial(cnn, graph=True),
    "rnn_eager": partial(rnn, graph=False),
    "rnn_graph": partial(rnn, graph=True),
    "lstm_layer": partial(rnn, graph=True, cell=False),
    "dqn_act": dqn_act,
    "dqn_eager": dqn,
    "mobilenetv2_train": mobilenet_train,
    "mobilenetv2_infer": mobilenet_infer,
    "fit_epoch": fit,
    "predict": predict,
    "evaluate": evaluate,
    "data_shuffle_batch": shuffle_batch,
    "data_map_rot90": map_rot90,
    "data_jpeg": jpeg,
    "data_tfrecord_write": tfrecord_write,
    "data_tfrecord_read": tfrecord_read,
    "checkpoint_save": partial(checkpoint, restore=False),
    "checkpoint_restore": partial(checkpoint, restore=True),
}
