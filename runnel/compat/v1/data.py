"""tf.compat.v1.data: `tf.data`, and iterators that run in sessions."""

from __future__ import annotations

import numpy as _np

import runnel as _tf

from ...core.context import state as _state
from ...core.errors import FailedPreconditionError as _FailedPreconditionError
from ...core.op import Op as _Op, execute as _execute
from ...core.shape_rules import nothing as _nothing, scalar as _scalar
from ...data.iterators import Handle as _Handle, OwnedIterator as _OwnedIterator, _GraphIterator
from .defaults import get_default_graph as _get_default_graph
from .variables import add_named as _add_named


class _Cell:
    """An iterator in a graph: each session has its own."""

    def __init__(self, graph):
        self.graph = graph

    def in_session(self, dataset=None):
        """The iterator in the active session; that of a dataset is created on first use."""
        iterators = _state.session.iterators
        if self not in iterators:
            if dataset is None:
                raise _FailedPreconditionError(
                    None, None, "GetNext() failed because the iterator has not been initialized. "
                    "Ensure that you have run the initializer operation for this iterator before "
                    "getting the next element.",
                )  # fmt: skip
            iterators[self] = _Handle(_OwnedIterator(dataset.value))
        return iterators[self]


# They are not in the registry: only a session runs them.
_IteratorV2 = _Op(
    "IteratorV2", "-> handle: dtype", lambda **attrs: attrs["cell"].in_session(), _scalar, True,
    False, {},
)  # fmt: skip

_OneShotIterator = _Op(
    "OneShotIterator", "dataset: resource -> handle: dtype",
    lambda dataset, *, dtype, cell: cell.in_session(dataset), _scalar, True, False, {},
)  # fmt: skip


def _initialize(dataset, *, cell):
    _state.session.iterators[cell] = _Handle(_OwnedIterator(dataset.value))
    return []


_MakeIterator = _Op("MakeIterator", "dataset: resource", _initialize, _nothing, True, False, {})


def _string_handle(iterator):
    handles = _state.session.iterator_handles
    name = f"iterator_{id(iterator)}".encode()
    handles[name] = iterator
    held = _np.empty((), object)
    held[()] = name
    return held


_IteratorToStringHandle = _Op(
    "IteratorToStringHandle", "resource_handle: resource -> string_handle: string",
    _string_handle, _scalar, True, False, {},
)  # fmt: skip
_IteratorFromStringHandle = _Op(
    "IteratorFromStringHandleV2", "string_handle: string -> resource_handle: dtype",
    lambda name, *, dtype: _state.session.iterator_handles[_np.asarray(name).item()], _scalar,
    True, False, {},
)  # fmt: skip


