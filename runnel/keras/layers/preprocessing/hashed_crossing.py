"""HashedCrossing: feature crosses hashed into bins."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...engine.base_layer import Layer
from .base import as_tensor, is_composite
from .encoding import check_output_mode, default_dtype, encode

# The constants of FarmHash's fingerprint concatenation, and the initial fingerprint.
_FACTOR = 0xC6A4A7935BD1E995
_START = 0xDECAFCAFFE


class HashedCrossing(Layer):
    """The hash bin of each combination of categories, one from every input.

    >>> layer = tf.keras.layers.HashedCrossing(num_bins=5)
    >>> layer((["A", "B", "A"], [101, 101, 102])).numpy().tolist()
    [1, 4, 3]
    """

    def __init__(self, num_bins, output_mode="int", sparse=False, **kwargs):
        default_dtype(kwargs, output_mode)
        super().__init__(**kwargs)
        if output_mode == "int" and not self._compute_dtype_object.is_integer:
            raise ValueError(
                "When `output_mode='int'`, `dtype` should be an integer type. Received: "
                f"dtype={kwargs['dtype']}"
            )
        check_output_mode("HashedCrossing", output_mode, ("int", "one_hot"))
        self.num_bins = num_bins
        self.output_mode = output_mode
        self.sparse = sparse

    def call(self, inputs):
        """The bins of the crosses, or vectors of them."""
        if not isinstance(inputs, list | tuple):
            raise ValueError(
                "`HashedCrossing` should be called on a list or tuple of inputs. Received: "
                f"inputs={inputs}"
            )
        if len(inputs) < 2:
            raise ValueError(
                f"`HashedCrossing` should be called on at least two inputs. Received: {inputs=}"
            )
        tensors = [as_tensor(each) for each in inputs]
        _check(tensors)
        crossed = tf.constant(_START, tf.uint64)
        for tensor in tensors:
            crossed = _joined(crossed, _fingerprints(tensor))
        modulus = self.num_bins if self.num_bins > 0 else tf.int64.max
        bins = tf.cast(crossed % tf.constant(modulus, tf.uint64), tf.int64)
        dtype = self._compute_dtype_object
        return encode(bins, self.output_mode, self.num_bins, dtype, self.sparse)

    def compute_output_shape(self, input_shapes):
        """The shape of the bins or vectors."""
        first = tf.TensorShape(input_shapes[0]).as_list()
        if self.output_mode == "int":
            return tf.TensorShape(first)
        return tf.TensorShape([*(first[:-1] if first[-1:] == [1] else first), self.num_bins])

    def compute_output_signature(self, input_specs):
        """The signature of the bins or vectors."""
        shape = self.compute_output_shape([each.shape for each in input_specs])
        kind = tf.SparseTensorSpec if self.sparse else tf.TensorSpec
        return kind(shape=shape, dtype=self.compute_dtype)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "num_bins": self.num_bins,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
        }


def _check(tensors: list[Any]) -> None:
    first = tensors[0].shape
    if any(each.shape.as_list() != first.as_list() for each in tensors[1:]):
        raise ValueError(
            f"All `HashedCrossing` inputs should have equal shape. Received: inputs={tensors}"
        )
    wide = first.rank not in (0, 1, 2) or (first.rank == 2 and first[-1] != 1)
    if wide or any(is_composite(each) for each in tensors):
        raise ValueError(
            "All `HashedCrossing` inputs should have shape `[]`, `[batch_size]` or `[batch_size, "
            f"1]`. Received: inputs={tensors}"
        )
    if not all(each.dtype.is_integer or each.dtype is tf.string for each in tensors):
        raise ValueError(
            "All `HashedCrossing` inputs should have an integer or string dtype. Received: "
            f"inputs={tensors}"
        )


def _fingerprints(tensor: Any) -> Any:
    """A 64-bit fingerprint for each entry: the hash of a string; integers unchanged."""
    if tensor.dtype is not tf.string:
        return tf.bitcast(tf.cast(tensor, tf.int64), tf.uint64)
    flat = tf.bitcast(tf.fingerprint(tf.reshape(tensor, [-1])), tf.uint64)
    prints = tf.reshape(flat, tf.shape(tensor))
    prints.set_shape(tensor.shape)
    return prints


def _joined(left: Any, right: Any) -> Any:
    """Two fingerprints combined; multiplication wraps around as intended."""
    factor = tf.constant(_FACTOR, tf.uint64)
    mixed = tf.bitwise.bitwise_xor(left, factor)
    mixed = tf.bitwise.bitwise_xor(mixed, _shifted(right * factor) * factor)
    return _shifted(_shifted(mixed * factor) * factor)


def _shifted(value: Any) -> Any:
    return tf.bitwise.bitwise_xor(value, tf.bitwise.right_shift(value, tf.constant(47, tf.uint64)))
