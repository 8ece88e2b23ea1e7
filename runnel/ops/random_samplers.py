"""Random numbers of distributions that take more than one draw, from Philox streams.

Gamma, Poisson and binomial numbers are made by rejection: every one has a stretch of the stream
for itself (a lane), draws from it until a value is accepted, and no lane depends on another.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..core import errors
from ..runtime.workers import available_cores, parallel_for
from . import philox
from .philox import Array

# How far apart two lanes are; the method for few successes gets by with less.
_STRIDE = 256
_SHORT_STRIDE = 42
# So many lanes at once bound the memory of a large draw.
_LANES = 1 << 16
# One thread adds up so many weights before a second one is worth waking.
_PER_THREAD = 1 << 16
# So many groups at once take little longer than one.
_FEW_GROUPS = 512


class Lanes:
    """Streams side by side; a group gives two numbers, of which the second is drawn first."""

    def __init__(self, key: int, counter: int, offsets: Array) -> None:
        self._key, self._counter = key, counter
        self._next = offsets.astype(np.uint64)
        # By the transform: whether a lane has a number left of its last group, and which.
        self._has_left: dict[Callable[[Array], Array], Array] = {}
        self._left: dict[Callable[[Array], Array], Array] = {}

    def normal(self, lanes: Array) -> Array:
        return self._draw(philox.normal_float64, lanes)

    def uniform(self, lanes: Array) -> Array:
        return self._draw(philox.uniform_float64, lanes)

    def uniforms(self, lanes: Array, groups: int) -> Array:
        """The numbers of so many groups, (2 * groups, lanes), if nothing else is drawn there."""
        offsets = self._next[lanes] + np.arange(groups, dtype=np.uint64)[:, np.newaxis]
        self._next[lanes] += np.uint64(groups)
        pairs = philox.uniform_float64(philox.words_at(self._key, self._counter, offsets))
        return pairs[..., ::-1].transpose(0, 2, 1).reshape(2 * groups, lanes.size)

    def _draw(self, transform: Callable[[Array], Array], lanes: Array) -> Array:
        if transform not in self._left:
            self._has_left[transform] = np.zeros(self._next.size, np.bool_)
            self._left[transform] = np.empty(self._next.size)
        has_left, left = self._has_left[transform], self._left[transform]
        empty = ~has_left[lanes]
        has_left[lanes] = empty
        drawn = left[lanes]
        asked = lanes[empty]
        if asked.size:
            pairs = transform(philox.words_at(self._key, self._counter, self._next[asked]))
            self._next[asked] += np.uint64(1)
            left[asked] = pairs[:, 0]
            drawn[empty] = pairs[:, 1]
        return drawn


def per_parameter(
    sample: Callable[..., Array], parameters: list[Array], samples: int, key: int, counter: int
) -> Array:
    """`samples` numbers for each element of the flat parameters: shape (samples, elements).

    The lanes of one parameter's numbers are neighbours.
    """
    count = parameters[0].size
    out = np.empty(count * samples)
    for start in range(0, out.size, _LANES):
        index = np.arange(start, min(start + _LANES, out.size))
        values = [each[index // samples] for each in parameters]
        out[start : start + _LANES] = sample(*values, index, key, counter)
    return out.reshape(count, samples).T


def gamma_numbers(alpha: Array, index: Array, key: int, counter: int) -> Array:
    """Gamma(alpha, 1): Marsaglia and Tsang, "A simple method for generating gamma variables"."""
    lanes = Lanes(key, counter, index * _STRIDE)
    out = np.empty(alpha.size)
    ones = np.flatnonzero(alpha == 1)
    out[ones] = -np.log1p(-lanes.uniform(ones))
    d = alpha + np.where(alpha < 1, 2 / 3, -1 / 3)
    c = 1 / 3 / np.sqrt(d)
    pending = np.flatnonzero(alpha != 1)
    while pending.size:
        x = lanes.normal(pending)
        v = 1 + c[pending] * x
        positive = np.flatnonzero(~(v <= 0))
        tried, x, v = pending[positive], x[positive], v[positive]
        v = v * v * v
        u = lanes.uniform(tried)
        square = x * x
        limit = 0.5 * square + d[tried] * (1 - v + np.log(v))
        accepted = (u < 1 - 0.0331 * square * square) | (np.log(u) < limit)
        done = tried[accepted]
        out[done] = d[done] * v[accepted]
        left = np.ones(pending.size, np.bool_)
        left[positive[accepted]] = False
        pending = pending[left]
    small = np.flatnonzero(alpha < 1)
    out[small] *= lanes.uniform(small) ** (1 / alpha[small])
    return out


def poisson_numbers(rate: Array, index: Array, key: int, counter: int) -> Array:
    """Poisson(rate): Knuth's product of uniforms below 10, Hörmann's PTRS from there on."""
    lanes = Lanes(key, counter, index * _STRIDE)
    out = np.where(np.isnan(rate), np.nan, np.where(rate > 0, rate, 0.0))
    _poisson_few(out, np.flatnonzero(rate < 10), rate, lanes)
    _poisson_many(out, np.flatnonzero((rate >= 10) & np.isfinite(rate)), rate, lanes)
    return out


def _poisson_few(out: Array, pending: Array, rate: Array, lanes: Lanes) -> None:
    limit = np.exp(-rate)
    product = np.ones(rate.size)
    count = 0
    while pending.size:
        # As many as about half of the lanes need, or as cost nothing.
        groups = max(1 + int(rate[pending].mean() / 2), min(_FEW_GROUPS // pending.size, 8))
        products = lanes.uniforms(pending, groups)
        products[0] *= product[pending]
        for before, after in itertools.pairwise(products):
            after *= before
        # The products never grow.
        large = (products > limit[pending]).sum(axis=0)
        accepted = large < len(products)
        out[pending[accepted]] = count + large[accepted]
        product[pending] = products[-1]
        pending = pending[~accepted]
        count += len(products)


def _poisson_many(out: Array, pending: Array, rate: Array, lanes: Lanes) -> None:
    b = 0.931 + 2.53 * np.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    quick = 0.9277 - 3.6224 / (b - 2)
    while pending.size:
        p = pending
        u, v = lanes.uniform(p) - 0.5, lanes.uniform(p)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a[p] / shifted + b[p]) * u + rate[p] + 0.43)
        accepted = (shifted >= 0.07) & (v <= quick[p])
        open_cases = ~accepted & (k >= 0) & ~((shifted < 0.013) & (v > shifted))
        i = np.flatnonzero(open_cases)
        q = p[i]
        s = np.log(v[i] * inverse_alpha[q] / (a[q] / (shifted[i] * shifted[i]) + b[q]))
        t = -rate[q] + k[i] * np.log(rate[q]) - _log_gamma(k[i] + 1)
        accepted[i] = s <= t
        out[p[accepted]] = k[accepted]
        pending = p[~accepted]


def _log_gamma(x: Array) -> Array:
    return np.array([math.lgamma(each) for each in x.tolist()])


def binomial_numbers(
    counts: Array, probabilities: Array, index: Array, key: int, counter: int
) -> Array:
    """Binomial(counts, probabilities): sums of geometric numbers, or Hörmann's BTRS."""
    # The original reads its parameters in single precision, whatever their dtype.
    counts, probabilities = (
        each.astype(np.float32).astype(np.float64) for each in (counts, probabilities)
    )
    rare = np.where(probabilities <= 0.5, probabilities, 1 - probabilities)
    out = np.zeros(counts.size)
    some = (counts > 0) & (rare > 0)
    many = some & (counts * rare >= 10)
    few = Lanes(key, counter, index * _SHORT_STRIDE)
    _binomial_few(out, np.flatnonzero(some & ~many), counts, rare, few)
    lanes = Lanes(key, counter, index * _STRIDE)
    _binomial_many(out, np.flatnonzero(many), counts, rare, lanes)
    out = np.where(probabilities <= 0.5, out, counts - out)
    return np.where(counts > 0, np.where(np.isnan(probabilities), np.nan, out), 0.0)


