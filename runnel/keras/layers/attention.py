"""Attention: values averaged with weights from the similarity of queries and keys."""

from __future__ import annotations

import math
import string
import warnings
from typing import Any

import runnel as tf

from .. import initializers, regularizers
from ..engine.base_layer import Layer
from ..engine.kinds import is_ragged
from ..engine.masking import mask_of
from .activation import Softmax
from .arguments import options_config, set_options
from .dropout import BaseRandomLayer, Dropout
from .einsum_dense import EinsumDense


class BaseDenseAttention(BaseRandomLayer):
    """Attention on [query, value] or [query, value, key]; subclasses compute the scores."""

    def __init__(self, dropout=0.0, **kwargs):
        # Keras 2 took `causal` here before it became an argument of the call.
        self.causal = kwargs.pop("causal", False)
        super().__init__(**kwargs)
        self.dropout = dropout
        self.supports_masking = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        raise NotImplementedError

    def call(
        self,
        inputs,
        mask=None,
        training=None,
        return_attention_scores=False,
        use_causal_mask=False,
    ):
        """softmax(scores(query, key)) @ value, and the attention scores if requested."""
        self._check(inputs, mask)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = mask[:2] if mask else (None, None)
        scores = self._calculate_scores(query, key)
        allowed = None if value_mask is None else tf.expand_dims(value_mask, -2)
        if self.causal or use_causal_mask:
            allowed = _both(allowed, _lower_triangle(scores))
        if allowed is not None:
            lowest = 65504.0 if scores.dtype is tf.float16 else 1.0e9
            scores -= lowest * tf.cast(tf.logical_not(allowed), scores.dtype)
        weights = tf.nn.softmax(scores)
        if self.dropout:
            weights = BaseRandomLayer.call(self, weights, training)
        result = tf.matmul(weights, value)
        if query_mask is not None:
            result *= tf.cast(tf.expand_dims(query_mask, -1), result.dtype)
        return (result, weights) if return_attention_scores else result

    def _noisy(self, inputs: Any) -> Any:
        return self._random_generator.dropout(inputs, self.dropout)

    def _check(self, inputs: Any, mask: Any) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(
                f"{name} layer must be called on a list of inputs, namely [query, value] or "
                f"[query, value, key]. Received: {inputs}."
            )
        if len(inputs) not in (2, 3):
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or "
                f"[query, value, key]. Received length: {len(inputs)}."
            )
        if mask is None:
            return
        if not isinstance(mask, list | tuple):
            raise ValueError(
                f"{name} layer mask must be a list, namely [query_mask, value_mask]. Received: "
                f"{mask}."
            )
        if not 2 <= len(mask) <= len(inputs):
            raise ValueError(
                f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. "
                f"Received length: {len(mask)}."
            )

    def compute_mask(self, inputs, mask=None):
        """The query mask."""
        self._check(inputs, mask)
        return None if mask is None or mask[0] is None else tf.convert_to_tensor(mask[0])

    def compute_output_shape(self, input_shape):
        """The shape of the query, with the last size of the value."""
        query, value = tf.TensorShape(input_shape[0]), tf.TensorShape(input_shape[1])
        return query[:-1].concatenate(value[-1:])

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "dropout": self.dropout}


