"""Functions with TensorFlow 1's arguments, losses and layers, in graphs."""

import numpy as np
import pytest
from both_v1 import agree, error_of

X = np.random.RandomState(1).randn(2, 3, 4).astype(np.float32)
IMAGES = np.random.RandomState(2).rand(2, 6, 6, 3).astype(np.float32)

CALLS = {
    "reduce_sum": lambda v1, x: v1.reduce_sum(x, reduction_indices=[1], keep_dims=True),
    "reduce_mean": lambda v1, x: v1.reduce_mean(x, 1, True),
    "reduce_max": lambda v1, x: v1.reduce_max(x, axis=-1),
    "reduce_logsumexp": lambda v1, x: v1.reduce_logsumexp(x, keepdims=True),
    "reduce_any": lambda v1, x: v1.reduce_any(x > 1.0, [0]),
    "count_nonzero": lambda v1, x: v1.count_nonzero(v1.nn.relu(x), 1, True),
    "argmax": lambda v1, x: v1.argmax(x, dimension=1),
    "arg_min": lambda v1, x: v1.arg_min(x, 2, v1.int32),
    "squeeze": lambda v1, x: v1.squeeze(v1.expand_dims(x, dim=1), squeeze_dims=[1]),
    "where": lambda v1, x: v1.where([True, False], x, -x),
    "where_places": lambda v1, x: v1.where(x > 1.0),
    "gather": lambda v1, x: v1.gather(x, [1, 0], axis=2),
    "gather_nd": lambda v1, x: v1.gather_nd(x, [[0, 1], [1, 2]]),
    "batch_gather": lambda v1, x: v1.batch_gather(x[:, :, 0], [[0, 2], [1, 1]]),
    "boolean_mask": lambda v1, x: v1.boolean_mask(x, [True, False, True], axis=1),
    "pad": lambda v1, x: v1.pad(x, [[0, 1], [0, 0], [1, 0]], constant_values=2.0),
    "shape": lambda v1, x: v1.shape(x, out_type=v1.int64),
    "size": lambda v1, x: v1.size(x),
    "transpose": lambda v1, x: v1.transpose(x, [2, 0, 1]),
    "norm": lambda v1, x: v1.norm(x, axis=-1, keep_dims=True),
    "constant": lambda v1, x: v1.constant([1, 2], shape=[2, 3]),
    "div": lambda v1, x: v1.div(v1.constant([7, -7]), 2),
    "to_int32": lambda v1, x: v1.to_int32(x),
    "confusion_matrix": lambda v1, x: v1.confusion_matrix([0, 1, 2], [0, 2, 2]),
    "bincount": lambda v1, x: v1.bincount([1, 1, 3], minlength=5),
    "clip_by_average_norm": lambda v1, x: v1.clip_by_average_norm(x, 0.05),
    "setdiff1d": lambda v1, x: list(v1.setdiff1d([1, 2, 3, 2], [2])),
    "string_to_number": lambda v1, x: v1.string_to_number(["1.5", "2"]),
    "string_split": lambda v1, x: v1.string_split(["a b", "c"]),
    "substr": lambda v1, x: v1.substr(["hello"], 1, 3),
    "reduce_join": lambda v1, x: v1.reduce_join([["a", "b"]], 1),
    "sparse_to_dense": lambda v1, x: v1.sparse_to_dense([1, 3], [5], 2.0),
    "py_func": lambda v1, x: v1.py_func(np.sin, [x], v1.float32),
    "tuple": lambda v1, x: v1.tuple([x, x + 1.0]),
    "case": lambda v1, x: v1.case([(x[0, 0, 0] > 9.0, lambda: x)], default=lambda: -x),
    "reverse_sequence": lambda v1, x: v1.reverse_sequence(x, [1, 3], seq_dim=1, batch_dim=0),
    "one_hot": lambda v1, x: v1.one_hot([0, 2], 3),
    "log": lambda v1, x: v1.log(v1.abs(x)),
    "rsqrt": lambda v1, x: v1.rsqrt(v1.square(x)),
    "unsorted_segment_sum": lambda v1, x: v1.unsorted_segment_sum(x, [1, 1], 3),
    "matrix_inverse": lambda v1, x: v1.matrix_inverse(v1.eye(2) * 2.0),
    "math.reduce_prod": lambda v1, x: v1.math.reduce_prod(x, keep_dims=True),
    "nn.softmax": lambda v1, x: v1.nn.softmax(x, dim=1),
    "nn.log_softmax": lambda v1, x: v1.nn.log_softmax(x),
    "nn.cross_entropy": lambda v1, x: v1.nn.softmax_cross_entropy_with_logits(
        labels=v1.nn.softmax(-x), logits=x
    ),
    "nn.cross_entropy_v2": lambda v1, x: v1.nn.softmax_cross_entropy_with_logits_v2(
        labels=v1.nn.softmax(-x), logits=x, dim=1
    ),
    "nn.sparse": lambda v1, x: v1.nn.sparse_softmax_cross_entropy_with_logits(
        labels=[0, 3, 1], logits=x[0]
    ),
    "nn.sigmoid": lambda v1, x: v1.nn.sigmoid_cross_entropy_with_logits(labels=x, logits=x),
    "nn.weighted": lambda v1, x: v1.nn.weighted_cross_entropy_with_logits(
        targets=x, logits=x, pos_weight=2.0
    ),
    "nn.dropout": lambda v1, x: v1.nn.dropout(x, keep_prob=0.7, seed=3),
    "nn.moments": lambda v1, x: v1.nn.moments(x, [0], keep_dims=True),
    "nn.l2_normalize": lambda v1, x: v1.nn.l2_normalize(x, dim=2),
    "nn.in_top_k": lambda v1, x: v1.nn.in_top_k(x[0], [0, 1, 2], 2),
    "nn.xw_plus_b": lambda v1, x: v1.nn.xw_plus_b(x[0], v1.ones([4, 2]), [1.0, 2.0]),
    "nn.embedding_lookup": lambda v1, x: v1.nn.embedding_lookup([x[0], x[1]], [0, 3, 5]),
    "nn.crelu": lambda v1, x: v1.nn.crelu(x),
}

