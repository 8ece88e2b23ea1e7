"""Moving blocks of pixels into the channels, and the inverse."""

from ...core.convert import convert_to_tensor
from ...core.op import op
from ...core.shapes import TensorShape
from .convolution_shapes import check_choice, known_rank
from .windows import channels_first


def _check_attrs(rank, block_size, data_format):
    check_choice("data_format", data_format, ("NHWC", "NCHW"))
    if block_size < 2:
        raise ValueError(f"Value for attr 'block_size' of {block_size} must be at least minimum 2")
    if rank != 4:
        raise ValueError(f"Input rank should be 4 instead of {rank}.")


def _divide(size, divisor, what):
    """Divide a size that may be unknown; ValueError if it is not divisible."""
    if size is None:
        return None
    if size % divisor:
        raise ValueError(f"{what} {size} should be divisible by: {divisor}.")
    return size // divisor


def _multiply(size, factor):
    return None if size is None else size * factor


def _to_depth(dims, block_size, data_format):
    """Shape rule of blocks of pixels becoming channels."""
    _check_attrs(len(dims), block_size, data_format)
    square = block_size * block_size
    if channels_first(data_format):
        batch, depth, *space = dims
    else:
        batch, *space, depth = dims
    space = [_divide(size, block_size, "Image width or height") for size in space]
    depth = _multiply(depth, square)
    return (batch, depth, *space) if channels_first(data_format) else (batch, *space, depth)


def _to_space(dims, block_size, data_format):
    """Shape rule of channels becoming blocks of pixels."""
    _check_attrs(len(dims), block_size, data_format)
    square = block_size * block_size
    if channels_first(data_format):
        batch, depth, *space = dims
    else:
        batch, *space, depth = dims
    space = [_multiply(size, block_size) for size in space]
    depth = _divide(depth, square, "Input depth dimension")
    return (batch, depth, *space) if channels_first(data_format) else (batch, *space, depth)


def _rule(change):
    return lambda inputs, attrs: TensorShape(
        change(known_rank(inputs[0].shape, 4), attrs["block_size"], attrs["data_format"])
    )


@op("SpaceToDepth", "input: T -> output: T", shape=_rule(_to_depth))
def SpaceToDepth(input, *, block_size, data_format="NHWC"):
    shape = _to_depth(input.shape, block_size, data_format)
    if channels_first(data_format):
        batch, _, rows, columns = shape
        split = input.reshape(batch, input.shape[1], rows, block_size, columns, block_size)
        return split.transpose(0, 3, 5, 1, 2, 4).reshape(shape)
    batch, rows, columns, _ = shape
    split = input.reshape(batch, rows, block_size, columns, block_size, input.shape[3])
    return split.transpose(0, 1, 3, 2, 4, 5).reshape(shape)


@SpaceToDepth.gradient
def _(op, grad):
    return DepthToSpace(grad, **op.attrs)


@op("DepthToSpace", "input: T -> output: T", shape=_rule(_to_space))
def DepthToSpace(input, *, block_size, data_format="NHWC"):
    shape = _to_space(input.shape, block_size, data_format)
    if channels_first(data_format):
        batch, _, rows, columns = input.shape
        split = input.reshape(batch, block_size, block_size, shape[1], rows, columns)
        return split.transpose(0, 3, 4, 1, 5, 2).reshape(shape)
    batch, rows, columns, _ = input.shape
    split = input.reshape(batch, rows, columns, block_size, block_size, shape[3])
    return split.transpose(0, 1, 3, 2, 4, 5).reshape(shape)


@DepthToSpace.gradient
def _(op, grad):
    return SpaceToDepth(grad, **op.attrs)


def space_to_depth(input, block_size, data_format="NHWC", name=None):
    """Move blocks of pixels into the channels.

    >>> tf.nn.space_to_depth([[[[1], [2]], [[3], [4]]]], 2).numpy().tolist()
    [[[[1, 2, 3, 4]]]]
    """
    return SpaceToDepth(
        convert_to_tensor(input), block_size=int(block_size), data_format=data_format
    )


def depth_to_space(input, block_size, data_format="NHWC", name=None):
    """Move channels into blocks of pixels.

    >>> tf.nn.depth_to_space([[[[1, 2, 3, 4]]]], 2).numpy().tolist()
    [[[[1], [2]], [[3], [4]]]]
    """
    return DepthToSpace(
        convert_to_tensor(input), block_size=int(block_size), data_format=data_format
    )
