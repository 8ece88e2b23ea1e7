"""The C library: where it is found, its functions, and its error codes."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from glob import glob
from pathlib import Path
from typing import Any

_NAMES = ("libdnnl.so.3", "libdnnl.3.dylib", "dnnl.dll")
# The library folders of systems; Debian's file is called libdnnl.so.3.6.
_FOLDERS = ("/usr/local/lib", "/usr/lib", "/usr/lib64", "/usr/lib/*-linux-gnu")
_MAJOR = 3
_POINTER = ctypes.c_void_p
# What a descriptor is queried for.
_ITS_NAME = 8
# An environment variable that libgomp reads when it is loaded: how often an idle thread polls for
# work before it sleeps.
_SPINS = "GOMP_SPINCOUNT"
# Long enough to be awake for the next primitive of a step, some tenths of a millisecond.
_FEW_SPINS = "20000"


# Instruction sets by their bit masks in oneDNN's interface.
_INSTRUCTIONS = {
    0x1: "SSE4.1",
    0x3: "AVX",
    0x7: "AVX2",
    0xF: "AVX2-VNNI",
    0x1F: "AVX2-VNNI-2",
    0x27: "AVX512",
    0x67: "AVX512-VNNI",
    0xE7: "AVX512-BF16",
    0x1EF: "AVX512-FP16",
    0xFEF: "AVX512-AMX",
    0x1FEF: "AVX512-AMX-FP16",
}
_AVX512 = 0x27
# Among these bits: bfloat16 matmuls.
_OF_BFLOAT16 = 0x80


class _Version(ctypes.Structure):
    _fields_ = (("major", ctypes.c_int), ("minor", ctypes.c_int), ("patch", ctypes.c_int))


def _version(functions: ctypes.CDLL) -> _Version:
    function = functions.dnnl_version
    function.restype = ctypes.POINTER(_Version)
    found: _Version = function().contents
    return found


class Unsupported(Exception):
    """oneDNN has no primitive for this case."""


class Library:
    """oneDNN's functions, one CPU engine, and the calls that every primitive needs."""

    def __init__(self, functions: ctypes.CDLL) -> None:
        if _version(functions).major != _MAJOR:
            raise Unsupported("a version with other interfaces")
        self._functions = functions
        self.execute = functions.dnnl_primitive_execute
        self.execute.argtypes = [_POINTER, _POINTER, ctypes.c_int, _POINTER]
        self.set_data = functions.dnnl_memory_set_data_handle
        self.set_data.argtypes = [_POINTER, _POINTER]
        self.query_md = functions.dnnl_primitive_desc_query_md
        self.query_md.argtypes = [_POINTER, ctypes.c_int, ctypes.c_int]
        self.query_md.restype = _POINTER
        self.size_of = functions.dnnl_memory_desc_get_size
        self.size_of.argtypes = [_POINTER]
        self.size_of.restype = ctypes.c_size_t
        self.is_same = functions.dnnl_memory_desc_equal
        self.is_same.argtypes = [_POINTER, _POINTER]
        number, pointer = ctypes.c_int64, _POINTER
        self.multiply = functions.dnnl_sgemm
        self.multiply.argtypes = [
            ctypes.c_char, ctypes.c_char, number, number, number, ctypes.c_float, pointer, number,
            pointer, number, ctypes.c_float, pointer, number,
        ]  # fmt: skip
        cpu, first = 1, ctypes.c_size_t(0)
        self.engine = self.made("dnnl_engine_create", cpu, first)
        # The functions of libgomp, which is bundled with the library; another OpenMP has other
        # ones.
        self._use_threads = getattr(functions, "omp_set_num_threads", None)
        self._threads = getattr(functions, "omp_get_max_threads", None)
        self.most_threads = self.threads()
        self._instructions = int(functions.dnnl_get_effective_cpu_isa())
        # Whether its code uses AVX-512, and bfloat16 instructions; without these bfloat16 would be
        # slower than float32.
        self.is_wide = self._instructions & _AVX512 == _AVX512
        self.has_bfloat16 = bool(self._instructions & _OF_BFLOAT16)

    def made(self, function: str, *arguments: Any) -> ctypes.c_void_p:
        """The object that a function of the library creates; Unsupported if it fails."""
        result = _POINTER()
        status = getattr(self._functions, function)(ctypes.byref(result), *arguments)
        if status:
            raise Unsupported(f"{function} gave status {status}")
        return result

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function of the library that creates nothing."""
        status = getattr(self._functions, function)(*arguments)
        if status:
            raise Unsupported(f"{function} gave status {status}")

    def destroy(self, function: str, thing: ctypes.c_void_p) -> None:
        getattr(self._functions, function)(thing)

    def implementation(self, descriptor: ctypes.c_void_p) -> str:
        """The name of the implementation that a primitive descriptor chose; "ref..." is not
        optimized.
        """
        name = ctypes.c_char_p()
        self.call("dnnl_primitive_desc_query", descriptor, _ITS_NAME, 0, ctypes.byref(name))
        return (name.value or b"").decode()

    def threads(self) -> int:
        """How many threads a primitive uses that the calling thread creates."""
        return 1 if self._threads is None else int(self._threads())

    def use_threads(self, count: int) -> None:
        """Set that number for the calling thread: OpenMP keeps it per thread."""
        if self._use_threads is not None:
            self._use_threads(count)

    @property
    def path(self) -> str:
        """The file it was loaded from."""
        return str(self._functions._name)

    def version(self) -> str:
        """The version of the library."""
        found = _version(self._functions)
        return f"{found.major}.{found.minor}.{found.patch}"

    def instructions(self) -> str:
        """The instruction set that it uses on this CPU."""
        found = self._instructions
        return _INSTRUCTIONS.get(found, f"instruction set {found:#x}")


@lru_cache(maxsize=1)
def load() -> Library | None:
    """The library, or None if there is none."""
    with _threads_that_sleep():
        for path in _places():
            try:
                return Library(ctypes.CDLL(path))
            except (OSError, AttributeError, Unsupported):
                continue
    return None


def is_loaded() -> bool:
    """Whether the library has been needed so far, and found."""
    return load.cache_info().currsize > 0 and load() is not None


@contextmanager
def _threads_that_sleep() -> Iterator[None]:
    """Let the threads of a pool that is loaded meanwhile sleep soon when they are idle.

    A spinning thread keeps a core from other pools.
    """
    if _SPINS in os.environ or "OMP_WAIT_POLICY" in os.environ:
        yield
        return
    os.environ[_SPINS] = _FEW_SPINS
    try:
        yield
    finally:
        del os.environ[_SPINS]


def _places() -> list[str]:
    # Its wheel installs the library beside the Python it belongs to.
    beside = [Path(sys.prefix) / folder / name for folder in ("lib", "lib64") for name in _NAMES]
    if sys.platform == "linux":
        others = [path for folder in _FOLDERS for path in sorted(glob(f"{folder}/{_NAMES[0]}*"))]
    else:
        found = ctypes.util.find_library("dnnl")
        others = [found] if found else []
    return [*(str(path) for path in beside if path.exists()), *_NAMES, *others]
