"""Fingerprints of pipelines: equal for equal descriptions, in any process."""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.dtypes import DType
from ..core.graph.graph import Graph
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TypeSpec
from .dataset import Dataset
from .functions import Traced
from .sources import Seeds

# Types whose values are distinguished by their printed form.
_SHOWN = (TypeSpec, DType, TensorShape, str, bytes, int, float, np.generic, type(None))


def fingerprint(dataset: Any) -> int:
    """A 64-bit fingerprint of a pipeline."""
    digest = hashlib.blake2b(digest_size=8)
    for part in _parts(dataset):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return int.from_bytes(digest.digest(), "little")


def _parts(value: Any) -> Iterator[bytes]:
    if isinstance(value, Dataset):
        yield type(value).__name__.encode()
        for name in sorted(vars(value)):
            # Options and the state of an earlier iteration do not affect the elements.
            if name not in ("_given_options", "_kept"):
                yield name.encode()
                yield from _parts(vars(value)[name])
    elif isinstance(value, Traced):
        graph = value._concrete.graph if value._concrete is not None else None
        yield from _parts(value._function.__code__ if graph is None else graph)
    elif isinstance(value, Graph):
        yield from _graph_parts(value)
    elif isinstance(value, Tensor) and not isinstance(value, SymbolicTensor):
        yield from _tensor_parts(value)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype}{value.shape}".encode()
        yield repr(value.tolist()).encode() if value.dtype == object else value.tobytes()
    elif isinstance(value, Seeds):
        yield repr((value._pair, value.anew)).encode()
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _parts(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            yield repr(key).encode()
            yield from _parts(each)
    elif isinstance(value, types.FunctionType):
        yield from _parts(value.__code__)
    elif isinstance(value, types.CodeType):
        yield value.co_code
        yield from _parts([c for c in value.co_consts if isinstance(c, types.CodeType | str | int)])
    elif isinstance(value, _SHOWN):
        yield repr(value).encode()
    else:
        yield type(value).__name__.encode()


def _tensor_parts(tensor: Tensor) -> Iterator[bytes]:
    held = tensor._array
    inner = getattr(held, "value", None)
    if isinstance(inner, Dataset):
        yield from _parts(inner)
    else:
        yield tensor.dtype.name.encode()
        yield from _parts(np.asarray(held))


def _graph_parts(graph: Graph) -> Iterator[bytes]:
    numbers: dict[int, int] = {}
    for operation in graph.get_operations():
        yield operation.type.encode()
        yield repr([numbers.get(id(tensor), -1) for tensor in operation.inputs]).encode()
        for name, value in sorted(operation.given.items()):
            yield name.encode()
            yield from _parts(value)
        for tensor in operation.outputs:
            numbers[id(tensor)] = len(numbers)
