"""What everything stands on: dtypes, shapes, tensors, operations, gradients."""

from ..runtime import allocator

allocator.keep()
