"""The same call on TensorFlow and on Runnel: value, dtype, shape, gradients and exception.

`check(function, *arguments)` calls `function(tf, *arguments)` with both libraries; NumPy arrays
among the arguments become tensors first. Beyond comparing results it proves, on Runnel's side,
that the traced computation (with known and with unknown shapes) equals the eager one, and that
first and second derivatives agree with finite differences in float64.
"""

from __future__ import annotations

import zlib
from contextlib import contextmanager

import numpy as np
import tensorflow
from reached import COMPUTED, DIFFERENTIATED

import runnel
from runnel.compiler import plan
from runnel.core.autodiff import backward
from runnel.core.context import state
from runnel.core.graph.graph import Graph
from runnel.core.tensor import SymbolicTensor

_apply_rule = backward._apply_rule


def _noted(record, gradients):
    DIFFERENTIATED.add(record.op.name)
    return _apply_rule(record, gradients)


backward._apply_rule = _noted

_make_plan = plan.Plan.__init__


def _planned(self, *args, **kwargs):
    _make_plan(self, *args, **kwargs)
    COMPUTED.update(operation.type for operation in self.operations)


plan.Plan.__init__ = _planned

_TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "complex64": 2e-5}


def check(
    function,
    *arguments,
    gradient=True,
    second_order=True,
    smooth=True,
    traced=True,
    tolerance=None,
    may_raise=False,
):
    """Compare one call; returns Runnel's result (or the exception both raised, if they may).

    `gradient`: compare gradients of floating results with respect to floating array arguments.
    `smooth`: the function is differentiable around the arguments, so finite differences hold.
    `tolerance`: relative to the largest magnitude in the expected array; by dtype if None.
    """
    expected = _outcome(tensorflow, function, arguments)
    actual = _outcome(runnel, function, arguments)
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert_same_failure(expected, actual)
        assert may_raise, f"both refuse the call, which is no comparison of results: {actual!r}"
        return actual
    assert_same(expected, actual, tolerance)
    if traced:
        _check_traced(function, arguments, actual, tolerance)
    positions = [
        i for i, a in enumerate(arguments) if isinstance(a, np.ndarray) and _differentiable(a.dtype)
    ]
    if gradient and positions and any(_differentiable(a.dtype) for a in _arrays(actual)):
        _check_gradients(function, arguments, positions, second_order, tolerance)
        if traced:
            _check_traced(_gradient_function(function, positions), arguments, None, tolerance)
        if smooth and not any(_is_complex(a.dtype) for a in [*_arrays(actual), *_some(arguments)]):
            _check_finite_differences(function, arguments, positions, second_order)
    return actual


def check_raises(function, *arguments, message=None):
    """Both libraries refuse the call with the same class of exception; ours says why."""
    expected = _outcome(tensorflow, function, arguments)
    actual = _outcome(runnel, function, arguments)
    assert isinstance(expected, Exception), f"TensorFlow does not refuse: {expected}"
    assert_same_failure(expected, actual)
    assert len(str(actual)) > 10, f"no explanation: {actual!r}"
    if message is not None:
        assert message in str(actual)
    return actual


def assert_same_failure(expected, actual):
    assert isinstance(expected, Exception), f"only Runnel refuses: {actual!r}\nTF: {expected}"
    assert isinstance(actual, Exception), f"only TensorFlow refuses: {expected!r}\nours: {actual}"
    assert _class_name(actual) == _class_name(expected), f"{actual!r} instead of {expected!r}"


def assert_same(expected, actual, tolerance=None):
    """The same structure, dtypes, shapes and values."""
    wanted, got = _leaves(tensorflow, expected), _leaves(runnel, actual)
    assert len(wanted) == len(got), f"{len(got)} results instead of {len(wanted)}"
    for a, b in zip(wanted, got, strict=True):
        if not hasattr(a, "dtype"):
            assert type(a).__name__ == type(b).__name__, f"{b!r} instead of {a!r}"
            assert a == b or a is None or repr(a) == repr(b), f"{b!r} instead of {a!r}"
            continue
        assert hasattr(b, "dtype"), f"{b!r} instead of {a!r}"
        assert a.dtype.name == b.dtype.name, f"dtype {b.dtype.name} instead of {a.dtype.name}"
        assert tuple(a.shape) == tuple(b.shape), f"shape {b.shape} instead of {a.shape}"
        array = np.asarray(b._array if isinstance(b, runnel.Tensor) else b.numpy())
        assert b.dtype.numpy == array.dtype, f"declared {b.dtype}, computed {array.dtype}"
        assert_close(np.asarray(a.numpy()), array, tolerance)


