"""Hashing of strings into buckets."""

from __future__ import annotations

import numpy as np

from ...core.op import execute, op
from ...core.shape_rules import unchanged
from ..array.arguments import require_positive
from ..farmhash import alike, fingerprint64
from .elements import text
from .hash_functions import hashes, murmur64, siphash


@op("StringToHashBucket", "string_tensor: string -> output: int64", shape=unchanged, gradient=None)
def StringToHashBucket(string_tensor, *, num_buckets):
    return _in_buckets(hashes(murmur64, string_tensor), num_buckets)


@op("StringToHashBucketFast", "input: string -> output: int64", shape=unchanged, gradient=None)
def StringToHashBucketFast(input, *, num_buckets):
    return _in_buckets(hashes(fingerprint64, input, alike), num_buckets)


@op("StringToHashBucketStrong", "input: string -> output: int64", shape=unchanged, gradient=None)
def StringToHashBucketStrong(input, *, num_buckets, key):
    if len(key) != 2:
        raise ValueError(f"Key must have 2 elements, got {len(key)}")
    return _in_buckets(hashes(lambda data: siphash(data, *key), input), num_buckets)


def _in_buckets(found, number):
    return (found % np.uint64(number)).astype(np.int64)


def _buckets(number, name):
    count = int(number)
    require_positive(name, "num_buckets", count)
    return count


def to_hash_bucket(input, num_buckets, name=None):
    """The bucket of each string; `to_hash_bucket_fast` is the better choice for new programs.

    >>> tf.strings.to_hash_bucket(["Hello", "TensorFlow"], 3).shape
    TensorShape([2])
    """
    count = _buckets(num_buckets, "StringToHashBucket")
    return execute(StringToHashBucket, (text(input),), {"num_buckets": count})


def to_hash_bucket_fast(input, num_buckets, name=None):
    """The bucket of each string: its FarmHash fingerprint modulo the number of buckets.

    >>> tf.strings.to_hash_bucket_fast(["Hello", "TensorFlow", "2.x"], 3).numpy()
    array([0, 2, 2])
    """
    count = _buckets(num_buckets, "StringToHashBucketFast")
    return execute(StringToHashBucketFast, (text(input),), {"num_buckets": count})


def to_hash_bucket_strong(input, num_buckets, key, name=None):
    """The bucket of each string by SipHash with a key of two integers, against forged collisions.

    >>> tf.strings.to_hash_bucket_strong(["Hello", "TF"], 3, [1, 2]).numpy()
    array([2, 0])
    """
    if not isinstance(key, list | tuple):
        raise TypeError(
            f"Expected list for 'key' argument to 'string_to_hash_bucket_strong' Op, not {key!r}."
        )
    count = _buckets(num_buckets, "StringToHashBucketStrong")
    numbers = [int(number) for number in key]
    if any(not -(2**63) <= number < 2**63 for number in numbers):
        raise OverflowError(f"The integers of key must fit into 64 bits, got {numbers}.")
    attrs = {"num_buckets": count, "key": numbers}
    return execute(StringToHashBucketStrong, (text(input),), attrs)
