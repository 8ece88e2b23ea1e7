"""Plan: a graph as a straight-line Python function that calls kernels.

One line per operation, in program order; values are deleted after their last use. The source can be
printed (`plan.show()`), and an error in a line is traced back to its operation.

A graph may come from a stranger's file, so nothing of it is written into the source: functions and
values have generated names (`plan`, `branch0`, `x0`, `t1`, `c0`, ...), kernels those of declared
ops, and attributes are numbers, plain words or names of values. Python would otherwise read a name
such as `exec` in full-width letters as the builtin; there are no builtins.
"""

from __future__ import annotations

import itertools
import keyword
import linecache
import re
import struct
from collections.abc import Callable, Sequence
from time import perf_counter_ns
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import errors
from ..core.context import tracebacks
from ..core.dtypes import DType
from ..core.graph.reachability import needed_operations
from ..core.op import KERNEL_FAILURES
from ..core.tensor import SymbolicTensor, Tensor
from ..runtime import engine_selection
from ..runtime.half_precision import kernel_of
from ..runtime.output_buffers import ufunc_of
from ..runtime.parallel_elementwise import may_be_parallel, parallel_ufunc
from ..runtime.thread_pools import owner_of
from .buffer_reuse import reusable
from .concat_aliasing import AliasedConcat, ConcatAliasing

if TYPE_CHECKING:
    from ..core.graph.graph import Graph, Operation

_IN_GRAPH = "Graph execution error:"
_numbers = itertools.count(1)
# What kernels raise for values that only graphs from files give them.
_UNEXPECTED = (AssertionError, AttributeError, LookupError, NotImplementedError, RecursionError,
               TypeError, struct.error)  # fmt: skip
FAILURES = (*KERNEL_FAILURES, *_UNEXPECTED)
# Other strings, and long tuples, are values with a name.
_PLAIN_WORD = re.compile(r"[A-Za-z0-9_ ,.>-]{0,80}")
_OP_NAME = re.compile(r"(?!(None|True|False)$)_?[A-Z][A-Za-z0-9_]*", re.ASCII)
_ATTRIBUTE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST_TUPLE = 64
_FUNCTION = "plan"
_BRANCH_NAME = re.compile(r"\bbranch(\d+)\b")
# The program calls nothing but what its namespace has.
_NO_BUILTINS: dict[str, Any] = {}


