"""From configured features to the keys of a parsing op, and from its outputs to their tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from ...core.convert import convert_to_tensor, tensor_of
from ...core.dtypes import as_dtype, float32, int64, string
from ...core.shapes import TensorShape
from ..array import joining, shaping
from ..array.arguments import require_type
from ..ragged.ragged_tensor import RaggedTensor
from ..sparse.conversion import reorder
from ..sparse.sparse_tensor import SparseTensor
from .features import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
)
from .partitions import partitioned

TYPES = (float32, int64, string)
_ZERO = {float32: np.float32(0), int64: np.int64(0), string: np.array(b"", object)}


def nothing(dtype):
    """An empty vector: the default of a feature that is required."""
    return tensor_of(np.zeros(0, dtype.numpy), dtype)


class RawKeys:
    """The keys that a parsing op reads: sparse, dense (shape, default) and ragged ones."""

    def __init__(self, op_name, features, allowed, in_lists=False):
        self.op_name = op_name
        # In feature lists a dense key has, instead of a default, whether it may be missing.
        self.in_lists = in_lists
        self.features = features or {}
        self.sparse = {}
        self.dense = {}
        self.ragged = {}
        for key in sorted(self.features):
            feature = self.features[key]
            if not isinstance(feature, allowed):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature} for key {key!r}")
            self._adders[type(feature)](self, key, feature)
        self._require_disjoint()

    def _add_sparse(self, key, dtype):
        known = self.sparse.setdefault(key, dtype)
        if known is not dtype:
            raise ValueError(f"Conflicting type {known!r} vs {dtype!r} for feature {key}.")

    def _add_ragged(self, key, dtype, split_dtype):
        known, known_splits = self.ragged.setdefault(key, (dtype, split_dtype))
        if known is not dtype:
            raise ValueError(f"Conflicting type {known!r} vs {dtype!r} for feature {key}.")
        if known_splits is not split_dtype:
            raise ValueError(
                f"Conflicting partition type {known_splits!r} vs {split_dtype!r} for feature {key}."
            )

    def _add_var_len(self, key, feature):
        self._add_sparse(key, _dtype(key, feature))

    def _add_sparse_feature(self, key, feature):
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        dtype = _dtype(key, feature)
        for each in sorted(_index_keys(feature)):
            self._add_sparse(each, int64)
        self._add_sparse(feature.value_key, dtype)

    def _add_fixed_len(self, key, feature):
        dtype = _dtype(key, feature)
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}. Received {feature=}.")
        shape = TensorShape(feature.shape)
        if shape.rank and shape[0] is None:
            raise ValueError(
                f"First dimension of shape for feature {key} unknown. Consider using "
                f"FixedLenSequenceFeature. Received {feature=}."
            )
        if not shape.is_fully_defined():
            raise ValueError(
                f"All dimensions of shape for feature {key} need to be known but received "
                f"{feature.shape}."
            )
        self.dense[key] = dtype, shape, feature.default_value

    def _add_sequence(self, key, feature):
        dtype = _dtype(key, feature)
        if feature.shape is None:
            raise TypeError(f"Missing shape for feature {key}. Received {feature=}.")
        if self.in_lists:
            if feature.default_value is not None:
                raise ValueError(
                    f"A feature list takes no default_value: that of feature {key} must be None, "
                    f"but it is {feature.default_value!r}."
                )
            self.dense[key] = dtype, TensorShape(feature.shape), feature.allow_missing
            return
        if not feature.allow_missing:
            raise ValueError(
                "Unsupported: FixedLenSequenceFeature requires allow_missing to be True, but "
                f"feature {key} is {feature}."
            )
        shape = TensorShape([None]).concatenate(feature.shape)
        self.dense[key] = dtype, shape, feature.default_value

    def _add_ragged_feature(self, key, feature):
        self._add_ragged(_value_key(key, feature), feature.dtype, feature.row_splits_dtype)
        for partition in feature.partitions:
            if not isinstance(partition, UniformRowLength):
                self._add_ragged(partition.key, int64, feature.row_splits_dtype)

    _adders: ClassVar[dict[type, Callable[..., None]]] = {
        VarLenFeature: _add_var_len,
        SparseFeature: _add_sparse_feature,
        FixedLenFeature: _add_fixed_len,
        FixedLenSequenceFeature: _add_sequence,
        RaggedFeature: _add_ragged_feature,
    }

    def _require_disjoint(self):
        named = {"Dense": self.dense, "Sparse": self.sparse, "Ragged": self.ragged}
        for first, second in (("Dense", "Sparse"), ("Dense", "Ragged"), ("Ragged", "Sparse")):
            both = named[first].keys() & named[second].keys()
            if both:
                raise ValueError(
                    f"{first} and {second.lower()} keys must not intersect; "
                    f"{first.lower()}_keys: {list(named[first])}, {second.lower()}_keys: "
                    f"{list(named[second])}, intersection: {both}"
                )

    def dense_defaults(self):
        """A tensor for each dense key: the default of a missing feature; empty: required."""
        defaults = []
        for dtype, shape, value in self.dense.values():
            require_type(self.op_name, "Tdense", dtype, TYPES)
            sequence = bool(shape.rank) and shape[0] is None
            if value is None:
                defaults.append(tensor_of(_ZERO[dtype], dtype) if sequence else nothing(dtype))
                continue
            value = convert_to_tensor(value, dtype)
            wanted = TensorShape([]) if sequence else shape
            # Only where needed: the op accepts a default of the right shape as it is.
            fits = value.shape.as_list() == wanted.as_list() if value.shape.rank is not None else 0
            defaults.append(value if fits else shaping.reshape(value, wanted.as_list()))
        return defaults

    def sparse_types(self):
        """The dtypes of the sparse keys."""
        for dtype in self.sparse.values():
            require_type(self.op_name, "sparse_types", dtype, TYPES)
        return list(self.sparse.values())


def key_tensor(keys):
    """The keys as a vector of strings."""
    if not keys:
        return nothing(string)
    array = np.empty(len(keys), object)
    for index, key in enumerate(keys):
        if not isinstance(key, str | bytes):
            raise TypeError(f"The key of a feature must be a string, not {key!r}")
        array[index] = key.encode() if isinstance(key, str) else key
    return tensor_of(array, string)


def _dtype(key, feature):
    if not feature.dtype:
        raise ValueError(f"Missing type for feature {key}. Received {feature=}.")
    return as_dtype(feature.dtype)


def _index_keys(feature):
    keys = feature.index_key
    return [keys] if isinstance(keys, str | bytes) else list(keys)


def _value_key(key, feature):
    return key if feature.value_key is None else feature.value_key


def assembled(keys, raw):
    """The tensors of the features, assembled from the op's outputs for its keys.

    `raw` holds for a sparse key a SparseTensor, for a dense key a tensor, and for a ragged key its
    values followed by row splits, outermost first.
    """
    result = {key: None if key in keys.ragged else raw[key] for key in raw}
    for key in sorted(keys.features):
        feature = keys.features[key]
        if isinstance(feature, SparseFeature):
            result[key] = _merged(feature, raw)
        elif isinstance(feature, RaggedFeature):
            result[key] = _ragged(_value_key(key, feature), feature, raw)
    return {key: value for key, value in result.items() if key in keys.features}


def _merged(feature, raw):
    """The SparseTensor whose indices are in other features."""
    several = isinstance(feature.index_key, list | tuple)
    sizes = list(feature.size) if several and isinstance(feature.size, list | tuple) else None
    if several and sizes is None:
        raise TypeError(f"size has to be a list of Python ints. Found {type(feature.size)}")
    if not several and isinstance(feature.size, list | tuple):
        raise TypeError(f"size has to be a Python int. Found {type(feature.size)}")
    columns = [raw[key] for key in _index_keys(feature)]
    values = raw[feature.value_key]
    rows = columns[0].indices[:, :-1]
    indices = joining.concat([rows, *[shaping.expand_dims(each.values, 1) for each in columns]], 1)
    sizes = convert_to_tensor(sizes if several else [feature.size], int64)
    shape = joining.concat([columns[0].dense_shape[:-1], sizes], 0)
    merged = SparseTensor(indices, values.values, shape)
    return merged if feature.already_sorted else reorder(merged)


def _ragged(value_key, feature, raw):
    """The RaggedTensor (or Tensor) of a feature's values and its partitions."""
    values, *outer = raw[value_key]
    if feature.partitions:
        values, inner = partitioned(values, outer[-1] if outer else None, feature, raw)
        outer = [*outer[:-1], inner] if outer else []
    for row_splits in reversed(outer):
        values = RaggedTensor.from_row_splits(values, row_splits, validate=feature.validate)
    return values
