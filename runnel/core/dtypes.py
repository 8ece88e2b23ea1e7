"""The element types of tensors: one interned `DType` object per TensorFlow type."""

# `bool` names a dtype in this module, as it does in `tf`; the Python type is `builtins.bool`.
import builtins
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

_BY_ENUM: dict[int, "DType"] = {}


class TensorlessType:
    """The protocol of tf.function's trace types for dtypes and shapes: values without tensors."""

    __slots__ = ()

    def placeholder_value(self, placeholder_context: Any) -> None:
        """The placeholder of a value while tracing: None."""
        return

    def flatten(self) -> list[Any]:
        """The specs of a value's tensors: none."""
        return []

    def to_tensors(self, value: Any) -> list[Any]:
        """The tensors of a value: none."""
        return []

    def from_tensors(self, tensors: Any) -> None:
        """The value reconstructed from no tensors: None."""
        return

    def cast(self, value: Any, cast_context: Any) -> None:
        """None, the only value of this type."""
        if value is not None:
            raise AssertionError(
                f"Can not cast {value!r} to type {self!r}: a dtype or shape holds no value."
            )


class DType(TensorlessType):
    """The type of the elements in a `Tensor`.

    Each dtype is a singleton, so `is` compares dtypes safely and at no cost.

    >>> tf.as_dtype("float32") is tf.float32
    True
    >>> tf.float32 == "float32", tf.int8.max
    (True, 127)
    """

    __slots__ = (
        "__weakref__",
        "numpy_type",
        "as_datatype_enum",
        "base_dtype",
        "is_bool",
        "is_complex",
        "is_floating",
        "is_integer",
        "is_numeric",
        "is_numpy_compatible",
        "is_quantized",
        "is_unsigned",
        "name",
        "numpy",
        "real_dtype",
        "size",
    )

    name: str
    numpy_type: Any
    numpy: Any
    is_floating: builtins.bool
    is_complex: builtins.bool
    is_integer: builtins.bool
    is_bool: builtins.bool
    is_numeric: builtins.bool
    is_quantized: builtins.bool
    is_unsigned: builtins.bool
    is_numpy_compatible: builtins.bool
    size: int
    real_dtype: "DType"
    base_dtype: "DType"
    as_datatype_enum: int

    def __new__(cls, type_enum: Any, handle_data: None = None) -> Any:
        if handle_data is not None:
            raise TypeError(
                f"handle_data must be None, as no dtype here carries any. Received: {handle_data!r}"
            )
        found = _BY_ENUM.get(int(type_enum))
        if found is None:
            raise TypeError(
                f"{type_enum!r} does not correspond to a dtype: "
                f"the enums are {min(_BY_ENUM)} to {max(_BY_ENUM)}."
            )
        return found

    @property
    def as_numpy_dtype(self) -> Any:
        """The NumPy type of the elements; KeyError for resources and variants, which have none."""
        if self.numpy_type is None:
            raise KeyError(f"{self!r} has no NumPy type")
        return self.numpy_type

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    def __str__(self) -> str:
        return f"<dtype: '{self.name}'>"

    def __int__(self) -> int:
        return self.as_datatype_enum

    def __eq__(self, other: object) -> builtins.bool:
        if self is other:
            return True
        if other is None or type(other) is DType:
            return False
        try:
            return as_dtype(other) is self
        except TypeError:
            return False

    def __ne__(self, other: object) -> builtins.bool:
        return not self.__eq__(other)

    __hash__ = object.__hash__

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return as_dtype, (self.name,)

    def __copy__(self) -> "DType":
        return self

    def __deepcopy__(self, memo: Any) -> "DType":
        return self

    @property
    def min(self) -> Any:
        """The smallest value this type can hold; TypeError for types without an order."""
        return self._extreme("min", "minimum")

    @property
    def max(self) -> Any:
        """The largest value this type can hold; TypeError for types without an order."""
        return self._extreme("max", "maximum")

    def _extreme(self, attribute: str, noun: str) -> Any:
        if self.is_floating:
            return getattr(ml_dtypes.finfo(self.numpy), attribute)  # type: ignore[no-untyped-call]
        if self.is_integer:
            return int(getattr(ml_dtypes.iinfo(self.numpy), attribute))  # type: ignore[no-untyped-call]
        raise TypeError(
            f"Cannot find {noun} value of {self}: only floating and integer dtypes have one."
        )

    @property
    def limits(self) -> tuple[Any, Any]:
        """The (minimum, maximum) intensity of a pixel: (0, 1) for floats, (0, max) for integers."""
        if self is float32 or self is float64:
            return 0, 1
        if self is bool:
            return 0, True
        if self in INTEGER:
            return 0, self.max
        if self.numpy is None:
            raise KeyError(f"{self!r} has no limits: it has no NumPy type")
        raise ValueError(f"{self} does not have defined limits.")

    def is_compatible_with(self, other: Any) -> builtins.bool:
        """True if `other` converts to this very dtype.

        >>> tf.float32.is_compatible_with("float32")
        True
        """
        found = as_dtype(other)
        return found is self

    def is_subtype_of(self, other: Any) -> builtins.bool:
        """True if `other` is this dtype: a dtype has no other supertype."""
        return self.__eq__(other)

    def most_specific_common_supertype(self, types: Sequence[Any]) -> "DType | None":
        """This dtype if all of `types` equal it, else None."""
        return self if all(self == other for other in types) else None


