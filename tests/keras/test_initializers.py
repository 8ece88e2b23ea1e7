"""tf.keras.initializers against the original: the same numbers for the same seeds."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from side_by_side import compare, compare_failure

import runnel as tf
from runnel.keras.backend.random_generator import set_random_seed

SCALED = [f"{who}{how}" for who in ("Glorot", "He", "Lecun") for how in ("Normal", "Uniform")]
RANDOM = [*SCALED, "RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling"]
PLAIN = ["Zeros", "Ones", "Constant"]
ALL = [*RANDOM, "Orthogonal", *PLAIN, "Identity"]

shapes = st.lists(st.integers(0, 6), max_size=4).map(tuple)
seeds = st.integers(-(2**31), 2**40)


@pytest.mark.parametrize("name", RANDOM)
@settings(max_examples=12)
@given(shape=shapes, seed=seeds, dtype=st.sampled_from(["float32", "float64", "float16"]))
def test_seeded_numbers(name, shape, seed, dtype):
    compare(
        lambda tf, keras: getattr(keras.initializers, name)(seed=seed)(shape, dtype),
        tolerance=2e-3 if dtype == "float16" else 2e-6,
    )


@settings(max_examples=15)
@given(shape=st.lists(st.integers(1, 6), min_size=2, max_size=4).map(tuple), seed=seeds)
def test_seeded_orthogonal(shape, seed):
    def make(tf, keras):
        return keras.initializers.Orthogonal(gain=1.5, seed=seed)(shape)

    matrix = compare(make, tolerance=2e-5).numpy().reshape(-1, shape[-1])
    short = matrix.T @ matrix if matrix.shape[0] >= matrix.shape[1] else matrix @ matrix.T
    np.testing.assert_allclose(short, 2.25 * np.eye(len(short)), atol=1e-5)


def test_empty_orthogonal():
    compare(lambda tf, keras: keras.initializers.Orthogonal(seed=1)((0, 2)))


@pytest.mark.parametrize("mode", ["fan_in", "fan_out", "fan_avg"])
@pytest.mark.parametrize(
    "distribution", ["truncated_normal", "untruncated_normal", "uniform", "normal", "Uniform"]
)
@pytest.mark.parametrize("shape", [(), (5,), (3, 4), (3, 3, 2, 5)])
def test_variance_scaling(mode, distribution, shape):
    def make(tf, keras):
        initializer = keras.initializers.VarianceScaling(2.5, mode, distribution, seed=3)
        return initializer(shape), initializer.get_config()

    compare(make)


def test_parameters_of_distributions():
    compare(lambda tf, keras: keras.initializers.RandomNormal(2.0, 3.0, seed=1)((4,)))
    compare(lambda tf, keras: keras.initializers.TruncatedNormal(2.0, 3.0, seed=1)((4,)))
    compare(lambda tf, keras: keras.initializers.RandomUniform(1.0, 3.0, seed=1)((4,)))
    compare(lambda tf, keras: keras.initializers.RandomUniform(0, 10, seed=1)((9,), "int32"))
    compare(lambda tf, keras: keras.initializers.RandomUniform(0, 10, seed=1)((9,), "int64"))


def _set_seed(keras, seed):
    (set_random_seed if keras is tf.keras else keras.utils.set_random_seed)(seed)


def test_numbers_follow_from_the_seed_of_keras():
    def draw(tf, keras):
        _set_seed(keras, 812)
        first = [getattr(keras.initializers, name)()((3, 2)) for name in RANDOM]
        return first, keras.initializers.GlorotUniform()((2, 3))

    compare(draw)
    # The next one goes on where the last one stopped.
    compare(lambda tf, keras: keras.initializers.HeNormal()((4,)))


PYTHON_SEEDS = """
import random, sys
if sys.argv[1] == "runnel":
    import runnel as tf
    keras = tf.keras
else:
    import tf_keras as keras
random.seed(5)
for _ in range(2):
    print(keras.initializers.GlorotUniform()((2, 3)).numpy().tolist())
