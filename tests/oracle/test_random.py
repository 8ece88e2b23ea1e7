"""Random numbers from seeds: the original's, bit for bit."""

import numpy as np
import pytest
import tensorflow
from compare import check, check_raises

import runnel
from runnel.core.graph.graph import Graph
from runnel.core.op import REGISTRY

SIZES = [0, 1, 3, 5, 1001]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
WHOLE = ["int32", "int64", "uint32", "uint64"]


@pytest.fixture(autouse=True)
def _no_seed_left_over():
    for tf in (tensorflow, runnel):
        tf.random.set_seed(None)


def same(function, ulps=0):
    """Both libraries give the same tensors: dtype, shape and every bit.

    `ulps` is for float64 and beyond, where NumPy's own functions round differently on some
    processors.
    """
    expected = tensorflow.nest.flatten(function(tensorflow))
    actual = runnel.nest.flatten(function(runnel))
    assert len(actual) == len(expected)
    for want, got in zip(expected, actual, strict=True):
        assert got.dtype.name == want.dtype.name
        assert tuple(got.shape) == tuple(want.shape)
        want, got = np.asarray(want.numpy()), np.asarray(got.numpy())
        if ulps and want.dtype.kind == "f" and want.size:
            np.testing.assert_array_max_ulp(got, want, ulps)
        else:
            np.testing.assert_array_equal(got, want)


def seeded(seed, function):
    """The function after the global seed has been set."""

    def run(tf):
        tf.random.set_seed(seed)
        return function(tf)

    return run


# What a call draws.


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["uniform", "normal", "truncated_normal"])
def test_floats(name, dtype):
    ulps = 4 if dtype == "float64" else 0
    for shape in [*([n] for n in SIZES), [], [2, 3, 5]]:
        same(
            seeded(1234, lambda tf: getattr(tf.random, name)(shape, dtype=tf.as_dtype(dtype))), ulps
        )


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers(dtype):
    info = np.iinfo(dtype)
    for low, high in [(0, 10), (-5, 1000), (7, 8), (info.min, info.max), (0, info.max)]:
        for shape in [*([n] for n in SIZES), []]:
            same(
                seeded(7, lambda tf: tf.random.uniform(shape, low, high, dtype=tf.as_dtype(dtype)))
            )


@pytest.mark.parametrize("name", ["uniform", "normal", "truncated_normal"])
def test_large(name):
    same(seeded(3, lambda tf: getattr(tf.random, name)([1_000_003])))


def test_large_whole_numbers():
    same(seeded(3, lambda tf: tf.random.uniform([300_001], 0, 1000, dtype=tf.int64)))


def test_normal_numbers_have_no_rounding_of_their_own():
    """Half a million of them meet every case of the polynomials."""
    for seed in range(2):
        same(lambda tf: tf.random.stateless_normal([1 << 18], [seed, 5]))


def test_parameters():
    same(seeded(1, lambda tf: tf.random.uniform([3, 2], -2.5, 7)))
    same(seeded(1, lambda tf: tf.random.uniform([3, 2], [1.0, 2.0], [[3.0], [4.0], [5.0]])))
    same(seeded(1, lambda tf: tf.random.normal([3, 2], 3.0, 0.1)))
    same(seeded(1, lambda tf: tf.random.normal([3, 2], tf.constant([1.0, 2.0]), [[0.5]])))
    same(seeded(1, lambda tf: tf.random.truncated_normal([50], 1.0, 0.02, tf.float64)), 4)
    same(seeded(1, lambda tf: tf.random.uniform(tf.constant([2, 2], tf.int64))))
    same(seeded(1, lambda tf: tf.random.uniform(tf.TensorShape([2, 2]), dtype="float64")))


def test_gradients_reach_the_parameters():
    def function(tf, low, high, mean, stddev):
        tf.random.set_seed(1)
        return [
            tf.random.uniform([4, 2], low, high),
            tf.random.normal([4, 2], mean, stddev),
            tf.random.truncated_normal([4, 2], mean, stddev),
        ]

    arguments = [np.array(a, np.float32) for a in ([0.0, 1.0], [[3.0]], [5.0, 6.0], 2.0)]
    check(function, *arguments, traced=False, smooth=False)