# Enum, name, NumPy type, and whether TensorFlow counts the type as numeric.
_TABLE: tuple[tuple[int, str, Any, builtins.bool], ...] = (
    (1, "float32", np.float32, True),
    (2, "float64", np.float64, True),
    (3, "int32", np.int32, True),
    (4, "uint8", np.uint8, True),
    (5, "int16", np.int16, True),
    (6, "int8", np.int8, True),
    (7, "string", object, False),
    (8, "complex64", np.complex64, True),
    (9, "int64", np.int64, True),
    (10, "bool", np.bool_, False),
    (11, "qint8", np.dtype([("qint8", np.int8)]), True),
    (12, "quint8", np.dtype([("quint8", np.uint8)]), True),
    (13, "qint32", np.dtype([("qint32", np.int32)]), True),
    (14, "bfloat16", ml_dtypes.bfloat16, True),
    (15, "qint16", np.dtype([("qint16", np.int16)]), True),
    (16, "quint16", np.dtype([("quint16", np.uint16)]), True),
    (17, "uint16", np.uint16, True),
    (18, "complex128", np.complex128, True),
    (19, "float16", np.float16, True),
    (20, "resource", None, False),
    (21, "variant", None, False),
    (22, "uint32", np.uint32, True),
    (23, "uint64", np.uint64, True),
    (24, "float8_e5m2", ml_dtypes.float8_e5m2, False),
    (25, "float8_e4m3fn", ml_dtypes.float8_e4m3fn, False),
    (26, "float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz, False),
    (27, "float8_e4m3b11fnuz", ml_dtypes.float8_e4m3b11fnuz, False),
    (28, "float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz, False),
    (29, "int4", ml_dtypes.int4, False),
    (30, "uint4", ml_dtypes.uint4, False),
    (31, "int2", ml_dtypes.int2, False),
    (32, "uint2", ml_dtypes.uint2, False),
    (33, "float4_e2m1fn", ml_dtypes.float4_e2m1fn, False),
)


def _define(enum: int, name: str, numpy_type: Any, is_numeric: builtins.bool) -> None:
    dtype = object.__new__(DType)
    dtype.name = name
    dtype.as_datatype_enum = enum
    dtype.numpy = None if numpy_type is None else np.dtype(numpy_type)
    if name.startswith("q"):
        # The named field distinguishes NumPy's structured dtypes; tensors' arrays are plain
        # integers.
        dtype.numpy = dtype.numpy[0]
    dtype.numpy_type = numpy_type
    dtype.is_numpy_compatible = numpy_type is not None
    dtype.is_floating = name.startswith(("float", "bfloat"))
    dtype.is_complex = name.startswith("complex")
    dtype.is_integer = name.startswith(("int", "uint"))
    dtype.is_unsigned = name.startswith("uint")
    dtype.is_quantized = name.startswith("q")
    dtype.is_bool = name == "bool"
    dtype.is_numeric = is_numeric
    dtype.size = 0 if numpy_type in (None, object) else dtype.numpy.itemsize
    dtype.real_dtype = dtype
    dtype.base_dtype = dtype
    _BY_ENUM[enum] = dtype


for _row in _TABLE:
    _define(*_row)

float32 = DType(1)
float64 = double = DType(2)
int32 = DType(3)
uint8 = DType(4)
int16 = DType(5)
int8 = DType(6)
string = DType(7)
complex64 = DType(8)
int64 = DType(9)
bool = DType(10)
qint8 = DType(11)
quint8 = DType(12)
qint32 = DType(13)
bfloat16 = DType(14)
qint16 = DType(15)
quint16 = DType(16)
uint16 = DType(17)
complex128 = DType(18)
float16 = half = DType(19)
resource = DType(20)
variant = DType(21)
uint32 = DType(22)
uint64 = DType(23)
float8_e5m2 = DType(24)
float8_e4m3fn = DType(25)
float8_e4m3fnuz = DType(26)
float8_e4m3b11fnuz = DType(27)
float8_e5m2fnuz = DType(28)
int4 = DType(29)
uint4 = DType(30)
int2 = DType(31)
uint2 = DType(32)
float4_e2m1fn = DType(33)

complex64.real_dtype = float32
complex128.real_dtype = float64

FLOATING = frozenset({float16, bfloat16, float32, float64})
COMPLEX = frozenset({complex64, complex128})
SIGNED = frozenset({int8, int16, int32, int64})
UNSIGNED = frozenset({uint8, uint16, uint32, uint64})
INTEGER = SIGNED | UNSIGNED
REAL = FLOATING | INTEGER
NUMERIC = REAL | COMPLEX
QUANTIZED_DTYPES = frozenset({qint8, quint8, qint16, quint16, qint32})
ALL = frozenset(_BY_ENUM.values())
# Differentiable dtypes: floating-point and complex numbers, and lists of tensors (variants).
DIFFERENTIABLE = frozenset(x for x in ALL if x.is_floating or x.is_complex or x is variant)

# Keyed by NumPy scalar classes and by np.dtype objects: one lookup serves both.
_FROM_NUMPY: dict[Any, DType] = {}
for _dtype in _BY_ENUM.values():
    if _dtype.is_quantized:
        _FROM_NUMPY[_dtype.as_numpy_dtype] = _dtype
    elif _dtype.numpy is not None:
        _FROM_NUMPY[_dtype.numpy] = _dtype
        _FROM_NUMPY[_dtype.numpy.type] = _dtype
# C's integer types are classes distinct from the equal fixed-width ones (which of them differ
# depends on the platform).
for _code in "bhilqBHILQ":
    _FROM_NUMPY[np.dtype(_code).type] = _FROM_NUMPY[np.dtype(np.dtype(_code).str)]
_FROM_NUMPY[np.bytes_] = _FROM_NUMPY[np.str_] = string

_AS_DTYPE: dict[Any, DType] = {
    **_BY_ENUM,
    **{dtype.name: dtype for dtype in _BY_ENUM.values()},
    **_FROM_NUMPY,
    "half": float16,
    "float": float32,
    "double": float64,
    float: float32,
    builtins.bool: bool,
    object: string,
}


def from_numpy(numpy_type: Any) -> DType:
    """The DType of a NumPy dtype or scalar class; TypeError if there is none."""
    try:
        return _FROM_NUMPY[numpy_type]
    except (KeyError, TypeError):
        pass
    if isinstance(numpy_type, np.dtype):
        # Strings of any length and other byte orders are no keys themselves; their scalar classes
        # are. The scalar class of NumPy's variable-width StringDType is Python's str.
        found = string if numpy_type.type is str else _FROM_NUMPY.get(numpy_type.type)
        if found is not None:
            return found
    raise TypeError(
        f"NumPy type {numpy_type!r} has no tensor dtype. Convert the array first, for instance "
        "with `.astype(np.float32)`."
    )


def as_dtype(type_value: Any) -> DType:
    """Converts a name, a NumPy type, a Python type or an enum to its `DType`.

    >>> tf.as_dtype("int32"), tf.as_dtype(float), tf.as_dtype(bool)
    (tf.int32, tf.float32, tf.bool)
    """
    if type(type_value) is DType:
        return type_value
    try:
        return _AS_DTYPE[type_value]
    except (KeyError, TypeError):
        pass
    try:
        # Arrays, pandas columns and the like convert to their dtype. Tensors do not: theirs is no
        # NumPy dtype.
        is_numpy = isinstance(type_value, np.dtype)
        return from_numpy(type_value if is_numpy else np.dtype(type_value.dtype))
    except (AttributeError, TypeError):
        pass
    raise TypeError(
        f"Cannot convert the argument `type_value`: {type_value!r} to a TensorFlow DType. "
        "Pass a dtype such as tf.float32, its name, a NumPy dtype, or float or bool."
    )
