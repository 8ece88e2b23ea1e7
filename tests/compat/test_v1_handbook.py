"""Programs in the manner of TensorFlow 1's handbooks: the same numbers on both libraries."""

import numpy as np
import pytest
from both_v1 import agree

# The original says of many of these functions that there is a newer one.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
RANDOM = np.random.RandomState(0)
X = RANDOM.normal(size=(32, 4)).astype(np.float32)
LABELS = (X[:, 0] + X[:, 1] > 0).astype(np.int64) + (X[:, 2] > 1)
IMAGES = RANDOM.normal(size=(6, 8, 8, 1)).astype(np.float32)
SEQUENCES = RANDOM.normal(size=(3, 5, 4)).astype(np.float32)


def uniform(v1, seed):
    return v1.random_uniform_initializer(-0.5, 0.5, seed=seed)


def linear_regression(v1, tf):
    x = v1.placeholder(tf.float32, name="x")
    y = v1.placeholder(tf.float32, name="y")
    w = tf.compat.v1.Variable(0.3, name="weight")
    b = tf.compat.v1.Variable(-0.2, name="bias")
    cost = v1.reduce_sum(v1.pow(v1.add(v1.multiply(x, w), b) - y, 2)) / (2 * 8)
    step = v1.train.GradientDescentOptimizer(0.01).minimize(cost)
    numbers = []
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for epoch in range(5):
            for a, c in zip(X[:8, 0], X[:8, 1], strict=True):
                session.run(step, feed_dict={x: a, y: c})
            if epoch % 2 == 0:
                numbers.append(session.run([cost, w, b], {x: X[:8, 0], y: X[:8, 1]}))
    return numbers


def softmax_regression(v1, tf):
    x = v1.placeholder(tf.float32, [None, 4])
    y = v1.placeholder(tf.float32, [None, 3])
    w, b = v1.Variable(tf.zeros([4, 3])), v1.Variable(tf.zeros([3]))
    prediction = tf.nn.softmax(tf.matmul(x, w) + b)
    cross = -v1.reduce_sum(y * v1.log(prediction), reduction_indices=[1])
    loss = v1.reduce_mean(cross)
    step = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
    correct = v1.equal(v1.argmax(prediction, 1), v1.argmax(y, 1))
    accuracy = v1.reduce_mean(v1.cast(correct, tf.float32))
    session = v1.InteractiveSession()
    v1.global_variables_initializer().run()
    feeds = {x: X, y: np.eye(3, dtype=np.float32)[LABELS]}
    for _ in range(20):
        step.run(feeds)
    found = [loss.eval(feeds), accuracy.eval(feeds), w.eval()]
    session.close()
    return found


def convolutional(v1, tf):
    x = v1.placeholder(tf.float32, [None, 8, 8, 1])
    training = v1.placeholder(tf.bool, [])
    net = v1.layers.conv2d(x, 4, 3, padding="same", activation=tf.nn.relu,
                           kernel_initializer=uniform(v1, 1), name="conv1")  # fmt: skip
    net = v1.layers.max_pooling2d(net, 2, 2)
    net = v1.layers.conv2d(net, 8, [3, 3], kernel_initializer=uniform(v1, 2), name="conv2")
    net = v1.layers.flatten(net)
    net = v1.layers.dense(net, 16, tf.nn.tanh, kernel_initializer=uniform(v1, 3), name="fc")
    net = v1.layers.dropout(net, rate=0.0, training=training)
    logits = v1.layers.dense(net, 3, kernel_initializer=uniform(v1, 4), name="logits")
    loss = v1.losses.sparse_softmax_cross_entropy(labels=LABELS[:6], logits=logits)
    step = v1.train.AdamOptimizer(1e-2).minimize(loss, v1.train.get_or_create_global_step())
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        feeds = {x: IMAGES, training: True}
        losses = [session.run([step, loss], feeds)[1] for _ in range(5)]
        names = [(v.name, v.shape.as_list()) for v in v1.trainable_variables()]
        return [losses, names, session.run(v1.train.get_global_step())]