def assert_close(expected, actual, tolerance=None):
    """Equal but for rounding, relative to the largest magnitude in the array."""
    name = expected.dtype.name
    if expected.dtype.kind in "biuOSU":
        np.testing.assert_array_equal(actual, expected)
        return
    if tolerance is None:
        tolerance = _TOLERANCE.get(name, 1e-10)
    wide = np.complex128 if _is_complex(expected.dtype) else np.float64
    expected, actual = expected.astype(wide), actual.astype(wide)
    finite = np.isfinite(expected)
    scale = np.abs(expected[finite]).max(initial=0.0)
    np.testing.assert_allclose(
        actual, expected, rtol=tolerance, atol=tolerance * max(min(scale, 1e6), 1e-3)
    )


@contextmanager
def noted():
    """Note every op that is computed in a block; a listener among the tapes hears of each."""

    class Listener:
        def record(self, op, *operation):
            COMPUTED.add(op.name)

        def variable_read(self, variable):
            """Reading a variable is no op here."""

    outer, state.tapes = state.tapes, (*state.tapes, Listener())
    try:
        yield
    finally:
        state.tapes = outer


def gradients_of(tf, function, arguments, positions):
    """The results' gradients, weighted by fixed random numbers, for the arguments at positions."""
    with noted():
        return _gradients_of(tf, function, arguments, positions)


def _gradients_of(tf, function, arguments, positions):
    tensors = [_argument(tf, a) for a in arguments]
    sources = [tensors[i] for i in positions]
    with tf.GradientTape() as tape:
        tape.watch(sources)
        targets = _floating_results(tf, function(tf, *tensors))
    weights = [tf.constant(_weights(t.shape, t.dtype.as_numpy_dtype)) for t in targets]
    found = tape.gradient(targets, sources, output_gradients=weights)
    return [None if g is None else tf.convert_to_tensor(g) for g in found]


def _gradient_function(function, positions):
    def gradients(tf, *tensors):
        sources = [tensors[i] for i in positions]
        with tf.GradientTape() as tape:
            tape.watch(sources)
            targets = _floating_results(tf, function(tf, *tensors))
            total = [tf.reduce_sum(_real(tf, t)) for t in targets]
        found = tape.gradient(total, sources, unconnected_gradients="zero")
        return [tf.convert_to_tensor(g) for g in found]

    return gradients


def _real(tf, tensor):
    return tf.math.real(tensor) if tensor.dtype.is_complex else tensor


def _check_gradients(function, arguments, positions, second_order, tolerance):
    expected = gradients_of(tensorflow, function, arguments, positions)
    actual = gradients_of(runnel, function, arguments, positions)
    assert_same(expected, actual, tolerance and tolerance * 10)
    if not second_order or not any(g is not None for g in expected):
        return
    twice = _gradient_function(function, positions)
    try:
        expected = gradients_of(tensorflow, _squared(twice), arguments, positions)
    except (LookupError, tensorflow.errors.OpError):
        return
    actual = gradients_of(runnel, _squared(twice), arguments, positions)
    loose = 10 * (tolerance or max(_TOLERANCE.get(arguments[i].dtype.name, 0) for i in positions))
    assert_same(expected, actual, max(loose, 1e-9))


def _squared(function):
    """Squares make the second derivative depend on the first one's value and shape."""
    return lambda tf, *tensors: [g * g for g in function(tf, *tensors)]


def _check_finite_differences(function, arguments, positions, second_order):
    """Directional derivatives in float64 against central differences."""
    wide = [
        a.astype(np.float64) if i in positions and a.dtype != np.float64 else a
        for i, a in enumerate(arguments)
    ]
    directions = {i: _weights(wide[i].shape, np.float64, "direction") for i in positions}

    def moved(step):
        shifted = {i: np.asarray(wide[i] + step * directions[i]) for i in positions}
        return [shifted.get(i, a) for i, a in enumerate(wide)]

    def value(step):
        return sum(
            float((_weights(a.shape, np.float64) * a).sum())
            for a in _arrays(function(runnel, *[_argument(runnel, a) for a in moved(step)]))
            if a.dtype == np.float64
        )

    def slope(step):
        found = gradients_of(runnel, function, moved(step), positions)
        pairs = zip(positions, found, strict=True)
        return sum(float((g.numpy() * directions[i]).sum()) for i, g in pairs if g is not None)

    try:
        results = _arrays(function(runnel, *[_argument(runnel, a) for a in wide]))
    except (ValueError, TypeError, runnel.errors.OpError):
        return  # arguments tied to one dtype, such as a dtype passed by name
    if not all(np.isfinite(a).all() for a in results if a.dtype == np.float64):
        return
    step = 1e-5
    assert_derivative((value(step) - value(-step)) / (2 * step), slope(0.0), "first")
    if second_order:
        curvature = _gradient_function(_weighted(function), positions)
        found = gradients_of(runnel, _along(curvature, directions, positions), wide, positions)
        pairs = zip(positions, found, strict=True)
        exact = sum(float((g.numpy() * directions[i]).sum()) for i, g in pairs if g is not None)
        assert_derivative((slope(step) - slope(-step)) / (2 * step), exact, "second")


