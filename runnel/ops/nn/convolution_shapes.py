"""Shape checks and the output shape of convolutions."""

from functools import lru_cache

from ...core import errors
from ...core.convert import constant_shape
from ...core.shape_rules import dimensions_text
from ...core.shapes import TensorShape
from .windows import channels_first, place_window, spatial_part

FORMATS = {4: ("NHWC", "NCHW"), 5: ("NDHWC", "NCDHW")}
PADDINGS = ("SAME", "VALID", "EXPLICIT")


def check_choice(name, value, allowed):
    """Raise ValueError unless an attribute has one of its allowed values."""
    if value not in allowed:
        names = ", ".join(f'"{each}"' for each in allowed)
        raise ValueError(
            f"Value for attr '{name}' of \"{value}\" is not in the list of allowed values: {names}"
        )


def check_window_attr(name, values, rank, first):
    """Raise unless a list such as strides has positive entries, 1 for batch and channels."""
    if len(values) != rank:
        raise ValueError(
            f"Sliding window {name} field must specify {rank} dimensions, got {list(values)}."
        )
    if values[0] != 1 or values[1 if first else -1] != 1:
        message = (
            f"Current implementation does not yet support {name} in the batch and depth "
            f"dimensions: got {name}={list(values)}; their first entry and that of the channels "
            f"must be 1."
        )
        # The original raises another class in three dimensions.
        if rank == 5:
            raise ValueError(message)
        raise errors.UnimplementedError(None, None, message)
    for value in spatial_part(values, first):
        if value < 1:
            raise ValueError(f"Spatial {name} should be larger than 0, got {list(values)}.")


def explicit_pairs(explicit_paddings, padding, rank, first):
    """The (before, after) pairs of the flat attribute, one per dimension; () if not EXPLICIT."""
    if padding != "EXPLICIT":
        if explicit_paddings:
            raise ValueError(
                f"explicit_paddings attribute must be empty if the padding attribute is not "
                f"EXPLICIT, got padding={padding} and explicit_paddings={list(explicit_paddings)}."
            )
        return ()
    if len(explicit_paddings) != 2 * rank:
        raise ValueError(
            f"explicit_paddings attribute must contain {2 * rank} values, but got: "
            f"{len(explicit_paddings)}."
        )
    pairs = tuple(zip(explicit_paddings[::2], explicit_paddings[1::2], strict=True))
    if any(value < 0 for value in explicit_paddings):
        raise ValueError(f"All elements of explicit_paddings must be nonnegative, got {pairs}.")
    if any(pairs[0]) or any(pairs[1 if first else -1]):
        raise ValueError(
            f"Nonzero explicit padding in the batch or depth dimensions is not supported, "
            f"got {pairs}."
        )
    return spatial_part(pairs, first)


def place_convolution(input_shape, filter_shape, rank, attrs, depthwise=False):
    """Check a convolution's shapes (None where unknown) and attributes; return its axes.

    `attrs` are (strides, padding, explicit_paddings, data_format, dilations).
    """
    strides, padding, explicit_paddings, data_format, dilations = attrs
    return _place(
        tuple(input_shape),
        tuple(filter_shape),
        rank,
        tuple(strides),
        padding,
        tuple(explicit_paddings),
        data_format,
        tuple(dilations),
        depthwise,
    )


@lru_cache(maxsize=1024)
def _place(
    input_shape,
    filter_shape,
    rank,
    strides,
    padding,
    explicit_paddings,
    data_format,
    dilations,
    depthwise,
):
    check_choice("padding", padding, PADDINGS)
    check_choice("data_format", data_format, FORMATS[rank])
    first = channels_first(data_format)
    for what, shape in (("input", input_shape), ("filter", filter_shape)):
        if len(shape) != rank:
            raise ValueError(
                f"convolution {what} must be {rank}-dimensional: "
                f"{dimensions_text(TensorShape(shape))}."
            )
    check_window_attr("strides", strides, rank, first)
    check_window_attr("dilations", dilations, rank, first)
    pairs = explicit_pairs(explicit_paddings, padding, rank, first)
    check_depths(input_shape[1 if first else -1], filter_shape, depthwise)
    return place_window(
        spatial_part(input_shape, first),
        filter_shape[:-2],
        spatial_part(strides, first),
        spatial_part(dilations, first),
        padding,
        pairs,
    )


