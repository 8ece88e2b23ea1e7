"""Python functions as operations."""

from __future__ import annotations

import functools
import threading

import numpy as np

from ..core import errors, nest
from ..core.autodiff.backward import is_differentiable
from ..core.autodiff.tape import GradientTape, UnconnectedGradients
from ..core.context import init_scope, state
from ..core.convert import array_of, convert_to_tensor
from ..core.dtypes import as_dtype, string
from ..core.op import COMPOSITES, op
from ..core.shape_rules import UNKNOWN
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec


def _unknown_shapes(inputs, attrs):
    return [UNKNOWN] * len(attrs["Tout"])


@op(
    "PyFunc", "input: *Tin -> output: *Tout", shape=_unknown_shapes, gradient=None, stateful=True,
    runs_code=True,
)  # fmt: skip
def PyFunc(input, *, func, Tout):
    try:
        # Scalars are passed as numbers or bytes; arrays are copies that the function may write to.
        results = _sequence(func(*[np.array(array)[()] for array in input]), Tout)
        return [_declared(value, dtype) for value, dtype in zip(results, Tout, strict=True)]
    except Exception as failure:
        raise _told(failure, "PyFunc") from failure


def _declared(value, dtype):
    """A result as an array; its dtype must be the declared one, there is no cast."""
    array = array_of(value, dtype)[0]
    found = np.asarray(value).dtype
    if dtype is not string and found != dtype.numpy:
        raise ValueError(
            f"The function returned a value of dtype {found}, but Tout says {dtype.name}. Convert "
            f"it in the function, for example with np.asarray(value, np.{dtype.name})."
        )
    return array


class _Calls:
    """A Python function, with the tapes of its calls whose gradients are pending."""

    def __init__(self, function):
        self.function = function
        self.has_gradient = False
        self._pending = []

    def run(self, tensors, dtypes):
        """Call the function; its results."""
        if not self.has_gradient:
            return self._results(tensors, dtypes)
        with GradientTape() as tape:
            tape.watch([each for each in tensors if is_differentiable(each)])
            results = self._results(tensors, dtypes)
        self._pending.append((tape, tensors, results))
        return results

    def _results(self, tensors, dtypes):
        results = _sequence(self.function(*tensors), dtypes)
        return [convert_to_tensor(v, dtype) for v, dtype in zip(results, dtypes, strict=True)]

    def gradient(self, weights):
        """The gradient of the last call whose gradient is pending."""
        tape, tensors, results = self._pending.pop()
        return tape.gradient(results, tensors, weights, UnconnectedGradients.ZERO)


@op(
    "EagerPyFunc", "input: *Tin -> output: *Tout", shape=_unknown_shapes, stateful=True,
    runs_code=True,
)  # fmt: skip
def EagerPyFunc(input, *, func, Tin, Tout):
    with init_scope():
        tensors = [Tensor(array, dtype) for array, dtype in zip(input, Tin, strict=True)]
        try:
            return [result._array for result in func.run(tensors, Tout)]
        except Exception as failure:
            raise _told(failure, "EagerPyFunc") from failure


@EagerPyFunc.gradient
def _(op, *gradients):
    calls = op.attrs["func"]
    calls.has_gradient = True
    dtypes = [tensor.dtype for tensor in op.inputs]

    def backward(*weights):
        return calls.gradient(list(weights))

    weights = list(gradients)
    kinds = [weight.dtype for weight in weights]
    found = EagerPyFunc(weights, func=_Calls(backward), Tin=kinds, Tout=dtypes)
    for gradient, tensor in zip(found, op.inputs, strict=True):
        gradient.set_shape(tensor.shape)
    return [g if is_differentiable(t) else None for g, t in zip(found, op.inputs, strict=True)]


def _sequence(result, dtypes):
    if result is None:
        result = []
    values = list(result) if isinstance(result, list | tuple) else [result]
    if len(values) != len(dtypes):
        raise ValueError(
            f"The function returned {len(values)} values, but Tout names {len(dtypes)} dtypes."
        )
    return values


def _dtypes(Tout):
    return [as_dtype(getattr(each, "dtype", each)) for each in nest.flatten(Tout)]


def numpy_function(func=None, inp=None, Tout=None, stateful=True, name=None):
    """Call a function on NumPy arrays; its results become tensors, without gradients.

    >>> tf.numpy_function(np.sinh, [tf.constant(0.0)], tf.float32)
    <tf.Tensor: shape=(), dtype=float32, numpy=0.0>

    Without a function it decorates one: `@tf.numpy_function(Tout=tf.float32)`.
    """
    if func is None:
        return _decorator(numpy_function, Tout, stateful=stateful, name=name)
    if state.graph is None:
        # As in TensorFlow, the results keep their own dtypes in eager mode; a graph needs them
        # declared.
        result = func(*[np.array(value) for value in inp])
        if isinstance(result, list | tuple):
            return [convert_to_tensor(value) for value in result]
        return None if result is None else convert_to_tensor(result)
    tensors = [convert_to_tensor(value) for value in inp]
    outputs = PyFunc(tensors, func=func, Tout=_dtypes(Tout))
    return outputs if isinstance(Tout, list | tuple) else outputs[0]


