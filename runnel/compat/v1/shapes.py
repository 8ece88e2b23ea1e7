"""TensorFlow 1's shapes: of Dimension objects, printed with question marks."""

from __future__ import annotations

import sys

from ...core.convert import register_converter, tensor_of
from ...core.dimension import Dimension
from ...core.dtypes import int32
from ...core.shapes import TensorShape

_NAMES = ("__getitem__", "__iter__", "__repr__", "__str__", "dims")
_SECOND = {name: TensorShape.__dict__[name] for name in _NAMES}
_getitem = _SECOND["__getitem__"]


def _is_ours(frame):
    """Whether the caller is in this package, which uses integers as dimensions."""
    return frame.f_globals.get("__name__", "").startswith("runnel.")


def _first_getitem(self, key):
    if isinstance(key, slice) or _is_ours(sys._getframe(1)):
        return _getitem(self, key)
    return Dimension(_getitem(self, key))


def _first_iter(self):
    sizes = _SECOND["__iter__"](self)
    return sizes if _is_ours(sys._getframe(1)) else map(Dimension, sizes)


def _first_repr(self):
    sizes = None if self._dims is None else [Dimension(size) for size in self._dims]
    return f"TensorShape({sizes})"


def _first_str(self):
    if self._dims is None:
        return "<unknown>"
    sizes = ["?" if size is None else str(size) for size in self._dims]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _first_dims(self):
    if self._dims is None:
        return None
    sizes = list(self._dims)
    return sizes if _is_ours(sys._getframe(1)) else [Dimension(size) for size in sizes]


_FIRST = {
    "__getitem__": _first_getitem, "__iter__": _first_iter, "__repr__": _first_repr,
    "__str__": _first_str, "dims": property(_first_dims),
}  # fmt: skip


def use_dimensions(wanted):
    """Make shapes consist of Dimension objects, or of integers and None again."""
    for name, method in (_FIRST if wanted else _SECOND).items():
        setattr(TensorShape, name, method)


register_converter(Dimension, lambda size, dtype: _as_tensor(size, dtype or int32))


def _as_tensor(size, dtype):
    if size.value is None:
        raise ValueError("A Dimension of unknown size has no tensor; use tf.shape(tensor)[index].")
    return tensor_of(dtype.as_numpy_dtype(size.value), dtype)