def recurrent(v1, tf):
    found = []
    with v1.variable_scope("dynamic", initializer=uniform(v1, 1)):
        cell = v1.nn.rnn_cell.BasicLSTMCell(6)
        outputs, state = v1.nn.dynamic_rnn(
            cell, SEQUENCES, sequence_length=[5, 2, 3], dtype=tf.float32
        )
    with v1.variable_scope("static", initializer=uniform(v1, 2)):
        cells = v1.nn.rnn_cell.MultiRNNCell([v1.nn.rnn_cell.BasicLSTMCell(4) for _ in range(2)])
        steps = tf.unstack(tf.constant(SEQUENCES), axis=1)
        listed, last = v1.nn.static_rnn(cells, steps, dtype=tf.float32)
    loss = tf.reduce_sum(outputs) + tf.reduce_sum(listed[-1]) + tf.reduce_sum(last[0].c)
    step = v1.train.RMSPropOptimizer(0.01).minimize(loss)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(3):
            found.append(session.run([loss, step])[0])
        return [found, session.run([outputs, state.h]), [v.name for v in v1.trainable_variables()]]


def words(v1, tf):
    inputs = v1.placeholder(tf.int32, [4])
    labels = v1.placeholder(tf.int32, [4, 1])
    embeddings = v1.Variable(v1.random_uniform([20, 5], -1.0, 1.0, seed=3))
    embed = tf.nn.embedding_lookup(embeddings, inputs)
    weights = v1.Variable(v1.truncated_normal([20, 5], stddev=0.4, seed=4))
    biases = v1.Variable(tf.zeros([20]))
    sampled = (
        tf.constant([3, 7, 9], tf.int64), tf.constant([[0.5]] * 4), tf.constant([0.2, 0.4, 0.1]),
    )  # fmt: skip
    loss = v1.reduce_mean(v1.nn.nce_loss(
        weights=weights, biases=biases, labels=labels, inputs=embed, num_sampled=3,
        num_classes=20, sampled_values=sampled,
    ))  # fmt: skip
    step = v1.train.GradientDescentOptimizer(1.0).minimize(loss)
    norm = v1.sqrt(v1.reduce_sum(v1.square(embeddings), 1, keep_dims=True))
    near = v1.matmul((embeddings / norm)[:3], embeddings / norm, transpose_b=True)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        feeds = {inputs: [1, 2, 1, 5], labels: [[3], [4], [5], [6]]}
        return [[session.run([loss, step], feeds)[0] for _ in range(4)], session.run(near)]


def autoencoder(v1, tf):
    x = v1.placeholder("float", [None, 4])

    def layer(values, units, name, reuse=None):
        with v1.variable_scope(name, reuse=reuse):
            w = v1.get_variable("w", [values.get_shape()[-1], units], initializer=uniform(v1, 5))
            b = v1.get_variable("b", [units], initializer=v1.constant_initializer(0.1))
            return tf.nn.sigmoid(v1.nn.xw_plus_b(values, w, b))

    code = layer(x, 2, "encoder")
    decoded = layer(code, 4, "decoder")
    again = layer(layer(x, 2, "encoder", True), 4, "decoder", True)
    loss = v1.losses.mean_squared_error(x, decoded)
    step = v1.train.AdagradOptimizer(0.5).minimize(loss)
    with v1.Session() as session:
        v1.initialize_all_variables().run()
        losses = [session.run([step, loss], {x: X})[1] for _ in range(6)]
        return [
            losses,
            session.run(again - decoded, {x: X}),
            [v.name for v in v1.global_variables()],
        ]


def normalization(v1, tf):
    x = v1.placeholder(tf.float32, [None, 4])
    training = v1.placeholder_with_default(False, [], name="training")
    net = v1.layers.dense(x, 5, kernel_initializer=uniform(v1, 1))
    net = v1.layers.batch_normalization(net, momentum=0.5, training=training)
    loss = v1.reduce_mean(v1.square(net - 1.0))
    updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
    with v1.control_dependencies(updates):
        step = v1.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True).minimize(loss)
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        losses = [session.run([loss, step], {x: X, training: True})[0] for _ in range(4)]
        averages = [v for v in v1.global_variables() if "moving" in v.name]
        return [losses, len(updates), session.run(averages), session.run(loss, {x: X})]


def averages(v1, tf, folder):
    w = v1.get_variable("w", initializer=tf.constant([1.0, 2.0]))
    average = v1.train.ExponentialMovingAverage(0.9)
    step = v1.train.GradientDescentOptimizer(0.1).minimize(v1.reduce_sum(w * w))
    with v1.control_dependencies([step]):
        both = average.apply([w])
    path = f"{folder}/{tf.__name__}"
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for _ in range(3):
            session.run(both)
        v1.train.Saver().save(session, path)
        found = session.run([w, average.average(w)])
    with tf.Graph().as_default(), v1.Session() as session:
        w = v1.get_variable("w", [2])
        average = v1.train.ExponentialMovingAverage(0.9)
        names = average.variables_to_restore()
        v1.train.Saver(names).restore(session, path)
        return [found, session.run(w), list(names), average.average_name(w)]


