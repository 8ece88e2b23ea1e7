"""`experimental_enable_numpy_behavior`: tensors that behave like NumPy's arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import runnel as tf

from ...core.tensor import Tensor
from ...core.variable import Variable
from ..dispatch import convert_operands
from . import binary, elementwise, indexing, linear, reductions, shaping
from .conversion import to_array
from .promotion import as_dtype, behaviour, lattice_type, leaves_of, shared_type

_MODES = ("off", "legacy", "safe", "all")

# The binary operators that promote, with the reflected method where Python has one.
_PROMOTING = (
    "add", "sub", "mul", "truediv", "div", "floordiv", "mod", "pow", "and", "or", "xor",
)  # fmt: skip
_COMPARING = ("lt", "le", "gt", "ge", "eq", "ne")
# The functions that promote in the modes of the lattice; in "legacy" only operators do, and the
# function that is one.
_PROMOTING_FUNCTIONS = """
linalg.matmul linalg.matvec tensordot math.add math.divide math.divide_no_nan math.equal
math.floordiv math.floormod math.maximum math.minimum math.multiply math.multiply_no_nan math.pow
math.subtract math.truediv realdiv truncatediv truncatemod
"""


def _in_lattice(x: Any, y: Any) -> tuple[Any, Any]:
    """Two operands in their common dtype; values other than numbers unchanged."""
    if getattr(x, "dtype", None) is getattr(y, "dtype", Ellipsis):
        return x, y
    leaves = [*leaves_of(x), *leaves_of(y)]
    if not all(_is_numeric(leaf) for leaf in leaves):
        return x, y
    dtype = lattice_type(leaves)
    return to_array(x, dtype), to_array(y, dtype)


def _by_numpy(x: Any, y: Any) -> tuple[Any, Any]:
    """The operands of tf.divide as its operator takes them: it is that of the first.

    A first operand that is no tensor takes the dtype of the second, where that is one.
    """
    if not isinstance(x, Tensor | Variable):
        if isinstance(y, Tensor | Variable):
            return x, y
        x = tf.convert_to_tensor(x)
    if not all(_is_numeric(leaf) for leaf in (*leaves_of(x), *leaves_of(y))):
        return x, y
    dtype = shared_type(x, y)
    return to_array(x, dtype), to_array(y, dtype)


def _is_numeric(leaf: Any) -> bool:
    if isinstance(leaf, Tensor | Variable):
        return leaf.dtype.is_numeric or leaf.dtype.is_bool
    if isinstance(leaf, np.ndarray | np.generic):
        return leaf.dtype.kind in "biufcV"
    return isinstance(leaf, int | float | complex)


def _common_type(x: Any, y: Any) -> Any:
    if behaviour.is_lattice:
        return lattice_type([*leaves_of(x), *leaves_of(y)])
    return shared_type(x, y)


def _promoting(method: Callable[..., Any]) -> Callable[..., Any]:
    """An operator that converts both operands to their common dtype first."""

    def operator(self: Any, other: Any) -> Any:
        if getattr(other, "dtype", None) is self.dtype:
            return method(self, other)
        # Ragged tensors, strings and objects of other libraries are left to the operator.
        if not all(_is_numeric(leaf) for leaf in (self, *leaves_of(other))):
            return method(self, other)
        dtype = _common_type(self, other)
        return method(to_array(self, dtype), to_array(other, dtype))

    operator.__name__ = method.__name__
    return operator


def _of_variable(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The operator of a variable: the tensor's, on the variable's current value."""

    def of_variable(self: Any, other: Any) -> Any:
        return operator(to_array(self), other)

    of_variable.__name__ = operator.__name__
    return of_variable


def _astype(self: Tensor, dtype: Any) -> Tensor:
    """The array cast to another dtype."""
    return to_array(self, as_dtype(dtype))


