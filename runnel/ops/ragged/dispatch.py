"""The operations on ragged tensors, keyed by op: see README.md of this folder.

A public function passes a ragged tensor to its op like any tensor. The op has no array in it and
dispatches here.
"""

from __future__ import annotations

from ...core import dtypes
from ...core.context import state
from ...core.convert import constant_value, convert_to_tensor
from ...core.errors import InvalidArgumentError
from ...core.op import execute, unsupported
from ...core.shape_rules import broadcast, unchanged
from ...core.tensor import SymbolicTensor, Tensor
from ..array import creation, joining as joining_dense, selection, shaping
from ..math import arithmetic, casting, comparison, segment
from . import elementwise, gathering, joining, printing, ragged_tensor, reductions
from .row_partition import integer

# Ops with an element-wise shape rule that depend on their whole input.
_WHOLE = frozenset({"RandomShuffle", "StatelessShuffle", "MaxPoolGrad", "FractionalMaxPoolGrad",
                    "MaxPool3DGrad", "MaxPoolGradWithArgmax"})  # fmt: skip

# Element-wise ops with shape rules of their own.
_ELEMENTWISE = frozenset(
    {"AddN", "Betainc", "Bitcast", "EluGrad", "Equal", "Fingerprint", "LeakyReluGrad",
     "NotEqual", "Relu6Grad", "ReluGrad", "SelectV2", "SeluGrad", "AsString", "DecodeBase64",
     "EncodeBase64", "RegexFullMatch", "RegexReplace", "StaticRegexFullMatch",
     "StaticRegexReplace", "StringJoin", "StringLength", "StringLower", "StringStrip",
     "StringToHashBucket", "StringToHashBucketFast", "StringToHashBucketStrong", "StringToNumber",
     "StringUpper", "Substr", "UnicodeScript", "UnicodeTranscode", "DecodeRaw", "DecodePaddedRaw",
     "DecodeCompressed"}
)  # fmt: skip

_REDUCTIONS = frozenset({"Sum", "Mean", "Prod", "Max", "Min", "Any", "All"})


def execute_ragged(op, inputs, attrs):
    """The op on inputs of which one at least is a ragged tensor."""
    rule = _RULES.get(op.name)
    if rule is not None:
        return rule(op, inputs, {**op.defaults, **attrs})
    by_rule = op.shape_rule in (unchanged, broadcast) and op.name not in _WHOLE
    if by_rule or op.name in _ELEMENTWISE:
        try:
            op.types_of_results(inputs, attrs)
        except InvalidArgumentError as mismatch:
            if state.graph is None:
                raise
            raise TypeError(mismatch.message) from None
        return elementwise.apply(op, inputs, attrs)
    raise unsupported()(
        f"The operation {op.name} does not take a RaggedTensor. Convert it first "
        "(rt.to_tensor()), or work on its values (rt.flat_values, tf.ragged.map_flat_values)."
    )


def _axes(axes, value):
    """The axes to reduce; None for all."""
    known = constant_value(axes)
    if known is None:
        if isinstance(axes, SymbolicTensor) and axes.op.type == "Range":
            return None
        raise ValueError("The axis of a ragged reduction must be known when the graph is built.")
    return [int(axis) for axis in known.reshape(-1)]


def _reduce(op, inputs, attrs):
    value, axes = inputs
    return reductions.reduce(op.name, value, _axes(axes, value), attrs["keep_dims"])


def _concat(op, inputs, attrs):
    *values, axis = inputs
    return joining.concat(values, int(gathering.known_integers(axis, "The axis")))


def _expand_dims(op, inputs, attrs):
    value, axis = inputs
    return joining.expand_dims(value, int(gathering.known_integers(axis, "The axis")))


def _gather(op, inputs, attrs):
    params, indices, axis = inputs
    place = int(gathering.known_integers(axis, "The axis"))
    return gathering.gather(params, indices, place, attrs["batch_dims"])


def _reverse(op, inputs, attrs):
    value, axes = inputs
    found = gathering.known_integers(axes, "The axis")
    return gathering.reverse(value, [int(axis) for axis in found.reshape(-1)])


def _split(op, inputs, attrs):
    axis, value = inputs
    return joining.split(value, attrs["num_split"], int(gathering.known_integers(axis, "The axis")))


