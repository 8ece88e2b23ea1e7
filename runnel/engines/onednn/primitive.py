"""Primitives: oneDNN's compiled kernels, with the memory objects of their arguments.

A `Primitive` is created once for an op, its shapes and its attributes; a call only sets the data
pointers. It belongs to one thread, as its memory objects do.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from ...runtime.buffers import aligned, read_address
from ...runtime.engine_selection import here, pool
from ...runtime.workers import num_threads
from .library import Library, Unsupported, load

# Argument indices of oneDNN's interface.
SRC, DST, WEIGHTS, BIAS, MEAN, VARIANCE, SCALE, SHIFT = 1, 17, 33, 41, 49, 50, 51, 52
WORKSPACE, SCRATCHPAD = 64, 80
DIFF_SRC, DIFF_DST, DIFF_WEIGHTS, DIFF_BIAS, DIFF_SCALE, DIFF_SHIFT = 129, 145, 161, 169, 255, 256
FORWARD_TRAINING, FORWARD_INFERENCE = 64, 96

# Data types.
FLOAT32, BFLOAT16 = 3, 2
_TYPES = {np.dtype(np.float32): FLOAT32, np.dtype(ml_dtypes.bfloat16): BFLOAT16}
_ANY = 1
_UNDEFINED = 0
_USER_SCRATCHPAD = 1
_MOST_DIMENSIONS = 12
# The descriptors that a primitive descriptor can be queried for.
_QUERIES = {
    SRC: 129, DIFF_SRC: 130, WEIGHTS: 131, DIFF_WEIGHTS: 132, DST: 133, DIFF_DST: 134,
    WORKSPACE: 135, SCRATCHPAD: 136,
}  # fmt: skip
# The size of each thread's cache of primitives; programs with ever new shapes must not fill the
# memory.
_MOST = 1024
_UNKNOWN = object()
_BYTES = np.dtype(np.uint8)

# In elements. The parallel threshold where each takes a few cycles.
_WORTH_SHARING = 1 << 18

Numbers = Sequence[int]


class _Argument(ctypes.Structure):
    _fields_ = (("kind", ctypes.c_int), ("memory", ctypes.c_void_p))


class _Thread(threading.local):
    """The state of each thread."""

    def __init__(self) -> None:
        self.scratchpad = np.empty(0, _BYTES)
        library = load()
        if library is None:
            raise Unsupported("oneDNN's library is not installed (pip install onednn-cpu-gomp).")
        self.library: Library = library
        # By the number of threads that they were created for, and their keys.
        self.primitives: OrderedDict[tuple[int, Hashable], Any] = OrderedDict()
        self.threads = 0
        self.follow()
        in_order = 1
        self.stream = library.made("dnnl_stream_create", library.engine, in_order)

    def use(self, threads: int) -> None:
        """Use primitives of this many threads until further notice."""
        if threads != self.threads:
            self.library.use_threads(threads)
            self.threads = threads

    def follow(self, alone: bool = False) -> None:
        """Use as many threads as the user has set, or as the CPU load leaves; one in a parallel
        region.
        """
        is_one = alone or here.in_parallel_region
        self.use(1 if is_one else num_threads(self.library.most_threads))


def dimensions(values: Numbers) -> Any:
    """Numbers as oneDNN's dimensions."""
    return (ctypes.c_int64 * _MOST_DIMENSIONS)(*values)


def type_of(array: Any) -> int | None:
    """The data type of an array; None where oneDNN has no fast code for it."""
    found = _TYPES.get(array.dtype)
    return None if found == BFLOAT16 and not (_thread or _started()).library.has_bfloat16 else found


class Described:
    """A memory descriptor: dimensions, strides and data type."""

    def __init__(
        self, library: Library, shape: Numbers, strides: Numbers | None, kind: int
    ) -> None:
        """Strides are in elements; None lets the primitive choose the layout."""
        order = _ANY if strides is None else dimensions(strides)
        function = f"dnnl_memory_desc_create_with_{'tag' if strides is None else 'strides'}"
        self._library = library
        self._as_parameter_ = library.made(function, len(shape), dimensions(shape), kind, order)

    def __del__(self) -> None:
        if hasattr(self, "_as_parameter_"):
            self._library.destroy("dnnl_memory_desc_destroy", self._as_parameter_)


@lru_cache(maxsize=4096)
def described(
    library: Library,
    shape: tuple[int, ...],
    strides: tuple[int, ...] | None,
    kind: int = FLOAT32,
) -> Described:
    """The memory descriptor, cached."""
    return Described(library, shape, strides, kind)


