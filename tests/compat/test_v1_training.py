"""Training in graphs: the same numbers as TensorFlow 1's, over twenty steps."""

import numpy as np
import pytest
from both_v1 import agree

import runnel

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(12, 3).astype(np.float32)
Y = (X @ np.array([[1.0], [-2.0], [3.0]]) + 0.5).astype(np.float32)
IDS = RANDOM.randint(0, 6, [20, 5]).astype(np.int32)

OPTIMIZERS = {
    "sgd": lambda v1: v1.train.GradientDescentOptimizer(0.1),
    "momentum": lambda v1: v1.train.MomentumOptimizer(0.05, 0.9),
    "nesterov": lambda v1: v1.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True),
    "adagrad": lambda v1: v1.train.AdagradOptimizer(0.3),
    "adadelta": lambda v1: v1.train.AdadeltaOptimizer(0.5, 0.9, 1e-4),
    "adam": lambda v1: v1.train.AdamOptimizer(0.1),
    "rmsprop": lambda v1: v1.train.RMSPropOptimizer(0.05, momentum=0.5),
    "centered": lambda v1: v1.train.RMSPropOptimizer(0.05, centered=True),
    "ftrl": lambda v1: v1.train.FtrlOptimizer(
        0.3, l1_regularization_strength=0.01, l2_regularization_strength=0.01
    ),
    "ftrl_beta": lambda v1: v1.train.FtrlOptimizer(
        0.3, l2_shrinkage_regularization_strength=0.01, beta=0.1
    ),
    "proximal": lambda v1: v1.train.ProximalGradientDescentOptimizer(0.1, 0.01, 0.02),
    "proximal_adagrad": lambda v1: v1.train.ProximalAdagradOptimizer(0.3, 0.1, 0.01, 0.02),
    "adagrad_da": lambda v1: v1.train.AdagradDAOptimizer(
        0.5, v1.train.get_or_create_global_step(), l1_regularization_strength=0.001
    ),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_linear_regression(name):
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        y = v1.placeholder(tf.float32, [None, 1], name="y")
        w = v1.get_variable("w", [3, 1], initializer=v1.constant_initializer([0.1, 0.2, 0.3]))
        b = v1.Variable(tf.zeros([1]), name="b")
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        step = v1.train.get_or_create_global_step()
        optimizer = OPTIMIZERS[name](v1)
        train = optimizer.minimize(loss, global_step=step)
        losses = []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(20):
                losses.append(session.run([train, loss], {x: X, y: Y})[1])
            slots = [optimizer.get_slot(w, each) for each in optimizer.get_slot_names()]
            names = [v.name for v in v1.global_variables()]
            return [
                losses, session.run([w, b, step, slots]), sorted(names),
                [v.name for v in v1.trainable_variables()], train.name,
                optimizer.get_slot_names(),
            ]  # fmt: skip

    agree(program, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_rows_of_an_embedding(name):
    def program(v1, tf):
        ids = v1.placeholder(tf.int32, [5])
        table = v1.Variable(np.arange(18, dtype=np.float32).reshape(6, 3) / 10, name="table")
        rows = tf.nn.embedding_lookup(table, ids)
        loss = tf.reduce_sum(tf.square(rows - 1.0)) + tf.reduce_sum(rows[0] * table[2])
        step = v1.train.get_or_create_global_step()
        sparse = tf.reduce_sum(tf.square(tf.gather(table, ids) - 1.0))
        train = OPTIMIZERS[name](v1).minimize(sparse, global_step=step)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            losses = []
            for each in IDS:
                losses.append(session.run(loss, {ids: each}))
                session.run(train, {ids: each})
            return [losses, session.run(table)]

    agree(program, rtol=2e-4, atol=2e-5)


def test_gradients_by_hand():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [2])
        w = v1.Variable([1.0, 2.0], name="w")
        unused = v1.Variable([1.0], name="unused")
        loss = tf.reduce_sum(tf.exp(w * x) + x**3)
        optimizer = v1.train.GradientDescentOptimizer(v1.placeholder_with_default(0.1, []))
        pairs = optimizer.compute_gradients(loss)
        clipped = [(tf.clip_by_norm(g, 1.0), v) for g, v in pairs if g is not None]
        train = optimizer.apply_gradients(clipped, name="step")
        second = v1.gradients(v1.gradients(loss, w), [w, x])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            feed = {x: [0.5, -1.0]}
            seen = [[g is None for g, _ in pairs], [v.name for _, v in pairs], train.name]
            seen.append(session.run([pairs[0][0], second, v1.hessians(loss, x)], feed))
            for _ in range(5):
                session.run(train, feed)
            return [*seen, session.run([w, unused])]

    agree(program)


