"""The core layers: Dense, Embedding, Activation, Masking and reshaping."""

from __future__ import annotations

import math
from typing import Any

import runnel as tf

from ...core.arguments import not_a_number, require_number
from ...core.context import state
from ...core.tensor import Tensor
from ...ops.nn.finished import AFFINE
from .. import activations, regularizers
from ..engine.base_layer import Layer
from ..engine.input_spec import InputSpec
from ..engine.kinds import is_ragged, is_sparse
from .arguments import data_format_of, options_config, set_options
from .at_once import outputs_at_once


class Dense(Layer):
    """activation(inputs @ kernel + bias)

    >>> layer = tf.keras.layers.Dense(2, kernel_initializer="ones")
    >>> layer(tf.constant([[1.0, 2.0, 3.0]])).numpy().tolist()
    [[6.0, 6.0]]
    """

    activation: Any
    _only_computes = True

    def __init__(
        self,
        units,
        activation=None,
        use_bias=True,
        kernel_initializer="glorot_uniform",
        bias_initializer="zeros",
        kernel_regularizer=None,
        bias_regularizer=None,
        activity_regularizer=None,
        kernel_constraint=None,
        bias_constraint=None,
        **kwargs,
    ):
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        try:
            self.units = units if isinstance(units, int) else int(units)
        except (TypeError, ValueError) as failure:
            message = not_a_number(units, "units", type(self).__name__, "an integer")
            raise type(failure)(message) from None
        if self.units < 0:
            raise ValueError(
                "Received an invalid value for `units`, expected a positive integer. Received: "
                f"units={units}"
            )
        self.use_bias = use_bias
        set_options(
            self,
            activation=activation,
            kernel_initializer=kernel_initializer,
            bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer,
            bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint,
            bias_constraint=bias_constraint,
        )
        self.input_spec = InputSpec(min_ndim=2)
        self.supports_masking = True

    def build(self, input_shape):
        """Create the kernel and the bias."""
        dtype = tf.as_dtype(self.dtype or tf.keras.backend.floatx())
        if not (dtype.is_floating or dtype.is_complex):
            raise TypeError(
                "A Dense layer can only be built with a floating-point dtype. Received: "
                f"dtype={dtype}"
            )
        input_shape = tf.TensorShape(input_shape)
        last = input_shape[-1]
        if last is None:
            raise ValueError(
                "The last dimension of the inputs to a Dense layer should be defined. Found None. "
                f"Full input shape received: {input_shape}"
            )
        self.input_spec = InputSpec(min_ndim=2, axes={-1: last})
        self.kernel = self.add_weight(
            "kernel",
            shape=[last, self.units],
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            dtype=self.dtype,
            trainable=True,
        )
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                "bias",
                shape=[self.units],
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                dtype=self.dtype,
                trainable=True,
            )
        Layer.build(self, input_shape)

    def call(self, inputs):
        """activation(inputs @ kernel + bias)"""
        if type(inputs) is Tensor and state.graph is None:
            outputs = outputs_at_once(self, inputs, 2, AFFINE, {})
            if outputs is not None:
                return outputs
        if inputs.dtype is not self._compute_dtype_object:
            inputs = tf.cast(inputs, self._compute_dtype_object)
        if is_ragged(inputs):
            return self._of_rows(inputs)
        rank = inputs.shape.rank
        if rank == 2 or rank is None:
            outputs = tf.matmul(inputs, self.kernel)
        else:
            outputs = self._matmul_along_last_axis(inputs, rank)
        if self.use_bias:
            outputs = tf.nn.bias_add(outputs, self.bias)
        return outputs if self.activation is None else self.activation(outputs)

    def _of_rows(self, inputs: Any) -> Any:
        """Apply the layer to the flat values of a ragged tensor."""
        values = inputs.flat_values
        if values.shape.rank > 1:
            return inputs.with_flat_values(self.call(values))
        # The last axis is a row partition too, with uniform row length.
        rows = tf.reshape(values, [-1, self.kernel.shape[0]])
        outer = inputs.nested_row_splits[:-1]
        return tf.RaggedTensor.from_nested_row_splits(self.call(rows), outer, validate=False)

    def _matmul_along_last_axis(self, inputs: Any, rank: int) -> Any:
        sizes = inputs.shape.as_list()
        if None not in sizes and sizes[-1]:
            rows = tf.matmul(tf.reshape(inputs, [-1, sizes[-1]]), self.kernel)
            return tf.reshape(rows, [*sizes[:-1], self.units])
        outputs = tf.tensordot(inputs, self.kernel, [[rank - 1], [0]])
        outputs.set_shape([*sizes[:-1], self.units])
        return outputs

    def compute_output_shape(self, input_shape):
        """The input shape with `units` as last size."""
        input_shape = tf.TensorShape(input_shape).with_rank_at_least(2)
        if input_shape[-1] is None:
            raise ValueError(
                "The last dimension of the input shape of a Dense layer should be defined. Found "
                f"None. Received: input_shape={input_shape}"
            )
        return input_shape[:-1].concatenate(self.units)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "units": self.units,
            **options_config(self, "activation"),
            "use_bias": self.use_bias,
            **options_config(
                self,
                *("kernel_initializer", "bias_initializer"),
                *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
                *("kernel_constraint", "bias_constraint"),
            ),
        }


