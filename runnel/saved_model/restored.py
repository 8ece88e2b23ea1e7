"""The contents of a loaded SavedModel: objects, functions, signatures, resources."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..core import nest
from ..core.convert import convert_to_tensor
from ..core.graph.concrete import _ONE, ConcreteFunction, Leaf
from ..core.graph.function import Function
from ..core.graph.graph import FuncGraph
from ..core.graph.signature import BoundSignature, Described, Parameters
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec
from ..train.trackables import Trackable


class UserObject(Trackable):
    """An object of a SavedModel, with its children as attributes."""

    # The version that wrote the SavedModel; set on the root.
    tensorflow_version: str
    tensorflow_git_version: str


class CallableUserObject(UserObject):
    """An object of a SavedModel whose class had a `__call__`."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["__call__"](*args, **kwargs)


class RestoredResource(Trackable):
    """A table or another resource of a SavedModel, which its functions use."""

    def __init__(self) -> None:
        self.resource_handle: Tensor | None = None

    def _checkpoint_children(self) -> dict[str, Any]:
        return {}


class SignatureMap(Mapping[str, Any]):
    """The signatures of a SavedModel by name: functions of keyword arguments that return dicts."""

    def __init__(self) -> None:
        self._traces: dict[str, Trace] = {}

    def _add(self, name: str, trace: Trace) -> None:
        self._traces[name] = trace

    def __getitem__(self, key: str) -> Any:
        return self._traces[key].function

    def __iter__(self) -> Iterator[str]:
        return iter(self._traces)

    def __len__(self) -> int:
        return len(self._traces)

    def __repr__(self) -> str:
        return f"_SignatureMap({dict(self.items())!r})"

    def _checkpoint_children(self) -> dict[str, Any]:
        return {}


def parameters_of(spec: Any, is_method: bool) -> Parameters:
    """The parameters of a FullArgSpec."""
    kind = inspect.Parameter
    names = list(spec.args)[1:] if is_method else list(spec.args)
    defaults = list(spec.defaults or ())
    missing = [kind.empty] * (len(names) - len(defaults))
    found = [
        kind(name, kind.POSITIONAL_OR_KEYWORD, default=default)
        for name, default in zip(names, [*missing, *defaults][-len(names) :], strict=True)
    ]
    if spec.varargs:
        found.append(kind(spec.varargs, kind.VAR_POSITIONAL))
    known = spec.kwonlydefaults or {}
    found += [
        kind(name, kind.KEYWORD_ONLY, default=known.get(name, kind.empty))
        for name in spec.kwonlyargs
    ]
    if spec.varkw:
        found.append(kind(spec.varkw, kind.VAR_KEYWORD))
    return Parameters(Described(inspect.Signature(_ordered(found))))


def _ordered(parameters: list[inspect.Parameter]) -> list[inspect.Parameter]:
    """Without defaults of parameters that precede required ones, which Python does not allow."""
    kind = inspect.Parameter
    last = max((i for i, p in enumerate(parameters)
                if p.kind is kind.POSITIONAL_OR_KEYWORD and p.default is kind.empty),
               default=-1)  # fmt: skip
    return [p.replace(default=kind.empty) if i < last else p for i, p in enumerate(parameters)]


class RestoredConcreteFunction(ConcreteFunction):
    """One trace of a function of a SavedModel."""

    def __init__(
        self, name: str, graph: FuncGraph, results: Any, signature: BoundSignature | None
    ) -> None:
        structure: Any = _ONE
        if not isinstance(results, TensorSpec):
            structure = nest.map_structure(_leaf, results)
        super().__init__(graph, structure, signature)
        self._function_name = name
        self._results = results

    @property
    def structured_outputs(self) -> Any:
        return self._results

    @property
    def name(self) -> str:
        return self._function_name


def _leaf(spec: Any) -> Leaf:
    return Leaf(spec) if isinstance(spec, TypeSpec) else Leaf(None, spec)


class Trace:
    """A concrete function that is imported on first use."""

    def __init__(self, args: Any, kwargs: Any, make: Callable[[], ConcreteFunction]) -> None:
        self.args = args
        self.kwargs = kwargs
        self._make = make
        self._made: ConcreteFunction | None = None

    @property
    def function(self) -> ConcreteFunction:
        if self._made is None:
            self._made = self._make()
        return self._made

    def tensors_of(self, args: Any, kwargs: Any, convert: bool) -> list[Any] | None:
        """The tensors in arguments, or the specs in place of them; None if they do not match.

        Python numbers and lists are converted to tensors only if `convert`.
        """
        pairs = list(_pairs((self.args, self.kwargs), (args, kwargs)))
        found: list[Any] = []
        for expected, value in pairs:
            tensors = None if value is _NOTHING else _tensors(expected, value, convert)
            if tensors is None:
                return None
            found += tensors
        return found

    def described(self) -> str:
        return _listed(self.args, self.kwargs)


