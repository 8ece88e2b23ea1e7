"""The queues of `tf.queue`: what goes in and comes out, around the handle of a queue."""

from __future__ import annotations

from typing import Any

from ..core.context import state
from ..core.convert import constant_value, convert_to_tensor
from ..core.dtypes import DType, as_dtype, int32, int64
from ..core.errors import InvalidArgumentError
from ..core.op import Op, execute
from ..core.shapes import TensorShape, as_shape
from ..core.tensor import Tensor
from ..ops import queues
from ..ops.random_streams import get_seed


def _type_list(dtypes: Any) -> list[DType]:
    return [as_dtype(each) for each in (dtypes if isinstance(dtypes, list | tuple) else [dtypes])]


def _shape_list(shapes: Any) -> list[TensorShape] | None:
    """The shapes of the components; a single shape stands for a list of one."""
    if shapes is None:
        return None
    sizes = list(shapes) if isinstance(shapes, list | tuple) else []
    single = sizes and all(each is None or isinstance(each, int) for each in sizes)
    if isinstance(shapes, TensorShape) or single:
        return [as_shape(shapes)]
    return [as_shape(each) for each in shapes]


class QueueBase:
    """What queues have in common: putting elements in, taking them out, closing.

    An element consists of one or several tensors, of `dtypes` and, if given, `shapes`. With
    `names` elements are dictionaries. A thread that puts into a full queue waits for room, one
    that takes from an empty queue waits for an element.
    """

    def __init__(self, dtypes: Any, shapes: Any, names: Any, queue_ref: Any) -> None:
        self._dtypes = _type_list(dtypes)
        known = _shape_list(shapes)
        self._shapes = known or [TensorShape(None)] * len(self._dtypes)
        if known and len(known) != len(self._dtypes):
            raise ValueError(
                f"Queue shapes must have the same length as dtypes, received len(shapes)="
                f"{len(known)}, len(dtypes)={len(self._dtypes)}"
            )
        if names is not None:
            names = list(names) if isinstance(names, list | tuple) else [names]
            if len(names) != len(self._dtypes):
                raise ValueError(
                    "List of names must have the same length as the list of dtypes, received "
                    f"len(names)={len(names)}, len(dtypes)={len(self._dtypes)}"
                )
        self._names = names
        self._queue_ref = queue_ref
        self._name = "queue"

    @staticmethod
    def from_list(index: Any, queues: Any) -> QueueBase:
        """The queue at `index` of a list of queues whose elements are alike."""
        if not isinstance(queues, list | tuple) or not queues:
            raise TypeError("A list of queues expected")
        for each in queues:
            if not isinstance(each, QueueBase):
                raise TypeError(f"A list of queues expected, found a {type(each).__name__}")
        first = queues[0]
        if any(each.dtypes != first.dtypes for each in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(each.names != first.names for each in queues):
            raise TypeError("Queues do not have matching component names.")
        position = constant_value(convert_to_tensor(index))
        if position is None:
            raise ValueError("The index of a queue must be known when the graph is built.")
        if not 0 <= position < len(queues):
            raise InvalidArgumentError(
                None, None, f"indices = {position} is not in [0, {len(queues)})"
            )
        columns = zip(*[each.shapes for each in queues], strict=True)
        shapes = [
            column[0] if all(each == column[0] for each in column) else TensorShape(None)
            for column in columns
        ]
        ref = queues[int(position)].queue_ref
        return QueueBase(first.dtypes, shapes, first.names, ref)

    @property
    def queue_ref(self) -> Tensor:
        """The handle of the queue."""
        return self._queue_ref

    @property
    def name(self) -> str:
        """The name of the queue."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The dtypes of an element's components."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The shapes of an element's components."""
        return self._shapes

    @property
    def names(self) -> Any:
        """The names of an element's components, or None."""
        return self._names

    def _components(self, vals: Any) -> list[Tensor]:
        if isinstance(vals, dict):
            if self._names is None:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError(
                    "Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                    f"{sorted(vals)},Queue: {sorted(self._names)}"
                )
            vals = [vals[name] for name in self._names]
        elif self._names is not None:
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        elif not isinstance(vals, list | tuple):
            vals = [vals]
        pairs = zip(vals, self._dtypes, strict=False)
        return [convert_to_tensor(value, dtype) for value, dtype in pairs]

    def _do(self, kind: Op, components: list[Tensor]) -> Any:
        attrs = {"Tcomponents": [each.dtype for each in components]}
        execute(kind, (self._queue_ref, *components), attrs)
        return _operation()

    def enqueue(self, vals: Any, name: str | None = None) -> Any:
        """Put one element: a tensor, or a list or dictionary of its components."""
        components = self._components(vals)
        for component, shape in zip(components, self._shapes, strict=False):
            component.shape.assert_is_compatible_with(shape)
        return self._do(queues.QueueEnqueueV2, components)

    def enqueue_many(self, vals: Any, name: str | None = None) -> Any:
        """Put several elements: the components' first axis counts them."""
        components = self._components(vals)
        count = None
        for component, shape in zip(components, self._shapes, strict=False):
            sizes = component.shape.with_rank_at_least(1)
            if sizes.rank is None:
                continue
            if None not in (count, sizes[0]) and count != sizes[0]:
                raise ValueError(f"Dimensions {count} and {sizes[0]} are not compatible")
            count = sizes[0] if count is None else count
            sizes[1:].assert_is_compatible_with(shape)
        return self._do(queues.QueueEnqueueManyV2, components)

    def _result(self, tensors: list[Tensor], prefix: list[Any]) -> Any:
        if state.graph is not None:
            for tensor, shape in zip(tensors, self._shapes, strict=True):
                tensor.set_shape(TensorShape(prefix).concatenate(shape))
        if self._names is not None:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def dequeue(self, name: str | None = None) -> Any:
        """Take one element: a tensor, or a list or dictionary of its components."""
        attrs = {"component_types": self._dtypes}
        return self._result(execute(queues.QueueDequeueV2, (self._queue_ref,), attrs), [])

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Take n elements, with the components stacked; OutOfRangeError if it has fewer at last."""
        count = convert_to_tensor(n, int32)
        attrs = {"component_types": self._dtypes}
        found = execute(queues.QueueDequeueManyV2, (self._queue_ref, count), attrs)
        known = constant_value(count)
        return self._result(found, [None if known is None else int(known)])

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """Take n elements, or what is left in a closed queue, with the components stacked."""
        count = convert_to_tensor(n, int32)
        attrs = {"component_types": self._dtypes}
        found = execute(queues.QueueDequeueUpToV2, (self._queue_ref, count), attrs)
        return self._result(found, [None])

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Any:
        """Let nothing more be put in; cancel those who wait to, if asked."""
        attrs = {"cancel_pending_enqueues": bool(cancel_pending_enqueues)}
        execute(queues.QueueCloseV2, (self._queue_ref,), attrs)
        return _operation()

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether the queue was closed."""
        return execute(queues.QueueIsClosedV2, (self._queue_ref,))

    def size(self, name: str | None = None) -> Tensor:
        """How many elements are in."""
        return execute(queues.QueueSizeV2, (self._queue_ref,))


def _operation() -> Any:
    """What a call without results gives: the operation in a graph, nothing in eager mode."""
    return None if state.graph is None else state.graph.operations[-1]


def _whole_shapes(shapes: Any) -> list[TensorShape]:
    """Shapes for a queue that stacks elements as they are."""
    known = _shape_list(shapes) or []
    if not all(each.is_fully_defined() for each in known):
        raise ValueError(f"All shapes must be fully defined: {known}")
    return known


class FIFOQueue(QueueBase):
    """A queue whose elements leave in the order in which they came.

    >>> queue = tf.queue.FIFOQueue(capacity=10, dtypes=[tf.int32], shapes=[[]])
    >>> queue.enqueue_many([[1, 2, 3]])
    >>> queue.dequeue().numpy(), queue.dequeue_many(2).numpy().tolist()
    (np.int32(1), [2, 3])
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        types, known = _type_list(dtypes), _whole_shapes(shapes)
        attrs = {"component_types": types, "shapes": known, "capacity": capacity}
        super().__init__(types, known, names, execute(queues.FIFOQueueV2, (), attrs))
        self._name = name


class RandomShuffleQueue(QueueBase):
    """A queue that gives a random one of its elements, and keeps `min_after_dequeue` for that.

    >>> queue = tf.queue.RandomShuffleQueue(10, 0, [tf.int32], shapes=[[]], seed=1)
    >>> queue.enqueue_many([list(range(5))])
    >>> sorted(queue.dequeue_many(5).numpy().tolist())
    [0, 1, 2, 3, 4]
    """

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        types, known = _type_list(dtypes), _whole_shapes(shapes)
        first, second = get_seed(seed)
        attrs = {
            "component_types": types,
            "shapes": known,
            "capacity": capacity,
            "min_after_dequeue": min_after_dequeue,
            "seed": int(first or 0),
            "seed2": int(second or 0),
        }
        super().__init__(types, known, names, execute(queues.RandomShuffleQueueV2, (), attrs))
        self._name = name


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue of elements of varying size; batches are padded with zeros.

    >>> queue = tf.queue.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
    >>> queue.enqueue([[1]])
    >>> queue.enqueue([[2, 3]])
    >>> queue.dequeue_many(2).numpy().tolist()
    [[1, 0], [2, 3]]
    """

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        types = _type_list(dtypes)
        whole = isinstance(shapes, list | tuple) and len(shapes) == len(types)
        if not whole or any(each is None for each in shapes):
            raise ValueError(
                "When providing partial shapes, a list of shapes must be provided: one for each "
                f"dtype, got {shapes} for {len(types)}"
            )
        known = [as_shape(each) for each in shapes]
        attrs = {"component_types": types, "shapes": known, "capacity": capacity}
        super().__init__(types, known, names, execute(queues.PaddingFIFOQueueV2, (), attrs))
        self._name = name


class PriorityQueue(QueueBase):
    """A queue whose element of the smallest priority, its first component (int64), leaves first.

    >>> queue = tf.queue.PriorityQueue(10, [tf.string], shapes=[[]])
    >>> queue.enqueue((2, "later"))
    >>> queue.enqueue((1, "sooner"))
    >>> queue.dequeue()[1].numpy()
    b'sooner'
    """

    def __init__(
        self,
        capacity: int,
        types: Any,
        shapes: Any = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        kinds, known = _type_list(types), _whole_shapes(shapes)
        attrs = {"component_types": kinds, "shapes": known, "capacity": capacity}
        handle = execute(queues.PriorityQueueV2, (), attrs)
        super().__init__([int64, *kinds], [[], *known], names, handle)
        self._name = name
