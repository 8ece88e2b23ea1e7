"""The distance of a training step from the time of its oneDNN primitives alone.

    python benchmarks/floor.py cnn_graph mobilenetv2_train

Runs a step, records which primitives it ran on which arrays, and then runs each of these alone.
Their sum is the floor: the rest is NumPy's part of the step, and Runnel's overhead.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import measure  # noqa: E402
from inputs import FULL, SMOKE  # noqa: E402

import runnel as tf  # noqa: E402
from runnel import engines  # noqa: E402
from runnel.runtime import engine_selection  # noqa: E402

CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}

Call = tuple[str, Callable[[], Any]]


@contextlib.contextmanager
def noted() -> Iterator[list[Call]]:
    """The primitives and matmuls that run meanwhile: the kind of each, and how to run it again."""
    from runnel.engines.onednn import matmul, primitive

    calls: list[Call] = []
    run, multiply = primitive.Primitive.run_unclaimed, matmul.matmul

    def noting_run(self: Any, *arrays: Any) -> None:
        calls.append((name_of(self), lambda: run(self, *arrays)))
        run(self, *arrays)

    def noting_multiply(a: Any, b: Any) -> Any:
        before = len(calls)
        result = multiply(a, b)
        # Some run as primitives, which are recorded by themselves.
        del calls[before:]
        if result is not None:
            # Variables are updated in place, so the current values are copied.
            first, second = a.copy("K"), b.copy("K")
            calls.append(("product", lambda: multiply(first, second)))
        return result

    primitive.Primitive.run_unclaimed = noting_run  # type: ignore[method-assign]
    matmul.matmul = noting_multiply
    engine_selection.reset_choices()
    try:
        yield calls
    finally:
        primitive.Primitive.run_unclaimed = run  # type: ignore[method-assign]
        matmul.matmul = multiply
        engine_selection.reset_choices()


def name_of(wanted: Any) -> str:
    """The kind of a primitive from its cache key, alone or in a group; nested ones reorder."""
    from runnel.engines.onednn import primitive, updates

    for (_, key), kept in primitive._thread.primitives.items():
        passes = kept.passes if isinstance(kept, updates.Passes) else ()
        if kept is wanted or any(wanted is each for each, _ in passes):
            return str(key[0])
    return "reorder"


def fastest(
    runs: Sequence[Callable[[], Any]], repeats: int, clock: Callable[[], float]
) -> list[float]:
    """The minimum time of each, in seconds; interleaved, so that CPU load affects all alike."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(repeats):
        for run, found in zip(runs, times, strict=True):
            begin = clock()
            run()
            found.append(clock() - begin)
    return [min(found) for found in times]


def by_op(step: Callable[[], Any], rounds: int) -> dict[tuple[str, str], float]:
    """The seconds of each op and engine in one step, the median of several."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _ in range(rounds):
        with contextlib.redirect_stdout(io.StringIO()):
            table = tf.profile(step)
        total: Counter[tuple[str, str]] = Counter()
        for row in table.rows:
            total[row.op, row.engine] += row.total
        for key, seconds in total.items():
            found[key].append(seconds)
    return {key: statistics.median(times) for key, times in found.items()}


def show(workload: str, smoke: bool, clock: Callable[[], float]) -> None:
    """Print a workload's floor and its breakdown."""
    work, _ = measure.prepared("runnel", workload, SMOKE if smoke else FULL)
    assert work is not None
    for _ in range(3):
        work.step()
    with noted() as calls:
        work.step()
    runs = [work.step, *(run for _, run in calls)]
    whole, *times = fastest(runs, 2 if smoke else 10, clock)
    seconds: Counter[str] = Counter()
    for (name, _), spent in zip(calls, times, strict=True):
        seconds[name] += spent
    counts = Counter(name for name, _ in calls)
    floor = sum(seconds.values())
    print(f"### {workload}\n")
    print(f"The step takes {whole * 1e3:.2f} ms, its primitives alone {floor * 1e3:.2f} ms.\n")
    print("| primitive | calls | ms |\n| --- | ---: | ---: |")
    for name, spent in seconds.most_common():
        print(f"| {name} | {counts[name]} | {spent * 1e3:.2f} |")
    print("\n| op | engine | ms | share |\n| --- | --- | ---: | ---: |")
    ops = by_op(work.step, 1 if smoke else 5)
    inside = sum(ops.values())
    for (op, name), spent in sorted(ops.items(), key=lambda item: -item[1])[:14]:
        print(f"| {op} | {name} | {spent * 1e3:.2f} | {spent / inside:.0%} |")
    print(f"\nAll {len(ops)} kinds of ops: {inside * 1e3:.2f} ms, as the profiler sees them.\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("workloads", nargs="*", default=["cnn_graph", "mobilenetv2_train"])
    parser.add_argument("--smoke", action="store_true", help="small sizes, for a test")
    parser.add_argument("--threads", type=int, default=0, help="of oneDNN and BLAS; 0: all")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="cpu: where others use the machine, too"
    )
    options = parser.parse_args()
    engines.use_threads(options.threads)
    if engines.in_use() != "onednn":
        sys.exit("oneDNN is not in use: there is no floor of its primitives.")
    for workload in options.workloads:
        show(workload, options.smoke, CLOCKS[options.clock])


if __name__ == "__main__":
    main()
