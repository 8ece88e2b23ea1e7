"""Indexed batches, and padding of sequences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np


class Sequence:
    """Batches by index: subclasses implement `__getitem__` and `__len__`.

    Unlike a generator it can be read by several workers without losing or repeating a batch.

    >>> class Squares(tf.keras.utils.Sequence):
    ...     def __len__(self):
    ...         return 3
    ...     def __getitem__(self, index):
    ...         return index**2
    >>> list(Squares())
    [0, 1, 4]
    """

    def __getitem__(self, index: int) -> Any:
        """The batch at an index."""
        raise NotImplementedError(f"{type(self).__name__} must define __getitem__(self, index)")

    def __len__(self) -> int:
        """The number of batches."""
        raise NotImplementedError(f"{type(self).__name__} must define __len__(self)")

    def on_epoch_end(self) -> None:
        """Called at the end of each pass over the batches."""

    def __iter__(self) -> Iterator[Any]:
        return (self[index] for index in range(len(self)))


def pad_sequences(
    sequences: Any,
    maxlen: int | None = None,
    dtype: Any = "int32",
    padding: str = "pre",
    truncating: str = "pre",
    value: Any = 0.0,
) -> np.ndarray:
    """One array from lists of unequal length, padded or truncated.

    Args:
      sequences: Lists of values, or of lists of the same shape.
      maxlen: Target length; by default that of the longest.
      dtype: Dtype of the result.
      padding: Pad at the start ("pre") or at the end ("post").
      truncating: Truncate at the start ("pre") or at the end ("post").
      value: The padding value.

    >>> tf.keras.utils.pad_sequences([[1], [2, 3], [4, 5, 6]], maxlen=2)
    array([[0, 1],
           [2, 3],
           [5, 6]], dtype=int32)
    """
    if not hasattr(sequences, "__len__"):
        raise ValueError("`sequences` must be iterable.")
    lengths = []
    sample_shape: tuple[int, ...] | None = None
    for sequence in sequences:
        if not hasattr(sequence, "__len__"):
            raise ValueError(
                f"`sequences` must be a list of iterables. Found non-iterable: {sequence!s}"
            )
        lengths.append(len(sequence))
        if sample_shape is None and len(sequence):
            sample_shape = np.asarray(sequence).shape[1:]
    if maxlen is None:
        if not lengths:
            raise ValueError("`sequences` is empty: give `maxlen`, since nothing tells the length.")
        maxlen = max(lengths)
    if isinstance(value, str) and dtype is not object and not np.issubdtype(dtype, np.str_):
        raise ValueError(
            f"`dtype` {dtype} is not compatible with `value`'s type: {type(value)}\n"
            "You should set `dtype=object` for variable length strings."
        )
    for name, choice in (("Truncating", truncating), ("Padding", padding)):
        if choice not in ("pre", "post"):
            raise ValueError(f'{name} type "{choice}" not understood: it is "pre" or "post"')
    padded = np.full((len(lengths), maxlen, *(sample_shape or ())), value, dtype=dtype)
    for position, sequence in enumerate(sequences):
        if not len(sequence):
            continue
        kept = sequence[max(len(sequence) - maxlen, 0) :] if truncating == "pre" else sequence
        part = np.asarray(kept[:maxlen], dtype=dtype)
        if part.shape[1:] != sample_shape:
            raise ValueError(
                f"Shape of sample {part.shape[1:]} of sequence at position {position} is "
                f"different from expected shape {sample_shape}"
            )
        if padding == "post":
            padded[position, : len(part)] = part
        else:
            padded[position, maxlen - len(part) :] = part
    return padded