def address(array: Any) -> int:
    """The address of an array's data, valid while the array is referenced."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"oneDNN works on arrays, not on {type(array).__name__}.")
    return read_address(array)


_numbers = itertools.count()


class Primitive:
    """A kernel for arrays of fixed shapes and layouts."""

    def __init__(
        self, library: Library, descriptor: ctypes.c_void_p, arguments: dict[int, Any]
    ) -> None:
        """`arguments`: the descriptor of each, or None to query the one that was chosen."""
        self.library = library
        self.descriptor = descriptor
        # How to reorder arguments into the chosen layout, and back; None where it is the same.
        self.reorders: dict[Hashable, Primitive | None] = {}
        # A number that keys caches which must not hold a reference to it.
        self.number = next(_numbers)
        self._primitive = library.made("dnnl_primitive_create", descriptor)
        self.chosen = {
            kind: self._query(kind) if given is None else given for kind, given in arguments.items()
        }
        self._sizes = {kind: int(library.size_of(each)) for kind, each in self.chosen.items()}
        self._scratch = library.size_of(self._query(SCRATCHPAD))
        kinds = [*arguments, *([SCRATCHPAD] if self._scratch else [])]
        self._memories = []
        for kind in kinds:
            md = self._query(SCRATCHPAD) if kind == SCRATCHPAD else self.chosen[kind]
            memory = library.made("dnnl_memory_create", md, library.engine, None)
            self._memories.append(memory)
        self._handles = [memory.value for memory in self._memories]
        # The last data pointer of each memory object.
        self._addresses = [0] * len(kinds)
        pairs = [_Argument(*pair) for pair in zip(kinds, self._handles, strict=True)]
        self._table = (_Argument * len(pairs))(*pairs)
        self._table_address = ctypes.addressof(self._table)

    def _query(self, kind: int) -> Any:
        return ctypes.c_void_p(self.library.query_md(self.descriptor, _QUERIES[kind], 0))

    def size(self, kind: int) -> int:
        """The bytes of an argument."""
        return self._sizes[kind]

    def run(self, *arrays: Any) -> None:
        """Compute with the data of these arrays, in the order of the arguments."""
        pool.give_to_engine()
        self.run_unclaimed(*arrays)

    def run_unclaimed(self, *arrays: Any) -> None:
        """Compute as `run` does, but without claiming the thread pool."""
        own, addresses = _thread or _started(), self._addresses
        if self._scratch:
            if own.scratchpad.nbytes < self._scratch:
                own.scratchpad = aligned((self._scratch,), _BYTES)
            arrays = (*arrays, own.scratchpad)
        for place, array in enumerate(arrays):
            found = read_address(array) if type(array) is np.ndarray else address(array)
            if found != addresses[place]:
                self.library.set_data(self._handles[place], found)
                addresses[place] = found
        count = len(addresses)
        status = self.library.execute(self._primitive, own.stream, count, self._table_address)
        if status:
            raise RuntimeError(f"oneDNN could not compute: status {status}.")

    def __del__(self) -> None:
        for memory in getattr(self, "_memories", ()):
            self.library.destroy("dnnl_memory_destroy", memory)
        if hasattr(self, "_primitive"):
            self.library.destroy("dnnl_primitive_destroy", self._primitive)
        self.library.destroy("dnnl_primitive_desc_destroy", self.descriptor)


# Made at the first use: without the library this module can be imported all the same.
_thread: _Thread | None = None


def _started() -> _Thread:
    global _thread
    _thread = _Thread()
    return _thread


def forget() -> None:
    """Create all primitives anew, in every thread, for the current number of threads."""
    global _thread
    _thread = None


def prepared_library(alone: bool = False) -> Library:
    """The library, with the calling thread's number of threads set."""
    own = _thread or _started()
    own.follow(alone)
    return own.library


def cached(key: Hashable, make: Callable[[Library], Any], alone: bool = False) -> Any:
    """This thread's cached value for a key, created at the first use; None if there is no
    primitive.
    """
    own = _thread or _started()
    own.follow(alone)
    return _cached(own, key, make)


def _cached(own: _Thread, key: Hashable, make: Callable[[Library], Any]) -> Any:
    primitives, known = own.primitives, (own.threads, key)
    made = primitives.get(known, _UNKNOWN)
    if made is not _UNKNOWN:
        primitives.move_to_end(known)
        return made
    try:
        made = make(own.library)
    except Unsupported:
        made = None
    primitives[known] = made
    while len(primitives) > _MOST:
        primitives.popitem(last=False)
    return made


def compute(
    key: tuple[Hashable, ...], make: Callable[[Library], Any], size: int, *arrays: Any
) -> bool:
    """Run the primitive of a key on arrays above a size; False where there is no primitive.

    While oneDNN owns the cores, large arrays are parallelized. Otherwise the calling thread
    computes alone: BLAS keeps the cores, and no thread waits for a time-sliced one.
    """
    own = _thread or _started()
    own.follow(alone=not pool.owned_by_engine or size < _WORTH_SHARING)
    primitive = _cached(own, key, make)
    if primitive is not None:
        primitive.run_unclaimed(*arrays)
    return primitive is not None


@lru_cache(maxsize=1)
def attributes(library: Library) -> ctypes.c_void_p:
    """The attributes of most primitives."""
    return user_scratchpad(library)


def user_scratchpad(library: Library) -> ctypes.c_void_p:
    """New attributes by which we allocate a primitive's scratchpad."""
    made = library.made("dnnl_primitive_attr_create")
    library.call("dnnl_primitive_attr_set_scratchpad_mode", made, _USER_SCRATCHPAD)
    return made
