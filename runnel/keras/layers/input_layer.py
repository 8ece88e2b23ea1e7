"""InputLayer and Input: the entry points of a functional model."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...core.graph.graph import Graph
from ...core.suggestions import keyword_advice
from ..engine.base_layer import Layer
from ..engine.keras_tensor import Node, is_keras_tensor, parts_of
from ..engine.naming import unique_name
from ..serialization import type_spec_from


class InputLayer(Layer):
    """The entry point of one input of a model.

    >>> tf.keras.layers.InputLayer((3,), name="here").output.shape
    TensorShape([None, 3])
    """

    def __init__(
        self,
        input_shape=None,
        batch_size=None,
        dtype=None,
        input_tensor=None,
        sparse=None,
        name=None,
        ragged=None,
        type_spec=None,
        optional=False,
        **kwargs,
    ):
        if sparse and ragged:
            raise ValueError("Cannot set both sparse and ragged to True in a TF-Keras input.")
        batch_input_shape = kwargs.pop("batch_input_shape", None)
        if kwargs:
            near = keyword_advice(InputLayer, next(iter(kwargs)))
            raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}.{near}")
        if input_shape is not None and batch_input_shape is not None:
            raise ValueError(
                "Only provide the input_shape OR batch_input_shape argument to InputLayer, not "
                "both at the same time."
            )
        if type_spec is not None and (input_tensor is not None or dtype or input_shape):
            raise ValueError(
                "If `type_spec` is given, the shape and dtype come from it: `input_shape`, "
                "`dtype` and `input_tensor` must be None."
            )
        if name is None:
            name = unique_name("input", zero_based=False)
        source = input_tensor if input_tensor is not None else type_spec
        if source is not None:
            dtype = getattr(source, "dtype", None) if dtype is None else dtype
            shape = getattr(source, "shape", tf.TensorShape(None))
            batch_input_shape = tuple(shape) if shape.rank is not None else None
            batch_size = batch_input_shape[0] if batch_input_shape else None
        elif batch_input_shape is None and input_shape is not None:
            batch_input_shape = (batch_size, *_sizes(input_shape))
        elif batch_input_shape is not None:
            batch_input_shape = tuple(batch_input_shape)
            batch_size = batch_input_shape[0]
        dtype = tf.as_dtype(tf.keras.backend.floatx() if dtype is None else dtype)
        super().__init__(name=name, dtype=dtype.name)
        self.built = True
        self.sparse, self.ragged = bool(sparse), bool(ragged)
        if type_spec is not None:
            self.sparse = isinstance(type_spec, tf.SparseTensorSpec)
            self.ragged = isinstance(type_spec, tf.RaggedTensorSpec)
        self._type_spec = type_spec
        self.batch_size = batch_size
        self.optional = optional
        self.supports_masking = True
        self.is_placeholder = input_tensor is None
        self._batch_input_shape = batch_input_shape
        if is_keras_tensor(input_tensor):
            raise ValueError(
                "`input_tensor` must be a value. To go on from a KerasTensor, use it directly; "
                f"received: {input_tensor}"
            )
        spec = type_spec
        if spec is None:
            spec = _spec(tf.TensorShape(batch_input_shape), dtype, self.sparse, self.ragged)
        node = Node(self, ((), [], {}), spec.from_tensors(map(_placeholder, spec.flatten())))
        for part in parts_of(node.outputs):
            part._label = name

    @property
    def input_shape(self):
        return [self._batch_input_shape]

    @property
    def output_shape(self):
        return [self._batch_input_shape]

    @classmethod
    def from_config(cls, config):
        """Create a layer from its config."""
        if isinstance(config.get("type_spec"), dict):
            config = {**config, "type_spec": type_spec_from(config["type_spec"])}
        return super().from_config(config)

    def get_config(self):
        """The constructor arguments, as a dict."""
        if self._type_spec is not None:
            return {"name": self.name, "type_spec": self._type_spec}
        return {
            "batch_input_shape": self._batch_input_shape,
            "dtype": self.dtype,
            "sparse": self.sparse,
            "ragged": self.ragged,
            "name": self.name,
            "optional": self.optional,
        }


def _spec(shape: tf.TensorShape, dtype: tf.DType, sparse: bool, ragged: bool) -> Any:
    if sparse:
        return tf.SparseTensorSpec(shape, dtype)
    if not ragged:
        return tf.TensorSpec(shape, dtype)
    # The dimensions up to the last unknown one may be ragged; the batch itself is not.
    unknown = [axis for axis, size in enumerate(shape) if size is None]
    rank = max(unknown, default=0)
    return tf.RaggedTensorSpec(shape, dtype, ragged_rank=rank)


def _placeholder(spec: Any) -> Any:
    return Graph().placeholder(spec.dtype, spec.shape)


def _sizes(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, tf.TensorShape):
        return tuple(shape.as_list())
    return (shape,) if isinstance(shape, int) else tuple(shape)


def Input(
    shape=None,
    batch_size=None,
    name=None,
    dtype=None,
    sparse=None,
    tensor=None,
    ragged=None,
    type_spec=None,
    optional=False,
    **kwargs,
):
    """A KerasTensor to call layers on: an input of a model, of `shape` without the batch axis.

    >>> inputs = tf.keras.Input(shape=(4,))
    >>> outputs = tf.keras.layers.Dense(2)(inputs)
    >>> outputs.shape
    TensorShape([None, 2])
    """
    if sparse and ragged:
        raise ValueError(
            "Cannot set both `sparse` and `ragged` to `True` in a TF-Keras `Input`. Received: "
            f"sparse={sparse}, ragged={ragged}"
        )
    batch_shape = kwargs.pop("batch_input_shape", kwargs.pop("batch_shape", None))
    if kwargs:
        near = keyword_advice(Input, next(iter(kwargs)))
        raise ValueError(f"Unrecognized keyword arguments: {list(kwargs)}.{near}")
    if shape is not None and batch_shape is not None:
        raise ValueError(
            "Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the "
            "same time."
        )
    if batch_shape is None and shape is None and tensor is None and type_spec is None:
        raise ValueError(
            "Please provide to Input a `shape` or a `tensor` or a `type_spec` argument. Note that "
            "`shape` does not include the batch dimension."
        )
    layer = InputLayer(
        input_shape=shape,
        batch_size=batch_size,
        dtype=dtype,
        input_tensor=tensor,
        sparse=sparse,
        name=name,
        ragged=ragged,
        type_spec=type_spec,
        optional=optional,
        **({} if batch_shape is None else {"batch_input_shape": batch_shape}),
    )
    return layer.output