# In place of arguments without a value for a leaf of a signature.
_NOTHING = object()


def _pairs(expected: Any, given: Any) -> Iterator[tuple[Any, Any]]:
    """The leaves of a structure paired with the values at their paths in another one."""
    if isinstance(expected, Mapping):
        if not isinstance(given, Mapping) or set(given) != set(expected):
            yield expected, _NOTHING
            return
        for key in sorted(expected):
            yield from _pairs(expected[key], given[key])
    elif isinstance(expected, list | tuple):
        if not isinstance(given, list | tuple) or len(given) != len(expected):
            yield expected, _NOTHING
            return
        for one, other in zip(expected, given, strict=True):
            yield from _pairs(one, other)
    else:
        yield expected, given


def _tensors(expected: Any, value: Any, convert: bool) -> list[Any] | None:
    """The tensors of an argument that match a leaf of a signature; None if they do not."""
    if isinstance(expected, TensorSpec):
        tensor = _fitting(expected, value, convert)
        return None if tensor is None else [tensor]
    if isinstance(expected, TypeSpec):
        if isinstance(value, Tensor) or not _is_compatible(expected, value):
            return None
        if isinstance(value, TypeSpec):
            return value.flatten()
        return [convert_to_tensor(each) for each in expected.to_tensors(value)]
    return [] if _equal(expected, value) else None


def _is_compatible(spec: TypeSpec, value: Any) -> bool:
    try:
        return spec.is_compatible_with(value)
    except (TypeError, ValueError):
        return False


def _fitting(spec: TensorSpec, value: Any, convert: bool) -> Any:
    if isinstance(value, Tensor | TensorSpec):
        return value if spec.is_compatible_with(value) else None
    if not convert or value is None or isinstance(value, bool) is not spec.dtype.is_bool:
        return None
    try:
        tensor = convert_to_tensor(value, spec.dtype)
    except (TypeError, ValueError):
        return None
    return tensor if spec.shape.is_compatible_with(tensor.shape) else None


def _equal(expected: Any, value: Any) -> bool:
    if expected is None or value is None or isinstance(value, Tensor):
        return expected is value
    try:
        return bool(expected == value)
    except (TypeError, ValueError):
        return False


def _listed(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    lines = [f"  Positional arguments ({len(args)} total):"]
    lines += [f"    * {each}" for each in args]
    lines.append(f"  Keyword arguments: {dict(kwargs)}")
    return "\n".join(lines)


class RestoredFunction(Function):
    """A `tf.function` of a SavedModel: it has the saved traces, and cannot be retraced."""

    def __init__(
        self, name: str, parameters: Parameters, input_signature: Any, traces: Sequence[Trace]
    ) -> None:
        described: Any = Described(parameters.signature)
        described.__name__ = name
        super().__init__(described, name, None, autograph=False)
        self._parameters = parameters
        self._saved_signature = input_signature
        self.traces = list(traces)

    @property
    def input_signature(self) -> Any:
        return self._saved_signature

    @property
    def concrete_functions(self) -> list[ConcreteFunction]:
        return [trace.function for trace in self.traces]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        trace, tensors = self._chosen(args, kwargs)
        return trace.function.call(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The saved trace for these arguments; a tf.TensorSpec may replace a tensor."""
        if not args and not kwargs and self._saved_signature is not None and self.traces:
            return self.traces[0].function
        return self._chosen(args, kwargs)[0].function

    def _chosen(self, args: Any, kwargs: Any) -> tuple[Trace, list[Any]]:
        """The trace that matches these arguments, and the tensors for it."""
        try:
            args, kwargs = self.parameters.bound(args, kwargs)
        except TypeError as error:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `{error}`. Received args: {args} and "
                f"kwargs: {kwargs} for signature: {self.parameters.signature}."
            ) from None
        for convert in (False, True):
            for trace in self.traces:
                tensors = trace.tensors_of(args, kwargs, convert)
                if tensors is not None:
                    return trace, tensors
        if self._saved_signature is not None:
            raise TypeError(
                f"Binding inputs to tf.function failed due to `Can not cast {args} to "
                f"{self._saved_signature}`. Received args: {args} and kwargs: {kwargs}."
            )
        raise ValueError(self._no_match(args, kwargs))

    def _no_match(self, args: Any, kwargs: Any) -> str:
        options = "\n\n".join(
            f"Option {number}:\n{trace.described()}"
            for number, trace in enumerate(self.traces, start=1)
        )
        if not self.traces:
            return (
                f"Found zero restored functions for caller function {self._name!r}: it was never "
                "called before the model was saved, so nothing of it is in the SavedModel."
            )
        return (
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n"
            f"{_listed(args, kwargs)}\n\n Expected these arguments to match one of the following "
            f"{len(self.traces)} option(s):\n\n{options}"
        )

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, in order."""
        texts = [each.pretty_printed_signature(verbose) for each in self.concrete_functions]
        return ("\n\n" if verbose else "\n").join(texts)
