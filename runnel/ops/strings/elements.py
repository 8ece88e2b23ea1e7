"""Application of functions of one string to whole tensors, whose arrays hold bytes objects."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import string
from ...core.tensor import Tensor

_RAGGED = "runnel.ops.ragged.ragged_tensor"


def text(value: Any) -> Tensor:
    """A value as a string tensor; a tensor of another dtype is passed on for the op to refuse."""
    return value if isinstance(value, Tensor) else convert_to_tensor(value, string)


def scalar_text(value: bytes) -> np.ndarray:
    """The array of a string tensor of rank 0."""
    array = np.empty((), object)
    array[()] = value
    return array


def filled(values: list[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """The array of a string tensor with these elements."""
    return np.fromiter(values, object, len(values)).reshape(shape)


def each(function, strings: np.ndarray) -> np.ndarray:
    """The strings that `function` returns for the strings (or other objects) in an array."""
    result = np.frompyfunc(function, 1, 1)(strings)
    return result if strings.ndim else scalar_text(result)


def measured(function, strings: np.ndarray, dtype: type) -> np.ndarray:
    """The numbers that `function` returns for the strings in an array."""
    return np.fromiter(map(function, strings.flat), dtype, strings.size).reshape(strings.shape)


def as_bytes(value: Any, name: str) -> bytes:
    """An attribute that must be text; TypeError for anything else."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise TypeError(f"Expected string for argument '{name}' not {value!r}. Give a str or bytes.")


def is_ragged(value: Any) -> bool:
    """Whether a value is a ragged tensor; none can exist before their module is loaded."""
    module = sys.modules.get(_RAGGED)
    return module is not None and isinstance(value, module.RaggedTensor)