class Attention(BaseDenseAttention):
    """Dot-product attention (Luong et al., 2015): softmax(query @ key^T) @ value.

    With score_mode="concat" the scores are sums of tanh(query + key) instead.

    >>> layer = tf.keras.layers.Attention()
    >>> layer([tf.ones([2, 4, 8]), tf.ones([2, 6, 8])]).shape
    TensorShape([2, 4, 8])
    """

    def __init__(self, use_scale=False, score_mode="dot", **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale
        self.score_mode = score_mode
        if score_mode not in ("dot", "concat"):
            raise ValueError(
                f'Received: score_mode={score_mode}. Acceptable values are: ["dot", "concat"]'
            )

    def build(self, input_shape):
        """Create the scale and the concat score weight, where there are any."""
        self.scale = None
        if self.use_scale:
            self.scale = self.add_weight("scale", shape=(), initializer="ones")
        self.concat_score_weight = None
        if self.score_mode == "concat":
            self.concat_score_weight = self.add_weight(
                "concat_score_weight", shape=(), initializer="ones"
            )
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        if self.score_mode == "dot":
            scores = tf.matmul(query, key, transpose_b=True)
            return scores if self.scale is None else scores * self.scale
        pairs = tf.expand_dims(query, -2) + tf.expand_dims(key, -3)
        if self.scale is not None:
            pairs = self.scale * pairs
        return self.concat_score_weight * tf.reduce_sum(tf.tanh(pairs), axis=-1)

    def get_config(self):
        """The constructor arguments, as a dict."""
        own = {"use_scale": self.use_scale, "score_mode": self.score_mode}
        return {**super().get_config(), **own}


class AdditiveAttention(BaseDenseAttention):
    """Additive attention (Bahdanau et al., 2014): the scores are sum(scale * tanh(query + key)).

    >>> layer = tf.keras.layers.AdditiveAttention()
    >>> layer([tf.ones([2, 4, 8]), tf.ones([2, 6, 8])]).shape
    TensorShape([2, 4, 8])
    """

    def __init__(self, use_scale=True, **kwargs):
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def build(self, input_shape):
        """Create the scale."""
        self._check(input_shape, None)
        self.scale = None
        if self.use_scale:
            size = tf.TensorShape(input_shape[1])[-1]
            self.scale = self.add_weight("scale", shape=[size], initializer="glorot_uniform")
        super().build(input_shape)

    def _calculate_scores(self, query, key):
        pairs = tf.tanh(tf.expand_dims(query, -2) + tf.expand_dims(key, -3))
        return tf.reduce_sum(pairs if self.scale is None else self.scale * pairs, axis=-1)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "use_scale": self.use_scale}


