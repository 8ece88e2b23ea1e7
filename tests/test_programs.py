"""TensorFlow programs of the first chapters, run unmodified, print what TensorFlow prints."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow  # noqa: F401 - the programs of these tests are run with it

import runnel as tf

PROGRAMS = Path(__file__).parent / "programs"
RUNS = {
    "one_plus_one": [],
    "tensors": [],
    "derivative": [],
    "loss_gradient": [],
    "numpy_regression": ["2000"],
    "tape_regression 2013": ["300", "2013"],
    "tape_regression 2015": ["300", "2015"],
}


def output(command, arguments):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("run", RUNS)
def test_same_output(run):
    program = str(PROGRAMS / f"{run.split()[0]}.py")
    expected = output([sys.executable, program], RUNS[run])
    assert output([sys.executable, "-m", "runnel", program], RUNS[run]) == expected
    assert expected


@pytest.mark.parametrize(
    ("years", "prices", "rate", "a_end", "b_end"),
    [
        (range(2013, 2018), [12000, 14000, 15000, 16500, 17500], 5e-4, 0.97637, 0.057565),
        (range(2015, 2021), [12000, 14000, 15000, 16500, 17500, 19000], 1e-3, 0.9591617, 0.0442288),
    ],
)
def test_linear_regression_arrives(years, prices, rate, a_end, b_end):
    x, y = (tf.constant(list(values), tf.float32) for values in (years, prices))
    x, y = ((v - tf.reduce_min(v)) / (tf.reduce_max(v) - tf.reduce_min(v)) for v in (x, y))
    a, b = tf.Variable(0.0), tf.Variable(0.0)
    for _ in range(10_000):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * x + b - y))
        for variable, gradient in zip((a, b), tape.gradient(loss, [a, b]), strict=True):
            variable.assign_sub(rate * gradient)
    assert abs(float(a) - a_end) < 1e-5 and abs(float(b) - b_end) < 1e-5