class Plan:
    """The generated function that computes the fetches of a graph from the arrays fed.

    `run(*arrays)` gives a tuple of arrays.
    """

    def __init__(
        self,
        graph: Graph,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        name: str = "plan",
        operations: Sequence[Operation] | None = None,
    ) -> None:
        if operations is None:
            operations = needed_operations(graph, feeds, fetches)
        writer = _Writer(feeds, fetches, operations)
        self.name = name
        self.source = "\n".join(writer.lines) + "\n"
        self.operations = writer.operations
        self.feeds = list(feeds)
        self._lines = writer.operation_of_line
        self._branches = writer.branches
        self._file = f"<runnel plan {next(_numbers)} of {_shown_name(name)}>"
        # NumPy's warnings about overflow are filtered by this module name.
        namespace = {"__name__": __name__, "__builtins__": _NO_BUILTINS, **writer.namespace}
        exec(compile(self.source, self._file, "exec"), namespace)
        self.function: Callable[..., tuple[Any, ...]] = namespace[_FUNCTION]
        self._written = self.function
        self._timed: Callable[..., tuple[Any, ...]] | None = None

    @classmethod
    def optimized(
        cls, graph: Graph, feeds: Sequence[Tensor], fetches: Sequence[Tensor], name: str
    ) -> Plan:
        """The plan after all passes; with `jit_compile` the function that an engine compiled."""
        from .passes import optimize

        computation = optimize(graph, feeds, fetches)
        plan = cls(graph, computation.feeds, computation.fetches, name, computation.operations)
        if getattr(graph, "jit_compile", False):
            operations = needed_operations(graph, feeds, fetches)
            plan.function = (
                engine_selection.compiled(name, operations, feeds, fetches) or plan.function
            )
        return plan

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """The arrays of the fetches; an error names the operation and the user's line."""
        try:
            return self.function(*arrays)
        except FAILURES as failure:
            raise self.explained(failure) from tracebacks.cause(failure)

    def explained(self, failure: Exception) -> Exception:
        """The error to raise for a failure in one of the lines."""
        operation = self._failed(failure.__traceback__)
        known = getattr(failure, "message", "")
        if operation is None or known.startswith(_IN_GRAPH):
            return failure
        explained = operation.op.explain(failure, operation.inputs, operation.given)
        message = getattr(explained, "message", str(explained))
        message = message.replace(f" [Op:{operation.type}]", "")
        if isinstance(failure, _UNEXPECTED) and not isinstance(failure, KERNEL_FAILURES):
            message = f"{type(failure).__name__}: {message}"
        kind: Any = type(explained)
        told: Exception = kind(
            None,
            None,
            f"{_IN_GRAPH}\n\nDetected at node '{operation.name}' defined at:\n"
            f"  {operation.location}\n\n{message}\n\t [[{{{{node {operation.name}}}}}]] "
            f"[Op:__inference_{self.name}]",
        )
        return told

    def _failed(self, traceback: TracebackType | None) -> Operation | None:
        found = None
        while traceback is not None:
            if traceback.tb_frame.f_code.co_filename == self._file:
                found = self._lines.get(traceback.tb_lineno, found)
            traceback = traceback.tb_next
        return found

    @property
    def timed(self) -> Callable[..., tuple[Any, ...]]:
        """The function with timing, for profiles: its first argument is a callback.

        It receives the line number, begin and end in nanoseconds and, where they are not static,
        the shapes of the outputs. The lines keep their numbers, so that errors lead to the same
        operations.
        """
        if self._timed is None:
            lines = self.source.splitlines()
            lines[0] = lines[0].replace("(", "(_tell, ", 1)
            for number, operation in self._lines.items():
                if operation.type != "ReadVariableOp":
                    lines[number - 1] = _with_clock(number, lines[number - 1], operation)
            namespace = {
                **self._written.__globals__, "_clock": perf_counter_ns, "_shapes": _shapes_of,
            }  # fmt: skip
            exec(compile("\n".join(lines), self._file, "exec"), namespace)
            self._timed = namespace[self._written.__name__]
        return self._timed

    @property
    def compiled(self) -> bool:
        """Whether an engine compiled the function, so that it has no source."""
        return self.function is not self._written

    def operation_at(self, line: int) -> Operation:
        """The operation that a line of the source computes."""
        return self._lines[line]

    def show(self) -> str:
        """The source, with that of the branches it calls; also for debuggers and tracebacks."""
        names = [_shown_name(branch.name) for branch in self._branches]
        shown = _BRANCH_NAME.sub(lambda found: names[int(found[1])], self.source)
        shown = shown.replace(_FUNCTION, _shown_name(self.name), 1)
        lines = shown.splitlines(True)
        linecache.cache[self._file] = (len(shown), None, lines, self._file)
        return "\n".join([shown, *(branch.plan.show() for branch in self._branches)])


def _shown_name(name: str) -> str:
    """A name of a graph as it is shown, in source that is printed and never run."""
    return re.sub(r"\W", "_", name[:100], flags=re.ASCII) or "_"


def _shapes_of(values: Sequence[Any]) -> list[Any]:
    return [getattr(each, "shape", None) for each in values]


def _with_clock(number: int, line: str, operation: Operation) -> str:
    """A line of a plan between two readings of the clock."""
    text = line.lstrip()
    indent = line[: len(line) - len(text)]
    told = f"{number}, _begin, _clock()"
    if any(not output.shape.is_fully_defined() for output in operation.outputs):
        made, _, _ = text.partition(" = ")
        told += f", _shapes(({made.rstrip(',')},))"
    return f"{indent}_begin = _clock(); {text}; _tell(({told}))"


