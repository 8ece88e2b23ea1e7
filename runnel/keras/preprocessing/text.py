"""tf.keras.preprocessing.text: texts as word indices."""

from __future__ import annotations

import collections
import hashlib
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(
    input_text: str, filters: str = _FILTERS, lower: bool = True, split: str = " "
) -> list[str]:
    """The words of a text.

    >>> tf.keras.preprocessing.text.text_to_word_sequence("Hello, World!")
    ['hello', 'world']
    """
    if lower:
        input_text = input_text.lower()
    cleaned = input_text.translate(dict.fromkeys(map(ord, filters), split))
    return [word for word in cleaned.split(split) if word]


def one_hot(
    input_text: str,
    n: int,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
    analyzer: Callable | None = None,
) -> list[int]:
    """An index from 1 to n - 1 for each word, by Python's `hash`; differs between processes."""
    return hashing_trick(input_text, n, hash, filters, lower, split, analyzer)


def hashing_trick(
    text: str,
    n: int,
    hash_function: Any = None,
    filters: str = _FILTERS,
    lower: bool = True,
    split: str = " ",
    analyzer: Callable | None = None,
) -> list[int]:
    """An index from 1 to n - 1 for each word, by a hash function.

    Args:
      text: The text.
      n: The largest index plus one.
      hash_function: None for Python's `hash`, "md5" (stable across processes), or a function.
      filters: Characters that are treated as separators.
      lower: Whether to convert to lower case.
      split: The word separator.
      analyzer: A function that splits the text instead.

    >>> tf.keras.preprocessing.text.hashing_trick("hello world", 100, "md5")
    [98, 45]
    """
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        hash_function = _md5
    words = (
        text_to_word_sequence(text, filters, lower, split) if analyzer is None else analyzer(text)
    )
    return [hash_function(word) % (n - 1) + 1 for word in words]


def _md5(word: str) -> int:
    return int(hashlib.md5(word.encode(), usedforsecurity=False).hexdigest(), 16)


