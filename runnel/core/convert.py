"""Conversion of Python and NumPy values to tensors, with TensorFlow's dtype rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import dtypes
from .context import state
from .dtypes import DType, as_dtype, from_numpy
from .op import KERNEL_FAILURES, REGISTRY, execute, op, type_text, unsupported
from .partial_values import partial_value
from .shapes import TensorShape
from .tensor import SymbolicTensor, Tensor

_MIXED = (
    "Can't convert Python sequence with mixed types to Tensor. Give only numbers, only booleans "
    "or only strings."
)
_RAGGED = (
    "Can't convert non-rectangular Python sequence to Tensor. Make all rows equally long, "
    "or use tf.ragged.constant."
)
_TOO_LARGE = (
    "Can't convert Python sequence with out-of-range integer to Tensor. tf.int64 holds -2**63 to "
    "2**63 - 1; up to 2**64 - 1 give dtype=tf.uint64, beyond it a floating one."
)
_NOT_FLOAT32 = (
    "Can't convert Python sequence with a value out of range for float32 to Tensor. Give the "
    "dtype: tf.float64 holds it, and in tf.float32 it becomes infinite."
)
_NONE_GIVEN = " None came where a value is needed: is a `return` missing in a function?"
_NONE_INSIDE = (
    " It holds None. Where this is a shape, the size is not known while a function is traced: "
    "take it from tf.shape(x), as in tf.zeros([tf.shape(x)[0], 2])."
)
_DICT_GIVEN = " A dict has no one tensor: convert its values, or take one by its key."
# Halfway between the largest float32 and the next power of two: from here on values round to
# infinity.
_BEYOND_FLOAT32 = 2.0**128 - 2.0**103

# Python number type -> the dtypes it may be converted to on request.
_NUMBERS = dtypes.ALL - {dtypes.string, dtypes.bool, dtypes.resource, dtypes.variant}
_FITS: dict[str, frozenset[DType]] = {
    "b": _NUMBERS | {dtypes.bool},
    "i": _NUMBERS,
    "u": _NUMBERS,
    "f": frozenset(each for each in _NUMBERS if not (each.is_integer or each.is_quantized)),
    "c": frozenset(dtypes.COMPLEX),
}
# Kind of the numbers in a list that begins with a bool -> the dtypes that may hold both.
_WIDE_REAL = frozenset({dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex128})
_BESIDE_BOOL: dict[str, frozenset[DType]] = {
    "i": _WIDE_REAL | {dtypes.int32, dtypes.int64},
    "f": _WIDE_REAL,
    "c": frozenset({dtypes.complex128}),
}

_LONGEST_HISTORY = 100

_SIZES = frozenset({dtypes.int32, dtypes.int64})

# Registered conversions by class: each is a function (value, dtype) -> Tensor.
_CONVERTERS: dict[type, Callable[[Any, DType | None], Tensor]] = {}
_REGISTERED: list[tuple[int, Any, Callable[..., Any]]] = []
# Types that no conversion function can be registered for: the registry is not consulted.
_ALWAYS_OWN = frozenset({bool, int, float, np.ndarray})


@op(
    "Const",
    "-> output: dtype",
    shape=lambda inputs, attrs: TensorShape.of(attrs["value"].shape),
    gradient=None,
)
def Const(*, value: Any, dtype: DType) -> Any:
    return value


def register_converter(kind: type, function: Callable[[Any, DType | None], Tensor]) -> None:
    """Register a converter for an internal class: `function(value, dtype)` gives a tensor."""
    _CONVERTERS[kind] = function


def register_tensor_conversion_function(
    base_type: Any, conversion_func: Callable[..., Any], priority: int = 100
) -> None:
    """Let `conversion_func(value, dtype, name, as_ref)` convert values of `base_type` to tensors.

    Functions are tried in ascending order of priority; one may return NotImplemented to decline.
    """
    bases = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(base, type) for base in bases):
        raise TypeError(f"base_type must be a type or a tuple of types, got {base_type!r}.")
    if any(issubclass(base, (int, float, np.generic, np.ndarray)) for base in bases):
        raise TypeError(
            "Cannot register conversions for Python numeric types and NumPy scalars and arrays, "
            f"got {base_type!r}."
        )
    if not callable(conversion_func):
        raise TypeError(f"conversion_func must be callable, got {conversion_func!r}.")
    _REGISTERED.append((priority, base_type, conversion_func))
    _REGISTERED.sort(key=lambda entry: entry[0])


def convert_to_tensor(
    value: Any, dtype: Any = None, dtype_hint: Any = None, name: str | None = None
) -> Tensor:
    """A value as an operation's input; for a variable, its current value as a tensor."""
    if dtype is not None and type(dtype) is not DType:
        dtype = as_dtype(dtype)
    if isinstance(value, Tensor):
        if dtype is not None and dtype is not value.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for Tensor with dtype "
                f"{value.dtype.name}: {value!r}. Use tf.cast to change the dtype of a tensor."
            )
        return value
    hinted = dtype is None and dtype_hint is not None
    # Tensors in a list determine its dtype: a dtype hint does not cast them.
    if hinted and not (isinstance(value, list | tuple) and _holds_tensors(value)):
        try:
            return _convert(value, as_dtype(dtype_hint))
        except (TypeError, ValueError):
            pass
    return _convert(value, dtype)


