"""tf.keras.backend against the original: settings, values, elementwise functions, reductions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from side_by_side import compare, compare_failure, compare_gradients

import runnel as tf

K = tf.keras.backend

MATRIX = np.array([[1.5, -2.0, 3.0], [4.0, 5.5, -6.0]], np.float32)
OTHER = np.array([[1.0, -2.5, 3.0], [0.5, 5.5, -7.0]], np.float32)
MASK = np.array([[True, False, True], [False, False, True]])

arrays = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4),
    elements=st.floats(-5, 5, width=32).filter(lambda x: abs(x) > 1e-2),
)

UNARY = (
    "abs square sqrt exp log round sign sin cos sigmoid hard_sigmoid softplus softsign tanh elu "
    "relu"
)


@pytest.mark.parametrize("name", UNARY.split())
@settings(max_examples=6)
@given(x=arrays)
def test_functions_of_each_element(name, x):
    compare(lambda tf, keras, x: getattr(keras.backend, name)(x), x)
    if name != "log":
        compare_gradients(lambda tf, keras, x: getattr(keras.backend, name)(x), x)


def test_softmax():
    for axis in (-1, 0, [0, 1]):
        compare(lambda tf, keras, x: keras.backend.softmax(x, axis), MATRIX)
    compare_failure(lambda tf, keras, x: keras.backend.softmax(x), MATRIX[0])


BINARY = "equal not_equal greater greater_equal less less_equal maximum minimum"


@pytest.mark.parametrize("name", BINARY.split())
def test_functions_of_pairs(name):
    compare(lambda tf, keras, x, y: getattr(keras.backend, name)(x, y), MATRIX, OTHER)
    compare(lambda tf, keras, x: getattr(keras.backend, name)(x, 1.5), MATRIX)


def test_powers_and_bounds():
    compare(lambda tf, keras, x: keras.backend.pow(x, 3), MATRIX)
    for low, high in ((-2.0, 3.0), (3.0, -2.0), (None, 2.0), (0.0, None), (0, 2)):
        compare(lambda tf, keras, x: keras.backend.clip(x, low, high), MATRIX)


REDUCTIONS = "sum prod max min mean var std any all"


@pytest.mark.parametrize("name", REDUCTIONS.split())
@pytest.mark.parametrize("axis", [None, 0, -1, [0, 1]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, axis, keepdims):
    def reduce(tf, keras, x):
        return getattr(keras.backend, name)(x, axis=axis, keepdims=keepdims)

    compare(reduce, MATRIX)
    if name in ("any", "all", "mean", "var", "std"):
        compare(reduce, MASK)
    if name in ("sum", "prod", "mean", "std"):
        compare_gradients(reduce, MATRIX)


def test_places_and_running_totals():
    for name in ("argmax", "argmin", "cumsum", "cumprod"):
        compare(lambda tf, keras, x: getattr(keras.backend, name)(x), MATRIX)
        compare(lambda tf, keras, x: getattr(keras.backend, name)(x, axis=0), MATRIX)
    for axis in (None, 0, -1):
        compare(lambda tf, keras, x: keras.backend.l2_normalize(x, axis), MATRIX)
    predictions = np.array([[0.1, 0.7, 0.2], [0.4, 0.3, 0.3]], np.float32)
    for k in (1, 2):
        compare(
            lambda tf, keras, x, y: keras.backend.in_top_k(x, y, k),
            predictions,
            np.array([1, 2], np.int32),
        )


SHAPING = {
    "reshape": lambda k, x: k.reshape(x, (3, -1)),
    "flatten": lambda k, x: k.flatten(x),
    "batch_flatten": lambda k, x: k.batch_flatten(x),
    "transpose": lambda k, x: k.transpose(x),
    "permute_dimensions": lambda k, x: k.permute_dimensions(x, (2, 0, 1)),
    "expand_dims": lambda k, x: k.expand_dims(x),
    "expand_dims at": lambda k, x: k.expand_dims(x, 1),
    "squeeze": lambda k, x: k.squeeze(k.expand_dims(x, 1), 1),
    "concatenate": lambda k, x: k.concatenate([x, x]),
    "concatenate first": lambda k, x: k.concatenate([x, x], axis=0),
    "stack": lambda k, x: k.stack([x, x]),
    "stack last": lambda k, x: k.stack([x, x], axis=-1),
    "reverse": lambda k, x: k.reverse(x, 1),
    "reverse two": lambda k, x: k.reverse(x, [0, 2]),
    "tile": lambda k, x: k.tile(x, [1, 2, 3]),
    "tile one": lambda k, x: k.tile(k.flatten(x), 2),
    "repeat": lambda k, x: k.repeat(x[0], 3),
    "repeat_elements": lambda k, x: k.repeat_elements(x, 3, axis=1),
    "gather": lambda k, x: k.gather(x, [1, 0, 1]),
    "temporal_padding": lambda k, x: k.temporal_padding(x),
    "temporal_padding uneven": lambda k, x: k.temporal_padding(x, (0, 2)),
}


@pytest.mark.parametrize("name", SHAPING)
def test_shaping(name):
    x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    compare(lambda tf, keras, x: SHAPING[name](keras.backend, x), x, exact=True)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first", None])
def test_padding_and_resizing(data_format):
    images = np.arange(48, dtype=np.float32).reshape(2, 3, 4, 2)
    volumes = np.arange(48, dtype=np.float32).reshape(1, 2, 3, 4, 2)
    for padding in (((1, 1), (1, 1)), ((0, 2), (3, 1))):
        compare(
            lambda tf, keras, x: keras.backend.spatial_2d_padding(x, padding, data_format), images
        )
    padding = ((1, 0), (0, 2), (3, 1))
    compare(lambda tf, keras, x: keras.backend.spatial_3d_padding(x, padding, data_format), volumes)
    if data_format:
        compare(lambda tf, keras, x: keras.backend.resize_images(x, 2, 3, data_format), images)
        compare(lambda tf, keras, x: keras.backend.resize_volumes(x, 1, 2, 3, data_format), volumes)


def test_numbers_and_classes():
    for arguments in ((5,), (2, 7), (1, 9, 3), (-2,), (5, 0, -2)):
        compare(lambda tf, keras: keras.backend.arange(*arguments))
    compare(lambda tf, keras: keras.backend.arange(5, dtype="float32"))
    compare(lambda tf, keras, x: keras.backend.one_hot(x, 4), np.array([[0, 3], [1, 9]]))


def test_bad_shapes():
    ones = np.ones((2, 3, 4), np.float32)
    cases = [
        lambda k, x: k.reshape(x, (5, 5)),
        lambda k, x: k.squeeze(x, 0),
        lambda k, x: k.concatenate([x, x[:, :2]], axis=0),
        lambda k, x: k.spatial_2d_padding(x, data_format="last"),
        lambda k, x: k.resize_images(x, 2, 2, "last"),
        lambda k, x: k.resize_volumes(x, 2, 2, 2, None),
    ]
    for case in cases:
        compare_failure(lambda tf, keras, x: case(keras.backend, x), ones)
    with pytest.raises(ValueError, match=r"2 axes, got one of shape \(2, 3, 4\)"):
        K.repeat(tf.constant(ones), 2)
    for case in (
        lambda: K.temporal_padding(ones, (1, 2, 3)),
        lambda: K.spatial_2d_padding(ones, ((1, 1),)),
        lambda: K.spatial_3d_padding(ones, ((1, 1), (1, 1), (1,))),
    ):
        with pytest.raises(ValueError, match="padding"):
            case()


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ((2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((2, 5, 3), (3, 4)),
        ((2, 5, 3), (6, 3, 4)),
        ((0, 3), (3, 2)),
    ],
)
def test_dot(x, y):
    random = np.random.default_rng(1)
    a, b = (random.normal(size=shape).astype(np.float32) for shape in (x, y))
    compare(lambda tf, keras, a, b: keras.backend.dot(a, b), a, b)
    compare_gradients(lambda tf, keras, a, b: keras.backend.dot(a, b), a, b)


@pytest.mark.parametrize(
    ("x", "y", "axes"),
    [
        ((4, 3), (4, 3), None),
        ((4, 3), (4, 3), 1),
        ((4, 3), (4, 3), (1, 1)),
        ((4, 2, 3), (4, 3, 5), None),
        ((4, 2, 3), (4, 3, 5), (2, 1)),
        ((4, 2, 3), (4, 2, 5), 1),
        ((4, 2, 3), (4, 5, 3), (2, 2)),
        ((4, 2, 3), (4, 3), None),
        ((4, 2, 3), (4, 2), (1, 1)),
        ((4, 3), (4, 3, 5), None),
        ((4, 2, 3), (4, 5, 3), (-1, -1)),
        ((4, 2, 3, 5), (4, 5, 6), (3, 1)),
        ((4, 2, 3, 5), (4, 6, 3, 2), (2, 2)),
    ],
)
def test_batch_dot(x, y, axes):
    random = np.random.default_rng(1)
    a, b = (random.normal(size=shape).astype(np.float32) for shape in (x, y))
    compare(lambda tf, keras, a, b: keras.backend.batch_dot(a, b, axes), a, b, tolerance=1e-5)
    compare_gradients(lambda tf, keras, a, b: keras.backend.batch_dot(a, b, axes), a, b)


def test_bad_products():
    ones = np.ones
    for x, y, axes in (
        ((3,), (3,), None),
        ((4, 3), (4, 2), None),
        ((4, 2, 3), (4, 3, 5), 0),
        ((4, 2, 3), (4, 3, 5), (2, 2)),
        ((4, 2, 3), (4, 3, 5), (1, (1, 2))),
        ((4, 3), (5, 3), 1),
    ):
        compare_failure(
            lambda tf, keras, a, b: keras.backend.batch_dot(a, b, axes),
            ones(x, np.float32),
            ones(y, np.float32),
        )


def test_settings():
    def change(tf, keras):
        k = keras.backend
        before = [k.floatx(), k.epsilon(), k.image_data_format(), k.backend()]
        k.set_floatx("float16")
        k.set_epsilon(1e-3)
        k.set_image_data_format("channels_first")
        after = [k.floatx(), k.epsilon(), k.image_data_format()]
        k.set_floatx("float32")
        k.set_epsilon(1e-7)
        k.set_image_data_format("channels_last")
        return before, after

    compare(change)
    for bad in ("float8", "int32", 3, None, "bfloat16"):
        compare_failure(lambda tf, keras: keras.backend.set_floatx(bad), message="floatx")
    for bad in ("last", None):
        compare_failure(lambda tf, keras: keras.backend.set_image_data_format(bad))


PRINT_SETTINGS = """
import warnings
warnings.simplefilter("ignore")
import runnel as tf
k = tf.keras.backend
print(k.floatx(), k.epsilon(), k.image_data_format())
"""


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        (
            {"floatx": "float64", "epsilon": 1e-5, "image_data_format": "channels_first"},
            "float64 1e-05 channels_first",
        ),
        ({"floatx": "float8", "epsilon": "small"}, "float32 1e-07 channels_last"),
        ("nonsense", "float32 1e-07 channels_last"),
    ],
)
def test_settings_of_the_user(tmp_path, written, printed):
    (tmp_path / "keras.json").write_text(json.dumps(written))
    result = subprocess.run(
        [sys.executable, "-c", PRINT_SETTINGS],
        capture_output=True, check=True, text=True, env={**os.environ, "KERAS_HOME": str(tmp_path)},
    )  # fmt: skip
    assert result.stdout.strip() == printed


def test_uids():
    def count(tf, keras):
        k = keras.backend
        k.reset_uids()
        counted = [k.get_uid("a"), k.get_uid("a"), k.get_uid("b"), k.get_uid(), k.get_uid()]
        k.clear_session()
        return [*counted, k.get_uid("a")]

    compare(count)


def test_learning_phase():
    def phases(tf, keras):
        k = keras.backend
        k.clear_session()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            seen = [k.learning_phase(), k.in_train_phase(1, 2)]
            k.set_learning_phase(1)
            seen += [k.learning_phase(), k.in_train_phase(1, 2), k.in_test_phase(1, 2)]
            with k.learning_phase_scope(0):
                seen += [k.learning_phase(), k.in_train_phase(lambda: 1, lambda: 2)]
            seen.append(k.learning_phase())
        k.clear_session()
        return [*seen, k.learning_phase()]

    compare(phases)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compare_failure(lambda tf, keras: keras.backend.set_learning_phase(3))
        compare_failure(lambda tf, keras: keras.backend.learning_phase_scope(3).__enter__())
    with pytest.warns(UserWarning, match="deprecated"):
        K.set_learning_phase(0)
    K.clear_session()


def test_phases_given_as_an_argument():
    for training in (True, False, 0, 1):
        compare(lambda tf, keras: keras.backend.in_train_phase(1, 2, training=training))
        compare(lambda tf, keras: keras.backend.in_test_phase(lambda: 1, lambda: 2, training))
        compare(
            lambda tf, keras, x: keras.backend.in_train_phase(x, -x, tf.constant(bool(training))),
            MATRIX,
        )


def test_switch():
    for condition in (
        np.array(True),
        np.array(False),
        np.array(1),
        MATRIX > 0,
        MASK[:, :1],
        MASK[0],
    ):
        compare(
            lambda tf, keras, c, x: keras.backend.switch(c, x, -x), np.asarray(condition), MATRIX
        )
        compare(
            lambda tf, keras, c, x: keras.backend.switch(c, lambda: x, lambda: -x),
            np.asarray(condition),
            MATRIX,
        )
    called = []
    K.switch(tf.constant(True), lambda: called.append(1) or 1, lambda: called.append(2) or 2)
    assert called == [1]
    compare_failure(lambda tf, keras, c, x: keras.backend.switch(c, x, x), MASK[:, 0], MATRIX)
    compare_failure(lambda tf, keras, c, x: keras.backend.switch(c, x, x), MASK, MATRIX[0])


def test_variables():
    def make(tf, keras):
        k = keras.backend
        made = [
            k.variable([1, 2]), k.variable(np.array([1.0, 2.0]), name="v"),
            k.variable([1, 2], dtype="int32"), k.zeros((2, 3)), k.zeros((2,), "int32", "z"),
            k.ones((2,)), k.eye(3), k.eye(2, "int32"),
        ]  # fmt: skip
        assert all(isinstance(each, tf.Variable) for each in made)
        return [each.name for each in made], [each.read_value() for each in made]

    compare(make)
    compare(lambda tf, keras: keras.backend.constant([1, 2]))
    compare(lambda tf, keras: keras.backend.constant(3, "float64", (2, 2)))
    compare(lambda tf, keras, x: keras.backend.zeros_like(x), MATRIX)
    compare(lambda tf, keras, x: keras.backend.ones_like(x, "int32"), MATRIX)
    compare_failure(lambda tf, keras: keras.backend.variable("a"))


def test_values_of_variables():
    def change(tf, keras):
        k = keras.backend
        v = k.variable([[1.0, 2.0]])
        seen = [k.get_value(v), k.eval(v)]
        k.set_value(v, [[3, 4]])
        seen.append(k.get_value(v))
        k.batch_set_value([(v, np.array([[5.0, 6.0]]))])
        k.batch_set_value([])
        seen += k.batch_get_value([v, tf.constant([1])])
        seen.append(k.get_value(3))
        for update in (k.update, k.update_add, k.update_sub):
            seen.append(update(v, [[1.0, 3.0]]).read_value())
        seen.append(k.moving_average_update(v, tf.constant([[10.0, 10.0]]), 0.9).read_value())
        return [*seen, k.get_value(v)]

    compare(change)
    compare_failure(
        lambda tf, keras: keras.backend.set_value(keras.backend.variable([1.0]), [1.0, 2.0])
    )


def test_descriptions():
    def describe(tf, keras, x):
        k = keras.backend
        v = tf.Variable(x)
        return [
            [k.dtype(each), k.int_shape(each), k.ndim(each), int(k.count_params(each))]
            for each in (x, v)
        ] + [
            k.int_shape(np.ones((2, 3))),
            k.is_keras_tensor(x),
            k.is_keras_tensor(v),
            k.is_sparse(x),
        ]

    compare(describe, MATRIX)
    compare(lambda tf, keras, x: keras.backend.shape(x), MATRIX)
    compare(lambda tf, keras, x: keras.backend.to_dense(x), MATRIX)
    compare(lambda tf, keras, x: keras.backend.cast(x, "int32"), MATRIX)
    for value in (np.array([1, 2]), [1, 2]):
        compare(lambda tf, keras: keras.backend.cast_to_floatx(value))
    compare(lambda tf, keras, x: keras.backend.cast_to_floatx(x), np.array([1, 2]))
    compare_failure(lambda tf, keras: keras.backend.is_keras_tensor(3))
    compare_failure(lambda tf, keras: keras.backend.is_keras_tensor(np.zeros(3)))


def test_gradients_stop():
    def stopped(tf, keras, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * keras.backend.stop_gradient(x) + sum(keras.backend.stop_gradient([x, x]))
        return tape.gradient(y, x)

    compare(stopped, MATRIX)
    compare_failure(lambda tf, keras, x: keras.backend.gradients(x, [x]), MATRIX)


def test_placeholders():
    def describe(tf, keras):
        made = [
            keras.backend.placeholder((2, 3)),
            keras.backend.placeholder(ndim=2, dtype="int32"),
            keras.backend.placeholder(),
        ]
        return [
            (
                str(each.shape),
                each.dtype.name,
                keras.backend.int_shape(each),
                keras.backend.ndim(each),
                keras.backend.is_keras_tensor(each),
            )
            for each in made
        ]

    compare(describe)


def test_models_as_functions():
    def call(tf, keras, outputs_of):
        x = keras.Input((3,))
        return keras.backend.function([x], outputs_of(x))([MATRIX])

    compare(lambda tf, keras: call(tf, keras, lambda x: [x * 2.0]))
    compare(lambda tf, keras: call(tf, keras, lambda x: x * 2.0))
    compare(lambda tf, keras: call(tf, keras, lambda x: [x * 2.0, keras.backend.relu(x)]))
    compare_failure(lambda tf, keras: keras.backend.function([], [], updates=[1]))
    compare_failure(lambda tf, keras: keras.backend.function([], [], givens=[1]))


def test_loops():
    compare(lambda tf, keras, x: keras.backend.map_fn(lambda a: a * 2, x), MATRIX)
    compare(
        lambda tf, keras, x: keras.backend.map_fn(lambda a: tf.cast(a, "int32"), x, dtype="int32"),
        MATRIX,
    )
    for name in ("foldl", "foldr"):
        compare(lambda tf, keras, x: getattr(keras.backend, name)(lambda a, b: a - b, x), MATRIX)
        compare(
            lambda tf, keras, x: getattr(keras.backend, name)(
                lambda a, b: a - b, x, initializer=tf.ones(3)
            ),
            MATRIX,
        )


def test_printing(capfd):
    x = tf.constant(MATRIX)
    assert K.print_tensor(x, message="x is") is x
    assert capfd.readouterr().err.startswith("x is [[1.5 -2 3]\n")


@pytest.mark.parametrize("name", ["random_normal", "random_uniform", "truncated_normal"])
def test_random_tensors(name):
    def draw(tf, keras):
        tf.random.set_seed(5)
        np.random.seed(1)
        function = getattr(keras.backend, name)
        return [
            function((3,)),
            function((3,)),
            function((2, 2), seed=7),
            function((2,), dtype="float64"),
        ]

    compare(draw)


def test_random_zeros_and_ones():
    def draw(tf, keras):
        tf.random.set_seed(5)
        np.random.seed(1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [
                keras.backend.random_bernoulli((20,), p=0.3),
                keras.backend.random_binomial((20,), p=0.3, seed=4),
                keras.backend.dropout(tf.ones((20,)), 0.4),
                keras.backend.dropout(tf.ones((4, 5)), 0.4, noise_shape=(4, 1), seed=3),
            ]

    compare(draw)
    with pytest.warns(UserWarning, match="random_bernoulli"):
        K.random_binomial((2,))


def test_random_variables():
    def draw(tf, keras):
        tf.random.set_seed(5)
        np.random.seed(1)
        k = keras.backend
        made = [
            k.random_normal_variable((3,), 1.0, 2.0, name="n"),
            k.random_uniform_variable((3,), -1.0, 2.0),
            k.random_normal_variable((3,), 0, 1, dtype="float64", seed=3),
        ]
        return [each.name for each in made], [each.read_value() for each in made]

    compare(draw)


def test_generators_of_layers():
    from runnel.keras.backend.random_generator import RandomGenerator

    def drawn(draw):
        tf.random.set_seed(5)
        return [draw(i).numpy().tolist() for i in range(3)]

    # A seed grows by one from call to call; without one, numbers follow from the global seed.
    seeded, unseeded = RandomGenerator(7), RandomGenerator()
    expected = drawn(lambda i: tf.random.normal((3,), seed=7 + i))
    assert drawn(lambda i: seeded.random_normal((3,))) == expected
    expected = drawn(lambda i: tf.random.normal((3,)))
    assert drawn(lambda i: unseeded.random_normal((3,))) == expected
    stateful = RandomGenerator(3, rng_type="stateful")
    generator = tf.random.Generator.from_seed(3)
    for _ in range(2):
        drawn = stateful.random_uniform((4,), -1.0, 1.0).numpy().tolist()
        assert drawn == generator.uniform((4,), -1.0, 1.0).numpy().tolist()
    K.experimental.enable_tf_random_generator()
    try:
        assert K.experimental.is_tf_random_generator_enabled()
        assert RandomGenerator().rng_type == "stateful"
    finally:
        K.experimental.disable_tf_random_generator()
    assert RandomGenerator().rng_type == "legacy_stateful"
    with pytest.raises(ValueError, match="rng_type"):
        RandomGenerator(rng_type="other")
