"""IntegerLookup: integers as vocabulary indices."""

from __future__ import annotations

import runnel as tf

from .base import first_is_text
from .lookup import IndexLookup


class IntegerLookup(IndexLookup):
    """The vocabulary index of each integer; the vocabulary is given or learnt by `adapt`.

    >>> layer = tf.keras.layers.IntegerLookup(vocabulary=[12, 1138, 42])
    >>> layer([[12, 42], [1138, 7]]).numpy().tolist()
    [[1, 3], [2, 0]]
    """

    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token=-1,
        vocabulary=None,
        vocabulary_dtype="int64",
        idf_weights=None,
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        **kwargs,
    ):
        if not tf.as_dtype(vocabulary_dtype).is_integer:
            raise ValueError(
                f"`vocabulary_dtype` must be an integer dtype. Received: {vocabulary_dtype}"
            )
        # Older Keras names of these.
        max_tokens = kwargs.pop("max_values", max_tokens)
        mask_token = kwargs.pop("mask_value", mask_token)
        oov_token = kwargs.pop("oov_value", oov_token)
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(
                "If `max_tokens` is set for `IntegerLookup`, it must be greater than 1. Received: "
                f"max_tokens={max_tokens}."
            )
        super().__init__(
            max_tokens=max_tokens,
            num_oov_indices=num_oov_indices,
            mask_token=None if mask_token is None else int(mask_token),
            oov_token=int(oov_token),
            vocabulary_dtype=vocabulary_dtype,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            invert=invert,
            output_mode=output_mode,
            sparse=sparse,
            pad_to_max_tokens=pad_to_max_tokens,
            **kwargs,
        )

    def __call__(self, *args, **kwargs):
        if args and isinstance(args[0], list | tuple | str | bytes) and first_is_text(args[0]):
            raise TypeError(
                f"Layer {self.name} takes whole numbers; StringLookup takes text. Received: "
                f"{args[0]!r}"
            )
        return super().__call__(*args, **kwargs)
