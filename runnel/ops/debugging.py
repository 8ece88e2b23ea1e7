"""Assertions about tensors, and checks for infinities and NaNs."""

from __future__ import annotations

import builtins

import ml_dtypes
import numpy as np

from ..core import dtypes, errors
from ..core.context import state, tracebacks
from ..core.convert import constant_value, convert_to_tensor, operands
from ..core.dtypes import FLOATING, as_dtype
from ..core.op import execute, op
from ..core.shape_rules import nothing, unchanged
from ..core.tensor import SymbolicTensor, Tensor
from ..core.variable import Variable
from .array.shaping import identity
from .math import comparison, elementwise
from .math.reduction import reduce_all


@op("Assert", "condition: bool, data: *T", shape=nothing, gradient=None, stateful=True)
def AssertOp(condition, data, *, summarize=3):
    if not condition:
        raise errors.InvalidArgumentError(
            None, None, "assertion failed: " + _texts(data, summarize)
        )
    return []


def _texts(arrays, summarize):
    return " ".join(f"[{_summary(array, summarize)}]" for array in arrays)


def _summary(array, summarize):
    flat = np.ravel(array)
    shown = flat if summarize is None or summarize < 0 else flat[:summarize]
    text = " ".join(str(each.decode() if isinstance(each, bytes) else each) for each in shown)
    return text + ("..." if len(shown) < len(flat) else "")


def Assert(condition, data, summarize=None, name=None):
    """Raise InvalidArgumentError with `data` in its message unless `condition` is true."""
    if state.graph is not None:
        values = [convert_to_tensor(each) for each in data]
        return AssertOp(convert_to_tensor(condition), values, summarize=summarize or 3)
    if not condition:
        shown = "\n".join(_data_text(each, summarize or 3) for each in data)
        raise errors.InvalidArgumentError(
            None, None, f"Expected '{condition}' to be true. Summarized data: {shown}"
        )
    return None


def _data_text(value, summarize):
    flat = np.ravel(np.asarray(convert_to_tensor(value)._array))
    shown = flat if summarize < 0 else flat[:summarize]
    text = ", ".join(str(each) for each in shown)
    return text + (", ..." if len(shown) < len(flat) else "")


def _check(holds, message, describe, summarize, data, condition):
    """Raise unless `holds` everywhere; in a graph, add an Assert operation."""
    if isinstance(holds, SymbolicTensor):
        said = [message] if message else []
        said.append(f"Condition {condition} did not hold element-wise:")
        for name, value in zip("xy", data, strict=False):
            said += [f"{name} = ", value]
        shown = [convert_to_tensor(each) for each in said]
        return AssertOp(reduce_all(holds), shown, summarize=summarize)
    if not np.all(np.asarray(holds._array)):
        raise errors.InvalidArgumentError(None, None, describe(np.asarray(holds._array)))
    return None


def _assert_binary(symbol, function, x, y, message, summarize):
    x, y = operands(x, y)
    if x.dtype is not y.dtype:
        function(x, y)
    holds = function(x, y)
    if not isinstance(holds, Tensor):
        # Ragged tensors whose row partitions are equal: only their values remain to be compared.
        flat = [each if isinstance(each, Tensor) else each.flat_values for each in (x, y)]
        (x, y), holds = flat, holds.flat_values
    limit = 3 if summarize is None else summarize

    def describe(mask):
        a, b = np.asarray(x._array), np.asarray(y._array)
        lines = [message] if message else []
        lines.append(f"Condition x {symbol} y did not hold.")
        if a.shape == b.shape and a.ndim:
            wrong = np.argwhere(~mask)[:limit]
            places = tuple(wrong.T)
            lines += [
                f"Indices of first {len(wrong)} different values:",
                str(wrong),
                "Corresponding x values:",
                str(a[places]),
                "Corresponding y values:",
                str(b[places]),
            ]
        for name, array in (("x", a), ("y", b)):
            first = array.ravel()[:limit]
            lines += [f"First {len(first)} elements of {name}:", str(first)]
        return "\n".join(lines)

    return _check(holds, message, describe, limit, [x, y], f"x {symbol} y")


