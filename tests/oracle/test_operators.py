"""Python's operators on tensors and variables against TensorFlow."""

import operator

import ml_dtypes
import numpy as np
import pytest
from compare import assert_same, assert_same_failure, check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel
from runnel.core.graph.graph import Graph
from runnel.core.tensor import SymbolicTensor

ARITHMETIC = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
}  # fmt: skip
LOGIC = {"&": operator.and_, "|": operator.or_, "^": operator.xor}
ORDER = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
EQUALITY = {"==": operator.eq, "!=": operator.ne}
COMPARISON = {**ORDER, **EQUALITY}
BINARY = {**ARITHMETIC, **LOGIC, **COMPARISON}
FLOATS = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
DTYPES = [*FLOATS, *INTEGERS, np.bool_, np.complex64, object]


def both(function):
    """What the function of a library gives, or raises, for each of the two libraries."""
    import tensorflow

    outcomes = []
    for tf in (tensorflow, runnel):
        try:
            outcomes.append(function(tf))
        except Exception as failure:
            outcomes.append(failure)
    return outcomes


def same(function):
    expected, actual = both(function)
    if isinstance(expected, Exception) or isinstance(actual, Exception):
        assert_same_failure(expected, actual)
    else:
        assert_same(expected, actual)
    return actual


@pytest.mark.parametrize("symbol", ARITHMETIC)
@settings(max_examples=4)
@given(data=st.data())
def test_arithmetic(symbol, data):
    shapes = data.draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3))
    x, y = (
        data.draw(hnp.arrays(np.float64, shape, elements=st.floats(0.5, 3)))
        for shape in shapes.input_shapes
    )
    check(lambda tf, x, y: ARITHMETIC[symbol](x, y), x, y, smooth=symbol not in ("//", "%"))


@pytest.mark.parametrize("symbol", BINARY)
def test_dtypes(symbol):
    for dtype in DTYPES:
        x = np.array([b"a"], object) if dtype is object else np.array([1, 0]).astype(dtype)
        y = np.array([b"b"], object) if dtype is object else np.array([1, 1]).astype(dtype)
        check(
            lambda tf, x, y: BINARY[symbol](x, y),
            x,
            y,
            gradient=False,
            traced=False,
            may_raise=True,
        )


NUMBERS = [1, 2.5, True, 0, -1, 300, 2**40, 1j]
OTHERS = [
    None, "a", b"a", object(), [1, 1], (1, 1), [1.5, 1.5], [1], [1, 2, 3], [], np.array([1, 1]),
    np.array([1.5, 1.5]), np.float32(1.5), np.float64(1.5), np.int64(1), np.array([True, False]),
]  # fmt: skip
LEFT = [np.int32, np.float32, np.float64, np.uint8, np.bool_]


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("dtype", LEFT)
def test_python_numbers(symbol, dtype):
    function, array = BINARY[symbol], np.array([1, 1]).astype(dtype)
    for number in NUMBERS:
        # TensorFlow takes True as an integer of 32 or 64 bits alone, and what its `|` raises for
        # a float is an error inside of it.
        if number == 2**40 and dtype in (np.int32, np.bool_):
            continue
        if number is True and dtype is np.uint8:
            continue
        if symbol == "|" and isinstance(number, float | complex):
            continue
        same(lambda tf: function(tf.constant(array), number))
        same(lambda tf: function(number, tf.constant(array)))


@pytest.mark.parametrize("symbol", BINARY)
@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_other_values(symbol, dtype):
    function, array = BINARY[symbol], np.array([1, 1]).astype(dtype)
    for value in OTHERS:
        if symbol == "|" and np.asarray(value).dtype.kind not in "iub":
            continue
        same(lambda tf: function(tf.constant(array), value))
        if symbol not in ("%", "*") or not isinstance(value, str | bytes | list | tuple):
            same(lambda tf: function(value, tf.constant(array)))


@pytest.mark.parametrize("symbol", BINARY)
def test_numpy_on_the_left(symbol):
    function = BINARY[symbol]
    for array in (np.array([3, 2]), np.array([[3], [2]], np.int32), np.array(3), np.int32(3)):
        same(lambda tf: function(array, tf.constant([1, 2])))
        same(lambda tf: function(array, tf.Variable([1, 2])))
    for array in (np.array([3.5, 2]), np.array([3.5, 2], np.float32), np.float32(3.5)):
        same(lambda tf: function(array, tf.constant([1.5, 2])))
        same(lambda tf: function(array, tf.Variable([1.5, 2])))


