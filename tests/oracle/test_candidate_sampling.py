"""Candidate samplers: the original's classes, and how often they were to be expected."""

import numpy as np
import pytest
import tensorflow
from compare import check_raises

import runnel

WEIGHTS = [0.5, 3.0, 1.0, 7.0, 0.1, 2.0, 1.5]


def sampler(name, **options):
    def call(tf, true, count, unique, size, **seed):
        given = {} if name.startswith("all") else {"range_max": size}
        return getattr(tf.random, f"{name}_candidate_sampler")(
            true, len(true[0]), count, unique, **given, **options, **seed
        )

    return call


def same(function):
    expected, actual = function(tensorflow), function(runnel)
    for want, got in zip(expected, actual, strict=True):
        assert type(got).__name__ == type(want).__name__ and got._fields == want._fields
        for field in want._fields:
            a, b = getattr(want, field).numpy(), getattr(got, field).numpy()
            assert a.dtype == b.dtype and a.shape == b.shape
            if a.dtype.kind == "i":
                np.testing.assert_array_equal(b, a)
            else:
                np.testing.assert_allclose(b, a, rtol=2e-6)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize("name", ["uniform", "log_uniform", "learned_unigram"])
def test_samplers(name, unique):
    def function(tf):
        tf.random.set_seed(3)
        draw = sampler(name)
        found = [draw(tf, [[1, 2], [3, 9]], n, unique, 10) for n in (1, 3, 9)]
        found += [draw(tf, [[1], [70]], 60, unique, 100, seed=4) for _ in range(3)]
        return [*found, draw(tf, [[1], [2]], 5, unique, 10**6, seed=4)]

    same(function)


@pytest.mark.parametrize("unique", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        {"unigrams": WEIGHTS},
        {"unigrams": WEIGHTS, "distortion": 0.75},
        {"unigrams": WEIGHTS, "distortion": 0.0},
        {"unigrams": WEIGHTS[2:], "num_reserved_ids": 2},
        {"unigrams": WEIGHTS * 2, "num_shards": 2, "shard": 1},
        {"unigrams": [1.0] * 7},
    ],
    ids=str,
)
def test_fixed_weights(options, unique):
    def function(tf):
        tf.random.set_seed(3)
        draw = sampler("fixed_unigram", **options)
        return [draw(tf, [[3, 6]], n, unique, 7, seed=5) for n in (1, 2, 5, 5)]

    same(function)


def test_many_fixed_weights():
    weights = np.random.default_rng(0).uniform(0.01, 5.0, 1000).astype(np.float32).tolist()
    draw = sampler("fixed_unigram", unigrams=weights)
    same(lambda tf: [(tf.random.set_seed(1), draw(tf, [[3]], 3000, False, 1000))[1]])


def test_weights_from_a_file(tmp_path):
    path = tmp_path / "vocabulary.csv"
    path.write_text("a,3\nb,2\nc,1\n")
    draw = sampler("fixed_unigram", vocab_file=str(path))
    same(lambda tf: [draw(tf, [[1]], 9, False, 3, seed=1)])


def test_all():
    same(lambda tf: [sampler("all")(tf, [[1], [2]], 4, True, None)])


def test_what_is_learned_is_forgotten_with_the_seed():
    def function(tf):
        draw = sampler("learned_unigram")
        found = []
        for _ in range(2):
            tf.random.set_seed(3)
            found += [draw(tf, [[5], [5]], 4, False, 8, seed=1) for _ in range(3)]
        return found

    same(function)


def test_accidental_hits():
    same(
        lambda tf: [
            tf.nn.compute_accidental_hits([[1, 2], [3, 4], [2, 2]], [2, 4, 9, 2], 2),
            tf.nn.compute_accidental_hits([[1]], [2], 1),
        ]
    )


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: tf.random.uniform_candidate_sampler([[1]], 1, 11, True, 10),
        lambda tf: tf.random.uniform_candidate_sampler([[1, 2]], 1, 2, True, 10),
        lambda tf: tf.random.uniform_candidate_sampler([1, 2], 1, 2, True, 10),
        lambda tf: tf.random.uniform_candidate_sampler([[1.0]], 1, 2, True, 10),
        lambda tf: tf.random.uniform_candidate_sampler(tf.constant([[1]]), 1, 2, True, 10),
        lambda tf: tf.random.uniform_candidate_sampler([[1]], 1, 0, True, 10),
        lambda tf: tf.random.uniform_candidate_sampler([[1]], 1, 1, True, 0),
        lambda tf: tf.random.log_uniform_candidate_sampler([[100]], 1, 1, True, 10),
        lambda tf: tf.random.fixed_unigram_candidate_sampler([[1]], 1, 1, True, 3),
        lambda tf: tf.random.fixed_unigram_candidate_sampler(
            [[1]], 1, 1, True, 4, unigrams=[1.0, 2.0]
        ),
        lambda tf: tf.nn.compute_accidental_hits([[1, 2]], [2], 3),
        lambda tf: tf.nn.compute_accidental_hits([[1, 2]], [[2]], 2),
    ],
)
def test_refused(call):
    check_raises(call)
