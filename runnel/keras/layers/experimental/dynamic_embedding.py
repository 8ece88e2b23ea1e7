"""DynamicEmbedding: an embedding whose vocabulary is updated during training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import runnel as tf

from ...engine.base_layer import Layer
from ..core import Embedding
from .dynamic_lookup import DynamicLookup, with_tokens


class DynamicEmbedding(Layer):
    """Token embeddings with a vocabulary that `update_embeddings` fits to the tokens seen.

    Tokens that stay in the vocabulary keep their vectors; vectors of new tokens and the one for
    out-of-vocabulary tokens are reinitialized. `UpdateEmbeddingCallback` calls it at intervals
    during training.

    Args:
      input_dim: Number of tokens in the vocabulary.
      output_dim: Dimension of the embedding.
      initial_vocabulary: A tensor of tokens, or a dtype (string, int32, int64) for random ones.
      eviction_policy: "LFU": the least frequently used token is evicted first.
      input_length: Length of the inputs, if constant.
      embedding_initializer: Initializer of the vectors.
      num_oov_indices: Number of vectors for out-of-vocabulary tokens.
    """

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        initial_vocabulary: Any,
        eviction_policy: str = "LFU",
        input_length: int | None = None,
        embedding_initializer: Any = "uniform",
        num_oov_indices: int = 1,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.embedding_layer = Embedding(
            input_dim=input_dim + num_oov_indices,
            output_dim=output_dim,
            embeddings_initializer=embedding_initializer,
            input_length=input_length,
            **kwargs,
        )
        self.dynamic_lookup_layer = DynamicLookup(input_dim, initial_vocabulary, eviction_policy)
        self._input_dtype = self.dynamic_lookup_layer.vocabulary_dtype
        self.embedding_initializer = embedding_initializer
        self.num_oov_indices = num_oov_indices

    def build(self, input_shape: Any = None) -> None:
        self.embedding_layer.build(input_shape)
        self.dynamic_lookup_layer.build(input_shape)
        super().build(input_shape)

    def call(self, inputs: Any, learn_vocab: bool = True) -> Any:
        return self.embedding_layer(self.dynamic_lookup_layer(inputs, learn_vocab=learn_vocab))

    def compute_output_shape(self, input_shape: Any) -> Any:
        return self.embedding_layer.compute_output_shape(input_shape)

    def update_embeddings(self, strategy: Any) -> None:
        """Make the most frequent tokens the vocabulary; a no-op before the layer is built."""
        if not self.built:
            return
        lookup = self.dynamic_lookup_layer
        keys, counts = self.aggregate_lookup_table(
            [lookup.vocabulary_table_keys], [lookup.vocabulary_table_values]
        )
        old = tf.identity(lookup.vocabulary)
        new = self.get_top_vocabulary(keys, counts, lookup.vocabulary_size)
        lookup.vocabulary.assign(new)
        embeddings = self.embedding_layer.embeddings
        fresh = tf.keras.initializers.get(self.embedding_initializer)(
            embeddings.shape, dtype=embeddings.dtype
        )
        same = tf.equal(new[:, tf.newaxis], old)
        known = tf.gather(embeddings, tf.argmax(tf.cast(same, tf.int32), axis=-1))
        kept = tf.reduce_any(same, axis=-1, keepdims=True)
        count = lookup.vocabulary_size
        embeddings.assign(tf.concat([tf.where(kept, known, fresh[:count]), fresh[count:]], 0))

    def aggregate_lookup_table(self, keys_list: Any, values_list: Any) -> tuple[Any, Any]:
        """The union of several tables' tokens, with their counts summed."""
        keys, places = tf.unique(tf.concat(keys_list, 0))
        counts = tf.concat(values_list, 0)
        return keys, tf.math.unsorted_segment_sum(counts, places, tf.size(keys))

    def get_top_vocabulary(self, keys: Any, values: Any, k: int) -> Any:
        """The k tokens with the highest counts, in descending order."""
        found = tf.math.top_k(values, k=tf.minimum(k, tf.size(values)))
        return tf.gather(keys, found.indices)

    def get_vocabulary(self) -> Any:
        """The current vocabulary."""
        return self.dynamic_lookup_layer.get_vocabulary()

    def get_config(self) -> dict[str, Any]:
        lookup = self.dynamic_lookup_layer
        return super().get_config() | {
            "input_dim": self.embedding_layer.input_dim,
            "output_dim": self.embedding_layer.output_dim,
            "input_length": self.embedding_layer.input_length,
            "eviction_policy": lookup.eviction_policy,
            "initial_vocabulary": lookup.initial_vocabulary.numpy().tolist(),
            "embedding_initializer": self.embedding_initializer,
            "num_oov_indices": self.num_oov_indices,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> DynamicEmbedding:
        # The input_dim of the config includes the out-of-vocabulary vectors.
        tokens = config["input_dim"] - config["num_oov_indices"]
        return cls(**with_tokens(config) | {"input_dim": tokens})

    def save_assets(self, dir_path: Any) -> None:
        """Write the initial vocabulary into a folder, one token per line."""
        tokens = self.dynamic_lookup_layer.initial_vocabulary.numpy().tolist()
        path = Path(dir_path) / "initial_vocabulary.txt"
        path.write_text("\n".join(str(token) for token in tokens), encoding="utf-8")
