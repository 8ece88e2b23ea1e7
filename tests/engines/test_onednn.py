"""oneDNN's kernels give what NumPy's give, for all shapes, strides, paddings and layouts."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import runnel as tf
from runnel import engines
from runnel.engines.onednn import convolution, library
from runnel.runtime import engine_selection

pytestmark = pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")

SIZES = st.integers(1, 7)


def results_of_both(compute):
    """The results with NumPy and with oneDNN, in pairs of the same dtype and shape."""
    engines.use("numpy")
    wanted = compute()
    engines.use("onednn")
    got = compute()
    for a, b in zip(tf.nest.flatten(wanted), tf.nest.flatten(got), strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape
        yield a, b


def both(compute, tolerance=2e-5):
    """The results with either engine, which must be alike."""
    for a, b in results_of_both(compute):
        scale = max(1.0, float(np.abs(a.numpy()).max())) if a.shape.num_elements() else 1.0
        np.testing.assert_allclose(b, a, rtol=tolerance, atol=tolerance * scale)


def random(shape, seed=0):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype("float32"))


@st.composite
def convolutions(draw):
    rank = draw(st.integers(1, 3))
    groups = draw(st.sampled_from([1, 1, 2, 3]))
    depth, share = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    kernel = [draw(st.integers(1, 4)) for _ in range(rank)]
    stride = [draw(st.integers(1, 3)) for _ in range(rank)]
    dilation = draw(st.integers(1, 2)) if stride == [1] * rank and groups == 1 else 1
    size = [draw(st.integers((k - 1) * dilation + 1, 12)) for k in kernel]
    # Large enough for the engine: the batch fills up to its threshold.
    per_image = int(np.prod(size)) * depth * groups
    batch = max(1, -(-engine_selection.SMALLEST["convolve"] // per_image))
    padding = draw(st.sampled_from(["SAME", "VALID"]))
    images = random((batch, *size, depth * groups), draw(st.integers(0, 99)))
    filters = random((*kernel, depth, share * groups), 1)
    return images, filters, stride, padding, dilation


@settings(max_examples=80, deadline=None)
@given(convolutions())
def test_convolution(case):
    images, filters, strides, padding, dilation = case

    def compute():
        with tf.GradientTape() as tape:
            tape.watch([images, filters])
            result = tf.nn.convolution(images, filters, strides, padding, dilations=dilation)
            loss = tf.reduce_sum(result * result)
        return result, *tape.gradient(loss, [images, filters])

    both(compute)


@settings(max_examples=30, deadline=None)
@given(SIZES, SIZES, st.integers(1, 3), st.integers(1, 4), st.sampled_from(["SAME", "VALID"]))
def test_depthwise(channels, extra, multiplier, kernel, padding):
    images = random((40, kernel + extra, kernel + 2, channels))
    filters = random((kernel, kernel, channels, multiplier), 1)

    def compute():
        with tf.GradientTape() as tape:
            tape.watch([images, filters])
            result = tf.nn.depthwise_conv2d(images, filters, [1, 1, 1, 1], padding)
            loss = tf.reduce_sum(result * result)
        return result, *tape.gradient(loss, [images, filters])

    both(compute)


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("at_once", [1 << 22, 1 << 14])
def test_filters_of_sequences(stride, padding, at_once, monkeypatch):
    """Their gradients are products of columns, of so many at once."""
    monkeypatch.setattr(convolution, "_MOST_COLUMNS", at_once)
    images, filters = random((9, 70, 20)), random((4, 20, 24), 1)

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(filters)
            dilations = 3 if stride == 1 else 1
            result = tf.nn.conv1d(images, filters, stride, padding, dilations=dilations)
        return tape.gradient(result, filters, random(result.shape, 2))

    both(gradient)


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["max", "avg"]),
    st.tuples(st.integers(1, 3), st.integers(1, 3)),
    st.integers(1, 3),
    st.sampled_from(["SAME", "VALID"]),
    st.booleans(),
)
def test_pooling(kind, window, stride, padding, ties):
    images = random((80, 11, 9, 9))
    if ties:
        images = tf.nn.relu(tf.round(images))
    pool = tf.nn.max_pool2d if kind == "max" else tf.nn.avg_pool2d

    def compute():
        with tf.GradientTape() as tape:
            tape.watch(images)
            result = pool(images, window, stride, padding)
            loss = tf.reduce_sum(result * random(result.shape, 5))
        return result, tape.gradient(loss, images)

    both(compute)


@pytest.mark.parametrize("shape", [(64, 8, 8, 16), (300, 3, 3, 11)])
def test_batch_normalization(shape):
    images, scale, offset = random(shape), random(shape[-1:], 1), random(shape[-1:], 2)

    def compute():
        with tf.GradientTape() as tape:
            tape.watch([images, scale, offset])
            y, mean, variance = tf.compat.v1.nn.fused_batch_norm(images, scale, offset)
            loss = tf.reduce_sum(y * random(shape, 3))
        return y, mean, variance, *tape.gradient(loss, [images, scale, offset])

    both(compute, tolerance=1e-4)


def test_what_it_cannot_do_numpy_does():
    doubles = tf.cast(random((30, 9, 9, 3)), tf.float64)
    filters = tf.cast(random((3, 3, 3, 4)), tf.float64)
    both(lambda: tf.nn.conv2d(doubles, filters, 1, "SAME"))
    halves = tf.cast(doubles, tf.float16)
    both(lambda: tf.nn.conv2d(halves, tf.cast(filters, tf.float16), 1, "SAME"), tolerance=1e-2)
    both(lambda: tf.nn.conv2d(doubles[:, :0], filters, 1, "SAME"))


def test_gaps_between_rows():
    images = random((8, 20, 18, 6))
    filters = tf.transpose(random((4, 3, 3, 3)), [1, 2, 3, 0])
    both(lambda: tf.nn.conv2d(images[:, ::2, :, ::2], filters, 1, "SAME"))
    both(lambda: tf.nn.avg_pool2d(tf.transpose(random((9, 40, 30, 3)), [0, 2, 1, 3]), 2, 2, "SAME"))


def test_several_threads():
    images, filters = random((16, 12, 12, 8)), random((3, 3, 8, 8))
    engines.use("onednn")
    wanted = tf.nn.conv2d(images, filters, 1, "SAME").numpy()
    differences = []

    def work():
        for _ in range(10):
            got = tf.nn.conv2d(images, filters, 1, "SAME").numpy()
            differences.append(np.abs(got - wanted).max())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(differences) == 40 and max(differences) < 1e-4


def test_primitives_are_bounded(monkeypatch):
    from runnel.engines.onednn import primitive

    engines.use("onednn")
    monkeypatch.setattr(primitive, "_MOST", 20)
    for width in range(12, 40):
        tf.nn.conv2d(random((8, 12, width, 4)), random((3, 3, 4, 4)), 1, "SAME")
    assert len(primitive._thread.primitives) <= 20


FORKED = """
import os, runnel as tf
x, w = tf.ones([8, 16, 16, 8]), tf.ones([3, 3, 8, 8])
before = tf.nn.conv2d(x, w, 1, "SAME")
if os.fork() == 0:
    same = bool(tf.reduce_all(tf.nn.conv2d(x, w, 1, "SAME") == before))
    os._exit(0 if same else 3)