class Tokenizer:
    """Converts texts to lists of word indices, ordered by descending frequency from 1, or to
    matrices.

    Args:
      num_words: Use only the `num_words - 1` most frequent words.
      filters: Characters that are treated as separators.
      lower: Whether to convert to lower case.
      split: The word separator.
      char_level: Whether characters count as words.
      oov_token: The token for out-of-vocabulary words; it has index 1.
      analyzer: A function that splits texts instead.

    >>> tokenizer = tf.keras.preprocessing.text.Tokenizer()
    >>> tokenizer.fit_on_texts(["the cat", "the dog"])
    >>> tokenizer.texts_to_sequences(["the dog and the cat"])
    [[1, 3, 1, 2]]
    """

    def __init__(
        self,
        num_words: int | None = None,
        filters: str = _FILTERS,
        lower: bool = True,
        split: str = " ",
        char_level: bool = False,
        oov_token: str | None = None,
        analyzer: Callable | None = None,
        **kwargs: Any,
    ) -> None:
        if "nb_words" in kwargs:
            warnings.warn(
                "The `nb_words` argument in `Tokenizer` has been renamed `num_words`.", stacklevel=2
            )
            num_words = kwargs.pop("nb_words")
        document_count = kwargs.pop("document_count", 0)
        if kwargs:
            raise TypeError("Unrecognized keyword arguments: " + str(kwargs))
        self.word_counts: dict[str, int] = collections.OrderedDict()
        self.word_docs: dict[str, int] = collections.defaultdict(int)
        self.filters = filters
        self.split = split
        self.lower = lower
        self.num_words = num_words
        self.document_count = document_count
        self.char_level = char_level
        self.oov_token = oov_token
        self.index_docs: dict[int, int] = collections.defaultdict(int)
        self.word_index: dict[str, int] = {}
        self.index_word: dict[int, str] = {}
        self.analyzer = analyzer

    def fit_on_texts(self, texts: Iterable[Any]) -> None:
        """Update the vocabulary from texts, or lists of words."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in dict.fromkeys(words):
                self.word_docs[word] += 1
        # The sort is stable: among equally frequent words the first seen comes first.
        ranked = sorted(self.word_counts, key=lambda word: -self.word_counts[word])
        if self.oov_token is not None:
            ranked.insert(0, self.oov_token)
        self.word_index = dict(zip(ranked, range(1, len(ranked) + 1), strict=True))
        self.index_word = {index: word for word, index in self.word_index.items()}
        for word, count in self.word_docs.items():
            self.index_docs[self.word_index[word]] = count

    def fit_on_sequences(self, sequences: Iterable[Any]) -> None:
        """Update the document frequencies of word indices, for `mode="tfidf"`."""
        sequences = list(sequences)
        self.document_count += len(sequences)
        for sequence in sequences:
            for index in set(sequence):
                self.index_docs[index] += 1

    def texts_to_sequences(self, texts: Iterable[Any]) -> list[list[int]]:
        """The texts as lists of word indices; unknown words are skipped or become `oov_token`."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts: Iterable[Any]) -> Iterator[list[int]]:
        """The texts as lists of word indices, one at a time."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for text in texts:
            found = (self._known(self.word_index.get(word), unknown) for word in self._words(text))
            yield [index for index in found if index is not None]

    def sequences_to_texts(self, sequences: Iterable[Any]) -> list[str]:
        """The words of lists of word indices, joined with spaces."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences: Iterable[Any]) -> Iterator[str]:
        """The words of lists of word indices, one list at a time."""
        unknown = self.word_index.get(self.oov_token) if self.oov_token is not None else None
        for sequence in sequences:
            found = (
                self._known(index if index in self.index_word else None, unknown)
                for index in sequence
            )
            yield " ".join(self.index_word[index] for index in found if index is not None)

    def texts_to_matrix(self, texts: Iterable[Any], mode: str = "binary") -> np.ndarray:
        """One row per text and one column per word index; see `sequences_to_matrix`."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode=mode)

    def sequences_to_matrix(self, sequences: Any, mode: str = "binary") -> np.ndarray:
        """One row per list and one column per word index.

        Modes: "binary" (1 if the word occurs), "count", "freq" (count divided by length) and
        "tfidf": (1 + log count) log(1 + documents / (1 + documents with the word)).
        """
        if self.num_words:
            columns = self.num_words
        elif self.word_index:
            columns = len(self.word_index) + 1
        else:
            raise ValueError(
                "Specify a dimension (`num_words` argument), or fit on some text data first."
            )
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError(
                f"Unknown vectorization mode: {mode!r}. It is binary, count, freq or tfidf."
            )
        matrix = np.zeros((len(sequences), columns))
        for row, sequence in enumerate(sequences):
            counts = collections.Counter(index for index in sequence if index < columns)
            for index, count in counts.items():
                matrix[row, index] = self._weight(index, count, len(sequence), mode)
        return matrix

    def _weight(self, index: int, count: int, length: int, mode: str) -> float:
        if mode == "count":
            return count
        if mode == "freq":
            return count / length
        if mode == "binary":
            return 1
        documents = 1 + self.index_docs.get(index, 0)
        return (1 + np.log(count)) * np.log(1 + self.document_count / documents)

    def _words(self, text: Any) -> list[str]:
        if self.char_level or isinstance(text, list):
            if not self.lower:
                return text
            return [each.lower() for each in text] if isinstance(text, list) else text.lower()
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def _known(self, index: int | None, unknown: int | None) -> int | None:
        if index is None or (self.num_words and index >= self.num_words):
            return unknown
        return index

    def get_config(self) -> dict[str, Any]:
        """The parameters and the learnt state, dicts encoded as JSON."""
        return {
            "num_words": self.num_words,
            "filters": self.filters,
            "lower": self.lower,
            "split": self.split,
            "char_level": self.char_level,
            "oov_token": self.oov_token,
            "document_count": self.document_count,
            "word_counts": json.dumps(self.word_counts),
            "word_docs": json.dumps(self.word_docs),
            "index_docs": json.dumps(self.index_docs),
            "index_word": json.dumps(self.index_word),
            "word_index": json.dumps(self.word_index),
        }

    def to_json(self, **kwargs: Any) -> str:
        """The tokenizer as JSON, for `tokenizer_from_json`; `kwargs` go to `json.dumps`."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)


def tokenizer_from_json(json_string: str) -> Tokenizer:
    """Create a tokenizer from the result of `to_json`."""
    config = json.loads(json_string).get("config")
    if config is None:
        raise AttributeError('there is no "config" in the JSON: was it made by Tokenizer.to_json?')
    learnt = {
        name: json.loads(config.pop(name))
        for name in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")
    }
    tokenizer = Tokenizer(**config)
    tokenizer.word_counts = learnt["word_counts"]
    tokenizer.word_docs = learnt["word_docs"]
    # JSON has no integer keys.
    tokenizer.index_docs = {int(index): count for index, count in learnt["index_docs"].items()}
    tokenizer.index_word = {int(index): word for index, word in learnt["index_word"].items()}
    tokenizer.word_index = learnt["word_index"]
    return tokenizer