def test_perceptron_from_seeds():
    """Initial values drawn from the graph's seed, layers in scopes, and regularizers."""

    def program(v1, tf):
        v1.set_random_seed(7)
        x = v1.placeholder(tf.float32, [None, 3])
        y = v1.placeholder(tf.int32, [None])
        hidden = x
        for index, units in enumerate([5, 2]):
            with v1.variable_scope(f"layer{index}", regularizer=lambda w: 0.01 * tf.nn.l2_loss(w)):
                w = v1.get_variable("w", [hidden.shape[1], units])
                b = v1.get_variable("b", [units], initializer=v1.zeros_initializer())
                hidden = tf.matmul(hidden, w) + b
                hidden = tf.nn.tanh(hidden) if index == 0 else hidden
        loss = v1.losses.sparse_softmax_cross_entropy(y, hidden)
        total = v1.losses.get_total_loss()
        train = v1.train.AdamOptimizer(0.05).minimize(total)
        right = tf.equal(v1.argmax(hidden, 1), tf.cast(y, tf.int64))
        accuracy = v1.reduce_mean(v1.to_float(right))
        classes = (Y[:, 0] > 0.8).astype(np.int32)
        seen = []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(20):
                seen.append(session.run([loss, total, train], {x: X, y: classes})[:2])
            return [seen, session.run(accuracy, {x: X, y: classes})]

    agree(program, rtol=1e-4, atol=1e-5)


def test_learning_rates():
    def program(v1, tf):
        step = v1.placeholder(tf.int32, [])
        train = v1.train
        rates = [
            train.exponential_decay(0.1, step, 10, 0.5),
            train.exponential_decay(0.1, step, 10, 0.5, staircase=True),
            train.natural_exp_decay(0.1, step, 10, 0.5, staircase=True),
            train.inverse_time_decay(0.1, step, 10, 0.5),
            train.polynomial_decay(0.1, step, 20, 0.01, power=2.0),
            train.polynomial_decay(0.1, step, 8, 0.01, cycle=True),
            train.piecewise_constant(step, [5, 15], [1.0, 0.5, 0.1]),
            train.cosine_decay(0.1, step, 20, alpha=0.1),
            train.cosine_decay_restarts(0.1, step, 7),
            train.linear_cosine_decay(0.1, step, 20),
        ]
        with v1.Session() as session:
            return [session.run(rates, {step: each}) for each in (0, 1, 5, 9, 15, 16, 30)]

    agree(program)


def test_moving_averages():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [2])
        w = v1.Variable([1.0, 2.0], name="w")
        step = v1.train.get_or_create_global_step()
        averages = v1.train.ExponentialMovingAverage(0.9, num_updates=step)
        train = v1.train.GradientDescentOptimizer(0.1).minimize(
            tf.reduce_sum(w * x), global_step=step
        )
        with tf.control_dependencies([train]):
            update = averages.apply([w])
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            seen = []
            for index in range(5):
                session.run(update, {x: [index, 1.0]})
                seen.append(session.run([w, averages.average(w)]))
            return [seen, averages.average_name(w), averages.average(w).name,
                    sorted(averages.variables_to_restore())]  # fmt: skip

    agree(program)


@pytest.mark.parametrize("name", ["sgd", "adam", "momentum", "rmsprop"])
def test_eager_variables(name):
    import tensorflow

    results = []
    for library in (tensorflow, runnel):
        w = library.Variable([1.0, 2.0])
        optimizer = OPTIMIZERS[name](library.compat.v1)
        for _ in range(5):
            optimizer.minimize(lambda w=w: w[0] ** 2 + w[1] ** 4, var_list=[w])
        results.append(w.numpy())
    np.testing.assert_allclose(results[1], results[0], rtol=1e-5)
