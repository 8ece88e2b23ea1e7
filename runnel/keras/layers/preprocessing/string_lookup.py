"""StringLookup: strings as vocabulary indices."""

from __future__ import annotations

from .lookup import IndexLookup


class StringLookup(IndexLookup):
    """The vocabulary index of each string; the vocabulary is given or learnt by `adapt`.

    >>> layer = tf.keras.layers.StringLookup(vocabulary=["a", "b", "c"])
    >>> layer([["a", "c"], ["b", "z"]]).numpy().tolist()
    [[1, 3], [2, 0]]
    """

    def __init__(
        self,
        max_tokens=None,
        num_oov_indices=1,
        mask_token=None,
        oov_token="[UNK]",
        vocabulary=None,
        idf_weights=None,
        encoding="utf-8",
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        **kwargs,
    ):
        self.encoding = encoding
        super().__init__(
            max_tokens=max_tokens,
            num_oov_indices=num_oov_indices,
            mask_token=mask_token,
            oov_token=oov_token,
            vocabulary_dtype="string",
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            invert=invert,
            output_mode=output_mode,
            sparse=sparse,
            pad_to_max_tokens=pad_to_max_tokens,
            **kwargs,
        )

    def get_config(self):
        """The constructor arguments, as a dict, without a learnt vocabulary."""
        config = {**super().get_config(), "encoding": self.encoding}
        del config["vocabulary_dtype"]
        return config
