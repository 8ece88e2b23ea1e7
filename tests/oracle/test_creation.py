"""zeros, ones, fill, eye, linspace, range, the initializers and their kin against TensorFlow."""

import time

import ml_dtypes
import numpy as np
import pytest
from compare import COMPUTED, check, check_raises
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp

import runnel
from runnel.core.graph.graph import Graph

TYPES = [
    "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32",
    "uint32", "int64", "uint64", "bool", "complex64", "complex128", "string",
]  # fmt: skip
TABLE = np.arange(6.0).reshape(2, 3)
SHAPES = [[2, 3], [], [0], 3, (1, 0), np.array([2, 1]), np.int64(2)]
NO_SHAPES = [[-1], [2.0], 2.0, None, [[2]], [2, None], "a"]


@pytest.mark.parametrize("shape", SHAPES)
def test_filled(shape):
    check(lambda tf: [tf.zeros(shape), tf.ones(shape), tf.fill(shape, 7)])


@pytest.mark.parametrize("shape", NO_SHAPES)
@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_filled_refuses(name, shape):
    check_raises(lambda tf: getattr(tf, name)(shape))


@pytest.mark.parametrize("dtype", TYPES)
def test_filled_types(dtype):
    check(lambda tf: [tf.zeros([2], dtype), tf.zeros_like([1, 2], dtype)], may_raise=True)
    check(lambda tf: tf.ones([2], dtype), may_raise=True)
    check(lambda tf: tf.ones_like([1, 2], dtype), may_raise=True)
    check(lambda tf: tf.eye(2, dtype=dtype), may_raise=True)
    check(lambda tf: tf.zeros_like(tf.zeros([2, 1], dtype)), may_raise=True)
    check(lambda tf: tf.ones_like(tf.zeros([2, 1], dtype)), may_raise=True)
    check(lambda tf: tf.fill([2], tf.zeros([], dtype)), may_raise=True)


def test_shapes_as_tensors():
    sizes = np.array([2, 3])
    check(lambda tf, n: [tf.zeros(n), tf.ones(n), tf.fill(n, 1.5)], sizes)
    check(lambda tf, n: [tf.zeros(n), tf.ones([n, 2]), tf.fill([n, 2], "a")], np.array(2, np.int32))
    check(lambda tf: tf.zeros(tf.TensorShape([2])))
    check_raises(lambda tf: tf.zeros(tf.TensorShape([None])))


@settings(max_examples=10)
@given(hnp.arrays(np.float64, hnp.array_shapes(min_dims=0, min_side=0, max_dims=3)))
def test_like(x):
    check(lambda tf, x: [tf.zeros_like(x), tf.ones_like(x)], x, smooth=False)
    check(lambda tf, x: [tf.zeros_like(x, tf.int8), tf.ones_like(x, tf.int64)], x)


def test_like_refuses():
    check_raises(lambda tf: tf.zeros_like(None))
    check_raises(lambda tf: tf.ones_like(["a"]))
    check_raises(lambda tf: tf.ones_like([1], tf.string))
    check_raises(lambda tf: tf.zeros([2], "foo"))


def test_layouts_are_refused():
    with pytest.raises(NotImplementedError, match="layout=None"):
        runnel.zeros([2], layout=5)


def test_fill_gradient():
    check(lambda tf, x: tf.fill([2, 3], x), np.array(2.0))
    check(lambda tf, x: tf.square(tf.fill([2, 3], x)), np.array(2.0))
    check(lambda tf, x: tf.fill([0], x), np.array(2.0))
    check(lambda tf, x, n: tf.fill(n, x), np.array(2.0), np.array([2, 2]))


@pytest.mark.parametrize("dims", [[-2], [2.0], 2.0, [[2]], None, np.array([2.5])])
def test_fill_dims(dims):
    check(lambda tf: tf.fill(dims, 5), may_raise=True)


@pytest.mark.parametrize("value", [5, 5.5, "a", True, [5], [5, 6], None, np.float64(3), 1j])
def test_fill_values(value):
    check(lambda tf: tf.fill([2], value), may_raise=True)


@pytest.mark.parametrize("rows", [0, 1, 3, -1, 2.0, [2], "a", np.int64(2)])
@pytest.mark.parametrize("columns", [None, 2])
@pytest.mark.parametrize("batch", [None, [], [2], [2, 0]])
def test_eye(rows, columns, batch):
    check(lambda tf: tf.eye(rows, columns, batch), may_raise=True)


