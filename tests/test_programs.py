"""TensorFlow programs of the first chapters, run unmodified, print what TensorFlow prints."""

import json
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


# Importing the original takes longer than all programs together: one process runs them.
ALL_PROGRAMS = """
import contextlib, io, json, runpy, sys

outputs = {}
for run, command in json.loads(sys.argv[1]).items():
    sys.argv = command
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(command[0], run_name="__main__")
    outputs[run] = printed.getvalue()
print(json.dumps(outputs))
"""


def command_of(run):
    return [str(PROGRAMS / f"{run.split()[0]}.py"), *RUNS[run]]


def output(*command):
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    done = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def expected():
    """What each program prints with the original."""
    commands = json.dumps({run: command_of(run) for run in RUNS})
    return json.loads(output("-c", ALL_PROGRAMS, commands))


@pytest.mark.parametrize("run", RUNS)
def test_same_output(run, expected):
    assert expected[run]
    assert output("-m", "runnel", *command_of(run)) == expected[run]


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