@pytest.mark.parametrize("symbol", BINARY)
def test_variables(symbol):
    function = BINARY[symbol]
    for value in ([1, 2], [1.5, 2.0]):
        same(lambda tf: function(tf.Variable(value), tf.constant(value)))
        same(lambda tf: function(tf.constant(value), tf.Variable(value)))
        same(lambda tf: function(tf.Variable(value), tf.Variable(value)))
        same(lambda tf: function(tf.Variable(value), 2))
        same(lambda tf: function(2, tf.Variable(value)))


@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_derivatives_reach_variables(symbol):
    function = ARITHMETIC[symbol]

    def gradients(tf):
        x, y = tf.Variable([1.5, 2.0]), tf.Variable(3.0)
        with tf.GradientTape(persistent=True) as tape:
            # First of all: the variables are not known to the tape yet.
            results = [function(tf.constant([4.0, 5.0]), x), function(tf.constant([[4.0]]), y)]
            results += [function(x, y), function(x, 2.0), function(2.0, y), function(x, 2)]
        return [tape.gradient(result, [x, y]) for result in results]

    same(gradients)


@pytest.mark.parametrize("symbol", BINARY)
def test_dtypes_that_differ(symbol):
    function = BINARY[symbol]
    x, y = np.array([1, 2], np.int32), np.array([1, 2], np.float32)
    check_raises(lambda tf, x, y: function(x, y), x, y)
    check_raises(lambda tf: function(tf.Variable([1]), tf.constant([1.5])))


@pytest.mark.parametrize("symbol", [*ARITHMETIC, *ORDER])
def test_shapes_that_do_not_fit(symbol):
    function = BINARY[symbol]
    check_raises(lambda tf, x, y: function(x, y), np.ones(2), np.ones(3), message="[2] vs. [3]")
    check_raises(lambda tf, x: function(x, [1.0, 2.0, 3.0]), np.ones(2), message="[2] vs. [3]")


@pytest.mark.parametrize("symbol", ARITHMETIC)
def test_mistakes_under_a_tape(symbol):
    function = ARITHMETIC[symbol]

    def under_a_tape(tf, x, y):
        with tf.GradientTape() as tape:
            tape.watch(x)
            return function(x, y)

    check_raises(under_a_tape, np.ones(2), np.ones(3), message="[2] vs. [3]")
    check_raises(under_a_tape, np.ones(2, np.float32), np.ones(2, np.float64))
    check_raises(lambda tf, x: under_a_tape(tf, x, tf.Variable([1.0])), np.ones(2))
    check_raises(lambda tf, x: under_a_tape(tf, x, "a"), np.ones(2))


def test_those_who_listen_to_operators_may_refuse_results():
    x, y = runnel.constant([1.0]), runnel.Variable([0.0])
    runnel.debugging.enable_check_numerics()
    try:
        for refused in (lambda: x / y, lambda: y / x / y, lambda: x / 0.0):
            with pytest.raises(runnel.errors.InvalidArgumentError, match="RealDiv"):
                refused()
    finally:
        runnel.debugging.disable_check_numerics()


def test_equality():
    x, y = np.array([1, 2]), np.array([1, 2, 3])
    for function in EQUALITY.values():
        # Of no common shape: a scalar. Of unknown sizes both expect that they are the same.
        check(lambda tf, x, y: function(x, y), x, y, traced=False)
        same(lambda tf: tf.function(lambda: function(tf.constant(x), tf.constant(y)))())
        check(lambda tf, x, y: function(x, y), x[:, None], y)
        same(lambda tf: function(tf.constant(["a", "b"]), "a"))
        same(lambda tf: function(tf.constant("a"), tf.constant("a")))
        same(lambda tf: function(tf.constant([np.nan]), np.nan))
        assert function(runnel.constant(1), None) is function(1, None)
        assert function(runnel.Variable(1), None) is function(1, None)
    same(lambda tf: tf.constant(1) in [tf.constant(2), tf.constant(1)])