def py_function(func=None, inp=None, Tout=None, name=None):
    """Call a function on eager tensors; it is differentiable.

    >>> tf.py_function(lambda x: x.numpy() * 2, [tf.constant(3.0)], tf.float32)
    <tf.Tensor: shape=(), dtype=float32, numpy=6.0>

    Without a function it decorates one: `@tf.py_function(Tout=tf.float32)`.
    """
    if func is None:
        return _decorator(py_function, Tout, name=name)
    if state.graph is not None and _holds_composites(inp, Tout):
        return _call_with_composites(func, inp, Tout)
    tensors = [convert_to_tensor(value) for value in inp]
    dtypes = _dtypes(Tout)
    if state.graph is None:
        outputs = _call_eagerly(func, tensors, dtypes)
    else:
        kinds = [tensor.dtype for tensor in tensors]
        outputs = EagerPyFunc(tensors, func=_Calls(func), Tin=kinds, Tout=dtypes)
    return outputs if isinstance(Tout, list | tuple) else outputs[0]


def _decorator(call, Tout, **options):
    """A decorator of functions that `call` calls with their positional arguments."""

    def decorate(func):
        return functools.wraps(func)(lambda *args: call(func, args, Tout, **options))

    return decorate


def _holds_composites(inp, Tout):
    specs = [each for each in nest.flatten(Tout) if isinstance(each, TypeSpec)]
    return any(type(each) in COMPOSITES for each in nest.flatten(inp)) or any(
        not isinstance(spec, TensorSpec) for spec in specs
    )


def _call_with_composites(func, inp, Tout):
    """Call a function of composite tensors (ragged, sparse) with their component tensors."""
    inputs = list(inp)
    outputs = list(Tout) if isinstance(Tout, list | tuple) else [Tout]
    specs = [each if isinstance(each, TypeSpec) else TensorSpec(None, each) for each in outputs]

    def flat_function(*tensors):
        results = _sequence(func(*nest.pack_sequence_as(inputs, tensors, True)), specs)
        pairs = zip(specs, results, strict=True)
        components = [spec._to_components(value) for spec, value in pairs]
        return nest.flatten(components)

    parts = [nest.flatten(spec._component_specs) for spec in specs]
    dtypes = [part.dtype for components in parts for part in components]
    results = iter(py_function(flat_function, nest.flatten(inputs, True), dtypes))
    values = []
    for spec, components in zip(specs, parts, strict=True):
        tensors = [next(results) for _ in components]
        for tensor, part in zip(tensors, components, strict=True):
            tensor.set_shape(part.shape)
        values.append(spec._from_components(nest.pack_sequence_as(spec._component_specs, tensors)))
    return values if isinstance(Tout, list | tuple) else values[0]


def _call_eagerly(func, tensors, dtypes):
    try:
        results = _sequence(func(*tensors), dtypes)
        return [convert_to_tensor(v, dtype) for v, dtype in zip(results, dtypes, strict=True)]
    except Exception as failure:
        raise _told(failure, "EagerPyFunc") from failure


def _told(failure, name):
    """The op's error for an exception of a Python function."""
    kind = next((kind for raised, kind in _KINDS.items() if isinstance(failure, raised)),
                errors.UnknownError)  # fmt: skip
    return kind(None, None, f"{type(failure).__name__}: {failure} [Op:{name}]")


_KINDS = {
    ValueError: errors.InvalidArgumentError,
    TypeError: errors.InvalidArgumentError,
    StopIteration: errors.OutOfRangeError,
    MemoryError: errors.ResourceExhaustedError,
    NotImplementedError: errors.UnimplementedError,
}


def inside_function():
    """Whether this code is being traced into a graph.

    >>> tf.inside_function()
    False
    """
    return state.graph is not None


class CriticalSection:
    """Runs functions under mutual exclusion, across threads.

    >>> counter = tf.Variable(0)
    >>> tf.CriticalSection().execute(lambda: counter.assign_add(1)).numpy()
    np.int32(1)
    """

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None:
            raise ValueError("Argument `critical_section_def` is not supported.")
        self._name = name or "critical_section"
        self._lock = threading.RLock()

    @property
    def name(self):
        return self._name

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """The result of `fn()`, while no other function runs in this section."""
        with self._lock:
            return nest.map_structure(
                lambda value: value if value is None else convert_to_tensor(value), fn()
            )