def _reshape(self: Tensor, *shape: Any, **order: Any) -> Tensor:
    """The array reshaped, to one sequence or to its sizes."""
    return shaping.reshape(self, shape[0] if len(shape) == 1 else shape, **order)


def _mean(
    self: Tensor, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = None
) -> Tensor:
    """The mean of the elements along some axes."""
    return reductions.mean(self, axis, dtype, out, keepdims)


def _max(self: Tensor, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The maximum along some axes."""
    return reductions.max(self, axis, keepdims)


def _min(self: Tensor, axis: Any = None, keepdims: Any = None) -> Tensor:
    """The minimum along some axes."""
    return reductions.min(self, axis, keepdims)


def _tolist(self: Tensor) -> Any:
    """The elements as nested lists of Python numbers."""
    return self.numpy().tolist()


_MEMBERS: dict[str, Any] = {
    "T": property(shaping.transpose),
    "astype": _astype,
    "clip": binary.clip,
    "data": property(lambda self: self),
    "flatten": shaping.flatten,
    "max": _max,
    "mean": _mean,
    "min": _min,
    "ravel": shaping.ravel,
    "reshape": _reshape,
    "size": property(shaping.size),
    "tolist": _tolist,
    "transpose": shaping.transpose,
    "__pos__": lambda self: self,
    "__round__": elementwise.around,
    "__getitem__": indexing.getitem,
    "__matmul__": linear.matmul,
    "__rmatmul__": lambda self, other: linear.matmul(other, self),
}

# The previous attributes of tensors and variables, restored by the mode "off".
_saved: dict[type, dict[str, Any]] = {}


def experimental_enable_numpy_behavior(
    prefer_float32: bool = False, dtype_conversion_mode: str = "legacy"
) -> None:
    """Make tensors behave like NumPy's arrays: methods, indexing, and type promotion.

    `prefer_float32` makes Python's floats float32 instead of float64. `dtype_conversion_mode`:
    "legacy" promotes as NumPy does, "all" by a lattice in which integers never widen floats, "safe"
    by the same lattice but refuses what may lose precision, "off" disables it all.

    >>> tf.experimental.numpy.experimental_enable_numpy_behavior()
    >>> tf.constant([1, 2]).T + 0.5
    <tf.Tensor: shape=(2,), dtype=float64, numpy=array([1.5, 2.5])>
    >>> tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
    """
    if dtype_conversion_mode not in _MODES:
        raise ValueError(
            f"The provided promotion mode {dtype_conversion_mode} does not exist. "
            "dtype_conversion_mode must be 'off', 'legacy', 'safe' or 'all'."
        )
    behaviour.mode = dtype_conversion_mode
    behaviour.prefer_float32 = prefer_float32 and dtype_conversion_mode != "off"
    if dtype_conversion_mode == "off":
        _give_back()
    elif not _saved:
        _install()
    convert_operands(_PROMOTING_FUNCTIONS, _in_lattice if behaviour.is_lattice else None)
    if behaviour.mode == "legacy":
        convert_operands("math.divide", _by_numpy)


def _install() -> None:
    names = [f"__{name}__" for name in (*_PROMOTING, *_COMPARING)]
    names += [f"__r{name}__" for name in _PROMOTING]
    for kind in (Tensor, Variable):
        _saved[kind] = {name: vars(kind)[name] for name in names}
    for name in names:
        operator = _promoting(_saved[Tensor][name])
        setattr(Tensor, name, operator)
        setattr(Variable, name, _of_variable(operator))
    for name in ("__matmul__", "__rmatmul__"):
        _saved[Variable][name] = vars(Variable)[name]
        setattr(Variable, name, _of_variable(_MEMBERS[name]))
    for name, member in _MEMBERS.items():
        _saved[Tensor][name] = vars(Tensor).get(name)
        setattr(Tensor, name, member)


def _give_back() -> None:
    for kind, members in _saved.items():
        for name, member in members.items():
            if member is None:
                delattr(kind, name)
            else:
                setattr(kind, name, member)
    _saved.clear()
