"""Iterators over datasets, and datasets and iterators in graphs."""

from __future__ import annotations

from collections.abc import Callable, Iterator as PythonIterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import dtypes, errors, nest
from ..core.context import state
from ..core.op import Op, execute
from ..core.shapes import TensorShape
from ..core.tensor import SymbolicTensor, Tensor
from ..core.type_spec import TensorSpec, TypeSpec
from .structure import Packer, arrays_of

if TYPE_CHECKING:
    from .dataset import Dataset

_SCALAR = TensorShape([])


class Handle:
    """The content of the tensor of a dataset or iterator, in place of an array."""

    __slots__ = ("value",)
    shape = ()
    ndim = 0

    def __init__(self, value: Any) -> None:
        self.value = value


def handle_of(value: Any) -> Tensor:
    """An eager tensor that holds a dataset or an iterator."""
    return Tensor(Handle(value), dtypes.resource)


# These ops pass Python objects inside this process only. They cannot be serialized, so they are not
# in the registry.


def _bind(inputs: Sequence[Any], *, dataset: Dataset, Tin: Sequence[Any]) -> Any:
    tensors = [Tensor(array, dtype) for array, dtype in zip(inputs, Tin, strict=True)]
    return Handle(dataset._bound(iter(tensors)))


def _make_iterator(dataset: Any, *, streams: Sequence[Any] = ()) -> Any:
    for stream in streams:
        stream.restart()
    return Handle(OwnedIterator(dataset.value))


def _next(iterator: Any, *, specs: Any, Tout: Any, shapes: Any) -> list[Any]:
    try:
        leaves = iterator.value._advance()
    except StopIteration:
        raise errors.OutOfRangeError(None, None, "End of sequence [Op:IteratorGetNext]") from None
    return arrays_of(specs, leaves)


def _next_or_zeros(iterator: Any, *, specs: Any, Tout: Any, shapes: Any) -> list[Any]:
    try:
        return [np.True_, *arrays_of(specs, iterator.value._advance())]
    except StopIteration:
        return [np.False_, *map(_zeros, Tout[1:], shapes[1:])]


def _zeros(dtype: Any, shape: TensorShape) -> Any:
    if dtype is dtypes.resource:
        return Handle(None)
    sizes = [] if shape.rank is None else [size or 0 for size in shape]
    if dtype is dtypes.string:
        return np.full(sizes, b"", object)
    return np.zeros(sizes, dtype.as_numpy_dtype)


def one_handle(inputs: Any, attrs: Any) -> Any:
    """The shape of a handle."""
    return _SCALAR


def _declared(inputs: Any, attrs: Any) -> Any:
    return attrs["shapes"]


def stateful(name: str, signature: str, kernel: Callable[..., Any], shape: Any) -> Op:
    """A separate op for each use in a program."""
    return Op(name, signature, kernel, shape, True, False, {})


BindDataset = Op("BindDataset", "inputs: *Tin -> handle: resource", _bind, one_handle, False,
                 False, {})  # fmt: skip
MakeIterator = stateful(
    "MakeIterator", "dataset: resource -> handle: resource", _make_iterator, one_handle
)
IteratorGetNext = stateful(
    "IteratorGetNext", "iterator: resource -> components: *Tout", _next, _declared
)
IteratorGetNextOrZeros = stateful(
    "IteratorGetNextOrZeros", "iterator: resource -> components: *Tout", _next_or_zeros, _declared
)


class _HandleSpec(TypeSpec):
    """The type of a value that is represented by one handle."""

    __slots__ = ("__weakref__", "_element_spec")

    def __init__(self, element_spec: Any) -> None:
        self._element_spec = element_spec

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def _component_specs(self) -> Any:
        return TensorSpec([], dtypes.resource)

    def _serialize(self) -> tuple[Any, ...]:
        return (self._element_spec,)

    def flatten(self) -> list[Any]:
        """The spec of the handle."""
        return [self._component_specs]

    def to_tensors(self, value: Any) -> list[Tensor]:
        """The handle of a value."""
        return [self._to_components(value)]

    def from_tensors(self, tensors: PythonIterator[Any]) -> Any:
        """The value of the next handle."""
        return self._from_components(next(tensors))

    def cast(self, value: Any, casting_context: Any) -> Any:
        """The value unchanged."""
        return value

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """A placeholder of this type in the function that is being traced."""
        graph: Any = state.graph
        return self._from_components(graph.add_input(dtypes.resource, _SCALAR))

    _class_name = ""

    @classmethod
    def experimental_type_proto(cls) -> Any:
        """The class of the messages that describe specs."""
        from ..formats.saved_model_messages import TypeSpecProto

        return TypeSpecProto

    def experimental_as_proto(self) -> Any:
        """The spec as a message."""
        from ..saved_model.structured_values import encode

        kind = self.experimental_type_proto()
        return kind(
            type_spec_class=kind.TypeSpecClass.Value(self._class_name),
            type_state=encode(self._serialize()),
            type_spec_class_name=type(self).__name__,
            num_flat_components=1,
        )

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> Any:
        """The spec of a message."""
        from ..saved_model.structured_values import decode

        return cls(*decode(proto.type_state))


