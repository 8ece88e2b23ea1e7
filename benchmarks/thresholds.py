"""From which size on oneDNN is faster than NumPy, kernel by kernel.

    python benchmarks/thresholds.py

What `SMALLEST` in runnel/core/engine.py says comes from this. Times are the shortest of many calls,
which a busy machine disturbs least; the processor time, of all threads, is their mean. Where other
programs run, measure with one thread (--threads 1): primitives whose threads wait for each other
then cost milliseconds, whatever their size.
"""

from __future__ import annotations

import argparse
import fnmatch
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from runnel import engines
from runnel.core import engine
from runnel.ops.linalg.matmul import _dot
from runnel.ops.nn import (
    convolution_kernels,
    depthwise_kernels,
    normalization,
    pooling_kernels,
)
from runnel.ops.nn.windows import place_axis

SIZES = [1 << power for power in range(7, 18)]
# Height and width, and channels, of images; the batch makes up for the size.
IMAGES = ((4, 32), (8, 8), (16, 3), (28, 1))
ROWS = (8, 64, 256)
COLUMNS = (16, 128, 1024)


class Case(NamedTuple):
    """A call of a kernel; `array` is the first argument, whose size decides."""

    what: str
    numpy: Callable[..., Any]
    arguments: tuple[Any, ...]


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def images(size: int) -> Iterator[tuple[str, np.ndarray]]:
    for side, channels in IMAGES:
        batch = max(1, size // (side * side * channels))
        yield f"{side}x{side}x{channels}", random(batch, side, side, channels)


def convolutions(size: int, name: str) -> Iterator[Case]:
    kernel = getattr(convolution_kernels, name)
    for what, batch in images(size):
        depth = batch.shape[-1]
        filters = random(3, 3, depth, 16)
        axes = tuple(place_axis(side, 3, 1, 1, "SAME") for side in batch.shape[1:3])
        results = random(*batch.shape[:3], 16)
        arguments = {
            "convolve": (batch, filters, axes),
            "convolve_backprop_filters": (batch, results, filters.shape, axes),
            # The gradients come first here: as many elements in them.
            "convolve_backprop_images": (
                random(*batch.shape),
                random(3, 3, 16, depth),
                (*batch.shape[:3], 16),
                axes,
            ),
        }
        yield Case(what, kernel, arguments[name])


def depthwise(size: int, name: str) -> Iterator[Case]:
    kernel = getattr(depthwise_kernels, name)
    for what, batch in images(size):
        filters = random(3, 3, batch.shape[-1], 1)
        axes = tuple(place_axis(side, 3, 1, 1, "SAME") for side in batch.shape[1:3])
        arguments = {
            "convolve_depthwise": (batch, filters, axes),
            "backprop_depthwise_filters": (batch, random(*batch.shape), filters.shape, axes),
            "backprop_depthwise_images": (batch, filters, batch.shape, axes),
        }
        yield Case(what, kernel, arguments[name])


def poolings(size: int, name: str) -> Iterator[Case]:
    kernel = getattr(pooling_kernels, name)
    for what, batch in images(size):
        axes = tuple(place_axis(side, 2, 2, 1, "VALID") for side in batch.shape[1:3])
        gradients = pooling_kernels.average_pool(batch, axes)
        count, height, width, depth = batch.shape
        arguments = {
            "average_pool": (batch, axes),
            "average_pool_backprop": (
                random(count, height, width, depth),
                (count, 2 * height, 2 * width, depth),
                tuple(place_axis(2 * side, 2, 2, 1, "VALID") for side in (height, width)),
            ),
            "max_pool_backprop": (batch, pooling_kernels.max_pool(batch, axes), gradients, axes),
        }
        yield Case(what, kernel, arguments[name])


def normalizations(size: int, name: str) -> Iterator[Case]:
    for what, batch in images(size):
        layout = normalization._Layout(batch.shape, "NHWC")
        rows, vector = layout.of(batch), np.ones(batch.shape[-1:], np.float32)
        if name == "batch_norm":
            arguments = (rows, vector, vector, 1e-3, layout)
            yield Case(what, normalization._by_channel, arguments)
        else:
            arguments = (rows, rows * 2, vector, vector, vector, 1e-3, layout)
            yield Case(what, normalization._back_by_channel, arguments)


def products(size: int, name: str) -> Iterator[Case]:
    for rows in ROWS:
        for columns in COLUMNS:
            inner = size // rows
            if inner:
                yield Case(
                    f"{rows}x?x{columns}", _dot, (random(rows, inner), random(inner, columns))
                )


CASES = {
    "average_pool": poolings,
    "average_pool_backprop": poolings,
    "backprop_depthwise_filters": depthwise,
    "backprop_depthwise_images": depthwise,
    "batch_norm": normalizations,
    "batch_norm_backprop": normalizations,
    "convolve": convolutions,
    "convolve_backprop_filters": convolutions,
    "convolve_backprop_images": convolutions,
    "convolve_depthwise": depthwise,
    "matmul": products,
    "max_pool_backprop": poolings,
}


def timed(call: Callable[[], Any], seconds: float) -> tuple[float, float]:
    """The shortest time of a call and the mean of its processor time, in microseconds."""
    call()
    times: list[float] = []
    before, end = time.process_time(), time.perf_counter() + seconds
    while len(times) < 5 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return min(times) * 1e6, (time.process_time() - before) / len(times) * 1e6


def compare(name: str, seconds: float, every: bool) -> int | None:
    """The size from which on oneDNN is faster, single channels left out; None: there is none."""
    fast = engine.find(name)
    assert fast is not None
    faster: dict[int, list[bool]] = {}
    for size in SIZES:
        for case in CASES[name](size, name):
            engine.pool.to_engine()
            if fast(*case.arguments) is None:
                continue
            ours = timed(lambda case=case: fast(*case.arguments), seconds)
            # Products are oneDNN's only while it has the processors; the rest BLAS would have.
            if name != "matmul":
                engine.pool.to_blas()
            engines_own = choice_of(case.numpy)
            kept, engines_own.fast = engines_own.fast, None
            theirs = timed(lambda case=case: case.numpy(*case.arguments), seconds)
            engines_own.fast = kept
            elements = case.arguments[0].size
            # A single channel is printed but not counted: with it some kernels lose at every size.
            if name == "matmul" or not case.what.endswith("x1"):
                faster.setdefault(size, []).append(ours[0] <= theirs[0])
            if every:
                numbers = f"{ours[0]:9.1f} {theirs[0]:9.1f} {ours[1]:9.1f} {theirs[1]:9.1f}"
                print(f"{name:<27} {case.what:<12} {elements:>8} {numbers}", flush=True)
    found = None
    for size in reversed(faster):
        if not all(faster[size]):
            break
        found = size
    return found


def choice_of(kernel: Any) -> Any:
    """The place where a kernel keeps the engine's function."""
    cells = (cell.cell_contents for cell in kernel.__closure__)
    return next(each for each in cells if isinstance(each, engine.Choice))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="*", help="kernels to measure: patterns with commas")
    parser.add_argument("--seconds", type=float, default=0.02, help="measuring time of a case")
    parser.add_argument("--threads", type=int, default=0, help="of oneDNN and BLAS; 0: all")
    parser.add_argument("--every", action="store_true", help="print every case, in microseconds")
    options = parser.parse_args()
    if engines.in_use() != "onednn":
        sys.exit("oneDNN is not in use: there is nothing to compare.")
    engines.use_threads(options.threads)
    if options.every:
        print(f"{'kernel':<27} {'shape':<12} {'elements':>8}    oneDNN     NumPy  and their CPU")
    for name in CASES:
        if any(fnmatch.fnmatch(name, pattern) for pattern in options.only.split(",")):
            found = compare(name, options.seconds, options.every)
            word = "no size on" if found is None else found
            print(f"{name:<27} from {word} (now {engine.SMALLEST[name]})", flush=True)


if __name__ == "__main__":
    main()
