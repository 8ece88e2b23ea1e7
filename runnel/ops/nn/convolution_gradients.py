"""Transposed convolutions: what the gradient of a convolution by its input does, as a function."""

from ...core import errors
from ...core.convert import constant_value, convert_to_tensor, operands
from ...core.dtypes import int32
from ..array.joining import concat
from ..array.shaping import expand_dims, reshape, shape, squeeze
from .convolution import (
    Conv2D,
    Conv2DBackpropFilter,
    Conv2DBackpropInput,
    Conv3D,
    Conv3DBackpropInputV2,
    _sequences_channels_first,
    _with_row,
)
from .window_arguments import (
    full_list,
    is_channels_first,
    over_batches,
    padding_attrs,
    padding_name,
    window_list,
)
