"""tf.test: Testing of numerical code."""

from typing import TYPE_CHECKING as _TYPE_CHECKING, Any as _Any

from ..testing import (
    assert_equal_graph_def as assert_equal_graph_def,
    compute_gradient as compute_gradient,
    create_local_cluster as create_local_cluster,
    disable_with_predicate as disable_with_predicate,
    gpu_device_name as gpu_device_name,
    is_built_with_cuda as is_built_with_cuda,
    is_built_with_gpu_support as is_built_with_gpu_support,
    is_built_with_rocm as is_built_with_rocm,
    is_built_with_xla as is_built_with_xla,
    is_cpu_target_available as is_cpu_target_available,
    is_gpu_available as is_gpu_available,
    main as main,
    with_eager_op_as_function as with_eager_op_as_function,
)
from . import experimental as experimental
from .benchmark import (
    Benchmark as Benchmark,
    benchmark_config as benchmark_config,
)

if _TYPE_CHECKING:
    from .case import TestCase as TestCase


def __getattr__(name: str) -> _Any:
    # Abseil's test case brings half of the standard library.
    if name != "TestCase":
        from ..core.suggestions import no_attribute

        raise no_attribute(__name__, name)
    from .case import TestCase

    globals()[name] = TestCase
    return TestCase


def __dir__() -> list[str]:
    return sorted({*globals(), "TestCase"})
