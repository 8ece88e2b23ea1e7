"""The profiler's gRPC service: profiling of a running program on request.

The service, its methods and messages are TensorFlow's (`profiler_service.proto`), so that this
server works with its client and TensorBoard's "capture profile", and this client with the
original's server.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ..core import errors
from ..formats.xplane import bytes_field, number_field
from .events import events_of
from .files import write_files
from .recording import Recorder
from .session import ProfilerOptions, recorder_with
from .table import rows_of, table_text

_SERVICE = "tensorflow.ProfilerService"
# Servers live as long as the process.
_servers: dict[int, Any] = {}


def start_server(port: int) -> None:
    """Serve profiles of this program on a port, until it exits."""
    if isinstance(port, bool) or not isinstance(port, int):
        raise TypeError(f"port must be an int, got {port!r}.")
    if port in _servers:
        return
    import grpc

    methods = {
        "Profile": grpc.unary_unary_rpc_method_handler(_profile),
        "Monitor": grpc.unary_unary_rpc_method_handler(_monitor),
    }
    server = grpc.server(ThreadPoolExecutor(1, "runnel profiler server"))
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler(_SERVICE, methods)])
    try:
        server.add_insecure_port(f"[::]:{port}")
    except RuntimeError as failure:
        raise errors.UnavailableError(
            None, None, f"The profiler cannot listen on port {port}: {failure}"
        ) from failure
    server.start()
    _servers[port] = server


def _profile(request: bytes, context: Any) -> bytes:
    """Record for the requested duration; write the files; respond whether there were any events."""
    import grpc

    fields = dict(_fields(request))
    options = dict(_fields(fields.get(4, b"")))
    chosen = ProfilerOptions(options.get(2, 2), options.get(4, 0), options.get(3, 1))
    wait = max(options.get(8, 0) - time.time_ns(), 0) / 1e9
    time.sleep(min(wait, 60))
    try:
        recorder = _recorded(fields.get(1, 0) or options.get(9, 0) or 1000, chosen)
        if recorder.notes and 5 in fields:
            run, host = _plain_name(fields.get(6, b"")), _plain_name(fields.get(7, b""))
            write_files(recorder, os.path.join(fields[5].decode(), run), host)
    except errors.OpError as failure:
        code = getattr(grpc.StatusCode, type(failure).__name__.removesuffix("Error").upper(), None)
        context.abort(code or grpc.StatusCode.UNKNOWN, failure.message)
    return number_field(7, not recorder.notes)


def _monitor(request: bytes, context: Any) -> bytes:
    """Record for the requested duration; respond with the table of the slowest operations."""
    import grpc

    fields = dict(_fields(request))
    try:
        recorder = _recorded(fields.get(1, 0) or 1000, ProfilerOptions())
    except errors.AlreadyExistsError as failure:
        context.abort(grpc.StatusCode.ALREADY_EXISTS, failure.message)
    rows = rows_of(events_of(recorder), recorder.seconds)
    return bytes_field(1, table_text(rows, recorder.seconds) + "\n")


def _recorded(milliseconds: int, options: ProfilerOptions) -> Recorder:
    recorder = recorder_with(options)
    recorder.start()
    try:
        time.sleep(milliseconds / 1000)
    finally:
        recorder.stop()
    return recorder


def _plain_name(text: bytes) -> str:
    """A file or folder name from a request, without path components."""
    return re.sub(r"[^\w.-]", "_", text.decode()).lstrip(".") or "profile"


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """The fields of a protocol message: numbers, and bytes."""
    place = 0

    def number() -> int:
        nonlocal place
        value = shift = 0
        while True:
            group = message[place]
            place += 1
            value |= (group & 0x7F) << shift
            shift += 7
            if group < 0x80:
                return value

    while place < len(message):
        key = number()
        kind = key & 7
        if kind == 0:
            yield key >> 3, number()
        else:
            length = {1: 8, 5: 4}.get(kind) or number()
            yield key >> 3, message[place : place + length]
            place += length


def request_profile(
    address: str, folder: str, run: str, milliseconds: int, options: ProfilerOptions
) -> bool:
    """Request a server to record and to write into `folder/run`; whether there were any events."""
    asked = [
        number_field(5, 1),
        number_field(2, options.host_tracer_level),
        number_field(3, options.device_tracer_level),
        number_field(4, options.python_tracer_level),
        number_field(9, milliseconds),
    ]
    if options.delay_ms:
        asked.append(number_field(8, time.time_ns() + options.delay_ms * 1_000_000))
    request = b"".join(
        [
            number_field(1, milliseconds),
            bytes_field(4, b"".join(asked)),
            bytes_field(5, folder),
            bytes_field(6, run),
            bytes_field(7, address),
        ]
    )
    answer = dict(_fields(_call("Profile", address, request, milliseconds + 60_000)))
    return not answer.get(7, 0)


def request_summary(address: str, milliseconds: int, level: int) -> str:
    """Request a summary of the operations that a server runs."""
    request = number_field(1, milliseconds) + number_field(2, level)
    answer = dict(_fields(_call("Monitor", address, request, milliseconds + 60_000)))
    return str(answer.get(1, b"").decode())


def _call(method: str, address: str, request: bytes, milliseconds: int) -> bytes:
    import grpc

    with grpc.insecure_channel(address) as channel:
        try:
            answer: bytes = channel.unary_unary(f"/{_SERVICE}/{method}")(
                request, timeout=milliseconds / 1000
            )
        except grpc.RpcError as failure:
            raise RuntimeError(f"{failure.code().name}: {failure.details()}") from None
    return answer