def _split_sizes(op, inputs, attrs):
    value, sizes, axis = inputs
    return joining.split(value, sizes, int(gathering.known_integers(axis, "The axis")))


def _size(op, inputs, attrs):
    return shaping.size(inputs[0].flat_values, attrs["out_type"])


def _rank(op, inputs, attrs):
    value = inputs[0]
    rank = value.shape.rank
    if rank is not None:
        return convert_to_tensor(rank, dtypes.int32)
    return shaping.rank(value.flat_values) + value.ragged_rank


def _reshape(op, inputs, attrs):
    value, sizes = inputs
    if not isinstance(sizes, Tensor):
        return sizes._execute(op, inputs, attrs)
    if constant_value(sizes) is not None and constant_value(sizes).tolist() == [-1]:
        return shaping.reshape(value.flat_values, sizes)
    raise ValueError("A RaggedTensor has no single shape; tf.reshape takes only [-1] for it.")


def _one_hot(op, inputs, attrs):
    value, *rest = inputs
    axis, rank = attrs["axis"], value.shape.rank
    if axis not in (-1, rank) and axis is not None:
        if not value.ragged_rank < axis:
            raise ValueError(
                f"tf.one_hot of a ragged tensor takes an axis after the ragged ones, got {axis}."
            )
        attrs = {**attrs, "axis": axis - value.ragged_rank}
    else:
        attrs = {**attrs, "axis": -1}
    return value.with_flat_values(execute(op, (value.flat_values, *rest), attrs))


def _segments(op, inputs, attrs):
    data, ids, count = inputs
    reduce = reductions.SEGMENTS[op.name.removeprefix("UnsortedSegment")]
    if not isinstance(ids, Tensor):
        if isinstance(data, Tensor):
            raise ValueError("segment_ids is ragged, but data is not.")
        return (
            _segments(op, (data.flat_values, ids.flat_values, count), attrs)
            if isinstance(ids.flat_values, Tensor) and data.ragged_rank == ids.ragged_rank
            else reductions.segments(reduce, data.values, ids.values, count)
        )
    if isinstance(data, Tensor):
        return execute(op, (data, ids, count), attrs)
    return reductions.segments(reduce, data, ids, count)


def _bincount(op, inputs, attrs):
    """Counts in each row separately: every row has its own bins in one long count."""
    values, size, weights = inputs
    if isinstance(values, Tensor) or values.ragged_rank > 1:
        raise ValueError("tf.math.bincount counts in the rows of a ragged matrix only.")
    size = casting.cast(size, dtypes.int64)
    numbers = casting.cast(values.flat_values, dtypes.int64)
    rows = casting.cast(values.value_rowids(), dtypes.int64)
    inside = comparison.less(numbers, size)
    places = selection.where(inside, rows * size + numbers, integer(-1, dtypes.int64))
    count = casting.cast(values.nrows(), dtypes.int64)
    if not isinstance(weights, Tensor):
        weights = weights.flat_values
    elif attrs["binary_output"] or weights.shape.num_elements() == 0:
        weights = creation.ones_like(numbers, weights.dtype)
    counted = segment.unsorted_segment_sum(weights, places, count * size)
    if attrs["binary_output"]:
        counted = arithmetic.minimum(counted, creation.ones_like(counted))
    return shaping.reshape(counted, joining_dense.stack([count, size]))


def _dynamic_partition(op, inputs, attrs):
    data, partitions = inputs
    return gathering.dynamic_partition(data, partitions, attrs["num_partitions"])


def _matmul(op, inputs, attrs):
    from .matmul import matmul

    return matmul(op, *inputs, attrs)


def _reduce_join(op, inputs, attrs):
    value, axes = inputs
    found = _axes(axes, value) or range(value.shape.rank)
    return reductions.join_rows(value, list(found), attrs["keep_dims"], attrs["separator"])


def _cumulative(op, inputs, attrs):
    value, axis = inputs
    place = int(gathering.known_integers(axis, "The axis"))
    return reductions.cumulative(op, value, place, attrs)


def _shape(op, inputs, attrs):
    from .dynamic_shape import shape_of

    return shape_of(inputs[0], attrs["out_type"])


