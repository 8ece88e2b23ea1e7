"""tf.keras.preprocessing.sequence: windows, skip-grams and padding of sequences."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from ..utils.sequences import Sequence, pad_sequences as pad_sequences


def make_sampling_table(size: int, sampling_factor: float = 1e-5) -> np.ndarray:
    """The sampling probability of the word of each rank, which subsamples frequent words.

    Frequencies are assumed to follow Zipf's law: that of rank r is about 1 / (r (log r + γ) + 1/2 -
    1/(12 r)), and a word is sampled with probability min(1, √(factor / frequency)).
    """
    rank = np.arange(size)
    rank[0] = 1
    gamma = 0.577
    inverse = rank * (np.log(rank) + gamma) + 0.5 - 1.0 / (12.0 * rank)
    wanted = sampling_factor * inverse
    return np.minimum(1.0, wanted / np.sqrt(wanted))


def skipgrams(
    sequence: Any,
    vocabulary_size: int,
    window_size: int = 4,
    negative_samples: float = 1.0,
    shuffle: bool = True,
    categorical: bool = False,
    sampling_table: Any = None,
    seed: int | None = None,
) -> tuple[list[list[int]], list[Any]]:
    """Skip-grams: pairs of nearby words (label 1), and random pairs (label 0).

    Args:
      sequence: Word indices; 0 is not a word and is skipped.
      vocabulary_size: The largest word index plus one.
      window_size: Maximum distance of the words of a pair.
      negative_samples: Number of negative samples per positive one.
      shuffle: Whether to shuffle the pairs.
      categorical: Whether labels are [0, 1] and [1, 0] rather than 1 and 0.
      sampling_table: Sampling probability of each word; see `make_sampling_table`.
      seed: Seed of the shuffle.

    >>> tf.keras.preprocessing.sequence.skipgrams([1, 2, 3], 4, 1, 0, shuffle=False)
    ([[1, 2], [2, 1], [2, 3], [3, 2]], [1, 1, 1, 1])
    """
    pairs: list[list[int]] = []
    real, random_one = ([0, 1], [1, 0]) if categorical else (1, 0)
    for position, word in enumerate(sequence):
        if not word:
            continue
        if sampling_table is not None and sampling_table[word] < random.random():
            continue
        start = max(0, position - window_size)
        for other in range(start, min(len(sequence), position + window_size + 1)):
            if other != position and sequence[other]:
                pairs.append([word, sequence[other]])
    labels: list[Any] = [real] * len(pairs)
    if negative_samples > 0:
        words = [pair[0] for pair in pairs]
        random.shuffle(words)
        count = int(len(labels) * negative_samples)
        for index in range(count):
            pairs.append([words[index % len(words)], random.randint(1, vocabulary_size - 1)])
        labels += [random_one] * count
    if shuffle:
        if seed is None:
            seed = random.randint(0, 10_000_000)
        # Reseeding shuffles pairs and labels alike.
        for each in (pairs, labels):
            random.seed(seed)
            random.shuffle(each)
    return pairs, labels


class TimeseriesGenerator(Sequence):
    """Batches of sliding windows over a series, each with the target that follows it.

    Args:
      data: Values, one per time step.
      targets: Targets, one per time step.
      length: Length of the windows.
      sampling_rate: Step between the values of a window.
      stride: Step between the starts of windows.
      start_index: Data before this is not used.
      end_index: Data after this is not used.
      shuffle: Whether windows are sampled at random.
      reverse: Whether the values of a window are reversed.
      batch_size: Number of windows in a batch.
    """

    def __init__(
        self,
        data: Any,
        targets: Any,
        length: int,
        sampling_rate: int = 1,
        stride: int = 1,
        start_index: int = 0,
        end_index: int | None = None,
        shuffle: bool = False,
        reverse: bool = False,
        batch_size: int = 128,
    ) -> None:
        if len(data) != len(targets):
            raise ValueError(
                "Data and targets have to be of same length. "
                f"Data length is {len(data)} while target length is {len(targets)}"
            )
        self.data = data
        self.targets = targets
        self.length = length
        self.sampling_rate = sampling_rate
        self.stride = stride
        self.start_index = start_index + length
        self.end_index = len(data) - 1 if end_index is None else end_index
        self.shuffle = shuffle
        self.reverse = reverse
        self.batch_size = batch_size
        if self.start_index > self.end_index:
            raise ValueError(
                f"`start_index+length={self.start_index} > end_index={self.end_index}` is "
                "disallowed, as no part of the sequence would be left to be used as current step."
            )

    def __len__(self) -> int:
        span = self.batch_size * self.stride
        return (self.end_index - self.start_index + span) // span

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        if self.shuffle:
            rows = np.random.randint(self.start_index, self.end_index + 1, size=self.batch_size)
        else:
            span = self.batch_size * self.stride
            first = self.start_index + span * index
            rows = np.arange(first, min(first + span, self.end_index + 1), self.stride)
        samples = np.array(
            [self.data[row - self.length : row : self.sampling_rate] for row in rows]
        )
        targets = np.array([self.targets[row] for row in rows])
        return (samples[:, ::-1, ...] if self.reverse else samples), targets

    def get_config(self) -> dict[str, Any]:
        """The data and parameters, JSON-serializable."""
        data, targets = (
            each.tolist() if isinstance(each, np.ndarray) else each
            for each in (self.data, self.targets)
        )
        for name, values in (("Data", data), ("Targets", targets)):
            try:
                json.dumps(values)
            except TypeError:
                raise TypeError(f"{name} not JSON Serializable: {values}") from None
        return {
            "data": json.dumps(data),
            "targets": json.dumps(targets),
            "length": self.length,
            "sampling_rate": self.sampling_rate,
            "stride": self.stride,
            "start_index": self.start_index,
            "end_index": self.end_index,
            "shuffle": self.shuffle,
            "reverse": self.reverse,
            "batch_size": self.batch_size,
        }

    def to_json(self, **kwargs: Any) -> str:
        """The configuration as JSON; `kwargs` go to `json.dumps`."""
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps(config, **kwargs)
