"""ConcreteFunction: one trace of a function, called with tensors.

Its gradient is a concrete function too. It is traced when a tape first needs it; the forward plan
then also returns the values the backward pass uses ("saved"), and only those.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from .. import hooks, nest
from ..autodiff.backward import backward, graph_records, is_differentiable, rule_op, zeros_like
from ..context import next_key, state
from ..convert import convert_to_tensor
from ..indexed_slices import IndexedSlices
from ..op import REGISTRY, Record, execute
from ..shapes import TensorShape
from ..tensor import SymbolicTensor, Tensor
from ..type_spec import TensorSpec
from .graph import FuncGraph, replay
from .main_graph import MainGraph, main_graph_being_built
from .reachability import needed_operations
from .signature_text import long_text, short_text

if TYPE_CHECKING:
    from ...compiler.plan import Plan

# Gradients are traced under a lock: tracing assigns keys to the tensors of the graph.
_differentiating = threading.RLock()


class ConcreteFunction:
    """A graph with its inputs and outputs, as a function of tensors.

    >>> double = tf.function(lambda x: x * 2).get_concrete_function(tf.TensorSpec([], tf.int32))
    >>> double(tf.constant(3)).numpy()
    np.int32(6)
    """

    def __init__(self, graph: FuncGraph, structure: Any, signature: Any = None) -> None:
        self.graph = graph
        self._structure = structure
        self._signature = signature
        self._plan: Plan | None = None
        # Information about the inputs beyond the graph's.
        self._shapes: list[TensorShape] | None = None
        self._differentiable: dict[Any, Differentiable] = {}
        captures = graph.captures
        self._captured = [outside for outside, _ in captures]
        self._feeds = [*graph.inputs, *(inside for _, inside in captures)]
        self._types = [output.dtype for output in graph.outputs]
        self._trainable = [v for v in graph.variables.values() if v.trainable]
        # Tapes can watch these as well.
        self._frozen = [
            v for v in graph.variables.values() if not v.trainable and is_differentiable(v)
        ]
        self._single = structure is _ONE
        self._named = _named_results(structure)
        self._effects: Plan | None = None

    # The public methods.

    @property
    def name(self) -> str:
        return f"__inference_{self.graph.name}"

    @property
    def inputs(self) -> list[SymbolicTensor]:
        return list(self._feeds)

    @property
    def outputs(self) -> list[Tensor]:
        return list(self.graph.outputs)

    @property
    def captured_inputs(self) -> list[Tensor]:
        return [*self._captured, *(v.handle for v in self.graph.variables.values())]

    @property
    def variables(self) -> tuple[Any, ...]:
        return tuple(self.graph.variables.values())

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        return tuple(self._trainable)

    @property
    def structured_outputs(self) -> Any:
        return self._packed(self.graph.outputs)

    @property
    def output_shapes(self) -> Any:
        return self._packed([output.shape for output in self.graph.outputs])

    @property
    def output_dtypes(self) -> Any:
        return self._packed(self._types)

    @property
    def structured_input_signature(self) -> Any:
        return None if self._signature is None else self._signature.structured()

    @property
    def function_type(self) -> Any:
        return self._signature

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        """The arguments and results with their types, as text."""
        if self._signature is None:
            return f"{self.graph.name}(...)"
        parameters = self._signature.described()
        if not verbose:
            return short_text(parameters, self.structured_outputs)
        captured = {id(each): each._type_spec for each in self.captured_inputs}
        return long_text(parameters, self.structured_outputs, captured)

    def __repr__(self) -> str:
        return (
            f"<ConcreteFunction {self.pretty_printed_signature(verbose=False)} at 0x{id(self):X}>"
        )

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def code(self) -> str:
        """The source of the plan that a call runs."""
        return self.plan.show()

    @property
    def plan(self) -> Plan:
        if self._plan is None:
            self._plan = self._planned(self.graph.outputs)
        return self._plan

    def _planned(self, fetches: Sequence[Tensor]) -> Plan:
        graph = self.graph
        graph.finalize()
        if self._shapes is not None:
            try:
                computation = hooks.specialized(graph, self._feeds, fetches, self._shapes)
            except ValueError:
                # The general plan raises the error for values that do not fit, if they are reached.
                pass
            else:
                made = computation.feeds, computation.fetches, graph.name, computation.operations
                plan: Plan = hooks.plan(graph, *made)
                return plan
        plan = hooks.optimized_plan(graph, self._feeds, fetches, graph.name)
        return plan

    def specialized(self, shapes: Sequence[TensorShape]) -> ConcreteFunction:
        """The same function, shape-specialized for these inputs: a shorter plan."""
        if self.graph.jit_compile:
            return self
        other = copy.copy(self)
        other._shapes = [*shapes, *(tensor.shape for tensor in self._captured)]
        other._plan = other._effects = None
        return other

    # Calling.

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.call(self._signature.tensors_of(args, kwargs))

    def call(self, tensors: Sequence[Tensor]) -> Any:
        """The results for the input tensors, in the structure of the function's result."""
        if state.graph is not None:
            return self._packed(self._inlined([*tensors, *self._captured]))
        if state.tapes:
            return self._packed(self._recorded([*tensors, *self._captured]))
        arrays = [tensor._array for tensor in tensors]
        if self._captured:
            arrays += [tensor._array for tensor in self._captured]
        return self._packed(self._computed(arrays))

    def _computed(self, arrays: Sequence[Any]) -> list[Tensor]:
        """Run the plan; its results as tensors."""
        results = (self._plan or self.plan).run(*arrays)
        return [Tensor(array, dtype) for array, dtype in zip(results, self._types, strict=True)]

    def run_effects(self, tensors: Sequence[Tensor]) -> None:
        """Run the function's side effects, such as variable updates, without computing its results.

        For calls from outside of tapes and graphs.
        """
        if self._effects is None:
            self._effects = self._planned([])
        arrays = [tensor._array for tensor in tensors]
        self._effects.run(*arrays, *[tensor._array for tensor in self._captured])

    def _packed(self, flat: Sequence[Any]) -> Any:
        if self._single:
            return flat[0]
        if self._named is not None:
            return {name: flat[place] for name, place in self._named}
        values = iter(flat)
        leaves = [each.value(values) for each in nest.flatten(self._structure)]
        return nest.pack_sequence_as(self._structure, leaves)

    def _inlined(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Inline the operations into the graph being built."""
        from ..context import name_scope

        graph = self.graph
        values: dict[int, Tensor] = {
            id(inside): outside for inside, outside in zip(self._feeds, inputs, strict=True)
        }
        operations = needed_operations(graph, self._feeds, graph.outputs)
        main = main_graph_being_built()
        start = 0 if main is None else len(main.operations)
        assert state.graph is not None
        with name_scope(graph.name), state.graph.control_dependencies(graph.outer_controls):
            replay(operations, values, lambda variable: variable._as_tensor())
        results = [values.get(id(output), output) for output in graph.outputs]
        return results if main is None else _after_effects(main, start, results)

    def _recorded(self, inputs: Sequence[Tensor]) -> list[Tensor]:
        """Compute the results and record the backward function on the tapes."""
        tapes = state.tapes
        for tape in tapes:
            for variable in self._trainable:
                tape.variable_read(variable)
        arrays = [tensor._array for tensor in inputs]
        watched = [v for v in self._frozen if any(_watches(tape, v) for tape in tapes)]
        if not (self._trainable or watched or any(tensor._key for tensor in inputs)):
            return self._computed(arrays)
        order = len(tapes) + any(getattr(tape, "_persistent", False) for tape in tapes)
        key = (order, *[v._key for v in watched]) if watched else order
        differentiable = self._differentiable.get(key)
        if differentiable is None:
            with _differentiating:
                differentiable = self._differentiable.get(key)
                if differentiable is None:
                    differentiable = Differentiable(self, order, [*self._trainable, *watched])
                    self._differentiable[key] = differentiable
        return differentiable.call(inputs, arrays)


def _after_effects(graph: MainGraph, start: int, results: list[Tensor]) -> list[Tensor]:
    """The results of a call in a TensorFlow 1 graph: each depends on all side effects."""
    effects = graph.effects_since(start)
    if not effects:
        return results
    with graph.control_dependencies(effects):
        return [
            execute(REGISTRY["Identity"], (each,)) if isinstance(each, SymbolicTensor) else each
            for each in results
        ]


def _watches(tape: Any, variable: Any) -> bool:
    return variable._key in getattr(tape, "_watched", ())


class _Single:
    """The structure of a single tensor."""

    def value(self, tensors: Any) -> Any:
        return next(tensors)


_ONE = _Single()


def _named_results(structure: Any) -> list[tuple[str, int]] | None:
    """The names of results that are a plain dict of tensors, with their indices; else None."""
    if type(structure) is not dict or not all(map(_is_tensor_leaf, structure.values())):
        return None
    places = {name: place for place, name in enumerate(sorted(structure))}
    return [(name, places[name]) for name in structure]


def _is_tensor_leaf(value: Any) -> bool:
    return type(value) is Leaf and type(value.spec) is TensorSpec


class Leaf:
    """A leaf of the structure of results: a tensor, a composite of tensors, or a Python value."""

    __slots__ = ("constant", "spec")

    def __init__(self, spec: Any, constant: Any = None) -> None:
        self.spec = spec
        self.constant = constant

    def value(self, tensors: Any) -> Any:
        """The result, reconstructed from the next tensors."""
        return self.constant if self.spec is None else self.spec.from_tensors(tensors)


class Differentiable:
    """A concrete function for tapes: its forward plan with saved values, and its gradient rule.

    `order` is the number of supported derivatives: the saved values serve all of them.
    """

    def __init__(self, function: ConcreteFunction, order: int, variables: list[Any]) -> None:
        graph = function.graph
        self._function = function
        self._variables = variables
        self._feeds = function._feeds
        self._sources = [*self._feeds, *self._variables]
        for feed in self._feeds:
            feed._key = feed._key or next_key()
        self._results = list(graph.outputs)
        self._backward: dict[tuple[int, ...], tuple[BackwardFunction, Any]] = {}
        self.saved: list[SymbolicTensor] = []
        targets: list[Tensor] = self._results
        self._connected: list[bool] = []
        # The maximum number of targets of each derivative, first order first.
        self._levels: list[int] = []
        for _ in range(order):
            self._levels.append(len(targets))
            traced = self._trace(targets)
            self._connected = self._connected or [leaf.spec is not None for leaf in traced.leaves]
            found = [t for t, _ in traced.graph.captures]
            known = {id(each) for each in self.saved}
            fresh = [t for t in found if id(t) not in known]
            self.saved += fresh  # type: ignore[arg-type]
            if not fresh:
                break
            targets = [*self._results, *self.saved]
        fetches = [*self._results, *self.saved]
        self._plan = hooks.optimized_plan(graph, self._feeds, fetches, graph.name)
        self._types = [tensor.dtype for tensor in fetches]
        self._op = rule_op(graph.name, self._rule)
        self._op.partial = True

    def call(self, inputs: Sequence[Tensor], arrays: Sequence[Any]) -> list[Tensor]:
        """The results, recorded on the tapes together with the saved values."""
        computed = self._plan.run(*arrays)
        outputs = [Tensor(a, dtype) for a, dtype in zip(computed, self._types, strict=True)]
        reads = [variable._tensor for variable in self._variables]
        for tape in state.tapes:
            tape.record(self._op, [*inputs, *reads], outputs, {})
        return outputs[: len(self._results)]

    def _rule(self, record: Record, *gradients: Any) -> Sequence[Any]:
        present = tuple(i for i, gradient in enumerate(gradients) if gradient is not None)
        function, captured = self._backward.get(present) or self._new_backward(present)
        if None in captured:
            # Zeros for missing gradients need nothing beyond the saved values.
            level = next(n for n in self._levels if n > present[-1])
            gradients = tuple(
                zeros_like(output) if gradient is None and is_differentiable(output) else gradient
                for output, gradient in zip(record.outputs, gradients[:level], strict=False)
            )
            present = tuple(i for i, gradient in enumerate(gradients) if gradient is not None)
            function, captured = self._backward.get(present) or self._new_backward(present)
        weights = [convert_to_tensor(gradients[i]) for i in present]
        held = [record.outputs[place] for place in captured]
        found: Sequence[Any] = function.call_with(weights, held)
        # As in the original, only sources that no result depends on have no gradient at all.
        return [
            zeros_like(source) if gradient is None and connected else gradient
            for gradient, connected, source in zip(
                found, self._connected, record.inputs, strict=True
            )
        ]

    def _new_backward(self, present: tuple[int, ...]) -> tuple[BackwardFunction, Any]:
        """The gradient for these results and saved values, and the indices of its captures."""
        with _differentiating:
            targets = [*self._results, *self.saved]
            traced = self._trace([targets[i] for i in present])
            places = {id(tensor): i for i, tensor in enumerate(targets)}
            captured = [places.get(id(tensor)) for tensor in traced._captured]
            self._backward[present] = traced, captured
            return traced, captured

    def _trace(self, targets: Sequence[Tensor]) -> BackwardFunction:
        """The gradients of the sources, as a function of the gradients of the targets."""
        graph = FuncGraph(f"{self._function.graph.name}_grad", self._function.graph)
        with graph.building():
            # A tensor may be returned several times: each result has a gradient, and they are
            # summed.
            wanted, weights = [], []
            for target in targets:
                weight = graph.add_input(target.dtype, target.shape, "gradient")
                if isinstance(target, SymbolicTensor):
                    target._key = target._key or next_key()
                    if is_differentiable(target):
                        wanted.append(target)
                        weights.append(weight)
            keys = [source._key for source in self._sources]
            records, needed = graph_records(self._function.graph, keys)
            found = backward(records, wanted, weights, keys, needed)
            # The gradient of an input that is returned unchanged is one of the upstream gradients.
            return BackwardFunction.of(graph, [found.get(key) for key in keys])


class BackwardFunction(ConcreteFunction):
    """The gradient of a concrete function: its inputs include the saved values."""

    @classmethod
    def of(cls, graph: FuncGraph, gradients: Sequence[Any]) -> BackwardFunction:
        """The function of the graph under construction, with one gradient per source."""
        flat: list[Tensor] = []
        structure = []
        for gradient in gradients:
            if isinstance(gradient, IndexedSlices):
                spec = gradient._type_spec
                structure.append(Leaf(spec))
                flat += [graph.own(convert_to_tensor(t)) for t in spec.to_tensors(gradient)]
            elif gradient is None:
                structure.append(Leaf(None))
            else:
                structure.append(Leaf(gradient._type_spec))
                flat.append(graph.own(gradient))
        graph.outputs = flat
        return cls(graph, structure)

    @property
    def leaves(self) -> list[Leaf]:
        """For each source a leaf: a gradient, or None."""
        found: list[Leaf] = self._structure
        return found

    def call_with(self, weights: Sequence[Tensor], held: Sequence[Tensor]) -> Any:
        """The gradients, given the upstream gradients and the saved values."""
        if state.graph is None and not state.tapes:
            arrays = [tensor._array for tensor in weights]
            arrays += [tensor._array for tensor in held]
            return self._packed(self._computed(arrays))
        found = self._recorded if state.graph is None else self._inlined
        return self._packed(found([*weights, *held]))


def structure_of(result: Any, graph: FuncGraph) -> tuple[Any, list[Tensor]]:
    """The structure of a function's return value, with the tensors of its results."""
    if isinstance(result, Tensor):
        return _ONE, [graph.own(result)]
    flat: list[Tensor] = []
    leaves = []
    for value in nest.flatten(result):
        leaf, tensors = _leaf(value)
        leaves.append(leaf)
        flat += [graph.own(tensor) for tensor in tensors]
    return nest.pack_sequence_as(result, leaves), flat


def _leaf(value: Any) -> tuple[Leaf, list[Tensor]]:
    from ..type_spec import TypeSpec, type_spec_from_value

    if value is None or isinstance(value, TypeSpec):
        return Leaf(None, value), []
    kind = getattr(value, "_type_spec", None)
    if isinstance(value, Tensor) or not isinstance(kind, TypeSpec):
        try:
            tensor = value if isinstance(value, Tensor) else _returned(value)
        except (TypeError, ValueError):
            raise TypeError(
                "To be compatible with tf.function, Python functions must return zero or more "
                "Tensors or ExtensionTypes or None values; in compilation of the function, found "
                f"return value of type {type(value).__name__}, which is not a Tensor or "
                "ExtensionType."
            ) from None
        return Leaf(tensor._type_spec), [tensor]
    spec = type_spec_from_value(value)
    return Leaf(spec), [convert_to_tensor(each) for each in spec.to_tensors(value)]


def _returned(value: Any) -> Tensor:
    read: Callable[[], Tensor] | None = getattr(value, "read_value", None)
    return convert_to_tensor(value) if read is None else read()
