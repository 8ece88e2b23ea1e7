"""tf.function: Python functions traced into graphs, one per kind of arguments."""

from __future__ import annotations

import functools
import threading
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from .. import hooks, nest
from ..context import seeds, state
from ..dtypes import DType
from ..logger import get_logger
from ..tensor import SymbolicTensor, Tensor
from ..type_spec import TensorSpec, TypeSpec
from ..variable import Variable
from .concrete import ConcreteFunction, structure_of
from .graph import FuncGraph
from .signature import (
    BoundSignature,
    Identity,
    Parameters,
    in_input_order,
    key_of_arguments,
    spec_of,
)

_RETRACING = (
    "%d out of the last %d calls to %r triggered tf.function retracing. Tracing is expensive: the "
    "Python function runs anew and its graph is planned anew. This time it was because of %s. To "
    "avoid it: pass tensors instead of Python numbers (tf.constant(x)), set reduce_retracing=True "
    "or an input_signature with None for dimensions that vary, and decorate functions outside of "
    "loops."
)


class Execution:
    """Whether functions run eagerly instead of as graphs."""

    eagerly: bool = False


class _Signature:
    """The signature of a wrapped function, for `inspect`."""

    def __get__(self, instance: Function | None, owner: Any) -> Any:
        return None if instance is None else instance.parameters.signature


