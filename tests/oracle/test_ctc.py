"""Connectionist temporal classification against TensorFlow and against all paths counted."""

import itertools

import ml_dtypes
import numpy as np
import pytest
from compare import assert_close, assert_derivative, check, check_raises
from hypothesis import given, settings, strategies as st

LABELS = np.array([[1, 2, 3], [2, 2, 0], [4, 0, 0]], np.int32)
LABEL_LENGTH = np.array([3, 2, 1], np.int32)
LOGIT_LENGTH = np.array([6, 5, 4], np.int32)
LOGITS = np.random.default_rng(0).normal(size=(6, 3, 5)).astype(np.float32)


def ctc(tf, logits, labels=LABELS, label_length=LABEL_LENGTH, logit_length=LOGIT_LENGTH, **options):
    return tf.nn.ctc_loss(labels, logits, label_length, logit_length, **options)


@st.composite
def sequences(draw):
    frames, batch, classes, longest = (draw(st.integers(1, n)) for n in (6, 3, 4, 3))
    classes += 1
    blank = draw(st.sampled_from([None, 0, -1, classes - 1, 1]))
    others = [c for c in range(classes) if c != (blank or 0) % classes]
    rows = st.lists(st.sampled_from(others), min_size=longest, max_size=longest)
    labels = np.array([draw(rows) for _ in range(batch)], np.int32)
    label_length = [draw(st.integers(0, longest)) for _ in range(batch)]
    # Enough frames for the labels and a blank between equal ones.
    least = [
        n + sum(a == b for a, b in itertools.pairwise(row[:n]))
        for row, n in zip(labels.tolist(), label_length, strict=True)
    ]
    frames = max(frames, *least, 1)
    logit_length = [draw(st.integers(max(n, 1), frames)) for n in least]
    logits = np.random.default_rng(draw(st.integers(0, 999))).normal(size=(frames, batch, classes))
    return logits.astype(np.float32), labels, label_length, logit_length, blank


@settings(max_examples=10)
@given(case=sequences())
def test_loss_and_gradient(case):
    logits, labels, label_length, logit_length, blank = case
    check(
        lambda tf, x: ctc(tf, x, labels, label_length, logit_length, blank_index=blank),
        logits,
        second_order=False,
        smooth=False,
        tolerance=5e-5,
    )


def test_against_all_paths():
    import runnel

    probabilities = runnel.nn.softmax(LOGITS.astype(np.float64)).numpy()
    for row in range(3):
        wanted = LABELS[row, : LABEL_LENGTH[row]].tolist()
        total = 0.0
        for path in itertools.product(range(5), repeat=int(LOGIT_LENGTH[row])):
            if [c for c, _ in itertools.groupby(path) if c] == wanted:
                total += np.prod([probabilities[t, row, c] for t, c in enumerate(path)])
        loss = ctc(runnel, LOGITS.astype(np.float64))
        assert_close(np.array(-np.log(total)), loss.numpy()[row])


def test_gradient_against_finite_differences():
    import runnel

    logits, direction = LOGITS.astype(np.float64), np.random.default_rng(1).normal(size=(6, 3, 5))

    def total(step):
        return float(runnel.reduce_sum(ctc(runnel, logits + step * direction)).numpy())

    x = runnel.constant(logits)
    with runnel.GradientTape() as tape:
        tape.watch(x)
        loss = ctc(runnel, x)
    exact = float((tape.gradient(loss, x).numpy() * direction).sum())
    assert_derivative((total(1e-5) - total(-1e-5)) / 2e-5, exact, "first")


def batch_major(tf, x):
    return ctc(tf, tf.transpose(x, [1, 0, 2]), logits_time_major=False)