class _Writer:
    """Writes the source of a plan."""

    def __init__(
        self,
        feeds: Sequence[Tensor],
        fetches: Sequence[Tensor],
        operations: Sequence[Operation],
    ) -> None:
        self.names: dict[int, str] = {}
        self.namespace: dict[str, Any] = {}
        self.operation_of_line: dict[int, Operation] = {}
        self._globals: dict[int, str] = {}
        self._counts: dict[str, int] = {}
        self._scalars: dict[int, Any] = {}
        self.branches: list[Any] = []
        parameters = []
        for index, tensor in enumerate(feeds):
            parameters.append(f"x{index}")
            self.names[id(tensor)] = f"x{index}"
        self.operations = [op for op in operations if not self._is_fed(op)]
        self.lines = [f"def {_FUNCTION}({', '.join(parameters)}):"]
        owner = owner_of(self.operations)
        # Otherwise the plan leaves the ownership of the cores as it is.
        self._has_products = owner is not None
        if owner == "engine":
            self.lines.append(
                f"    {self._kernel('give_to_engine', engine_selection.pool.give_to_engine)}()"
            )
        elif owner == "blas":
            self.lines.append(
                f"    {self._kernel('give_to_blas', engine_selection.pool.give_to_blas)}()"
            )
        self._reused = reusable(self.operations, fetches)
        self._placing = ConcatAliasing(self.operations, self._reused)
        self._buffers: dict[int, str] = {}
        written = [self._written(i, each) for i, each in enumerate(self.operations)]
        results = [self._value(tensor) for tensor in fetches]
        self._emit(written, parameters, results)

    def _is_fed(self, operation: Operation) -> bool:
        return any(id(output) in self.names for output in operation.outputs)

    def _emit(
        self, written: list[tuple[list[str], list[str], str]], parameters: list[str],
        results: list[str],
    ) -> None:  # fmt: skip
        """Emit the lines, with `del` after the last use of each value."""
        last: dict[str, int] = {}
        for index, (_, uses, _) in enumerate(written):
            for name in uses:
                last[name] = index
        kept = set(results)
        alive = set(parameters)
        dropped = sorted(alive - set(last) - kept)
        if dropped:
            self.lines.append(f"    del {', '.join(dropped)}")
        for index, (makes, uses, text) in enumerate(written):
            for joined in self._placing.begun.get(index, ()):
                self.lines.append(f"    {self._buffer_line(joined)}")
            if text:
                self.lines.append(f"    {text}")
                self.operation_of_line[len(self.lines)] = self.operations[index]
            alive.update(makes)
            ended = [
                name
                for name in dict.fromkeys([*uses, *makes])
                if name in alive and last.get(name, index) <= index and name not in kept
            ]
            if ended:
                alive.difference_update(ended)
                self.lines.append(f"    del {', '.join(ended)}")
        trailing = "," if len(results) == 1 else ""
        self.lines.append(f"    return ({', '.join(results)}{trailing})")

    def _written(self, index: int, operation: Operation) -> tuple[list[str], list[str], str]:
        """The names that a line assigns, the names it reads, and the line."""
        op = operation.op
        outputs = operation.outputs
        if op.name == "Const":
            self.names[id(outputs[0])] = self._constant(operation)
            return [], [], ""
        values = [self._value(tensor) for tensor in operation.inputs]
        if op.alias:
            for output, value in zip(outputs, values, strict=False):
                self.names[id(output)] = value
            return [], values, ""
        makes = []
        for output in outputs:
            name = f"t{len(self.names)}"
            self.names[id(output)] = name
            makes.append(name)
        if op.name == "ReadVariableOp":
            return makes, [], f"{makes[0]} = {values[0]}._tensor._array"
        arguments = [
            f"[{', '.join(each)}]" if isinstance(each, list) else each
            for each in op.grouped(values)
        ]
        arguments += [
            f"{_keyword(operation, name)}={self._attribute(value)}"
            for name, value in operation.given.items()
        ]
        kernel: Any = kernel_of(operation)
        place = self._reused.get(index)
        if place is not None:
            kernel = ufunc_of(operation)
            arguments.append(f"out={values[place]}")
        elif index in self._placing.places:
            joined, rows = self._placing.places[index]
            kernel = np.concatenate if op.name == "ConcatV2" else ufunc_of(operation)
            arguments.append(f"out={self._buffer(joined)}[{rows.start}:{rows.stop}]")
        elif index in self._placing.joined:
            return makes, values, self._joined(self._placing.joined[index], makes[0], values)
        if self._has_products and may_be_parallel(operation):
            kernel = parallel_ufunc(ufunc_of(operation))
        name = op.name if _OP_NAME.fullmatch(op.name) else "Op"
        call = f"{self._kernel(name, kernel)}({', '.join(arguments)})"
        if op.single:
            text = f"{makes[0]} = {call}"
        elif makes:
            text = f"{', '.join(makes)}{',' if len(makes) == 1 else ''} = {call}"
        else:
            text = call
        return makes, values, text

    def _buffer(self, joined: AliasedConcat) -> str:
        """The name of the output buffer of a concatenation."""
        return self._buffers.setdefault(id(joined), f"b{len(self._buffers)}")

    def _buffer_line(self, joined: AliasedConcat) -> str:
        empty = self._kernel("empty", np.empty)
        dtype = self._attribute(joined.dtype.numpy)
        return f"{self._buffer(joined)} = {empty}({joined.shape}, {dtype})"

    def _joined(self, joined: AliasedConcat, name: str, values: list[str]) -> str:
        """The line of a concatenation: its buffer, after copying the parts that were not written
        directly.
        """
        buffer = self._buffer(joined)
        copies = [
            f"{buffer}[{rows.start}:{rows.stop}] = {value}"
            for number, (value, rows) in enumerate(zip(values, joined.rows, strict=False))
            if number not in joined.written
        ]
        return "; ".join([*copies, f"{name} = {buffer}", f"del {buffer}"])

    def _constant(self, operation: Operation) -> str:
        value = operation.given["value"]
        if not value.ndim and value.dtype != object:
            # Kernels are ten times faster on NumPy scalars than on arrays of rank 0.
            scalar = self._scalars.setdefault(id(value), value[()])
            return self._global("c", scalar)
        return self._global("c", value)

    def _kernel(self, name: str, kernel: Any) -> str:
        """The name of an op, a dtype or a function of ours in the program: mostly its own."""
        known = self._globals.get(id(kernel))
        if known is None:
            known = name
            if known in self.namespace:
                known = f"{known}_{len(self.namespace)}"
            self._globals[id(kernel)] = known
            self.namespace[known] = kernel
        return known

    def _attribute(self, value: Any) -> str:
        kind = type(value)
        if value is None or kind is bool or kind is int:
            return repr(value)
        if (kind is str or kind is bytes) and _is_plain(value):
            return repr(value)
        if (kind is tuple or kind is list) and len(value) <= _LONGEST_TUPLE:
            parts = [self._attribute(each) for each in value]
            if kind is list:
                return f"[{', '.join(parts)}]"
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if hasattr(value, "plan"):
            if id(value) not in self._globals:
                name = self._globals[id(value)] = f"branch{len(self.branches)}"
                self.namespace[name] = value
                self.branches.append(value)
            return self._globals[id(value)]
        if isinstance(value, DType):
            return self._kernel(value.name, value)
        return self._global("a", value)

    def _value(self, tensor: Tensor) -> str:
        known = self.names.get(id(tensor))
        if known is not None:
            return known
        if isinstance(tensor, SymbolicTensor):
            raise errors.InvalidArgumentError(
                None,
                tensor.op,
                f"You must feed a value for placeholder tensor '{tensor.op.name}' with dtype "
                f"{tensor.dtype.name} and shape {tensor.shape}"
                if tensor.op.type == "Placeholder"
                else f"The tensor {tensor.name} is not computed in this graph.",
            )
        prefix = "v" if tensor.dtype.name == "resource" else "c"
        return self._global(prefix, tensor._array)

    def _global(self, prefix: str, value: Any) -> str:
        name = self._globals.get(id(value))
        if name is None:
            self._counts[prefix] = number = self._counts.get(prefix, -1) + 1
            name = f"{prefix}{number}"
            self._globals[id(value)] = name
            # The namespace holds a reference, so the id is not reused.
            self.namespace[name] = value
        return name


def _is_plain(text: str | bytes) -> bool:
    found = text if isinstance(text, str) else text.decode("latin-1")
    return _PLAIN_WORD.fullmatch(found) is not None


def _keyword(operation: Operation, name: str) -> str:
    """The name of an attribute, which is that of a kernel's parameter."""
    if _ATTRIBUTE_NAME.fullmatch(name) is None or keyword.iskeyword(name):
        raise errors.InvalidArgumentError(
            None, operation, f"The op {operation.type} has no attribute {name!r}."
        )
    return name
