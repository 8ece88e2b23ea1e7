"""tf.keras.regularizers against the original."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as hnp
from side_by_side import compare, compare_failure, compare_gradients

import runnel as tf

MAKERS = {
    "L1": lambda keras: keras.regularizers.L1(0.3),
    "L1 default": lambda keras: keras.regularizers.L1(),
    "L2": lambda keras: keras.regularizers.L2(0.3),
    "L1L2": lambda keras: keras.regularizers.L1L2(0.3, 0.7),
    "L1L2 zeros": lambda keras: keras.regularizers.L1L2(),
    "L1L2 first": lambda keras: keras.regularizers.L1L2(l1=0.3),
    "L1L2 second": lambda keras: keras.regularizers.L1L2(l2=0.3),
    "l1_l2": lambda keras: keras.regularizers.l1_l2(),
    "rows": lambda keras: keras.regularizers.OrthogonalRegularizer(0.3),
    "columns": lambda keras: keras.regularizers.OrthogonalRegularizer(0.3, mode="columns"),
    "base": lambda keras: keras.regularizers.Regularizer(),
}

# Away from 0, where the penalties have corners.
numbers = st.floats(-4, 4, width=32).filter(lambda x: abs(x) > 0.01)


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=10)
@given(x=hnp.arrays(np.float32, st.tuples(st.integers(1, 4), st.integers(1, 4)), elements=numbers))
def test_penalties(name, x):
    def penalty(tf, keras, x):
        return MAKERS[name](keras)(x)

    compare(penalty, x)
    compare(penalty, x.astype(np.float64))
    compare(lambda tf, keras, x: penalty(tf, keras, tf.Variable(x)), x)
    smooth = min(x.shape) > 1 and name != "base"
    if smooth:
        compare_gradients(penalty, x)


@pytest.mark.parametrize("shape", [(), (3,), (0,), (2, 3, 4)])
@pytest.mark.parametrize("name", ["L1", "L2", "L1L2"])
def test_any_rank(name, shape):
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    compare(lambda tf, keras, x: MAKERS[name](keras)(x), x)


@pytest.mark.parametrize("name", [n for n in MAKERS if n != "base"])
def test_configs(name):
    def configs(tf, keras):
        made = MAKERS[name](keras)
        return [
            made.get_config(),
            keras.regularizers.serialize(made),
            keras.regularizers.serialize(made, use_legacy_format=True),
        ]

    compare(configs)
    original = MAKERS[name](tf.keras)
    for legacy in (False, True):
        config = tf.keras.regularizers.serialize(original, use_legacy_format=legacy)
        for again in (tf.keras.regularizers.deserialize(config), tf.keras.regularizers.get(config)):
            assert type(again) is type(original)
            assert again.get_config() == original.get_config()


def test_factors():
    for value in (None, True, False, 3, -1):
        compare(lambda tf, keras: keras.regularizers.L1(value).get_config())
        compare(lambda tf, keras: keras.regularizers.L2(value).get_config())
        compare(lambda tf, keras: keras.regularizers.L1L2(value, value).get_config())
    compare(lambda tf, keras: keras.regularizers.L1(l=0.3).get_config())
    compare(lambda tf, keras: keras.regularizers.L2(l=0.3).l2)


def test_factors_in_another_default_dtype():
    def make(tf, keras):
        keras.backend.set_floatx("float64")
        try:
            return keras.regularizers.L1(0.1).get_config()
        finally:
            keras.backend.set_floatx("float32")

    compare(make)


def test_names():
    names = "l1 L1 l2 L2 l1_l2 L1L2 orthogonal_regularizer OrthogonalRegularizer"
    for name in names.split():
        compare(lambda tf, keras: keras.regularizers.get(name).get_config())
        compare(lambda tf, keras: type(keras.regularizers.deserialize(name)).__name__)
    compare(lambda tf, keras: keras.regularizers.get(None))
    assert tf.keras.regularizers.get(len) is len
    assert tf.keras.regularizers.l1 is tf.keras.regularizers.L1


def test_unknown_names_are_errors_that_suggest():
    for name, nearest in (
        ("l1l2", "L1L2"),
        ("l3", "L1, L1L2"),
        ("orthogonal_regulariser", "orthogonal"),
    ):
        with pytest.raises(ValueError, match=f"Unknown regularizer: '{name}'.*{nearest}"):
            tf.keras.regularizers.get(name)


def test_bad_arguments():
    cases = [
        lambda tf, keras: keras.regularizers.L1("a"),
        lambda tf, keras: keras.regularizers.L2(np.nan),
        lambda tf, keras: keras.regularizers.L1L2(np.inf),
        lambda tf, keras: keras.regularizers.L1([1]),
        lambda tf, keras: keras.regularizers.L1(np.float32(2)),
        lambda tf, keras: keras.regularizers.L1(weight=0.3),
        lambda tf, keras: keras.regularizers.OrthogonalRegularizer(None),
        lambda tf, keras: keras.regularizers.OrthogonalRegularizer(mode="x"),
        lambda tf, keras: keras.regularizers.OrthogonalRegularizer()(tf.zeros((2,))),
        lambda tf, keras: keras.regularizers.OrthogonalRegularizer()(tf.zeros((2, 3, 4))),
        lambda tf, keras: keras.regularizers.L2()(tf.constant([1, 2])),
        lambda tf, keras: keras.regularizers.Regularizer().get_config(),
        lambda tf, keras: keras.regularizers.get(3),
        lambda tf, keras: keras.regularizers.get([1]),
        lambda tf, keras: keras.regularizers.get({"a": 1}),
        lambda tf, keras: keras.regularizers.get({"class_name": "L5", "config": {}}),
    ]
    for case in cases:
        compare_failure(case)
