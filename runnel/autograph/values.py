"""The values of converted code: undefined, staged, and stageable ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core import nest
from ..core.context import state
from ..core.convert import convert_to_tensor
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TypeSpec, type_spec_from_value
from ..core.variable import Variable
from ..ops.array.shaping import identity


class Undefined:
    """The value of an undefined variable; any use of it is an error."""

    __slots__ = ("symbol_name",)

    def __init__(self, symbol_name: str) -> None:
        self.symbol_name = symbol_name

    def read(self) -> NoReturn:
        raise UnboundLocalError(f"'{self.symbol_name}' is used before assignment")

    def __repr__(self) -> str:
        return f"<undefined {self.symbol_name}>"

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        self.read()


class UndefinedReturnValue:
    """The result of a function that has not returned yet; None for its caller."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<undefined return value>"


def is_undefined(value: Any) -> bool:
    """Whether a value represents an undefined variable."""
    return isinstance(value, Undefined | UndefinedReturnValue)


def ld(value: Any) -> Any:
    """Read a variable."""
    if type(value) is Undefined:
        value.read()
    return value


def ldu(load: Callable[[], Any], name: str) -> Any:
    """Read a variable or qualified name that may be undefined."""
    try:
        return load()
    except (NameError, AttributeError, KeyError, IndexError, TypeError):
        return Undefined(name)


def is_staged(value: Any) -> bool:
    """Whether a value is known only when the graph runs."""
    if isinstance(value, Tensor):
        return isinstance(value, SymbolicTensor) or state.graph is not None
    return isinstance(value, Variable) and state.graph is not None


def condition(value: Any, statement: str) -> Tensor:
    """A staged condition as a scalar boolean."""
    tensor = convert_to_tensor(value)
    if not isinstance(tensor, SymbolicTensor):
        tensor = identity(tensor)
    is_bool = tensor.dtype.is_bool
    if is_bool and tensor.shape.rank in (None, 0):
        return tensor
    advice = "" if is_bool else "; to use as boolean Tensor, use `tf.cast`"
    raise ValueError(
        f"condition of {statement} expected to be `tf.bool` scalar, got {tensor!s}{advice}; "
        "to check for None, use `is not None`"
    )


def missing_value(message: str) -> ValueError:
    """The error for an undefined variable where a graph needs a value; loops recognize it."""
    error = ValueError(message)
    error.missing_value = True  # type: ignore[attr-defined]
    return error


_PYTHON = (bool, int, float, complex, str, bytes, np.ndarray, np.generic)


def staged(leaf: Any) -> Any:
    """A leaf of a structure as a tensor or composite in the graph."""
    return convert_to_tensor(leaf) if isinstance(leaf, (Variable, *_PYTHON)) else leaf


def stageable(value: Any) -> bool:
    """Whether a graph can represent a value: tensors and what converts to them, in structures."""
    return not is_undefined(value) and all(_is_carried(leaf) for leaf in nest.flatten(value))


def _is_carried(leaf: Any) -> bool:
    if isinstance(leaf, (Tensor, Variable, *_PYTHON)):
        return True
    if leaf is None or isinstance(leaf, type):
        return False
    try:
        return isinstance(type_spec_from_value(leaf), TypeSpec)
    except (TypeError, ValueError):
        return False


def static_sizes(shape: TensorShape) -> list[int]:
    """A concrete shape compatible with a static one."""
    return [size or 0 for size in (shape.as_list() if shape.rank is not None else [])]
