"""tf.sysconfig: What the library was built with, and where it is."""

import collections
import os
from typing import Any


def get_build_info() -> "collections.OrderedDict[str, Any]":
    """What the library was built for: pure Python, with no CUDA, ROCm or TensorRT in it.

    >>> tf.sysconfig.get_build_info()["is_cuda_build"]
    False
    """
    names = ("is_cuda_build", "is_rocm_build", "is_tensorrt_build")
    return collections.OrderedDict.fromkeys(names, False)


def get_lib() -> str:
    """The directory of the installed package."""
    return os.path.dirname(os.path.abspath(__file__))
