"""Transfer of embeddings to another vocabulary."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import runnel as tf


def warmstart_embedding_matrix(
    base_vocabulary: Any,
    new_vocabulary: Any,
    base_embeddings: Any,
    new_embeddings_initializer: Any = "uniform",
) -> tf.Tensor:
    """An embedding matrix for a new vocabulary: old rows for known terms, initialized ones for
    others.

    Args:
      base_vocabulary: The ordered terms of the old matrix, or the path of a file with one per line.
      new_vocabulary: The terms of the new matrix, likewise.
      base_embeddings: The old matrix.
      new_embeddings_initializer: The initializer of the rows for new terms.

    >>> tf.keras.utils.warmstart_embedding_matrix(
    ...     ["a", "b"], ["b", "c"], [[1.0], [2.0]], "zeros").numpy()
    array([[2.],
           [0.]], dtype=float32)
    """
    initializer = tf.keras.initializers.get(new_embeddings_initializer or "uniform")
    old_terms, new_terms = _terms(base_vocabulary), _terms(new_vocabulary)
    old = np.asarray(base_embeddings)
    rows = {term: row for row, term in enumerate(old_terms)}
    new = np.array(initializer((len(new_terms), old.shape[1]), dtype=tf.float32))
    for row, term in enumerate(new_terms):
        if term in rows:
            new[row] = old[rows[term]]
    return tf.constant(new)


def _terms(vocabulary: Any) -> list[str]:
    if isinstance(vocabulary, str):
        return Path(vocabulary).read_text(encoding="utf-8").splitlines()
    terms = np.asarray(vocabulary).tolist()
    return [each.decode() if isinstance(each, bytes) else each for each in terms]
