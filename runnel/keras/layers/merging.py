"""Merge layers: element-wise sum, product, ..., concatenation, and dot product."""

from __future__ import annotations

import functools
import operator
from typing import Any

import runnel as tf

from ..engine.base_layer import Layer
from ..engine.kinds import is_sparse


def _shape_list(input_shape: Any) -> Any:
    """Shapes of several inputs as tuples; anything else unchanged."""
    if (
        isinstance(input_shape, list | tuple)
        and input_shape
        and not isinstance(input_shape[0], int | None)
    ):
        return [tuple(tf.TensorShape(shape).as_list()) for shape in input_shape]
    return input_shape


def _broadcast(first: Any, second: Any) -> Any:
    """The broadcast shape of two shapes without their batch axes."""
    if first is None or second is None:
        return None
    if len(first) < len(second):
        first, second = second, first
    if not second:
        return first
    sizes = list(first[: -len(second)])
    for one, other in zip(first[-len(second) :], second, strict=True):
        if one is None or other is None:
            sizes.append(None)
        elif one == 1 or other == 1 or one == other:
            sizes.append(other if one == 1 else one)
        else:
            raise ValueError(
                "Inputs have incompatible shapes. Received shapes "
                f"{tuple(first)} and {tuple(second)}"
            )
    return tuple(sizes)


class _Merge(Layer):
    """An operation on several inputs; lower ranks are expanded after the batch axis."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.supports_masking = True

    def _merge_function(self, inputs: Any) -> Any:
        raise NotImplementedError

    def build(self, input_shape):
        """Check that the shapes are compatible."""
        shapes = _shape_list(input_shape)
        if shapes is input_shape and not (isinstance(shapes, list | tuple) and not shapes):
            raise ValueError(
                "A merge layer should be called on a list of inputs. Received: "
                f"input_shape={input_shape} (not a list of shapes)"
            )
        if len(shapes) < 1:
            raise ValueError(
                "A merge layer should be called on a list of at least 1 input. Received "
                f"{len(shapes)} inputs. Full input_shape received: {input_shape}"
            )
        batch_sizes = {shape[0] for shape in shapes if shape} - {None}
        if len(batch_sizes) > 1:
            raise ValueError(
                f"Cannot merge tensors with different batch sizes. Got tensors with shapes {shapes}"
            )
        functools.reduce(_broadcast, [shape[1:] for shape in shapes])
        Layer.build(self, input_shape)

    def call(self, inputs):
        """The inputs merged."""
        if not isinstance(inputs, list | tuple):
            raise ValueError(
                "A merge layer should be called on a list of inputs. Received: "
                f"inputs={inputs} (not a list of tensors)"
            )
        ranks = {each.shape.rank for each in inputs}
        if len(ranks) > 1 and None not in ranks:
            highest = max(ranks)
            inputs = [_with_rank(each, highest) for each in inputs]
        return self._merge_function(inputs)

    def compute_output_shape(self, input_shape):
        """The broadcast shape of the inputs."""
        shapes = _shape_list(input_shape)
        sizes = functools.reduce(_broadcast, [shape[1:] for shape in shapes])
        batch_sizes = {shape[0] for shape in shapes if shape is not None} - {None}
        rows = batch_sizes.pop() if len(batch_sizes) == 1 else None
        return tf.TensorShape((rows, *sizes))

    def compute_mask(self, inputs, mask=None):
        """The logical and of the inputs' masks."""
        if mask is None:
            return None
        _require_lists(inputs, mask, "Received: mask=")
        given = [each for each in mask if each is not None]
        if not given:
            return None
        return functools.reduce(tf.logical_and, [tf.cast(each, tf.bool) for each in given])


def _with_rank(tensor: Any, rank: int) -> Any:
    for _ in range(rank - tensor.shape.rank):
        tensor = tf.expand_dims(tensor, 1)
    return tensor


def _require_lists(inputs: Any, mask: Any, received: str) -> None:
    if not isinstance(mask, list | tuple):
        raise ValueError(f"`mask` should be a list. {received}{mask}")
    if not isinstance(inputs, list | tuple):
        raise ValueError(f"`inputs` should be a list. Received: inputs={inputs}")
    if len(mask) != len(inputs):
        raise ValueError(
            "The lists `inputs` and `mask` should have the same length. Received: "
            f"inputs={inputs} of length {len(inputs)}, and mask={mask} of length {len(mask)}"
        )


class Add(_Merge):
    """The sum of the inputs.

    >>> tf.keras.layers.Add()([tf.constant([[1.0]]), tf.constant([[2.0]])]).numpy().tolist()
    [[3.0]]
    """

    def _merge_function(self, inputs: Any) -> Any:
        return functools.reduce(operator.add, inputs)