def assert_equal(x, y, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x == y everywhere.

    >>> tf.debugging.assert_equal([1, 2], [1, 2])
    """
    return _assert_binary("==", comparison.equal, x, y, message, summarize)


def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """Raise InvalidArgumentError unless x != y everywhere."""
    return _assert_binary("!=", comparison.not_equal, x, y, message, summarize)


def assert_less(x, y, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x < y everywhere."""
    return _assert_binary("<", comparison.less, x, y, message, summarize)


def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x <= y everywhere."""
    return _assert_binary("<=", comparison.less_equal, x, y, message, summarize)


def assert_greater(x, y, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x > y everywhere."""
    return _assert_binary(">", comparison.greater, x, y, message, summarize)


def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x >= y everywhere."""
    return _assert_binary(">=", comparison.greater_equal, x, y, message, summarize)


def _assert_sign(symbol, function, x, message, summarize):
    x = convert_to_tensor(x)
    zero = convert_to_tensor(np.zeros((), x.dtype.numpy))
    holds = function(x, zero)

    def describe(mask):
        shown = np.asarray(x._array).ravel()[: 3 if summarize is None else summarize].tolist()
        values = [str(each) for each in shown] if x.shape.rank else shown[0]
        return (
            f"{message or ''}\nCondition x {symbol} 0 did not hold element-wise:\n"
            f"x (shape={x.shape} dtype={x.dtype.name}) = \n{values}"
        )

    return _check(holds, message, describe, summarize or 3, [x], f"x {symbol} 0")


def assert_positive(x, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x > 0 everywhere."""
    return _assert_sign(">", comparison.greater, x, message, summarize)


def assert_negative(x, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x < 0 everywhere."""
    return _assert_sign("<", comparison.less, x, message, summarize)


def assert_non_negative(x, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x >= 0 everywhere."""
    return _assert_sign(">=", comparison.greater_equal, x, message, summarize)


def assert_non_positive(x, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless x <= 0 everywhere."""
    return _assert_sign("<=", comparison.less_equal, x, message, summarize)


def _precision(dtype):
    """The machine epsilon of a dtype."""
    return float(ml_dtypes.finfo(dtype.real_dtype.as_numpy_dtype).eps)


def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raise InvalidArgumentError unless |x - y| <= atol + rtol * |y| everywhere.

    The default tolerances are 10 times the machine epsilon of the dtype.
    """
    x, y = operands(x, y)
    if not (x.dtype.is_floating or x.dtype.is_complex):
        raise ValueError(
            f"assert_near compares floating-point numbers, got {x.dtype.name}. Use "
            "tf.debugging.assert_equal for others."
        )
    precision = 10 * _precision(x.dtype)
    rtol = convert_to_tensor(precision if rtol is None else rtol, x.dtype)
    atol = convert_to_tensor(precision if atol is None else atol, x.dtype)
    difference = elementwise.abs(x - y)
    holds = comparison.less(difference, atol + rtol * elementwise.abs(y))

    def describe(mask):
        data = [
            message or "",
            f"x and y not equal to tolerance rtol = {rtol}, atol = {atol}",
            f"x (shape={x.shape} dtype={x.dtype.name}) = ",
            x,
            f"y (shape={y.shape} dtype={y.dtype.name}) = ",
            y,
        ]
        return "Expected all to be near. Summarized data: " + "\n".join(
            _data_text(each, summarize or 3) for each in data
        )

    return _check(holds, message, describe, summarize or 3, [x, y], "x is near y")


def assert_rank(x, rank, message=None, name=None):
    """Raise ValueError unless the tensor has this rank.

    >>> tf.debugging.assert_rank([1, 2], 1)
    """
    return _assert_rank(x, rank, lambda found, want: found == want, "rank", message)


def assert_rank_at_least(x, rank, message=None, name=None):
    """Raise ValueError unless the tensor has at least this rank."""
    return _assert_rank(x, rank, lambda found, want: found >= want, "rank at least", message)


def _assert_rank(x, rank, fits, words, message):
    x = convert_to_tensor(x)
    wanted = _rank_value(rank)
    found = x.shape.rank
    if found is not None and not fits(found, wanted):
        raise ValueError(
            f"{message or ''}Tensor {_name(x)} must have {words} {wanted}.  "
            f"Received rank {found}, shape {x.shape}"
        )


def _rank_value(rank):
    value = np.asarray(constant_value(convert_to_tensor(rank)))
    if value.ndim:
        raise ValueError("Rank must be a scalar.")
    if value.dtype.kind not in "iu":
        raise TypeError(f"Rank must be an integer, got {rank!r}.")
    return int(value)


def _name(tensor):
    return tensor.name if isinstance(tensor, SymbolicTensor) else ""


def assert_rank_in(x, ranks, message=None, name=None):
    """Raise ValueError unless the tensor's rank is one of `ranks`."""
    x = convert_to_tensor(x)
    wanted = tuple(_rank_value(rank) for rank in ranks)
    if x.shape.rank is not None and x.shape.rank not in wanted:
        raise ValueError(
            f"{message or ''}Tensor {_name(x)} must have rank in {wanted}.  "
            f"Received rank {x.shape.rank}, shape {x.shape}"
        )


def assert_scalar(tensor, message=None, name=None):
    """The tensor; ValueError unless it is a scalar."""
    tensor = convert_to_tensor(tensor)
    if tensor.shape.rank not in (None, 0):
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {tensor.shape}.")


def assert_type(tensor, tf_type, message=None, name=None):
    """Raise TypeError unless the tensor has this dtype."""
    wanted = as_dtype(tf_type)
    tensor = convert_to_tensor(tensor)
    if tensor.dtype is not wanted:
        raise TypeError(
            f"{message or ''}tensor {_name(tensor)} must be of type {wanted!r}; "
            f"got {tensor.dtype!r}"
        )


def assert_integer(x, message=None, name=None):
    """Raise TypeError unless the tensor has an integer dtype."""
    x = convert_to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(
            f'{message or ""}Expected "x" to be integer type.  Found: {_name(x)} of dtype {x.dtype}'
        )


def assert_same_float_dtype(tensors=None, dtype=None):
    """The common floating dtype of all tensors; ValueError if they differ.

    >>> tf.debugging.assert_same_float_dtype([tf.constant(1.0), tf.constant(2.0)])
    tf.float32
    """
    expected = None if dtype is None else as_dtype(dtype)
    first = None
    for tensor in tensors or []:
        if tensor is None:
            continue
        if expected is None:
            expected, first = tensor.dtype, tensor
        elif tensor.dtype is not expected:
            whose = "" if first is None else f" as {first!s}"
            raise ValueError(
                f"{tensor!s}, type={tensor.dtype}, must be of the same type ({expected}){whose}."
            )
    expected = dtypes.float32 if expected is None else expected
    if not expected.is_floating:
        raise ValueError(f"Expected floating point type, got {expected}.")
    return expected


def assert_proper_iterable(values):
    """Raise TypeError for values that are not meant to be iterated: tensors, strings..."""
    if isinstance(values, Tensor | Variable | np.ndarray | str | bytes):
        raise TypeError(
            f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}'
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def is_numeric_tensor(tensor):
    """Whether the argument is a tensor of a numeric dtype.

    >>> tf.debugging.is_numeric_tensor(tf.constant([1.0]))
    True
    """
    return isinstance(tensor, Tensor) and builtins.bool(tensor.dtype in dtypes.NUMERIC)


def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Raise ValueError unless tensors have the given shapes; equal symbols mean equal sizes.

    >>> tf.debugging.assert_shapes([([[1, 2], [3, 4]], ("N", "N")), ([1, 2], ("N",))])
    """
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    prefix = f"{message}.  " if message else ""
    sizes: dict[str, tuple[int, str]] = {}
    for value, symbols in pairs:
        tensor = convert_to_tensor(value)
        described = f"Tensor {_name(tensor)} shape={tensor.shape} dtype={tensor.dtype.name}"
        described = described.replace("  ", " ")
        if not hasattr(symbols, "__iter__"):
            raise ValueError(
                f"{prefix}{described}.  Specified shape must be an iterable.  An iterable has the "
                f"attribute `__iter__` or `__getitem__`.  Received specified shape: {symbols}"
            )
        _assert_sizes(tensor, list(symbols), sizes, described, prefix)


def _assert_sizes(tensor, symbols, sizes, described, prefix):
    rank = tensor.shape.rank
    if rank is None:
        return
    actual = tensor.shape.as_list()
    offset = 0
    if symbols and symbols[0] in ("...", Ellipsis):
        symbols = symbols[1:]
        offset = rank - len(symbols)
    elif rank != len(symbols) and not (len(symbols) <= 1 and rank in (0, 1)):
        raise ValueError(
            f"{prefix}{described} must have rank {len(symbols)}.  Received rank {rank}, shape "
            f"{tensor.shape}"
        )
    for axis, symbol in enumerate(symbols):
        position = offset + axis
        size = actual[position] if 0 <= position < rank else 1
        if symbol is None or symbol == "." or size is None:
            continue
        explicit = isinstance(symbol, int) or str(symbol).isdigit()
        wanted, by = (
            (int(symbol), "Specified explicitly")
            if explicit
            else sizes.setdefault(
                symbol, (size, f"Specified by {described.lower()} dimension {axis}")
            )
        )
        if size != wanted:
            raise ValueError(
                f"{prefix}{by}.  {described} dimension {axis} must have size {wanted}.  "
                f"Received size {size}, shape {tensor.shape}"
            )


@op("CheckNumerics", "tensor: T -> output: T", T=FLOATING, shape=unchanged)
def CheckNumerics(tensor, *, message):
    finite = np.isfinite(tensor)
    if not finite.all():
        found = [
            text
            for text, there in (("Inf", np.isinf(tensor).any()), ("NaN", np.isnan(tensor).any()))
            if there
        ]
        raise errors.InvalidArgumentError(
            None, None, f"{message} : Tensor had {' and '.join(found)} values"
        )
    return tensor


@CheckNumerics.gradient
def _(op, grad):
    advice = "Not a number (NaN) or infinity (Inf) values detected in gradient."
    return execute(CheckNumerics, (grad,), {"message": f"{advice} {op.attrs['message']}"})


def check_numerics(tensor, message, name=None):
    """The tensor; InvalidArgumentError if it has infinite or NaN elements.

    >>> tf.debugging.check_numerics(tf.constant([1.0]), "loss").numpy().tolist()
    [1.0]
    """
    return execute(CheckNumerics, (convert_to_tensor(tensor),), {"message": message})


def assert_all_finite(x, message, name=None):
    """The tensor; InvalidArgumentError if it has infinite or NaN elements."""
    return identity(check_numerics(x, message))


class _NumericsChecker:
    """A listener on the tape stack that raises for infinities and NaNs in any result."""

    def record(self, op, inputs, outputs, attrs):
        for index, output in enumerate(outputs):
            if isinstance(output, SymbolicTensor) or not output.dtype.is_floating:
                continue
            array = np.asarray(output._array)
            bad = array.size - int(np.isfinite(array).sum())
            if bad:
                shown = ", ".join(str(tensor) for tensor in inputs)
                raise errors.InvalidArgumentError(
                    None,
                    None,
                    f"Detected Infinity or NaN in output {index} of eagerly-executing op "
                    f'"{op.name}" (# of outputs: {len(outputs)}): {bad} of {array.size} elements, '
                    f"dtype {output.dtype.name}, shape {output.shape}. Inputs: {shown}",
                )

    def variable_read(self, variable):
        """Reading a variable computes nothing."""


def enable_check_numerics(stack_height_limit=30, path_length_limit=50):
    """Raise InvalidArgumentError from now on as soon as an operation gives inf or NaN."""
    if not any(isinstance(each, _NumericsChecker) for each in state.tapes):
        state.tapes = (*state.tapes, _NumericsChecker())


def disable_check_numerics():
    """Undo `enable_check_numerics`."""
    state.tapes = tuple([each for each in state.tapes if not isinstance(each, _NumericsChecker)])


def is_traceback_filtering_enabled():
    """Whether tracebacks omit the library's internal frames.

    >>> tf.debugging.is_traceback_filtering_enabled()
    True
    """
    return tracebacks.filtered


def enable_traceback_filtering():
    """Show only the user's frames in tracebacks, not the library's internal ones."""
    tracebacks.filtered = True


def disable_traceback_filtering():
    """Show full tracebacks, for debugging the library."""
    tracebacks.filtered = False
