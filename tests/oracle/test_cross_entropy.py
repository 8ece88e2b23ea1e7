"""The cross-entropy family and the other losses of tf.nn against TensorFlow."""

import ml_dtypes
import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

INF, NAN = np.inf, np.nan
HALVES = [np.float16, ml_dtypes.bfloat16]


def dense(tf, labels, logits, axis=-1):
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, axis=axis)


def sparse(tf, labels, logits):
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)


@st.composite
def labels_and_logits(draw, axis=False):
    shape = draw(hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=4))
    labels = draw(hnp.arrays(np.float64, shape, elements=st.floats(0, 1)))
    logits = draw(hnp.arrays(np.float64, shape, elements=st.floats(-5, 5)))
    if not axis:
        return labels, logits
    return labels, logits, draw(st.sampled_from([-1, *range(len(shape))]))


@settings(max_examples=20)
@given(case=labels_and_logits(axis=True))
def test_softmax_cross_entropy(case):
    labels, logits, axis = case
    check(lambda tf, z, x: dense(tf, z, x, axis), labels, logits, smooth=False)
    # The gradient takes for granted that the labels of a row add up to 1, and TensorFlow's mixed
    # second derivative leaves out how the logits' gradient depends on the labels.
    check(
        lambda tf, z, x: dense(tf, tf.nn.softmax(z, axis), x, axis),
        labels,
        logits,
        second_order=False,
    )
    total = labels.sum(axis, keepdims=True)
    shares = np.where(total > 0, labels, 1.0) / np.where(total > 0, total, labels.shape[axis])
    check(lambda tf, x: dense(tf, shares, x, axis), logits)


def test_softmax_cross_entropy_at_the_edges():
    labels = np.array([[1.0, 0], [0, 1], [0, 1], [0, 1], [0.5, 0.5]], np.float32)
    logits = np.array([[INF, 0], [INF, 2], [-INF, 0], [NAN, 1], [1e38, -1e38]], np.float32)
    check(dense, labels, logits, gradient=False)
    check(dense, labels[:2], np.array([[1000.0, 0], [1000, 0]], np.float32), smooth=False)


def test_softmax_cross_entropy_any_negative_axis():
    # TensorFlow stumbles over negative axes other than -1; the meaning is not in doubt.
    import runnel

    labels, logits = np.random.default_rng(0).uniform(size=(2, 3, 4, 5))
    for axis in (-2, -3):
        ours = dense(runnel, labels, logits, axis)
        np.testing.assert_array_equal(ours, dense(runnel, labels, logits, axis + 3))


@pytest.mark.parametrize("dtype", HALVES)
def test_cross_entropy_in_halves(dtype):
    labels, logits = np.array([[1.0, 0]]).astype(dtype), np.array([[1.0, 2]]).astype(dtype)
    check(dense, labels, logits, second_order=False)
    check(lambda tf, x: sparse(tf, [1], x), logits, second_order=False)
    check(lambda tf, z, x: dense(tf, z, x), labels.astype(np.float32), logits, second_order=False)


@pytest.mark.parametrize(
    "labels, logits",
    [
        (np.ones((1, 2)), np.ones((2, 2))),
        (np.ones((2, 2)), np.ones((1, 2))),
        (np.ones((2, 1)), np.ones((2, 2))),
        (np.ones(2), np.ones((2, 2))),
        (np.ones((1, 3)), np.ones((2, 2))),
        (np.ones((2, 3, 1)), np.ones((2, 3, 4))),
        (np.ones((3, 4)), np.ones((2, 3, 4))),
        (np.ones(()), np.ones(())),
        (np.ones((2, 0)), np.ones((2, 0))),
        (np.ones((0, 2)), np.ones((0, 2))),
        (np.ones((2, 2), np.int32), np.ones((2, 2))),
        (np.ones((2, 2), np.int32), np.ones((2, 2), np.int32)),
        (np.ones((2, 2)), np.ones((2, 2), np.complex64)),
    ],
)
def test_softmax_cross_entropy_shapes(labels, logits):
    check(dense, labels, logits, gradient=False, may_raise=True)