@pytest.mark.parametrize(
    "value",
    [[1, 2, 3], [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], ["a", "b", "c", "d"], [True], [], 7],
    ids=str,
)
def test_shuffle(value):
    def twice(tf):
        return [tf.random.shuffle(value, seed=4) for _ in range(3)]

    same(seeded(2, twice))


def test_shuffle_of_many():
    for size in [2, 5, 6, 100, 4321]:
        same(seeded(size, lambda tf: tf.random.shuffle(tf.range(size))))


def test_categorical():
    rng = np.random.default_rng(0)
    for rows, classes, samples in [(1, 5, 1), (3, 10, 7), (50, 65, 1), (4, 1000, 3), (0, 3, 2)]:
        logits = (rng.normal(size=(rows, classes)) * 3).astype(np.float32)
        same(seeded(5, lambda tf: tf.random.categorical(logits, samples)))
        same(seeded(5, lambda tf: tf.random.categorical(logits.astype("f8"), samples, tf.int32)))
    same(seeded(5, lambda tf: tf.random.categorical(tf.constant([[0.1, 2.0]], tf.bfloat16), 9)))


def test_categorical_in_tasks():
    """Work that the original cuts up for its threads."""
    rng = np.random.default_rng(1)
    for rows, classes, samples in [(300, 37, 20), (1234, 77, 5), (5, 20000, 2), (1000, 100, 1)]:
        logits = rng.normal(size=(rows, classes)).astype(np.float32)
        same(seeded(5, lambda tf: tf.random.categorical(logits, samples)))