def _binomial_few(out: Array, pending: Array, n: Array, p: Array, lanes: Lanes) -> None:
    trials = np.zeros(n.size)
    while pending.size:
        u = lanes.uniform(pending)
        trials[pending] += np.ceil(np.log(u) / np.log1p(-p[pending]))
        pending = pending[trials[pending] <= n[pending]]
        out[pending] += 1


def _binomial_many(out: Array, pending: Array, n: Array, p: Array, lanes: Lanes) -> None:
    deviation = np.sqrt(n * p * (1 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * deviation
    odds = p / (1 - p)
    mode = np.floor((n + 1) * p)
    while pending.size:
        j = pending
        u, v = lanes.uniform(j) - 0.5, lanes.uniform(j)
        shifted = 0.5 - np.abs(u)
        k = np.floor((2 * a[j] / shifted + b[j]) * u + n[j] * p[j] + 0.5)
        accepted = (shifted >= 0.07) & (v <= 0.92 - 4.2 / b[j])
        i = np.flatnonzero(~accepted & (k >= 0) & (k <= n[j]))
        q = j[i]
        m, total, success, r = mode[q], n[q], k[i], odds[q]
        value = np.log(v[i] * alpha[q] / (a[q] / (shifted[i] * shifted[i]) + b[q]))
        bound = (
            (m + 0.5) * np.log((m + 1) / (r * (total - m + 1)))
            + (total + 1) * np.log((total - m + 1) / (total - success + 1))
            + (success + 0.5) * np.log(r * (total - success + 1) / (success + 1))
            + _stirling(m)
            + _stirling(total - m)
            - _stirling(success)
            - _stirling(total - success)
        )
        accepted[i] = value <= bound
        out[j[accepted]] = k[accepted]
        pending = j[~accepted]


# log(k!) less Stirling's formula, for k from 0 to 9.
_STIRLING = np.array([
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509,
    0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720,
    0.00925546218271273, 0.00833056343336287,
])  # fmt: skip


def _stirling(k: Array) -> Array:
    square = (k + 1) * (k + 1)
    series = (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)
    return np.where(k <= 9, _STIRLING[np.minimum(k, 9).astype(np.intp)], series)


def classes_drawn(logits: Array, samples: int, key: int, counter: int, dtype: Any) -> Array:
    """Indices of the classes of each row, drawn with probabilities softmax(logits).

    The rows are drawn in as many stretches as the original would have given to its threads.
    """
    rows, classes = logits.shape
    out = np.empty((rows, samples), dtype)
    if not out.size:
        return out
    cumulative = _cumulative_weights(logits)
    draws = _draws_by_row(
        rows, samples, 50 * (samples * math.log2(classes) + classes), key, counter
    )
    draws *= cumulative[:, -1:]
    out[...] = _upper_bound(cumulative, draws)
    return out


def _draws_by_row(rows: int, samples: int, cost: float, key: int, counter: int) -> Array:
    """Numbers in [0, 1) as the original's tasks draw them for rows of that cost."""
    tasks = list(stretches(rows, cost))
    if len(tasks) == 1:
        return philox.uniform_numbers((rows, samples), np.float64, key, counter)
    # The groups of all tasks at once: a few of them take as long as many.
    groups = [-(-(limit - start) * samples // 2) for start, limit in tasks]
    skipped = [start * (samples + 3) // 4 for start, _ in tasks]
    offsets = [np.arange(first, first + n) for first, n in zip(skipped, groups, strict=True)]
    words = philox.words_at(key, counter, np.concatenate(offsets).astype(np.uint64))
    drawn = philox.uniform_float64(words).reshape(-1)
    draws = np.empty((rows, samples))
    first = 0
    for (start, limit), count in zip(tasks, groups, strict=True):
        part = draws[start:limit]
        part[...] = drawn[first : first + part.size].reshape(part.shape)
        first += 2 * count
    return draws


def _cumulative_weights(logits: Array) -> Array:
    """The sums of exp(logits) from the first class of a row to each; the largest term is 1."""
    cumulative = np.empty(logits.shape)

    def work(start: int, limit: int) -> None:
        part, sums = logits[start:limit], cumulative[start:limit]
        finite = np.isfinite(part)
        everywhere = finite.all()
        if not everywhere:
            part = np.where(finite, part, -np.inf)
        np.subtract(part, np.max(part, axis=1, keepdims=True), out=sums, dtype=np.float64)
        np.exp(sums, out=sums)
        if not everywhere:
            sums[~finite] = 0
        np.cumsum(sums, axis=1, out=sums)

    parallel_for(work, len(logits), 1 + _PER_THREAD // logits.shape[1])
    return cumulative


# So many values a row are looked up row by row, fewer in all rows at once; and so many elements
# are counted sooner than they are searched.
_MANY_VALUES = 64
_FEW_ELEMENTS = 1 << 13


def _upper_bound(sorted_rows: Array, values: Array) -> Array:
    """For each row, how many of its elements are at most each of the values."""
    rows, samples = values.shape
    classes = sorted_rows.shape[1]
    if samples >= _MANY_VALUES:
        return np.stack(
            [np.searchsorted(sorted_rows[row], values[row], "right") for row in range(rows)]
        )
    if sorted_rows.size * samples <= _FEW_ELEMENTS:
        return (sorted_rows[:, np.newaxis] <= values[..., np.newaxis]).sum(axis=2)
    # Halving the stretch that the answer lies in. What is past the end counts as more, so that
    # stretches of a power of two will do.
    flat = sorted_rows.reshape(-1)
    starts = np.arange(rows)[:, np.newaxis] * classes
    found = np.zeros(values.shape, np.intp)
    step = 1 << classes.bit_length() - 1
    while step:
        tried = found + step
        last = np.minimum(tried, classes)
        last += starts - 1
        found += step * ((tried <= classes) & (flat[last] <= values))
        step >>= 1
    return found


def stretches(total: int, cost: float) -> Iterator[tuple[int, int]]:
    """How the original cuts a loop of `total` rounds of `cost` cycles into tasks for its threads.

    Some streams start anew at every task, so that the numbers follow from the count of processors.
    """
    threads = available_cores()
    size = total
    if total > 1 and threads > 1 and total * cost >= 210_000:
        size = _task_size(total, cost, threads)
    for start in range(0, total, max(size, 1)):
        yield start, min(start + size, total)


def _task_size(total: int, cost: float, threads: int) -> int:
    def tasks(size: int) -> int:
        return -(-total // size)

    def efficiency(count: int) -> float:
        return count / (-(-count // threads) * threads)

    size = int(min(total, max(-(-total // (4 * threads)), 40_000 / cost)))
    largest = min(total, 2 * size)
    count = tasks(size)
    best = efficiency(count)
    while best < 1 and count > 1:
        coarser = -(-total // (count - 1))
        if coarser > largest:
            break
        count = tasks(coarser)
        if efficiency(count) + 0.01 >= best:
            size, best = coarser, max(best, efficiency(count))
    return size


def permutation(size: int, key: int, counter: int) -> Array:
    """A random order of `range(size)`: every place swaps with a random later one, or itself."""
    partners = np.arange(size)
    if size > 1:
        words = philox.words(key, counter, -(-(size - 1) // 4)).reshape(-1)[: size - 1]
        partners[:-1] += words % np.arange(size, 1, -1, dtype=np.uint32)
    if size > _MANY_SWAPS:
        return _swapped(partners)
    order = list(range(size))
    for place, partner in enumerate(partners.tolist()):
        order[place], order[partner] = order[partner], order[place]
    return np.array(order, np.intp)


_MANY_SWAPS = 4096


def _swapped(partners: Array) -> Array:
    """What is at each place after `swap(i, partners[i])` for every i in turn, by whole arrays.

    Step i brings to place i what place partners[i] holds. That is what the step before with the
    same partner took there: the content of its own place, which in turn was taken there by the
    last step that swapped with that place, and so on back to a place nobody had touched.
    """
    steps = np.arange(partners.size)
    # The step before with the same partner; the spare element takes what has no step after it.
    before = np.full(partners.size + 1, -1)
    latest = np.full(partners.size, -1)
    left, places = steps, partners
    while left.size:
        after = latest[places]
        latest[places] = left
        found = latest[places] == left
        before[after[found]] = left[found]
        left, places = left[~found], places[~found]
    content = steps.copy()
    others = np.flatnonzero(partners != steps)
    content[partners[others]] = others
    while True:
        further = content[content]
        if np.array_equal(further, content):
            break
        content = further
    before = before[:-1]
    return np.where(before < 0, partners, content[before])


# Numbers of a normal distribution cut off on both sides: Robert, "Simulation of truncated normal
# variables". A task draws its numbers one after the other from one stream.

_TRIES = 1000
_WIDE = 1.3


def cut_normal_numbers(
    mean: Array, deviation: Array, low: Array, high: Array, samples: int, key: int, counter: int
) -> Array:
    """`samples` numbers for each element of the flat parameters: shape (samples, elements)."""
    dtype = mean.dtype
    if not np.all((deviation > 0) & (low < high) & (np.isfinite(low) | np.isfinite(high))):
        raise errors.InvalidArgumentError(
            None,
            None,
            "Invalid parameters: every stddev must be positive, every minval less than its "
            "maxval, and one of the two finite.",
        )
    out = np.empty((mean.size, samples), dtype)
    flat = out.reshape(-1)
    double = dtype == np.float64
    for start, limit in stretches(flat.size, 258 if double else 187):
        position = counter + start * (1000 if double else 500)
        while start < limit:
            which = start // samples
            end = min(limit, (which + 1) * samples)
            draw = _CutNormal(mean[which], deviation[which], low[which], high[which])
            flat[start:end], used = draw(end - start, key, position)
            position += used
            start = end
    return out.T


class _CutNormal:
    """One cut-off normal distribution, and which way of drawing from it is the quickest."""

    def __init__(self, mean: Any, deviation: Any, low: Any, high: Any) -> None:
        kind = type(mean)
        self.mean, self.scale = mean, deviation
        if np.isinf(low) or high < mean:
            low, high, self.scale = high, low, -deviation
        self.low, self.high = (low - mean) / self.scale, (high - mean) / self.scale
        self.root = np.sqrt(self.low * self.low + kind(4))
        exponent = kind(0.5) + self.low * (self.low - self.root) / kind(4)
        short = self.high - self.low < kind(2) * np.exp(exponent) / (self.low + self.root)
        inside = (self.low <= 0 and self.high > _WIDE) or (self.low < -_WIDE and self.high >= 0)
        self.dtype = np.dtype(kind)
        self.candidates = (
            self._from_normal if inside else self._from_uniform if short else self._from_exponential
        )

    def __call__(self, size: int, key: int, counter: int) -> tuple[Array, int]:
        """So many numbers, and how many groups of the stream they took."""
        found: list[Array] = []
        missing, used, barren = size, 0, 0
        while missing:
            chunk = max(16, missing)
            values, good, groups = self.candidates(chunk, key, counter + used)
            rows = np.flatnonzero(good.sum(axis=1).cumsum() >= missing)
            if rows.size:
                values, good = values[: rows[0] + 1], good[: rows[0] + 1]
            accepted = values[good][:missing]
            barren = 0 if accepted.size else barren + chunk
            if barren > _TRIES:
                raise errors.InternalError(
                    None, None, "TruncatedNormal rejection sampler failed to accept a sample."
                )
            found.append(accepted)
            missing -= accepted.size
            used += len(values) * groups
        return np.concatenate(found) * self.scale + self.mean, used

    def _uniform(self, words: Array) -> Array:
        return philox.UNIFORM[self.dtype.name](words)

    def _from_normal(self, rows: int, key: int, counter: int) -> tuple[Array, Array, int]:
        words = philox.words(key, counter, rows)
        transform = philox.normal_float64 if self.dtype == np.float64 else philox.normal_float32
        values = transform(words).astype(self.dtype)
        return values, (values >= self.low) & (values <= self.high), 1

    def _from_uniform(self, rows: int, key: int, counter: int) -> tuple[Array, Array, int]:
        kind = self.dtype.type
        uniform = self._uniform(philox.words(key, counter, 2 * rows))
        values = uniform[0::2] * (self.high - self.low) + self.low
        square = values * values
        exponent = (self.low * self.low - square if self.low > 0 else -square) * kind(0.5)
        return values, uniform[1::2] <= np.exp(exponent), 2

    def _from_exponential(self, rows: int, key: int, counter: int) -> tuple[Array, Array, int]:
        kind = self.dtype.type
        uniform = self._uniform(philox.words(key, counter, rows))
        rate = (self.low + self.root) / kind(2)
        values = self.low - _log(np.maximum(uniform[:, 0::2], kind(2**-24))) / rate
        distance = values - rate
        likelihood = np.exp(-(distance * distance) / kind(2))
        return values, (uniform[:, 1::2] <= likelihood) & (values < self.high), 1


def _log(x: Array) -> Array:
    return philox.log_float32(x) if x.dtype == np.float32 else np.log(x)


# The Simon block cipher (Beaulieu et al., 2013), on words of any width, permutes indices.

_SIMON_SEQUENCE = 0x7369F885192C0EF5


def shuffled_index(index: int, keys: list[int], largest: int, rounds: int) -> int:
    """Where `index` goes in the permutation of [0, largest] that three keys stand for."""
    bits = max(16, math.ceil(math.log2(largest)) if largest else 0)
    width = (bits + 1) // 2
    schedule = _simon_keys(keys, rounds, width)
    while True:
        index = _simon(index, schedule, width)
        if index <= largest:
            return index


def _simon_keys(keys: list[int], rounds: int, width: int) -> list[int]:
    mask = (1 << width) - 1
    sequence = _SIMON_SEQUENCE & mask
    schedule = [key & mask for key in keys]
    for i in range(3, rounds):
        last = schedule[i - 1]
        mixed = _rotate(last, width - 3, width) ^ _rotate(last, width - 4, width)
        schedule.append(0xFFFFFFFC & mask ^ sequence & 1 ^ schedule[i - 3] ^ mixed)
        sequence >>= 1
    return schedule[: max(rounds, 2)]


def _simon(value: int, schedule: list[int], width: int) -> int:
    left, right = value >> width, value & ((1 << width) - 1)
    for first, second in zip(schedule[0::2], schedule[1::2], strict=False):
        left ^= _simon_mix(right, width) ^ first
        right ^= _simon_mix(left, width) ^ second
    return left << width | right


def _simon_mix(word: int, width: int) -> int:
    return _rotate(word, 1, width) & _rotate(word, 8, width) ^ _rotate(word, 2, width)


def _rotate(word: int, places: int, width: int) -> int:
    return (word << places | word >> (width - places)) & ((1 << width) - 1)
