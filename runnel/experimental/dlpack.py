"""tf.experimental.dlpack: exchange of tensors with other libraries through DLPack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.errors import InvalidArgumentError
from ..core.tensor import SymbolicTensor, Tensor

_CPU = (1, 0)


class _Exporter:
    """An object with the DLPack protocol for NumPy, which returns a capsule."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return _CPU


def to_dlpack(tf_tensor: Any) -> Any:
    """A tensor as a DLPack capsule, which one other library may consume.

    >>> capsule = tf.experimental.dlpack.to_dlpack(tf.constant([1, 2]))
    >>> tf.experimental.dlpack.from_dlpack(capsule)
    <tf.Tensor: shape=(2,), dtype=int32, numpy=array([1, 2], dtype=int32)>
    """
    if not isinstance(tf_tensor, Tensor) or isinstance(tf_tensor, SymbolicTensor):
        raise InvalidArgumentError(
            None,
            None,
            f"The argument to `to_dlpack` must be an eager tensor, got {type(tf_tensor).__name__}. "
            "Convert it with tf.convert_to_tensor first.",
        )
    # A copy: the consumer may write to the memory, and tensors are immutable.
    array = np.array(tf_tensor.numpy())
    try:
        return array.__dlpack__()
    except (BufferError, TypeError) as failure:
        raise InvalidArgumentError(
            None, None, f"A {tf_tensor.dtype.name} tensor cannot go through DLPack: {failure}"
        ) from None


def from_dlpack(dlcapsule: Any) -> Tensor:
    """The tensor of a DLPack capsule; a capsule can be consumed once."""
    if type(dlcapsule).__name__ != "PyCapsule":
        raise TypeError(f"from_dlpack takes a DLPack capsule, got {type(dlcapsule).__name__}.")
    try:
        array = np.from_dlpack(_Exporter(dlcapsule))
    except (ValueError, BufferError, RuntimeError) as failure:
        raise InvalidArgumentError(
            None,
            None,
            f"The DLPack capsule cannot be taken: {failure}. A capsule may be consumed at most "
            "once.",
        ) from None
    return convert_to_tensor(array)
