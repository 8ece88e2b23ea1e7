"""IndexLookup: tokens as indices of a vocabulary, given or learnt."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np

import runnel as tf

from ... import loading_limits
from ...code_objects import LiveText, in_safe_mode, loading_scope
from .base import PreprocessingLayer, TakesText, as_tensor, is_composite, is_ragged
from .encoding import check_output_mode, check_sparse, default_dtype, encode
from .vocabulary import (
    TokenCounts,
    plain_tokens,
    read_tokens,
    tokens_in_file,
    without_special,
    write_tokens,
)

_MODES = ("int", "one_hot", "multi_hot", "count", "tf_idf")
_VECTOR_MODES = "`'one_hot'`, `'multi_hot'`, `'count'` or `'tf_idf'`"
_FILE = "vocabulary.txt"
# The index of the mask token in vector modes, which leave it out: beyond any vector's length.
_NOWHERE = 2**40


class _Words(tf.lookup.experimental.MutableHashTable):
    """The lookup table of a vocabulary, owned by its layer: not saved in checkpoints."""

    _checkpoint_attribute = None


class IndexLookup(TakesText, PreprocessingLayer):
    """Tokens to indices: the mask token, out-of-vocabulary tokens, then the vocabulary.

    What StringLookup and IntegerLookup have in common.
    """

    # The encoding of string tokens; None for integers.
    encoding: str | None = None

    def __init__(
        self,
        max_tokens,
        num_oov_indices,
        mask_token,
        oov_token,
        vocabulary_dtype,
        vocabulary=None,
        idf_weights=None,
        invert=False,
        output_mode="int",
        sparse=False,
        pad_to_max_tokens=False,
        **kwargs,
    ):
        kind = type(self).__name__
        if max_tokens is not None and max_tokens <= 1:
            raise ValueError(
                f"If set, `max_tokens` must be greater than 1. Received: max_tokens={max_tokens}"
            )
        if pad_to_max_tokens and max_tokens is None:
            raise ValueError(
                "If pad_to_max_tokens is True, must set `max_tokens`. Received: "
                f"max_tokens={max_tokens}"
            )
        if num_oov_indices < 0:
            raise ValueError(
                "`num_oov_indices` must be greater than or equal to 0. Received: "
                f"num_oov_indices={num_oov_indices}"
            )
        loading_limits.claim(kind, (num_oov_indices,), 8, "tokens")
        if output_mode in ("binary", "tf-idf"):
            output_mode = {"binary": "multi_hot", "tf-idf": "tf_idf"}[output_mode]
        check_output_mode(kind, output_mode, _MODES)
        if invert and output_mode != "int":
            raise ValueError(
                "`output_mode` must be `'int'` when `invert` is true. Received: "
                f"output_mode={output_mode}"
            )
        check_sparse(sparse, output_mode, _VECTOR_MODES)
        if idf_weights is not None and output_mode != "tf_idf":
            raise ValueError(
                "`idf_weights` should only be set if `output_mode` is `'tf_idf'`. Received: "
                f"idf_weights={idf_weights} and output_mode={output_mode}"
            )
        # The size of a saved layer, while its vocabulary is not loaded yet.
        saved_size = kwargs.pop("vocabulary_size", None)
        kwargs.pop("has_input_vocabulary", None)
        default_dtype(kwargs, output_mode)
        super().__init__(**kwargs)
        self.invert = invert
        self.max_tokens = max_tokens
        self.num_oov_indices = num_oov_indices
        self.mask_token = mask_token
        self.oov_token = oov_token
        self.output_mode = output_mode
        self.sparse = sparse
        self.pad_to_max_tokens = pad_to_max_tokens
        self.vocabulary_dtype = tf.as_dtype(vocabulary_dtype).name
        self.input_vocabulary = _as_list(vocabulary)
        self.input_idf_weights = _as_list(idf_weights)
        self._frozen_size = saved_size
        self._tokens: list[Any] | None = None
        self._counts = TokenCounts()
        self._make_table()
        if output_mode == "tf_idf":
            self.idf_weights = tf.Variable(
                [0.0] * self._first_token(),
                shape=(None,),
                dtype=self.compute_dtype,
                trainable=False,
            )
        if vocabulary is not None:
            self.set_vocabulary(vocabulary, idf_weights)

    def _make_table(self) -> None:
        key, value, default = self.vocabulary_dtype, "int64", -1
        if self.invert:
            key, value, default = "int64", self.vocabulary_dtype, self.oov_token
        self.lookup_table = _Words(key, value, default)

    # The vocabulary.

    def _special_tokens(self) -> list[Any]:
        """The tokens before the vocabulary; vector modes have no slot for the mask."""
        has_mask = self.mask_token is not None and self.output_mode == "int"
        return [self.mask_token] * has_mask + [self.oov_token] * self.num_oov_indices

    def _oov_start(self) -> int:
        return 1 if self.mask_token is not None and self.output_mode == "int" else 0

    def _first_token(self) -> int:
        return self._oov_start() + self.num_oov_indices

    def _as_token(self, text: str) -> Any:
        return text if self.encoding is not None else int(text)

    def get_vocabulary(self, include_special_tokens=True):
        """The vocabulary as a list, with or without the special tokens at its start."""
        tokens = list(self._tokens or [])
        return self._special_tokens() + tokens if include_special_tokens else tokens

    def vocabulary_size(self):
        """The number of tokens, including special ones."""
        return self._first_token() + len(self._tokens or [])

    def vocab_size(self):
        """The same as `vocabulary_size`."""
        return self.vocabulary_size()

    def set_vocabulary(self, vocabulary, idf_weights=None):
        """Set the vocabulary, tokens or the path of a file, and the idf weights for tf_idf."""
        if self.output_mode == "tf_idf":
            if idf_weights is None:
                raise ValueError("`idf_weights` must be set if output_mode is TF_IDF")
        elif idf_weights is not None:
            raise ValueError(
                "`idf_weights` should only be set if output_mode is `'tf_idf'`. Received: "
                f"output_mode={self.output_mode} and idf_weights={idf_weights}"
            )
        if isinstance(vocabulary, str):
            given = self._tokens_in_file(vocabulary)
        else:
            given = plain_tokens(_as_array(vocabulary), self.encoding)
        if not given:
            raise ValueError(f"Cannot set an empty vocabulary, you passed {vocabulary}.")
        self._check_kind(given)
        special = self._special_tokens()
        tokens = without_special(given, special, self.mask_token, self.oov_token, self.invert)
        weights = None
        if idf_weights is not None:
            weights = np.asarray(idf_weights, np.float64).tolist()
            if len(weights) != len(given):
                raise ValueError(
                    "`idf_weights` must be the same length as vocabulary. len(idf_weights) is "
                    f"{len(weights)}, len(vocabulary) is {len(given)}"
                )
        if not tokens:
            raise ValueError(
                f"Cannot set an empty vocabulary, you passed {vocabulary}, which are special "
                "tokens alone."
            )
        self._check_size(tokens)
        self._use(tokens)
        if weights is not None:
            with_special = len(given) > len(tokens)
            self._weigh(weights if with_special else self._with_oov_weights(weights))

    def _tokens_in_file(self, path: str) -> list[Any]:
        if in_safe_mode() and not isinstance(path, LiveText):
            raise ValueError(
                f"The config of the layer {self.name!r} names a file outside of the model as its "
                f"vocabulary, {path!r}. A model could thus read any file of this machine, so it is "
                "refused by default. If you trust the source of the model, you can pass "
                "`safe_mode=False` to the loading function, or load it inside of "
                "`with tf.keras.saving.SafeModeScope(False):`."
            )
        tokens = tokens_in_file(path, self._as_token)
        if isinstance(self.input_vocabulary, str):
            # The tokens themselves are saved: the file may be gone when the layer is loaded.
            self.input_vocabulary = LiveText(path, None, tokens)
        return tokens

    def _check_kind(self, tokens: list[Any]) -> None:
        wanted = str if self.encoding is not None else int
        wrong = [token for token in tokens if not isinstance(token, wanted)]
        if wrong:
            raise ValueError(
                f"Layer {self.name} takes tokens of type {wanted.__name__}. Received: {wrong[:5]}"
            )

    def _check_size(self, tokens: list[Any]) -> None:
        size = self._first_token() + len(tokens)
        if self.max_tokens is not None and size > self.max_tokens:
            raise ValueError(
                "Attempted to set a vocabulary larger than the maximum vocab size. Passed vocab "
                f"size is {size}, max vocab size is {self.max_tokens}."
            )
        fixed = self.output_mode != "int" and not self.pad_to_max_tokens
        if fixed and self._frozen_size not in (None, size):
            raise RuntimeError(
                f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, the "
                "vocabulary size cannot be changed after the layer is called. Old vocab size is "
                f"{self._frozen_size}, new vocab size is {size}"
            )

    def _use(self, tokens: list[Any]) -> None:
        old, new = self._entries(self._tokens), self._entries(tokens)
        gone = [key for key in old if key not in new]
        if gone:
            self.lookup_table.remove(self._keys(gone))
        if new:
            values = list(new.values())
            self.lookup_table.insert(
                self._keys(list(new)),
                self._token_tensor(values) if self.invert else tf.constant(values, tf.int64),
            )
        self._tokens = tokens

    def _entries(self, tokens: list[Any] | None) -> dict[Any, Any]:
        """The keys and values of the table for a vocabulary."""
        if tokens is None:
            return {}
        first = self._first_token()
        pairs = enumerate(tokens, first)
        return dict(pairs) if self.invert else {token: place for place, token in pairs}

    def _keys(self, keys: list[Any]) -> Any:
        return tf.constant(keys, tf.int64) if self.invert else self._token_tensor(keys)

    def _token_tensor(self, tokens: list[Any]) -> Any:
        if self.encoding is None:
            return tf.constant(tokens, self.vocabulary_dtype)
        return tf.constant([token.encode(self.encoding) for token in tokens], tf.string)

    def _with_oov_weights(self, weights: list[float]) -> list[float]:
        """Out-of-vocabulary tokens get the mean idf weight of the vocabulary."""
        average = sum(weights) / len(weights) if weights else 0.0
        return [average] * self._first_token() + weights

    def _weigh(self, weights: list[float]) -> None:
        if self.pad_to_max_tokens:
            weights = weights + [0.0] * (self.max_tokens - len(weights))
        self.idf_weights.assign(tf.constant(weights, self.idf_weights.dtype))

    # Adaptation.

    def update_state(self, data):
        """Count the tokens of a batch."""
        if self.input_vocabulary is not None:
            raise ValueError(
                f"Cannot adapt {type(self).__name__} layer after setting a static vocabulary via "
                "init argument or `set_vocabulary`."
            )
        data = as_tensor(data, self.vocabulary_dtype)
        self._counts.add(self._documents(data), self.output_mode == "tf_idf")

    def _documents(self, data: Any) -> list[list[Any]]:
        if is_ragged(data):
            tokens = plain_tokens(data.flat_values, self.encoding)
            if self.output_mode != "tf_idf":
                return [tokens]
            return [tokens[a:b] for a, b in itertools.pairwise(_ends_of_rows(data))]
        if is_composite(data):
            rows: list[list[Any]] = [[] for _ in range(int(data.dense_shape[0]))]
            tokens = plain_tokens(data.values, self.encoding)
            for place, token in zip(data.indices.numpy()[:, 0], tokens, strict=True):
                rows[place].append(token)
            return rows
        array = np.asarray(data)
        if array.ndim < 2 or self.output_mode != "tf_idf":
            array = array.reshape(1, -1)
        return [plain_tokens(row, self.encoding) for row in array]

    def finalize_state(self):
        """Build the vocabulary from the counts, if there are any."""
        if self.input_vocabulary is not None or not self._counts.tokens:
            return
        limit = None if self.max_tokens is None else self.max_tokens - self._first_token()
        special = [token for token in (self.mask_token, self.oov_token) if token is not None]
        tokens = self._counts.most_common(special, limit)
        self._check_size(tokens)
        self._use(tokens)
        if self.output_mode == "tf_idf":
            self._weigh(self._with_oov_weights(self._counts.idf_weights(tokens)))
        self._counts = TokenCounts()

    def reset_state(self):
        """Reset the counts."""
        self._is_adapted = False
        self._counts = TokenCounts()

    # Lookup.

    def call(self, inputs):
        """The indices of the tokens, or vectors of them; if inverted, the tokens of indices."""
        tokens = as_tensor(inputs, "int64" if self.invert else self.vocabulary_dtype)
        if self._tokens is None and tf.executing_eagerly() and self.output_mode == "int":
            raise tf.errors.FailedPreconditionError(
                None,
                None,
                f"Table not initialized. Layer {self.name} has no vocabulary: pass `vocabulary` to "
                "it, or call `adapt` with some sample data.",
            )
        depth = self._depth()
        if is_ragged(tokens):
            found = tokens.with_flat_values(self._look_up(tokens.flat_values))
        elif is_composite(tokens):
            values = self._look_up(tokens.values)
            found = tf.SparseTensor(tokens.indices, values, tokens.dense_shape)
        else:
            found = self._look_up(tokens)
        if self.invert:
            return found
        dtype = self._compute_dtype_object
        if self.output_mode == "int" and not dtype.is_integer:
            dtype = tf.int64
        weights = self.idf_weights if self.output_mode == "tf_idf" else None
        return encode(found, self.output_mode, depth, dtype, self.sparse, idf_weights=weights)

    def _depth(self) -> int | None:
        if self.output_mode == "int":
            return None
        if self.pad_to_max_tokens:
            return self.max_tokens
        if self._tokens is None and self._frozen_size is None:
            raise RuntimeError(
                f"When using `output_mode={self.output_mode}` and `pad_to_max_tokens=False`, you "
                "must set the layer's vocabulary before calling it. Either pass a `vocabulary` "
                "argument to the layer, or call `adapt` with some sample data."
            )
        if self._tokens is not None:
            self._frozen_size = self.vocabulary_size()
        return self._frozen_size

    def _look_up(self, tokens: Any) -> Any:
        found = self._with_mask(tokens, self.lookup_table.lookup(tokens))
        if self.invert:
            return found
        missing = tf.equal(found, tf.constant(-1, tf.int64))
        count = self.num_oov_indices
        if count == 0:
            tf.debugging.Assert(
                tf.logical_not(tf.reduce_any(missing)),
                [
                    "When `num_oov_indices=0` all inputs should be in vocabulary, found OOV values",
                    tf.boolean_mask(tf.reshape(tokens, [-1]), tf.reshape(missing, [-1])),
                    ", consider setting `num_oov_indices=1`.",
                ],
            )
            return found
        if count == 1:
            return tf.where(missing, tf.constant(self._oov_start(), tf.int64), found)
        if self.encoding is None:
            bins = tf.math.floormod(tf.cast(tokens, tf.int64), tf.constant(count, tf.int64))
        else:
            bins = tf.strings.to_hash_bucket_fast(tokens, count)
        return tf.where(missing, bins + self._oov_start(), found)

    def _with_mask(self, keys: Any, found: Any) -> Any:
        """The lookup result, with the index of the mask token, which is in no table."""
        if self.mask_token is None:
            return found
        token = self._token_tensor([self.mask_token])[0]
        place = tf.constant(0 if self.output_mode == "int" else _NOWHERE, tf.int64)
        key, value = (place, token) if self.invert else (token, place)
        return tf.where(tf.equal(keys, key), value, found)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs, or of a batch of vectors."""
        if self.output_mode == "int":
            return input_shape
        return tf.TensorShape([tf.TensorShape(input_shape)[0], self._depth()])

    def compute_output_signature(self, input_spec):
        """The signature of the indices or vectors."""
        shape = self.compute_output_shape(input_spec.shape)
        dtype = self.vocabulary_dtype if self.invert else self.compute_dtype
        return tf.TensorSpec(shape=shape, dtype=dtype)

    # Saving.

    @classmethod
    def from_config(cls, config):
        """Create a layer from its config; vocabulary files are read only with safe mode off."""
        with loading_scope():
            return super().from_config(config)

    def get_config(self):
        """The constructor arguments, as a dict, without a learnt vocabulary."""
        known = self._frozen_size if self._tokens is None else self.vocabulary_size()
        return {
            **super().get_config(),
            "invert": self.invert,
            "max_tokens": self.max_tokens,
            "num_oov_indices": self.num_oov_indices,
            "oov_token": self.oov_token,
            "mask_token": self.mask_token,
            "output_mode": self.output_mode,
            "sparse": self.sparse,
            "pad_to_max_tokens": self.pad_to_max_tokens,
            "vocabulary_dtype": self.vocabulary_dtype,
            "idf_weights": self.input_idf_weights,
            "vocabulary": self.input_vocabulary,
            "vocabulary_size": known,
        }

    @property
    def _keeps_assets(self) -> bool:
        """Whether saving the layer needs assets beside its config and its weights."""
        return self.input_vocabulary is None and self._tokens is not None

    def save_own_variables(self, store):
        """Store the idf weights in a mapping."""
        if self.output_mode == "tf_idf":
            store["idf_weights"] = self.idf_weights.numpy()

    def load_own_variables(self, store):
        """Load the idf weights from a mapping."""
        if self.output_mode == "tf_idf":
            self.idf_weights.assign(np.asarray(store["idf_weights"]))

    def save_assets(self, dir_path):
        """Write a learnt vocabulary into a folder."""
        if self._keeps_assets:
            write_tokens(os.path.join(dir_path, _FILE), self.get_vocabulary())

    def load_assets(self, dir_path):
        """Read a learnt vocabulary from a folder."""
        if self.input_vocabulary is not None:
            return
        tokens = read_tokens(os.path.join(dir_path, _FILE), self._as_token)
        weights = None
        if self.output_mode == "tf_idf":
            weights = self.idf_weights.numpy()[: len(tokens)]
        self.set_vocabulary(tokens, idf_weights=weights)


def _ends_of_rows(ragged: Any) -> list[int]:
    """The row splits of a ragged tensor in its flat values."""
    ends = ragged.row_splits.numpy()
    inside = ragged.values
    while is_ragged(inside):
        ends = inside.row_splits.numpy()[ends]
        inside = inside.values
    width = int(np.prod(np.shape(inside)[1:]))
    return (ends * width).tolist()


def _as_array(values: Any) -> Any:
    if isinstance(values, list | tuple):
        # NumPy would convert integers mixed with strings to strings.
        array = np.empty(len(values), object)
        array[:] = values
        return array
    return np.asarray(values)


def _as_list(values: Any) -> Any:
    if isinstance(values, np.ndarray | tf.Tensor | tf.Variable):
        return np.asarray(values).tolist()
    return values
