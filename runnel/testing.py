"""tf.test: checking gradients, and asking what the library can do."""

from __future__ import annotations

import functools
import importlib.util
import platform
import sys
import unittest
from typing import Any

import numpy as np

from . import config
from .core.autodiff.tape import GradientTape
from .core.convert import convert_to_tensor
from .core.tensor import Tensor


def compute_gradient(f: Any, x: Any, delta: float | None = None) -> Any:
    """The jacobians of `f` at `x`: by its gradients, and by finite differences.

    `x` is a list of the arguments of `f`. Each result is a tuple with one matrix per argument:
    a row per element of the output, a column per element of the argument (two for complex
    numbers).

    >>> exact, numeric = tf.test.compute_gradient(lambda x: x * x, [tf.constant([1.0, 2.0])])
    >>> exact[0].tolist(), numeric[0].tolist()
    ([[2.0, 0.0], [0.0, 4.0]], [[2.0, 0.0], [0.0, 4.0]])
    """
    if not isinstance(x, list | tuple):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), "
            f"not a {type(x)}"
        )
    arguments = [convert_to_tensor(value) for value in x]
    for index, argument in enumerate(arguments):
        if not (argument.dtype.is_floating or argument.dtype.is_complex):
            raise AssertionError(
                f"Cannot compute gradient for unsupported type {argument.dtype.name} of argument "
                f"{index}"
            )
    step = 1.0 / 1024 if delta is None else delta
    exact = tuple(_exact_jacobian(f, arguments, index) for index in range(len(arguments)))
    numeric = tuple(_numeric_jacobian(f, arguments, index, step) for index in range(len(arguments)))
    return exact, numeric


def _parts(array: Any) -> np.ndarray[Any, Any]:
    """The real numbers that an array consists of, in one row."""
    array = np.ascontiguousarray(np.ravel(array))
    return array.view(array.real.dtype) if array.dtype.kind == "c" else array


def _exact_jacobian(f: Any, arguments: list[Tensor], index: int) -> Any:
    with GradientTape(persistent=True) as tape:
        tape.watch(arguments)
        y = convert_to_tensor(f(*arguments))
    flat = np.zeros(y.shape.num_elements() or 0, y.dtype.numpy)
    units = [1, 1j] if y.dtype.is_complex else [1]
    rows = []
    for element in range(flat.size):
        for unit in units:
            weight = flat.copy()
            weight[element] = unit
            seed = convert_to_tensor(weight.reshape(y.shape.as_list()))
            found = tape.gradient(y, arguments[index], seed, unconnected_gradients="zero")
            rows.append(_parts(np.asarray(convert_to_tensor(found))))
    columns = _parts(np.asarray(arguments[index])).size
    kind = arguments[index].dtype.real_dtype.as_numpy_dtype
    return np.array(rows, kind).reshape(len(rows), columns)


def _numeric_jacobian(f: Any, arguments: list[Tensor], index: int, step: float) -> Any:
    point: np.ndarray[Any, Any] = np.asarray(arguments[index])

    def result(offset: np.ndarray[Any, Any]) -> Any:
        moved = (_parts(point) + offset).astype(_parts(point).dtype)
        value = moved.view(point.dtype).reshape(point.shape)
        values = [*arguments[:index], convert_to_tensor(value), *arguments[index + 1 :]]
        return _parts(np.asarray(convert_to_tensor(f(*values)))).astype(np.float64)

    count = _parts(point).size
    columns = []
    for column in range(count):
        offset = np.zeros(count)
        offset[column] = step
        columns.append((result(offset) - result(-offset)) / (2 * step))
    kind = arguments[index].dtype.real_dtype.as_numpy_dtype
    if not columns:
        return np.zeros((result(np.zeros(0)).size, 0), kind)
    return np.stack(columns, axis=1).astype(kind)


def gpu_device_name() -> str:
    """The name of the first GPU, or an empty string."""
    names = [device.name for device in config.list_logical_devices("GPU")]
    return names[0] if names else ""


