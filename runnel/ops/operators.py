"""Python's operators on tensors and variables.

They are on the hottest path, so two eager tensors dispatch directly to the kernel, and so does a
Python number next to a tensor whose dtype represents it exactly. Everything else (graphs,
conversions, errors) goes through the public function.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from ..core.context import state
from ..core.convert import convert_to_tensor, operands
from ..core.dtypes import NUMERIC, bool as boolean, float32, float64, int32, int64
from ..core.op import execute
from ..core.tensor import Tensor
from ..core.variable import Variable
from .array.indexing import getitem, variable_getitem
from .linalg.matmul import matmul
from .math import arithmetic, bitwise, comparison, division, elementwise
from .math.casting import cast

# Scalar types that NumPy promotes to the dtype of the array operand, as conversion would.
_FLOATS = frozenset({(float32, float), (float64, float), (float32, int), (float64, int)})
_INTEGERS = frozenset({(int32, int), (int64, int)})
_NUMBERS = _FLOATS | _INTEGERS

_ANY_SHAPES = {"incompatible_shape_error": False}

# Types that tensors convert; their own reflected methods know nothing of tensors.
_PLAIN = (
    int, float, complex, str, bytes, list, tuple, type(None), np.ndarray, np.generic, Tensor,
    Variable,
)  # fmt: skip


def _result_types(op, dtypes=None):
    """Maps the dtype of the operands to the dtype of the result."""
    fixed = op.fixed.get(op.outputs[0].type)
    return {dtype: fixed or dtype for dtype in dtypes or op.constraints["T"]}


def _operator(op, function, method, name, types, numbers, attrs):
    """The method `__method__`: `op` on the operands, which `function` converts where necessary.

    In graphs the operation is called by `name`, which the graph finds in the method's frame.
    """
    reflected = f"__r{method}__"

    def operator(self, other, name=name):
        dtype = self.dtype
        is_eager = state.graph is None
        if is_eager and type(other) is not Tensor:
            if type(other) is Variable:
                other = other._as_tensor()
            elif (dtype, type(other)) in numbers:
                try:
                    if not state.tapes:
                        return Tensor(op.kernel(self._array, other), types[dtype])
                    other = Tensor(dtype.as_numpy_dtype(other), dtype)
                except Exception:
                    pass
        if type(other) is Tensor and other.dtype is dtype and dtype in types:
            if is_eager:
                try:
                    result = Tensor(op.kernel(self._array, other._array), types[dtype])
                except Exception:
                    pass  # execute() raises the same error, explained
                else:
                    for tape in state.tapes:
                        tape.record(op, (self, other), (result,), attrs)
                    return result
            return execute(op, (self, other), attrs)
        try:
            return function(self, other)
        except (TypeError, ValueError):
            if isinstance(other, _PLAIN) or not hasattr(type(other), reflected):
                raise
            return NotImplemented

    operator.__name__ = f"__{method}__"
    return operator


def _reflected(op, function, name, types, numbers):
    """The method `__rname__`: the left operand is converted to the tensor's dtype."""

    def operator(self, other, name=name):
        dtype = self.dtype
        if (dtype, type(other)) in numbers and state.graph is None and not state.tapes:
            try:
                return Tensor(op.kernel(other, self._array), types[dtype])
            except Exception:
                pass
        return function(convert_to_tensor(other, dtype), self)

    operator.__name__ = f"__r{name}__"
    return operator


def _sign_operator(op, function, name):
    """The method `__name__` of a unary operator."""
    types = _direct(_result_types(op))

    def operator(self):
        dtype = self.dtype
        if type(self) is Tensor and dtype in types and state.graph is None and not state.tapes:
            return Tensor(op.kernel(self._array), dtype)
        return function(self)

    operator.__name__ = f"__{name}__"
    return operator


def _equals(x, y):
    if y is None:
        return False
    return execute(comparison.Equal, operands(x, y), _ANY_SHAPES)


def _differs(x, y):
    if y is None:
        return True
    return execute(comparison.NotEqual, operands(x, y), _ANY_SHAPES)


def _product(x, y):
    """x * y; for booleans x and y."""
    if x.dtype is boolean:
        return comparison.logical_and(x, cast(y, boolean))
    return arithmetic.multiply(x, y)


def _bits_or_logic(on_bits, on_booleans):
    def function(x, y):
        x, y = operands(x, y)
        return (on_booleans if x.dtype is boolean else on_bits)(x, y)

    return function


def _old_division(x, y):
    """Python 2's division: floor division for integers."""
    x, y = operands(x, y)
    return division.floordiv(x, y) if x.dtype.is_integer else division.divide(x, y)


def _times(x, y, name="matmul"):
    return matmul(x, y)


def _invert(x):
    return comparison.logical_not(x) if x.dtype is boolean else bitwise.invert(x)


