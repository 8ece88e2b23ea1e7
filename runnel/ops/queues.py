"""Queues of elements, each one or several tensors, between threads.

A queue's handle is a tensor of dtype resource whose value is the queue itself, as a table's is.
Putting into a full queue, and taking from one with too few elements, blocks.
"""

from __future__ import annotations

import heapq
import itertools
import random
import threading
from collections import deque
from typing import Any

import numpy as np

from ..core.dtypes import DType, int64, string
from ..core.errors import CancelledError, OutOfRangeError
from ..core.op import MAY_NOT_END, op, type_text
from ..core.shape_rules import SCALAR, UNKNOWN, dimensions_text, nothing, scalar
from ..core.shapes import TensorShape
from .philox import philox

Element = list[Any]


class Elements:
    """The order in which elements are dequeued: first in, first out."""

    def __init__(self) -> None:
        self._waiting: deque[Element] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, element: Element) -> None:
        self._waiting.append(element)

    def take(self) -> Element:
        return self._waiting.popleft()


class ShuffledElements(Elements):
    """A random element is dequeued; for equal seeds the same, from the Philox stream."""

    def __init__(self, seed: int, seed2: int) -> None:
        self._held: list[Element] = []
        if not seed and not seed2:
            seed, seed2 = random.getrandbits(64), random.getrandbits(64)
        self._words = (
            word for group in itertools.count() for word in philox(seed, (seed2 << 64) + group)
        )

    def __len__(self) -> int:
        return len(self._held)

    def put(self, element: Element) -> None:
        self._held.append(element)

    def take(self) -> Element:
        held = self._held
        place = next(self._words) % len(held)
        held[place], held[-1] = held[-1], held[place]
        return held.pop()


