"""Strict mode beside the original, each in a process of its own: it cannot be left again."""

import os
import subprocess
import sys

import tensorflow  # noqa: F401 - these tests need the original

PROGRAM = """
import sys
import {module} as tf

v1 = tf.compat.v1
CALLS = [
    lambda: v1.to_float(1),
    lambda: v1.arg_max([1, 2], 0),
    lambda: v1.argmax([1, 2], dimension=0),
    lambda: v1.argmax([1, 2], axis=0),
    lambda: v1.reduce_sum([1.0], keepdims=True),
    lambda: v1.div(4, 2),
    lambda: v1.log(1.0),
    lambda: v1.multinomial([[1.0, 1.0]], 1),
    lambda: v1.sparse_to_dense([0], [2], [1]),
    lambda: v1.batch_gather([1, 2], [0]),
    lambda: v1.nn.softmax_cross_entropy_with_logits(labels=[[1.0]], logits=[[1.0]]),
    lambda: tf.nn.dropout([1.0], 0.5),
    lambda: tf.map_fn(lambda x: x, tf.constant([1]), fn_output_signature=tf.int32),
    lambda: tf.map_fn(lambda x: x, tf.constant([1]), back_prop=True),
    lambda: tf.foldl(lambda a, x: a + x, tf.constant([1, 2]), back_prop=False),
    lambda: tf.while_loop(lambda i: i < 2, lambda i: [i + 1], [0], back_prop=False),
    lambda: tf.while_loop(lambda i: i < 2, lambda i: [i + 1], [0]),
    lambda: tf.gather([1, 2], [0]),
    lambda: tf.math.accumulate_n([[1], [2]]),
    lambda: tf.data.experimental.unbatch(),
    lambda: tf.data.experimental.Counter(),
    lambda: tf.data.Dataset.range(3).unique(),
    lambda: tf.data.experimental.get_single_element(tf.data.Dataset.range(1)),
    lambda: tf.test.is_gpu_available(),
]
ARGUMENTS = [
    lambda: v1.reduce_sum([1.0], keep_dims=True),
    lambda: v1.squeeze([1.0], squeeze_dims=0),
    lambda: v1.expand_dims([1.0], dim=0),
    lambda: v1.nn.dropout([1.0], keep_prob=0.5),
    lambda: v1.cond(tf.constant(True), fn1=lambda: 1, fn2=lambda: 2),
    lambda: v1.norm([1.0], keep_dims=True),
    lambda: tf.map_fn(lambda x: x, tf.constant([1]), dtype=tf.int32),
    lambda: tf.gather([1, 2], [0], validate_indices=True),
]
tf.experimental.enable_strict_mode()
tf.experimental.enable_strict_mode()
for call in {calls}:
    try:
        call()
        print("fine")
    except RuntimeError as error:
        print("raised", "strict mode" in str(error))
"""


def outcome(module, calls):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module, calls=calls)],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return done.stdout.split()


def test_deprecated_calls_raise():
    assert outcome("runnel", "CALLS") == outcome("tensorflow", "CALLS")


def test_deprecated_arguments_raise_every_time():
    # The original raises for the first of them, and then no more.
    assert outcome("runnel", "ARGUMENTS * 2") == ["raised", "True"] * 16
