"""Functions of many numbers agree with float64, and with TensorFlow at the edges."""

import os

import numpy as np
import pytest
import tensorflow
from scipy import special

import runnel
from runnel import engines
from runnel.ops.math import many_numbers

RANDOM = np.random.default_rng(7)
COUNT = (1 << 16) + 4321
NORMAL = RANDOM.normal(size=COUNT) * 3
SPREAD = 10 ** RANDOM.uniform(-30, 30, COUNT) * RANDOM.choice([-1, 1], COUNT)
UNIT = np.clip(NORMAL / 6, -1, 1)
ALL = np.concatenate([NORMAL, SPREAD]).astype(np.float32)
WITHIN = np.concatenate([UNIT, 1 - np.abs(SPREAD).clip(0, 1)]).astype(np.float32)
EDGES = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 88, -88, 90, -200, 1e-30, -1e-30, 1e38],
    np.float32,
)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


# By name: the function in float64, numbers to try, and the largest error in units of the last
# place. TensorFlow's own errors are 4.1, 4.2, 4.2, 5.5, 4.1, 3.8 and 2.3 (where they are normal).
FUNCTIONS = {
    "atan": (np.arctan, ALL, 4),
    "asin": (np.arcsin, WITHIN, 4),
    "acos": (np.arccos, WITHIN, 4),
    "math.erf": (special.erf, ALL, 5.5),
    "math.expm1": (np.expm1, ALL, 4),
    "math.log1p": (np.log1p, np.concatenate([np.abs(ALL), WITHIN[WITHIN > -1]]), 4),
    "math.softplus": (softplus, ALL, 4.5),
}


def function(tf, name):
    *path, last = name.split(".")
    return getattr(getattr(tf, path[0]) if path else tf, last)


def units_off(found, wanted):
    """How far apart values are, in units of the last place, but for those that underflow."""
    with np.errstate(over="ignore"):
        rounded = wanted.astype(np.float32)
    np.testing.assert_array_equal(np.isfinite(found), np.isfinite(rounded))
    normal = np.isfinite(rounded) & (np.abs(rounded) > 1e-37)
    unit = np.spacing(np.abs(rounded[normal]))
    return np.max(np.abs(found[normal] - wanted[normal]) / unit)


@pytest.fixture(params=engines.ENGINES)
def engine(request):
    engines.use(request.param)
    yield request.param
    engines.use(os.environ.get("RUNNEL_ENGINE", "onednn"))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_last_places(engine, name):
    exact, numbers, limit = FUNCTIONS[name]
    found = function(runnel, name)(numbers).numpy()
    assert units_off(found, exact(numbers.astype(np.float64))) < limit


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_last_places_of_angles():
    y, x = ALL, RANDOM.permutation(ALL)
    exact = np.arctan2(y.astype(np.float64), x.astype(np.float64))
    assert units_off(runnel.atan2(y, x).numpy(), exact) < 4


@pytest.mark.parametrize("name", FUNCTIONS)
def test_edges(engine, name):
    many = np.resize(EDGES, COUNT)
    wanted = function(tensorflow, name)(many).numpy()
    found = function(runnel, name)(many).numpy()
    np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-36)
    zeros = wanted == 0
    zeros &= np.abs(many) < 1
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(wanted[zeros]))


def test_edges_of_selu(engine):
    many = np.resize(EDGES, COUNT)
    wanted = tensorflow.nn.selu(many).numpy()
    np.testing.assert_allclose(runnel.nn.selu(many).numpy(), wanted, rtol=1e-6, atol=1e-7)
    wanted = tensorflow.nn.selu(ALL).numpy()
    np.testing.assert_allclose(runnel.nn.selu(ALL).numpy(), wanted, rtol=1e-6, atol=3e-7)


def test_edges_of_angles():
    y, x = (np.resize(each, COUNT) for each in (np.repeat(EDGES, EDGES.size), EDGES))
    wanted = tensorflow.atan2(y, x).numpy()
    found = runnel.atan2(y, x).numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-36)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_few_and_many(name):
    """One number, an empty array, columns and other dtypes agree with many numbers."""
    call = function(runnel, name)
    numbers = UNIT[: 128 * 256].astype(np.float32).reshape(128, 256)
    many = call(numbers).numpy()
    np.testing.assert_allclose(call(numbers.T).numpy(), many.T, rtol=1e-6)
    np.testing.assert_allclose(call(np.repeat(numbers, 2, 1)[:, ::2]).numpy(), many, rtol=1e-6)
    np.testing.assert_allclose(call(numbers[3, 5]).numpy(), many[3, 5], rtol=1e-6)
    assert call(numbers[:0]).shape == (0, 256)
    traced = runnel.function(call, input_signature=[runnel.TensorSpec(None, "float32")])
    np.testing.assert_array_equal(traced(numbers).numpy(), many)
    for dtype, tolerance in (("float64", 1e-6), ("float16", 4e-3), ("bfloat16", 3e-2)):
        narrow = runnel.cast(numbers, dtype)
        result = call(narrow)
        assert result.dtype == dtype
        wanted = call(runnel.cast(narrow, "float32"))
        np.testing.assert_allclose(
            runnel.cast(result, "float32"), wanted, rtol=tolerance, atol=tolerance
        )


def test_buffers_are_not_shared():
    """A result may be overwritten by what follows, the argument may not."""
    x = runnel.constant(UNIT.astype(np.float32))

    @runnel.function
    def program(x):
        y = runnel.math.softplus(x)
        z = runnel.exp(y) * 2
        return x + 0, z, runnel.atan(x) + runnel.math.log1p(runnel.abs(x))

    same, z, sums = program(x)
    np.testing.assert_array_equal(same, x)
    np.testing.assert_allclose(z, 2 * (1 + np.exp(UNIT)), rtol=1e-5)
    np.testing.assert_allclose(sums, np.arctan(UNIT) + np.log1p(np.abs(UNIT)), rtol=1e-5, atol=1e-6)


def test_one_shape_for_all():
    """Angles of arrays that broadcast, or of few numbers, are NumPy's."""
    y, x = ALL[:40000].reshape(200, 200), ALL[:200]
    wanted = tensorflow.atan2(y, x).numpy()
    np.testing.assert_allclose(runnel.atan2(y, x).numpy(), wanted, rtol=1e-6)
    one = np.float32(1)
    assert many_numbers.atan2(one, one) == np.arctan2(one, one)