def test_eye_of_tensors():
    two = np.array(2, np.int32)
    check(lambda tf, n: tf.eye(n, 3), two)
    check(lambda tf, n: tf.eye(n), two)
    check(lambda tf, n: tf.eye(3, n, batch_shape=[n]), two)
    check(lambda tf, b: tf.eye(2, batch_shape=b), np.array([2, 1], np.int32))
    check_raises(lambda tf: tf.eye(2, batch_shape=3))


numbers = st.floats(-50, 50, width=32)


@settings(max_examples=12)
@given(numbers, numbers, st.integers(1, 7))
def test_linspace(start, stop, num):
    a, b = np.array(start), np.array(stop)
    check(lambda tf, a, b: tf.linspace(a, b, num), a, b)
    check(lambda tf, a, b, n: tf.linspace(a, b, n), a, b, np.array(num))
    check(lambda tf: tf.linspace(start, stop, num))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2, -3, 3, -4])
def test_linspace_along_an_axis(axis):
    check(lambda tf, a, b: tf.linspace(a, b, 4, axis=axis), TABLE, TABLE[:1] + 5, may_raise=True)


@pytest.mark.parametrize(
    "dtype", [np.float16, ml_dtypes.bfloat16, np.int8, np.int16, np.int32, np.int64, np.complex64]
)
def test_linspace_types(dtype):
    a, b = np.array(1).astype(dtype), np.array(4).astype(dtype)
    check(lambda tf, a, b: tf.linspace(a, b, 3), a, b, gradient=False)


@pytest.mark.parametrize(
    "arguments",
    [
        (0.0, 1.0, 0), (0.0, 1.0, 1), (0.0, 1.0, -1), (0.0, 1.0, 5.0), (0.0, 1.0, [5]),
        (0, 10.0, 5), (0, 1, 5), ([0.0, 1.0], [1.0, 2.0, 3.0], 3), ([0.0, 1.0], 5.0, 3),
        (0.0, np.inf, 3), (0.0, None, 3), (1 + 1j, 2, 3),
    ],
)  # fmt: skip
def test_linspace_arguments(arguments):
    check(lambda tf: tf.linspace(*arguments), may_raise=True)


@settings(max_examples=30)
@given(st.integers(-9, 9), st.integers(-9, 9), st.integers(-3, 3))
def test_range_of_integers(start, limit, delta):
    check(lambda tf: tf.range(start, limit, delta), may_raise=True)
    bounds = [np.array(n) for n in (start, limit, delta)]
    # An impossible range is found out when a graph is built from constants, later from tensors.
    check(lambda tf, a, b, c: tf.range(a, b, c), *bounds, may_raise=True)


@settings(max_examples=40)
@given(
    numbers, numbers, st.sampled_from([0.1, 0.3, 1.0, 0.7, 2.5, -0.1, -0.7, 0.0]),
    st.sampled_from(["float32", "float64", "float16", "bfloat16"]),
)  # fmt: skip
def test_range_of_floats(start, limit, delta, dtype):
    check(lambda tf: tf.range(start, limit, delta, dtype), may_raise=True)


@pytest.mark.parametrize(
    "arguments",
    [
        (5,), (-5,), (5.0,), (5.5,), (0,), (1, 5, 1.5), (1.0, 5, 2), ([5],), ("a",), (None,),
        (True,), (np.int8(5),), (np.float16(5),), (np.uint8(5),), (0.0, 1.0, 0.1), (0.0, 1.01, 0.1),
        (np.nan,), (np.inf,), (0.0, 1.0, np.nan), (0.0, 1.0, np.inf), (0, 2**40, 2**39), (-3, 3.5),
        (2**62, 2**63 - 1, 2**61), (1j,), (3, None, 2),
    ],
)  # fmt: skip
def test_range_arguments(arguments):
    check(lambda tf: tf.range(*arguments), may_raise=True)


def test_range_of_tensors():
    five = np.array(5.0, np.float32)
    check(lambda tf, a, b: tf.range(a, b), np.array(1), five, gradient=False)
    check(lambda tf, a: tf.range(a, 9, 2), np.array(1))
    check(lambda tf, a: tf.range(9, a, -2), np.array(1.0), gradient=False)
    check(lambda tf, a: tf.range(a, dtype=tf.int32), np.array(5.5))
    check(lambda tf: tf.range(5, dtype="int64"))
    check(lambda tf: tf.range(start=3))
    check(lambda tf: tf.range(3, delta=2))
    check_raises(lambda tf, a: tf.range(a), np.array([[5]]))
    check_raises(lambda tf, a: tf.range(a), np.array([5, 6]))
    check_raises(lambda tf: tf.range(5.5, dtype=tf.int32))
    for dtype in ("bool", "string", "complex64", "uint8"):
        check_raises(lambda tf, dtype=dtype: tf.range(5, dtype=dtype))
    check_raises(lambda tf: tf.range(3, 1), message="Requires start <= limit when delta > 0: 3/1")


