"""EinsumDense: a dense layer over any axes, specified by an einsum equation."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import runnel as tf

from ..engine.base_layer import Layer
from .arguments import options_config, set_options

_EQUATION = re.compile(
    r"(?P<before>\.\.\.)?(?P<inputs>[a-zA-Z]+)(?P<after>\.\.\.)?,(?P<kernel>[a-zA-Z]+)"
    r"->(?P<before_outputs>\.\.\.)?(?P<outputs>[a-zA-Z]+)(?P<after_outputs>\.\.\.)?"
)


class EinsumDense(Layer):
    """activation(einsum(equation, inputs, kernel) + bias)

    `output_shape` leaves out the batch axis and what an ellipsis stands for; `bias_axes` are the
    labels of the output axes that have a bias.

    >>> layer = tf.keras.layers.EinsumDense("...x,xy->...y", output_shape=64, bias_axes="y")
    >>> layer(tf.ones([8, 32, 128])).shape
    TensorShape([8, 32, 64])
    """

    def __init__(
        self,
        equation,
        output_shape,
        activation=None,
        bias_axes=None,
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
        self.equation = equation
        self.partial_output_shape = (
            [output_shape] if isinstance(output_shape, int) else list(output_shape)
        )
        self.bias_axes = bias_axes
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

    def build(self, input_shape):
        """Create the kernel, and the bias if there are bias axes."""
        sizes = tf.TensorShape(input_shape).as_list()
        shapes = _shapes(self.equation, self.bias_axes, sizes, self.partial_output_shape)
        self.full_output_shape = shapes.outputs
        self.kernel = self.add_weight(
            "kernel",
            shape=shapes.kernel,
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            constraint=self.kernel_constraint,
            dtype=self.dtype,
            trainable=True,
        )
        self.bias = None
        if shapes.bias is not None:
            self.bias = self.add_weight(
                "bias",
                shape=shapes.bias,
                initializer=self.bias_initializer,
                regularizer=self.bias_regularizer,
                constraint=self.bias_constraint,
                dtype=self.dtype,
                trainable=True,
            )
        super().build(input_shape)

    def call(self, inputs):
        """activation(einsum(equation, inputs, kernel) + bias)"""
        outputs = tf.einsum(self.equation, inputs, self.kernel)
        if self.bias is not None:
            outputs = outputs + self.bias
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        """The batch size, what an ellipsis stands for, and the given output shape."""
        sizes = tf.TensorShape(input_shape).as_list()
        shapes = _shapes(self.equation, self.bias_axes, sizes, self.partial_output_shape)
        return tf.TensorShape(shapes.outputs)

    def get_config(self):
        """The constructor arguments, as a dict."""
        return {
            **super().get_config(),
            "output_shape": self.partial_output_shape,
            "equation": self.equation,
            **options_config(self, "activation"),
            "bias_axes": self.bias_axes,
            **options_config(
                self,
                *("kernel_initializer", "bias_initializer"),
                *("kernel_regularizer", "bias_regularizer", "activity_regularizer"),
                *("kernel_constraint", "bias_constraint"),
            ),
        }


class _Shapes(NamedTuple):
    kernel: list[Any]
    bias: list[Any] | None
    outputs: list[Any]


def _shapes(equation: str, bias_axes: str | None, sizes: list[Any], given: list[Any]) -> _Shapes:
    """The shapes of kernel, bias and outputs for inputs of some sizes."""
    found = _EQUATION.fullmatch(equation.replace(" ", ""))
    dots = found and [bool(found[name]) for name in ("before", "after")]
    if (
        not found
        or dots != [bool(found["before_outputs"]), bool(found["after_outputs"])]
        or (all(dots))
    ):
        raise ValueError(
            f"Invalid einsum equation '{equation}'. Equations must be in the form [X],[Y]->[Z], "
            "...[X],[Y]->...[Z], or [X]...,[Y]->[Z]...."
        )
    inputs, kernel, outputs = found["inputs"], found["kernel"], found["outputs"]
    hidden = len(sizes) - len(inputs)
    if dots[0]:
        output_sizes = [*sizes[:hidden], *given]
        of_input = dict(zip(reversed(inputs), reversed(sizes), strict=False))
        of_output = dict(zip(reversed(outputs), reversed(output_sizes), strict=False))
    else:
        output_sizes = [sizes[0], *given, *(sizes[len(inputs) :] if dots[1] else [])]
        of_input = dict(zip(inputs, sizes, strict=False))
        of_output = dict(zip(outputs, output_sizes, strict=False))
    for axis in inputs:
        size = of_output.get(axis)
        if size is not None and of_input.get(axis) != size:
            raise ValueError(
                f"Input shape and output shape do not match at shared dimension '{axis}'. Input "
                f"shape is {of_input.get(axis)}, and output shape is {size}."
            )
    for axis in outputs:
        if axis not in inputs and axis not in kernel:
            raise ValueError(
                f"Dimension '{axis}' was specified in the output '{outputs}' but has no "
                f"corresponding dim in the input spec '{inputs}' or weight spec '{kernel}'"
            )
    for axis in kernel:
        if axis not in of_input and axis not in of_output:
            raise ValueError(
                f"Weight dimension '{axis}' did not have a match in either the input spec "
                f"'{inputs}' or the output spec '{outputs}'. For this layer, the weight must be "
                "fully specified."
            )
    kernel_sizes = [of_input[axis] if axis in of_input else of_output[axis] for axis in kernel]
    if None in kernel_sizes:
        raise TypeError(
            f"The size of axis '{kernel[kernel_sizes.index(None)]}' of the kernel must be known, "
            f"got inputs of shape {tuple(sizes)} and output_shape {tuple(given)}."
        )
    bias = _bias_sizes(bias_axes, outputs, of_output, hidden if dots[1] else 0)
    return _Shapes(kernel_sizes, bias, output_sizes)


def _bias_sizes(
    bias_axes: str | None, outputs: str, of_output: dict[str, Any], hidden_after: int
) -> list[Any] | None:
    if not bias_axes:
        return None
    for axis in bias_axes:
        if axis not in outputs:
            raise ValueError(
                f"Bias dimension '{axis}' was requested, but is not part of the output spec "
                f"'{outputs}'"
            )
    first = min(outputs.index(axis) for axis in bias_axes)
    sizes = [of_output[axis] if axis in bias_axes else 1 for axis in outputs[first:]]
    return sizes + [1] * hidden_after