def test_softmax_cross_entropy_refuses_what_is_not_there():
    check_raises(lambda tf: dense(tf, None, [[1.0]]))
    check_raises(lambda tf: dense(tf, [[1.0]], None))
    check_raises(lambda tf: dense(tf, [[1.0]], [[1.0]], axis=2))


@settings(max_examples=15)
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4),
    classes=st.integers(1, 5),
    labels_dtype=st.sampled_from([np.int32, np.int64]),
    data=st.data(),
)
def test_sparse_softmax_cross_entropy(shape, classes, labels_dtype, data):
    labels = data.draw(hnp.arrays(labels_dtype, shape, elements=st.integers(0, classes - 1)))
    elements = st.floats(-5, 5)
    logits = data.draw(hnp.arrays(np.float64, (*shape, classes), elements=elements))
    check(sparse, labels, logits)


def test_sparse_softmax_cross_entropy_at_the_edges():
    logits = np.array([[INF, 0], [INF, 2], [-INF, 0], [NAN, 1], [1e38, -1e38]], np.float32)
    check(sparse, np.array([0, 1, 1, 1, 1]), logits, gradient=False)
    check(lambda tf, x: sparse(tf, [0, 1], x), np.array([[1000.0, 0], [1, -1000]]))
    check(lambda tf, x: sparse(tf, 1, x), np.array([1.0, 2]))


@pytest.mark.parametrize(
    "labels, logits",
    [
        ([0, 2], [[1.0, 0], [1, 2]]),
        ([0, -1], [[1.0, 0], [1, 2]]),
        ([[0], [7]], [[[1.0, 0]], [[1, 2]]]),
        ([0.0, 1.0], [[1.0, 0], [1, 2]]),
        ([True], [[1.0, 0]]),
        (["a"], [[1.0, 0]]),
        ([[1]], [[1.0, 2]]),
        ([1, 0], [[1.0, 2]]),
        ([0], 1.0),
        (0, 1.0),
        ([1], [[1, 2]]),
        ([0], np.zeros((1, 0))),
        (np.zeros(0, np.int32), np.zeros((0, 0))),
        (np.array([0], np.int8), [[1.0, 2]]),
        (None, [[1.0]]),
    ],
)
def test_sparse_softmax_cross_entropy_checks_its_arguments(labels, logits):
    check_raises(lambda tf: sparse(tf, labels, logits))


def test_wrong_label_is_named():
    check_raises(lambda tf: sparse(tf, [0, 7], [[1.0, 0], [1, 2]]), message="label value of 7")


def sigmoid(tf, labels, logits):
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


def weighted(tf, labels, logits, pos_weight):
    return tf.nn.weighted_cross_entropy_with_logits(labels, logits, pos_weight)


EDGE_LABELS = np.array([0.0, 1, 0.5, 1, 0, 1, 0, 1, 0], np.float32)
EDGE_LOGITS = np.array([1000.0, -1000, 0, 30, INF, INF, -INF, NAN, 0], np.float32)


@settings(max_examples=10)
@given(case=labels_and_logits())
def test_sigmoid_cross_entropy(case):
    labels, logits = case
    check(sigmoid, labels, logits + 0.01)


def test_sigmoid_cross_entropy_at_the_edges():
    check(sigmoid, EDGE_LABELS, EDGE_LOGITS, smooth=False, second_order=False, traced=False)


@settings(max_examples=10)
@given(case=labels_and_logits(), pos_weight=st.floats(0, 3))
def test_weighted_cross_entropy(case, pos_weight):
    labels, logits = case
    logits = np.where(np.abs(logits) < 0.01, 0.5, logits)
    check(weighted, labels, logits, np.array(pos_weight))
    check(lambda tf, z, x: weighted(tf, z, x, pos_weight), labels, logits)


def test_weighted_cross_entropy_at_the_edges():
    check(lambda tf, z, x: weighted(tf, z, x, 3.0), EDGE_LABELS, EDGE_LOGITS, gradient=False)
    check(weighted, np.array([[0.0, 1]]), np.array([[1.0, 2]]), np.array([[2.0], [3.0]]))