def _convert(value: Any, dtype: DType | None) -> Tensor:
    if type(value) in _ALWAYS_OWN:
        return tensor_of(*array_of(value, dtype))
    converter = _CONVERTERS.get(type(value)) or _inherited_converter(value)
    if converter is not None:
        return converter(value, dtype)
    for _, base, function in _REGISTERED:
        if isinstance(value, base):
            result = function(value, dtype=dtype, name=None, as_ref=False)
            if result is not NotImplemented:
                return convert_to_tensor(result, dtype)
    if isinstance(value, list | tuple) and _holds_tensors(value):
        return _pack(value, dtype)
    if hasattr(value, "__tf_tensor__"):
        return convert_to_tensor(value.__tf_tensor__(dtype, None), dtype)
    return tensor_of(*array_of(value, dtype))


def _inherited_converter(value: Any) -> Callable[[Any, DType | None], Tensor] | None:
    for base in type(value).__mro__[1:-1]:
        if base in _CONVERTERS:
            return _CONVERTERS[base]
    return None


def _has_converter(value: Any) -> bool:
    return type(value) in _CONVERTERS or _inherited_converter(value) is not None


def tensor_of(array: Any, dtype: DType) -> Tensor:
    """A constant: an eager tensor, or a Const operation while a graph is built."""
    if state.graph is None:
        return Tensor(array, dtype)
    result: Tensor = execute(Const, (), {"value": np.asarray(array), "dtype": dtype})
    return result


def _holds_tensors(values: Sequence[Any]) -> bool:
    for value in values:
        if isinstance(value, Tensor) or type(value) in _CONVERTERS:
            return True
        if isinstance(value, list | tuple) and _holds_tensors(value):
            return True
        if _inherited_converter(value) is not None:
            return True
    return False


def _pack(values: Sequence[Any], dtype: DType | None) -> Tensor:
    first = _first_tensor_dtype(values)
    wanted = first if dtype is None else dtype
    tensors = [_element(value, wanted, wanted is not first) for value in values]
    packed: Tensor = REGISTRY["Pack"](tensors, axis=0)
    return packed


def _element(value: Any, dtype: DType | None, cast: bool) -> Tensor:
    """An element of a list that holds tensors, cast if a dtype is requested."""
    if isinstance(value, list | tuple) and _holds_tensors(value):
        rows = [_element(each, dtype, cast) for each in value]
        packed: Tensor = REGISTRY["Pack"](rows, axis=0)
        return packed
    if not isinstance(value, Tensor) and not _has_converter(value):
        return convert_to_tensor(value, dtype)
    tensor = convert_to_tensor(value)
    if not cast or tensor.dtype is dtype:
        return tensor
    converted: Tensor = REGISTRY["Cast"](tensor, DstT=dtype)
    return converted


def _first_tensor_dtype(values: Sequence[Any]) -> DType | None:
    for value in values:
        if isinstance(value, Tensor) or _has_converter(value):
            return getattr(value, "dtype", None)
        if isinstance(value, list | tuple):
            found = _first_tensor_dtype(value)
            if found is not None:
                return found
    return None