class Activation(Layer):
    """An activation function as a layer.

    >>> tf.keras.layers.Activation("relu")(tf.constant([-1.0, 2.0])).numpy().tolist()
    [0.0, 2.0]
    """

    def __init__(self, activation, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.activation = activations.get(activation)

    def call(self, inputs):
        """activation(inputs)"""
        return self.activation(inputs)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), **options_config(self, "activation")}


class Identity(Layer):
    """The inputs themselves."""

    def call(self, inputs):
        """The inputs."""
        return tf.nest.map_structure(tf.identity, inputs)


class Embedding(Layer):
    """A vector for each index from 0 to `input_dim` - 1: rows of a trainable table.

    >>> layer = tf.keras.layers.Embedding(10, 4)
    >>> layer(tf.constant([[1, 2, 3]])).shape
    TensorShape([1, 3, 4])
    """

    def __init__(
        self,
        input_dim,
        output_dim,
        embeddings_initializer="uniform",
        embeddings_regularizer=None,
        activity_regularizer=None,
        embeddings_constraint=None,
        mask_zero=False,
        input_length=None,
        sparse=False,
        **kwargs,
    ):
        if "input_shape" not in kwargs and "batch_input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length if input_length else None,)
        require_number(input_dim, "input_dim", type(self).__name__)
        require_number(output_dim, "output_dim", type(self).__name__)
        if input_dim <= 0 or output_dim <= 0:
            raise ValueError(
                "Both `input_dim` and `output_dim` should be positive, Received input_dim = "
                f"{input_dim} and output_dim = {output_dim}"
            )
        # The inputs are row indices: a cast to the compute dtype would lose precision.
        kwargs["autocast"] = False
        super().__init__(activity_regularizer=activity_regularizer, **kwargs)
        self.input_dim = input_dim
        self.output_dim = output_dim
        set_options(
            self,
            embeddings_initializer=embeddings_initializer,
            embeddings_regularizer=embeddings_regularizer,
            embeddings_constraint=embeddings_constraint,
        )
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length
        self.sparse = sparse

    def build(self, input_shape=None):
        """Create the table."""
        self.embeddings = self.add_weight(
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            name="embeddings",
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
            experimental_autocast=False,
        )
        Layer.build(self, input_shape)

    def call(self, inputs):
        """Gather the rows of the table at the inputs."""
        if inputs.dtype not in (tf.int32, tf.int64):
            inputs = tf.cast(inputs, tf.int32)
        if is_sparse(inputs):
            inputs = tf.sparse.to_dense(inputs)
        outputs = tf.nn.embedding_lookup(self.embeddings, inputs)
        if outputs.dtype is not self._compute_dtype_object:
            outputs = tf.cast(outputs, self._compute_dtype_object)
        return outputs

    def compute_mask(self, inputs, mask=None):
        """The mask of nonzero inputs, with `mask_zero`."""
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape):
        """The input shape with `output_dim` appended."""
        input_shape = tuple(tf.TensorShape(input_shape).as_list())
        if self.input_length is None:
            return tf.TensorShape((*input_shape, self.output_dim))
        lengths = self.input_length
        lengths = list(lengths) if isinstance(lengths, list | tuple) else [lengths]
        message = f'"input_length" is {self.input_length}, but received input has shape '
        if len(lengths) != len(input_shape) - 1:
            raise ValueError(f"{message}{input_shape}")
        sizes = []
        for wanted, size in zip(lengths, input_shape[1:], strict=True):
            if wanted is not None and size is not None and wanted != size:
                raise ValueError(f"{message}{input_shape}")
            sizes.append(size if wanted is None else wanted)
        return tf.TensorShape((input_shape[0], *sizes, self.output_dim))

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            **options_config(
                self,
                *("embeddings_initializer", "embeddings_regularizer", "activity_regularizer"),
                "embeddings_constraint",
            ),
            "mask_zero": self.mask_zero,
            "input_length": self.input_length,
        }