_, status = os.wait()
print("child", os.waitstatus_to_exitcode(status))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_a_fork():
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "child 0\n", done.stderr[-500:]


def test_the_engine_is_chosen_by_name(monkeypatch):
    with pytest.raises(ValueError, match="There is no engine 'cuda'"):
        engines.use("cuda")
    engines.use("numpy")
    assert engines.in_use() == "numpy"


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 200),
    st.integers(1, 200),
    st.integers(1, 200),
    st.booleans(),
    st.booleans(),
    st.integers(1, 2),
)
def test_products(rows, inner, columns, transpose_a, transpose_b, gap):
    a = random((inner, rows * gap) if transpose_a else (rows, inner * gap))
    a = a[:, ::gap]
    b = random((columns, inner) if transpose_b else (inner, columns), 1)

    def compute():
        # A convolution first: the engine does products while it has the processors.
        tf.nn.conv2d(random((8, 9, 9, 8)), random((3, 3, 8, 8)), 1, "SAME")
        return tf.matmul(a, b, transpose_a, transpose_b)

    both(compute)


def test_one_pool_has_the_processors():
    from runnel.runtime import blas_threads

    threads = blas_threads._threads()
    if threads is None or threads.most < 2:
        pytest.skip("NumPy's BLAS has one thread")
    engines.use("onednn")
    images, filters, matrix = random((8, 9, 9, 8)), random((3, 3, 8, 8)), random((9, 9))
    convolve = tf.function(lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"))
    multiply = tf.function(lambda x: x @ x)
    convolve(images, filters)
    convolve(images, filters)
    assert engine_selection.pool.owned_by_engine
    multiply(matrix)
    assert not engine_selection.pool.owned_by_engine
    tf.nn.conv2d(images, filters, 1, "SAME")
    assert engine_selection.pool.owned_by_engine
    engines.use("numpy")
    assert not engine_selection.pool.owned_by_engine
