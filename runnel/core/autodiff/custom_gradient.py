"""Custom gradients, forward-mode derivatives, and gradients of graphs."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

from .. import dtypes, nest
from ..context import name_scope, next_key, no_recording, state
from ..convert import convert_to_tensor
from ..graph.access import NAMED_GRADIENTS
from ..graph.graph import FuncGraph
from ..indexed_slices import IndexedSlices
from ..op import REGISTRY, Op, Record, execute
from ..tensor import Tensor
from ..variable import Variable
from .backward import backward, graph_records, is_differentiable, rule_op
from .tape import GradientTape, UnconnectedGradients, _finish, _wants_zeros, captured


class _VariableWatcher:
    """Collects the trainable variables that a computation reads; acts as a tape."""

    def __init__(self) -> None:
        self.variables: dict[int, Variable] = {}

    def record(self, *operation: Any) -> None:
        """Operations are ignored."""

    def variable_read(self, variable: Variable) -> None:
        if variable.trainable:
            self.variables[variable._key] = variable

    def __enter__(self) -> _VariableWatcher:
        state.tapes = (*state.tapes, self)
        return self

    def __exit__(self, *exception: object) -> None:
        state.tapes = tuple([tape for tape in state.tapes if tape is not self])


_NO_RULE = (
    "A function with @tf.custom_gradient returns its result and the function of its gradient: "
    "`return y, grad`, where grad(upstream) gives a gradient for each argument. The second was "
    "{got!r}, which is not callable."
)


def custom_gradient(f: Callable[..., Any] | None = None) -> Any:
    """Decorate a function that returns its result and its gradient function.

    >>> @tf.custom_gradient
    ... def clipped(x):
    ...     def gradient(upstream):
    ...         return tf.clip_by_value(upstream, -1.0, 1.0)
    ...     return x * 5.0, gradient
    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = clipped(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)
    """
    return custom_gradient if f is None else _WithCustomGradient(f)


class _WithCustomGradient:
    """A function with a custom gradient; as a method it binds to its object."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        functools.update_wrapper(self, function)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return _with_custom_gradient(self._function, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        return _WithCustomGradient(MethodType(self._function, instance))