def _with_value(method):
    """The operator of a variable: the tensor's, on the variable's current value."""

    def unary(self):
        return method(self._as_tensor())

    def binary(self, other, name=(method.__defaults__ or (None,))[0]):
        return method(self._as_tensor(), other)

    operator = unary if method.__code__.co_argcount == 1 else binary
    operator.__name__ = method.__name__
    return operator


def _refused(name, symbol, update):
    """`variable += value` raises: it would rebind the variable's name to a tensor."""

    def operator(self, value):
        raise RuntimeError(
            f"`variable {symbol}= value` with `tf.Variable`s is not supported. Use "
            f"`variable.{update}` to modify the variable, or `out = variable {symbol} value` if "
            "you need to get a new output Tensor."
        )

    operator.__name__ = f"__{name}__"
    return operator


_and = _bits_or_logic(bitwise.bitwise_and, comparison.logical_and)
_or = _bits_or_logic(bitwise.bitwise_or, comparison.logical_or)
_xor = _bits_or_logic(bitwise.bitwise_xor, comparison.logical_xor)

_ARITHMETIC = {
    "add": (arithmetic.AddV2, arithmetic.add, _NUMBERS),
    "sub": (arithmetic.Sub, arithmetic.subtract, _NUMBERS),
    "mul": (arithmetic.Mul, _product, _NUMBERS),
    "truediv": (division.RealDiv, division.divide, _FLOATS),
    "div": (division.RealDiv, _old_division, _FLOATS),
    "floordiv": (division.FloorDiv, division.floordiv, _FLOATS),
    "mod": (division.FloorMod, division.floormod, _FLOATS),
    "pow": (arithmetic.Pow, arithmetic.pow, _NUMBERS),
    "and": (bitwise.BitwiseAnd, _and, _INTEGERS),
    "or": (bitwise.BitwiseOr, _or, _INTEGERS),
    "xor": (bitwise.BitwiseXor, _xor, _INTEGERS),
}
_COMPARISONS = {
    "lt": (comparison.Less, comparison.less, None, {}),
    "le": (comparison.LessEqual, comparison.less_equal, None, {}),
    "gt": (comparison.Greater, comparison.greater, None, {}),
    "ge": (comparison.GreaterEqual, comparison.greater_equal, None, {}),
    "eq": (comparison.Equal, _equals, NUMERIC, _ANY_SHAPES),
    "ne": (comparison.NotEqual, _differs, NUMERIC, _ANY_SHAPES),
}

_IN_PLACE = {
    "iadd": ("+", "assign_add(value)"),
    "isub": ("-", "assign_sub(value)"),
    "imul": ("*", "assign(variable * value)"),
    "itruediv": ("/", "assign(variable / value)"),
    "ipow": ("**", "assign(variable ** value)"),
}


# The dispatch tables of the direct path, each with its contents. While they are empty, every
# operator goes through `execute`.
_DIRECT: list[tuple[Any, Any]] = []


def _direct(table):
    _DIRECT.append((table, table.copy()))
    return table


def go_direct(direct: bool) -> None:
    """Enable or disable direct dispatch to the kernels; a profile needs `execute`."""
    for table, contents in _DIRECT:
        if direct:
            table.update(contents)
        else:
            table.clear()


def _methods():
    """The operators of a tensor, keyed by method name."""
    methods = {
        "__neg__": _sign_operator(elementwise.Neg, elementwise.negative, "neg"),
        "__abs__": _sign_operator(elementwise.Abs, elementwise.abs, "abs"),
        "__invert__": _invert,
        "__matmul__": _times,
        "__rmatmul__": lambda self, other: _times(convert_to_tensor(other, self.dtype), self),
    }
    for name, (op, function, numbers) in _ARITHMETIC.items():
        types = _direct(_result_types(op))
        numbers = _direct(set(numbers))
        methods[f"__{name}__"] = _operator(op, function, name, name, types, numbers, {})
        # Kernels written in Python read the dtype of the left operand, which must be an array.
        on_the_left = set() if isinstance(op.kernel, FunctionType) else numbers
        methods[f"__r{name}__"] = _reflected(op, function, name, types, on_the_left)
    for name, (op, function, dtypes, attrs) in _COMPARISONS.items():
        types = _direct(_result_types(op, dtypes))
        numbers = _direct(set(_FLOATS))
        methods[f"__{name}__"] = _operator(op, function, name, op.name, types, numbers, attrs)
    return methods


_OF_TENSORS = _methods()
_OF_VARIABLES = {name: _with_value(method) for name, method in _OF_TENSORS.items()}
_OF_VARIABLES |= {f"__{name}__": _refused(name, *advice) for name, advice in _IN_PLACE.items()}

for _kind, _their_methods in (
    (Tensor, {**_OF_TENSORS, "__getitem__": getitem}),
    (Variable, {**_OF_VARIABLES, "__getitem__": variable_getitem}),
):
    for _name, _method in _their_methods.items():
        setattr(_kind, _name, _method)
