"""tf.nn: Neural-network operations."""

from ..ops.nn.convolution import (
    atrous_conv2d as atrous_conv2d,
    conv1d as conv1d,
    conv2d as conv2d,
    conv3d as conv3d,
    convolution as convolution,
)
from . import experimental as experimental
