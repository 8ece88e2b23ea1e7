"""Resource limits for untrusted graphs, and consistent errors for malformed ones.

A few bytes can require a lot: functions that each call functions twice, constants of one element
and a huge shape, nodes with millions of outputs. Each has a limit here, far above real models.
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

# The maximum size of protocol buffers; parsed text takes many times its size.
MOST_BYTES = (1 << 31) - 1
MOST_BYTES_OF_TEXT = 1 << 28
# The nesting depth of functions: each level takes a few Python stack frames.
DEEPEST_CALLS = 100
# Above this number of operations with all calls inlined, calls are not inlined.
MOST_INLINED = 1 << 16
# The maximum number of operations added beyond the nodes of the file.
MOST_OPERATIONS = 1 << 18
# The memory limit of all constants whose last element is repeated.
MOST_FILLED_BYTES = 1 << 30
# The limit of one value in a function's signature.
MOST_FILLED_IN_SIGNATURES = 1 << 20

# Exceptions raised only by malformed input, or a bug here.
_RAW = (ArithmeticError, AssertionError, AttributeError, DecodeError, LookupError,
        NotImplementedError, RecursionError, SyntaxError, TypeError, UnicodeError,
        struct.error)  # fmt: skip


@contextmanager
def clean_errors(what: str, kind: Callable[[str], Exception]) -> Iterator[None]:
    """Convert exceptions caused by malformed input into one kind of error that describes it.

    ValueError, OSError, RuntimeError and the classes of tf.errors are passed through.
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
    """Raise OSError if a file is larger than any valid one."""
    size = os.path.getsize(path)
    if size > most:
        raise OSError(f"{path} has {size} bytes, and a message at most {most}: it is none.")


def filled_bytes(tensor: Any) -> int:
    """The number of bytes that a TensorProto requires beyond its own size."""
    sizes = [each.size for each in tensor.tensor_shape.dim]
    if any(size < 0 for size in sizes):
        raise ValueError(f"A tensor has the shape {sizes}, with a negative size.")
    try:
        each = max(as_dtype(tensor.dtype).size or 8, 1)
    except TypeError:
        raise ValueError(f"A tensor has dtype {tensor.dtype}, which does not exist.") from None
    return max(math.prod(sizes) * each - tensor.ByteSize(), 0)


def require_small(tensor: Any) -> Any:
    """A TensorProto unchanged; ValueError if it requires far more memory than its own size."""
    if filled_bytes(tensor) > MOST_FILLED_IN_SIGNATURES:
        raise ValueError("A value in a signature has a shape far beyond its elements.")
    return tensor


class Budget:
    """The remaining limits during the import of one graph."""

    def __init__(self, nodes: int) -> None:
        self._operations = nodes + MOST_OPERATIONS
        self._bytes = MOST_FILLED_BYTES

    def take_operation(self) -> None:
        """Count an operation; ResourceExhaustedError above the limit."""
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
    """The number of nodes of each function with all calls inlined, up to a limit.

    Recursive functions have the limit.
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