def _with_custom_gradient(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    flat = nest.flatten(args)
    if state.graph is not None:
        flat = [v if isinstance(v, Variable) else convert_to_tensor(v) for v in flat]
    given = {value._key for value in flat if isinstance(value, Variable)}
    with _VariableWatcher() as watcher:
        result, gradient_function = function(*nest.pack_sequence_as(args, flat), **kwargs)
    variables = [v for key, v in sorted(watcher.variables.items()) if key not in given]
    if variables and not _accepts(gradient_function, "variables"):
        raise TypeError(
            "@tf.custom_gradient grad_fn must accept keyword argument 'variables', since function "
            f"uses variables: {variables}"
        )
    # The outputs get keys of their own: the backward pass goes through the custom gradient, while
    # tapes still have the operations inside, for derivatives of that gradient.
    places = [place for place, value in enumerate(flat) if isinstance(value, Tensor | Variable)]
    inputs = [*_as_tensors([flat[place] for place in places]), *_as_tensors(variables)]
    rule = _custom_rule(gradient_function, len(flat), places, variables)
    if state.graph is not None:
        computed = [convert_to_tensor(value) for value in nest.flatten(result)]
        return nest.pack_sequence_as(result, _passed_on(computed, inputs, rule))
    flat_result = [_copied(value) for value in nest.flatten(result)]
    for tape in state.tapes:
        if isinstance(tape, ForwardAccumulator):
            tape.carry_on(nest.flatten(result), flat_result)
    op = rule_op(getattr(function, "__name__", "custom_gradient"), rule)
    for tape in state.tapes:
        tape.record(op, inputs, flat_result, {})
    return nest.pack_sequence_as(result, flat_result)


def _passed_on(
    results: list[Tensor], inputs: list[Tensor], rule: Callable[..., list[Any]]
) -> list[Tensor]:
    """The results as outputs of a graph operation whose gradient is the rule.

    In a function the rule is traced at once, and its captures of the function become inputs of the
    operation, so that they are found wherever the function is inlined.
    """
    count = len(results)
    held: list[Tensor] = []
    if isinstance(state.graph, FuncGraph):
        held, rule = _traced(state.graph, results, rule)
    op = Op(
        "IdentityN",
        "input: *T -> output: *Tout",
        lambda input, *, Tout: input[:count],
        lambda groups, attrs: [each.shape for each in groups[0][:count]],
        False,
        True,
        {},
    )
    nothing: list[Any] = [None]
    op.gradient_rule = lambda record, *gradients: [
        *nothing * count, *rule(record, *gradients), *nothing * len(held)
    ]  # fmt: skip
    types = {"Tout": [result.dtype for result in results]}
    outputs: list[Tensor] = execute(op, (*results, *inputs, *held), types)
    return outputs


def _traced(
    outer: FuncGraph, results: list[Tensor], rule: Callable[..., list[Any]]
) -> tuple[list[Tensor], Callable[..., list[Any]]]:
    """The captures of a rule in the enclosing function, and the rule as a function of them."""
    from ..graph.concrete import BackwardFunction

    graph = FuncGraph(f"{outer.name}_custom_gradient", outer)
    with graph.building():
        weights = [graph.add_input(each.dtype, each.shape, "gradient") for each in results]
        found = [_gradient(each) for each in rule(None, *weights)]
        function = BackwardFunction.of(graph, found)
    held = list(function._captured)

    def apply(record: Record, *gradients: Any) -> list[Any]:
        values = record.inputs[len(record.inputs) - len(held) :]
        applied: list[Any] = function.call_with(list(gradients), values)
        return applied

    return held, apply


def _gradient(value: Any) -> Any:
    kept = value is None or isinstance(value, IndexedSlices)
    return value if kept else convert_to_tensor(value)


def _copied(value: Any) -> Tensor:
    tensor = convert_to_tensor(value)
    return Tensor(tensor._array, tensor.dtype)


def _as_tensors(values: Sequence[Any]) -> list[Tensor]:
    return [v._as_tensor() if isinstance(v, Variable) else v for v in values]


def _accepts(function: Callable[..., Any], keyword: str) -> bool:
    import inspect  # imported lazily: a fifth of the time of `import runnel`, rarely needed

    parameters = inspect.signature(function).parameters.values()
    return any(p.name == keyword or p.kind is p.VAR_KEYWORD for p in parameters)


def _custom_rule(
    gradient_function: Callable[..., Any],
    count: int,
    places: list[int],
    variables: list[Variable],
) -> Callable[..., list[Any]]:
    """The rule of a function of `count` arguments, with tensors at some positions."""

    def rule(record: Record, *gradients: Any) -> list[Any]:
        if not callable(gradient_function):
            raise TypeError(_NO_RULE.format(got=gradient_function))
        if variables:
            found, of_variables = gradient_function(*gradients, variables=variables)
            if len(of_variables) != len(variables):
                raise ValueError(
                    f"Must return gradient for each variable from @custom_gradient grad_fn: "
                    f"{len(variables)} are used, {len(of_variables)} gradients came."
                )
        else:
            found, of_variables = gradient_function(*gradients), []
        flat = nest.flatten(found)
        if len(flat) != count:
            raise ValueError(
                f"custom_gradient function expected to return {count} gradients, but returned "
                f"{len(flat)} instead."
            )
        return [*[flat[place] for place in places], *of_variables]

    return rule


def recompute_grad(f: Callable[..., Any]) -> Callable[..., Any]:
    """Do not save the intermediate results of `f` for the gradient: recompute them
    (rematerialization).

    >>> x = tf.Variable(2.0)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.recompute_grad(lambda x: x * x * x)(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(12.0)
    """

    @functools.wraps(f)
    def inner(*args: Any, **kwargs: Any) -> Any:
        with no_recording(), _VariableWatcher() as watcher:
            result = f(*args, **kwargs)
        variables = [v for _, v in sorted(watcher.variables.items())]
        flat_args = nest.flatten(args)
        tensors = [v if isinstance(v, Variable) else convert_to_tensor(v) for v in flat_args]

        def rule(record: Record, *gradients: Any) -> list[Any]:
            sources = [_fresh(t) for t in record.inputs[: len(tensors)]]
            with GradientTape() as tape:
                tape.watch([source for source in sources if is_differentiable(source)])
                again = nest.flatten(f(*nest.pack_sequence_as(args, sources), **kwargs))
            return list(tape.gradient(again, [*sources, *variables], list(gradients)))

        op = rule_op(getattr(f, "__name__", "recompute_grad"), rule)
        # With keys of their own: a result that is one of the arguments would create a cycle.
        with no_recording():
            flat_result = [_fresh(convert_to_tensor(value)) for value in nest.flatten(result)]
        for tape in state.tapes:
            for variable in variables:
                tape.variable_read(variable)
            tape.record(op, [*_as_tensors(tensors), *_as_tensors(variables)], flat_result, {})
        return nest.pack_sequence_as(result, flat_result)

    return inner


def _fresh(tensor: Tensor) -> Tensor:
    """The same tensor under a new key, still connected to the outer tapes."""
    fresh: Tensor = REGISTRY["Identity"](tensor)
    if not fresh._key:
        fresh._key = next_key()
    return fresh


def grad_pass_through(f: Callable[..., Any]) -> Callable[..., Any]:
    """`f` with the gradient of the identity (straight-through estimator).

    >>> x = tf.Variable(2.6)
    >>> with tf.GradientTape() as tape:
    ...     y = tf.grad_pass_through(tf.round)(x)
    >>> tape.gradient(y, x).numpy()
    np.float32(1.0)
    """

    @custom_gradient
    def decorated(*args: Any, **kwargs: Any) -> Any:
        def gradient(*upstream: Any, variables: Any = None) -> Any:
            if variables is not None:
                return (upstream[0] if len(upstream) == 1 else upstream), [None] * len(variables)
            return upstream[0] if len(upstream) == 1 else upstream

        return f(*args, **kwargs), gradient

    return functools.wraps(f)(decorated)


class ForwardAccumulator:
    """Forward-mode differentiation: the derivatives of all results of a block along one direction.

    >>> x = tf.constant([2.0, 3.0])
    >>> with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as accumulator:
    ...     y = x * x
    >>> accumulator.jvp(y).numpy().tolist()
    [4.0, 0.0]
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        nest.assert_same_structure(primals, tangents)
        self._tangents: dict[int, Any] = {}
        self._held: list[Any] = []
        self._recording = False
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            if not is_differentiable(primal):
                continue
            value = convert_to_tensor(tangent, primal.dtype)
            if not value.shape.is_compatible_with(primal.shape):
                raise ValueError(
                    f"A tangent must have the shape of its primal: expected {primal.shape}, got "
                    f"{value.shape}."
                )
            if primal._key in self._tangents:
                raise ValueError(
                    f"{primal!r} is a primal more than once. Give it once, with the sum of its "
                    "tangents."
                )
            self._hold(primal, value)
            inside = captured(primal)
            if inside is not None:
                self._hold(inside, value)

    def _hold(self, tensor: Any, tangent: Any) -> None:
        tensor._key = tensor._key or next_key()
        self._tangents[tensor._key] = tangent
        self._held.append(tensor)

    def __enter__(self) -> ForwardAccumulator:
        if self._recording:
            raise ValueError("A ForwardAccumulator that is active cannot be entered again.")
        self._recording = True
        state.tapes = (*state.tapes, self)
        return self

    def __exit__(self, *exception: object) -> None:
        self._recording = False
        state.tapes = tuple([tape for tape in state.tapes if tape is not self])

    def variable_read(self, variable: Variable) -> None:
        """A variable's tangent is keyed by the variable."""

    def record(
        self, op: Op, inputs: Sequence[Tensor], outputs: Sequence[Tensor], attrs: dict[str, Any]
    ) -> None:
        """Propagate the tangents of an operation's inputs to its outputs."""
        if not any(tensor._key in self._tangents for tensor in inputs) or not op.differentiable:
            return
        differentiable = [
            output
            for output in outputs
            if is_differentiable(output) and output._key not in self._tangents
        ]
        if not differentiable:
            return
        tapes = state.tapes
        # Outer accumulators see the computation of the tangents; this one does not.
        state.tapes = tapes[: tapes.index(self)]
        try:
            tangents = self._push(Record(op, inputs, outputs, attrs), differentiable)
        finally:
            state.tapes = tapes
        for output, tangent in zip(differentiable, tangents, strict=True):
            if tangent is not None:
                self._hold(output, tangent)

    def carry_on(self, results: Sequence[Any], copies: Sequence[Tensor]) -> None:
        """Give the results of a function with a custom gradient the tangents computed inside it.

        As in the original, the custom gradient is used only where there are none.
        """
        for result, copy in zip(results, copies, strict=True):
            tangent = self._tangents.get(getattr(result, "_key", 0))
            if tangent is not None:
                self._hold(copy, tangent)

    def _push(self, record: Record, outputs: Sequence[Tensor]) -> Sequence[Any]:
        """The gradient rule is linear in the upstream gradients; forward mode is its transpose."""
        for output in outputs:
            output._key = output._key or next_key()
        needed = {tensor._key for tensor in record.inputs if tensor._key in self._tangents}
        with GradientTape() as tape:
            probes = [REGISTRY["ZerosLike"](output) for output in outputs]
            tape.watch(probes)
            pulled = backward([record], outputs, probes, [], needed)
            keys = [key for key in needed if key in pulled]
            results = [convert_to_tensor(pulled[key]) for key in keys]
        tangents: Sequence[Any] = tape.gradient(
            results, probes, [self._tangents[key] for key in keys]
        )
        return tangents

    def jvp(self, primals: Any, unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The derivative of each tensor in `primals` along the direction."""
        zero = _wants_zeros(unconnected_gradients)
        return nest.map_structure(
            lambda primal: _finish(self._tangents.get(primal._key or -1), primal, zero), primals
        )


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivative of the sum of `ys` with respect to each of `xs`, in a graph."""
    if state.graph is None:
        raise RuntimeError(
            "tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
            "instead."
        )
    zero = _wants_zeros(unconnected_gradients)
    targets = [convert_to_tensor(y) for y in nest.flatten(ys)]
    sources = nest.flatten(xs)
    weights = [None] * len(targets) if grad_ys is None else nest.flatten(grad_ys)
    stopped = [] if stop_gradients is None else nest.flatten(stop_gradients)
    for value in [*targets, *sources, *stopped]:
        if not value._key:
            value._key = next_key()
    keys = [source._key for source in sources]
    records, needed = graph_records(state.graph, keys, {each._key for each in stopped})
    given, name = name, ""
    with name_scope(given):
        found = backward(records, targets, weights, keys, needed)
    return [
        _finish(found.get(key) if is_differentiable(x) else None, x, zero)
        for key, x in zip(keys, sources, strict=True)
    ]


def hessians(
    ys: Any,
    xs: Any,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    name: str = "hessians",
) -> list[Any]:
    """The second derivatives of the sum of `ys` with respect to each of `xs`, in a graph."""
    found = []
    for x in nest.flatten(xs):
        (gradient,) = gradients(ys, x)
        count = x.shape.num_elements()
        if count is None:
            raise ValueError(f"tf.hessians needs a fully known shape, got {x.shape}.")
        flat = REGISTRY["Reshape"](gradient, convert_to_tensor([count]))
        elements = REGISTRY["Unpack"](flat, num=count, axis=0)
        rows = [
            gradients(each, x, unconnected_gradients=UnconnectedGradients.ZERO)[0]
            for each in elements
        ]
        stacked = REGISTRY["Pack"](rows, axis=0)
        sizes = [*x.shape.as_list(), *x.shape.as_list()]
        found.append(REGISTRY["Reshape"](stacked, convert_to_tensor(sizes, dtypes.int32)))
    return found


class RegisterGradient:
    """Decorate the gradient rule `rule(op, *gradients)` of the op of this name.

    Runnel's ops have their rules; this is for ops declared elsewhere, and for names that
    `tf.Graph.gradient_override_map` assigns to ops.
    """

    def __init__(self, op_type: str) -> None:
        if not isinstance(op_type, str):
            raise TypeError(f"op_type must be a string, got {op_type!r}.")
        self._op_type = op_type

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        try:
            op = REGISTRY[self._op_type]
        except KeyError:
            if self._op_type in NAMED_GRADIENTS:
                raise KeyError(
                    f"Registering two gradient with name {self._op_type!r}: choose another name."
                ) from None
            NAMED_GRADIENTS[self._op_type] = f
            return f
        if op.gradient_rule is not None:
            raise KeyError(
                f"Registering two gradient with name {self._op_type!r}: the op has a gradient."
            )
        op.gradient_rule = f
        op.differentiable = True
        return f


def no_gradient(op_type: str) -> None:
    """Declare that the op of this name has no gradient."""
    if not isinstance(op_type, str):
        raise TypeError(f"op_type must be a string, got {op_type!r}.")
    try:
        op = REGISTRY[op_type]
    except KeyError:
        # An op that is not registered has none anyway.
        return
    if op.gradient_rule is not None:
        raise KeyError(f"Registering two gradient with name {op_type!r}: the op has a gradient.")
    op.differentiable = False


def _registered(op_type: str) -> Op:
    try:
        return REGISTRY[op_type]
    except KeyError:
        message = f"There is no op named {op_type!r} to register a gradient for."
        raise LookupError(message) from None
