"""Recording of a profile, with minimal overhead.

Nothing is evaluated while the program runs: a record holds objects and times, which `events.py`
interprets afterwards. While nothing is being recorded there is no overhead: `execute`, the
operators, variable updates and plans run unmodified.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from threading import get_ident
from typing import Any

from ..compiler.plan import FAILURES, Plan
from ..core import errors
from ..core.context import state, tracebacks
from ..core.exchange import Exchange
from ..core.op import Op, execute
from ..core.tensor import Tensor
from ..core.variable import Variable
from ..ops.operators import go_direct
from ..runtime import engine_selection

clock = time.perf_counter_ns
_SECONDS_BETWEEN_SAMPLES = 0.03
_one_at_a_time = threading.Lock()


class Recorder:
    """A recorder of everything between `start()` and `stop()`.

    Attributes:
        notes: Tuples of the code that ran (an Op, a Plan, the name of a trace, a code object, a
            function of an engine), its begin, its end and its thread, then details.
        threads: The names of the threads by ID.
        memory: Pairs of a time and the resident bytes of the process.
        preparing: The time that the recorder spent compiling plans, in nanoseconds.
    """

    active: Recorder | None = None

    def __init__(self, operations: bool = True, python: bool = False) -> None:
        self.notes: list[tuple[Any, ...]] = []
        self.threads: dict[int, str] = {}
        self.memory: list[tuple[int, int]] = []
        self.begin = self.end = self.began_at = self.preparing = 0
        self._operations = operations
        self._python = python
        self._stopped = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="runnel profiler", daemon=True)

    def start(self) -> None:
        """Start recording; only one recorder can be active at a time."""
        with _one_at_a_time:
            if Recorder.active is not None:
                raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
            Recorder.active = self
        self._resident_bytes = ResidentBytes()
        self._sampler.start()
        self._exchanges = [Exchange(Plan.run, self._plan_watcher)]
        if self._operations:
            go_direct(False)
            self._exchanges.append(Exchange(Variable._update, self._update_watcher))
            self._exchanges.append(Exchange(execute, self._op_watcher))
            self._watch_engines()
        self._remember_memory()
        self.began_at, self.begin = time.time_ns(), clock()
        if self._python:
            tracer = self._python_tracer()
            threading.setprofile(tracer)
            sys.setprofile(tracer)

    def stop(self) -> None:
        """Stop recording; the instrumentation is removed."""
        self.end = clock()
        if self._python:
            sys.setprofile(None)
            threading.setprofile(None)
        for exchange in self._exchanges:
            exchange.undo()
        if self._operations:
            go_direct(True)
            self._leave_engines()
        self._stopped.set()
        self._sampler.join()
        self._remember_memory()
        self._resident_bytes.close()
        Recorder.active = None

    @property
    def seconds(self) -> float:
        """The recorded wall time."""
        return (self.end - self.begin - self.preparing) / 1e9

    def thread(self) -> int:
        """The ID of the current thread, whose name is recorded."""
        number = get_ident()
        if number not in self.threads:
            self.threads[number] = threading.current_thread().name
        return number

    def _op_watcher(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        # Local variables, not attributes: this is a hot path.
        note, thread, threads, number = self.notes.append, self.thread, self.threads, get_ident
        now, context, described = clock, state, _described

        def watcher(op: Op, inputs: Sequence[Any], attrs: dict[str, Any]) -> Any:
            if context.graph is not None:
                return execute(op, inputs, attrs)
            begin = now()
            result = execute(op, inputs, attrs)
            end = now()
            where = number()
            if where not in threads:
                thread()
            try:
                before = [(tensor.dtype, tensor._array.shape) for tensor in inputs]
                if op.single:
                    note((op, begin, end, where, before, ((result.dtype, result._array.shape),)))
                    return result
            except (AttributeError, TypeError, ValueError):
                before = described(inputs)
            note((op, begin, end, where, before, described((result,) if op.single else result)))
            return result

        return watcher

    def _update_watcher(self, update: Callable[..., Any]) -> Callable[..., Any]:
        note, thread = self.notes.append, self.thread

        def watcher(variable: Variable, op: Op, value: Tensor, read_value: bool) -> Any:
            if state.graph is not None:
                return update(variable, op, value, read_value)
            begin = clock()
            result = update(variable, op, value, read_value)
            note((op, begin, clock(), thread(), _described((value,)), []))
            return result

        return watcher

    def _plan_watcher(self, plain: Callable[..., Any]) -> Callable[..., Any]:
        note, thread, prepared = self.notes.append, self.thread, self._prepared

        def run(plan: Plan, *arrays: Any) -> Any:
            program = plan._timed
            if program is None:
                if plan.compiled:
                    return run_whole(plan, *arrays)
                program = prepared(plan)
            shapes = [getattr(array, "shape", None) for array in arrays]
            steps: list[tuple[Any, ...]] = []
            begin = clock()
            try:
                return program(steps.append, *arrays)
            except FAILURES as failure:
                raise plan.explained(failure) from tracebacks.cause(failure)
            finally:
                note((plan, begin, clock(), thread(), shapes, steps))

        def run_whole(plan: Plan, *arrays: Any) -> Any:
            begin = clock()
            try:
                return plain(plan, *arrays)
            finally:
                shapes = [getattr(array, "shape", None) for array in arrays]
                note((plan, begin, clock(), thread(), shapes, ()))

        return run if self._operations else run_whole

    def _prepared(self, plan: Plan) -> Callable[..., Any]:
        """The timed function of a plan; its compilation is excluded from the profile."""
        begin = clock()
        program = plan.timed
        end = clock()
        self.preparing += end - begin
        self.notes.append((f"preparing the profile of {plan.name}", begin, end, self.thread(), {}))
        return program

    def _watch_engines(self) -> None:
        """Record which engine computes a kernel; kernels select it at run time."""
        note, thread, find = self.notes.append, self.thread, engine_selection.find

        def watched(fast: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any) -> Any:
                result = fast(*arguments)
                if result is not None:
                    now = clock()
                    note((fast, now, now, thread()))
                return result

            return call

        def watched_find(name: str) -> Callable[..., Any] | None:
            fast = find(name)
            return None if fast is None else watched(fast)

        self._find = find
        engine_selection.find = watched_find
        engine_selection.reset_choices()

    def _leave_engines(self) -> None:
        engine_selection.find = self._find
        engine_selection.reset_choices()

    def _python_tracer(self) -> Callable[..., None]:
        note, thread = self.notes.append, self.thread
        running = threading.local()

        def tracer(frame: Any, event: str, argument: Any) -> None:
            if event == "call":
                calls = running.__dict__.setdefault("calls", [])
                calls.append((frame.f_code, clock()))
            elif event == "return":
                calls = running.__dict__.get("calls")
                # Functions that were already running when the recording started have no begin.
                if calls and calls[-1][0] is frame.f_code:
                    code, begin = calls.pop()
                    note((code, begin, clock(), thread()))

        return tracer

    def _sample(self) -> None:
        while not self._stopped.wait(_SECONDS_BETWEEN_SAMPLES):
            self._remember_memory()

    def _remember_memory(self) -> None:
        size = self._resident_bytes()
        if size:
            self.memory.append((clock(), size))


def _described(tensors: Sequence[Any]) -> list[tuple[Any, Any]]:
    """The dtypes and shapes of tensors; composites are omitted."""
    described = []
    for tensor in tensors:
        try:
            described.append((tensor.dtype, tensor._array.shape))
        except (AttributeError, TypeError, ValueError):
            continue
    return described


class ResidentBytes:
    """Measures the resident memory of the process; 0 if the system does not report it."""

    def __init__(self) -> None:
        # The file stays open: opening it takes ten times longer than reading.
        try:
            self._file = os.open("/proc/self/statm", os.O_RDONLY)
            self._page = os.sysconf("SC_PAGE_SIZE")
        except (OSError, AttributeError):
            self._file = -1

    def __call__(self) -> int:
        if self._file < 0:
            return 0
        return int(os.pread(self._file, 64, 0).split()[1]) * self._page

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
