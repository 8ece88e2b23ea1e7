"""Stacking, concatenating and splitting tensors."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.op import op
from ...core.shape_rules import UNKNOWN, normalized_axis
from ...core.shapes import TensorShape


def _packed(inputs, attrs):
    (values,) = inputs
    shape = values[0].shape
    for other in values[1:]:
        if not shape.is_compatible_with(other.shape):
            raise ValueError(
                "Shapes of all inputs must match: values[0].shape = "
                f"{shape} != {other.shape}."
            )
        shape = shape.merge_with(other.shape)
    if shape.rank is None:
        return UNKNOWN
    axis = normalized_axis(attrs["axis"], shape.rank + 1)
    return TensorShape([*shape[:axis], len(values), *shape[axis:]])


@op("Pack", "values: N*T -> output: T", shape=_packed)
def Pack(values, *, axis=0):
    return np.stack(values, axis)


@Pack.gradient
def _(op, grad):
    return Unpack(grad, num=len(op.inputs), axis=op.attrs["axis"])


def _unpacked(inputs, attrs):
    shape = inputs[0].shape
    if shape.rank is None:
        return [UNKNOWN] * attrs["num"]
    axis = normalized_axis(attrs["axis"], shape.rank)
    if shape[axis] not in (None, attrs["num"]):
        raise ValueError(f"Dimension {axis} has size {shape[axis]}, but num is {attrs['num']}.")
    return [TensorShape([*shape[:axis], *shape[axis + 1 :]])] * attrs["num"]


@op("Unpack", "value: T -> output: num*T", shape=_unpacked)
def Unpack(value, *, num, axis=0):
    return list(np.moveaxis(value, axis, 0))


@Unpack.gradient
def _(op, *grads):
    return Pack(list(grads), axis=op.attrs["axis"])


def stack(values, axis=0, name="stack"):
    """Tensors of equal shape put together along a new axis.

    >>> tf.stack([[1, 2], [3, 4]], axis=1).numpy().tolist()
    [[1, 3], [2, 4]]
    """
    return Pack([convert_to_tensor(value) for value in values], axis=axis)