def test_categorical_leaves_out_what_is_not_finite():
    inf, nan = np.inf, np.nan
    logits = [[0, 0, 0], [-inf, -inf, 0], [-inf] * 3, [inf, 0, 0], [nan, 0, 0], [nan] * 3,
              [1e30, -1e30, 0], [0, 1, inf], [0, -inf, -inf]]  # fmt: skip
    same(seeded(5, lambda tf: tf.random.categorical(tf.constant(logits, tf.float32), 9)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_gamma(dtype):
    def function(tf):
        alpha = tf.constant([0.1, 0.5, 0.9, 1.0, 1.1, 2.5, 100.0], dtype)
        kind = tf.as_dtype(dtype)
        return [
            tf.random.gamma([301], alpha, dtype=kind),
            tf.random.gamma([], alpha, dtype=kind),
            tf.random.gamma([2, 3], 2.0, [[2.0], [3.0]], dtype=kind),
        ]

    same(seeded(8, function), 4)


def test_gamma_of_strange_parameters():
    alpha = [0.0, -1.0, np.inf, np.nan, 1e30, 1e-30]
    same(lambda tf: tf.random.stateless_gamma([6], [5, 9], alpha))


def test_gradient_of_gamma():
    def function(tf, alpha, beta):
        return tf.random.stateless_gamma([7, 3], [3, 4], alpha, beta, dtype=alpha.dtype)

    alpha, beta = np.array([0.3, 1.0, 8.0]), np.array([[2.0]])
    check(function, alpha, beta, second_order=False, smooth=False, tolerance=1e-6, may_raise=True)

    def stateful(tf, alpha):
        return tf.random.gamma([5], alpha, seed=3)

    runnel.random.set_seed(1)
    tensorflow.random.set_seed(1)
    check(stateful, np.array([[0.3, 20.0]], np.float32), second_order=False, smooth=False,
          traced=False, tolerance=1e-4, may_raise=True)  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_poisson(dtype):
    def function(tf):
        kind = tf.as_dtype(dtype)
        return [
            tf.random.poisson([201], [0.0, 0.1, 3.0, 9.99, 10.0, 50.0], dtype=kind),
            tf.random.poisson([2], [1, 30], dtype=kind),
            tf.random.poisson([], np.float64(100.1), dtype=kind),
        ]

    same(seeded(8, function))


# The stream of an operation.


@pytest.mark.parametrize(
    "draw",
    [
        lambda tf, **seed: tf.random.uniform([3], **seed),
        lambda tf, **seed: tf.random.uniform([3], dtype=tf.float64, **seed),
        lambda tf, **seed: tf.random.uniform([3], 0, 9, dtype=tf.int64, **seed),
        lambda tf, **seed: tf.random.normal([5], **seed),
        lambda tf, **seed: tf.random.truncated_normal([5], **seed),
        lambda tf, **seed: tf.random.shuffle(tf.range(7), **seed),
        lambda tf, **seed: tf.random.categorical([[0.1, 0.2, 0.3]], 5, **seed),
        lambda tf, **seed: tf.random.gamma([2], [0.5, 2.0], **seed),
        lambda tf, **seed: tf.random.poisson([2], [0.5, 20.0], **seed),
    ],
    ids=["uniform", "double", "integers", "normal", "truncated", "shuffle", "categorical", "gamma",
         "poisson"],
)  # fmt: skip
def test_calls_go_on_where_the_last_one_ended(draw):
    def function(tf):
        tf.random.set_seed(11)
        return (
            [draw(tf) for _ in range(3)]
            + [draw(tf, seed=2) for _ in range(3)]
            + [draw(tf), draw(tf, seed=3), draw(tf, seed=2), draw(tf)]
        )

    same(function)
    same(lambda tf: [function(tf), function(tf)])


def test_seeds_of_operations_without_a_global_seed():
    def function(tf):
        tf.random.set_seed(1)
        tf.random.set_seed(None)
        return [tf.random.uniform([2], seed=seed) for seed in (1, 1, 2, 0, -1, 1)]

    same(function)


@pytest.mark.parametrize("global_seed", [0, 5, -3, 2**31 - 1, 2**31 + 5, 2**40, np.int64(4), True])
@pytest.mark.parametrize("op_seed", [None, 0, 1, -2, 2**31, 2**63 - 1, np.int32(6)])
def test_combinations_of_seeds(global_seed, op_seed):
    same(seeded(global_seed, lambda tf: tf.random.uniform([4], seed=op_seed)))


def test_shapes_of_another_dtype_have_their_own_stream():
    def function(tf):
        tf.random.set_seed(7)
        return [
            tf.random.uniform([1], seed=1),
            tf.random.uniform(tf.constant([1], tf.int64), seed=1),
            tf.random.uniform([1, 1], seed=1),
            tf.random.uniform([1], 5, 6, seed=1),
        ]

    same(function)


def test_without_any_seed_the_numbers_are_new_ones():
    runnel.random.set_seed(None)
    draws = [runnel.random.uniform([4]).numpy().tolist() for _ in range(3)]
    runnel.random.set_seed(None)
    draws.append(runnel.random.uniform([4]).numpy().tolist())
    assert len({tuple(draw) for draw in draws}) == 4


def test_operations_of_a_graph_have_streams_of_their_own():
    """What `tf.function` does in the original: seeds 0, 1, ...; a stream for each operation."""
    tensorflow.random.set_seed(7)

    @tensorflow.function
    def original():
        draw = tensorflow.random.uniform
        return draw([2]), draw([2], seed=1), draw([2]), draw([2], seed=1)

    runnel.random.set_seed(7)
    graph = Graph()
    with graph.as_default():
        draw = runnel.random.uniform
        fetches = [draw([2]), draw([2], seed=1), draw([2]), draw([2], seed=1)]
    for call in range(3):
        if call == 2:
            tensorflow.random.set_seed(9)
            runnel.random.set_seed(9)
        for want, got in zip(original(), graph.compute(fetches, {}), strict=True):
            np.testing.assert_array_equal(got, want.numpy())


def test_a_seed_set_inside_a_graph_is_the_seed_of_that_graph():
    runnel.random.set_seed(3)
    graph = Graph()
    with graph.as_default():
        runnel.random.set_seed(5)
        inside = runnel.random.uniform([2])
    assert inside.op.get_attr("seed") == 5
    same(lambda tf: (tf.random.set_seed(3), tf.random.uniform([2]))[1])


def test_threads_share_the_global_seed():
    import threading

    def function(tf):
        tf.random.set_seed(21)
        found = []
        thread = threading.Thread(target=lambda: found.append(tf.random.uniform([3])))
        thread.start()
        thread.join()
        return [*found, tf.random.uniform([3])]

    same(function)


# Stateless.


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", ["uniform", "normal", "truncated_normal"])
def test_stateless_floats(name, dtype):
    ulps = 4 if dtype == "float64" else 0
    for seed in [[0, 0], [1, 2], [-5, 2**40 + 3], (7, -1)]:
        for shape in [[], [1], [0, 3], [5, 2], [1001]]:
            same(
                lambda tf: getattr(tf.random, f"stateless_{name}")(
                    shape, seed, dtype=tf.as_dtype(dtype)
                ),
                ulps,
            )


@pytest.mark.parametrize("dtype", WHOLE)
def test_stateless_whole_numbers(dtype):
    for shape in [[], [1], [0, 3], [5, 2], [1001]]:
        same(
            lambda tf: tf.random.stateless_uniform(
                shape, [5, 9], None, None, dtype=tf.as_dtype(dtype)
            )
        )
        if dtype[0] == "i":
            same(
                lambda tf: tf.random.stateless_uniform(
                    shape, [5, 9], -3, 1000, dtype=tf.as_dtype(dtype)
                )
            )


def test_stateless_parameters():
    same(lambda tf: tf.random.stateless_uniform([3, 2], [5, 9], [1.0, 2.0], 7.0))
    same(lambda tf: tf.random.stateless_normal([3, 2], [5, 9], [1.0, 2.0], [[7.0]]))
    for alg in ("philox", "auto_select", 1, 3, None):
        same(lambda tf: tf.random.stateless_normal([3], [5, 9], alg=alg))
        same(lambda tf: tf.random.stateless_uniform([3], tf.constant([5, 9], tf.int64), alg=alg))
    same(
        lambda tf: tf.random.stateless_truncated_normal([3], [5, 9], alg=tf.random.Algorithm.PHILOX)
    )


def test_new_seeds_from_old():
    for seed in ([5, 9], np.array([5, 2**40])):
        same(lambda tf: tf.random.split(seed, 3))
        same(lambda tf: tf.random.experimental.stateless_split(seed))
        for data in (7, -1, 2**40, np.int64(3)):
            same(lambda tf: tf.random.fold_in(seed, data))
    same(lambda tf: tf.random.experimental.stateless_fold_in([5, 9], 3))


def test_stateless_shuffle():
    for value in ([1, 2, 3], np.arange(101), np.arange(12.0).reshape(4, 3), [], ["x", "y"]):
        same(lambda tf: tf.random.experimental.stateless_shuffle(value, [5, 9]))


def test_index_shuffle():
    for largest in (1, 5, 100, 65535, 65536, 1_000_000, 2**31 - 2):
        index = [i for i in (0, 1, 5, 77) if i <= largest]
        same(lambda tf: tf.random.experimental.index_shuffle(tf.constant(index), [1, 2], largest))
        same(lambda tf: tf.random_index_shuffle(index, [7, 0, 123456789], largest, rounds=8))
    for dtype in WHOLE:
        same(lambda tf: tf.random_index_shuffle(tf.constant([1, 2], dtype), [1, 2, 3], 10))
    same(lambda tf: tf.random_index_shuffle(1, [[1, 2, 3], [4, 5, 6]], 10))
    same(lambda tf: tf.random_index_shuffle([1, 2], [[1, 2, 3], [4, 5, 6]], [10, 11]))
    same(lambda tf: tf.random_index_shuffle(1, [-1, -2, -3], 10))


def test_stateless_categorical():
    logits = np.random.default_rng(2).normal(size=(40, 9)).astype(np.float32)
    same(lambda tf: tf.random.stateless_categorical(logits, 6, [5, 9]))
    same(lambda tf: tf.random.stateless_categorical(logits, 1, [5, 9], tf.int32))


def test_stateless_gamma_and_poisson():
    same(lambda tf: tf.random.stateless_gamma([50, 3], [5, 9], [0.3, 1.0, 5.0], [2.0]))
    same(lambda tf: tf.random.stateless_gamma([50], [5, 9], 3.0, dtype=tf.float64), 4)
    same(lambda tf: tf.random.stateless_poisson([50, 3], [5, 9], [0.3, 9.0, 500.0]))
    same(lambda tf: tf.random.stateless_poisson([50], [5, 9], np.float64(1e6 + 0.3), tf.float64))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_stateless_binomial(dtype):
    counts = np.array([5, 100, 7, 30, 20, 0, -1, 5, 5, 1000], dtype)
    probs = np.array([0.3, 0.4, 0.9, 0.1, 0.5, 0.5, 0.5, 0, 1, 0.77], dtype)
    for output in ("int32", "int64", "float32", "float64"):
        same(
            lambda tf: tf.random.stateless_binomial(
                [201, 10], [5, 9], counts, probs, tf.as_dtype(output)
            )
        )
    same(
        lambda tf: tf.random.stateless_binomial(
            [2], [5, 9], tf.constant(4.0, dtype), tf.constant([0.2, np.nan], dtype), tf.float64
        )
    )


def test_binomial_parameters_are_read_in_single_precision():
    for count, probability in [(1e6, 0.77), (123456789.0, 0.7), (1e9, 1.2e-9)]:
        same(
            lambda tf: tf.random.stateless_binomial(
                [999], [5, 9], np.float64(count), np.float64(probability), tf.float64
            )
        )


CUTS = [
    (0, 1, -2, 2), (1, 2, -1, 1.5), (0, 1, -0.5, 1), (0, 1, 0.3, 0.9), (0, 1, -0.9, -0.3),
    (0, 1, 3, np.inf), (1, 0.5, 2, 3), (0, 1, -np.inf, 1), (0, 1, -np.inf, -4),
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_cut_normal_distributions(cut, dtype):
    parameters = [np.array(value, dtype) for value in cut]
    for size in (1, 301, 3001):
        same(
            lambda tf: tf.random.stateless_parameterized_truncated_normal(
                [size], [5, 9], *parameters
            ),
            4 if dtype == "float64" else 0,
        )


def test_several_cut_normal_distributions():
    means, stddevs = np.array([0, 0.1, 0.2, 1, 5.0]), np.array([1, 2, 0.3, 0.1, 7])
    for size in (2, 1000):
        same(
            lambda tf: tf.random.stateless_parameterized_truncated_normal(
                [size, 5], [5, 9], means, stddevs, np.float64(-1), np.float64(3)
            ),
            4,
        )


def test_gradient_of_cut_normal_distributions():
    def function(tf, means, stddevs, low, high):
        return tf.random.stateless_parameterized_truncated_normal(
            [6, 2], [5, 9], means, stddevs, low, high
        )

    arguments = [np.array(a) for a in ([0.0, 1.0], [1.0, 2.0], [-1.0], [[2.0, 3.0]])]
    check(function, *arguments, second_order=False, smooth=False, tolerance=1e-6, may_raise=True)


# Ops that older graphs hold.


@pytest.mark.parametrize(
    ("name", "inputs", "attrs"),
    [
        ("StatelessRandomUniform", {"shape": [5], "seed": [5, 9]}, {"dtype": "float32"}),
        ("StatelessRandomNormal", {"shape": [5], "seed": [5, 9]}, {"dtype": "float16"}),
        ("StatelessTruncatedNormal", {"shape": [5], "seed": [5, 9]}, {"dtype": "float32"}),
        ("StatelessRandomUniformFullInt", {"shape": [5], "seed": [5, 9]}, {"dtype": "uint64"}),
        (
            "StatelessRandomUniformInt",
            {"shape": [5], "seed": [5, 9], "minval": 3, "maxval": 77},
            {},
        ),
        ("StatelessRandomGammaV2", {"shape": [4], "seed": [5, 9], "alpha": 0.7}, {}),
        ("StatelessRandomGetKeyCounter", {"seed": [5, -9]}, {}),
        ("StatelessRandomGetKeyCounterAlg", {"seed": [5, -9]}, {}),
        ("StatelessRandomGetAlg", {}, {}),
    ],
)
def test_ops_by_name(name, inputs, attrs):
    def function(tf):
        kinds = {key: tf.as_dtype(value) for key, value in attrs.items()}
        if tf is tensorflow:
            return getattr(tf.raw_ops, name)(**inputs, **kinds)
        return REGISTRY[name](*[tf.constant(value) for value in inputs.values()], **kinds)

    same(function)


# What is refused.


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.random.uniform([-1]),
        lambda tf: tf.random.uniform(3),
        lambda tf: tf.random.uniform([[2]]),
        lambda tf: tf.random.uniform([2.0]),
        lambda tf: tf.random.uniform([2], dtype=tf.int32),
        lambda tf: tf.random.uniform([2], 5, 5, dtype=tf.int32),
        lambda tf: tf.random.uniform([2], [0, 1], 5, dtype=tf.int32),
        lambda tf: tf.random.uniform([2], 0, 5, dtype=tf.int8),
        lambda tf: tf.random.uniform([2], 0, 5, dtype=tf.uint32),
        lambda tf: tf.random.uniform([2], dtype=tf.complex64),
        lambda tf: tf.random.uniform([2], None, 5.0),
        lambda tf: tf.random.uniform([2], tf.constant(1.0, tf.float64), 3.0),
        lambda tf: tf.random.uniform([2], seed="a"),
        lambda tf: tf.random.normal([2], dtype=tf.int32),
        lambda tf: tf.random.normal([2], dtype=tf.complex64),
        lambda tf: tf.random.truncated_normal([2], dtype=tf.int64),
        lambda tf: tf.random.categorical([[1, 2, 3]], 5),
        lambda tf: tf.random.categorical([[1.0, 2.0]], 5, tf.float32),
        lambda tf: tf.random.categorical([1.0, 2.0], 5),
        lambda tf: tf.random.categorical([[1.0, 2.0]], -1),
        lambda tf: tf.random.categorical([[1.0, 2.0]], [2]),
        lambda tf: tf.random.categorical([[1.0, 2.0]], 2.5),
        lambda tf: tf.random.categorical([[1.0, 2.0]], tf.constant(2, tf.int64)),
        lambda tf: tf.random.categorical(np.zeros([2, 0], np.float32), 2),
        lambda tf: tf.random.gamma([2], 1, dtype=tf.int32),
        lambda tf: tf.random.gamma([2], tf.constant(3.0, tf.float64)),
        lambda tf: tf.random.poisson([2], 1.0, dtype=tf.bfloat16),
        lambda tf: tf.random.set_seed([1]),
        lambda tf: tf.random.stateless_uniform([2], [1]),
        lambda tf: tf.random.stateless_uniform([2], [1, 2, 3]),
        lambda tf: tf.random.stateless_uniform([2], 1),
        lambda tf: tf.random.stateless_uniform([2], [1.0, 2.0]),
        lambda tf: tf.random.stateless_uniform([2], [[1, 2]]),
        lambda tf: tf.random.stateless_uniform([2], None),
        lambda tf: tf.random.stateless_uniform([2], "ab"),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], dtype=tf.int8),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], dtype=tf.int32),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], None, None),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], 3, 3, dtype=tf.int32),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], 0, 3, dtype=tf.uint32),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], alg="threefry"),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], alg="foo"),
        lambda tf: tf.random.stateless_uniform([2], [5, 9], alg=7),
        lambda tf: tf.random.stateless_normal([2], [5, 9], dtype=tf.int32),
        lambda tf: tf.random.stateless_gamma([2], [5, 9], [0.5, 1.0, 3.0]),
        lambda tf: tf.random.stateless_poisson([3], [5, 9], [1.0, 3.0]),
        lambda tf: tf.random.stateless_poisson([2], [5, 9], [1.0, 3.0], dtype=tf.bfloat16),
        lambda tf: tf.random.stateless_binomial([3, 2], [5, 9], [[1.0], [5.0], [5.0]], 0.3),
        lambda tf: tf.random.stateless_parameterized_truncated_normal([3], [5, 9], [0.0, 1.0]),
        lambda tf: tf.random.stateless_parameterized_truncated_normal([3], [5, 9], 0.0, -1.0),
        lambda tf: tf.random.stateless_parameterized_truncated_normal([3], [5, 9], 0.0, 1.0, 2.0),
        lambda tf: tf.random.stateless_parameterized_truncated_normal([3], [5, 9], np.nan),
        lambda tf: tf.random.split([1, 2, 3]),
        lambda tf: tf.random.split([1, 2], -1),
        lambda tf: tf.random.fold_in([5, 9], [1, 2]),
        lambda tf: tf.random.experimental.stateless_shuffle([1, 2], [5, 9], alg="threefry"),
        lambda tf: tf.random.experimental.index_shuffle(1, [1, 2, 3], 10),
        lambda tf: tf.random_index_shuffle(11, [1, 2, 3], 10),
        lambda tf: tf.random_index_shuffle(-1, [1, 2, 3], 10),
        lambda tf: tf.random_index_shuffle([[1]], [1, 2, 3], 10),
        lambda tf: tf.random_index_shuffle([1, 2, 3], [[1, 2, 3], [1, 2, 3]], 10),
        lambda tf: tf.random_index_shuffle(1.0, [1, 2, 3], 10.0),
    ],
)  # fmt: skip
def test_refused(call):
    check_raises(call)


