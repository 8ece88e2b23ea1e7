"""The files of a profile: an XSpace for TensorBoard, and a trace for browsers' trace viewers."""

from __future__ import annotations

import gzip
import json
import os
import socket
import time
from collections.abc import Sequence
from typing import Any

from ..formats.paths import local, refusal
from ..formats.xplane import Plane, Value, encoded_space
from .events import OPERATION, Event, events_of
from .recording import Recorder


def run_name() -> str:
    """The name of a profile: a timestamp."""
    return time.strftime("%Y_%m_%d_%H_%M_%S")


def profiles_folder(logdir: str) -> str:
    """The folder of profiles that TensorBoard reads."""
    return os.path.join(local(logdir), "plugins", "profile")


def write_profile(recorder: Recorder, logdir: str) -> str:
    """Write the files of a profile into a new folder below `logdir/plugins/profile`; the folder."""
    host = socket.gethostname()
    folder = first = os.path.join(profiles_folder(logdir), run_name())
    number = 1
    # Profiles taken in the same second get different folders.
    while os.path.exists(os.path.join(folder, f"{host}.xplane.pb")):
        number += 1
        folder = f"{first}_{number}"
    write_files(recorder, folder, host)
    return folder


def write_files(recorder: Recorder, folder: str, host: str) -> None:
    """Write the XSpace and the trace of a profile."""
    events = events_of(recorder)
    try:
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, f"{host}.xplane.pb"), "wb") as file:
            file.write(space(recorder, events, host))
        with gzip.open(os.path.join(folder, f"{host}.trace.json.gz"), "wt", 5) as text:
            json.dump(chrome_trace(recorder, events, host), text, separators=(",", ":"))
    except OSError as failure:
        raise refusal(failure, failure.filename or folder) from failure


def space(recorder: Recorder, events: Sequence[Event], host: str) -> bytes:
    """The profile as an XSpace."""
    plane = Plane("/host:CPU")
    lines: dict[int, list[bytes]] = {number: [] for number in recorder.threads}
    for event in events:
        name = f"{event.name}:{event.type}" if event.kind == OPERATION else event.name
        begin = max(event.begin - recorder.begin, 0)
        stats = {key: _value(value) for key, value in _facts(event).items()}
        lines[event.thread].append(plane.event(name, event.type, begin, event.nanoseconds, stats))
    for row, (number, encoded) in enumerate(lines.items(), start=1):
        plane.add_line(row, recorder.threads[number], encoded)
    plane.add_line(len(lines) + 1, "memory", _memory(recorder, plane))
    environment = Plane("Task Environment")
    environment.add_stat("profile_start_time", recorder.began_at)
    environment.add_stat("profile_stop_time", recorder.began_at + recorder.end - recorder.begin)
    return encoded_space([plane, environment], host)


def _memory(recorder: Recorder, plane: Plane) -> list[bytes]:
    """The memory samples of the process, as the allocations that TensorBoard plots."""
    events = []
    before = peak = 0
    for when, size in recorder.memory:
        peak = max(peak, size)
        stats: dict[str, Value] = {
            "allocator_name": "process",
            "bytes_allocated": size,
            "peak_bytes_in_use": peak,
            "requested_bytes": abs(size - before),
            "allocation_bytes": abs(size - before),
        }
        name = "MemoryAllocation" if size >= before else "MemoryDeallocation"
        events.append(plane.event(name, "", max(when - recorder.begin, 0), 0, stats))
        before = size
    return events


def chrome_trace(recorder: Recorder, events: Sequence[Event], host: str) -> dict[str, Any]:
    """The profile in the Trace Event Format of browsers' trace viewers; times in microseconds."""
    process = os.getpid()
    entries: list[dict[str, Any]] = [_named(process, 0, "process_name", f"{host} (CPU)")]
    # Small numbers, in order of appearance, are more readable than the system's thread IDs.
    rows = {number: row for row, number in enumerate(recorder.threads, start=1)}
    for number, row in rows.items():
        entries.append(_named(process, row, "thread_name", recorder.threads[number]))
    for event in events:
        entry = {
            "ph": "X",
            "pid": process,
            "tid": rows[event.thread],
            "name": event.name,
            "cat": event.kind,
            "ts": max(event.begin - recorder.begin, 0) / 1000,
            "dur": event.nanoseconds / 1000,
        }
        facts = _facts(event)
        if facts:
            entry["args"] = {key: _value(value) for key, value in facts.items()}
        entries.append(entry)
    for when, size in recorder.memory:
        entries.append(
            {
                "ph": "C",
                "pid": process,
                "name": "memory",
                "ts": max(when - recorder.begin, 0) / 1000,
                "args": {"resident MB": round(size / 1e6, 1)},
            }
        )
    return {"displayTimeUnit": "ns", "traceEvents": entries}


def _named(process: int, row: int, what: str, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": row, "name": what, "args": {"name": name}}


def _facts(event: Event) -> dict[str, Any]:
    if event.kind != OPERATION:
        return event.details
    facts = {
        "op": event.type,
        "engine": event.engine,
        "tensor_shapes": event.inputs,
        "output_shapes": event.outputs,
        "output_bytes": event.output_bytes,
    }
    return {key: value for key, value in facts.items() if value}


def _value(value: Any) -> Value:
    return value if isinstance(value, str | int | float) else str(value)
