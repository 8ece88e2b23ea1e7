"""How large what a graph from a file asks for may be, and clean errors for what is broken.

A few bytes can ask for much: functions that call functions twice each, constants of one element
and a huge shape, nodes with millions of outputs. Each has a bound here, far beyond real models.
"""

from __future__ import annotations

import math
import os
import struct
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from google.protobuf.message import DecodeError

from ..core.dtypes import as_dtype
from ..core.errors import InvalidArgumentError, ResourceExhaustedError
from ..core.tensor import OutOfScopeError

# What protocol buffers hold at most; text is parsed into many times its size.
MOST_BYTES = (1 << 31) - 1
MOST_BYTES_OF_TEXT = 1 << 28
# Functions in functions: each takes a few frames of Python's stack.
DEEPEST_CALLS = 100
# Beyond so many operations with all calls put in place, functions stay functions.
MOST_INLINED = 1 << 16
# So many operations may be made beside the nodes of the file.
MOST_OPERATIONS = 1 << 18
# Constants whose last element stands for all that follow may need so much memory in all.
MOST_FILLED_BYTES = 1 << 30
# One value among the arguments of a function.
MOST_FILLED_IN_SIGNATURES = 1 << 20

# What only broken contents, or a mistake here, raise.
_RAW = (ArithmeticError, AssertionError, AttributeError, DecodeError, LookupError,
        NotImplementedError, RecursionError, SyntaxError, TypeError, UnicodeError,
        struct.error)  # fmt: skip


@contextmanager
def clean_errors(what: str, kind: Callable[[str], Exception]) -> Iterator[None]:
    """Turn what broken contents raise into one kind of error that says what is broken.

    ValueError, OSError, RuntimeError and the classes of tf.errors pass.
    """
    try:
        yield
    except OutOfScopeError:
        raise
    except MemoryError as failure:
        raise ResourceExhaustedError(
            None, None, f"{what} asks for more memory than there is: {failure}"
        ) from failure
    except RecursionError as failure:
        raise kind(f"{what} is nested too deeply.") from failure
    except _RAW as failure:
        raise kind(f"{what} is broken: {type(failure).__name__}: {failure}") from failure


def require_size(path: str, most: int) -> None:
    """OSError where a file is larger than anything that can be in it."""
    size = os.path.getsize(path)
    if size > most:
        raise OSError(f"{path} has {size} bytes, and a message at most {most}: it is none.")


def filled_bytes(tensor: Any) -> int:
    """How many bytes a TensorProto needs beyond those that it brings with it."""
    sizes = [each.size for each in tensor.tensor_shape.dim]
    if any(size < 0 for size in sizes):
        raise ValueError(f"A tensor has the shape {sizes}, with a negative size.")
    try:
        each = max(as_dtype(tensor.dtype).size or 8, 1)
    except TypeError:
        raise ValueError(f"A tensor has dtype {tensor.dtype}, which does not exist.") from None
    return max(math.prod(sizes) * each - tensor.ByteSize(), 0)


def require_small(tensor: Any) -> Any:
    """A TensorProto itself; ValueError where it needs far more memory than it brings."""
    if filled_bytes(tensor) > MOST_FILLED_IN_SIGNATURES:
        raise ValueError("A value in a signature has a shape far beyond its elements.")
    return tensor


class Budget:
    """What is left of the bounds while one graph is read in."""

    def __init__(self, nodes: int) -> None:
        self._operations = nodes + MOST_OPERATIONS
        self._bytes = MOST_FILLED_BYTES

    def take_operation(self) -> None:
        """Count an operation; ResourceExhaustedError beyond the bound."""
        self._operations -= 1
        if self._operations < 0:
            raise ResourceExhaustedError(
                None, None, f"The functions of the graph make more than {MOST_OPERATIONS} "
                "operations beside its nodes: it is broken, or made to exhaust memory.",
            )  # fmt: skip

    def take_tensors(self, node: Any) -> None:
        """Count the constants of a node."""
        for attr in node.attr.values():
            tensors = [attr.tensor] if attr.HasField("tensor") else attr.list.tensor
            for tensor in tensors:
                self._bytes -= filled_bytes(tensor)
        if self._bytes < 0:
            raise InvalidArgumentError(
                None, None, f"Cannot parse tensor of node '{node.name}': constants of few elements "
                f"are to fill more than {MOST_FILLED_BYTES} bytes with them.",
            )  # fmt: skip


def expanded_sizes(
    library: dict[str, Any], called: Callable[[Any], Iterable[str]]
) -> dict[str, int]:
    """How many nodes each function has with all that it calls put in place, up to a bound.

    Functions that call themselves have the bound.
    """
    sizes: dict[str, int] = {}
    callees: dict[str, list[str]] = {}
    for first in library:
        waiting = [first]
        while waiting:
            name = waiting[-1]
            if name not in callees:
                callees[name] = [each for node in library[name].node_def for each in called(node)]
                waiting += [each for each in callees[name] if each not in callees]
                continue
            waiting.pop()
            if name not in sizes:
                inner = sum(sizes.get(each, MOST_INLINED) for each in callees[name])
                sizes[name] = min(len(library[name].node_def) + inner, MOST_INLINED)
    return sizes