class Masking(Layer):
    """Mark the time steps whose features all equal `mask_value`, for later layers to skip.

    >>> outputs = tf.keras.layers.Masking()(tf.constant([[[0.0, 0.0], [1.0, 0.0]]]))
    >>> outputs._keras_mask.numpy().tolist()
    [[False, True]]
    """

    def __init__(self, mask_value=0.0, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True
        self.mask_value = mask_value

    def compute_mask(self, inputs, mask=None):
        """The mask of steps with some feature different from `mask_value`."""
        return tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1)

    def call(self, inputs):
        """The inputs with masked steps set to zero."""
        seen = tf.reduce_any(tf.not_equal(inputs, self.mask_value), axis=-1, keepdims=True)
        return inputs * tf.cast(seen, inputs.dtype)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "mask_value": self.mask_value}


class ActivityRegularization(Layer):
    """The inputs themselves, and a penalty on them: l1 * sum(|x|) + l2 * sum(x²)."""

    def __init__(self, l1=0.0, l2=0.0, **kwargs):
        super().__init__(activity_regularizer=regularizers.L1L2(l1=l1, l2=l2), **kwargs)
        self.supports_masking = True
        self.l1 = l1
        self.l2 = l2

    def compute_output_shape(self, input_shape):
        """The shape of the inputs."""
        return input_shape

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "l1": self.l1, "l2": self.l2}


class Flatten(Layer):
    """Flatten all axes but the first into one.

    >>> tf.keras.layers.Flatten()(tf.ones([2, 3, 4])).shape
    TensorShape([2, 12])
    """

    _only_computes = True

    def __init__(self, data_format=None, **kwargs):
        super().__init__(**kwargs)
        self.data_format = data_format_of(data_format)
        self.input_spec = InputSpec(min_ndim=1)

    def call(self, inputs):
        """The inputs as a matrix."""
        rank = inputs.shape.rank
        if self.data_format == "channels_first" and rank is not None and rank > 2:
            inputs = tf.transpose(inputs, [0, *range(2, rank), 1])
        if rank == 1:
            return tf.expand_dims(inputs, -1)
        sizes = [None, None] if rank is None else inputs.shape.as_list()
        rows = sizes[0]
        columns = None if None in sizes[1:] else math.prod(sizes[1:])
        if rows is None:
            rows = -1 if columns else tf.shape(inputs)[0]
        elif columns is None and rows == 0:
            columns = tf.reduce_prod(tf.shape(inputs)[1:])
        return tf.reshape(inputs, [rows, -1 if columns is None else columns])

    def compute_output_shape(self, input_shape):
        """The size of the first axis, and the product of the others."""
        sizes = tf.TensorShape(input_shape).as_list()
        if not sizes:
            return tf.TensorShape([1, 1])
        product = None if None in sizes[1:] else math.prod(sizes[1:])
        return tf.TensorShape([sizes[0], product])

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "data_format": self.data_format}


