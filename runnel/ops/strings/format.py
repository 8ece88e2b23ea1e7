"""Tensors written into a text."""

from __future__ import annotations

from ...core import nest
from ...core.convert import convert_to_tensor
from ...core.tensor import Tensor
from ..printing import StringFormat
from .elements import is_ragged


def format(template, inputs, placeholder="{}", summarize=3, name=None):
    """The template with its placeholders replaced by the values of tensors.

    >>> tf.strings.format("tensor: {}, suffix", tf.range(5)).numpy()
    b'tensor: [0 1 2 3 4], suffix'
    """
    if isinstance(inputs, Tensor) or is_ragged(inputs) or not nest.is_nested(inputs):
        values = [inputs]
    else:
        values = list(inputs)
    expected = template.count(placeholder)
    if expected != len(values):
        raise ValueError(
            f"The template expects {expected} tensors, but the inputs only has {len(values)}. "
            "Please ensure the number of placeholders in template matches inputs length."
        )
    tensors = [convert_to_tensor(value) for value in values]
    return StringFormat(tensors, template=template, placeholder=placeholder, summarize=summarize)