class Function:
    """A Python function that is traced into a graph for each new signature of arguments.

    Tensors and NumPy arrays are keyed by dtype and shape, Python numbers and strings by value,
    other objects by identity.
    """

    __signature__ = _Signature()

    def __init__(
        self,
        python_function: Callable[..., Any],
        name: str | None = None,
        input_signature: Sequence[Any] | None = None,
        autograph: bool = True,
        reduce_retracing: bool = False,
        jit_compile: bool | None = None,
        autograph_options: Any = None,
    ) -> None:
        self._python_function = python_function
        functools.update_wrapper(self, python_function, updated=())
        if isinstance(python_function, FunctionType | MethodType):
            for attribute, value in vars(python_function).items():
                self.__dict__.setdefault(attribute, value)
        named: str = getattr(python_function, "__name__", type(python_function).__name__)
        self._name = name or named
        self._autograph = autograph
        self._autograph_options = autograph_options
        self._reduce_retracing = reduce_retracing
        self._jit_compile = jit_compile
        self._input_signature = _checked_signature(input_signature, python_function)
        self._parameters: Parameters | None = None
        self._cache: dict[Any, ConcreteFunction] = {}
        self._traces: list[tuple[Any, ConcreteFunction]] = []
        self._relaxed: list[ConcreteFunction] = []
        self._traced_once = False
        self._recent: deque[bool] = deque(maxlen=5)
        self._warned = False
        self._bound: dict[int, tuple[Any, Function]] = {}
        self._tracing_count = 0
        # Threads with the same new arguments wait for a single trace.
        self._lock = threading.RLock()

    # The public methods.

    @property
    def python_function(self) -> Callable[..., Any]:
        return self._python_function

    @property
    def input_signature(self) -> Any:
        return self._input_signature

    @property
    def name(self) -> str:
        return self._name

    @property
    def function_spec(self) -> Any:
        return self.parameters.signature

    def experimental_get_tracing_count(self) -> int:
        """The number of traces so far.

        >>> double = tf.function(lambda x: x * 2)
        >>> double(tf.constant(1)), double(tf.constant(2))  # doctest: +ELLIPSIS
        (<tf.Tensor: ...2>, <tf.Tensor: ...4>)
        >>> double.experimental_get_tracing_count()
        1
        """
        return self._tracing_count

    def pretty_printed_concrete_signatures(self, verbose: bool = True) -> str:
        """The signatures of all traces, in order."""
        texts = [each.pretty_printed_signature(verbose) for _, each in self._traces]
        return ("\n\n" if verbose else "\n").join(texts)

    def code(self) -> str:
        """The sources of the plans that calls run, one per trace."""
        return "\n".join(each.code() for _, each in self._traces)

    def __repr__(self) -> str:
        return f"<runnel.core.graph.function.Function {self._name} at {id(self):#x}>"

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        place = id(instance)
        known = self._bound.get(place)
        if known is not None and known[0]() is instance:
            return known[1]
        bound = self._like(_WeakMethod(self._python_function, instance))
        # Keyed by identity: equal objects still have variables of their own.
        table = self._bound
        reference = weakref.ref(instance, lambda gone: _forget(table, place, gone))
        table[place] = reference, bound
        return bound

    def _like(self, python_function: Callable[..., Any]) -> Function:
        """Another function with the options of this one, not traced yet."""
        return Function(
            python_function, self._name, self._input_signature, self._autograph,
            self._reduce_retracing, self._jit_compile, self._autograph_options,
        )  # fmt: skip

    def __deepcopy__(self, memo: dict[int, Any]) -> Function:
        import copy

        return self._like(copy.deepcopy(self._python_function, memo))

    @property
    def parameters(self) -> Parameters:
        if self._parameters is None:
            self._parameters = Parameters(self._python_function)
        return self._parameters

    # Calling.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if Execution.eagerly:
            return self._python_function(*args, **kwargs)
        if self._input_signature is not None:
            concrete, tensors = self._by_signature(args, kwargs)
            return concrete.call(tensors)
        args, kwargs = (self._parameters or self.parameters).bound(args, kwargs)
        tensors = []
        key = key_of_arguments(args, kwargs, tensors)
        known = self._cache.get(key)
        if known is None:
            known = self._new(key, args, kwargs, tensors)
        elif self._recent:
            self._recent.append(False)
        return known.call(tensors)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """The trace for these arguments; a tf.TensorSpec may replace a tensor."""
        if self._input_signature is not None and not args and not kwargs:
            return self._of_signature()
        if self._input_signature is not None:
            if any(isinstance(leaf, TypeSpec) for leaf in nest.flatten((args, kwargs))):
                return self._for_specs(args, kwargs)
            return self._by_signature(args, kwargs)[0]
        args, kwargs = self.parameters.bound(args, kwargs)
        tensors: list[Tensor] = []
        key = key_of_arguments(args, kwargs, tensors)
        known = self._cache.get(key)
        names = _names_of(args, kwargs)
        if known is not None and any(names):
            signature = known.function_type
            if names != _names_of(signature.args, signature.kwargs):
                key = key, names
                known = self._cache.get(key)
        return known or self._new(key, args, kwargs, None)

    def _by_signature(
        self, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[ConcreteFunction, list[Tensor]]:
        """The only trace, and the arguments as tensors that match the input signature."""
        concrete = self._cache.get(None) or self._of_signature()
        try:
            given, keywords = self.parameters.bound(args, kwargs)
        except TypeError as error:
            raise TypeError(f"Binding inputs to tf.function failed due to `{error}`.") from None
        signature = self._input_signature
        if keywords or len(given) != len(signature):
            self._check_others(self.parameters.named(given, keywords)[len(signature) :])
        tensors: list[Tensor] = []
        for place, (spec, value) in enumerate(zip(signature, given, strict=False)):
            if type(value) is Tensor and type(spec) is TensorSpec and _holds(spec, value):
                tensors.append(value)
            else:
                tensors += _cast(self.parameters, place, spec, value)
        return concrete, tensors

    def _for_specs(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> ConcreteFunction:
        """The only trace, if it takes arguments of these specs."""
        given, _ = self.parameters.bound(args, kwargs)
        for wanted, value in zip(self._input_signature, given, strict=False):
            pairs = zip(nest.flatten(wanted), nest.flatten_up_to(wanted, value), strict=True)
            for spec, leaf in pairs:
                if not spec.is_compatible_with(leaf):
                    raise TypeError(
                        f"Binding inputs to tf.function failed due to `Can not cast {leaf} to "
                        f"{spec}`, which the input_signature has there."
                    )
        return self._of_signature()

    def _check_others(self, others: Sequence[tuple[str, Any]]) -> None:
        """Arguments without a spec in the signature are traced with their default values."""
        for name, value in others:
            parameter = self.parameters.signature.parameters.get(name)
            if parameter is None or not (value is parameter.default or value == parameter.default):
                raise TypeError(
                    f"Binding inputs to tf.function failed due to `{name}={value!r}`: the "
                    f"input_signature has {len(self._input_signature)} arguments, and the others "
                    "keep their defaults. Add a tf.TensorSpec for it."
                )

    def _of_signature(self) -> ConcreteFunction:
        known = self._cache.get(None)
        if known is not None:
            return known
        specs = tuple(self._input_signature)
        self.parameters.named(specs, {})  # rejects more specs than there are parameters
        defaults = [
            parameter.default
            for parameter in list(self.parameters.signature.parameters.values())[len(specs) :]
            if parameter.default is not parameter.empty
            and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
        ]
        return self._new(None, (*specs, *defaults), {}, None)

    # Tracing.

    def _new(
        self, key: Any, args: Any, kwargs: Any, tensors: list[Tensor] | None
    ) -> ConcreteFunction:
        """A new trace for arguments seen for the first time."""
        with self._lock:
            found = self._cache.get(key)
            if found is None and self._reduce_retracing and tensors is not None:
                found = self._generalized(key, args, kwargs)
            if found is not None:
                self._cache[key] = found
                return found
            self._recent.append(True)
            self._warn(key)
            outside = state.graph, state.name_scope, state.tapes
            try:
                concrete = self._traced(args, kwargs, tensors)
            finally:
                # An interrupt may have arrived before an inner block could restore them.
                state.graph, state.name_scope, state.tapes = outside
            self._cache[key] = concrete
            self._traces.append((key, concrete))
            return concrete

    def _traced(self, args: Any, kwargs: Any, tensors: list[Tensor] | None) -> ConcreteFunction:
        first = not self._traced_once
        before = Variable._made, seeds.counted_in_python
        concrete, created = self._trace(args, kwargs, tensors, first)
        self._traced_once = True
        # The original traces again after any variable creation. This shows in the seeds counted in
        # Python: the second trace draws others.
        advanced = Variable._made > before[0] and seeds.counted_in_python > before[1]
        if created or (first and advanced):
            # Code that creates variables at the first call must not do so again.
            concrete, _ = self._trace(args, kwargs, tensors, False)
        return concrete

    def _trace(
        self, args: Any, kwargs: Any, tensors: list[Tensor] | None, may_create: bool
    ) -> tuple[ConcreteFunction, bool]:
        self._tracing_count += 1
        graph = FuncGraph(self._name)
        graph.jit_compile = bool(self._jit_compile)
        graph.new_variables = [] if may_create else None
        args, kwargs = nest.map_structure(spec_of, (args, kwargs))
        signature = BoundSignature(self.parameters, args, kwargs)
        with graph.building():
            named = self.parameters.named(args, kwargs)
            inside = [(name, _placeholders(graph, name, value)) for name, value in named]
            graph.inputs = [
                tensor for _, (_, each) in in_input_order(inside, kwargs) for tensor in each
            ]
            values = [value for _, (value, _) in inside]
            positional = values[: len(args)]
            keywords = dict(zip(kwargs, values[len(args) :], strict=True))
            if tensors is not None and state.graph is graph and graph.outer_graph is None:
                graph.example = [tensor._array for tensor in tensors]
            result = self._converted()(*positional, **keywords)
            structure, graph.outputs = structure_of(result, graph)
        graph.example = None
        return ConcreteFunction(graph, structure, signature), bool(graph.new_variables)

    def _converted(self) -> Callable[..., Any]:
        if not self._autograph:
            return self._python_function
        staged: Callable[..., Any] = hooks.converted(self._python_function, self._autograph_options)
        return staged

    def _generalized(self, key: Any, args: Any, kwargs: Any) -> ConcreteFunction | None:
        """A trace of more general shapes that serves these arguments, too (shape relaxation)."""
        specs = nest.map_structure(spec_of, (args, kwargs))
        for concrete in self._relaxed:
            signature = concrete.function_type
            if _fits(specs, (signature.args, signature.kwargs)):
                return concrete
        for _, concrete in self._traces:
            signature = concrete.function_type
            merged = _merged(specs, (signature.args, signature.kwargs))
            if merged is not None:
                wider = self._traced(merged[0], merged[1], None)
                self._relaxed.append(wider)
                self._traces.append((key, wider))
                return wider
        return None

    def _warn(self, key: Any) -> None:
        if self._warned or len(self._recent) < 5 or not all(self._recent) or not self._traces:
            return
        self._warned = True
        get_logger().warning(
            _RETRACING, len(self._recent), len(self._recent), self._name,
            _difference(self.parameters.names, self._traces[-1][0], key),
        )  # fmt: skip


def _forget(table: dict[int, tuple[Any, Any]], place: int, gone: Any) -> None:
    known = table.get(place)
    if known is not None and known[0] is gone:
        del table[place]


class _WeakMethod:
    """A method that holds its object by a weak reference."""

    def __init__(self, function: Callable[..., Any], instance: Any) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", "method")
        self.__doc__ = function.__doc__
        self._reference = weakref.ref(instance)

    @property
    def method(self) -> Callable[..., Any]:
        instance = self._reference()
        if instance is None:
            raise ReferenceError(f"The object of the method {self.__name__!r} is gone.")
        bound: Callable[..., Any] = self._function.__get__(instance, type(instance))
        return bound

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.method(*args, **kwargs)

    @property
    def __signature__(self) -> Any:
        import inspect

        return inspect.signature(self.method)


def _names_of(*arguments: Any) -> tuple[str | None, ...]:
    """The names of the specs among arguments."""
    leaves = nest.flatten(arguments)
    return tuple([leaf.name for leaf in leaves if isinstance(leaf, TensorSpec)])


def _checked_signature(signature: Any, function: Callable[..., Any]) -> Any:
    if signature is None:
        return None
    if not isinstance(signature, tuple | list):
        raise TypeError(
            f"input_signature must be either a tuple or a list, got {type(signature)}: {signature}."
        )
    for leaf in nest.flatten(signature):
        if not isinstance(leaf, TypeSpec | Variable):
            raise TypeError(
                "input_signature must be a possibly nested sequence of TensorSpec objects, got "
                f"{leaf!r}."
            )
    return tuple(signature)


def _holds(spec: TensorSpec, tensor: Tensor) -> bool:
    """Whether an eager tensor matches a spec without conversion."""
    wanted, sizes = spec.shape._dims, tensor._array.shape
    if tensor.dtype is not spec.dtype or (wanted is not None and len(wanted) != len(sizes)):
        return False
    return wanted is None or all(a is None or a == b for a, b in zip(wanted, sizes, strict=True))


def _cast(parameters: Parameters, place: int, spec: Any, value: Any) -> list[Tensor]:
    """The tensors of an argument that has a spec in the signature."""
    try:
        if isinstance(spec, TypeSpec):
            return list(spec.to_tensors(value))
        tensors: list[Tensor] = []
        for each, leaf in zip(nest.flatten(spec), nest.flatten_up_to(spec, value), strict=True):
            tensors += each.to_tensors(leaf)
    except (KeyError, TypeError, ValueError) as error:
        name = parameters.names[min(place, len(parameters.names) - 1)]
        raise TypeError(
            f"Binding inputs to tf.function failed due to `{error}`. Received {name} = {value!r}, "
            f"which does not fit {spec} of the input_signature."
        ) from None
    return tensors


def _placeholders(graph: FuncGraph, name: str, value: Any) -> tuple[Any, list[SymbolicTensor]]:
    """The argument with graph inputs in place of its tensors; these, in flattening order.

    As in the original, the inputs are numbered in the insertion order of a dict.
    """
    if name.startswith("_"):
        name = "Placeholder"  # operation names must not begin like this
    leaves = nest.flatten(value)
    tensors: list[list[SymbolicTensor]] = [[] for _ in leaves]
    for place in _places(nest.pack_sequence_as(value, list(range(len(leaves))))):
        leaf = leaves[place]
        if not isinstance(leaf, TypeSpec):
            continue
        if type(leaf) is TensorSpec:
            leaves[place] = graph.add_input(leaf.dtype, leaf.shape, _input_name(leaf) or name)
            tensors[place] = [leaves[place]]
        else:
            tensors[place] = [graph.add_input(e.dtype, e.shape, name) for e in leaf.flatten()]
            leaves[place] = leaf.from_tensors(iter(tensors[place]))
    return nest.pack_sequence_as(value, leaves), [each for part in tensors for each in part]


def _input_name(spec: TensorSpec) -> str | None:
    name: str | None = spec.name
    return "Placeholder" if name and name.startswith("_") else name


def _places(numbered: Any) -> list[int]:
    """The leaves of a structure of indices, those of a mapping in insertion order."""
    if isinstance(numbered, int):
        return [numbered]
    if isinstance(numbered, Mapping):
        parts: Any = numbered.values()
    else:
        parts = [part for _, part in nest.named_children(numbered)]
    return [place for part in parts for place in _places(part)]


def _fits(specs: Any, wider: Any) -> bool:
    try:
        nest.assert_same_structure(specs, wider)
    except (TypeError, ValueError):
        return False
    pairs = zip(nest.flatten(specs), nest.flatten(wider), strict=True)
    return all(
        a.is_subtype_of(b) if isinstance(a, TypeSpec) and isinstance(b, TypeSpec) else _same(a, b)
        for a, b in pairs
    )


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and not isinstance(a, Variable) and bool(a == b))


def _merged(specs: Any, others: Any) -> Any:
    """The most specific specs that include both; None if values differ otherwise than by shape."""
    try:
        nest.assert_same_structure(specs, others)
    except (TypeError, ValueError):
        return None
    merged = []
    for a, b in zip(nest.flatten(specs), nest.flatten(others), strict=True):
        if isinstance(a, TensorSpec) and isinstance(b, TensorSpec):
            a = TensorSpec(a.shape, a.dtype)
            common = a.most_specific_common_supertype([TensorSpec(b.shape, b.dtype)])
            if common is None:
                return None
            merged.append(common)
        elif isinstance(a, TypeSpec) and isinstance(b, TypeSpec):
            common = a.most_specific_common_supertype([b])
            if common is None:
                return None
            merged.append(common)
        elif _same(a, b):
            merged.append(a)
        else:
            return None
    return nest.pack_sequence_as(specs, merged)


def _difference(names: Sequence[str], old: Any, new: Any) -> str:
    """A description of how the arguments of two traces differ."""
    before, after = _by_name(names, old), _by_name(names, new)
    for name in {**before, **after}:
        a, b = before.get(name), after.get(name)
        if a != b:
            return f"the argument {name!r}: before {_shown(a)}, now {_shown(b)}"
    return "new arguments"


def _by_name(names: Sequence[str], key: Any) -> dict[str, Any]:
    """The parts of a key for each argument; keywords have a key beside that of their value."""
    keywords: Any = ()
    if isinstance(key[0], tuple):
        key, (_, keywords) = key
    found = {names[i] if i < len(names) else f"argument {i}": part for i, part in enumerate(key[1])}
    found.update(keywords)
    return found


def _shown(key: Any) -> str:
    if isinstance(key, tuple) and len(key) == 2:
        kind, value = key
        if kind == "value":
            return f"the Python value {value!r}"
        if isinstance(kind, DType):
            return f"a {kind.name} tensor of shape {value}"
        return repr(value)
    return "another object" if isinstance(key, Identity) else repr(key)


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: Any = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Compile a Python function into graphs, one per signature; also a decorator.

    >>> @tf.function
    ... def square_sum(x, y):
    ...     return tf.reduce_sum(x * x + y * y)
    >>> square_sum(tf.constant([1.0, 2.0]), tf.constant(2.0))
    <tf.Tensor: shape=(), dtype=float32, numpy=13.0>
    """
    if jit_compile is None:
        jit_compile = experimental_compile
    if experimental_relax_shapes is not None:
        reduce_retracing = experimental_relax_shapes

    def decorated(inner: Callable[..., Any]) -> Function:
        if not callable(inner):
            raise TypeError(f"tf.function takes a callable, got {inner!r}.")
        return Function(
            inner,
            input_signature=input_signature,
            autograph=autograph,
            reduce_retracing=reduce_retracing,
            jit_compile=jit_compile,
            autograph_options=experimental_autograph_options,
        )

    return decorated if func is None else decorated(func)