class Subtract(_Merge):
    """The first input minus the second.

    >>> tf.keras.layers.Subtract()([tf.constant([[1.0]]), tf.constant([[2.0]])]).numpy().tolist()
    [[-1.0]]
    """

    def build(self, input_shape):
        """Check that there are two inputs of compatible shapes."""
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError(
                "A `Subtract` layer should be called on exactly 2 inputs. Received: "
                f"input_shape={_shape_list(input_shape)}"
            )

    def _merge_function(self, inputs: Any) -> Any:
        if len(inputs) != 2:
            raise ValueError(
                "A `Subtract` layer should be called on exactly 2 inputs. Received: "
                f"inputs={inputs}"
            )
        return inputs[0] - inputs[1]


class Multiply(_Merge):
    """The element-wise product of the inputs.

    >>> tf.keras.layers.Multiply()([tf.constant([[3.0]]), tf.constant([[2.0]])]).numpy().tolist()
    [[6.0]]
    """

    def _merge_function(self, inputs: Any) -> Any:
        return functools.reduce(operator.mul, inputs)


class Average(_Merge):
    """The mean of the inputs.

    >>> tf.keras.layers.Average()([tf.constant([[1.0]]), tf.constant([[2.0]])]).numpy().tolist()
    [[1.5]]
    """

    def _merge_function(self, inputs: Any) -> Any:
        return functools.reduce(operator.add, inputs) / len(inputs)


class Maximum(_Merge):
    """The element-wise maximum of the inputs.

    >>> tf.keras.layers.Maximum()([tf.constant([[1.0]]), tf.constant([[2.0]])]).numpy().tolist()
    [[2.0]]
    """

    def _merge_function(self, inputs: Any) -> Any:
        return functools.reduce(tf.maximum, inputs)


class Minimum(_Merge):
    """The element-wise minimum of the inputs.

    >>> tf.keras.layers.Minimum()([tf.constant([[1.0]]), tf.constant([[2.0]])]).numpy().tolist()
    [[1.0]]
    """

    def _merge_function(self, inputs: Any) -> Any:
        return functools.reduce(tf.minimum, inputs)


class Concatenate(_Merge):
    """The inputs concatenated along an axis.

    >>> tf.keras.layers.Concatenate()([tf.ones([2, 3]), tf.ones([2, 4])]).shape
    TensorShape([2, 7])
    """

    def __init__(self, axis=-1, **kwargs):
        super().__init__(**kwargs)
        self.axis = axis

    def build(self, input_shape):
        """Check that the shapes differ along the axis only."""
        shapes = _shape_list(input_shape)
        if shapes is input_shape or len(shapes) < 1:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of at least 1 input. Received: "
                f"input_shape={input_shape}"
            )
        message = (
            "A `Concatenate` layer requires inputs with matching shapes except for the "
            f"concatenation axis. Received: input_shape={shapes}"
        )
        if len({len(shape) for shape in shapes}) > 1:
            raise ValueError(message)
        rank = len(shapes[0])
        if not -rank <= self.axis < rank:
            raise IndexError(
                f"There is no axis {self.axis} in inputs of rank {rank}. Received: "
                f"input_shape={shapes}"
            )
        for axis in set(range(rank)) - {self.axis % rank}:
            if len({shape[axis] for shape in shapes} - {None}) > 1:
                raise ValueError(message)
        Layer.build(self, input_shape)

    def call(self, inputs):
        """Concatenate the inputs."""
        if any(is_sparse(each) for each in inputs):
            joined = tf.sparse.concat(self.axis, inputs)
            joined.set_shape(self.compute_output_shape([each.shape for each in inputs]))
            return joined
        return tf.concat(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape):
        """The shape of the inputs, with the sum of their sizes along the axis."""
        shapes = _shape_list(input_shape)
        if shapes is input_shape:
            raise ValueError(
                "A `Concatenate` layer should be called on a list of inputs. Received: "
                f"input_shape={input_shape}"
            )
        sizes = list(shapes[0])
        for shape in shapes[1:]:
            if sizes[self.axis] is None or shape[self.axis] is None:
                sizes[self.axis] = None
                break
            sizes[self.axis] += shape[self.axis]
        return tf.TensorShape(sizes)

    def compute_mask(self, inputs, mask=None):
        """The masks concatenated along the time axis, otherwise their logical and."""
        if mask is None:
            return None
        _require_lists(inputs, mask, "Received mask=")
        if all(each is None for each in mask):
            return None
        masks = []
        for tensor, each in zip(inputs, mask, strict=True):
            if each is None:
                masks.append(tf.ones_like(tensor, dtype=tf.bool))
            elif each.shape.rank < tensor.shape.rank:
                # Broadcast over the features, so that the concatenated mask covers each of them.
                spread = tf.cast(tf.expand_dims(each, -1), tf.bool)
                masks.append(tf.logical_and(spread, tf.ones_like(tensor, dtype=tf.bool)))
            else:
                masks.append(each)
        return tf.reduce_all(tf.cast(tf.concat(masks, axis=self.axis), tf.bool), axis=-1)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "axis": self.axis}