def test_unary():
    for dtype in DTYPES:
        x = np.array([b"a"], object) if dtype is object else np.array([1, 0]).astype(dtype)
        for function in (operator.neg, operator.abs, operator.invert):
            check(lambda tf, x: function(x), x, gradient=False, traced=False, may_raise=True)
    check(lambda tf, x: [-x, abs(x)], np.array([[1.5, -2.0]]), may_raise=True)
    check(lambda tf, x: abs(x), np.array([3 + 4j]), may_raise=True)
    same(lambda tf: [-tf.Variable([1.5]), abs(tf.Variable([-1.5])), ~tf.Variable([True])])


@pytest.mark.parametrize("symbol", LOGIC)
def test_logic(symbol):
    function, truth = LOGIC[symbol], np.array([True, False])
    check(lambda tf, x, y: function(x, y), truth[:, None], truth)
    check(lambda tf, x: [function(x, True), function(False, x)], truth)
    check(lambda tf, x: [function(x, 6), function(5, x)], np.array([[3, 12, -1]]))


def test_product_of_booleans():
    truth = np.array([True, False])
    check(lambda tf, x, y: x * y, truth[:, None], truth)
    check_raises(lambda tf, x: tf.multiply(x, x), truth)


def test_integers_divided():
    x = np.array([7, -7, 0, 2**31 - 1], np.int32)
    check(lambda tf, x: [x / 2, x // 2, x % 3, x**2, 7 // (x + 9), 2 / (x + 8)], x, traced=False)
    for function in (operator.floordiv, operator.mod):
        check_raises(lambda tf, x: function(x, 0), x, message="by zero")
        check_raises(lambda tf: function(tf.constant(1), tf.constant(0)), message="by zero")
    check_raises(lambda tf, x: x**-1, x, message="negative")
    check_raises(lambda tf: tf.constant(2) ** tf.constant(-1), message="negative")


def test_matmul():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    check(lambda tf, a, b: a @ b, a, b)
    same(lambda tf: a @ tf.constant(b))
    same(lambda tf: tf.constant(a) @ b)
    same(lambda tf: tf.Variable(a) @ b)
    same(lambda tf: a @ tf.Variable(b))
    check_raises(lambda tf, a: a @ a, a)
    check_raises(lambda tf: tf.constant([1, 2]) @ tf.constant([1, 2]))


@pytest.mark.parametrize(
    "function",
    [operator.pos, lambda x: x << 1, lambda x: x >> 1, lambda x: divmod(x, 2), reversed],
)
def test_operators_that_do_not_exist(function):
    expected, actual = both(lambda tf: function(tf.constant(7)))
    assert isinstance(expected, TypeError), expected
    assert isinstance(actual, TypeError), actual


def test_updates_in_place_make_new_tensors():
    def changed(tf):
        x = y = tf.constant([1.0, 2.0])
        y += 1
        y *= 3
        return x, y

    same(changed)


@pytest.mark.parametrize("statement", ["v += 2", "v -= 2", "v *= 2", "v /= 2", "v **= 2"])
def test_a_variable_refuses_in_place_operators(statement):
    same(lambda tf: exec(statement, {"v": tf.Variable(1.0)}))


@pytest.mark.parametrize("statement", ["v //= 2", "v %= 2"])
def test_in_place_operators_that_make_a_tensor_of_a_variable(statement):
    def changed(tf):
        names = {"v": tf.Variable(5.0)}
        exec(statement, names)
        return names["v"]

    same(changed)


class Reflecting:
    """A class of the user's that knows what to do with a tensor on its left."""

    def __radd__(self, other):
        return "added"

    def __rmul__(self, other):
        return "multiplied"


def test_classes_with_their_own_reflected_operators():
    for make in (lambda tf: tf.constant(1.5), lambda tf: tf.Variable(1.5)):
        same(lambda tf: make(tf) + Reflecting())
        same(lambda tf: make(tf) * Reflecting())
        same(lambda tf: make(tf) - Reflecting())


def test_an_operator_runs_no_kernel_while_a_graph_is_built():
    graph = Graph()
    with graph.as_default():
        x = runnel.constant(1.5) + 2
    assert isinstance(x, SymbolicTensor)
    assert [operation.type for operation in graph.operations][-1] == "AddV2"


def test_every_overloadable_operator_is_there():
    import tensorflow

    assert tensorflow.Tensor.OVERLOADABLE_OPERATORS == runnel.Tensor.OVERLOADABLE_OPERATORS
    for name in runnel.Tensor.OVERLOADABLE_OPERATORS:
        assert hasattr(runnel.Tensor, name) and hasattr(runnel.Variable, name), name
