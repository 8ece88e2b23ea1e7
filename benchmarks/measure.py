"""Measure one workload of one framework, and print the results as a line of JSON.

python benchmarks/measure.py runnel mlp_eager
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import inputs

# By framework: the module of its workloads, and the module to import.
FRAMEWORKS = {
    "runnel": ("with_tensorflow", "runnel"),
    "tf": ("with_tensorflow", "tensorflow"),
    "tf-legacy": ("with_tensorflow", "tensorflow"),
    "torch": ("with_torch", "torch"),
    "jax": ("with_jax", "jax"),
}
_MOST_ITERATIONS = 300


@dataclass(frozen=True)
class Work:
    """A prepared workload: its step, and the cleanup after it."""

    # The timed function. A returned number is a loss, by which frameworks are compared.
    step: Callable[[], Any]
    # Restores the state after a step, untimed.
    after: Callable[[], Any] | None = None
    # The number of operations by which the time of a step is divided.
    operations: int = 1


def prepared(framework: str, workload: str, sizes: inputs.Sizes) -> tuple[Work | None, str]:
    """The workload, None where the framework does not have it; the framework's version."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    if framework in ("tf", "tf-legacy"):
        os.environ["TF_USE_LEGACY_KERAS"] = "1" if framework == "tf-legacy" else "0"
    module, library = FRAMEWORKS[framework]
    tensors = importlib.import_module(library)
    version = getattr(tensors, "RUNNEL_VERSION", tensors.__version__)
    made = importlib.import_module(module).WORKLOADS.get(workload)
    if made is None:
        return None, version
    work = made(tensors, sizes)
    return work if isinstance(work, Work) else Work(work), version


def measured(work: Work, seconds: float) -> dict[str, Any]:
    """The first call, then the median of the calls after a short warm-up."""
    losses = []

    def once() -> float:
        begin = time.perf_counter()
        result = work.step()
        spent = time.perf_counter() - begin
        if work.after is not None:
            work.after()
        if isinstance(result, float):
            losses.append(result)
        return spent

    first = warming = once()
    for _ in range(3):
        if warming < 0.5:
            warming += once()
    gc.collect()
    times: list[float] = []
    before = time.process_time()
    while not times or (sum(times) < seconds and len(times) < _MOST_ITERATIONS):
        times.append(once())
    processor = time.process_time() - before
    return {
        "median": statistics.median(times) / work.operations,
        "fastest": min(times) / work.operations,
        "cpu": processor / len(times) / work.operations,
        "first": first,
        "iterations": len(times),
        "loss": losses[1] if len(losses) > 1 else None,
        "rss": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def smoke(workload: str) -> None:
    """Run one of Runnel's workloads twice with small sizes."""
    work, _ = prepared("runnel", workload, inputs.SMOKE)
    assert work is not None
    for _ in range(2):
        result = work.step()
        if isinstance(result, float) and not abs(result) < float("inf"):
            raise ArithmeticError(f"The loss of {workload} is {result}.")
        if work.after is not None:
            work.after()


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure one workload of one framework.")
    parser.add_argument("framework", choices=FRAMEWORKS)
    parser.add_argument("workload")
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    if options.framework == "runnel":
        # A source tree works without installation.
        sys.path.append(str(Path(__file__).parents[1]))
    work, version = prepared(options.framework, options.workload, inputs.FULL)
    result = {} if work is None else measured(work, options.seconds)
    print("\n" + json.dumps({**result, "version": version}))


if __name__ == "__main__":
    # The workloads import `Work` from the module of this name.
    sys.modules["measure"] = sys.modules["__main__"]
    main()