def _weighted(function):
    """The results times the fixed weights, so that their plain sum is what `slope` follows."""

    def weighted(tf, *tensors):
        results = _floating_results(tf, function(tf, *tensors))
        return [r * tf.constant(_weights(r.shape, r.dtype.as_numpy_dtype)) for r in results]

    return weighted


def _along(gradient, directions, positions):
    def projected(tf, *tensors):
        pairs = zip(positions, gradient(tf, *tensors), strict=True)
        total = tf.add_n([tf.reduce_sum(g * tf.constant(directions[i])) for i, g in pairs])
        # gradients_of weighs every result; this undoes the weight of a scalar.
        return [total * tf.constant(1 / _weights((), np.float64))]

    return projected


def assert_derivative(numeric, exact, order):
    scale = max(abs(numeric), abs(exact), 1.0)
    assert abs(numeric - exact) <= 2e-4 * scale, f"{order} derivative {exact}, numeric {numeric}"


def _check_traced(function, arguments, eager, tolerance):
    """The computation as a graph, with known and unknown shapes, gives what eager gives."""
    if eager is None:
        eager = function(runnel, *[_argument(runnel, a) for a in arguments])
    for known in ("all", "rank", "none"):
        graph = Graph()
        with graph.as_default():
            tensors = [_placeholder(graph, a, known) for a in arguments]
            result = function(runnel, *tensors)
        COMPUTED.update(operation.op.name for operation in graph.operations)
        fetches = _leaves(runnel, result)
        feeds = [
            (tensor, _argument(runnel, a)._array)
            for tensor, a in zip(tensors, arguments, strict=True)
            if isinstance(tensor, SymbolicTensor)
        ]
        wanted = _leaves(runnel, eager)
        assert len(fetches) == len(wanted)
        tensors_only = [t for t in fetches if isinstance(t, runnel.Tensor)]
        arrays = iter(graph.compute(tensors_only, feeds))
        for fetch, want in zip(fetches, wanted, strict=True):
            if not isinstance(fetch, runnel.Tensor):
                continue
            array = np.asarray(next(arrays))
            assert fetch.dtype is want.dtype
            assert fetch.shape.is_compatible_with(array.shape), (
                f"inferred {fetch.shape} ({known} shapes known), computed {array.shape}"
            )
            assert_close(np.asarray(want.numpy()), array, tolerance)


def _placeholder(graph, argument, known):
    if not isinstance(argument, np.ndarray):
        return argument
    tensor = _argument(runnel, argument)
    shape = {
        "all": tensor.shape,
        "rank": runnel.TensorShape([None] * argument.ndim),
        "none": runnel.TensorShape(None),
    }[known]
    return graph.placeholder(tensor.dtype, shape)


def _outcome(tf, function, arguments):
    try:
        return function(tf, *[_argument(tf, a) for a in arguments])
    except AttributeError:
        raise  # a name is missing: never what a check is about
    except Exception as failure:
        return failure


def _argument(tf, value):
    return tf.constant(value) if isinstance(value, np.ndarray) else value


def _leaves(tf, structure):
    leaves = []
    for leaf in tf.nest.flatten(structure):
        if isinstance(leaf, tf.IndexedSlices):
            leaves.append(tf.convert_to_tensor(leaf))
        elif isinstance(leaf, tf.Variable):
            leaves.append(leaf.read_value())
        else:
            leaves.append(leaf)
    return leaves


def _arrays(structure):
    return [np.asarray(t.numpy()) for t in _leaves(runnel, structure) if hasattr(t, "numpy")]


def _some(arguments):
    return [a for a in arguments if isinstance(a, np.ndarray)]


def _floating_results(tf, structure):
    leaves = [t for t in _leaves(tf, structure) if hasattr(t, "dtype")]
    return [t for t in leaves if t.dtype.is_floating or t.dtype.is_complex]


def _weights(shape, dtype, purpose="weights"):
    """Fixed random numbers for a shape, the same in every process."""
    sizes = tuple(int(size) for size in shape)
    seed = zlib.crc32(f"{purpose}{sizes}".encode())
    numbers = np.random.default_rng(seed).uniform(0.5, 1.5, sizes)
    signs = np.random.default_rng(seed + 1).choice([-1.0, 1.0], sizes)
    return np.asarray(numbers * signs).astype(dtype)


def _differentiable(dtype):
    return dtype.kind in "fc" or dtype.name in ("bfloat16",)


def _is_complex(dtype):
    return dtype.kind == "c"


def _class_name(failure):
    return type(failure).__name__
