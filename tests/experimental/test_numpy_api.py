"""tf.experimental.numpy beside the original: values, dtypes, shapes, gradients, exceptions."""

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow

import runnel

HERE = Path(__file__).parent
tnp = runnel.experimental.numpy


def test_the_same_calls_give_the_same_results():
    # A process of its own, for the behaviour of tensors is global and cannot be taken back there.
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1]), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, str(HERE / "numpy_calls.py")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    differing = json.loads(done.stdout.splitlines()[-1])
    assert differing == {}, "\n".join(f"{call}: {what}" for call, what in differing.items())


def names_of(function):
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    return [parameter.name for parameter in parameters if parameter.kind not in kinds]


@pytest.mark.parametrize("space", ["numpy", "numpy.random"])
def test_every_name_is_there_with_the_same_parameters_and_a_docstring(space):
    ours, theirs = runnel.experimental.numpy, tensorflow.experimental.numpy
    if space == "numpy.random":
        ours, theirs = ours.random, theirs.random
    for name in dir(theirs):
        if name.startswith("_"):
            continue
        value, original = getattr(ours, name), getattr(theirs, name)
        if inspect.isfunction(value) and inspect.isfunction(inspect.unwrap(original)):
            assert value.__doc__, f"{name} has no docstring"
            assert names_of(value) == names_of(original), name
            assert value.__name__ == name
        elif isinstance(original, float | type(None)):
            assert value == original, name


@pytest.mark.parametrize(
    ("name", "arguments", "options"),
    [
        ("var", ([[1.0, 2.0], [3.0, 5.0]],), {"ddof": 1}),
        ("var", ([[1.0, 2.0], [3.0, 5.0]],), {"ddof": 1, "axis": 0}),
        ("around", ([15, 25, 94, 7],), {"decimals": -1}),
        ("flip", (np.arange(8.0).reshape(2, 2, 2), (0, 2)), {}),
        ("tril", ([[True, True], [True, True]],), {}),
        ("concatenate", ([[[1, 2]], [[3, 4]]],), {"axis": None}),
        ("arange", (1, 2, 0.3), {}),
        ("hypot", (True, 3), {}),
        ("logaddexp", ([1, 2], [3, 4]), {}),
        ("isinf", ([1.0, np.inf],), {}),
        ("sin", ([1, 2],), {}),
    ],
)
def test_what_the_original_refuses_is_numpys(name, arguments, options):
    wanted = getattr(np, name)(*arguments, **options)
    found = getattr(tnp, name)(*arguments, **options).numpy()
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def behaviour():
    """What tensors and variables can do; variables also count how many were made."""
    return [
        {name: value for name, value in vars(kind).items() if name != "_made"}
        for kind in (runnel.Tensor, runnel.Variable)
    ]


def test_the_behaviour_can_be_taken_back():
    enable = tnp.experimental_enable_numpy_behavior
    before = behaviour()
    integers, floats = runnel.constant([1, 2]), runnel.constant([0.5, 1.5])
    enable()
    try:
        assert (integers + floats).dtype is runnel.float64
        assert integers[[1, 0]].numpy().tolist() == [2, 1]
        assert (runnel.Variable(1) + 0.5).dtype is runnel.float64
    finally:
        enable(dtype_conversion_mode="off")
    assert behaviour() == before
    with pytest.raises(runnel.errors.InvalidArgumentError):
        integers + floats
    with pytest.raises(AttributeError, match="reshape"):
        integers.reshape(1, 2)
    with pytest.raises(ValueError, match="'off', 'legacy', 'safe' or 'all'"):
        enable(dtype_conversion_mode="other")


@pytest.mark.parametrize("mode", ["legacy", "all", "safe"])
def test_all_pairs_of_dtypes_promote_as_in_the_original(mode):
    done = subprocess.run(
        [sys.executable, str(HERE / "promotions.py"), mode],
        env={**os.environ, "PYTHONPATH": str(HERE.parents[1])},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    compared, differing = json.loads(done.stdout.splitlines()[-1])
    assert compared > 9000 and differing == [], "\n".join(differing[:20])


@pytest.mark.parametrize("mode", ["all", "safe"])
def test_python_integers_that_fit_no_result_are_refused(mode):
    tnp.experimental_enable_numpy_behavior(dtype_conversion_mode=mode)
    try:
        for dtype in ("uint8", "int32", "bool"):
            x = runnel.cast(runnel.constant([1]), dtype)
            for use in (lambda x: x + 2**40, lambda x: 2**40 - x, lambda x: x * [2**31]):
                with pytest.raises(OverflowError, match="too large to convert"):
                    use(x)
        wide = runnel.constant([1], runnel.int64) + 2**40
        assert wide.dtype is runnel.int64 and wide.numpy().tolist() == [2**40 + 1]
    finally:
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="off")


def test_safe_promotion_names_what_it_refuses():
    enable = tnp.experimental_enable_numpy_behavior
    enable(dtype_conversion_mode="safe")
    try:
        with pytest.raises(TypeError, match=r"int64 and float32.*tf\.cast"):
            runnel.constant([1], runnel.int64) + runnel.constant([1.0])
    finally:
        enable(dtype_conversion_mode="off")


def test_a_training_step_with_the_behaviour_on():
    enable = tnp.experimental_enable_numpy_behavior
    weights = runnel.Variable(tnp.ones((3, 1), np.float32))
    inputs = tnp.asarray(np.arange(6).reshape(2, 3), np.float32)

    @runnel.function
    def loss(batch):
        return tnp.mean((batch @ weights - 1) ** 2)

    enable(prefer_float32=True)
    try:
        with runnel.GradientTape() as tape:
            value = loss(inputs)
        gradient = tape.gradient(value, weights)
    finally:
        enable(dtype_conversion_mode="off")
    residual = np.arange(6).reshape(2, 3) @ np.ones((3, 1)) - 1
    np.testing.assert_allclose(float(value), (residual**2).mean(), rtol=1e-6)
    expected = np.arange(6).reshape(2, 3).T @ residual
    np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-6)
