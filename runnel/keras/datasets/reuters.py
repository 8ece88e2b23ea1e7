"""tf.keras.datasets.reuters: 11,228 newswires in 46 topics."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from . import word_numbers
from .origins import fetch

# fmt: off
_LABEL_NAMES = (
    "cocoa", "grain", "veg-oil", "earn", "acq", "wheat", "copper", "housing", "money-supply",
    "coffee", "sugar", "trade", "reserves", "ship", "cotton", "carcass", "crude", "nat-gas", "cpi",
    "money-fx", "interest", "gnp", "meal-feed", "alum", "oilseed", "gold", "tin", "strategic-metal",
    "livestock", "retail", "ipi", "iron-steel", "rubber", "heat", "jobs", "lei", "bop", "zinc",
    "orange", "pet-chem", "dlr", "gas", "silver", "wpi", "hog", "lead",
)
# fmt: on


def load_data(
    path: str = "reuters.npz",
    num_words: int | None = None,
    skip_top: int = 0,
    maxlen: int | None = None,
    test_split: float = 0.2,
    seed: int = 113,
    start_char: int | None = 1,
    oov_char: int | None = 2,
    index_from: int | None = 3,
    cache_dir: Any = None,
    **kwargs: Any,
) -> tuple:
    """Newswires as lists of word indices: `(x_train, y_train), (x_test, y_test)`, labels 0 to 45.

    Args:
      path: Name of the file in the cache.
      num_words: Words of this rank and above become `oov_char`.
      skip_top: The most frequent words that become `oov_char`.
      maxlen: Drop newswires that are not shorter than this.
      test_split: The fraction of test data.
      seed: Seed of the shuffle.
      start_char: The index that starts each text.
      oov_char: The index of out-of-vocabulary words; None drops them.
      index_from: Index of the most frequent word, minus one.
      cache_dir: The cache; by default `~/.keras`.
    """
    num_words = word_numbers.take_old_arguments(kwargs, num_words)
    with np.load(fetch("reuters.npz", path, cache_dir=cache_dir), allow_pickle=True) as file:
        raw, labels = file["x"], file["y"]
    order = np.arange(len(raw))
    np.random.RandomState(seed).shuffle(order)
    labels = labels[order]
    texts = word_numbers.with_special_numbers(raw[order], start_char, index_from)
    if maxlen:
        texts, labels = word_numbers.without_long_texts(maxlen, texts, labels)
    texts = word_numbers.within_vocabulary(texts, num_words, skip_top, oov_char)
    objects, labels = word_numbers.as_objects(texts), np.array(labels)
    split = int(len(objects) * (1 - test_split))
    return (objects[:split], labels[:split]), (objects[split:], labels[split:])


def get_word_index(path: str = "reuters_word_index.json") -> dict[str, int]:
    """The rank of each word, from 1 on; `load_data` adds `index_from` to it."""
    with open(fetch("reuters_word_index.json", path), encoding="utf-8") as file:
        return json.load(file)


def get_label_names() -> tuple[str, ...]:
    """The names of the topics, by label.

    >>> tf.keras.datasets.reuters.get_label_names()[:3]
    ('cocoa', 'grain', 'veg-oil')
    """
    return _LABEL_NAMES