def check_depths(input_depth, filter_shape, depthwise):
    """Raise ValueError unless the channels of the input and of the filter are compatible."""
    depth, count = filter_shape[-2:]
    if depth == 0:
        raise ValueError(f"filter depth must be strictly positive, got {depth}.")
    if input_depth is None or depth is None:
        return
    if depthwise:
        if input_depth != depth:
            raise ValueError(
                f"input and filter must have the same depth: {input_depth} vs {depth}."
            )
    elif input_depth % depth:
        raise ValueError(
            f"input depth must be evenly divisible by filter depth: {input_depth} vs {depth}."
        )
    elif count is not None and input_depth and count % (input_depth // depth):
        raise ValueError(
            f"output depth must be evenly divisible by number of groups: {count} vs "
            f"{input_depth // depth}."
        )


def output_depth(filter_shape, depthwise):
    """The number of output channels, None if unknown."""
    depth, count = filter_shape[-2:]
    if not depthwise:
        return count
    return None if depth is None or count is None else depth * count


def with_channels(batch, space, depth, first):
    """Assemble a shape in the order of the data format."""
    return (batch, depth, *space) if first else (batch, *space, depth)


def check_output_gradient(shape, expected, what):
    """Raise ValueError unless the output's gradient has the output's shape."""
    wrong = len(shape) != len(expected) or any(
        actual is not None and wanted is not None and actual != wanted
        for actual, wanted in zip(shape, expected, strict=True)
    )
    if wrong:
        raise ValueError(
            f"{what}: Size of out_backprop doesn't match computed: actual = "
            f"{dimensions_text(TensorShape(shape))}, computed = "
            f"{dimensions_text(TensorShape(expected))}. Check the sizes, strides and padding."
        )


def convolution_rule(rank, depthwise=False):
    """Make the shape rule of a convolution of tensors of this rank."""

    def rule(inputs, attrs):
        input_shape = known_rank(inputs[0].shape, rank)
        filter_shape = known_rank(inputs[1].shape, rank)
        given = (
            attrs["strides"],
            attrs["padding"],
            attrs.get("explicit_paddings", ()),
            attrs["data_format"],
            attrs["dilations"],
        )
        axes = place_convolution(input_shape, filter_shape, rank, given, depthwise)
        space = [axis.output for axis in axes]
        depth = output_depth(filter_shape, depthwise)
        first = channels_first(attrs["data_format"])
        return TensorShape(with_channels(input_shape[0], space, depth, first))

    return rule


def known_rank(shape, rank):
    """The dimensions of a shape; of an unknown shape, `rank` unknown ones."""
    return (None,) * rank if shape.rank is None else tuple(shape)


def input_gradient_rule(rank):
    """Make the shape rule of an input gradient; the input's shape is the first input's value."""

    def rule(inputs, attrs):
        sizes = constant_shape(inputs[0])
        if rank == 4 and sizes.rank == 2:
            first = channels_first(attrs["data_format"])
            filter_shape = known_rank(inputs[1].shape, rank)
            batch = known_rank(inputs[2].shape, rank)[0]
            return TensorShape(with_channels(batch, tuple(sizes), filter_shape[-2], first))
        return sizes.with_rank(rank)

    return rule


def filter_gradient_rule(rank):
    """Make the shape rule of a filter gradient; the filter's shape is the second input's value."""
    return lambda inputs, attrs: constant_shape(inputs[1]).with_rank(rank)
