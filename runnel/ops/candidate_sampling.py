"""Candidate samplers: draw a few classes for training instead of evaluating all of them."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import int64
from ..core.op import READS_FILES, execute, op
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from . import philox
from .array.arguments import require_positive
from .random_streams import Stream, seed_attrs, stream_of

Array = np.ndarray[Any, Any]

_SIGNATURE = (
    "true_classes: int64 -> sampled_candidates: int64, true_expected_count: float32, "
    "sampled_expected_count: float32"
)
# A sampler advances by this many groups per class, however few it used.
_GROUPS_PER_CLASS = 512


def _shape(inputs, attrs):
    true = inputs[0].shape
    if true.rank not in (None, 2):
        raise ValueError("true_classes must be a matrix")
    if true.rank == 2 and true[1] not in (None, attrs["num_true"]):
        raise ValueError(
            f"true_classes must have num_true columns, expected: {true[1]} was: {attrs['num_true']}"
        )
    rows = true[0] if true.rank == 2 else None
    sampled = TensorShape([attrs["num_sampled"]])
    return [sampled, TensorShape([rows, attrs["num_true"]]), sampled]


class _Distribution:
    """Classes and their probabilities, and how random words map to classes."""

    size: int
    per_group: int

    def classes(self, words: Array) -> Array:
        raise NotImplementedError

    def probabilities(self, classes: Array) -> Array:
        raise NotImplementedError


class _Uniform(_Distribution):
    per_group = 2

    def __init__(self, size: int) -> None:
        self.size = size

    def classes(self, words: Array) -> Array:
        return (philox.integers64(words) % np.uint64(self.size)).astype(np.int64)

    def probabilities(self, classes: Array) -> Array:
        return np.full(classes.shape, 1 / self.size)


class _LogUniform(_Distribution):
    """P(class) = (log(class + 2) - log(class + 1)) / log(size + 1)."""

    per_group = 2

    def __init__(self, size: int) -> None:
        self.size = size
        self.log_size = np.log1p(size)

    def classes(self, words: Array) -> Array:
        values = np.exp(philox.uniform_float64(words) * self.log_size).astype(np.int64) - 1
        return values % self.size

    def probabilities(self, classes: Array) -> Array:
        return np.log((classes + 2.0) / (classes + 1.0)) / self.log_size


class _Weighted(_Distribution):
    """Fixed weights, sampled by Walker's alias method: one number picks, another may alias."""

    per_group = 2

    def __init__(self, weights: Array) -> None:
        self.size = len(weights)
        self.shares = weights / weights.sum()
        self.own, self.alias = _alias_table(self.shares * self.size)

    def classes(self, words: Array) -> Array:
        picked = words[:, 1::2] % np.uint32(self.size)
        keep = philox.uniform_float32(words[:, 0::2]) < self.own[picked]
        return np.where(keep, picked, self.alias[picked]).astype(np.int64)

    def probabilities(self, classes: Array) -> Array:
        return self.shares[classes]


def _alias_table(shares: Array) -> tuple[Array, Array]:
    """Walker's alias table: each class's acceptance probability, and its alias."""
    own = shares.astype(np.float64)
    alias = np.arange(len(own))
    low = [i for i, share in enumerate(own) if share < 1]
    high = [i for i, share in enumerate(own) if share >= 1]
    while low and high:
        poor, rich = low.pop(), high.pop()
        alias[poor] = rich
        own[rich] -= 1 - own[poor]
        (low if own[rich] < 1 else high).append(rich)
    own[low + high] = 1
    return own, alias


class _Counted(_Distribution):
    """Weights that grow by one whenever a class occurs among the true ones."""

    per_group = 4

    def __init__(self, size: int) -> None:
        self.size = size
        self.weights = np.ones(size, np.int64)

    def classes(self, words: Array) -> Array:
        limits = np.cumsum(self.weights)
        places = words % np.uint32(limits[-1])
        return np.searchsorted(limits, places, "right")

    def probabilities(self, classes: Array) -> Array:
        return self.weights[classes] / self.weights.sum()

    def learn(self, classes: Array) -> None:
        np.add.at(self.weights, classes.reshape(-1), 1)


def _sample(
    true_classes: Array, num_true: int, num_sampled: int, unique: bool, stream: Stream,
    make: Callable[[], _Distribution],
) -> tuple[Array, ...]:  # fmt: skip
    """Draw the classes; with the expected counts of the true and of the sampled classes."""
    place = stream.reserve(_GROUPS_PER_CLASS * num_sampled)
    if stream.memory is None:
        stream.memory = make()
    distribution = stream.memory
    if true_classes.ndim != 2:
        raise ValueError("true_classes must be a matrix")
    if true_classes.shape[1] != num_true:
        raise ValueError(
            f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: "
            f"{num_true}"
        )
    if unique and num_sampled > distribution.size:
        raise ValueError(
            f"Sampler's range is too small: {num_sampled} different classes are wanted of "
            f"{distribution.size}."
        )
    wrong = (true_classes < 0) | (true_classes >= distribution.size)
    if wrong.any():
        raise ValueError(
            f"`true_candidate` out of range [0, {distribution.size}), received "
            f"{true_classes[wrong][0]}"
        )
    sampled, tries = _draw(distribution, num_sampled, unique, *place)
    expected = [
        _expected(distribution.probabilities(classes), num_sampled, tries)
        for classes in (true_classes, sampled)
    ]
    return sampled, *expected


