"""Hashing: categories hashed into bins."""

from __future__ import annotations

from typing import Any

import runnel as tf

from .base import TakesText, as_tensor, is_composite, is_ragged
from .encoding import check_output_mode, check_sparse, default_dtype, encode

_MODES = ("int", "one_hot", "multi_hot", "count")


class Hashing(TakesText):
    """The hash bin of each string or integer: FarmHash, or SipHash with a salt.

    >>> layer = tf.keras.layers.Hashing(num_bins=3)
    >>> layer([["A"], ["B"], ["C"]]).numpy().tolist()
    [[1], [0], [1]]
    """

    def __init__(
        self, num_bins, mask_value=None, salt=None, output_mode="int", sparse=False, **kwargs
    ):
        if num_bins is None or num_bins <= 0:
            raise ValueError(
                "The `num_bins` for `Hashing` cannot be `None` or non-positive values. Received: "
                f"num_bins={num_bins}."
            )
        default_dtype(kwargs, output_mode)
        super().__init__(**kwargs)
        check_output_mode("Hashing", output_mode, _MODES)
        check_sparse(sparse, output_mode, '`"one_hot"`, `"multi_hot"`, or `"count"`')
        self.num_bins = num_bins
        self.mask_value = mask_value
        self.strong_hash = salt is not None
        self.output_mode = output_mode
        self.sparse = sparse
        self.salt = _pair(salt)

    def call(self, inputs):
        """The bins of the inputs, or vectors of them."""
        inputs = as_tensor(inputs)
        if is_ragged(inputs):
            bins = inputs.with_flat_values(self._bins(inputs.flat_values))
        elif is_composite(inputs):
            bins = tf.SparseTensor(inputs.indices, self._bins(inputs.values), inputs.dense_shape)
        else:
            bins = self._bins(inputs)
        dtype = self._compute_dtype_object
        if self.output_mode == "int" and not dtype.is_integer:
            dtype = tf.int64
        return encode(bins, self.output_mode, self.num_bins, dtype, self.sparse)

    def _bins(self, values: Any) -> Any:
        bins = self.num_bins
        # Bin 0 is then reserved for the mask value.
        reserved = self.mask_value is not None and bins > 1
        count = bins - 1 if reserved else bins
        texts = tf.strings.as_string(values) if values.dtype.is_integer else values
        if self.strong_hash:
            hashed = tf.strings.to_hash_bucket_strong(texts, count, key=self.salt)
        else:
            hashed = tf.strings.to_hash_bucket_fast(texts, count)
        if not reserved:
            return hashed
        masked = tf.equal(values, tf.cast(tf.constant(self.mask_value), values.dtype))
        return tf.where(masked, tf.zeros_like(hashed), hashed + 1)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def compute_output_signature(self, input_spec):
        """The signature of the bins."""
        shape = self.compute_output_shape(input_spec.shape)
        dtype = tf.int64 if self.output_mode == "int" else tf.keras.backend.floatx()
        kind = tf.SparseTensorSpec if hasattr(input_spec, "_dense_shape") else tf.TensorSpec
        return kind(shape=shape, dtype=dtype)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "num_bins": self.num_bins,
            "salt": self.salt,
            "mask_value": self.mask_value,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
        }


def _pair(salt: Any) -> Any:
    if salt is None:
        return None
    if isinstance(salt, tuple | list) and len(salt) == 2:
        return salt
    if isinstance(salt, int):
        return [salt, salt]
    raise ValueError(
        "The `salt` argument for `Hashing` can only be a tuple of size 2 integers, or a single "
        f"integer. Received: salt={salt}."
    )