def clipping(v1, tf):
    w = v1.get_variable("w", [4, 2], initializer=uniform(v1, 2))
    unused = v1.get_variable("unused", [1])
    loss = v1.reduce_sum(v1.exp(v1.matmul(X, w)))
    optimizer = v1.train.AdamOptimizer(0.1)
    pairs = optimizer.compute_gradients(loss, [w, unused])
    found = [gradient is None for gradient, _ in pairs]
    clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs if g is not None], 1.0)
    bounded = [(tf.clip_by_value(g, -0.2, 0.2), v) for g, v in zip(clipped, [w], strict=True)]
    rate = v1.train.exponential_decay(0.1, v1.train.get_or_create_global_step(), 2, 0.5)
    step = optimizer.apply_gradients(bounded, global_step=v1.train.get_global_step())
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        # Apart: the rate follows the global step, which the update counts.
        results = [(session.run([loss, norm, rate]), session.run(step))[0] for _ in range(4)]
        return [found, results]


def control_flow(v1, tf):
    w = v1.get_variable("w", initializer=tf.constant([[0.5, 0.1], [0.2, 0.4]]))
    count = v1.placeholder(tf.int32, [])

    def body(i, x):
        return i + 1, tf.tanh(tf.matmul(x, w))

    _, end = v1.while_loop(lambda i, x: i < count, body, [0, tf.ones([1, 2])], maximum_iterations=9)
    total = v1.reduce_sum(end)
    loss = v1.cond(total > 0.5, lambda: total * total, lambda: v1.abs(total), name="choice")
    gradient = v1.gradients(loss, w)[0]
    step = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
    case = v1.case([(count > 3, lambda: tf.constant(1.0))], default=lambda: tf.constant(2.0))
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        found = [session.run([loss, gradient, case], {count: n}) for n in (0, 1, 4, 30)]
        session.run(step, {count: 3})
        return [found, session.run(w)]


def summaries(v1, tf, folder):
    x = v1.placeholder(tf.float32, [None])
    with v1.name_scope("summaries"):
        v1.summary.scalar("mean", v1.reduce_mean(x))
        v1.summary.histogram("values", x)
        v1.summary.text("note", tf.constant("hello"))
    merged = v1.summary.merge_all()
    path = f"{folder}/{tf.__name__}"
    with v1.Session() as session, v1.summary.FileWriter(path, session.graph) as writer:
        for step in range(3):
            writer.add_summary(session.run(merged, {x: X[step]}), step)
        value = v1.Summary(value=[v1.Summary.Value(tag="own", simple_value=2.5)])
        writer.add_summary(value, 9)
    import glob

    (file,) = glob.glob(f"{path}/*tfevents*")
    found = []
    for event in v1.train.summary_iterator(file):
        kind = event.WhichOneof("what")
        tags = [(each.tag, each.simple_value) for each in event.summary.value]
        found.append((kind, event.step, tags))
    return found


def functions_of_python(v1, tf):
    name = f"Handbook{tf.__name__.title()}"

    @tf.RegisterGradient(name)
    def _clipped(op, gradient):
        return tf.clip_by_value(gradient, -0.1, 0.1)

    x = v1.placeholder(tf.float32, [3])
    with v1.get_default_graph().gradient_override_map({"Identity": name}):
        passed = tf.identity(x, name="passed")
    gradient = v1.gradients(v1.reduce_sum(passed * passed), x)[0]
    doubled = v1.py_func(lambda value: value * np.float32(2), [x], tf.float32)
    a, b = v1.placeholder(tf.float32, []), v1.placeholder(tf.float32, [])
    first = a + 1.0
    second = first * b
    with v1.Session() as session:
        found = session.run([gradient, doubled], {x: [1.0, -0.01, 3.0]})
        handle = session.partial_run_setup([first, second], [a, b])
        found.append(session.partial_run(handle, first, {a: 2.0}))
        found.append(session.partial_run(handle, second, {b: 5.0}))
        return found


PROGRAMS = [linear_regression, softmax_regression, convolutional, recurrent, words, autoencoder,
            normalization, clipping, control_flow, functions_of_python]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_program(program):
    agree(program, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("program", [averages, summaries], ids=lambda each: each.__name__)
def test_program_with_files(program, tmp_path):
    agree(program, str(tmp_path))