def _draw(
    distribution: _Distribution, count: int, unique: bool, key: int, counter: int
) -> tuple[Array, int]:
    """`count` classes, distinct if `unique`, and how many draws that took."""
    found: dict[int, None] = {}
    tries = 0
    groups = -(-count // distribution.per_group)
    while True:
        classes = distribution.classes(philox.words(key, counter, groups)).reshape(-1)
        if not unique:
            return classes[:count], count
        for drawn in classes.tolist():
            tries += 1
            found[drawn] = None
            if len(found) == count:
                return np.array(list(found), np.int64), tries
        counter += groups


def _expected(probabilities: Array, count: int, tries: int) -> Array:
    if tries == count:
        return (probabilities * count).astype(np.float32)
    return (-np.expm1(tries * np.log1p(-probabilities))).astype(np.float32)


@op("UniformCandidateSampler", _SIGNATURE, shape=_shape, gradient=None, stateful=True)
def UniformCandidateSampler(
    true_classes, *, num_true, num_sampled, unique, range_max, seed=0, seed2=0, _stream=None
):
    identity = ("UniformCandidateSampler", num_true, num_sampled, unique, range_max)
    stream = stream_of(_stream, seed, seed2, *identity)
    return _sample(true_classes, num_true, num_sampled, unique, stream, lambda: _Uniform(range_max))


@op("LogUniformCandidateSampler", _SIGNATURE, shape=_shape, gradient=None, stateful=True)
def LogUniformCandidateSampler(
    true_classes, *, num_true, num_sampled, unique, range_max, seed=0, seed2=0, _stream=None
):
    identity = ("LogUniformCandidateSampler", num_true, num_sampled, unique, range_max)
    stream = stream_of(_stream, seed, seed2, *identity)
    return _sample(
        true_classes, num_true, num_sampled, unique, stream, lambda: _LogUniform(range_max)
    )


@op("LearnedUnigramCandidateSampler", _SIGNATURE, shape=_shape, gradient=None, stateful=True)
def LearnedUnigramCandidateSampler(
    true_classes, *, num_true, num_sampled, unique, range_max, seed=0, seed2=0, _stream=None
):
    identity = ("LearnedUnigramCandidateSampler", num_true, num_sampled, unique, range_max)
    stream = stream_of(_stream, seed, seed2, *identity)
    results = _sample(
        true_classes, num_true, num_sampled, unique, stream, lambda: _Counted(range_max)
    )
    stream.memory.learn(true_classes)
    return results


@op(
    "FixedUnigramCandidateSampler",
    _SIGNATURE,
    shape=_shape,
    gradient=None,
    stateful=True,
    effect=lambda attrs: READS_FILES if attrs["vocab_file"] else None,
)
def FixedUnigramCandidateSampler(
    true_classes, *, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0,
    num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=0, seed2=0, _stream=None,
):  # fmt: skip
    identity = (
        "FixedUnigramCandidateSampler", num_true, num_sampled, unique, range_max, vocab_file,
        distortion, num_reserved_ids, num_shards, shard, tuple(unigrams),
    )  # fmt: skip
    stream = stream_of(_stream, seed, seed2, *identity)

    def make() -> _Distribution:
        given = list(unigrams) if len(unigrams) else _read_weights(vocab_file)
        weights = np.array([0.0] * num_reserved_ids + [weight**distortion for weight in given])
        weights = weights[shard::num_shards]
        if len(weights) != range_max:
            raise ValueError(f"range is {range_max} must be equal to weights size  {len(weights)}")
        return _Weighted(weights)

    return _sample(true_classes, num_true, num_sampled, unique, stream, make)


def _read_weights(vocab_file: str) -> list[float]:
    if not vocab_file:
        raise ValueError("Must provide either vocab_file or unigrams.")
    with open(vocab_file, encoding="utf-8") as lines:
        return [float(line.rsplit(",", 1)[-1]) for line in lines if line.strip()]


@op("AllCandidateSampler", _SIGNATURE, shape=_shape, gradient=None, stateful=True)
def AllCandidateSampler(
    true_classes, *, num_true, num_sampled, unique, seed=0, seed2=0, _stream=None
):
    if true_classes.ndim != 2:
        raise ValueError("true_classes must be a matrix")
    ones = np.ones(num_sampled, np.float32)
    return np.arange(num_sampled), np.ones(true_classes.shape, np.float32), ones


_FIELDS = {
    declared.name: ["sampled_candidates", "true_expected_count", "sampled_expected_count"]
    for declared in (
        UniformCandidateSampler,
        LogUniformCandidateSampler,
        LearnedUnigramCandidateSampler,
        FixedUnigramCandidateSampler,
        AllCandidateSampler,
    )
}
_FIELDS["ComputeAccidentalHits"] = ["indices", "ids", "weights"]
# Results are a named tuple with the op's name.
_RESULTS: dict[str, Any] = {
    name: collections.namedtuple(name, fields) for name, fields in _FIELDS.items()
}


def _run(declared: Any, true_classes: Any, seed: Any, **attrs: Any) -> Any:
    for name in ("num_true", "num_sampled", "range_max"):
        if name in attrs:
            require_positive(declared.name, name, attrs[name])
    if not isinstance(true_classes, Tensor):
        true_classes = convert_to_tensor(true_classes, int64)
    results = execute(declared, (true_classes,), {**attrs, **seed_attrs(seed)})
    return _RESULTS[declared.name](*results)


def uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes sampled uniformly from [0, range_max), and their expected counts.

    >>> sampled, _, _ = tf.random.uniform_candidate_sampler([[0]], 1, 3, True, 3)
    >>> sorted(sampled.numpy().tolist())
    [0, 1, 2]
    """
    return _run(
        UniformCandidateSampler, true_classes, seed, num_true=num_true, num_sampled=num_sampled,
        unique=unique, range_max=range_max,
    )  # fmt: skip


def log_uniform_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes sampled from a log-uniform (Zipfian) distribution, for words sorted by frequency.

        P(class) = (log(class + 2) - log(class + 1)) / log(range_max + 1)

    >>> tf.random.log_uniform_candidate_sampler([[0]], 1, 4, True, 100).sampled_candidates.shape
    TensorShape([4])
    """
    return _run(
        LogUniformCandidateSampler, true_classes, seed, num_true=num_true,
        num_sampled=num_sampled, unique=unique, range_max=range_max,
    )  # fmt: skip


def learned_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None
):
    """Classes sampled by their frequency among the true ones so far, starting uniformly.

    >>> tf.random.learned_unigram_candidate_sampler([[0]], 1, 2, True, 9).true_expected_count.shape
    TensorShape([1, 1])
    """
    return _run(
        LearnedUnigramCandidateSampler, true_classes, seed, num_true=num_true,
        num_sampled=num_sampled, unique=unique, range_max=range_max,
    )  # fmt: skip


