"""What everything stands on: dtypes, shapes, tensors, operations, gradients."""

from . import pages

pages.keep()
