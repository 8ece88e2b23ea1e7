"""The size above which oneDNN is faster than NumPy, kernel by kernel.

    python benchmarks/thresholds.py

The thresholds in `SMALLEST` in runnel/runtime/engine_selection.py come from this. The two are
interleaved, and oneDNN counts as faster where both its minimum and its median time are lower. No
other programs may run meanwhile: primitives whose threads wait for a core cost milliseconds,
whatever their size. A kernel is measured with oneDNN's threads and, unless it leaves that case to
NumPy, single-threaded, as it runs while BLAS owns the cores.
"""

from __future__ import annotations

import argparse
import fnmatch
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import ml_dtypes
import numpy as np

from runnel import engines
from runnel.ops.array import joining
from runnel.ops.image import resizing
from runnel.ops.linalg.matmul import product_of, products_of, products_of_halves
from runnel.ops.math import elementwise, many_numbers, special, trigonometry
from runnel.ops.nn import (
    activation,
    bias,
    convolution_kernels,
    depthwise_kernels,
    gated_kernels,
    normalization,
    pooling_kernels,
    recurrent_kernels,
    softmax,
)
from runnel.ops.nn.windows import place_axis
from runnel.runtime import engine_selection, half_precision

SIZES = [1 << power for power in range(8, 22)]
# Height and width, and channels, of images; the batch size makes up the total.
IMAGES = ((4, 32), (8, 8), (16, 3), (28, 1))
ROWS = (8, 64, 256)
COLUMNS = (16, 128, 1024)
# Rows of the states of recurrent layers.
BATCHES = (1, 8, 32)
# Rows, columns and the inner dimension of each matmul of a batch.
PRODUCTS = ((32, 32, 32), (64, 64, 16), (64, 16, 64), (128, 128, 64))
# The lengths of normalized rows.
LENGTHS = (16, 64, 512)
ROUNDS = 3
# The threads of BLAS spin for a tenth of a second before they release their core, and oneDNN's
# chunk on it waits for that.
PAUSE = 0.3


class Case(NamedTuple):
    """A call of a kernel, keyed by the size of its first argument."""

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
            # The upstream gradients come first here: they have as many elements.
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
            "max_pool": (batch, axes),
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


def by_channels(size: int, name: str) -> Iterator[Case]:
    """Images, and vectors that scale their channels."""
    for what, batch in images(size):
        channels = batch.shape[-1]
        rows, vector = batch.reshape(-1, channels), random(channels)
        narrow = rows.astype(ml_dtypes.bfloat16)
        if name == "scale_channels":
            for each in (rows, narrow):
                arguments = (each, None, vector, vector)
                yield Case(f"{what} {each.dtype}", normalization._scaled_channels, arguments)
        elif name == "bias_add":
            yield Case(what, bias._biased, (rows, vector))
        else:
            yield Case(what, bias._biased_halves, (narrow, vector.astype(narrow.dtype)))