"""


def test_numbers_follow_from_pythons_seed_in_a_new_program():
    import subprocess
    import sys

    printed = [
        subprocess.run(
            [sys.executable, "-c", PYTHON_SEEDS, name], capture_output=True, check=True, text=True
        ).stdout
        for name in ("tf_keras", "runnel")
    ]
    assert printed[0].count("\n") == 2
    assert printed[1] == printed[0]


def test_set_random_seed_seeds_everything():
    set_random_seed(31)
    first = random.random(), np.random.rand(), float(tf.random.uniform([]))
    set_random_seed(31)
    assert (random.random(), np.random.rand(), float(tf.random.uniform([]))) == first
    for bad in (None, "a", 1.5, -3, 2**40):
        with pytest.raises(ValueError, match=r"[Ss]eed"):
            set_random_seed(bad)


def test_the_seed_is_drawn_at_the_first_call():
    def make(tf, keras):
        first, second = keras.initializers.RandomNormal(), keras.initializers.RandomNormal()
        _set_seed(keras, 4)
        return second((3,)), first((3,))

    compare(make)


def test_calling_an_unseeded_initializer_again_warns():
    initializer = tf.keras.initializers.GlorotUniform()
    first = initializer((2,))
    with pytest.warns(UserWarning, match="GlorotUniform is unseeded"):
        second = initializer((2,))
    np.testing.assert_array_equal(first.numpy(), second.numpy())
    seeded = tf.keras.initializers.GlorotUniform(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(seeded((2,)).numpy(), seeded((2,)).numpy())


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize(
    "dtype", [None, "float64", "float16", "bfloat16", "int32", "uint8", "complex64"]
)
def test_plain_values(name, dtype):
    for shape in [(), (3,), (0, 2), [2, 3], 5]:
        compare(lambda tf, keras: getattr(keras.initializers, name)()(shape, dtype))
    compare(lambda tf, keras: keras.initializers.Ones()(tf.TensorShape([2, 3]), dtype))
    compare(lambda tf, keras: keras.initializers.Zeros()(tf.constant([2, 3]), dtype))


def test_booleans():
    compare(lambda tf, keras: keras.initializers.Ones()((2,), "bool"))
    compare(lambda tf, keras: keras.initializers.Zeros()((2,), tf.bool))


def test_constant_values():
    compare(lambda tf, keras: keras.initializers.Constant([1, 2, 3, 4])((2, 2)))
    compare(lambda tf, keras: keras.initializers.Constant(np.arange(4.0))((4,)))
    compare(lambda tf, keras: keras.initializers.Constant(3)((2,), "int32"))
    compare(lambda tf, keras: keras.initializers.Constant(tf.constant(2.0))((2,)))
    compare_failure(lambda tf, keras: keras.initializers.Constant([1, 2, 3])((2, 2)))
    compare_failure(lambda tf, keras: keras.initializers.Constant("a")((2, 2)))
    compare_failure(lambda tf, keras: keras.initializers.Constant(3.7)((2, 2), "int32"))


def test_identity():
    compare(lambda tf, keras: keras.initializers.Identity(3.0)((2, 4)))
    compare(lambda tf, keras: keras.initializers.Identity()((3, 3), "float64"))
    compare(lambda tf, keras: keras.initializers.Identity()((0, 3)))


@pytest.mark.parametrize("name", [*RANDOM, "Zeros", "Ones", "Constant"])
def test_parts_of_a_weight(name):
    def parts(tf, keras):
        seed = {} if name in PLAIN else {"seed": 1}
        initializer = getattr(keras.initializers, name)(**seed)
        return [
            initializer((4, 2), partition_shape=(2, 2), partition_offset=(row, 0)) for row in (0, 2)
        ]

    compare(parts)


@pytest.mark.parametrize("name", ALL)
def test_configs(name):
    seed = {} if name in (*PLAIN, "Identity") else {"seed": 7}

    def configs(tf, keras):
        made = [getattr(keras.initializers, name)(**arguments) for arguments in ({}, seed)]
        return [
            [each.get_config() for each in made],
            [keras.initializers.serialize(each) for each in made],
            [keras.initializers.serialize(each, use_legacy_format=True) for each in made],
            [vars(each).get(key) for each in made for key in ("seed", "scale", "mode", "gain")],
        ]

    compare(configs)
    cls = getattr(tf.keras.initializers, name)
    original = cls(**seed)
    for legacy in (False, True):
        config = tf.keras.initializers.serialize(original, use_legacy_format=legacy)
        again = tf.keras.initializers.deserialize(config)
        assert type(again) is cls
        assert again.get_config() == original.get_config()
        assert type(tf.keras.initializers.get(config)) is cls
    assert type(cls.from_config({**original.get_config(), "dtype": "float32"})) is cls


def test_arrays_in_configs():
    def config(tf, keras, legacy=False):
        return keras.initializers.serialize(keras.initializers.Constant(np.array([1.0, 2.0])))

    compare(config)
    initializer = tf.keras.initializers.deserialize(config(tf, tf.keras))
    assert initializer((2,)).numpy().tolist() == [1.0, 2.0]


STRINGS = (
    "glorot_uniform GlorotUniform glorot_normal he_normal he_uniform lecun_normal LecunUniform "
    "zeros zero Zeros ones one Ones constant Constant identity Identity orthogonal Orthogonal "
    "random_normal normal RandomNormal random_uniform uniform truncated_normal variance_scaling "
    "VarianceScaling GlorotUniformV2 ZerosV2 OrthogonalV2"
)


def test_names():
    for name in STRINGS.split():
        compare(lambda tf, keras: type(keras.initializers.get(name)).__name__)
    compare(lambda tf, keras: keras.initializers.get(None))
    assert tf.keras.initializers.glorot_uniform is tf.keras.initializers.GlorotUniform
    assert isinstance(
        tf.keras.initializers.get(tf.keras.initializers.Zeros), tf.keras.initializers.Zeros
    )
    zeros = tf.keras.initializers.Zeros()
    assert tf.keras.initializers.get(zeros) is zeros


class Sevens(tf.keras.initializers.Initializer):
    def __init__(self, factor=1):
        self.factor = factor

    def __call__(self, shape, dtype=None, **kwargs):
        return tf.fill(shape, 7 * self.factor)

    def get_config(self):
        return {"factor": self.factor}


def test_initializers_of_the_user():
    config = tf.keras.initializers.serialize(Sevens(2))
    again = tf.keras.initializers.deserialize(config, {"Sevens": Sevens})
    assert again((2,)).numpy().tolist() == [14, 14]
    legacy = tf.keras.initializers.serialize(Sevens(2), use_legacy_format=True)
    assert legacy == {"class_name": "Sevens", "config": {"factor": 2}}
    again = tf.keras.initializers.deserialize(legacy, {"Sevens": Sevens}, use_legacy_format=True)
    assert again.factor == 2
    function = tf.keras.initializers.get(lambda shape, dtype=None: 1)
    assert function((2,)) == 1


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("rondom_normal", "random_normal"),
        ("glorot_unifrom", "glorot_uniform"),
        ("zeross", "zeros"),
        ("Zeross", "Zeros"),
        ("HeNormall", "HeNormal"),
        ("", None),
        ("l1", None),
    ],
)
def test_unknown_names(name, nearest):
    error = compare_failure(lambda tf, keras: keras.initializers.get(name), message=repr(name))
    assert ("Did you mean" in str(error)) == (nearest is not None)
    assert nearest is None or f"Did you mean {nearest!r}" in str(error)


def test_bad_arguments():
    initializers = [
        lambda keras: keras.initializers.get(3),
        lambda keras: keras.initializers.get([1]),
        lambda keras: keras.initializers.get({"a": 1}),
        lambda keras: keras.initializers.get({"class_name": "Zerros", "config": {}}),
        lambda keras: keras.initializers.VarianceScaling(scale=-1),
        lambda keras: keras.initializers.VarianceScaling(scale=0),
        lambda keras: keras.initializers.VarianceScaling(mode="fan"),
        lambda keras: keras.initializers.VarianceScaling(distribution="x"),
        lambda keras: keras.initializers.Initializer()((2,)),
        lambda keras: keras.initializers.GlorotUniform.from_config({"scale": 3}),
        lambda keras: keras.initializers.Identity()((2,)),
        lambda keras: keras.initializers.Identity()((2, 2, 2)),
        lambda keras: keras.initializers.Identity()((2, 2), "int32"),
        lambda keras: keras.initializers.Identity()((2, 2), partition_shape=(1, 2)),
        lambda keras: keras.initializers.Orthogonal()((3,)),
        lambda keras: keras.initializers.Orthogonal()(()),
        lambda keras: keras.initializers.Orthogonal()((2, 2), "int32"),
        lambda keras: keras.initializers.Orthogonal()((2, 2), partition_offset=(0, 0)),
        lambda keras: keras.initializers.GlorotUniform()((2, 2), "int32"),
        lambda keras: keras.initializers.GlorotUniform()((2, 2), "string"),
        lambda keras: keras.initializers.GlorotUniform()((-1, 2)),
        lambda keras: keras.initializers.GlorotUniform()((None, 2)),
        lambda keras: keras.initializers.RandomNormal()((2, 2), "complex64"),
        lambda keras: keras.initializers.RandomNormal()((2, 2), size=3),
        lambda keras: keras.initializers.RandomUniform()((2, 2), "bool"),
        lambda keras: keras.initializers.RandomUniform(1, 1)((2, 2), "int32"),
        lambda keras: keras.initializers.Zeros()((2, 2), "string"),
        lambda keras: keras.initializers.Zeros()((2, 2), size=3),
        lambda keras: keras.initializers.Ones()((-1, 2)),
    ]
    for make in initializers:
        compare_failure(lambda tf, keras: make(keras))


def test_default_dtype():
    def make(tf, keras):
        keras.backend.set_floatx("float64")
        try:
            names = ["Zeros", "Ones", "Constant", "Identity"]
            plain = [getattr(keras.initializers, name)()((2, 2)) for name in names]
            names = ["GlorotUniform", "RandomNormal", "Orthogonal"]
            return plain, [getattr(keras.initializers, name)(seed=1)((2, 2)) for name in names]
        finally:
            keras.backend.set_floatx("float32")

    compare(make, tolerance=1e-9)