@settings(max_examples=10)
@given(case=labels_and_logits(), full=st.booleans())
def test_log_poisson_loss(case, full):
    targets, log_input = case
    targets = 4 * targets + 0.1
    # The term of the full loss starts at 1 with a jump.
    targets = np.where(np.abs(targets - 1) < 0.01, 2.0, targets)
    check(lambda tf, z, c: tf.nn.log_poisson_loss(z, c, full), targets, log_input)


def test_log_poisson_loss_at_the_edges():
    targets = np.array([0.0, 1, 2, 0.5, 1e-3, 100, -1], np.float32)
    log_input = np.array([1.0, 2, -1, 3, 1, 2, 3], np.float32)
    check(
        lambda tf, z, c: tf.nn.log_poisson_loss(z, c, True),
        targets,
        log_input,
        smooth=False,
        second_order=False,
    )


@pytest.mark.parametrize(
    "labels, logits",
    [
        ([[0.0]], [1.0]),
        ([0.0], [1.0, 2]),
        ([0], [1]),
        ([0], [1.0]),
        (np.zeros(1), np.zeros(1, np.float32)),
        (None, [1.0]),
        ([1.0], None),
        ([1.0], ["a"]),
    ],
)
@pytest.mark.parametrize("loss", ["sigmoid", "weighted", "poisson"])
def test_elementwise_losses_check_their_arguments(loss, labels, logits):
    functions = {
        "sigmoid": sigmoid,
        "weighted": lambda tf, z, x: weighted(tf, z, x, 1.5),
        "poisson": lambda tf, z, x: tf.nn.log_poisson_loss(z, x),
    }
    check_raises(lambda tf: functions[loss](tf, labels, logits))


@settings(max_examples=10)
@given(
    t=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        elements=st.floats(-10, 10),
    )
)
def test_l2_loss(t):
    check(lambda tf, x: tf.nn.l2_loss(x), t)


@pytest.mark.parametrize("dtype", [*HALVES, np.float32, np.int32, np.complex64])
def test_l2_loss_dtypes(dtype):
    # 300² does not fit float16: infinity there and here.
    numbers = np.array([300.0, 400.0]).astype(dtype)
    check(lambda tf, x: tf.nn.l2_loss(x), numbers, smooth=False, second_order=False, may_raise=True)


LOSSES = np.arange(8.0).reshape(2, 2, 2)


@pytest.mark.parametrize(
    "shape", [(), (2,), (2, 2), (2, 1), (2, 1, 1), (2, 2, 2), (2, 1, 1, 1), (3,)]
)
def test_average_loss_with_weights(shape):
    weights = np.linspace(0.5, 2, int(np.prod(shape))).reshape(shape)
    losses = LOSSES.astype(np.float32)
    check(
        lambda tf, x, w: tf.nn.compute_average_loss(x, sample_weight=w),
        losses,
        weights.astype(np.float32),
        smooth=False,
        may_raise=True,
    )


@pytest.mark.parametrize(
    "size", [None, 10, 0, -1, 10.0, np.int64(3), np.array([2]), np.array(5, np.int64)]
)
def test_average_loss_batch_size(size):
    check(
        lambda tf, x: tf.nn.compute_average_loss(x, global_batch_size=size), LOSSES, may_raise=True
    )


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int32, np.int64, np.float32, np.float16, ml_dtypes.bfloat16]
)
def test_average_loss_dtypes(dtype):
    losses = np.array([40.0, 100.0]).astype(dtype)
    check(lambda tf, x: tf.nn.compute_average_loss(x), losses, smooth=False)
    check(lambda tf, x: tf.nn.compute_average_loss(x, [1.5, 2.0]), losses, smooth=False)
    check(lambda tf, x: tf.nn.scale_regularization_loss(x), losses, smooth=False)


def test_average_loss_checks_its_arguments():
    check_raises(lambda tf: tf.nn.compute_average_loss(1.0))
    check_raises(lambda tf: tf.nn.compute_average_loss([1.0, 2.0], [[1.0, 2.0]]))
    check(lambda tf: tf.nn.compute_average_loss(np.zeros((0, 3))))
    check(lambda tf: tf.nn.scale_regularization_loss(3.0))