class OrderedElements(Elements):
    """The element with the smallest first component is dequeued; ties in order of arrival."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Element]] = []
        self._arrivals = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, element: Element) -> None:
        heapq.heappush(self._heap, (int(element[0]), next(self._arrivals), element))

    def take(self) -> Element:
        return heapq.heappop(self._heap)[2]


class Queue:
    """Elements, the threads that wait for them or for capacity, and whether the queue is closed."""

    # A handle is a scalar tensor.
    shape: tuple[int, ...] = ()
    ndim = 0

    def __init__(
        self,
        kind: str,
        elements: Elements,
        capacity: int,
        types: list[DType],
        shapes: list[TensorShape],
        least: int = 0,
    ) -> None:
        if shapes and len(shapes) != len(types):
            raise ValueError(
                f"Different number of component types.  Types: "
                f"{', '.join(type_text(each) for each in types)}, Shapes: "
                f"{', '.join(dimensions_text(each) for each in shapes)}"
            )
        self.kind = kind
        self.capacity = capacity if capacity >= 0 else 2**31 - 1
        self.types = types
        self.shapes = shapes
        # The minimum that remains for good shuffling, until the queue is closed.
        self.least = least
        self.closed = False
        self._cancelled = False
        self._elements = elements
        self._changed = threading.Condition()
        # Putting threads are serialized, and so are taking ones, in whole batches.
        self._putting, self._taking = threading.Lock(), threading.Lock()
        # The number of threads that began to put before the queue was closed.
        self._pending = 0

    def __len__(self) -> int:
        return len(self._elements)

    def put(self, elements: list[Element]) -> None:
        """Put elements one by one, blocking while full; CancelledError if the queue is closed."""
        for element in elements:
            self._check(element)
        with self._changed:
            if self.closed:
                raise CancelledError(None, None, f"{self.kind} is closed.")
            self._pending += 1
        try:
            with self._putting:
                for element in elements:
                    self._put_one(element)
        finally:
            with self._changed:
                self._pending -= 1
                self._changed.notify_all()

    def _put_one(self, element: Element) -> None:
        with self._changed:
            self._changed.wait_for(lambda: self._cancelled or len(self._elements) < self.capacity)
            if self._cancelled:
                raise CancelledError(None, None, "Enqueue operation was cancelled")
            self._elements.put(element)
            self._changed.notify_all()

    def take(self, count: int, up_to: bool = False) -> list[Element]:
        """Take elements, blocking; OutOfRangeError if a closed queue has too few."""
        if count > self.capacity and not up_to:
            raise ValueError(f"Cannot take {count} elements from a queue of {self.capacity}")
        with self._taking, self._changed:
            self._changed.wait_for(lambda: self._over or len(self) >= count + self.least)
            here = len(self)
            found = min(count, here) if up_to else count
            if found > here or (found < count and not found):
                raise OutOfRangeError(
                    None,
                    None,
                    f"{self.kind} is closed and has insufficient elements (requested {count}, "
                    f"current size {here})",
                )
            taken = [self._elements.take() for _ in range(found)]
            self._changed.notify_all()
            return taken

    @property
    def _over(self) -> bool:
        """Whether no more elements will arrive: puts that began before the close may finish."""
        return self.closed and (self._cancelled or not self._pending)

    def close(self, cancel: bool) -> None:
        """Close the queue; pending puts finish, or are cancelled.

        CancelledError for a queue that is closed: only cancelling may follow plain closing.
        """
        with self._changed:
            if self.closed and (self._cancelled or not cancel):
                raise CancelledError(None, None, f"{self.kind} is already closed.")
            self.closed = True
            self._cancelled = self._cancelled or cancel
            self._changed.notify_all()

    def _check(self, element: Element) -> None:
        if len(element) != len(self.types):
            raise ValueError(
                f"Expected {len(self.types)} components of an element, got {len(element)}"
            )
        for index, (component, shape) in enumerate(zip(element, self.shapes, strict=False)):
            if not shape.is_compatible_with(np.shape(component)):
                raise ValueError(
                    f"Shape mismatch in tuple component {index}. Expected "
                    f"{dimensions_text(shape)}, got {list(np.shape(component))}"
                )

    def batch(self, elements: list[Element]) -> list[Any]:
        """Elements as one array per component; padded where shapes are not fully defined."""
        if not self.shapes or any(each.rank is None for each in self.shapes):
            raise ValueError(
                f"{self.kind}'s DequeueMany and DequeueUpTo require the components to have "
                "specified shapes."
            )
        return [
            _stacked([element[index] for element in elements], dtype, shape)
            for index, (dtype, shape) in enumerate(zip(self.types, self.shapes, strict=True))
        ]


def _stacked(values: list[Any], dtype: DType, shape: TensorShape) -> Any:
    sizes = [
        max((np.shape(value)[axis] for value in values), default=0) if size is None else size
        for axis, size in enumerate(shape)
    ]
    blank: Any = b"" if dtype is string else 0
    result = np.full((len(values), *sizes), blank, dtype.numpy)
    for index, value in enumerate(values):
        # The ellipsis assigns a string of rank 0 as an element, not as the array.
        place: Any = (index, *[slice(0, size) for size in np.shape(value)], ...)
        result[place] = value
    return result


def _maker(name, **more):
    """The attributes and implementation common to all ops that create a queue."""
    return op(name, "-> handle: resource", shape=scalar, stateful=True, gradient=None, **more)


@_maker("FIFOQueueV2")
def FIFOQueueV2(*, component_types, shapes=(), capacity=-1, container="", shared_name=""):
    return Queue("FIFOQueue", Elements(), capacity, component_types, list(shapes))


@_maker("PaddingFIFOQueueV2")
def PaddingFIFOQueueV2(*, component_types, shapes=(), capacity=-1, container="", shared_name=""):
    return Queue("PaddingFIFOQueue", Elements(), capacity, component_types, list(shapes))


@_maker("PriorityQueueV2")
def PriorityQueueV2(*, component_types=(), shapes, capacity=-1, container="", shared_name=""):
    if len(shapes) != len(component_types):
        raise ValueError("A PriorityQueue needs the shape of every component.")
    types, sizes = [int64, *component_types], [SCALAR, *shapes]
    return Queue("PriorityQueue", OrderedElements(), capacity, types, sizes)


@_maker("RandomShuffleQueueV2")
def RandomShuffleQueueV2(
    *,
    component_types,
    shapes=(),
    capacity=-1,
    min_after_dequeue=0,
    seed=0,
    seed2=0,
    container="",
    shared_name="",
):
    if capacity >= 0 and min_after_dequeue >= capacity:
        raise ValueError(f"min_after_dequeue {min_after_dequeue} must be < capacity {capacity}")
    elements = ShuffledElements(seed, seed2)
    types = component_types
    return Queue("RandomShuffleQueue", elements, capacity, types, list(shapes), min_after_dequeue)


@op(
    "QueueEnqueueV2",
    "handle: resource, components: *Tcomponents",
    shape=nothing,
    stateful=True,
    effect=MAY_NOT_END,
    gradient=None,
)
def QueueEnqueueV2(handle, components, *, Tcomponents=(), timeout_ms=-1):
    handle.put([list(components)])
    return []


@op(
    "QueueEnqueueManyV2",
    "handle: resource, components: *Tcomponents",
    shape=nothing,
    stateful=True,
    effect=MAY_NOT_END,
    gradient=None,
)
def QueueEnqueueManyV2(handle, components, *, Tcomponents=(), timeout_ms=-1):
    counts = {len(component) for component in components}
    if len(counts) != 1:
        raise ValueError(f"All components must have the same first size, got {sorted(counts)}")
    rows = [list(_rows(component)) for component in components]
    handle.put([list(element) for element in zip(*rows, strict=True)])
    return []


def _rows(component):
    """The elements of a batch; strings as arrays of rank 0."""
    if component.ndim > 1 or component.dtype != object:
        return component
    return [component[index, ...] for index in range(len(component))]


def _unknown(inputs, attrs):
    return [UNKNOWN] * len(attrs["component_types"])


@op(
    "QueueDequeueV2",
    "handle: resource -> components: *component_types",
    shape=_unknown,
    stateful=True,
    effect=MAY_NOT_END,
    gradient=None,
)
def QueueDequeueV2(handle, *, component_types, timeout_ms=-1):
    return handle.take(1)[0]


@op(
    "QueueDequeueManyV2",
    "handle: resource, n: int32 -> components: *component_types",
    shape=_unknown,
    stateful=True,
    effect=MAY_NOT_END,
    gradient=None,
)
def QueueDequeueManyV2(handle, n, *, component_types, timeout_ms=-1):
    return handle.batch(handle.take(_wanted(handle, n)))


@op(
    "QueueDequeueUpToV2",
    "handle: resource, n: int32 -> components: *component_types",
    shape=_unknown,
    stateful=True,
    effect=MAY_NOT_END,
    gradient=None,
)
def QueueDequeueUpToV2(handle, n, *, component_types, timeout_ms=-1):
    return handle.batch(handle.take(_wanted(handle, n), up_to=True))


def _wanted(queue, n):
    if n < 0:
        raise ValueError(f"{queue.kind}: cannot take {n} elements")
    queue.batch([])
    return int(n)


@op("QueueCloseV2", "handle: resource", shape=nothing, stateful=True, gradient=None)
def QueueCloseV2(handle, *, cancel_pending_enqueues=False):
    handle.close(cancel_pending_enqueues)
    return []


@op("QueueSizeV2", "handle: resource -> size: int32", shape=scalar, stateful=True, gradient=None)
def QueueSizeV2(handle):
    return np.int32(len(handle))


@op(
    "QueueIsClosedV2",
    "handle: resource -> is_closed: bool",
    shape=scalar,
    stateful=True,
    gradient=None,
)
def QueueIsClosedV2(handle):
    return np.bool_(handle.closed)
