"""TimeDistributed: a layer applied to every time step."""

from __future__ import annotations

from typing import Any

import runnel as tf

from ...backend.recurrence import rnn
from ...engine.base_layer import Layer
from ...engine.input_spec import InputSpec
from ...engine.kinds import is_ragged
from ...engine.masking import shapes_structure
from ..wrapper import Wrapper
from .stacked import takes


class TimeDistributed(Wrapper):
    """The same layer applied to every time step of the inputs, (batch, time, ...).

    >>> layer = tf.keras.layers.TimeDistributed(tf.keras.layers.Conv2D(64, 3))
    >>> layer(tf.ones([2, 5, 8, 8, 3])).shape
    TensorShape([2, 5, 6, 6, 64])
    """

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(
                "Please initialize `TimeDistributed` layer with a `tf.keras.layers.Layer` "
                f"instance. Received: {layer}"
            )
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        # A custom layer may depend on the batch size, or be stateful.
        library = type(layer).__module__.startswith(__package__.rpartition(".")[0])
        self._all_at_once = library and not getattr(layer, "stateful", False)

    def build(self, input_shape):
        """Build the layer for the inputs of one time step."""
        shapes = shapes_structure(input_shape)
        for shape in tf.nest.flatten(shapes):
            if len(shape) < 3:
                raise ValueError(
                    "`TimeDistributed` Layer should be passed an `input_shape ` with at least 3 "
                    f"dimensions, received: {input_shape}"
                )
        self.input_spec = tf.nest.map_structure(
            lambda shape: InputSpec(shape=[None, None, *shape[2:]]), shapes
        )
        of_step = tf.nest.map_structure(_without_time, shapes)
        super().build(of_step)
        self.layer._build_input_shape = of_step

    def call(self, inputs, training=None, mask=None):
        """Apply the layer to all steps at once, folded into the batch; or step by step."""
        kwargs: dict[str, Any] = {}
        if takes(self.layer, "training"):
            kwargs["training"] = training
        if is_ragged(inputs):
            return inputs.with_values(self.layer(inputs.values, **kwargs))
        flat = tf.nest.flatten(inputs)
        batch, time = flat[0].shape[0], flat[0].shape[1]
        if batch and time and not self._all_at_once:
            outputs = rnn(
                lambda x, _: (self.layer(x, **kwargs), []),
                inputs,
                [],
                mask=mask[0] if isinstance(mask, list | tuple) else mask,
            )[1]
            return outputs
        if takes(self.layer, "mask") and mask is not None:
            kwargs["mask"] = tf.nest.map_structure(_merged, mask)
        outputs = self.layer(tf.nest.map_structure(_merged, inputs), **kwargs)
        return tf.nest.map_structure(lambda each: _parted(each, flat[0]), outputs)

    def compute_output_shape(self, input_shape):
        """The layer's output shape, with the time axis."""
        shapes = shapes_structure(input_shape)
        first = tf.nest.flatten(shapes)[0]
        outputs = self.layer.compute_output_shape(tf.nest.map_structure(_without_time, shapes))
        return tf.nest.map_structure(
            lambda shape: tf.TensorShape([first[0], first[1], *shape[1:]]),
            shapes_structure(outputs),
        )

    def compute_mask(self, inputs, mask=None):
        """The mask that the layer computes, or that of the time steps."""
        if is_ragged(inputs):
            return None
        first = tf.nest.flatten(inputs)[0]
        inner = None if mask is None else tf.nest.map_structure(
            lambda each: None if each is None else _merged(each), mask
        )  # fmt: skip
        made = self.layer.compute_mask(tf.nest.map_structure(_merged, inputs), inner)
        if made is not None:
            return tf.nest.map_structure(lambda each: _parted(each, first), made)
        if mask is None:
            return None
        of_steps = tf.nest.flatten(mask)[0]
        if of_steps is None or of_steps.shape.rank <= 2:
            return of_steps
        return tf.reduce_any(of_steps, axis=list(range(2, of_steps.shape.rank)))


def _without_time(shape: tf.TensorShape) -> tuple[Any, ...]:
    sizes = shape.as_list()
    return (sizes[0], *sizes[2:])


def _merged(tensor: Any) -> Any:
    """Fold the time axis into the batch axis."""
    batch, time, *rest = tensor.shape
    if None not in rest:
        merged = tf.reshape(tensor, [-1, *rest])
    else:
        merged = tf.reshape(tensor, tf.concat([[-1], tf.shape(tensor)[2:]], 0))
    size = None if batch is None or time is None else batch * time
    return tf.ensure_shape(merged, [size, *rest]) if None in rest else merged


def _parted(tensor: Any, like: Any) -> Any:
    """Restore the time axis, with the static shape of a tensor before folding."""
    sizes = [like.shape[0], like.shape[1], *tensor.shape[1:]]
    if sizes.count(None) < 2:
        return tf.reshape(tensor, [-1 if size is None else size for size in sizes])
    dynamic = tf.concat([tf.shape(like)[:2], tf.shape(tensor)[1:]], 0)
    return tf.ensure_shape(tf.reshape(tensor, dynamic), sizes)