class Iterator(_GraphIterator):
    """A dataset iterator that runs in a session: `get_next()` returns tensors of its elements.

    >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    ...     dataset = tf.data.Dataset.range(2)
    ...     element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    ...     print([session.run(element).item() for _ in range(2)])
    [0, 1]
    """

    def __init__(self, handle, element_spec, initializer=None, cell=None):
        super().__init__(handle, element_spec)
        self._initializer = initializer
        self._cell = cell

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator over any dataset of this structure, which `make_initializer` takes."""
        types = _tf.nest.map_structure(_tf.as_dtype, output_types)
        if output_shapes is None:
            spec = _tf.nest.map_structure(lambda dtype: _tf.TensorSpec(None, dtype), types)
        else:
            flat = _tf.nest.flatten(types)
            shapes = output_shapes if len(flat) > 1 or isinstance(types, dict | tuple) else (
                [output_shapes])  # fmt: skip
            if len(flat) > 1 or isinstance(types, dict | tuple):
                shapes = _flat_shapes(types, output_shapes)
            specs = [_tf.TensorSpec(*each) for each in zip(shapes, flat, strict=True)]
            spec = _tf.nest.pack_sequence_as(types, specs)
        return _made(spec)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator whose `string_handle()` is fed."""
        like = Iterator.from_structure(output_types, output_shapes)
        text = _tf.convert_to_tensor(string_handle, _tf.string)
        handle = _execute(_IteratorFromStringHandle, (text,), {"dtype": _tf.resource})
        return Iterator(handle, like.element_spec)

    @property
    def element_spec(self):
        """The specs of the elements."""
        return self._element_spec

    @property
    def initializer(self):
        """The operation that restarts the iterator."""
        if self._initializer is None:
            raise ValueError(
                "Iterator does not have an initializer: use make_initializable_iterator."
            )
        return self._initializer

    def make_initializer(self, dataset, name=None):
        """The operation that starts the iterator over a dataset."""
        if not _tf.nest.map_structure(lambda a, b: a.is_compatible_with(b), self._element_spec,
                                      dataset.element_spec):  # fmt: skip
            raise TypeError(f"The dataset has elements {dataset.element_spec}.")
        handle = dataset._type_spec.to_tensors(dataset)[0]
        with self._cell.graph.as_default():
            return _execute(_MakeIterator, (handle,), {"cell": self._cell})

    def string_handle(self, name=None):
        """A string to feed where `from_string_handle` takes one."""
        return _execute(_IteratorToStringHandle, (self._handle,))

    output_types = property(lambda self: get_output_types(self))
    output_shapes = property(lambda self: get_output_shapes(self))
    output_classes = property(lambda self: get_output_classes(self))


def _flat_shapes(types, shapes):
    """The shapes of a structure, one for each dtype."""
    if isinstance(types, dict):
        return [each for key in sorted(types) for each in _flat_shapes(types[key], shapes[key])]
    if isinstance(types, tuple | list):
        pairs = zip(types, shapes, strict=True)
        return [each for kind, shape in pairs for each in _flat_shapes(kind, shape)]
    return [shapes]


def _made(element_spec, *datasets):
    graph = _get_default_graph()
    cell = _Cell(graph)
    kind = _OneShotIterator if datasets else _IteratorV2
    attrs = {"dtype": _tf.resource, "cell": cell}
    operation = _add_named(graph, graph.unique_name(kind.name), kind, datasets, attrs)
    return Iterator(operation.outputs[0], element_spec, cell=cell)


def make_one_shot_iterator(dataset):
    """An iterator that starts by itself in each session, without an initializer."""
    if _state.graph is None:
        return iter(dataset)
    return _made(dataset.element_spec, dataset._type_spec.to_tensors(dataset)[0])


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator that `session.run(iterator.initializer)` starts, with feeds if needed."""
    if _state.graph is None:
        raise RuntimeError(
            "make_initializable_iterator is not supported when eager execution is enabled. Use "
            "`for element in dataset` instead."
        )
    iterator = _made(dataset.element_spec)
    iterator._initializer = iterator.make_initializer(dataset)
    return iterator


# The structures of elements.


def get_output_types(dataset_or_iterator):
    """The dtypes of the elements."""
    return _tf.nest.map_structure(lambda spec: spec.dtype, dataset_or_iterator.element_spec)


def get_output_shapes(dataset_or_iterator):
    """The shapes of the elements."""
    return _tf.nest.map_structure(lambda spec: spec.shape, dataset_or_iterator.element_spec)


def get_output_classes(dataset_or_iterator):
    """The classes of the elements."""
    return _tf.nest.map_structure(lambda spec: spec.value_type, dataset_or_iterator.element_spec)


# Programs of TensorFlow 1 call them as methods of any dataset.
for _function in (make_one_shot_iterator, make_initializable_iterator):
    setattr(_tf.data.Dataset, _function.__name__, _function)


def __getattr__(name: str) -> object:
    if name == "__all__":
        # The names for `from ... import *`, including lazily loaded ones.
        return [each for each in __dir__() if not each.startswith("_")]
    return getattr(_tf.data, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.data)})
