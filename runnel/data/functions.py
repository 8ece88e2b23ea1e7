"""User functions, traced once for the element spec of a dataset and called on bare arrays."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

from ..compiler.plan import Plan
from ..core import nest
from ..core.context import init_scope
from ..core.graph.concrete import ConcreteFunction, structure_of
from ..core.graph.graph import FuncGraph
from ..core.tensor import Tensor
from ..core.type_spec import TensorSpec, TypeSpec
from ..ops.random_streams import Stream, renewed
from .structure import Leaves, Packer, are_plain, arrays_of, normalized, specs_of
from .vectorizing import BatchProgram, on_batches


class Debugging:
    """Whether functions run as plain Python, in the consumer's thread."""

    on = False


def _arguments(structure: Any) -> tuple[Any, ...]:
    # Only tuples are unpacked into several parameters; a dict or a namedtuple is one argument.
    return structure if type(structure) is tuple else (structure,)


_OTHER_ARGUMENTS = (
    "{failure}. The function of {name} gets {count} argument(s), one for each component of an "
    "element that is a tuple: {shown}. Elements (x, y) need a function of both, lambda x, y: ..."
)


class Traced:
    """A traced function of elements.

    `inputs` are the specs of one element, or with `spread=False` a tuple of whole arguments.
    `call(leaves, tensors)` maps leaves to leaves; `tensors` are the values of the function's
    captures (`captured`), which a dataset holds among its own tensors.
    """

    def __init__(
        self, function: Callable[..., Any], inputs: Any, name: str, spread: bool = True
    ) -> None:
        if not callable(function):
            raise ValueError(
                f"Argument `func` must be a callable. {name} takes a function of its elements, "
                f"received func={function!r} (of type {type(function)})."
            )
        self._function = function
        self._inputs = inputs
        self._spread = spread
        self._packer = Packer(inputs)
        self.name = name
        self.captured: tuple[Tensor, ...] = ()
        # The random seeds of an iteration, and the functions of nested datasets.
        self._streams: dict[Stream, Stream] | None = None
        self.inner: dict[Any, Traced] = {}
        self._random = False
        self._concrete: ConcreteFunction | None = None
        self._batch_program: list[BatchProgram | None] = []
        try:
            self._trace()
        except Exception:
            # In debug mode, a function may use the methods of eager tensors.
            if not Debugging.on:
                raise
            self.output: Any = None
            self.specs: list[Any] = []
        self._eager = Debugging.on
        self._plain_inputs = are_plain(self._packer.specs)
        self._plain_outputs = are_plain(self.specs)

    def _trace(self) -> None:
        from .. import autograph

        streams = Stream.made
        graph = FuncGraph(getattr(self._function, "__name__", "function").strip("<>"))
        with graph.building():
            placed = nest.map_structure(lambda spec: _placeholder(graph, spec), self._inputs)
            arguments = _arguments(placed) if self._spread else placed
            try:
                result = autograph.convert(self._function, None)(*arguments)
            except TypeError as failure:
                raise self._of_arguments(failure, len(arguments)) from failure.__cause__
            result = self._checked(result)
            self.output = specs_of(result)
            structure, graph.outputs = structure_of(result, graph)
        self.specs = nest.flatten(self.output)
        self._random = Stream.made > streams
        self._concrete = ConcreteFunction(graph, structure)
        self.captured = tuple(self._concrete._captured)

    def _of_arguments(self, failure: TypeError, count: int) -> TypeError:
        """The error for a function with the wrong number of parameters."""
        import inspect

        try:
            inspect.signature(self._function).bind(*range(count))
        except TypeError:
            shown = ", ".join(map(str, nest.flatten(self._inputs)))
            return TypeError(_OTHER_ARGUMENTS.format(
                failure=failure, name=self.name, count=count, shown=shown
            ))  # fmt: skip
        except ValueError:
            pass  # a C function without a signature
        return failure

    def _checked(self, result: Any) -> Any:
        try:
            return _result(result)
        except (TypeError, ValueError) as failure:
            raise TypeError(
                f"Unsupported return value from function passed to {self.name}: {result}. {failure}"
            ) from failure

    @property
    def begins_anew(self) -> bool:
        """Whether results depend on the iteration: random operations, or datasets with some."""
        return self._random or not self._plain_outputs

    def renewed(self) -> Traced:
        """A copy for one iteration, whose random streams restart from the seeds."""
        copied = copy.copy(self)
        copied._streams, copied.inner = ({} if self._random else None), {}
        return copied

    def _run(self, plan: Plan, leaves: Sequence[Any]) -> Any:
        if self._streams is None:
            return plan.run(*leaves)
        with renewed(self._streams):
            return plan.run(*leaves)

    def learn(self, leaves: Sequence[Any]) -> None:
        """Infer the result types from a call on an element, if tracing was impossible."""
        self.output = specs_of(self._called(leaves))
        self.specs = nest.flatten(self.output)
        self._plain_outputs = are_plain(self.specs)

    def _called(self, leaves: Sequence[Any]) -> Any:
        with init_scope():
            element = self._packer.element(leaves)
            arguments = _arguments(element) if self._spread else element
            return _result(self._function(*arguments))

    def on_batches(self) -> BatchProgram | None:
        """The vectorized program for batches; None if its results might differ."""
        if self._eager or self._concrete is None:
            return None
        if not self._batch_program:
            specs = [*self._packer.specs, *self.specs]
            self._batch_program.append(on_batches(self._concrete.graph, specs))
        return self._batch_program[0]

    def call(self, leaves: Sequence[Any], tensors: Sequence[Tensor] = ()) -> Leaves:
        """The leaves of the result."""
        concrete = self._concrete
        if self._eager or concrete is None:
            found = nest.flatten(self._called(leaves))
            return [leaf._array if type(leaf) is Tensor else leaf for leaf in found]
        if not self._plain_inputs:
            leaves = arrays_of(self._packer.specs, leaves)
        if tensors:
            leaves = [*leaves, *[tensor._array for tensor in tensors]]
        results = self._run(concrete._plan or concrete.plan, leaves)
        if self._plain_outputs:
            return list(results)
        made = iter(
            [Tensor(array, kind) for array, kind in zip(results, concrete._types, strict=True)]
        )
        return [
            next(made)._array if type(spec) is TensorSpec else spec.from_tensors(made)
            for spec in self.specs
        ]


def _placeholder(graph: FuncGraph, spec: Any) -> Any:
    if type(spec) is TensorSpec:
        return graph.add_input(spec.dtype, spec.shape)
    parts = [graph.add_input(each.dtype, each.shape) for each in spec.flatten()]
    return spec.from_tensors(iter(parts))


def _result(result: Any) -> Any:
    if isinstance(result, list):
        result = tuple(result)
    return normalized(result)


def is_dataset_spec(output: Any) -> bool:
    """Whether a function returns a single dataset."""
    from .iterators import DatasetSpec

    return isinstance(output, TypeSpec) and isinstance(output, DatasetSpec)