def _format(op, inputs, attrs):
    """Strings formatted piece by piece, those of ragged tensors written without quotes."""
    pieces = attrs["template"].split(attrs["placeholder"])
    parts = [convert_to_tensor(pieces[0])]
    for value, piece in zip(inputs, pieces[1:], strict=True):
        if isinstance(value, ragged_tensor.RaggedTensor):
            tensors = (*value.nested_row_splits, value.flat_values)
            summarize = {"summarize": attrs["summarize"]}
            parts.append(execute(printing.RaggedTensorToText, tensors, summarize))
        else:
            parts.append(execute(op, (value,), {**attrs, "template": attrs["placeholder"]}))
        parts.append(convert_to_tensor(piece))
    from ..strings.bytes import join

    return join(parts)


def _same_rows(op, inputs, attrs):
    """A random or bias op that needs the flat values only."""
    value, *rest = inputs
    return value.with_flat_values(execute(op, (value.flat_values, *rest), attrs))


_RULES = {
    **{name: _reduce for name in _REDUCTIONS},
    "ConcatV2": _concat,
    "Pack": lambda op, inputs, attrs: joining.stack(list(inputs), attrs["axis"]),
    "ExpandDims": _expand_dims,
    "Squeeze": lambda op, inputs, attrs: joining.squeeze(inputs[0], attrs["squeeze_dims"]),
    "GatherV2": _gather,
    "GatherNd": lambda op, inputs, attrs: gathering.gather_nd(*inputs),
    "ReverseV2": _reverse,
    "Tile": lambda op, inputs, attrs: joining.tile(*inputs),
    "Split": _split,
    "SplitV": _split_sizes,
    "Size": _size,
    "Rank": _rank,
    "Shape": _shape,
    "Reshape": _reshape,
    "OneHot": _one_hot,
    "Where": lambda op, inputs, attrs: gathering.positions(inputs[0]),
    "UnsortedSegmentSum": _segments,
    "UnsortedSegmentProd": _segments,
    "UnsortedSegmentMax": _segments,
    "UnsortedSegmentMin": _segments,
    "Softmax": lambda op, inputs, attrs: reductions.softmax(inputs[0], op, attrs),
    "LogSoftmax": lambda op, inputs, attrs: reductions.softmax(inputs[0], op, attrs),
    "DenseBincount": _bincount,
    "DynamicPartition": _dynamic_partition,
    "MatMul": _matmul,
    "BatchMatMulV2": _matmul,
    "BatchMatMulV3": _matmul,
    "ReduceJoin": _reduce_join,
    "Cumsum": _cumulative,
    "StringFormat": _format,
    "BiasAdd": _same_rows,
}


def _operators():
    """Python's operators, mapped to the equivalent public functions."""
    from ..math import arithmetic, comparison, division, elementwise as unary

    def equals(x, y):
        return False if y is None else comparison.equal(x, y)

    def differs(x, y):
        return True if y is None else comparison.not_equal(x, y)

    binary = {
        "add": arithmetic.add,
        "sub": arithmetic.subtract,
        "mul": arithmetic.multiply,
        "truediv": division.divide,
        "div": division.divide,
        "floordiv": division.floordiv,
        "mod": division.floormod,
        "pow": arithmetic.pow,
        "and": comparison.logical_and,
        "or": comparison.logical_or,
        "xor": comparison.logical_xor,
    }
    methods = {f"__{name}__": function for name, function in binary.items()}
    for name, function in binary.items():
        methods[f"__r{name}__"] = _reflected(function)
    methods |= {
        "__lt__": comparison.less,
        "__le__": comparison.less_equal,
        "__gt__": comparison.greater,
        "__ge__": comparison.greater_equal,
        "__eq__": equals,
        "__ne__": differs,
        "__neg__": unary.negative,
        "__abs__": unary.abs,
        "__invert__": comparison.logical_not,
    }
    return methods


def _reflected(function):
    def operator(self, other):
        if not isinstance(other, Tensor | ragged_tensor.RaggedTensor):
            other = convert_to_tensor(other, self.dtype)
        return function(other, self)

    return operator


def define_operators(kind):
    """Define Python's operators on a class."""
    for name, method in _operators().items():
        setattr(kind, name, method)