@pytest.mark.parametrize(
    "function",
    [
        batch_major,
        lambda tf, x: ctc(tf, x, unique=tf.nn.ctc_unique_labels(LABELS)),
        lambda tf, x: ctc(tf, x, LABELS.astype(np.int64), LABEL_LENGTH.astype(np.int64)),
        lambda tf, x: ctc(tf, x, LABELS.tolist(), LABEL_LENGTH.tolist(), LOGIT_LENGTH.tolist()),
        # Padding that is no class.
        lambda tf, x: ctc(tf, x, np.array([[1, 2, 3], [2, 2, -1], [4, -1, -1]], np.int32)),
        lambda tf, x: ctc(tf, x, blank_index=2),
        lambda tf, x: ctc(tf, x, blank_index=4),
        # No labels, neither labels nor frames, more frames than there are.
        lambda tf, x: ctc(tf, x, label_length=[0, 2, 1]),
        lambda tf, x: ctc(tf, x, label_length=[0, 2, 1], logit_length=[0, 5, 4]),
        lambda tf, x: ctc(tf, x, logit_length=[9, 5, 4]),
        lambda tf, x: ctc(tf, 300 * x),
    ],
)
def test_arguments(function):
    check(function, LOGITS, second_order=False, smooth=False, tolerance=5e-5)


@pytest.mark.parametrize(
    "function",
    [
        # More labels than frames, no frames, more labels than there are, a label that is the
        # blank: TensorFlow's gradients of these have no meaning, but its losses have.
        lambda tf, x: ctc(tf, x, logit_length=[2, 2, 4]),
        lambda tf, x: ctc(tf, x, logit_length=[0, 5, 4]),
        lambda tf, x: ctc(tf, x, label_length=[9, 2, 1]),
        lambda tf, x: ctc(tf, x, np.array([[1, 0, 3], [2, 2, 0], [4, 3, 2]], np.int32)),
    ],
)
def test_impossible_labels(function):
    import runnel

    check(function, LOGITS, gradient=False, tolerance=5e-5)
    x = runnel.constant(LOGITS)
    with runnel.GradientTape() as tape:
        tape.watch(x)
        loss = function(runnel, x)
    assert np.isfinite(tape.gradient(loss, x)).all()


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_halves(dtype):
    check(ctc, LOGITS.astype(dtype), gradient=False)


@pytest.mark.parametrize(
    "function",
    [
        lambda tf, x: ctc(tf, x, label_length=None),
        lambda tf, x: ctc(tf, x, logit_length=None),
        lambda tf, x: ctc(tf, x, LABELS[:2]),
        lambda tf, x: ctc(tf, x, LABELS.astype(np.float32)),
        lambda tf, x: ctc(tf, tf.cast(x, tf.int32)),
    ],
)
def test_refused(function):
    check_raises(function, LOGITS)


def test_blank_index_must_be_a_class():
    import runnel

    with pytest.raises(runnel.errors.InvalidArgumentError, match="blank_index"):
        ctc(runnel, LOGITS, blank_index=9)


def test_no_second_derivative():
    # TensorFlow's is NaN everywhere.
    import runnel

    x = runnel.constant(LOGITS)
    with runnel.GradientTape() as outer:
        outer.watch(x)
        with runnel.GradientTape() as tape:
            tape.watch(x)
            loss = ctc(runnel, x)
        slope = tape.gradient(loss, x)
    with pytest.raises(LookupError, match="second derivative"):
        outer.gradient(slope, x)


@pytest.mark.parametrize(
    "labels",
    [LABELS, [[3, 3, 1], [0, 0, 0]], np.zeros((2, 0), np.int32), np.array([[5, 4, 5]]), [1, 2]],
)
def test_unique_labels(labels):
    check(lambda tf, x: tf.nn.ctc_unique_labels(x), np.asarray(labels), may_raise=True)


@settings(max_examples=12)
@given(
    rows=st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), min_size=1, max_size=3),
    data=st.data(),
)
def test_collapse_repeated(rows, data):
    lengths = data.draw(st.lists(st.integers(0, 6), min_size=len(rows), max_size=len(rows)))
    dtype = data.draw(st.sampled_from([np.int32, np.int64]))
    check(
        lambda tf, x, n: tf.nn.collapse_repeated(x, n),
        np.array(rows, np.int32),
        np.array(lengths, dtype),
    )


def test_collapse_nothing():
    check(lambda tf: tf.nn.collapse_repeated(np.zeros((2, 0), np.int32), [0, 0]))
    check_raises(lambda tf: tf.nn.collapse_repeated([1, 1, 2], [3]))
