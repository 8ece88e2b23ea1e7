"""Normalizing the arguments of public convolution and pooling functions to the ops' attributes."""

import operator

from ...core.convert import convert_to_tensor
from ..array.joining import concat
from ..array.shaping import reshape, shape


def window_list(value, dimensions, first, name):
    """Return one entry per dimension of the tensor: spatial values, and 1 for batch and channels.

    `value` is a number, or a list of length 1, `dimensions` or `dimensions + 2`.

    >>> window_list(2, 2, False, "strides")
    (1, 2, 2, 1)
    """
    if value is None:
        value = 1
    try:
        values = [operator.index(value)]
    except TypeError:
        values = [operator.index(each) for each in value]
    if len(values) == dimensions + 2:
        return tuple(values)
    if len(values) == 1:
        values = values * dimensions
    elif len(values) != dimensions:
        raise ValueError(
            f"{name} should be of length 1, {dimensions} or {dimensions + 2}. "
            f"Received: {name}={value} of length {len(values)}"
        )
    return (1, 1, *values) if first else (1, *values, 1)


def spatial_list(value, dimensions, name):
    """Return one entry per spatial dimension from a number or a list of that many; 1 if None."""
    full = window_list(value, dimensions, False, name)
    if value is not None and not _is_number(value) and len(value) == dimensions + 2:
        raise ValueError(
            f"{name} should be of length 1 or {dimensions}. Received: {name}={value} of length "
            f"{len(full)}"
        )
    return full[1:-1]


def full_list(value, name, op_name):
    """Return a tuple of integers from a list with one entry per dimension of the tensor."""
    if _is_number(value) or not hasattr(value, "__len__"):
        raise TypeError(f"Expected list for '{name}' argument to '{op_name}' Op, not {value}.")
    return tuple(operator.index(each) for each in value)


def padding_name(padding):
    """The padding, which must be a name, not a list of explicit paddings."""
    if not isinstance(padding, str | bytes):
        raise TypeError(f"Expected string for argument 'padding' not {padding}.")
    return padding.decode() if isinstance(padding, bytes) else padding


def padding_attrs(padding, dimensions):
    """Return (padding, explicit_paddings) from a name or a list of (before, after) pairs."""
    if isinstance(padding, str | bytes):
        name = padding_name(padding)
        if name == "EXPLICIT":
            raise ValueError(
                "'EXPLICIT' is not a valid value for `padding`. To use explicit padding, "
                "`padding` must be a list."
            )
        return name, ()
    if not isinstance(padding, list | tuple):
        raise ValueError(f"`padding` must be a string or a list. Received: padding={padding}")
    if len(padding) != dimensions + 2:
        raise ValueError(
            f"When padding is a list, it must be of size {dimensions + 2}. "
            f"Received: padding={padding} of size {len(padding)}"
        )
    flat = []
    for i, pair in enumerate(padding):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise ValueError(
                f"When padding is a list, each element must be a list/tuple of size 2. "
                f"Received: padding[{i}]={pair}"
            )
        flat.extend(operator.index(each) for each in pair)
    return "EXPLICIT", tuple(flat)


def is_channels_first(data_format):
    """Whether a public data format argument is channels-first; None is not."""
    return data_format is not None and str(data_format).startswith("NC")


def over_batches(function, value, rank):
    """Apply `function` to a tensor of `rank`, the leading batch dimensions flattened.

    Convolutions take any number of batch dimensions; the ops exactly one.
    """
    if value.shape.rank is None or value.shape.rank <= rank:
        return function(value)
    batches = value.shape.rank - rank + 1
    sizes = shape(value)
    one_batch = reshape(value, concat([convert_to_tensor([-1]), sizes[batches:]], 0))
    one_batch.set_shape([None, *value.shape[batches:]])
    result = function(one_batch)
    restored = reshape(result, concat([sizes[:batches], shape(result)[1:]], 0))
    restored.set_shape([*value.shape[:batches], *result.shape[1:]])
    return restored


def _is_number(value):
    try:
        operator.index(value)
    except TypeError:
        return False
    return True