class DatasetSpec(_HandleSpec):
    """The type of a dataset: the specs of its elements.

    >>> tf.data.DatasetSpec(tf.TensorSpec([], tf.int64))
    DatasetSpec(TensorSpec(shape=(), dtype=tf.int64, name=None), TensorShape([]))
    """

    __slots__ = ("_dataset_shape",)
    _class_name = "DATA_DATASET_SPEC"

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        super().__init__(element_spec)
        self._dataset_shape = TensorShape(dataset_shape)

    @classmethod
    def from_value(cls, value: Any) -> DatasetSpec:
        """The spec that describes a dataset."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        """Dataset."""
        from .dataset import Dataset

        return Dataset

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    def _to_components(self, value: Any) -> Tensor:
        symbolic = value._symbolic()
        if not symbolic or state.graph is None:
            return handle_of(value)
        attrs = {"dataset": value, "Tin": [tensor.dtype for tensor in symbolic]}
        handle: Tensor = execute(BindDataset, tuple(symbolic), attrs)
        return handle

    def _from_components(self, components: Any) -> Any:
        from .dataset import _VariantDataset

        return _VariantDataset(components, self._element_spec)


class IteratorSpec(_HandleSpec):
    """The type of an iterator over a dataset: the specs of its elements."""

    __slots__ = ()
    _class_name = "DATA_ITERATOR_SPEC"

    @classmethod
    def from_value(cls, value: Any) -> IteratorSpec:
        """The spec that describes an iterator."""
        return cls(value.element_spec)

    @property
    def value_type(self) -> type:
        """Iterator."""
        return OwnedIterator

    def _to_components(self, value: Any) -> Tensor:
        tensor: Tensor = value._handle
        return tensor

    def _from_components(self, components: Any) -> Any:
        if isinstance(components, SymbolicTensor):
            return _GraphIterator(components, self._element_spec)
        return components._array.value


class Iterator:
    """An iterator over the elements of a dataset.

    >>> iterator = iter(tf.data.Dataset.range(2))
    >>> next(iterator).numpy(), iterator.get_next().numpy()
    (np.int64(0), np.int64(1))
    """

    _element_spec: Any

    @property
    def element_spec(self) -> Any:
        """The specs of the elements."""
        return self._element_spec

    @property
    def _type_spec(self) -> IteratorSpec:
        return IteratorSpec(self._element_spec)

    def __iter__(self) -> Any:
        return self

    def get_next(self) -> Any:
        """The next element; tf.errors.OutOfRangeError after the last."""
        raise NotImplementedError

    def get_next_as_optional(self) -> Any:
        """The next element as a tf.experimental.Optional, which is empty after the last."""
        from .optional import get_next_as_optional

        return get_next_as_optional(self)

    def __runnel_for__(
        self, extra_test: Any, body: Any, get_state: Any, set_state: Any, names: Any, options: Any
    ) -> None:
        """Stage a `for` statement over the elements in a graph."""
        from ..autograph.loops import StagedLoop
        from ..autograph.values import condition
        from ..ops.math.comparison import logical_and

        handle = self._type_spec.to_tensors(self)[0]
        packer = Packer(self._element_spec)
        parts = [part for spec in packer.specs for part in spec.flatten()]
        attrs = {
            "specs": packer.specs,
            "Tout": [dtypes.bool, *[part.dtype for part in parts]],
            "shapes": [_SCALAR, *[part.shape for part in parts]],
        }

        def advance() -> list[Any]:
            return list(execute(IteratorGetNextOrZeros, (handle,), attrs))

        def test(own: list[Any]) -> Any:
            if extra_test is None:
                return own[0]
            return logical_and(own[0], condition(extra_test(), "for loop"))

        def round_(own: list[Any]) -> list[Any]:
            rest = iter(own[1:])
            leaves = [spec.from_tensors(rest) for spec in packer.specs]
            body(packer.packed(leaves))
            return advance()

        StagedLoop(get_state, set_state, names, options, advance()).run(test, round_)


class OwnedIterator(Iterator):
    """An eager iterator: it counts the elements delivered."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._element_spec = dataset.element_spec
        self._packer = Packer(self._element_spec)
        from .ahead import settled_orders, started

        self._drawn = settled_orders(dataset)
        self._leaves = started(dataset)
        self._delivered = 0
        # The position as a variable, once it is part of a checkpoint, and its last value.
        self._saved: Any = None
        self._known: Any = None

    @property
    def _handle(self) -> Tensor:
        # Created on access: a stored one would keep the iterator, and its threads, alive.
        return handle_of(self)

    def _advance(self) -> list[Any]:
        if self._saved is not None:
            self._follow()
        leaves = next(self._leaves)
        self._delivered += 1
        return leaves

    def next(self) -> Any:
        """The next element, for Python's `next`."""
        return self.__next__()

    def __next__(self) -> Any:
        if state.graph is not None:
            return _GraphIterator(self._handle, self._element_spec).get_next()
        if self._saved is not None:
            self._follow()
        leaves = next(self._leaves)
        self._delivered += 1
        return self._packer.element(leaves)

    def get_next(self) -> Any:
        """The next element; tf.errors.OutOfRangeError after the last."""
        try:
            return next(self)
        except StopIteration:
            raise errors.OutOfRangeError(
                None, None, "End of sequence [Op:IteratorGetNext]"
            ) from None

    def _position(self) -> Any:
        """The numbers to be saved, with which `_go_to` restores this position."""
        return np.array([self._delivered, *self._drawn], np.int64)

    def _checkpoint_children(self) -> dict[str, Any]:
        """The position, for a checkpoint."""
        from ..core.variable import Variable

        if self._saved is None:
            self._saved = Variable(self._position(), trainable=False, name="position")
        else:
            self._follow()
            self._saved.assign(self._position())
        self._known = self._saved._tensor
        return {"position": self._saved}

    def _follow(self) -> None:
        """Move to the position restored from a checkpoint."""
        if self._saved._tensor is not self._known:
            self._known = self._saved._tensor
            self._go_to(self._saved.numpy())

    def _go_to(self, position: Any) -> None:
        """Restart with the random orders of that iteration, and skip the elements delivered."""
        from .ahead import started

        delivered, *self._drawn = np.asarray(position).tolist()
        # Separate seeds: threads of the abandoned iteration may still draw from the old ones.
        orders = {
            id(seeds): seeds.at(drawn)
            for seeds, drawn in zip(self._dataset._random_orders(), self._drawn, strict=True)
        }
        self._dataset = self._dataset._restarted(orders)
        self._leaves = started(self._dataset, delivered)
        self._delivered = delivered

    def __repr__(self) -> str:
        return f"<runnel.data.iterators.OwnedIterator object at {id(self):#x}>"