def layers(size: int, name: str) -> Iterator[Case]:
    for length in LENGTHS:
        count = max(1, size // length)
        images = random(1, count, length)
        layout = normalization._Layout((1, count, length, 1), "NCHW")
        ones, zeros = np.ones(count, np.float32), np.zeros(count, np.float32)
        yield Case(f"?x{length}", normalization._by_row, (images, ones, zeros, 1e-3, layout))


def rows(size: int, name: str) -> Iterator[Case]:
    kernel = {"softmax": softmax._by_row, "log_softmax": softmax._logarithm_by_row}[name]
    for length in LENGTHS:
        yield Case(f"?x{length}", kernel, (random(max(1, size // length), length),))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": many_numbers.exponential,
    "sigmoid": elementwise.Sigmoid.kernel,
}
SLOPES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "elu_backprop": (activation.EluGrad.kernel, activation.Elu.kernel),
    "relu6_backprop": (activation.Relu6Grad.kernel, activation.Relu6.kernel),
    "relu_backprop": (activation.ReluGrad.kernel, activation.Relu.kernel),
    "sigmoid_backprop": (elementwise.SigmoidGrad.kernel, elementwise.Sigmoid.kernel),
    "tanh_backprop": (trigonometry.TanhGrad.kernel, trigonometry.Tanh.kernel),
}


def functions(size: int, name: str) -> Iterator[Case]:
    array = random(size)
    if name in SLOPES:
        slope, function = SLOPES[name]
        values = function(array)
        by_value = name in ("sigmoid_backprop", "tanh_backprop")
        yield Case("vector", slope, (values, array) if by_value else (array, values))
    elif name == "leaky_relu":
        yield Case("vector", activation._leaky, (array, np.float32(0.2)))
    elif name == "elu":
        yield Case("vector", activation._elu, (array, 1.0))
    elif name == "erfc":
        fit = many_numbers._STEEPNESS, many_numbers._LOG_ERFCX
        yield Case("vector", lambda x, *_: special.Erfc.kernel(x), (array, *fit))
    elif name == "binary":
        yield Case("vector", lambda x, y, _: np.add(x, y), (array, random(size), "add"))
    elif name == "half_binary":
        array = array.astype(ml_dtypes.bfloat16)
        add = half_precision._by_way_of_float32(np.add, "add")
        yield Case("vector", lambda x, y, _: add(x, y), (array, array, "add"))
    elif name == "narrow":
        yield Case("vector", half_precision.rounded_to_half, (array, np.dtype(ml_dtypes.bfloat16)))
    else:
        yield Case("vector", FUNCTIONS[name], (array,))


def resizings(size: int, name: str) -> Iterator[Case]:
    kernel = {
        "resize_bilinear": resizing._resize_between_centers,
        "resize_nearest": resizing._pick_by_centers,
        "resize_nearest_backprop": resizing._give_by_centers,
    }[name]
    for what, batch in images(size):
        _, height, width, _ = batch.shape
        factor = 0.5 if name.endswith("backprop") else 2
        yield Case(what, kernel, (batch, int(height * factor), int(width * factor)))
        if name == "resize_bilinear":
            pixels = (np.abs(batch) * 50).astype(np.uint8)
            yield Case(f"{what} bytes", kernel, (pixels, height // 2, width // 2))


def joinings(size: int, name: str) -> Iterator[Case]:
    for what, batch in images(size):
        arrays = [batch, random(*batch.shape)]
        yield Case(what, joining._joined, (batch, arrays, 3))


def products(size: int, name: str) -> Iterator[Case]:
    for count in ROWS:
        for columns in COLUMNS:
            inner = size // count
            if inner:
                yield Case(
                    f"{count}x?x{columns}",
                    product_of,
                    (random(count, inner), random(inner, columns)),
                )


def halves(size: int, name: str) -> Iterator[Case]:
    for case in products(size, name):
        a, b = (array.astype(ml_dtypes.bfloat16) for array in case.arguments)
        yield Case(case.what, products_of_halves, (a, b))


def batches(size: int, name: str) -> Iterator[Case]:
    """Batched matmuls of this many matrices, as in attention: eight heads."""
    for rows, columns, inner in PRODUCTS:
        count = max(1, size // (rows * inner * 8))
        a = random(count, rows, 8, inner).swapaxes(1, 2)
        b = random(count, columns, 8, inner).transpose(0, 2, 3, 1)
        yield Case(f"?x{rows}x{inner}x{columns}", products_of, (a, b))


def recurrences(size: int, name: str) -> Iterator[Case]:
    """Twenty steps of as many inputs as units, with about this many elements of the weights."""
    is_lstm = name.startswith("lstm")
    gates, states = (4, 2) if is_lstm else (3, 1)
    units = int((size / gates) ** 0.5)
    columns = gates * units
    bias = random(columns) if is_lstm else random(2, columns)
    there = recurrent_kernels.lstm if is_lstm else gated_kernels.gru
    back = recurrent_kernels.lstm_backprop if is_lstm else gated_kernels.gru_backprop
    for batch in BATCHES:
        weights = random(units, columns), random(units, columns), bias
        given = (*weights, random(20, batch, units), *(random(batch, units),) * states)
        what = f"batch {batch}"
        if not name.endswith("backprop"):
            yield Case(what, there, (*given, True))
            continue
        # Each gets its own saved values.
        with only_numpy():
            for_numpy = there(*given, True)
        fast = engine_selection.find("lstm" if is_lstm else "gru")
        assert fast is not None
        nothing = (np.empty(0, np.float32),) * (states - 1)
        rest = np.empty(0, np.float32), random(batch, units), *nothing, True
        arguments = (*given, *fast(*given, True), *rest)
        own = (*given, *for_numpy, *rest)
        yield Case(what, lambda *_, own=own, back=back: back(*own), arguments)


CASES = {
    "average_pool": poolings,
    "average_pool_backprop": poolings,
    "backprop_depthwise_filters": depthwise,
    "backprop_depthwise_images": depthwise,
    "batch_matmul": batches,
    "batch_norm": normalizations,
    "batch_norm_backprop": normalizations,
    "bias_add": by_channels,
    "binary": functions,
    "concatenate": joinings,
    "convolve": convolutions,
    "convolve_backprop_filters": convolutions,
    "convolve_backprop_images": convolutions,
    "convolve_depthwise": depthwise,
    "elu": functions,
    "elu_backprop": functions,
    "erfc": functions,
    "exp": functions,
    "gru": recurrences,
    "gru_backprop": recurrences,
    "half_bias_add": by_channels,
    "half_binary": functions,
    "half_matmul": halves,
    "layer_norm": layers,
    "leaky_relu": functions,
    "log_softmax": rows,
    "lstm": recurrences,
    "lstm_backprop": recurrences,
    "matmul": products,
    "max_pool": poolings,
    "max_pool_backprop": poolings,
    "narrow": functions,
    "relu6_backprop": functions,
    "relu_backprop": functions,
    "resize_bilinear": resizings,
    "resize_nearest": resizings,
    "resize_nearest_backprop": resizings,
    "scale_channels": by_channels,
    "sigmoid": functions,
    "sigmoid_backprop": functions,
    "softmax": rows,
    "tanh_backprop": functions,
}
# Kernels that claim the thread pool when they run; the others run without claiming it.
HEAVY = (
    "average_pool", "backprop_depthwise", "batch_", "convolve", "gru", "half_", "lstm", "matmul",
    "max_pool",
)  # fmt: skip


class Times(NamedTuple):
    """The minimum and the median time of a call, in microseconds."""

    least: float
    middle: float

    @classmethod
    def of(cls, seconds: list[float]) -> Times:
        return cls(min(seconds) * 1e6, statistics.median(seconds) * 1e6)

    def at_most(self, other: Times) -> bool:
        return self.least <= other.least and self.middle <= other.middle


@contextmanager
def only_numpy() -> Iterator[None]:
    """Run every kernel in NumPy meanwhile."""
    kept = [choice.fast for choice in engine_selection._choices]
    for choice in engine_selection._choices:
        choice.fast = None
    try:
        yield
    finally:
        for choice, fast in zip(engine_selection._choices, kept, strict=True):
            choice.fast = fast


def timed(call: Callable[[], Any], seconds: float) -> list[float]:
    """The times of calls for a while, without the first one, which warms the caches."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
    return times


def in_turns(
    name: str, cases: list[Case], shared: bool, seconds: float
) -> list[tuple[Times, Times] | None]:
    """Interleaved times of oneDNN and of NumPy for each call; None where oneDNN lacks it."""
    fast = engine_selection.find(name)
    assert fast is not None
    ours: list[list[float]] = [[] for _ in cases]
    theirs: list[list[float]] = [[] for _ in cases]
    for _ in range(ROUNDS):
        engine_selection.pool.give_to_engine() if shared else engine_selection.pool.give_to_blas()
        time.sleep(PAUSE)
        for case, times in zip(cases, ours, strict=True):
            if fast(*case.arguments) is not None:
                times += timed(lambda case=case: fast(*case.arguments), seconds / ROUNDS)
        # oneDNN runs matmuls only while it owns the cores; otherwise BLAS does.
        if name != "matmul":
            engine_selection.pool.give_to_blas()
        with only_numpy():
            for case, times in zip(cases, theirs, strict=True):
                times += timed(lambda case=case: case.numpy(*case.arguments), seconds / ROUNDS)
    return [(Times.of(a), Times.of(b)) if a else None for a, b in zip(ours, theirs, strict=True)]


def compare(name: str, shared: bool, seconds: float, every: bool) -> int | None:
    """The size above which oneDNN is faster, single channels excluded; None: there is none."""
    sizes = SIZES[: -3 if name.startswith(HEAVY) else None]
    cases = [(size, case) for size in sizes for case in CASES[name](size, name)]
    found = in_turns(name, [case for _, case in cases], shared, seconds)
    faster: dict[int, list[bool]] = {}
    for (size, case), times in zip(cases, found, strict=True):
        if times is None:
            continue
        ours, theirs = times
        # Single channels are printed but not counted: with them some kernels are slower at every
        # size.
        if name == "matmul" or not case.what.endswith("x1"):
            faster.setdefault(size, []).append(ours.at_most(theirs))
        if every:
            numbers = " ".join(f"{each:9.1f}" for each in (*ours, *theirs))
            how, elements = "shared" if shared else "alone", case.arguments[0].size
            print(f"{name:<27} {how:<6} {case.what:<14} {elements:>8} {numbers}", flush=True)
    found_size = None
    for size in reversed(faster):
        if not all(faster[size]):
            break
        found_size = size
    return found_size


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
        head = "   oneDNN  (middle)     NumPy  (middle)"
        print(f"{'kernel':<27} {'':<6} {'shape':<14} {'elements':>8} {head}")
    for name in CASES:
        if not any(fnmatch.fnmatch(name, pattern) for pattern in options.only.split(",")):
            continue
        words = []
        for shared in (True,) if name.startswith(HEAVY) else (True, False):
            found = compare(name, shared, options.seconds, options.every)
            words.append(f"{'shared' if shared else 'alone'} from {found or 'no size on'}")
        print(f"{name:<27} {', '.join(words)} (now {engine_selection.SMALLEST[name]})", flush=True)


if __name__ == "__main__":
    main()