ON_IMAGES = {
    "max_pool": lambda v1, x: v1.nn.max_pool(
        x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME"
    ),
    "avg_pool": lambda v1, x: v1.nn.avg_pool(x, [1, 3, 3, 1], [1, 1, 1, 1], "VALID"),
    "conv2d": lambda v1, x: v1.nn.conv2d(
        x, v1.ones([3, 3, 3, 2]), strides=[1, 1, 1, 1], padding="SAME"
    ),
    "depthwise": lambda v1, x: v1.nn.depthwise_conv2d(
        x, v1.ones([2, 2, 3, 1]), [1, 1, 1, 1], "VALID"
    ),
    "transpose": lambda v1, x: v1.nn.conv2d_transpose(
        x, v1.ones([3, 3, 2, 3]), [2, 12, 12, 2], [1, 2, 2, 1]
    ),
    "separable": lambda v1, x: v1.nn.separable_conv2d(
        x, v1.ones([2, 2, 3, 2]), v1.ones([1, 1, 6, 2]), [1, 1, 1, 1], "SAME"
    ),
    "convolution": lambda v1, x: v1.nn.convolution(x, v1.ones([2, 2, 3, 1]), "VALID"),
    "space_to_depth": lambda v1, x: v1.space_to_depth(x, 2),
    "fused": lambda v1, x: v1.nn.fused_batch_norm(x, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3]),
    "resize": lambda v1, x: v1.image.resize_images(x, [4, 9]),
    "resize_corners": lambda v1, x: v1.image.resize_images(x, [9, 4], align_corners=True),
    "resize_nearest": lambda v1, x: v1.image.resize_images(x[0], [4, 9], 1),
    "resize_cubic": lambda v1, x: v1.image.resize_bicubic(x, [4, 9]),
    "resize_area": lambda v1, x: v1.image.resize_area(x, [4, 9]),
    "resize_ratio": lambda v1, x: v1.image.resize(x, [12, 9], preserve_aspect_ratio=True),
    "resize_same": lambda v1, x: v1.image.resize_images(x, [6, 6]),
    "crop": lambda v1, x: v1.image.crop_and_resize(x, [[0.0, 0.1, 0.5, 1.0]], [1], [3, 3]),
    "patches": lambda v1, x: v1.image.extract_image_patches(
        x, [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"
    ),
    "layers.max": lambda v1, x: v1.layers.max_pooling2d(x, 2, 2),
    "layers.average": lambda v1, x: v1.layers.average_pooling2d(x, 2, 2, "same"),
    "layers.flatten": lambda v1, x: v1.layers.flatten(x),
}


@pytest.mark.filterwarnings("ignore")
def test_functions():
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [2, 3, None], name="x")
        images = v1.placeholder(tf.float32, [None, 6, 6, 3])
        fetches = {name: call(v1, x) for name, call in CALLS.items()}
        fetches |= {name: call(v1, images) for name, call in ON_IMAGES.items()}
        with v1.Session() as session:
            return session.run(fetches, {x: X, images: IMAGES})

    agree(program, rtol=1e-4, atol=1e-5)


def test_both_names_of_an_argument_are_refused():
    def program(v1, tf):
        x = tf.constant([[1.0, 2.0]])
        return [
            error_of(lambda: v1.reduce_sum(x, axis=0, reduction_indices=0)),
            error_of(lambda: v1.argmax(x, 0, dimension=0)),
            error_of(lambda: v1.squeeze(x, 0, squeeze_dims=0)),
            error_of(lambda: v1.expand_dims(x)),
            error_of(lambda: v1.nn.dropout(x, 0.5, rate=0.5)),
            error_of(lambda: v1.cond(True, lambda: x, lambda: x)),
        ]

    agree(program)