class _GraphIterator(Iterator):
    """An iterator in a graph."""

    def __init__(self, handle: Tensor, element_spec: Any) -> None:
        self._handle = handle
        self._element_spec = element_spec

    def get_next(self) -> Any:
        """The next element; running the graph raises OutOfRangeError after the last."""
        packer = Packer(self._element_spec)
        parts = [part for spec in packer.specs for part in spec.flatten()]
        attrs = {
            "specs": packer.specs,
            "Tout": [part.dtype for part in parts],
            "shapes": [part.shape for part in parts],
        }
        tensors = iter(execute(IteratorGetNext, (self._handle,), attrs))
        return packer.packed([spec.from_tensors(tensors) for spec in packer.specs])

    def next(self) -> Any:
        """The next element."""
        return self.get_next()

    def __next__(self) -> Any:
        return self.get_next()

    def __runnel_builtin__(self, name: str, *arguments: Any, **keywords: Any) -> Any:
        return self.get_next() if name == "next" and len(arguments) == 1 else NotImplemented


def iterator_in_graph(dataset: Dataset, streams: Sequence[Any] = ()) -> Iterator:
    """An iterator that is made anew each time the graph runs, and lets `streams` begin anew."""
    handle = dataset._type_spec.to_tensors(dataset)[0]
    made = execute(MakeIterator, (handle,), {"streams": streams})
    return _GraphIterator(made, dataset.element_spec)


class NumpyIterator:
    """The elements of a dataset as NumPy arrays; what `as_numpy_iterator` gives.

    >>> list(tf.data.Dataset.range(2).as_numpy_iterator())
    [np.int64(0), np.int64(1)]
    """

    def __init__(self, dataset: Dataset) -> None:
        self._iterator = iter(dataset)

    def __iter__(self) -> NumpyIterator:
        return self

    def __next__(self) -> Any:
        return nest.map_structure(_as_numpy, next(self._iterator))

    def next(self) -> Any:
        """The next element."""
        return self.__next__()

    def save(self) -> Tensor:
        """The position of the iterator, as a string for `restore`."""
        held = np.empty((), object)
        held[()] = ",".join(map(str, self._iterator._position().tolist())).encode()
        return Tensor(held, dtypes.string)

    def restore(self, state: Any) -> None:
        """Move to the position of an iterator over the same dataset at its call of `save`."""
        text = np.asarray(state._array if isinstance(state, Tensor) else state).item()
        try:
            position = [int(part) for part in text.decode().split(",")]
        except (AttributeError, ValueError):
            raise errors.InvalidArgumentError(
                None, None, f"`state` is not what NumpyIterator.save gave: {text!r}"
            ) from None
        self._iterator._go_to(position)

    def __repr__(self) -> str:
        return f"NumpyIterator(iterator={self._iterator!r})"


def _as_numpy(value: Any) -> Any:
    from ..ops.sparse.conversion import to_dense
    from ..ops.sparse.sparse_tensor import SparseTensor

    if value is None:
        return None
    if isinstance(value, SparseTensor):
        value = to_dense(value)
    array = value.numpy()
    if isinstance(array, np.ndarray) and array.flags.writeable:
        array.flags.writeable = False
    return array