def array_of(value: Any, dtype: DType | None) -> tuple[Any, DType]:
    """The NumPy value (a scalar for rank 0) and dtype that a Python or NumPy value converts to."""
    kind = type(value)
    if kind is np.ndarray:
        return _from_numpy(value, dtype)
    if kind is float:
        if dtype is dtypes.float32 or (
            dtype is None and -_BEYOND_FLOAT32 < value < _BEYOND_FLOAT32
        ):
            return np.float32(value), dtypes.float32
    elif kind is int:
        if (dtype is None or dtype is dtypes.int32) and -(2**31) <= value < 2**31:
            return np.int32(value), dtypes.int32
    elif kind is str or kind is bytes:
        return _strings(np.array(value, dtype=object), value, dtype)
    if isinstance(value, np.ndarray | np.generic):
        return _from_numpy(value, dtype)
    if not isinstance(value, int | float | bool | complex | list | tuple | range):
        return _from_foreign(value, dtype)
    return _from_python(value, dtype)


def _from_python(value: Any, dtype: DType | None) -> tuple[Any, DType]:
    first = _first_leaf(value)
    if isinstance(first, str | bytes):
        try:
            return _strings(_object_array(value), value, dtype)
        except UnicodeEncodeError as error:
            raise ValueError(f"Can't convert {value!r} to a string tensor: {error}") from None
    try:
        array = np.array(value)
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None
    except ValueError:
        raise ValueError(_RAGGED) from None
    if not array.size and not isinstance(first, np.generic | np.ndarray):
        dtype = dtypes.float32 if dtype is None else dtype
        return np.zeros(array.shape, dtype.numpy), dtype
    # NumPy converts integers of more than 63 bits to unsigned, float or object arrays.
    suspicious = "uO" if type(first) is float else "ufO"
    if array.dtype.kind in suspicious and (array.dtype.kind == "O" or array.max() >= 2**63):
        array = _with_long_integers(value, array, first, dtype)
    letter = array.dtype.kind
    if letter == "O":
        _reject_objects(array, value, first)
    if letter in "US" or not _alike(array, first, dtype):
        raise ValueError(_MIXED)
    if dtype is None:
        dtype = _natural_dtype(array, first)
        if dtype is dtypes.float32 and state.graph is None and _overflows_float32(array):
            raise ValueError(_NOT_FLOAT32)
    elif letter in _FITS and dtype not in _FITS[letter]:
        raise _misfit(value, dtype)
    if array.dtype != dtype.numpy:
        array = array.astype(dtype.numpy)
    return (array[()] if not array.ndim else array), dtype


def _with_long_integers(
    value: Any, array: np.ndarray[Any, Any], first: Any, dtype: DType | None
) -> np.ndarray[Any, Any]:
    """The numbers in the given dtype where some integers have more than 63 bits."""
    leaves = np.array(value, dtype=object)
    if not all(isinstance(leaf, int | float) for leaf in leaves.flat):
        return array
    integers = [leaf for leaf in leaves.flat if isinstance(leaf, int)]
    if not integers or (max(integers) < 2**63 and min(integers) >= -(2**63)):
        return array
    if dtype is dtypes.uint64 and len(integers) == leaves.size:
        if min(integers) >= 0 and max(integers) < 2**64:
            return leaves.astype(np.uint64)
    elif isinstance(first, float) if dtype is None else dtype.is_floating or dtype.is_complex:
        return _as_floats(leaves)
    elif dtype is not None and isinstance(first, float):
        raise _misfit(value, dtype)
    raise ValueError(_TOO_LARGE)