def fixed_unigram_candidate_sampler(
    true_classes, num_true, num_sampled, unique, range_max, vocab_file="", distortion=1.0,
    num_reserved_ids=0, num_shards=1, shard=0, unigrams=(), seed=None, name=None,
):  # fmt: skip
    """Classes sampled by given weights, to the power of `distortion`.

    The weights are `unigrams`, or the last column of `vocab_file`.

    >>> tf.random.fixed_unigram_candidate_sampler(
    ...     [[1]], 1, 2, False, 3, unigrams=[0.0, 1.0, 0.0]).sampled_candidates.numpy().tolist()
    [1, 1]
    """
    return _run(
        FixedUnigramCandidateSampler, true_classes, seed, num_true=num_true,
        num_sampled=num_sampled, unique=unique, range_max=range_max, vocab_file=vocab_file,
        distortion=distortion, num_reserved_ids=num_reserved_ids, num_shards=num_shards,
        shard=shard, unigrams=tuple(unigrams),
    )  # fmt: skip


def all_candidate_sampler(true_classes, num_true, num_sampled, unique, seed=None, name=None):
    """All classes from 0 to num_sampled - 1, for testing code that uses samplers.

    >>> tf.random.all_candidate_sampler([[0]], 1, 3, True).sampled_candidates.numpy().tolist()
    [0, 1, 2]
    """
    return _run(
        AllCandidateSampler, true_classes, seed, num_true=num_true, num_sampled=num_sampled,
        unique=unique,
    )  # fmt: skip


@op(
    "ComputeAccidentalHits",
    "true_classes: int64, sampled_candidates: int64 -> indices: int32, ids: int64, "
    "weights: float32",
    shape=lambda inputs, attrs: [TensorShape([None])] * 3,
    gradient=None,
)
def ComputeAccidentalHits(true_classes, sampled_candidates, *, num_true, seed=0, seed2=0):
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError("true_candidates must be a batch_size * num_true matrix")
    if sampled_candidates.ndim != 1:
        raise ValueError(
            "sampled_candidates must be a vector, which is typically an output from "
            "CandidateSampler"
        )
    places = {drawn: place for place, drawn in enumerate(sampled_candidates.tolist())}
    hits = [
        (row, places[true])
        for row, classes in enumerate(true_classes.tolist())
        for true in classes
        if true in places
    ]
    rows, ids = ([hit[i] for hit in hits] for i in range(2))
    weights = np.full(len(hits), np.finfo(np.float32).min, np.float32)
    return np.array(rows, np.int32), np.array(ids, np.int64), weights


def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """The sampled classes that are true ones: row indices, sample indices, and weights that mask.

    >>> hits = tf.nn.compute_accidental_hits([[1], [7]], [7, 3], 1)
    >>> hits.indices.numpy().tolist(), hits.ids.numpy().tolist()
    ([1], [0])
    """
    inputs = [convert_to_tensor(each, int64) for each in (true_classes, sampled_candidates)]
    results = execute(ComputeAccidentalHits, inputs, {"num_true": num_true})
    return _RESULTS["ComputeAccidentalHits"](*results)