class MultiHeadAttention(Layer):
    """Multi-head attention (Vaswani et al., 2017); each head has its own projections.

        head = softmax((query @ Q) (key @ K)^T / sqrt(key_dim)) (value @ V)
        outputs = heads @ O

    >>> layer = tf.keras.layers.MultiHeadAttention(num_heads=2, key_dim=3)
    >>> query, value = tf.ones([1, 8, 16]), tf.ones([1, 4, 16])
    >>> output, scores = layer(query, value, return_attention_scores=True)
    >>> output.shape, scores.shape
    (TensorShape([1, 8, 16]), TensorShape([1, 2, 8, 4]))
    """

    kernel_initializer: Any
    bias_initializer: Any
    kernel_regularizer: Any
    bias_regularizer: Any
    kernel_constraint: Any
    bias_constraint: Any

    def __init__(
        self,
        num_heads,
        key_dim,
        value_dim=None,
        dropout=0.0,
        use_bias=True,
        output_shape=None,
        attention_axes=None,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        softmax_robust_masking=False,
        **kwargs,
    ):
        super().__init__(activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.supports_masking = True
        self._num_heads = num_heads
        self._key_dim = key_dim
        self._value_dim = value_dim if value_dim else key_dim
        self._dropout = dropout
        self._use_bias = use_bias
        self._output_shape = output_shape
        if attention_axes is not None and not isinstance(attention_axes, list | tuple):
            attention_axes = (attention_axes,)
        self._attention_axes = None if attention_axes is None else tuple(attention_axes)
        self._softmax_robust_masking = softmax_robust_masking
        set_options(
            self,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
        )
        self._query_shape: Any = None
        self._key_shape: Any = None
        self._value_shape: Any = None

    def _build_from_signature(self, query: Any, value: Any, key: Any = None) -> None:
        """Build the projections from tensors or shapes of the inputs."""
        key = value if key is None else key
        shapes = [tf.TensorShape(getattr(each, "shape", each)) for each in (query, key, value)]
        self._query_shape, self._key_shape, self._value_shape = shapes
        heads = self._num_heads
        ranks = [len(shape) for shape in shapes]
        self._query_dense = self._projection("query", ranks[0], [heads, self._key_dim])
        self._key_dense = self._projection("key", ranks[1], [heads, self._key_dim])
        self._value_dense = self._projection("value", ranks[2], [heads, self._value_dim])
        rank = ranks[0] + 1
        if self._attention_axes is None:
            self._attention_axes = tuple(range(1, rank - 2))
        axes = self._attention_axes
        self._dot_product_equation, self._combine_equation, rank_of_scores = _equations(rank, axes)
        over = tuple(range(rank_of_scores - len(axes), rank_of_scores))
        self._softmax = Softmax(
            axis=over, dtype=self._dtype_policy, robust_masking=self._softmax_robust_masking
        )
        self._dropout_layer = Dropout(rate=self._dropout, dtype=self._dtype_policy)
        sizes = self._output_shape
        if sizes is None:
            sizes = [shapes[0][-1]]
        elif not isinstance(sizes, list | tuple):
            sizes = [sizes]
        self._output_dense = self._projection("attention_output", ranks[0], list(sizes), summed=2)
        self._tracked += [self._query_dense, self._key_dense, self._value_dense]
        self._tracked += [self._softmax, self._dropout_layer, self._output_dense]

    def _projection(self, name: str, rank: int, sizes: list[int], summed: int = 1) -> EinsumDense:
        """A dense projection that contracts the last `summed` axes into axes of the given sizes."""
        letters = string.ascii_lowercase
        free, inner = letters[: rank - 1], letters[rank - 1 : rank - 1 + summed]
        outer = letters[rank - 1 + summed : rank - 1 + summed + len(sizes)]
        return EinsumDense(
            f"{free}{inner},{inner}{outer}->{free}{outer}",
            output_shape=[None] * (rank - 2) + sizes,
            bias_axes=outer if self._use_bias else None,
            name=name,
            dtype=self._dtype_policy,
            kernel_initializer=_again(self.kernel_initializer),
            bias_initializer=_again(self.bias_initializer),
            kernel_regularizer=self.kernel_regularizer,
            bias_regularizer=self.bias_regularizer,
            kernel_constraint=self.kernel_constraint,
            bias_constraint=self.bias_constraint,
        )

    def call(
        self,
        query,
        value,
        key=None,
        attention_mask=None,
        return_attention_scores=False,
        training=None,
        use_causal_mask=False,
    ):
        """The output projection of all heads, and the attention scores if requested."""
        if self._query_shape is None:
            self._build_from_signature(query, value, key)
        key = value if key is None else key
        lengths = query.nested_row_lengths() if is_ragged(query) else None
        query, key, value = _dense(query, key, value)
        mask = self._full_mask(query, value, key, attention_mask, use_causal_mask)
        queries, keys = self._query_dense(query), self._key_dense(key)
        values = self._value_dense(value)
        output, scores = self._compute_attention(queries, keys, values, mask, training)
        output = self._output_dense(output)
        if lengths is not None:
            output = tf.RaggedTensor.from_tensor(output, lengths=lengths)
        return (output, scores) if return_attention_scores else output

    def _compute_attention(
        self, query: Any, key: Any, value: Any, attention_mask: Any = None, training: Any = None
    ) -> Any:
        """The weighted sums of projected values, and the attention scores before dropout."""
        query = tf.multiply(query, 1.0 / math.sqrt(float(self._key_dim)))
        scores = tf.einsum(self._dot_product_equation, key, query)
        scores = self._masked_softmax(scores, attention_mask)
        dropped = self._dropout_layer(scores, training=training) if self._dropout else scores
        return tf.einsum(self._combine_equation, dropped, value), scores

    def _masked_softmax(self, scores: Any, mask: Any = None) -> Any:
        if mask is None:
            return self._softmax(scores)
        axis = -2 * len(self._attention_axes) - 1
        mask = tf.convert_to_tensor(mask)
        for _ in range(scores.shape.rank - mask.shape.rank):
            mask = tf.expand_dims(mask, axis=axis)
        return self._softmax(scores, mask)

    def _full_mask(
        self, query: Any, value: Any, key: Any, attention_mask: Any, causal: bool
    ) -> Any:
        """The combined attention mask, (batch, queries, values), or None."""
        mask = None
        query_mask, value_mask, key_mask = mask_of(query), mask_of(value), mask_of(key)
        if query_mask is not None:
            mask = tf.cast(tf.expand_dims(query_mask, -1), tf.bool)
        if value_mask is not None:
            mask = _both(mask, tf.expand_dims(value_mask, -2))
        if key_mask is not None and key is not value:
            mask = _both(mask, tf.expand_dims(key_mask, -2))
        if causal:
            lengths = [_length(query), _length(value)]
            triangle = tf.linalg.band_part(tf.ones([1, *lengths], tf.bool), -1, 0)
            mask = _both(mask, triangle)
        if mask is None:
            return attention_mask
        if attention_mask is None:
            return mask
        return _both(mask, attention_mask)

    def compute_output_shape(self, query_shape, value_shape, key_shape=None):
        """The shape of the query, with the output sizes as last axes."""
        query, value = tf.TensorShape(query_shape), tf.TensorShape(value_shape)
        key = value if key_shape is None else tf.TensorShape(key_shape)
        if query[-1] != value[-1]:
            raise ValueError(
                "The last dimension of `query_shape` and `value_shape` must be equal, but are "
                f"{query[-1]}, {value[-1]}. Received: query_shape={query_shape}, "
                f"value_shape={value_shape}"
            )
        if value[1:-1] != key[1:-1]:
            raise ValueError(
                "All dimensions of `value` and `key`, except the last one, must be equal. Received "
                f"{value_shape} and {key_shape}"
            )
        if not self._output_shape:
            return query
        sizes = self._output_shape
        return query[:-1].concatenate(sizes if isinstance(sizes, list | tuple) else [sizes])

    def get_config(self):
        """The constructor arguments and the shapes that the layer was built for, as a dict."""
        return {
            **super().get_config(),
            "num_heads": self._num_heads,
            "key_dim": self._key_dim,
            "value_dim": self._value_dim,
            "dropout": self._dropout,
            "use_bias": self._use_bias,
            "output_shape": self._output_shape,
            "attention_axes": self._attention_axes,
            **options_config(
                self,
                *("kernel_initializer", "bias_initializer"),
                *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
                *("kernel_constraint", "bias_constraint"),
            ),
            "query_shape": self._query_shape,
            "key_shape": self._key_shape,
            "value_shape": self._value_shape,
            "softmax_robust_masking": self._softmax_robust_masking,
        }

    @classmethod
    def from_config(cls, config):
        """Create a layer from its config."""
        config = dict(config)
        names = ("query_shape", "key_shape", "value_shape")
        query, key, value = (config.pop(name, None) for name in names)
        layer = cls(**config)
        if None in (query, key, value):
            warnings.warn(
                "One of dimensions of the input shape is missing. It should have been memorized "
                f"when the layer was serialized. {cls} is created without weights.",
                stacklevel=2,
            )
        else:
            layer._build_from_signature(query, value, key)
        return layer


def _equations(rank: int, axes: tuple[int, ...]) -> tuple[str, str, int]:
    """The einsum equations for the scores and for the outputs, and the rank of the scores.

    Queries are (batch, ..., heads, size): the attention axes among them are replaced by those of
    the keys, all others but the last are batch axes.
    """
    letters = iter(string.ascii_lowercase)
    query = [next(letters) for _ in range(rank)]
    source = [next(letters) if axis in axes else query[axis] for axis in range(rank)]
    batch = [query[axis] for axis in range(rank - 1) if axis not in axes]
    scores = "".join(batch + [query[axis] for axis in axes] + [source[axis] for axis in axes])
    target, of_key = "".join(query), "".join(source)
    return f"{of_key},{target}->{scores}", f"{scores},{of_key}->{target}", len(scores)


def _again(initializer: Any) -> Any:
    """An equal initializer with its own random stream."""
    if not isinstance(initializer, initializers.Initializer):
        return initializer
    return type(initializer).from_config(initializer.get_config())


def _dense(query: Any, key: Any, value: Any) -> tuple[Any, Any, Any]:
    """Ragged inputs as dense ones; keys and values are padded to the same length."""
    if is_ragged(query):
        query = query.to_tensor()
    if is_ragged(key) and is_ragged(value):
        if key is value:
            key = value = value.to_tensor()
        else:
            sizes = tf.maximum(key.bounding_shape(), value.bounding_shape())
            key, value = _padded(key, sizes), _padded(value, sizes)
    elif is_ragged(key):
        key = _padded(key, tf.shape(value))
    elif is_ragged(value):
        value = _padded(value, tf.shape(key))
    return query, key, value


def _padded(tensor: Any, sizes: Any) -> Any:
    """A ragged tensor padded to a dense one, with its static shape set."""
    dense = tensor.to_tensor(shape=sizes)
    dense.set_shape(tensor.shape)
    return dense


def _both(one: Any, other: Any) -> Any:
    other = tf.cast(other, tf.bool)
    return other if one is None else tf.logical_and(one, other)


def _lower_triangle(scores: Any) -> Any:
    """The causal mask: True where a value is not later than the query."""
    return tf.linalg.band_part(tf.ones_like(scores[:1], tf.bool), -1, 0)


def _length(tensor: Any) -> Any:
    size = tensor.shape[1]
    return tf.shape(tensor)[1] if size is None else size