def _as_floats(leaves: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    try:
        return leaves.astype(np.float64)
    except OverflowError:
        raise ValueError(_TOO_LARGE) from None


def _overflows_float32(array: np.ndarray[Any, Any]) -> bool:
    # The sum of squares rules it out in most cases.
    if array.dtype != np.float64 or np.vdot(array, array) < _BEYOND_FLOAT32:
        return False
    return bool(((np.abs(array) >= _BEYOND_FLOAT32) & np.isfinite(array)).any())


def _alike(array: np.ndarray[Any, Any], first: Any, dtype: DType | None) -> bool:
    """Whether the first of some numbers, which determines the dtype, fits the others."""
    letter = array.dtype.kind
    if isinstance(first, bool) and letter != "b":
        if dtype is None or dtype not in _BESIDE_BOOL.get(letter, ()):
            return False
        return not (dtype is dtypes.int32 and (array != array.astype(np.int32)).any())
    # As in the original, graph constants are checked less strictly.
    strict = dtype is not dtypes.complex128 and state.graph is None
    return letter != "c" or np.iscomplexobj(first) or not strict


def _natural_dtype(array: np.ndarray[Any, Any], first: Any) -> DType:
    letter = array.dtype.kind
    natural = from_numpy(array.dtype)
    if letter == "f":
        typed = isinstance(first, np.generic | np.ndarray) and first.dtype.kind == "f"
        natural = from_numpy(first.dtype) if typed else dtypes.float32
    elif letter in "iu":
        small = array.min() >= -(2**31) and array.max() < 2**31
        natural = dtypes.int32 if small else dtypes.int64
    return natural


def _reject_objects(array: np.ndarray[Any, Any], value: Any, first: Any) -> None:
    leaves = list(array.flat)
    if all(isinstance(leaf, int) for leaf in leaves):
        raise ValueError(_TOO_LARGE)
    if first is None or not isinstance(first, int | float | complex):
        raise unsupported()(_unsupported(value if first is None else first))
    raise ValueError(_MIXED)


def _unsupported(value: Any) -> str:
    return (
        f"Attempt to convert a value ({value!r}) with an unsupported type ({type(value)}) to a "
        f"Tensor.{_advice(value)}"
    )


def _advice(value: Any) -> str:
    if value is None:
        return _NONE_GIVEN
    if isinstance(value, list | tuple) and None in value:
        return _NONE_INSIDE
    return _DICT_GIVEN if isinstance(value, dict) else ""


def _misfit(value: Any, dtype: DType) -> TypeError:
    text = repr(value)
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    if dtype is dtypes.string:
        how = "tf.strings.as_string(values)"
    elif isinstance(_first_leaf(value), str | bytes):
        how = f"tf.strings.to_number(values, tf.{dtype.name})"
    else:
        how = f"tf.cast(values, tf.{dtype.name})"
    return TypeError(
        f"Cannot convert {shown} to EagerTensor of dtype {type_text(dtype)}. Give values of that "
        f"dtype, or convert them: {how}."
    )


def _first_leaf(value: Any) -> Any:
    while isinstance(value, list | tuple) and value:
        value = value[0]
    return value


def _object_array(value: Any) -> np.ndarray[Any, Any]:
    array = np.array(value, dtype=object)
    if any(isinstance(leaf, list | tuple) for leaf in array.flat):
        raise ValueError(_RAGGED)
    return array


def _strings(array: np.ndarray[Any, Any], value: Any, dtype: DType | None) -> tuple[Any, DType]:
    if dtype is not None and dtype is not dtypes.string:
        if all(isinstance(leaf, str | bytes) for leaf in array.flat):
            raise _misfit(value, dtype)
        raise ValueError(_MIXED)
    encoded = np.empty(array.shape, object)
    flat = encoded.reshape(-1)
    for index, leaf in enumerate(array.flat):
        if isinstance(leaf, str):
            flat[index] = leaf.encode()
        elif isinstance(leaf, bytes):
            flat[index] = bytes(leaf)
        else:
            raise ValueError(_MIXED)
    return encoded, dtypes.string


def _from_numpy(value: Any, dtype: DType | None) -> tuple[Any, DType]:
    letter = value.dtype.kind
    if letter in "USO":
        return _strings(np.asarray(value, dtype=object), value, dtype)
    try:
        natural = from_numpy(value.dtype)
    except TypeError:
        raise ValueError(_unsupported(value)) from None
    if natural.is_quantized:
        value = np.asarray(value).view(natural.numpy)
    if dtype is None:
        dtype = natural
    elif dtype is dtypes.string:
        raise _misfit(value, dtype)
    if type(value) is np.ndarray and value.ndim:
        if value.dtype is dtype.numpy:
            return value.copy(), dtype
        return np.array(value, dtype=dtype.numpy, order="C"), dtype
    return np.asarray(value).astype(dtype.numpy)[()], dtype


def _from_foreign(value: Any, dtype: DType | None) -> tuple[Any, DType]:
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
        sizes = value.as_list()
        small = all(size is not None and size < 2**31 for size in sizes)
        if dtype is dtypes.int32 and not small:
            raise ValueError(f"Cannot convert the TensorShape {value} to int32: use tf.int64.")
        dtype = dtype or (dtypes.int32 if small else dtypes.int64)
        return np.array(sizes, dtype.numpy), dtype
    if hasattr(value, "__array__"):
        return _from_numpy(np.asarray(value), dtype)
    if isinstance(value, memoryview):
        return _from_python(value.tolist(), dtype)
    kind = ValueError if value is None else unsupported()
    raise kind(_unsupported(value))


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Tensor:
    """A constant tensor, broadcast or reshaped to `shape` if that is given.

    >>> tf.constant(-1.0, shape=[2, 3])
    <tf.Tensor: shape=(2, 3), dtype=float32, numpy=
    array([[-1., -1., -1.],
           [-1., -1., -1.]], dtype=float32)>
    """
    dtype = None if dtype is None else as_dtype(dtype)
    if isinstance(value, Tensor) and dtype not in (None, value.dtype):
        raise TypeError(
            f"Expected a tensor of dtype {dtype.name}, got one of {value.dtype.name}: {value!r}. "
            "Use tf.cast to change the dtype of a tensor."
        )
    tensor = convert_to_tensor(value, dtype)
    if not isinstance(tensor, Tensor):
        raise ValueError(_unsupported(value))
    if shape is None:
        return tensor
    wanted = TensorShape(shape)
    if not isinstance(tensor, SymbolicTensor) or tensor.op.op is Const:
        array = np.asarray(constant_value(tensor))
        return tensor_of(_shaped(array, wanted, value), tensor.dtype)
    return tensor


def _shaped(array: np.ndarray[Any, Any], wanted: TensorShape, value: Any) -> Any:
    sizes = wanted.as_list()
    count = wanted.num_elements()
    if array.size == count:
        return array.reshape(sizes)
    if array.size == 1:
        return np.full(sizes, array.reshape(())[()], array.dtype)
    raise TypeError(
        f"Eager execution of tf.constant with unsupported shape. Tensor {array} (converted from "
        f"{value}) has {array.size:d} elements, but got `shape` {wanted} with {count} elements)."
    )


def constant_value(tensor: Any) -> Any:
    """The NumPy value of a tensor if it is statically known, else None."""
    if not isinstance(tensor, SymbolicTensor):
        return tensor._array if isinstance(tensor, Tensor) else None
    return _known(tensor, {})


def _known(tensor: SymbolicTensor, seen: dict[int, Any]) -> Any:
    operation = tensor.op
    if operation.op is Const:
        return operation.given["value"]
    name = operation.op.name
    if name in ("Shape", "Size", "Rank") and operation.inputs[0].shape.is_fully_defined():
        sizes = np.array(operation.inputs[0].shape.as_list(), np.int64)
        found = {"Shape": sizes, "Size": sizes.prod(), "Rank": np.int64(len(sizes))}[name]
        return found.astype(tensor.dtype.numpy)
    if name == "Rank" and operation.inputs[0].shape.rank is not None:
        return np.array(operation.inputs[0].shape.rank, tensor.dtype.numpy)
    if operation.op.stateful or name == "Placeholder" or not operation.inputs:
        return None
    key = id(tensor)
    # Shared subexpressions are evaluated once; long chains are left to graph execution.
    if key not in seen and len(seen) < _LONGEST_HISTORY:
        seen[key] = None
        seen[key] = _fold(tensor, seen)
        if seen[key] is None and tensor.dtype in _SIZES:
            part = partial_value(tensor)
            if part is not None and part.known.all():
                seen[key] = part.values.astype(tensor.dtype.numpy)
    return seen.get(key)


def _fold(tensor: SymbolicTensor, seen: dict[int, Any]) -> Any:
    # Only small tensors, as used to compute shapes; never a large constant.
    operation = tensor.op
    count = tensor.shape.num_elements()
    if count is None or count > 64:
        return None
    arrays = []
    for each in operation.inputs:
        elements = each.shape.num_elements()
        if elements is None or elements > 64:
            return None
        array = _known(each, seen) if isinstance(each, SymbolicTensor) else each._array
        if array is None:
            return None
        arrays.append(array)
    try:
        result = operation.op.run(arrays, operation.given)
    except KERNEL_FAILURES:
        # Execution of the graph reports the error with its location.
        return None
    return result if operation.op.single else result[tensor.index]


def constant_shape(tensor: Tensor) -> TensorShape:
    """The shape that a vector of sizes describes, as far as statically known; -1 is unknown."""
    value = constant_value(tensor)
    if value is not None:
        return TensorShape([None if size < 0 else int(size) for size in value])
    if isinstance(tensor, SymbolicTensor):
        operation = tensor.op
        sizes = partial_sizes(tensor)
        if sizes is not None:
            return TensorShape([None if size is None or size < 0 else size for size in sizes])
        if operation.op.name == "ConcatV2":
            shape = TensorShape([])
            for part in operation.inputs[:-1]:
                shape = shape.concatenate(constant_shape(part))
            return shape
    length = tensor.shape[0] if tensor.shape.rank else None
    return TensorShape(None if length is None else [None] * length)


def partial_sizes(tensor: Tensor) -> list[Any] | None:
    """The elements of a vector, or rows of a matrix, with None for unknown ones."""
    part = partial_value(tensor)
    if part is None:
        return None
    numbers: Any = np.asarray(part.values).astype(object)
    numbers[part.known == 0] = None
    sizes: list[Any] = numbers.tolist()
    return sizes


def is_tensor(x: Any) -> bool:
    """Whether a value is a tensor, a variable or another tensor-like object.

    >>> tf.is_tensor(tf.constant(1)), tf.is_tensor([1])
    (True, False)
    """
    if isinstance(x, Tensor) or _has_converter(x):
        return True
    # How other libraries mark their types.
    return getattr(x, "is_tensor_like", None) is True


def get_static_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor if it is statically known, else None.

    >>> tf.get_static_value(tf.constant([1, 2]))
    array([1, 2], dtype=int32)
    """
    if not isinstance(tensor, Tensor):
        # A variable's value is never static; any other value is returned unchanged.
        return None if _has_converter(tensor) else tensor
    if partial and isinstance(tensor, SymbolicTensor) and tensor.op.op.name == "Pack":
        return _partly_static(tensor)
    value = constant_value(tensor)
    return value if isinstance(tensor, SymbolicTensor) else tensor.numpy()


def _partly_static(tensor: SymbolicTensor) -> Any:
    """The known rows of a stack: an object array unless all rows are known."""
    values = [constant_value(each) for each in tensor.op.inputs]
    if all(value is not None for value in values):
        return constant_value(tensor)
    rows = np.empty(len(values), object)
    rows[:] = [get_static_value(each, partial=True) for each in tensor.op.inputs]
    return np.array(rows.tolist(), object)


def operands(x: Any, y: Any, lenient: bool = False) -> tuple[Tensor, Tensor]:
    """Both operands as tensors: a Python or NumPy value takes the dtype of the other operand.

    `lenient` leaves a value that does not fit (1.5 with int32) in its own dtype, so that the op
    raises the error.
    """
    if isinstance(x, Tensor):
        if isinstance(y, Tensor):
            return x, y
    else:
        converter = _CONVERTERS.get(type(x))
        if converter is not None:
            x = converter(x, None)
        elif isinstance(y, Tensor):
            return _beside(x, y.dtype, lenient), y
        elif _has_converter(y):
            y = convert_to_tensor(y)
            return _beside(x, y.dtype, lenient), y
        else:
            x = convert_to_tensor(x)
    converter = _CONVERTERS.get(type(y))
    if converter is not None:
        return x, converter(y, None)
    return x, _beside(y, x.dtype, lenient)


def _beside(value: Any, dtype: DType, lenient: bool) -> Tensor:
    if isinstance(value, Tensor):
        return value
    if not lenient:
        return convert_to_tensor(value, dtype)
    return convert_to_tensor(value, None, dtype)
