"""`runnel.profile`: the slowest operations of a call, as a table in the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .events import Event, events_of, own_times
from .files import write_profile
from .recording import Recorder

_SHOWN = 20
_WIDEST_SHAPES = 60


@dataclass(frozen=True)
class Row:
    """All runs of one op with equal input shapes; times are self times in seconds.

    `share` is its fraction of the total time.
    """

    op: str
    calls: int
    total: float
    mean: float
    share: float
    engine: str
    shapes: str


class OpTable:
    """The profile of a call; printed as a table.

    Attributes:
        result: The return value of the call.
        seconds: The wall time of the call.
        rows: The operations, slowest first.
        peak_bytes: The peak resident memory among the samples; 0 if unknown.
    """

    def __init__(self, recorder: Recorder, result: Any) -> None:
        self._recorder = recorder
        self.result = result
        self.seconds = recorder.seconds
        self.rows = rows_of(events_of(recorder), self.seconds)
        self.peak_bytes = max((size for _, size in recorder.memory), default=0)

    def save(self, logdir: str) -> str:
        """Write the profile for TensorBoard and trace viewers; the folder of its files."""
        return write_profile(self._recorder, logdir)

    def __str__(self) -> str:
        return table_text(self.rows, self.seconds, self.peak_bytes)

    def __repr__(self) -> str:
        return f"<OpTable of {len(self.rows)} ops, {_time(self.seconds)}>"


def profile(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> OpTable:
    """Call a function once and print a table of its slowest operations.

    A `tf.function` is traced at its first call: call it once before to exclude tracing.

    >>> def step(x):
    ...     return tf.reduce_sum(tf.nn.relu(x @ x))
    >>> table = tf.profile(step, tf.ones([100, 100]))
    op calls total mean share engine shapes
    ...
    >>> sorted(row.op for row in table.rows)
    ['MatMul', 'Relu', 'Sum']
    >>> int(table.result)
    1000000

    Args:
        fn: The function to call.
        *args: Its arguments.
        **kwargs: Its arguments by name.

    Returns:
        An `OpTable`: the rows of the table, the function's result, and `save(logdir)`, which writes
        the profile as `tf.profiler.experimental.start` and `stop` do.
    """
    recorder = Recorder()
    recorder.start()
    try:
        result = fn(*args, **kwargs)
    finally:
        recorder.stop()
    table = OpTable(recorder, result)
    print(table)
    return table


def rows_of(events: Sequence[Event], seconds: float) -> list[Row]:
    """The operations aggregated by op, engine and shapes, slowest first."""
    times: dict[tuple[str, str, str], list[int]] = {}
    for event, own in own_times(events):
        times.setdefault((event.type, event.engine, event.inputs), []).append(own)
    rows = []
    for (op, engine, shapes), each in times.items():
        total = sum(each) / 1e9
        share = total / seconds if seconds else 0.0
        rows.append(Row(op, len(each), total, total / len(each), share, engine, shapes))
    return sorted(rows, key=lambda row: -row.total)


def table_text(rows: Sequence[Row], seconds: float, peak_bytes: int = 0) -> str:
    """The printed table: the slowest rows, and the total of the others."""
    lines = [("op", "calls", "total", "mean", "share", "engine", "shapes")]
    for row in rows[:_SHOWN]:
        shapes = row.shapes
        if len(shapes) > _WIDEST_SHAPES:
            shapes = shapes[: _WIDEST_SHAPES - 3] + "..."
        lines.append(_line(row.op, row.calls, row.total, row.share, row.engine, shapes))
    rest = rows[_SHOWN:]
    if rest:
        calls, total = sum(row.calls for row in rest), sum(row.total for row in rest)
        lines.append(_line(f"{len(rest)} more", calls, total, total / seconds, "", ""))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    texts = []
    for line in lines:
        # Names left-aligned, numbers right-aligned.
        cells = [
            text.rjust(width) if 1 <= i <= 4 else text.ljust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ]
        texts.append("  ".join(cells).rstrip())
    inside = sum(row.total for row in rows)
    share = f" ({inside / seconds:.0%})" if seconds else ""
    texts.append(f"in all {_time(seconds)}, of which {_time(inside)}{share} in ops")
    if peak_bytes:
        texts[-1] += f"; at most {peak_bytes / 1e6:.0f} MB of memory"
    return "\n".join(texts)


def _line(
    op: str, calls: int, total: float, share: float, engine: str, shapes: str
) -> tuple[str, str, str, str, str, str, str]:
    return (op, str(calls), _time(total), _time(total / calls), f"{share:.1%}", engine, shapes)


def _time(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.2f} ms"
    return f"{seconds * 1e6:.1f} µs"
