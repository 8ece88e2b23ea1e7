"""A training loop of TensorFlow 1 around a Keras model and a Keras metric, on given digits."""

import sys

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
with np.load(sys.argv[1]) as data:
    arrays = [data[name] for name in ("x_train", "y_train", "x_test", "y_test")]
x_train, y_train, x_test, y_test = arrays
x_train = x_train[:2000].reshape(-1, 784).astype(np.float32) / 255
x_test = x_test[:500].reshape(-1, 784).astype(np.float32) / 255
y_train, y_test = y_train[:2000].astype(np.int64), y_test[:500].astype(np.int64)


def weights(shape, dtype=None, **kwargs):
    count = int(np.prod(shape))
    values = np.random.RandomState(count).normal(0, 0.05, count)
    return values.reshape([int(size) for size in shape]).astype(np.float32)


with tf.Graph().as_default(), v1.Session() as session:
    v1.keras.backend.set_session(session)
    x = v1.placeholder(tf.float32, [None, 784])
    y = v1.placeholder(tf.int64, [None])
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Dense(32, "relu", kernel_initializer=weights),
            layers.BatchNormalization(momentum=0.9),
            layers.Dense(10, kernel_initializer=weights),
        ]
    )
    logits, inferred = model(x, training=True), model(x, training=False)
    loss = tf.reduce_mean(tf.keras.losses.sparse_categorical_crossentropy(y, logits, True))
    train = v1.train.AdamOptimizer(0.005).minimize(loss)
    accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    mean_loss = tf.keras.metrics.Mean()
    updates = [accuracy.update_state(y, logits), mean_loss.update_state(loss)]
    test_accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
    test_update = test_accuracy.update_state(y, inferred)
    assert v1.keras.backend.get_session() is session
    session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
    for metric in (accuracy, mean_loss, test_accuracy):
        session.run([variable.initializer for variable in metric.variables])
    for epoch in range(2):
        accuracy.reset_state()
        mean_loss.reset_state()
        for start in range(0, len(x_train), 50):
            rows = slice(start, start + 50)
            session.run([train, *updates, *model.updates], {x: x_train[rows], y: y_train[rows]})
        print(epoch, session.run(accuracy.result()), session.run(mean_loss.result()))
    for start in range(0, len(x_test), 100):
        rows = slice(start, start + 100)
        session.run(test_update, {x: x_test[rows], y: y_test[rows]})
    print("test", session.run(test_accuracy.result()), 0)