def test_the_message_says_what_came():
    error = check_raises(lambda tf: tf.random.uniform([2], 5, 3, dtype=tf.int32))
    assert "Need minval < maxval, got 5 >= 3" in str(error)
    error = check_raises(lambda tf: tf.random.uniform([2, -4]))
    assert "Dimension -4 must be >= 0" in str(error)


# Graphs with shapes not known beforehand.


def test_traced_with_unknown_shapes():
    def function(tf, shape, logits, value, rate):
        return [
            tf.random.stateless_uniform(shape, [1, 2]),
            tf.random.stateless_normal(shape, [1, 2], dtype=tf.float64),
            tf.random.stateless_truncated_normal(shape, [1, 2]),
            tf.random.stateless_uniform(shape, [1, 2], 0, 9, dtype=tf.int32),
            tf.random.stateless_categorical(logits, 3, [1, 2]),
            tf.random.experimental.stateless_shuffle(value, [1, 2]),
            tf.random.stateless_poisson(tf.concat([shape, [2]], 0), [1, 2], rate),
            tf.random.stateless_gamma(tf.concat([shape, [2]], 0), [1, 2], rate),
            tf.random.stateless_binomial(tf.concat([shape, [2]], 0), [1, 2], rate, 0.5),
            tf.random.fold_in(shape, 3),
            tf.random.experimental.index_shuffle(value[:, 0], shape, 100),
        ]

    check(
        function,
        np.array([3, 2], np.int32),
        np.array([[0.5, 0.1], [2.0, 1.0]], np.float32),
        np.arange(6).reshape(3, 2),
        np.array([3.0, 20.0], np.float32),
        gradient=False,
    )


DIFFERENTIABLE = {
    "gamma": lambda tf, x: tf.random.stateless_gamma([5, 3], [1, 2], x),
    "raw gamma": lambda tf, x: raw_gamma(tf, [5, 3], [1, 2], x),
    "cut-off normal": lambda tf, x: tf.random.stateless_parameterized_truncated_normal(
        [5, 3], [1, 2], x, 2.0 * x, -1.0, 3.0
    ),
}


def raw_gamma(tf, shape, seed, alpha):
    if tf is tensorflow:
        return tf.raw_ops.StatelessRandomGammaV2(shape=shape, seed=seed, alpha=alpha)
    arguments = [tf.constant(shape), tf.constant(seed), alpha]
    return runnel.core.op.REGISTRY["StatelessRandomGammaV2"](*arguments)


@pytest.mark.parametrize("name", DIFFERENTIABLE)
def test_gradients_of_draws(name):
    found = []
    for tf in (tensorflow, runnel):
        x = tf.constant([0.5, 1.5, 2.5])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = DIFFERENTIABLE[name](tf, x)
        found.append(tape.gradient(y, x).numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-4)
