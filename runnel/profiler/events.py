"""Events: a recorder's raw records as events with thread, times and shapes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from ..compiler.plan import Plan
from ..core.op import Op
from ..core.tensor import SymbolicTensor
from .recording import Recorder

OPERATION, FUNCTION, TRACE, PYTHON = "operation", "function", "trace", "python"
_ENGINE = "engine"
_NAMES = {"onednn": "oneDNN", "xla": "XLA"}


@dataclass(slots=True)
class Event:
    """An event on a thread from `begin` to `end`, in nanoseconds of the clock.

    `kind` is "operation", "function" (a run of a traced function), "trace" (a `Trace` of the user)
    or "python"; operations also have a type, an engine, the shapes of their inputs and outputs.
    """

    name: str
    kind: str
    thread: int
    begin: int
    end: int
    type: str = ""
    engine: str = ""
    inputs: str = ""
    outputs: str = ""
    output_bytes: int = 0
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def nanoseconds(self) -> int:
        return self.end - self.begin


def events_of(recorder: Recorder) -> list[Event]:
    """All events in order of their begin; enclosing events precede nested ones."""
    found: list[Event] = []
    for what, begin, end, thread, *rest in recorder.notes:
        if isinstance(what, Plan):
            found.append(Event(what.name, FUNCTION, thread, begin, end))
            if what.compiled:
                found.append(_compiled(what, thread, begin, end, rest[0]))
            found.extend(_of_plan(what, thread, *rest))
        elif isinstance(what, Op):
            inputs, outputs = rest
            found.append(_operation(what.name, what, thread, begin, end, inputs, outputs))
        elif isinstance(what, CodeType):
            name = getattr(what, "co_qualname", what.co_name)
            place = {"file": what.co_filename, "line": what.co_firstlineno}
            found.append(Event(name, PYTHON, thread, begin, end, details=place))
        elif isinstance(what, FunctionType):
            found.append(Event(_engine_of(what), _ENGINE, thread, begin, end))
        else:
            found.append(Event(what, TRACE, thread, begin, end, details=rest[0]))
    found.sort(key=lambda event: (event.begin, -event.end))
    _number_steps(found)
    return _with_engines(found)


def _number_steps(events: Sequence[Event]) -> None:
    """Mark the steps of Keras's training, unless the user has marked enclosing steps."""
    number = end = 0
    for event in events:
        if event.kind == TRACE and event.details.get("_r"):
            end = max(end, event.end)
        elif event.kind == FUNCTION and event.name == "train_step" and event.begin >= end:
            number += 1
            event.details.update(_r=1, step_num=number)


def _engine_of(function: FunctionType) -> str:
    """The engine of a function: given by its module's folder."""
    parts = function.__module__.split(".")
    return next((name for part, name in _NAMES.items() if part in parts), "NumPy")


def _with_engines(events: list[Event]) -> list[Event]:
    """The operations annotated with their engines, in place of separate engine events."""
    running: dict[int, list[Event]] = {}
    for event in events:
        around = running.setdefault(event.thread, [])
        while around and around[-1].end <= event.begin:
            around.pop()
        if event.kind == OPERATION:
            around.append(event)
        elif event.kind == _ENGINE and around:
            around[-1].engine = event.name
    return [event for event in events if event.kind != _ENGINE]


def own_times(events: Sequence[Event]) -> list[tuple[Event, int]]:
    """Each operation with its self time in nanoseconds, excluding nested operations."""
    own: dict[int, int] = {}
    running: dict[int, list[tuple[int, Event]]] = {}
    operations = [event for event in events if event.kind == OPERATION]
    for index, event in enumerate(operations):
        own[index] = event.nanoseconds
        around = running.setdefault(event.thread, [])
        while around and around[-1][1].end <= event.begin:
            around.pop()
        if around:
            own[around[-1][0]] -= event.nanoseconds
        around.append((index, event))
    return [(event, own[index]) for index, event in enumerate(operations)]


def _operation(
    name: str, op: Op, thread: int, begin: int, end: int,
    inputs: Sequence[tuple[Any, Any]], outputs: Sequence[tuple[Any, Any]],
) -> Event:  # fmt: skip
    return Event(
        name,
        OPERATION,
        thread,
        begin,
        end,
        op.name,
        "NumPy",
        _text(inputs),
        _text(outputs),
        sum(_bytes(dtype, shape) for dtype, shape in outputs),
    )


def _compiled(plan: Plan, thread: int, begin: int, end: int, shapes: Sequence[Any]) -> Event:
    """A function compiled by XLA: one operation, under the original's name."""
    types = [feed.dtype for feed in plan.feeds]
    inputs = _text(list(zip(types, shapes, strict=False)))
    return Event(plan.name, OPERATION, thread, begin, end, "XlaLaunch", "XLA", inputs)


def _of_plan(
    plan: Plan, thread: int, feeds: Sequence[Any], steps: Sequence[tuple[Any, ...]]
) -> Iterator[Event]:
    known = {id(t): shape for t, shape in zip(plan.feeds, feeds, strict=False)}
    for line, begin, end, *shapes in steps:
        operation = plan.operation_at(line)
        if shapes:
            known.update(
                (id(output), shape)
                for output, shape in zip(operation.outputs, shapes[0], strict=False)
            )
        inputs = [(tensor.dtype, _shape(tensor, known)) for tensor in operation.inputs]
        outputs = [(tensor.dtype, _shape(tensor, known)) for tensor in operation.outputs]
        yield _operation(operation.name, operation.op, thread, begin, end, inputs, outputs)


def _shape(tensor: Any, known: dict[int, Any]) -> Any:
    """The run-time shape if it was recorded, else the static one; None: unknown."""
    if id(tensor) in known:
        return known[id(tensor)]
    shape = tensor.shape
    if shape.rank is not None and shape.is_fully_defined():
        return tuple(shape.as_list())
    if isinstance(tensor, SymbolicTensor) and tensor.op.op.alias:
        return _shape(tensor.op.inputs[tensor.index], known)
    return None if shape.rank is None else tuple(shape.as_list())


def _text(tensors: Sequence[tuple[Any, Any]]) -> str:
    return ", ".join(
        f"{dtype.name}[{'?' if shape is None else ','.join(map(_size, shape))}]"
        for dtype, shape in tensors
        if dtype.name not in ("resource", "variant")
    )


def _size(size: Any) -> str:
    return "?" if size is None else str(size)


def _bytes(dtype: Any, shape: Any) -> int:
    if shape is None or None in shape or dtype.name in ("string", "resource", "variant"):
        return 0
    return int(math.prod(shape)) * int(dtype.size)
