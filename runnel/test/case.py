"""tf.test.TestCase: Abseil's, with assertions about tensors, arrays and messages."""

from __future__ import annotations

import contextlib
import math
import os
import random
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from absl.testing import absltest

from ..core import nest
from ..core.context import state
from ..core.devices import DeviceSpec
from ..core.errors import InvalidArgumentError, OpError
from ..core.tensor import SymbolicTensor, Tensor
from ..core.variable import Variable
from ..ops.ragged.ragged_tensor import RaggedTensor
from ..ops.random_streams import set_seed
from ..ops.sparse.sparse_tensor import SparseTensor

# Every test begins with the same random numbers.
_SEED = 87654321


class _EagerSession:
    """What `self.session()` gives where there is no graph: using it is an error."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"There is no session in eager mode, so it has no {name!r}: use self.evaluate(tensor), "
            "or build a graph in `with tf.Graph().as_default():`."
        )


class _CachedEagerSession(_EagerSession):
    """What `self.cached_session()` gives where there is no graph: it only evaluates tensors."""

    def __init__(self, case: TestCase) -> None:
        self._case = case

    def run(self, fetches: Any, *args: Any, **kwargs: Any) -> Any:
        """The values of tensors, in any structure."""
        if args or kwargs:
            raise RuntimeError(
                "In eager mode a session takes only what to evaluate, no feed_dict and no options. "
                "Build a graph in `with tf.Graph().as_default():`."
            )
        for each in nest.flatten(fetches):
            if each is not None and not isinstance(each, Tensor | Variable):
                raise ValueError(
                    f"In eager mode a session only evaluates tensors, got a {type(each).__name__}: "
                    f"{each!r}."
                )
        return self._case.evaluate(fetches)


class CapturedWrites:
    """What was written to a stream in a block."""

    def __init__(self, path: str) -> None:
        self._path = path

    def contents(self) -> str:
        """The text."""
        with open(self._path) as file:
            return file.read()


class CheckedThread:
    """A thread whose failure fails the test that joins it."""

    def __init__(
        self, case: TestCase, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> None:
        self._case = case
        self._call = target, args or (), kwargs or {}
        self._thread = threading.Thread(target=self._run)
        self._failure: BaseException | None = None

    def _run(self) -> None:
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except BaseException as failure:
            self._failure = failure

    def start(self) -> None:
        """Begin; the test must join the thread."""
        self._thread.start()

    def join(self) -> None:
        """Wait for the end; the test fails if the target did."""
        self._thread.join()
        if self._failure is not None:
            self._case.fail(f"Error in checkedThread: {self._failure}")

    def is_alive(self) -> bool:
        """Whether it is still running."""
        return self._thread.is_alive()


class TestCase(absltest.TestCase):
    """Abseil's TestCase with assertions about arrays, tensors and structures of them."""

    def __init__(self, methodName: str = "runTest") -> None:
        super().__init__(methodName)
        self._temporary: str | None = None
        self._session: Any = None

    def setUp(self) -> None:
        super().setUp()
        random.seed(_SEED)
        np.random.seed(_SEED)
        set_seed(_SEED)

    def evaluate(self, tensors: Any) -> Any:
        """Tensors, or structures of them, as NumPy values; in a graph by the default session."""
        if state.graph is not None:
            return self._run_in_session(tensors)
        if callable(tensors) and not isinstance(tensors, Tensor | Variable):
            tensors = tensors()
        return nest.map_structure(_evaluated, tensors)

    def _run_in_session(self, tensors: Any) -> Any:
        """What the default session gives for tensors of a graph, else that of the test."""
        from ..compat.v1 import get_default_session

        session = get_default_session()
        if session is not None:
            return session.run(tensors)
        with self.cached_session() as session:
            return session.run(tensors)

    def _GetNdArray(self, a: Any) -> np.ndarray[Any, Any]:
        """A tensor, or what NumPy makes an array of, as an array."""
        return self._array_of(a)

    def _array_of(self, value: Any) -> np.ndarray[Any, Any]:
        if isinstance(value, SymbolicTensor):
            return np.asarray(self._run_in_session(value))
        return np.asarray(value.numpy() if hasattr(value, "numpy") else value)

    def evaluate_if_both_tensors(self, a: Any, b: Any) -> tuple[Any, Any]:
        """Both evaluated if both are tensors, else as they are."""
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            return self.evaluate(a), self.evaluate(b)
        return a, b

    def get_temp_dir(self) -> str:
        """A directory for this test alone, removed after it."""
        if self._temporary is None:
            self._temporary = tempfile.mkdtemp(prefix=f"{type(self).__name__}_")
            self.addCleanup(shutil.rmtree, self._temporary, ignore_errors=True)
        return self._temporary

    # Sessions, for graphs.

    @contextlib.contextmanager
    def session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """A session in a block; in eager mode there is none, and using it is an AttributeError."""
        if state.graph is None and graph is None:
            yield _EagerSession()
            return
        from ..compat.v1 import Session

        with Session(graph=graph, config=config) as session:
            yield session

    @contextlib.contextmanager
    def cached_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Iterator[Any]:
        """Like `session`, but one for all blocks of a test; eagerly it evaluates tensors."""
        if state.graph is None and graph is None:
            yield _CachedEagerSession(self)
            return
        from ..compat.v1 import Session

        wanted = state.home if graph is None else graph
        if self._session is None or self._session.graph is not wanted:
            self._session = Session(graph=wanted, config=config)
            self.addCleanup(self._session.close)
        with self._session.graph.as_default(), self._session.as_default():
            yield self._session

    def test_session(
        self, graph: Any = None, config: Any = None, use_gpu: bool = True, force_gpu: bool = False
    ) -> Any:
        """The older name of `cached_session`; no test, though its name begins like one."""
        if self._testMethodName == "test_session":
            self.skipTest("Not a test.")
        return self.cached_session(graph, config, use_gpu, force_gpu)

    # Threads and streams.

    def checkedThread(
        self, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> CheckedThread:
        """A thread to start and join; joining fails the test if the target raised."""
        return CheckedThread(self, target, args, kwargs)

    @contextlib.contextmanager
    def captureWritesToStream(self, stream: Any) -> Iterator[CapturedWrites]:
        """What a block writes to a stream with a file descriptor, such as sys.stderr."""
        descriptor = stream.fileno()
        handle, path = tempfile.mkstemp(dir=self.get_temp_dir())
        stream.flush()
        kept = os.dup(descriptor)
        try:
            os.dup2(handle, descriptor)
            yield CapturedWrites(path)
        finally:
            stream.flush()
            os.dup2(kept, descriptor)
            os.close(kept)
            os.close(handle)

    def assertAllEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """Equal shapes and elements."""
        if _is_ragged(a) or _is_ragged(b):
            self.assertEqual(_nested_list(a), _nested_list(b), msg)
            return
        a, b = self._array_of(a), self._array_of(b)
        self.assertEqual(a.shape, b.shape, msg)
        # Texts are compared as the bytes that tensors hold.
        if "U" in (a.dtype.kind, b.dtype.kind):
            a, b = (_encoded(each) for each in (a, b))
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
        if _is_ragged(a) or _is_ragged(b):
            a, b = _nested_list(a), _nested_list(b)
        if _is_ragged_list(a):
            self.assertEqual(len(a), len(b), msg)
            for each, other in zip(a, b, strict=True):
                self.assertAllClose(each, other, rtol, atol, msg)
            return
        a, b = self._array_of(a), self._array_of(b)
        self.assertEqual(a.shape, b.shape, msg)
        np.testing.assert_allclose(a, b, rtol, atol, err_msg=msg or "")

    def assertNotAllClose(
        self, a: Any, b: Any, rtol: float = 1e-6, atol: float = 1e-6, msg: str | None = None
    ) -> None:
        """Not all elements close."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements: {a} and {b}. {msg or ''}")

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
        names = {self._array_of(a).dtype.name, self._array_of(b).dtype.name}
        if names & {"float32", "complex64"}:
            rtol, atol = max(rtol, float_rtol), max(atol, float_atol)
        if "float16" in names:
            rtol, atol = max(rtol, half_rtol), max(atol, half_atol)
        if "bfloat16" in names:
            rtol, atol = max(rtol, bfloat16_rtol), max(atol, bfloat16_atol)
        a, b = _widened(self._array_of(a)), _widened(self._array_of(b))
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllGreater(self, a: Any, comparison_target: Any) -> None:
        """All elements are greater."""
        self.assertTrue((self._array_of(a) > comparison_target).all(), f"{a} > {comparison_target}")

    def assertAllGreaterEqual(self, a: Any, comparison_target: Any) -> None:
        """All elements are greater or equal."""
        self.assertTrue(
            (self._array_of(a) >= comparison_target).all(), f"{a} >= {comparison_target}"
        )

    def assertAllLess(self, a: Any, comparison_target: Any) -> None:
        """All elements are less."""
        self.assertTrue((self._array_of(a) < comparison_target).all(), f"{a} < {comparison_target}")

    def assertAllLessEqual(self, a: Any, comparison_target: Any) -> None:
        """All elements are less or equal."""
        self.assertTrue(
            (self._array_of(a) <= comparison_target).all(), f"{a} <= {comparison_target}"
        )

    def assertAllInRange(
        self,
        target: Any,
        lower_bound: Any,
        upper_bound: Any,
        open_lower_bound: bool = False,
        open_upper_bound: bool = False,
    ) -> None:
        """All elements lie between the bounds."""
        array = self._array_of(target)
        low = array > lower_bound if open_lower_bound else array >= lower_bound
        high = array < upper_bound if open_upper_bound else array <= upper_bound
        self.assertTrue((low & high).all(), f"{array} not in [{lower_bound}, {upper_bound}]")

    def assertAllInSet(self, target: Any, expected_set: Any) -> None:
        """All elements are members of the set."""
        strange = set(self._array_of(target).ravel().tolist()) - set(expected_set)
        self.assertFalse(strange, f"{strange} not in {expected_set}")

    def assertShapeEqual(self, input_a: Any, input_b: Any, msg: str | None = None) -> None:
        """Equal shapes."""
        self.assertEqual(tuple(input_a.shape), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target: Any, expected_dtype: Any) -> None:
        """The array has this dtype."""
        expected = getattr(expected_dtype, "as_numpy_dtype", expected_dtype)
        self.assertEqual(self._array_of(target).dtype, np.dtype(expected))

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

    def assertNDArrayNear(
        self, ndarray1: Any, ndarray2: Any, err: float, msg: str | None = None
    ) -> None:
        """Arrays of one shape whose elements differ by at most `err`."""
        a, b = self._array_of(ndarray1), self._array_of(ndarray2)
        self.assertEqual(a.shape, b.shape, msg)
        self.assertTrue(bool((abs(a - b) <= err).all()), msg or f"{a} and {b} differ by > {err}")

    def assertDictEqual(self, a: Any, b: Any, msg: str | None = None) -> None:
        """The same keys, and equal tensors or values."""
        for each in (a, b):
            self.assertIsInstance(each, dict, msg)
        self.assertCountEqual(a, b, msg)
        for key, value in a.items():
            if _is_array(value) or _is_array(b[key]):
                self.assertAllEqual(value, b[key], msg)
            else:
                self.assertEqual(value, b[key], msg)

    def assertItemsEqual(self, first: Any, second: Any, msg: str | None = None) -> None:
        """The same elements, equally often, in any order."""
        self.assertCountEqual(first, second, msg)

    def assertStartsWith(self, actual: str, expected_start: str, msg: str | None = None) -> None:
        """A text that begins with another."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}")

    def assertDeviceEqual(self, device1: Any, device2: Any, msg: str | None = None) -> None:
        """The same device, by name or DeviceSpec."""
        first, second = _device_name(device1), _device_name(device2)
        self.assertEqual(first, second, f"Devices {device1} and {device2} differ. {msg or ''}")

    # Failures.

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(  # type: ignore[override]  # as TensorFlow has it
        self, exception_type: Any, expected_err_re_or_predicate: Any
    ) -> Iterator[None]:
        """A block that raises an exception of which a function, or a regex, says yes."""
        try:
            yield
        except Exception as failure:
            if not isinstance(failure, exception_type):
                raise AssertionError(
                    f"Exception of type {type(failure).__name__}: {failure}"
                ) from failure
            expected = expected_err_re_or_predicate
            fits = expected(failure) if callable(expected) else re.search(expected, str(failure))
            if not fits:
                raise AssertionError(
                    f"{type(failure).__name__} was raised, but {expected!r} does not fit: {failure}"
                ) from failure
        else:
            self.fail(f"{getattr(exception_type, '__name__', exception_type)} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate: Any) -> Any:
        """A block in which an operation fails as a function or a regex says."""
        return self.assertRaisesWithPredicateMatch(OpError, expected_err_re_or_predicate)

    def assertRaisesIncompatibleShapesError(
        self, exception_type: Any = InvalidArgumentError
    ) -> Any:
        """A block in which shapes do not fit together."""
        return self.assertRaisesWithPredicateMatch(
            exception_type,
            r"Incompatible shapes|Dimensions must be equal|required broadcastable shapes",
        )

    # Messages.

    def assertProtoEquals(
        self,
        expected_message_maybe_ascii: Any,
        validate_message: Any,
        msg: str | None = None,
        relative_tolerance: float | None = None,
    ) -> None:
        """A message equal to another, or to one written as text."""
        from google.protobuf import json_format, text_format

        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            expected = text_format.Parse(expected, type(validate_message)())
        self.assertIs(type(expected), type(validate_message), msg)
        if relative_tolerance is None:
            texts = [text_format.MessageToString(each) for each in (expected, validate_message)]
            self.assertMultiLineEqual(texts[0], texts[1], msg)
            return
        contents = [json_format.MessageToDict(each) for each in (expected, validate_message)]
        if not _nearly_equal(contents[0], contents[1], relative_tolerance):
            self.fail(f"{contents[0]} and {contents[1]} differ. {msg or ''}")

    def assertProtoEqualsVersion(
        self,
        expected: str,
        actual: Any,
        producer: int = 2474,
        min_consumer: int = 0,
        msg: str | None = None,
    ) -> None:
        """A graph equal to one written as text, of these versions."""
        versions = f"producer: {producer}"
        if min_consumer:
            versions += f" min_consumer: {min_consumer}"
        self.assertProtoEquals(f"versions {{ {versions} }}\n{expected}", actual, msg)


def _nearly_equal(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_nearly_equal(a[k], b[k], tolerance) for k in a)
    if isinstance(a, list) and isinstance(b, list):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(_nearly_equal(x, y, tolerance) for x, y in pairs)
    if isinstance(a, float) or isinstance(b, float):
        return math.isclose(a, b, rel_tol=tolerance)
    return bool(a == b)


def _device_name(device: Any) -> str:
    spec = device if isinstance(device, DeviceSpec) else DeviceSpec.from_string(str(device or ""))
    return spec.to_string()


def _default_session() -> Any:
    from ..compat.v1 import get_default_session

    session = get_default_session()
    if session is None:
        raise ValueError("A tensor of a graph has a value only inside `with self.session():`.")
    return session


def _is_array(value: Any) -> bool:
    return isinstance(value, Tensor | Variable | np.ndarray)


def _evaluated(value: Any) -> Any:
    if isinstance(value, RaggedTensor | SparseTensor):
        from ..compat.v1 import values

        if isinstance(value, RaggedTensor):
            return values.RaggedTensorValue(_evaluated(value.values), value.row_splits.numpy())
        parts = value.indices, value.values, value.dense_shape
        return values.SparseTensorValue(*map(_evaluated, parts))
    return value.numpy() if hasattr(value, "numpy") else value


def _array_of(value: Any) -> np.ndarray[Any, Any]:
    if isinstance(value, SymbolicTensor):
        return np.asarray(_default_session().run(value))
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def _is_ragged(value: Any) -> bool:
    return hasattr(value, "to_list")


def _nested_list(value: Any) -> Any:
    if _is_ragged(value):
        return value.to_list()
    if _is_array(value):
        return _array_of(value).tolist()
    return [_nested_list(each) for each in value] if isinstance(value, list | tuple) else value


def _encoded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.char.encode(array, "utf-8").astype(object) if array.dtype.kind == "U" else array


def _widened(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.astype(np.float64) if array.dtype.name in ("float16", "bfloat16") else array


def _is_ragged_list(value: Any) -> bool:
    if not isinstance(value, list | tuple) or not value:
        return False
    return len({np.shape(_array_of(each)) for each in value}) > 1