def test_losses():
    labels = (np.random.RandomState(3).rand(4, 3) > 0.5).astype(np.float32)
    predictions = np.random.RandomState(4).rand(4, 3).astype(np.float32)
    weights = np.array([[1.0], [0.0], [2.0], [0.5]], np.float32)

    def program(v1, tf):
        losses = v1.losses
        found = [
            losses.mean_squared_error(labels, predictions, weights),
            losses.mean_squared_error(labels, predictions, reduction=losses.Reduction.NONE),
            losses.absolute_difference(labels, predictions, reduction=losses.Reduction.MEAN),
            losses.absolute_difference(labels, predictions, weights, reduction="weighted_sum"),
            losses.huber_loss(labels, predictions, delta=0.3),
            losses.log_loss(labels, predictions, weights),
            losses.hinge_loss(labels, predictions * 2),
            losses.cosine_distance(labels, predictions, axis=1),
            losses.mean_pairwise_squared_error(labels, predictions),
            losses.sigmoid_cross_entropy(labels, predictions, label_smoothing=0.1),
            losses.softmax_cross_entropy(labels, predictions, label_smoothing=0.1),
            losses.sparse_softmax_cross_entropy([0, 1, 2, 1], predictions, weights[:, 0]),
            losses.compute_weighted_loss(
                predictions, weights, reduction=losses.Reduction.SUM_OVER_BATCH_SIZE
            ),
        ]
        count = len(losses.get_losses())
        with v1.Session() as session:
            return [session.run(found), count, session.run(losses.get_regularization_loss())]

    agree(program)


def test_metrics():
    random = np.random.RandomState(6)
    batches = [(random.randint(0, 2, 5), random.randint(0, 2, 5)) for _ in range(3)]
    weights = np.array([1.0, 0.0, 2.0, 1.0, 0.5], np.float32)

    def program(v1, tf):
        y, guess = v1.placeholder(tf.int64, [None]), v1.placeholder(tf.int64, [None])
        metrics = v1.metrics
        pairs = [
            metrics.accuracy(y, guess), metrics.accuracy(y, guess, weights, name="weighted"),
            metrics.mean(guess), metrics.mean_squared_error(y, guess),
            metrics.root_mean_squared_error(y, guess, weights),
            metrics.mean_absolute_error(y, guess), metrics.precision(y, guess),
            metrics.recall(y, guess, weights), metrics.true_negatives(y, guess),
            metrics.percentage_below(guess, 1),
        ]  # fmt: skip
        names = sorted(v.name for v in v1.local_variables())
        values, updates = [list(each) for each in zip(*pairs, strict=True)]
        seen = []
        with v1.Session() as session:
            session.run(v1.local_variables_initializer())
            for labels, guesses in batches:
                seen.append(session.run(updates, {y: labels, guess: guesses}))
                seen.append(session.run(values))
        return [names, seen]

    agree(program)


@pytest.mark.filterwarnings("ignore")
def test_layers():
    def program(v1, tf):
        v1.set_random_seed(11)
        x = v1.placeholder(tf.float32, [None, 6, 6, 3])
        training = v1.placeholder_with_default(False, [])
        constant = v1.constant_initializer
        net = v1.layers.conv2d(
            x, 4, 3, padding="same", activation=tf.nn.relu, kernel_initializer=constant(0.1)
        )
        net = v1.layers.batch_normalization(net, training=training, momentum=0.9)
        net = v1.layers.dropout(net, 0.5, training=False)
        net = v1.layers.flatten(v1.layers.max_pooling2d(net, 2, 2))
        net = v1.layers.dense(net, 5, tf.nn.tanh, name="hidden", kernel_initializer=constant(0.01))
        again = v1.layers.dense(
            net, 5, kernel_initializer=constant(0.2),
            kernel_regularizer=lambda w: tf.reduce_sum(w * w), name="other",
        )  # fmt: skip
        with v1.variable_scope("", reuse=True):
            shared = v1.layers.dense(again, 5, name="other")
        updates = v1.get_collection(v1.GraphKeys.UPDATE_OPS)
        loss = tf.reduce_sum(shared) * 0.001
        with tf.control_dependencies(updates):
            train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        names = sorted(v.name for v in v1.global_variables())
        losses = v1.losses.get_regularization_losses()
        averages = [v for v in v1.global_variables() if "moving" in v.name]
        seen = []
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(3):
                session.run(train, {x: IMAGES, training: True})
                seen.append(session.run([shared, *averages], {x: IMAGES}))
            return [names, seen, session.run(losses), len(updates)]

    agree(program, rtol=1e-3, atol=1e-4)
