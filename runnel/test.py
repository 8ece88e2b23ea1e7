"""tf.test: Testing of numerical code."""

from .testing import (
    TestCase as TestCase,
    compute_gradient as compute_gradient,
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_built_with_gpu_support as is_built_with_gpu_support,
    is_built_with_rocm as is_built_with_rocm,
    is_gpu_available as is_gpu_available,
    main as main,
)