class Dot(_Merge):
    """The batched dot product of two inputs along an axis of each.

    >>> x, y = tf.ones([2, 3, 4]), tf.ones([2, 4, 5])
    >>> tf.keras.layers.Dot(axes=(2, 1))([x, y]).shape
    TensorShape([2, 3, 5])
    """

    def __init__(self, axes, normalize=False, **kwargs):
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, list | tuple):
                raise TypeError(
                    "Invalid type for argument `axes`: it should be a list or an int. Received: "
                    f"axes={axes}"
                )
            if len(axes) != 2:
                raise ValueError(
                    "Invalid format for argument `axes`: it should contain two elements. "
                    f"Received: axes={axes}"
                )
            if not all(isinstance(axis, int) for axis in axes):
                raise ValueError(
                    "Invalid format for argument `axes`: list elements should be integers. "
                    f"Received: axes={axes}"
                )
        self.axes = axes
        self.normalize = normalize

    def _axes_for(self, first: int, second: int) -> tuple[int, int]:
        """The contracted axes of two inputs of known ranks."""
        if isinstance(self.axes, int):
            one, other = self.axes, self.axes
        else:
            one, other = self.axes
        return one % first if one < 0 else one, other % second if other < 0 else other

    def _shapes(self, input_shape: Any) -> Any:
        shapes = _shape_list(input_shape)
        if shapes is input_shape or len(shapes) != 2:
            raise ValueError(
                "A `Dot` layer should be called on a list of 2 inputs. Received: "
                f"input_shape={shapes}"
            )
        return shapes

    def build(self, input_shape):
        """Check that the sizes along the axes agree."""
        first, second = self._shapes(input_shape)
        one, other = self._axes_for(len(first), len(second))
        if one >= len(first) or other >= len(second):
            raise IndexError(
                f"There are no axes {self.axes} in inputs of shapes {first} and {second}."
            )
        if None not in (first[one], second[other]) and first[one] != second[other]:
            raise ValueError(
                f"Incompatible input shapes: axis values {first[one]} (at axis {one}) != "
                f"{second[other]} (at axis {other}). Full input shapes: {first}, {second}"
            )
        Layer.build(self, input_shape)

    def call(self, inputs):
        """The dot products."""
        if len(inputs) != 2:
            raise ValueError(
                f"A `Dot` layer should be called on exactly 2 inputs. Received: inputs={inputs}"
            )
        first, second = inputs
        one, other = self._axes_for(first.shape.rank, second.shape.rank)
        if 0 in (one, other):
            raise ValueError(
                "Cannot perform batch_dot over axis 0. If your inputs are not batched, add a "
                "dummy batch dimension to your inputs using K.expand_dims(x, 0)"
            )
        if self.normalize:
            first = tf.linalg.l2_normalize(first, axis=one)
            second = tf.linalg.l2_normalize(second, axis=other)
        return _batch_dot(first, second, one, other)

    def compute_output_shape(self, input_shape):
        """The shapes of both inputs without the contracted axes, concatenated."""
        first, second = (list(shape) for shape in self._shapes(input_shape))
        one, other = self._axes_for(len(first), len(second))
        del first[one], second[other]
        sizes = first + second[1:]
        return tf.TensorShape(sizes if len(sizes) > 1 else [*sizes, 1])

    def compute_mask(self, inputs, mask=None):
        """None: the masked axes are gone."""
        return None

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {**super().get_config(), "axes": self.axes, "normalize": self.normalize}


def _batch_dot(first: Any, second: Any, one: int, other: int) -> Any:
    """Batched contraction along an axis of each."""
    letters = iter("cdefghijklmnopqrstuvwxyz")
    left = "b" + "".join(
        "a" if axis == one else next(letters) for axis in range(1, first.shape.rank)
    )
    right = "b" + "".join(
        "a" if axis == other else next(letters) for axis in range(1, second.shape.rank)
    )
    result = left.replace("a", "") + right[1:].replace("a", "")
    outputs = tf.einsum(f"{left},{right}->{result}", first, second)
    return tf.expand_dims(outputs, 1) if len(result) == 1 else outputs


def add(inputs, **kwargs):
    """The sum of the inputs; see `Add`."""
    return Add(**kwargs)(inputs)


def subtract(inputs, **kwargs):
    """The first input minus the second; see `Subtract`."""
    return Subtract(**kwargs)(inputs)


def multiply(inputs, **kwargs):
    """The product of the inputs; see `Multiply`."""
    return Multiply(**kwargs)(inputs)


def average(inputs, **kwargs):
    """The mean of the inputs; see `Average`."""
    return Average(**kwargs)(inputs)


def maximum(inputs, **kwargs):
    """The element-wise maximum of the inputs; see `Maximum`."""
    return Maximum(**kwargs)(inputs)


def minimum(inputs, **kwargs):
    """The element-wise minimum of the inputs; see `Minimum`."""
    return Minimum(**kwargs)(inputs)


def concatenate(inputs, axis=-1, **kwargs):
    """The inputs concatenated along an axis; see `Concatenate`.

    >>> tf.keras.layers.concatenate([tf.ones([2, 3]), tf.ones([2, 4])]).shape
    TensorShape([2, 7])
    """
    return Concatenate(axis=axis, **kwargs)(inputs)


def dot(inputs, axes, normalize=False, **kwargs):
    """The batched dot product of two inputs; see `Dot`."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
