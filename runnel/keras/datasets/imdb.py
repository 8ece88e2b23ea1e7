"""tf.keras.datasets.imdb: 50,000 film reviews, positive or negative."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import word_numbers
from .origins import fetch


def load_data(
    path: str = "imdb.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    cache_dir: Any = None,
    **kwargs: Any,
) -> tuple:
    """Reviews as lists of word indices: `(x_train, y_train), (x_test, y_test)`, labels 0 and 1.

    Args:
      path: Name of the file in the cache.
      num_words: Words of this rank and above become `oov_char`.
      skip_top: The most frequent words that become `oov_char`.
      maxlen: Drop reviews that are not shorter than this.
      seed: Seed of the shuffle.
      start_char: The index that starts each review.
      oov_char: The index of out-of-vocabulary words; None drops them.
      index_from: Index of the most frequent word, minus one.
      cache_dir: The cache; by default `~/.keras`.
    """
    num_words = word_numbers.take_old_arguments(kwargs, num_words)
    with np.load(fetch("imdb.npz", path, cache_dir=cache_dir), allow_pickle=True) as file:
        parts = [(file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])]
    chance = np.random.RandomState(seed)
    mixed = []
    for texts, part_labels in parts:
        order = np.arange(len(texts))
        chance.shuffle(order)
        mixed.append((texts[order], part_labels[order]))
    texts = []
    labels: Any = []
    sizes = []
    for part, part_labels in mixed:
        shifted = word_numbers.with_special_numbers(part, start_char, index_from)
        if maxlen:
            shifted, part_labels = word_numbers.without_long_texts(maxlen, shifted, part_labels)
            if not shifted:
                raise ValueError(
                    "After filtering for sequences shorter than maxlen="
                    f"{maxlen}, no sequence was kept. Increase maxlen."
                )
        texts += shifted
        labels += list(part_labels)
        sizes.append(len(shifted))
    texts = word_numbers.within_vocabulary(texts, num_words, skip_top, oov_char)
    objects, labels = word_numbers.as_objects(texts), np.array(labels)
    split = sizes[0]
    return (objects[:split], labels[:split]), (objects[split:], labels[split:])


def get_word_index(path: str = "imdb_word_index.json") -> dict[str, int]:
    """The rank of each word, from 1 on; `load_data` adds `index_from` to it."""
    with open(fetch("imdb_word_index.json", path), encoding="utf-8") as file:
        return json.load(file)