# Initializers.


@pytest.mark.parametrize("dtype", [*TYPES, "resource"])
@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_plain_initializers(name, dtype):
    check(
        lambda tf: getattr(tf, f"{name}_initializer")()([2, 1], tf.as_dtype(dtype)), may_raise=True
    )


@pytest.mark.parametrize("name", ["zeros", "ones"])
def test_plain_initializers_arguments(name):
    def make(tf, *args, **kwargs):
        return getattr(tf, f"{name}_initializer")(*args, **kwargs)

    check(lambda tf: make(tf)([2]))
    check(lambda tf: make(tf)([4, 2], partition_shape=[2, 2]))
    check_raises(lambda tf: make(tf)([2], foo=1))
    check_raises(lambda tf: make(tf, 5))
    assert make(runnel).get_config() == {}
    check(lambda tf: type(make(tf)).from_config({})([2]))


@pytest.mark.parametrize("value", [5, 2.5, [1, 2], np.array([1.0, 2]), "a", True, [1], {}, None])
@pytest.mark.parametrize("shape", [[2], [2, 1], [3], []])
def test_constant_initializer(value, shape):
    check(lambda tf: tf.constant_initializer(value)(shape), may_raise=True)
    check(lambda tf: tf.constant_initializer(value)(shape, tf.float32), may_raise=True)


def test_constant_initializer_arguments():
    check_raises(lambda tf: tf.constant_initializer(tf.constant(5.0)))
    check_raises(lambda tf: tf.constant_initializer(5)([2], foo=1))
    check_raises(lambda tf: tf.constant_initializer(5)([4, 2], partition_shape=[2, 2]))
    check(lambda tf: tf.constant_initializer(5, True)([4, 2], partition_shape=[2, 2]))
    assert runnel.constant_initializer((1, 2)).get_config() == {"value": (1, 2)}
    check(lambda tf: tf.constant_initializer.from_config({"value": 3})([1]))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["random_uniform", "random_normal"])
def test_random_initializers(name, dtype):
    def make(tf, *arguments):
        return getattr(tf, f"{name}_initializer")(*arguments)([2, 3], tf.as_dtype(dtype))

    check(lambda tf: make(tf, 1, 5, 7), may_raise=True)
    check(lambda tf: (tf.random.set_seed(3), make(tf, 1, 5))[1], traced=False, may_raise=True)


@pytest.mark.parametrize("name", ["random_uniform", "random_normal"])
def test_random_initializer_arguments(name):
    def make(tf, **options):
        return getattr(tf, f"{name}_initializer")(**options)

    check(lambda tf: make(tf, seed=1)([4, 2], partition_shape=[2, 2]))
    check_raises(lambda tf: make(tf, seed=1)([2], foo=1))
    check(lambda tf: sorted(make(tf, seed=1).get_config().items()))


def test_initializers_make_variables():
    check(lambda tf: tf.Variable(tf.ones_initializer()([2])), traced=False)


# Order and time.


def test_order_of_operations_in_eager_mode():
    check(
        lambda tf: [
            tf.tuple([tf.constant(1), tf.constant(2.0)]),
            tf.group(tf.constant(1)),
            tf.no_op(),
        ]
    )
    check(lambda tf, x: tf.tuple(x), TABLE, traced=False)
    check_raises(lambda tf: tf.control_dependencies(5))
    called = []
    with runnel.control_dependencies([lambda: called.append(1), runnel.constant(1)]):
        pass
    with runnel.control_dependencies(None):
        pass
    assert called == [1]


def test_order_of_operations_in_a_graph():
    v = runnel.Variable(1.0)
    graph = Graph()
    with graph.as_default():
        step = v.assign_add(1.0)
        with runnel.control_dependencies([step]):
            after = runnel.identity(v)
        done = runnel.group(step, after)
        (same,) = runnel.tuple([after])
    assert done.type == "NoOp"
    assert [float(x) for x in graph.compute([after, same], {})] == [2.0, 2.0]


def test_timestamp():
    before = time.time()
    stamp = runnel.timestamp()
    assert stamp.dtype is runnel.float64
    assert before <= float(stamp) <= time.time()
    graph = Graph()
    with graph.as_default():
        stamp = runnel.timestamp()
    COMPUTED.update(operation.type for operation in graph.operations)
    assert before <= float(graph.compute([stamp], {})[0]) <= time.time()
