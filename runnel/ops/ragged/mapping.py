"""tf.map_fn over the rows of ragged tensors, and with results of different lengths."""

from __future__ import annotations

from ...core import nest
from ...core.context import state
from ...core.convert import convert_to_tensor
from ...core.dtypes import as_dtype, int32, int64
from ...core.errors import InvalidArgumentError
from ...core.tensor import SymbolicTensor, Tensor
from ...core.type_spec import TensorSpec
from ..array import creation
from ..control_flow import while_loop
from ..math import casting
from ..tensor_array import TensorArray
from .joining import stack
from .ragged_tensor import RaggedTensor
from .row_partition import count_of
from .spec import RaggedTensorSpec


def involves_ragged(elems, signature) -> bool:
    """Whether an element or a result is ragged."""
    return any(
        isinstance(each, RaggedTensor | RaggedTensorSpec)
        for each in nest.flatten([elems, signature])
    )


def map_rows(fn, elems, signature=None):
    """Apply `fn` to each row of the elements; stack the results according to their specs."""
    values = [
        each if isinstance(each, RaggedTensor) else convert_to_tensor(each)
        for each in nest.flatten(elems)
    ]
    if signature is None:
        signature = nest.pack_sequence_as(elems, [_spec_of_rows(each) for each in values])
    tensors = nest.flatten(values, expand_composites=True)
    traced = state.graph is not None or any(isinstance(each, SymbolicTensor) for each in tensors)

    def call(index):
        return fn(nest.pack_sequence_as(elems, [each[index] for each in values]))

    if traced:
        return _traced(call, count_of(values[0], int64), signature)
    count = int(count_of(values[0], int64))
    rows = [call(index) for index in range(count)]
    columns = list(zip(*[nest.flatten(row) for row in rows], strict=True))
    specs = nest.flatten(signature)
    if not rows:
        return nest.pack_sequence_as(signature, [_no_rows(spec) for spec in specs])
    for row in rows:
        nest.assert_same_structure(signature, row)
    stacked = [_stacked(column, spec) for column, spec in zip(columns, specs, strict=True)]
    return nest.pack_sequence_as(signature, stacked)


def _spec_of_rows(value):
    if isinstance(value, Tensor):
        return value.dtype
    shape = value.shape[1:]
    return RaggedTensorSpec(shape, value.dtype, value.ragged_rank - 1, value.row_splits.dtype)


def _no_rows(spec):
    if not isinstance(spec, RaggedTensorSpec):
        shape = spec.shape if isinstance(spec, TensorSpec) else []
        return creation.zeros([0, *shape], as_dtype(getattr(spec, "dtype", spec)))
    inner = spec.shape[spec.ragged_rank + 1 :] if spec.shape.rank is not None else []
    flat = creation.zeros([0, *inner], spec.dtype)
    splits = [creation.zeros([1], spec.row_splits_dtype)] * (spec.ragged_rank + 1)
    return RaggedTensor.from_nested_row_splits(flat, splits, validate=False)


def _stacked(column, spec):
    if isinstance(spec, RaggedTensorSpec):
        values = [_checked(each, spec) for each in column]
        return stack(values).with_row_splits_dtype(spec.row_splits_dtype)
    dtype = as_dtype(getattr(spec, "dtype", spec))
    return convert_to_tensor([convert_to_tensor(each, dtype) for each in column])


def _checked(value, spec):
    value = value if isinstance(value, RaggedTensor) else convert_to_tensor(value, spec.dtype)
    found = 0 if isinstance(value, Tensor) else value.ragged_rank
    if value.shape.rank == 0 or found != spec.ragged_rank:
        raise InvalidArgumentError(
            None,
            None,
            f"fn_output_signature says {spec}, but the function gave {value!r}: a ragged tensor "
            "is made of rows of rank >= 1. Give fn_output_signature=<dtype> for dense results.",
        )
    return value


def _traced(call, count, signature):
    specs = nest.flatten(signature)

    def body(index, *arrays):
        result = call(index)
        nest.assert_same_structure(signature, result)
        parts = []
        for value, spec in zip(nest.flatten(result), specs, strict=True):
            parts += _parts(value, spec)
        written = [array.write(index, part) for array, part in zip(arrays, parts, strict=True)]
        return [index + 1, *written]

    arrays = [array for spec in specs for array in _arrays(spec, count)]
    start, limit = convert_to_tensor(0), casting.cast(count, int32)
    _, *arrays = while_loop(lambda index, *_: index < limit, body, [start, *arrays])
    remaining = iter(arrays)
    results = [_collected(spec, remaining) for spec in specs]
    return nest.pack_sequence_as(signature, results)


def _parts(value, spec):
    """The tensors written for one row: its values, and for ragged results all lengths."""
    if not isinstance(spec, RaggedTensorSpec):
        return [convert_to_tensor(value, as_dtype(getattr(spec, "dtype", spec)))]
    value = _checked(value, spec)
    dtype = spec.row_splits_dtype
    if isinstance(value, Tensor):
        return [value, count_of(value, dtype)]
    return [value.flat_values, value.nrows(dtype), *value.nested_row_lengths()]


def _arrays(spec, count):
    size = casting.cast(count, int32)
    dtype = as_dtype(getattr(spec, "dtype", spec))
    if not isinstance(spec, RaggedTensorSpec):
        return [TensorArray(dtype, size)]
    inner = None
    if spec.shape.rank is not None:
        inner = [None, *spec.shape[spec.ragged_rank + 1 :]]
    flat = TensorArray(dtype, size, infer_shape=False, element_shape=inner)
    lengths = [
        TensorArray(spec.row_splits_dtype, size, infer_shape=False, element_shape=[None])
        for _ in range(spec.ragged_rank)
    ]
    return [flat, TensorArray(spec.row_splits_dtype, size, element_shape=[]), *lengths]


def _collected(spec, arrays):
    """The result of the next arrays."""
    if not isinstance(spec, RaggedTensorSpec):
        return next(arrays).stack()
    flat, rows = next(arrays).concat(), next(arrays).stack()
    lengths = [next(arrays).concat() for _ in range(spec.ragged_rank)]
    return RaggedTensor.from_nested_row_lengths(flat, [rows, *lengths], validate=False)
