"""Sizes beyond 32 bits: never taken modulo 2**32, and never an error of NumPy's."""

import subprocess
import sys

import pytest
import tensorflow

import runnel as tf

# What the original answers with 8 GB of address space. ("shape", ...) is a result; OOM its
# ResourceExhaustedError, INVALID its InvalidArgumentError.
OOM, INVALID = "ResourceExhaustedError", "InvalidArgumentError"
ANSWERS = {
    "tf.zeros([BIG + 2])": OOM,
    "tf.zeros([BIG, 0])": (2**32, 0),
    "tf.zeros(np.int64(HUGE))": OOM,
    "tf.zeros(tf.constant([HUGE]))": OOM,
    "tf.ones([HUGE, HUGE, HUGE])": INVALID,
    "tf.fill([BIG], 1.0)": OOM,
    "tf.fill([HUGE, 0], 1.0)": (2**40, 0),
    "tf.reshape(tf.ones([4]), [BIG + 4])": INVALID,
    "tf.reshape(tf.ones([0]), [HUGE, 0])": (2**40, 0),
    "tf.tile([1], [BIG + 2])": OOM,
    "tf.pad([1], [[0, BIG]])": OOM,
    "tf.pad([1], [[HUGE, 0]], 'REFLECT')": INVALID,
    "tf.random.normal([BIG])": OOM,
    "tf.random.uniform([HUGE], 0, 5, tf.int32)": OOM,
    "tf.random.stateless_normal([HUGE], [1, 2])": OOM,
    "tf.random.Generator.from_seed(1).normal([HUGE])": OOM,
    "tf.eye(BIG + 1)": OOM,
    "tf.eye(2, HUGE)": OOM,
    "tf.broadcast_to(1.0, [HUGE, 0])": (2**40, 0),
    "tf.expand_dims([1], HUGE)": INVALID,
    "tf.reduce_sum([1], BIG)": INVALID,
    "tf.reverse([1], [BIG])": INVALID,
    "tf.space_to_batch([[[[1]]]], [BIG + 1, 1], [[0, 0], [0, 0]])": INVALID,
    "tf.batch_to_space(tf.ones([4, 1, 1, 1]), [BIG + 2, 2], [[0, 0], [0, 0]])": INVALID,
    "tf.image.pad_to_bounding_box(tf.ones([4, 4, 1]), 0, 0, HUGE, 4)": OOM,
    "tf.strings.substr('abc', BIG, 1)": INVALID,
    "tf.nn.dropout(tf.ones([2]), 0.5, noise_shape=[HUGE])": OOM,
    "tf.shape(tf.zeros([HUGE, 0]))": INVALID,
    "tf.map_fn(lambda x: tf.zeros([HUGE]), tf.zeros([2]))": OOM,
    "tf.Variable(tf.zeros([HUGE]))": OOM,
    "tf.keras.initializers.GlorotUniform()([BIG + 3, 4])": OOM,
    "tf.keras.layers.Dense(BIG + 3)(tf.ones([1, 2]))": OOM,
    "tf.keras.layers.ZeroPadding1D(HUGE)(tf.ones([1, 4, 2]))": OOM,
    "tf.matmul(tf.zeros([2**20, 1]), tf.zeros([1, 2**20]))": OOM,
    "tf.range(HUGE)": OOM,
    "tf.sequence_mask([1], HUGE)": OOM,
    "tf.function(lambda n: tf.zeros([n, 2**30]))(tf.constant(2**30))": OOM,
    "tf.function(lambda n: tf.tile([1], [n]))(tf.constant(HUGE))": OOM,
    # The original hangs, ends the process or wraps around here.
    "tf.roll([1, 2, 3], BIG + 1, 0)": [2, 3, 1],
    "tf.TensorArray(tf.float32, HUGE)": OOM,
    "tf.repeat([1, 2], [HUGE, 1])": INVALID,
    "tf.keras.layers.UpSampling1D(HUGE)(tf.ones([1, 4, 2]))": INVALID,
}

PROGRAM = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30,) * 2)
import numpy as np
import runnel as tf
BIG, HUGE = 2**32, 2**40
for text in sys.stdin.read().splitlines():
    try:
        result = eval(text)
        found = tuple(result.shape) if 0 in result.shape else result.numpy().tolist()
    except Exception as error:
        found = type(error).__name__
    print(repr(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are set as Linux has them")
def test_sizes_beyond_32_bits():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        input="\n".join(ANSWERS),
        capture_output=True,
        text=True,
        check=False,
    )
    found = dict(zip(ANSWERS, map(eval, run.stdout.splitlines()), strict=False))
    assert found == ANSWERS, run.stderr[-2000:]


def test_an_identity_matrix_is_not_made_with_its_graph():
    def shapes(library):
        made = library.function(lambda: library.eye(2**24)).get_concrete_function()
        return made.output_shapes.as_list()

    assert shapes(tf) == shapes(tensorflow) == [2**24, 2**24]
