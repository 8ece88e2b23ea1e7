"""tf.keras.constraints against the original."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from side_by_side import compare, compare_failure

import runnel as tf

MAKERS = {
    "MaxNorm": lambda keras: keras.constraints.MaxNorm(2),
    "MaxNorm rows": lambda keras: keras.constraints.MaxNorm(2.0, axis=1),
    "MaxNorm all": lambda keras: keras.constraints.MaxNorm(3.0, axis=[0, 1]),
    "MaxNorm negative": lambda keras: keras.constraints.MaxNorm(-1),
    "NonNeg": lambda keras: keras.constraints.NonNeg(),
    "UnitNorm": lambda keras: keras.constraints.UnitNorm(),
    "UnitNorm rows": lambda keras: keras.constraints.UnitNorm(axis=1),
    "MinMaxNorm": lambda keras: keras.constraints.MinMaxNorm(),
    "MinMaxNorm rate": lambda keras: keras.constraints.MinMaxNorm(0.5, 2.0, rate=0.5, axis=1),
    "MinMaxNorm reversed": lambda keras: keras.constraints.MinMaxNorm(2.0, 1.0),
    "RadialConstraint": lambda keras: keras.constraints.RadialConstraint(),
    "Constraint": lambda keras: keras.constraints.Constraint(),
}
MATRIX = [name for name in MAKERS if name != "RadialConstraint"]


@pytest.mark.parametrize("name", MATRIX)
@settings(max_examples=12)
@given(
    w=hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=3, min_side=0, max_side=4),
        elements=st.floats(-5, 5, width=32),
    )
)
def test_weights_obey(name, w):
    compare(lambda tf, keras, w: MAKERS[name](keras)(w), w)
    compare(lambda tf, keras, w: tf.identity(MAKERS[name](keras)(tf.Variable(w))), w)
    if name != "NonNeg":
        compare(lambda tf, keras, w: MAKERS[name](keras)(w), w.astype(np.float64), tolerance=1e-9)


def test_non_negative_in_float64():
    w = tf.constant([-1.0, 2.0], tf.float64)
    result = tf.keras.constraints.NonNeg()(w)
    assert result.dtype is tf.float64
    assert result.numpy().tolist() == [0.0, 2.0]


@pytest.mark.parametrize("size", range(2, 9))
def test_radial(size):
    w = np.random.default_rng(1).normal(size=(size, size, 2, 3)).astype(np.float32)
    compare(lambda tf, keras, w: keras.constraints.RadialConstraint()(w), w, exact=True)


def test_radial_kernel_of_one_element_stays():
    w = tf.ones((1, 1, 2, 3))
    assert np.array_equal(tf.keras.constraints.RadialConstraint()(w), w)


@pytest.mark.parametrize("name", MAKERS)
def test_configs(name):
    def configs(tf, keras):
        made = MAKERS[name](keras)
        return [
            made.get_config(),
            keras.constraints.serialize(made),
            keras.constraints.serialize(made, use_legacy_format=True),
        ]

    compare(configs)
    original = MAKERS[name](tf.keras)
    for legacy in (False, True):
        config = tf.keras.constraints.serialize(original, use_legacy_format=legacy)
        for again in (tf.keras.constraints.deserialize(config), tf.keras.constraints.get(config)):
            assert type(again) is type(original)
            assert again.get_config() == original.get_config()


def test_names():
    names = (
        "max_norm MaxNorm maxnorm min_max_norm MinMaxNorm non_neg NonNeg nonneg unit_norm UnitNorm "
        "unitnorm radial_constraint RadialConstraint"
    )
    for name in names.split():
        compare(lambda tf, keras: type(keras.constraints.get(name)).__name__)
    compare(lambda tf, keras: keras.constraints.get(None))
    assert tf.keras.constraints.get(len) is len
    assert tf.keras.constraints.max_norm is tf.keras.constraints.MaxNorm


def test_bad_arguments():
    cases = [
        lambda tf, keras: keras.constraints.MaxNorm(2, axis=5)(tf.ones((2, 2))),
        lambda tf, keras: keras.constraints.RadialConstraint()(tf.ones((3, 3))),
        lambda tf, keras: keras.constraints.RadialConstraint()(tf.ones((3, 3, 3))),
        lambda tf, keras: keras.constraints.RadialConstraint()(tf.ones((3, 4, 1, 1))),
        lambda tf, keras: keras.constraints.get(3),
        lambda tf, keras: keras.constraints.get([1]),
        lambda tf, keras: keras.constraints.get({"a": 1}),
        lambda tf, keras: keras.constraints.get({"class_name": "Norm", "config": {}}),
    ]
    for case in cases:
        compare_failure(case)
    compare_failure(lambda tf, keras: keras.constraints.get("maxnrom"), message="'maxnorm'")
    compare_failure(lambda tf, keras: keras.constraints.get("MinMaxNrm"), message="'MinMaxNorm'")
