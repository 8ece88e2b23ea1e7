"""DynamicLookup: a vocabulary learnt from the inputs during training."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import numpy as np

import runnel as tf

from ...engine.base_layer import Layer
from ...serialization import deserialize_keras_object

_DTYPES = (tf.string, tf.int32, tf.int64)
# The key of free slots of the table; their count of -1 distinguishes them from tokens.
_FREE_STRING = "unk"
_FREE = -1
# The table of counts has a few more slots than the vocabulary.
_SPARE = 1.2


class DynamicLookup(Layer):
    """Looks tokens up in a vocabulary, and counts candidates for the next one.

    Out-of-vocabulary tokens have the index `vocabulary_size`. Every call with `learn_vocab` counts
    each of its tokens once; when the table of counts is full, a new token evicts the least frequent
    one. The vocabulary itself does not change.

    Args:
      vocabulary_size: Number of tokens.
      initial_vocabulary: A tensor of tokens, or a dtype (string, int32, int64) for random ones.
      eviction_policy: "LFU": the least frequently used token is evicted first.

    >>> layer = tf.keras.layers.experimental.DynamicLookup(3, tf.constant(["a", "b", "c"]))
    >>> layer(tf.constant(["b", "x"])).numpy()
    array([1, 3])
    >>> layer.get_top_vocabulary(2).numpy()
    array([b'b', b'x'], dtype=object)
    """

    def __init__(
        self,
        vocabulary_size: int,
        initial_vocabulary: Any,
        eviction_policy: str = "LFU",
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if eviction_policy != "LFU":
            raise ValueError(
                f"{eviction_policy} eviction policy is currently unsupported by DynamicLookup "
                "layer. It currently only supports `LFU`"
            )
        self.vocabulary_size = vocabulary_size
        self.eviction_policy = eviction_policy
        if isinstance(initial_vocabulary, tf.DType) and initial_vocabulary in _DTYPES:
            initial_vocabulary = _random_tokens(vocabulary_size, initial_vocabulary)
        elif not isinstance(initial_vocabulary, tf.Tensor | tf.Variable):
            raise ValueError(
                "Either specify the initial vocabulary or provide a valid dtype. The dtype "
                "argument must be one of the following: tf.string, tf.int32, tf.int64. "
                f"Received: {initial_vocabulary!r}"
            )
        self.initial_vocabulary = initial_vocabulary
        self.vocabulary_dtype = self._input_dtype = initial_vocabulary.dtype
        self.internal_table_size = tf.cast(
            tf.floor(tf.cast(vocabulary_size, tf.float32) * _SPARE), tf.int32
        )
        held = initial_vocabulary[: self.internal_table_size]
        keys, counts = self._filled_up(held, tf.zeros(tf.shape(held), tf.int32))
        self.vocabulary_table_keys = tf.Variable(
            keys, trainable=False, name="vocabulary_table_keys"
        )
        self.vocabulary_table_values = tf.Variable(
            counts, trainable=False, name="vocabulary_table_values"
        )

    def build(self, input_shape: Any = None) -> None:
        self.vocabulary = self.add_weight(
            name="vocabulary",
            shape=self.initial_vocabulary.shape,
            dtype=self.vocabulary_dtype,
            initializer=tf.keras.initializers.Constant(self.initial_vocabulary.numpy())
            if self.vocabulary_dtype != tf.string
            else lambda *shape, **options: self.initial_vocabulary,
            trainable=False,
        )
        super().build(input_shape)

    def call(self, inputs: Any, learn_vocab: bool = True) -> Any:
        if isinstance(inputs, tf.RaggedTensor):
            return tf.ragged.map_flat_values(self.call, inputs, learn_vocab=learn_vocab)
        inputs = tf.convert_to_tensor(inputs)
        if learn_vocab:
            tokens = tf.cast(tf.reshape(inputs, [-1]), self.vocabulary_dtype)
            self.update_internal_vocabulary(tf.unique(tokens).y)
        same = tf.equal(self.vocabulary, tf.expand_dims(inputs, -1))
        places = tf.argmax(tf.cast(same, tf.int32), axis=-1)
        return tf.where(
            tf.reduce_any(same, axis=-1), places, tf.constant(self.vocabulary_size, tf.int64)
        )

    def update_internal_vocabulary(self, unique: Any) -> None:
        """Count unique tokens in the table."""
        occupied = tf.not_equal(self.vocabulary_table_values, _FREE)
        keys = tf.boolean_mask(self.vocabulary_table_keys, occupied)
        counts = tf.boolean_mask(self.vocabulary_table_values, occupied)
        fresh = _sorted(tf.boolean_mask(unique, tf.logical_not(_within(unique, keys))))
        lacking = tf.size(keys) + tf.size(fresh) - self.internal_table_size
        leaving = tf.gather(keys, tf.math.top_k(-counts, k=tf.maximum(lacking, 0)).indices)
        staying = tf.logical_not(_within(keys, leaving))
        keys, counts = tf.boolean_mask(keys, staying), tf.boolean_mask(counts, staying)
        counts += tf.cast(_within(keys, unique), tf.int32)
        keys, counts = self._filled_up(
            tf.concat([keys, fresh], 0), tf.concat([counts, tf.ones(tf.shape(fresh), tf.int32)], 0)
        )
        self.vocabulary_table_keys.assign(keys)
        self.vocabulary_table_values.assign(counts)

    def _filled_up(self, keys: Any, counts: Any) -> tuple[Any, Any]:
        """A table padded to its full size from the existing keys and counts."""
        free = [[0, self.internal_table_size - tf.size(keys)]]
        nothing = tf.constant(
            _FREE_STRING if self.vocabulary_dtype == tf.string else _FREE, self.vocabulary_dtype
        )
        keys = tf.pad(keys, free, constant_values=nothing)
        counts = tf.pad(counts, free, constant_values=_FREE)
        size = [tf.get_static_value(self.internal_table_size)]
        return tf.ensure_shape(keys, size), tf.ensure_shape(counts, size)

    def compute_output_shape(self, input_shape: Any) -> Any:
        return tf.TensorShape(input_shape)

    def get_top_vocabulary(self, k: int) -> Any:
        """The k most frequent tokens, in descending order."""
        k = min(k, self.vocabulary_table_values.shape.num_elements() or 0)
        return tf.gather(
            self.vocabulary_table_keys, tf.math.top_k(self.vocabulary_table_values, k=k).indices
        )

    def get_vocabulary(self) -> Any:
        """The vocabulary that tokens are looked up in."""
        return self.vocabulary

    def get_config(self) -> dict[str, Any]:
        return super().get_config() | {
            "vocabulary_size": self.vocabulary_size,
            "initial_vocabulary": self.initial_vocabulary.numpy().tolist(),
            "eviction_policy": self.eviction_policy,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> DynamicLookup:
        return cls(**with_tokens(config))

    def save_assets(self, dir_path: Any) -> None:
        """Write the vocabulary into a folder, one token per line."""
        tokens = self.vocabulary.numpy().tolist()
        path = Path(dir_path) / "vocabulary.txt"
        path.write_text("\n".join(str(token) for token in tokens), encoding="utf-8")


def with_tokens(config: dict[str, Any]) -> dict[str, Any]:
    """A layer's config with its list of tokens converted to a tensor."""
    # A saved config represents bytes as objects.
    tokens = [
        deserialize_keras_object(token) if isinstance(token, dict) else token
        for token in config["initial_vocabulary"]
    ]
    return config | {"initial_vocabulary": tf.constant(tokens)}


def _within(tokens: Any, others: Any) -> Any:
    return tf.reduce_any(tf.equal(tokens[:, tf.newaxis], others), axis=-1)


def _sorted(tokens: Any) -> Any:
    if tokens.dtype != tf.string:
        return tf.sort(tokens)
    ordered = tf.numpy_function(np.sort, [tokens], tf.string, stateful=False)
    return tf.ensure_shape(ordered, [None])


def _random_tokens(count: int, dtype: tf.DType) -> Any:
    if dtype != tf.string:
        return tf.random.uniform([count], maxval=count, dtype=dtype)
    letters = tf.constant(list(string.ascii_letters))
    drawn = tf.random.uniform([count, 10], maxval=len(string.ascii_letters), dtype=tf.int32)
    return tf.strings.reduce_join(tf.gather(letters, drawn), axis=-1)