def is_built_with_cuda() -> bool:
    """Whether the library can use CUDA: no."""
    return False


def is_built_with_rocm() -> bool:
    """Whether the library can use ROCm: no."""
    return False


def is_built_with_gpu_support() -> bool:
    """Whether the library can use a GPU of any kind: no."""
    return False


def is_gpu_available(cuda_only: bool = False, min_cuda_compute_capability: Any = None) -> bool:
    """Whether a GPU can be used."""
    return bool(gpu_device_name())


def is_built_with_xla() -> bool:
    """Whether graphs can be compiled by XLA: if JAX is installed, which brings it."""
    return importlib.util.find_spec("jax") is not None


_TARGETS = {"x86": {"x86_64", "amd64", "i386", "i686"}, "aarch64": {"aarch64", "arm64"}}


def is_cpu_target_available(target: str) -> bool:
    """Whether the processor is of this kind: x86, aarch64 or another name of a machine."""
    return platform.machine().lower() in _TARGETS.get(target, {target})


def disable_with_predicate(pred: Any, skip_message: str) -> Any:
    """A decorator of a test that skips it where `pred()` holds."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def test(self: Any, *args: Any, **kwargs: Any) -> Any:
            if pred():
                self.skipTest(skip_message)
            return function(self, *args, **kwargs)

        return test

    return decorate


def sync_devices() -> None:
    """Wait until all devices have done their work: operations are done when they return."""


def with_eager_op_as_function(cls: Any = None, only_as_function: bool = False) -> Any:
    """A decorator of test classes that leaves them as they are."""
    return (lambda decorated: decorated) if cls is None else cls


def assert_equal_graph_def(expected: Any, actual: Any) -> None:
    """Raise AssertionError unless two GraphDefs have the same nodes, in any order.

    TypeError for anything but GraphDefs.
    """
    for name, graph in (("expected", expected), ("actual", actual)):
        if type(graph).__name__ != "GraphDef":
            raise TypeError(f"Expected tf.GraphDef for `{name}`, got a {type(graph).__name__}.")
    first, second = (
        {node.name: node.SerializeToString(deterministic=True) for node in graph.node}
        for graph in (expected, actual)
    )
    for name in sorted({*first, *second}):
        if name not in second:
            raise AssertionError(f"The node {name!r} is expected but missing.")
        if name not in first:
            raise AssertionError(f"The node {name!r} is there but not expected.")
        if first[name] != second[name]:
            nodes = [
                next(node for node in graph.node if node.name == name)
                for graph in (expected, actual)
            ]
            raise AssertionError(f"Expected the node\n{nodes[0]}\nbut got\n{nodes[1]}")


def create_local_cluster(
    num_workers: int,
    num_ps: int,
    protocol: str = "grpc",
    worker_config: Any = None,
    ps_config: Any = None,
) -> tuple[list[Any], list[Any]]:
    """Make servers of a cluster in this process: its workers, and its parameter servers ("ps").

    Sessions on the targets of its servers share the variables that are placed on one task.

    >>> workers, _ = tf.test.create_local_cluster(num_workers=2, num_ps=1)
    >>> with tf.Graph().as_default():
    ...     with tf.device("/job:ps/task:0"):
    ...         count = tf.compat.v1.get_variable("count", initializer=1)
    ...     first, second = (tf.compat.v1.Session(each.target) for each in workers)
    ...     first.run(count.initializer)
    ...     print(second.run(count.assign_add(10)), first.run(count))
    11 11
    """
    from .compat.v1.server import local_cluster

    return local_cluster(num_workers, num_ps, protocol)


def main(argv: Any = None) -> None:
    """Run the tests of the calling program; with `--benchmarks=regex` its benchmarks instead."""
    arguments = list(sys.argv if argv is None else argv)
    patterns = [each for each in arguments if each.startswith("--benchmarks=")]
    if patterns:
        from .test.benchmark import run_benchmarks

        run_benchmarks(patterns[-1].partition("=")[2])
        return
    unittest.main(argv=arguments)
