"""TextVectorization: texts split into tokens, and tokens mapped to indices."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ... import loading_limits
from ...code_objects import loading_scope
from .base import PreprocessingLayer, TakesText, as_tensor, is_ragged
from .string_lookup import StringLookup

_STANDARDIZE = ("lower_and_strip_punctuation", "lower", "strip_punctuation")
_SPLIT = ("whitespace", "character")
_MODES = ("int", "count", "multi_hot", "tf_idf")
_PUNCTUATION = r"""[!"#$%&()\*\+,-\./:;<=>?@\[\\\]^_`{|}~\']"""


class TextVectorization(TakesText, PreprocessingLayer):
    """The vocabulary indices of words in texts; the vocabulary is given or learnt by `adapt`.

    >>> layer = tf.keras.layers.TextVectorization(vocabulary=["earth", "wind", "fire"])
    >>> layer(["Fire, wind!", "rain"]).numpy().tolist()
    [[4, 3], [1, 0]]
    """

    def __init__(
        self,
        max_tokens=None,
        standardize="lower_and_strip_punctuation",
        split="whitespace",
        ngrams=None,
        output_mode="int",
        output_sequence_length=None,
        pad_to_max_tokens=False,
        vocabulary=None,
        idf_weights=None,
        sparse=False,
        ragged=False,
        encoding="utf-8",
        **kwargs,
    ):
        if kwargs.get("dtype") not in (None, "string", tf.string):
            raise ValueError(
                "`TextVectorization` may only have a dtype of string. Received dtype: "
                f"{kwargs['dtype']}."
            )
        kwargs["dtype"] = "string"
        output_mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}.get(output_mode, output_mode)
        _check_choice("standardize", standardize, _STANDARDIZE)
        _check_choice("split", split, _SPLIT)
        if output_mode is not None and output_mode not in _MODES:
            raise ValueError(
                "Unknown value for `output_mode` argument of layer TextVectorization. Allowed "
                f"values are: `None`, or one of the following values: {_MODES}. Received: "
                f"{output_mode}"
            )
        if not _are_widths(ngrams):
            raise ValueError(
                "`ngrams` must be None, an integer, or a tuple of integers. Received: "
                f"ngrams={ngrams}"
            )
        if output_mode == "int" and not _is_length(output_sequence_length):
            raise ValueError(
                "`output_sequence_length` must be either None or an integer when `output_mode` is "
                f"'int'. Received: output_sequence_length={output_sequence_length}"
            )
        if output_mode != "int" and output_sequence_length is not None:
            raise ValueError(
                "`output_sequence_length` must not be set if `output_mode` is not 'int'. Received "
                f"output_sequence_length={output_sequence_length}."
            )
        if ragged and output_mode != "int":
            raise ValueError(
                "`ragged` must not be true if `output_mode` is not `'int'`. Received: "
                f"ragged={ragged} and output_mode={output_mode}"
            )
        if ragged and output_sequence_length is not None:
            raise ValueError(
                "`output_sequence_length` must not be set if ragged is True. Received: "
                f"ragged={ragged} and output_sequence_length={output_sequence_length}"
            )
        if isinstance(ngrams, int):
            loading_limits.claim(type(self).__name__, (ngrams,), 1000, "n-grams")
        saved_size = kwargs.pop("vocabulary_size", None)
        super().__init__(**kwargs)
        self._max_tokens = max_tokens
        self._standardize = standardize
        self._split = split
        self._ngrams_arg = ngrams
        self._ngrams = tuple(range(1, ngrams + 1)) if isinstance(ngrams, int) else ngrams
        self._output_mode = output_mode
        self._output_sequence_length = output_sequence_length
        self._ragged = ragged
        self._encoding = encoding
        self._lookup_layer = StringLookup(
            max_tokens=max_tokens,
            vocabulary=vocabulary,
            idf_weights=idf_weights,
            pad_to_max_tokens=pad_to_max_tokens,
            mask_token="",
            output_mode="int" if output_mode is None else output_mode,
            sparse=sparse,
            encoding=encoding,
            vocabulary_size=saved_size if vocabulary is None else None,
        )

    # The vocabulary.

    def get_vocabulary(self, include_special_tokens=True):
        """The vocabulary as a list, with or without the special tokens at its start."""
        return self._lookup_layer.get_vocabulary(include_special_tokens)

    def vocabulary_size(self):
        """The number of tokens, including special ones."""
        return self._lookup_layer.vocabulary_size()

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Set the vocabulary, tokens or the path of a file, and the idf weights for tf_idf."""
        self._lookup_layer.set_vocabulary(vocabulary, idf_weights=idf_weights)

    def update_state(self, data):
        """Count the tokens of a batch of texts."""
        self._lookup_layer.update_state(self._preprocess(data))

    def finalize_state(self):
        """Build the vocabulary from the counts."""
        self._lookup_layer.finalize_state()

    def reset_state(self):
        """Reset the counts."""
        self._is_adapted = False
        self._lookup_layer.reset_state()

    # Lookup.

    def call(self, inputs):
        """The token indices of the texts, or vectors of them."""
        tokens = self._preprocess(inputs)
        if self._output_mode is None:
            return tokens
        numbers = self._lookup_layer(tokens)
        if self._output_mode != "int" or self._ragged:
            return numbers
        length = self._output_sequence_length
        if is_ragged(numbers):
            rest = [None] * (numbers.shape.rank - 1)
            dense = numbers.to_tensor(default_value=0, shape=[*rest, length])
            dense.set_shape([numbers.shape[0], *rest[1:], length])
            return dense
        return numbers if length is None else _of_length(numbers, length)

    def _preprocess(self, inputs: Any) -> Any:
        texts = as_tensor(inputs, tf.string)
        standardize = self._standardize
        if standardize in ("lower", "lower_and_strip_punctuation"):
            texts = _on_texts(tf.strings.lower, texts)
        if standardize in ("strip_punctuation", "lower_and_strip_punctuation"):
            texts = _on_texts(lambda flat: tf.strings.regex_replace(flat, _PUNCTUATION, ""), texts)
        if callable(standardize):
            texts = standardize(texts)
        if self._split is not None:
            if texts.shape.rank is not None and texts.shape.rank > 1:
                if texts.shape[-1] != 1:
                    raise ValueError(
                        "When using `TextVectorization` to tokenize strings, the input rank must "
                        "be 1 or the last shape dimension must be 1. Received: "
                        f"inputs.shape={texts.shape} with rank={texts.shape.rank}"
                    )
                texts = tf.squeeze(texts, axis=-1)
            texts = self._cut(texts)
        if self._ngrams is not None:
            texts = tf.strings.ngrams(texts, ngram_width=self._ngrams, separator=" ")
        return texts

    def _cut(self, texts: Any) -> Any:
        if self._split == "whitespace":
            return tf.strings.split(texts)
        if self._split == "character":
            return tf.strings.unicode_split(texts, "UTF-8")
        return self._split(texts)

    def compute_output_shape(self, input_shape):
        """The shape of the indices or vectors."""
        if self._output_mode == "int":
            return tf.TensorShape([tf.TensorShape(input_shape)[0], self._output_sequence_length])
        if self._split is None:
            shape = tf.TensorShape(input_shape)
            if shape.rank is not None and shape.rank <= 1:
                shape = tf.TensorShape([*shape, 1])
        else:
            shape = tf.TensorShape([tf.TensorShape(input_shape)[0], None])
        return self._lookup_layer.compute_output_shape(shape)

    def compute_output_signature(self, input_spec):
        """The signature of the indices or vectors."""
        shape = self.compute_output_shape(input_spec.shape.as_list())
        dtype = tf.int64 if self._output_mode == "int" else tf.keras.backend.floatx()
        return tf.TensorSpec(shape=shape, dtype=dtype)

    # Saving.

    def get_config(self):
        """The constructor arguments, as a dict, without a learnt vocabulary."""
        lookup = self._lookup_layer
        return {
            **super().get_config(),
            "max_tokens": lookup.max_tokens,
            "standardize": self._standardize,
            "split": self._split,
            "ngrams": self._ngrams_arg,
            "output_mode": self._output_mode,
            "output_sequence_length": self._output_sequence_length,
            "pad_to_max_tokens": lookup.pad_to_max_tokens,
            "sparse": lookup.sparse,
            "ragged": self._ragged,
            "vocabulary": lookup.input_vocabulary,
            "idf_weights": lookup.input_idf_weights,
            "encoding": self._encoding,
            "vocabulary_size": self.vocabulary_size(),
        }

    @classmethod
    def from_config(cls, config):
        """Create a layer from its config."""
        config = dict(config)
        with loading_scope():
            for name in ("standardize", "split"):
                if isinstance(config.get(name), dict):
                    config[name] = tf.keras.saving.deserialize_keras_object(config[name])
            return super().from_config(config)

    def save_own_variables(self, store):
        """Store the idf weights in a mapping."""
        self._lookup_layer.save_own_variables(store)

    def load_own_variables(self, store):
        """Load the idf weights from a mapping."""
        self._lookup_layer.load_own_variables(store)

    def save_assets(self, dir_path):
        """Write a learnt vocabulary into a folder."""
        self._lookup_layer.save_assets(dir_path)

    def load_assets(self, dir_path):
        """Read a learnt vocabulary from a folder."""
        self._lookup_layer.load_assets(dir_path)


def _check_choice(name: str, value: Any, allowed: tuple[str, ...]) -> None:
    if value is None or callable(value) or value in allowed or isinstance(value, dict):
        return
    raise ValueError(
        f"Unknown value for `{name}` argument of layer TextVectorization. If restoring a model and "
        f"`{name}` is a custom callable, please ensure the callable is registered as a custom "
        f"object. Allowed values are: `None`, a `Callable`, or one of the following values: "
        f"{allowed}. Received: {value}"
    )


def _are_widths(ngrams: Any) -> bool:
    if ngrams is None or isinstance(ngrams, int):
        return True
    return isinstance(ngrams, tuple | list) and all(isinstance(each, int) for each in ngrams)


def _is_length(length: Any) -> bool:
    return length is None or (isinstance(length, int) and length >= 0)


def _on_texts(function: Any, texts: Any) -> Any:
    return (
        texts.with_flat_values(function(texts.flat_values))
        if is_ragged(texts)
        else (function(texts))
    )


def _of_length(numbers: Any, length: int) -> Any:
    """Rows of indices truncated or zero-padded to a length."""
    cut = numbers[..., :length]
    missing = length - tf.shape(cut)[-1]
    rank = cut.shape.rank
    filled = tf.pad(cut, [[0, 0]] * (rank - 1) + [[0, missing]])
    filled.set_shape([*cut.shape[:-1], length])
    return filled
