"""What the text datasets, which are lists of word indices, have in common."""

from __future__ import annotations

from typing import Any

import numpy as np

import runnel as tf


def take_old_arguments(kwargs: dict[str, Any], num_words: int | None) -> int | None:
    """`num_words`, or its older name `nb_words`; rejects all other arguments."""
    if "nb_words" in kwargs:
        tf.get_logger().warning(
            "The `nb_words` argument in `load_data` has been renamed `num_words`."
        )
        num_words = kwargs.pop("nb_words")
    if kwargs:
        raise TypeError(f"Unrecognized keyword arguments: {kwargs!s}.")
    return num_words


def with_special_numbers(texts: Any, start_char: int | None, index_from: int | None) -> list:
    """The texts with indices shifted by `index_from`, each prefixed with `start_char`."""
    if start_char is not None:
        return [[start_char] + [word + (index_from or 0) for word in text] for text in texts]
    if index_from:
        return [[word + index_from for word in text] for text in texts]
    return [list(text) for text in texts]


def without_long_texts(maxlen: int, texts: list, labels: Any) -> tuple[list, list]:
    """The texts shorter than `maxlen`, with their labels."""
    kept = [pair for pair in zip(texts, labels, strict=True) if len(pair[0]) < maxlen]
    return [text for text, _ in kept], [label for _, label in kept]


def within_vocabulary(
    texts: list, num_words: int | None, skip_top: int, oov_char: int | None
) -> list:
    """The texts with words `skip_top` to `num_words`; others become `oov_char` or are dropped."""
    if not num_words:
        num_words = max(max(text) for text in texts)
    if oov_char is not None:
        return [
            [word if skip_top <= word < num_words else oov_char for word in text] for text in texts
        ]
    return [[word for word in text if skip_top <= word < num_words] for text in texts]


def as_objects(texts: list) -> np.ndarray:
    """An object array of the lists."""
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array
