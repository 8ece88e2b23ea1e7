"""What layer constructors have in common: window sizes, data formats, weight options."""

from __future__ import annotations

import operator
from typing import Any

from ...core.errors import InvalidArgumentError
from ...core.tensor import SymbolicTensor
from .. import activations, constraints, initializers, loading_limits, regularizers
from ..backend.settings import image_data_format

_MODULES = {
    "initializer": initializers,
    "regularizer": regularizers,
    "constraint": constraints,
    "activation": activations,
}


def set_options(layer: Any, **options: Any) -> None:
    """Set attributes such as kernel_initializer or bias_constraint from identifiers."""
    for name, value in options.items():
        setattr(layer, name, _MODULES[name.rpartition("_")[2]].get(value))


def options_config(layer: Any, *names: str) -> dict[str, Any]:
    """The serialized configs of such attributes."""
    return {
        name: _MODULES[name.rpartition("_")[2]].serialize(value) if value is not None else None
        for name in names
        for value in [getattr(layer, name)]
    }


def integer_tuple(value: Any, count: int, name: str, allow_zero: bool = False) -> tuple[int, ...]:
    """A tuple of `count` integers, one per axis, from one integer or a sequence."""
    message = f"The `{name}` argument must be a tuple of {count} integers. Received: {value}"
    loading_limits.claim("convolution", (count,), 8, "the sizes of axes")
    try:
        values = (operator.index(value),) * count
    except TypeError:
        try:
            values = tuple(value)
        except TypeError:
            raise ValueError(message) from None
        if len(values) != count:
            raise ValueError(message) from None
        for each in values:
            try:
                int(each)
            except (TypeError, ValueError):
                raise ValueError(
                    f"{message} including element {each} of type {type(each)}"
                ) from None
    wrong = {each for each in values if each < 0 or (each == 0 and not allow_zero)}
    if wrong:
        sign = ">=" if allow_zero else ">"
        raise ValueError(
            f"{message} including {wrong} that does not satisfy the requirement `{sign} 0`."
        )
    return values


def padding_of(value: Any) -> Any:
    """A padding mode in lower case; explicit paddings unchanged."""
    if isinstance(value, list | tuple):
        return value
    padding = value.lower()
    if padding not in ("valid", "same", "causal"):
        raise ValueError(
            'The `padding` argument must be a list/tuple or one of "valid", "same" (or "causal", '
            f"only for `Conv1D). Received: {padding}"
        )
    return padding


def data_format_of(value: str | None) -> str:
    """The data format, "channels_last" or "channels_first"; the default one for None."""
    data_format = image_data_format() if value is None else value.lower()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(
            'The `data_format` argument must be one of "channels_first", "channels_last". '
            f"Received: {value}"
        )
    return data_format


_FORMATS = {
    "channels_last": (None, "NWC", "NHWC", "NDHWC"),
    "channels_first": (None, "NCW", "NCHW", "NCDHW"),
}


def operation_format(data_format: str, rank: int) -> Any:
    """The data format in the spelling of ops with `rank` spatial axes: NHWC, ..."""
    return _FORMATS[data_format][rank]


def convolved_length(
    length: int | None, window: int, padding: Any, stride: int, dilation: int = 1
) -> int | None:
    """The number of window positions along an axis of some length."""
    if length is None:
        return None
    if padding == "valid":
        length -= window + (window - 1) * (dilation - 1) - 1
    return (length + stride - 1) // stride


def check_window_fits(layer: Any, inputs: Any, windows: Any, first: bool) -> None:
    """Raise ValueError if a symbolic input is smaller than a layer's window.

    Eager values may be that small and give empty outputs; in a functional model it is a mistake.
    """
    if layer.padding != "valid" or not isinstance(inputs, SymbolicTensor):
        return
    if inputs.shape.rank is None:
        return
    count = len(windows)
    space = inputs.shape.as_list()[-count:] if first else inputs.shape.as_list()[-count - 1 : -1]
    for size, window in zip(space, windows, strict=True):
        if size is not None and size < window:
            raise ValueError(
                f"Negative dimension size caused by subtracting {window} from {size}: layer "
                f"'{layer.name}' has a window of {tuple(windows)}, larger than its inputs of shape "
                f"{inputs.shape}. Use larger inputs, a smaller window or padding='same'."
            )


def without_room(layer: Any, inputs: Any, outputs: Any) -> Any:
    """Empty outputs for an empty batch or no filters; InvalidArgumentError for too small images."""
    if not all(inputs.shape) or 0 not in outputs.shape[1:-1]:
        return outputs
    raise InvalidArgumentError(
        None,
        None,
        f"Layer '{layer.name}' has a window of {layer.kernel_size}, larger than its inputs of "
        f"shape {inputs.shape}: there is no output. Use larger inputs, a smaller `kernel_size` or "
        "padding='same'.",
    )


def transposed_length(
    length: Any,
    window: int,
    padding: str,
    output_padding: int | None,
    stride: int,
    dilation: int,
) -> Any:
    """The output length of a transposed convolution; a number, a tensor or None."""
    if length is None:
        return None
    window += (window - 1) * (dilation - 1)
    if output_padding is None:
        return length * stride + (max(window - stride, 0) if padding == "valid" else 0)
    margin = window // 2 if padding == "same" else 0
    return (length - 1) * stride + window - 2 * margin + output_padding
