"""The runtime: which engine runs a kernel, thread pools, memory, half precision, epilogues."""

from . import allocator

allocator.keep()
