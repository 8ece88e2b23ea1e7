"""tf.test: checking gradients and comparing arrays in tests."""

from __future__ import annotations

import unittest
from typing import Any

import numpy as np

from . import config
from .core import nest
from .core.convert import convert_to_tensor
from .core.tape import GradientTape
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


def main(argv: Any = None) -> None:
    """Run the tests of the calling program."""
    unittest.main(argv=argv)


class TestCase(unittest.TestCase):
    """unittest's TestCase with assertions about arrays, tensors and structures of them."""

    def evaluate(self, tensors: Any) -> Any:
        """Tensors as NumPy values."""
        return nest.map_structure(_array_of, tensors)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Equal shapes and elements."""
        a, b = _array_of(a), _array_of(b)
        self.assertEqual(a.shape, b.shape, msg)
        np.testing.assert_array_equal(a, b, msg or "")

    def assertNotAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Not all elements equal."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def assertAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """|a - b| <= atol + rtol * |b| in all elements of structures of arrays."""
        if isinstance(a, dict) or isinstance(b, dict):
            self.assertEqual(set(a), set(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
            return
        if _is_ragged_list(a):
            self.assertEqual(len(a), len(b), msg)
            for each, other in zip(a, b, strict=True):
                self.assertAllClose(each, other, rtol, atol, msg)
            return
        a, b = _array_of(a), _array_of(b)
        self.assertEqual(a.shape, b.shape, msg)
        np.testing.assert_allclose(a, b, rtol, atol, err_msg=msg or "")

    def assertNotAllClose(self, a: Any, b: Any, **tolerances: Any) -> None:
        """Not all elements close."""
        try:
            self.assertAllClose(a, b, **tolerances)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements: {a} and {b}.")

    def assertAllCloseAccordingToType(
        self,
        a: Any,
        b: Any,
        rtol: float = 1e-6,
        atol: float = 1e-6,
        float_rtol: float = 1e-6,
        float_atol: float = 1e-6,
        half_rtol: float = 1e-3,
        half_atol: float = 1e-3,
        bfloat16_rtol: float = 1e-2,
        bfloat16_atol: float = 1e-2,
        msg: str | None = None,
    ) -> None:
        """Like assertAllClose, with tolerances that fit the less precise of the dtypes."""
        names = {_array_of(a).dtype.name, _array_of(b).dtype.name}
        if names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in names:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        a, b = _widened(_array_of(a)), _widened(_array_of(b))
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """All elements are greater."""
        self.assertTrue((_array_of(a) > comparison_target).all(), f"{a} > {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """All elements are greater or equal."""
        self.assertTrue((_array_of(a) >= comparison_target).all(), f"{a} >= {comparison_target}")

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """All elements are less."""
        self.assertTrue((_array_of(a) < comparison_target).all(), f"{a} < {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """All elements are less or equal."""
        self.assertTrue((_array_of(a) <= comparison_target).all(), f"{a} <= {comparison_target}")

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """All elements lie between the bounds."""
        array = _array_of(target)
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        self.assertTrue((low & high).all(), f"{array} not in [{lower_bound}, {upper_bound}]")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """All elements are members of the set."""
        strange = set(_array_of(target).ravel().tolist()) - set(expected_set)
        self.assertFalse(strange, f"{strange} not in {expected_set}")

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Equal shapes."""
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The array has this dtype."""
        self.assertEqual(_array_of(target).dtype, np.dtype(expected_dtype))

    def assertArrayNear(
        self, farray1: Any, farray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Elements differ by at most `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for a, b in zip(farray1, farray2, strict=True):
            self.assertTrue(abs(float(a) - float(b)) <= err, msg)

    def assertNear(self, f1: float, f2: float, err: float, msg: str | None = None) -> None:
        """Two numbers differ by at most `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, msg or f"{f1} and {f2} differ by > {err}")


def _array_of(value: Any) -> np.ndarray[Any, Any]:
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _widened(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float64) if array.dtype.name in ("float16", "bfloat16") else array


def _is_ragged_list(value: Any) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    return len({np.shape(_array_of(each)) for each in value}) > 1
