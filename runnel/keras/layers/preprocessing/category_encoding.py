"""CategoryEncoding: category indices as vectors."""

from __future__ import annotations

import runnel as tf

from ...engine.base_layer import Layer
from .base import as_tensor, is_composite, is_ragged
from .encoding import check_output_mode, encode


class CategoryEncoding(Layer):
    """A vector of length `num_tokens` for each row of categories: one-hot, multi-hot or counts.

    >>> layer = tf.keras.layers.CategoryEncoding(4, output_mode="count")
    >>> layer([[0, 1], [3, 3]]).numpy().tolist()
    [[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    """

    def __init__(self, num_tokens=None, output_mode="multi_hot", sparse=False, **kwargs):
        # Older Keras names of the argument and the mode.
        if "max_tokens" in kwargs:
            num_tokens = kwargs.pop("max_tokens")
        if output_mode == "binary":
            output_mode = "multi_hot"
        super().__init__(**kwargs)
        check_output_mode("CategoryEncoding", output_mode, ("count", "one_hot", "multi_hot"))
        if num_tokens is None:
            raise ValueError(
                "num_tokens must be set to use this layer. If the number of tokens is not known "
                "beforehand, use the IntegerLookup layer instead."
            )
        if num_tokens < 1:
            raise ValueError(f"`num_tokens` must be >= 1. Received: num_tokens={num_tokens}.")
        self.num_tokens = num_tokens
        self.output_mode = output_mode
        self.sparse = sparse

    def call(self, inputs, count_weights=None):
        """Encode the inputs; `count_weights` are the weights of each input's count."""
        inputs = as_tensor(inputs)
        if count_weights is not None:
            if self.output_mode != "count":
                raise ValueError(
                    "`count_weights` is not used when `output_mode` is not `'count'`. Received "
                    f"`count_weights={count_weights}`."
                )
            count_weights = as_tensor(count_weights, self._compute_dtype_object)
        values = inputs
        if is_composite(inputs):
            values = inputs.flat_values if is_ragged(inputs) else inputs.values
        if values.dtype is tf.string:
            raise tf.errors.InvalidArgumentError(
                None,
                None,
                f"Layer {self.name} takes numbers of categories, not texts: StringLookup gives "
                f"texts numbers. Received: {inputs}",
            )
        inside = tf.logical_and(
            tf.cast(self.num_tokens, values.dtype) > tf.reduce_max(values),
            tf.cast(0, values.dtype) <= tf.reduce_min(values),
        )
        tf.debugging.Assert(
            inside,
            [
                "Input values must be in the range 0 <= values < num_tokens with "
                f"num_tokens={self.num_tokens}"
            ],
        )
        if not values.dtype.is_integer or values.dtype not in (tf.int32, tf.int64):
            inputs = tf.cast(inputs, tf.int64)
        return encode(
            inputs,
            self.output_mode,
            self.num_tokens,
            self._compute_dtype_object,
            self.sparse,
            count_weights,
        )

    def compute_output_shape(self, input_shape):
        """The shape of the vectors."""
        sizes = tf.TensorShape(input_shape).as_list()
        if sizes and (self.output_mode != "one_hot" or sizes[-1] == 1):
            sizes.pop()
        return tf.TensorShape([*sizes, self.num_tokens])

    def compute_output_signature(self, input_spec):
        """The signature of the vectors."""
        shape = self.compute_output_shape(input_spec.shape.as_list())
        kind = tf.SparseTensorSpec if self.sparse else tf.TensorSpec
        return kind(shape=shape, dtype=tf.int64)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "num_tokens": self.num_tokens,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
        }