class Reshape(Layer):
    """Reshape the inputs, but for the batch axis; one size may be -1.

    >>> tf.keras.layers.Reshape((-1, 2))(tf.ones([5, 3, 4])).shape
    TensorShape([5, 6, 2])
    """

    _only_computes = True

    def __init__(self, target_shape, **kwargs):
        super().__init__(**kwargs)
        self.target_shape = tuple(target_shape)

    def call(self, inputs):
        """Reshape the inputs."""
        rows = inputs.shape[0] if inputs.shape.rank else None
        if rows is not None:
            return tf.reshape(inputs, (rows, *self.target_shape))
        outputs = tf.reshape(inputs, (tf.shape(inputs)[0], *self.target_shape))
        if inputs.shape.rank is not None:
            outputs.set_shape(self.compute_output_shape(inputs.shape))
        return outputs

    def compute_output_shape(self, input_shape):
        """The batch size and the target shape, its -1 resolved."""
        rows, *sizes = tf.TensorShape(input_shape).as_list()
        if None in sizes:
            target = [None if size == -1 else size for size in self.target_shape]
            return tf.TensorShape([rows, *target])
        return tf.TensorShape([rows, *self._filled_in(sizes)])

    def _filled_in(self, sizes: list[Any]) -> list[Any]:
        target = list(self.target_shape)
        message = (
            f"total size of new array must be unchanged, input_shape = {sizes}, "
            f"output_shape = {target}"
        )
        known, count = 1, math.prod(sizes)
        unknown = None
        for index, size in enumerate(target):
            if size >= 0:
                known *= size
            elif unknown is None:
                unknown = index
            else:
                raise ValueError(
                    "There must be at most one unknown dimension in output_shape. Received: "
                    f"output_shape={target}."
                )
        if unknown is not None:
            if known == 0 or count % known:
                raise ValueError(message)
            target[unknown] = count // known
        elif count != known:
            raise ValueError(message)
        return target

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "target_shape": self.target_shape}


class Permute(Layer):
    """Transpose the axes, counted from 1; the batch axis is not moved.

    >>> tf.keras.layers.Permute((2, 1))(tf.ones([5, 3, 4])).shape
    TensorShape([5, 4, 3])
    """

    def __init__(self, dims, **kwargs):
        super().__init__(**kwargs)
        self.dims = tuple(dims)
        if sorted(dims) != list(range(1, len(dims) + 1)):
            raise ValueError(
                "Invalid permutation argument `dims` for Permute Layer. The set of indices in "
                f"`dims` must be consecutive and start from 1. Received dims={dims}"
            )
        self.input_spec = InputSpec(ndim=len(self.dims) + 1)

    def call(self, inputs):
        """Transpose the inputs."""
        return tf.transpose(inputs, (0, *self.dims))

    def compute_output_shape(self, input_shape):
        """The sizes in the permuted order."""
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], *(sizes[axis] for axis in self.dims)])

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "dims": self.dims}


class RepeatVector(Layer):
    """Repeat each row `n` times along a new axis.

    >>> tf.keras.layers.RepeatVector(3)(tf.ones([2, 4])).shape
    TensorShape([2, 3, 4])
    """

    def __init__(self, n, **kwargs):
        super().__init__(**kwargs)
        self.n = n
        if not isinstance(n, int):
            raise TypeError(f"Expected an integer value for `n`, got {type(n)}.")
        self.input_spec = InputSpec(ndim=2)

    def call(self, inputs):
        """The rows repeated."""
        return tf.tile(tf.expand_dims(inputs, 1), [1, self.n, 1])

    def compute_output_shape(self, input_shape):
        """The shape with `n` inserted after the batch axis."""
        sizes = tf.TensorShape(input_shape).as_list()
        return tf.TensorShape([sizes[0], self.n, sizes[1]])

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "n": self.n}
