"""Session: runs subgraphs, and holds the values of graph variables."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import Any

import numpy as np

from ...compiler.passes import rewritten
from ...compiler.passes.computation import Computation, operation_like
from ...compiler.plan import Plan
from ...core import errors
from ...core.context import state
from ...core.convert import array_of
from ...core.graph.graph import FuncGraph, Operation
from ...core.ownership import is_own
from ...core.tensor import SymbolicTensor, Tensor
from ...core.variable import Variable
from ...ops.random_streams import Stream
from .defaults import get_default_graph, sessions
from .fetching import fetched
from .partial_runs import PartialRuns
from .server import SharedValues, server_of
from .values import RaggedTensorValue, parts_of
from .variables import GraphVariable, HandleOp, snapshot

# Operations that create queues: once per session.
_QUEUES = frozenset(
    {"FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2"}
)

# The reference count of an array that only the results of a run hold: from the results, from a
# local name and from the argument of the count itself.
_OWN = 3


def get_default_session():
    """The session of the innermost `with session.as_default():`, or None."""
    return sessions.innermost()


def session_for(session: Any, graph: Any, what: str) -> Any:
    """The given session, or the default one; ValueError where there is none for this graph."""
    if session is None:
        session = get_default_session()
        if session is None:
            raise ValueError(
                f"Cannot execute operation using `{what}`: No default session is registered. Use "
                "`with sess.as_default()` or pass an explicit session to `run(session=sess)`."
            )
        if session.graph is not graph:
            raise ValueError(
                "Cannot use the default session to execute operation: the operation's graph is "
                "different from the session's graph. Pass an explicit session."
            )
    elif session.graph is not graph:
        raise ValueError(
            "Cannot use the given session to execute operation: the operation's graph is different "
            "from the session's graph."
        )
    return session


class _Step:
    """The plan for a set of fetches and feeds."""

    def __init__(self, session, fetches, feeds, done=frozenset()):
        graph = session.graph
        tensors = [each for each in fetches if isinstance(each, Tensor)]
        needed = [each for each in _needed(graph, fetches, feeds, done) if id(each) not in done]
        session.require_devices(needed)
        for operation in needed:
            if operation.type == "Placeholder":
                _missing(operation)
        # All remaining operations are needed, those with side effects too, as in a function.
        computation = Computation(FuncGraph("session", graph), feeds, tensors, needed)
        computation = rewritten(computation.rewritten(session.with_own_state))
        self.plan = Plan(
            graph, computation.feeds, computation.fetches, "session", computation.operations
        )
        self.writes = any(
            operation.op.stateful and any(t.dtype.name == "resource" for t in operation.inputs)
            for operation in computation.operations
            if operation.type != "ReadVariableOp"
        )
        # Referenced here, so that their ids are not reused.
        self.fetches = fetches
        self.feeds = feeds


def _needed(graph, fetches, feeds, done=frozenset()):
    """The operations, in program order, that the fetches need; nothing is needed for those done."""
    fed = {id(tensor) for tensor in feeds}
    wanted = {
        id(each if isinstance(each, Operation) else each.op)
        for each in fetches
        if id(each) not in fed
    }
    kept = []
    for operation in reversed(graph.operations):
        if id(operation) not in wanted or id(operation) in done:
            continue
        kept.append(operation)
        for tensor in operation.inputs:
            if isinstance(tensor, SymbolicTensor) and id(tensor) not in fed:
                wanted.add(id(tensor.op))
        wanted.update(id(before) for before in operation.control_inputs)
    kept.reverse()
    return [each for each in kept if not any(id(output) in fed for output in each.outputs)]


def _missing(operation):
    from ...core.op import type_text

    tensor = operation.outputs[0]
    shape = "<unknown>" if tensor.shape.rank is None else _dimensions(tensor.shape)
    raise errors.InvalidArgumentError(
        None,
        operation,
        f"You must feed a value for placeholder tensor '{operation.name}' with dtype "
        f"{type_text(tensor.dtype)} and shape {shape}\n\t [[{{{{node {operation.name}}}}}]]",
    )


def _dimensions(shape):
    return f"[{','.join('?' if size is None else str(size) for size in shape.as_list())}]"


class BaseSession:
    """The base class of sessions."""

    def __init__(self, target="", graph=None, config=None):
        if not isinstance(target, str | bytes):
            raise TypeError(f"Argument `target` must be a string, but got {type(target).__name__}.")
        self._target = target
        self._graph = get_default_graph() if graph is None else graph
        if not hasattr(self._graph, "get_operations"):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got {type(graph).__name__}.")
        self._config = config
        self._closed = False
        self._steps = {}
        self._streams = {}
        self._queues = {}
        self._partial_runs = PartialRuns()
        # Iterators over datasets by the cells of the graph, and by the strings that stand for them.
        self.iterators = {}
        self.iterator_handles = {}
        # The values of the variables by key; those of a server are not this session's.
        self._shared = SharedValues(server_of(target)) if target else None
        self.values = {} if self._shared is None else self._shared

    @property
    def graph(self):
        return self._graph

    @property
    def graph_def(self):
        return self._graph.as_graph_def()

    @property
    def sess_str(self):
        return self._target

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """The values of the fetches, a structure of tensors, operations, variables and names.

        `feed_dict` maps tensors, or their names, to their values in this run.
        """
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if not self._graph.operations:
            raise RuntimeError(
                "The Session graph is empty. Add operations to the graph before calling run()."
            )
        leaves, rebuild = fetched(self._graph, fetches)
        keys, values = self._feeds(feed_dict)
        return rebuild(self._results(leaves, keys, values))

    def partial_run_setup(self, fetches, feeds=None):
        """Begin a run in parts: what may be fetched and fed in it; the handle of the run."""
        leaves, _ = fetched(self._graph, fetches)
        keys = [_tensor(self._graph, each) for each in feeds or ()]
        return self._partial_runs.begun(leaves, keys)

    def partial_run(self, handle, fetches, feed_dict=None):
        """Go on with a run in parts: each operation is done once in all of them.

        >>> with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        ...     x, y = (tf.compat.v1.placeholder(tf.float32, []) for _ in range(2))
        ...     total = x + 1.0
        ...     product = total * y
        ...     run = session.partial_run_setup([total, product], [x, y])
        ...     print(session.partial_run(run, total, {x: 2.0}))
        ...     print(session.partial_run(run, product, {y: 5.0}))
        3.0
        15.0
        """
        leaves, rebuild = fetched(self._graph, fetches)
        keys, values = self._feeds(feed_dict)
        return rebuild(self._partial_runs.gone_on(self, handle, leaves, keys, values))

    def _results(self, leaves, keys, values, done=frozenset()):
        name = (*map(id, leaves), None, *map(id, keys), None, *done)
        step = self._steps.get(name)
        if step is None:
            step = self._steps[name] = _Step(self, leaves, keys, done)
        if self._shared is not None:
            self._shared.require_open()
        if step.writes:
            # A variable may store the fed array; the user may change it afterwards.
            values = [value.copy() for value in values]
        with self._at_work():
            arrays = list(step.plan.run(*values))
        del values
        results = []
        for leaf in leaves:
            if isinstance(leaf, Operation):
                results.append(None)
            else:
                array = arrays.pop(0)
                results.append(_given_out(array))
        return results

    @contextmanager
    def _at_work(self):
        """Run kernels eagerly, on this session's values of the variables."""
        before = state.graph, state.home, state.session, state.tapes, state.name_scope
        state.graph = state.home = None
        state.session, state.tapes = self, ()
        try:
            yield
        finally:
            state.graph, state.home, state.session, state.tapes, state.name_scope = before

    def _feeds(self, feed_dict):
        keys, values = [], []
        for key, value in (feed_dict or {}).items():
            for tensor, array in _fed(self._graph, key, value):
                keys.append(tensor)
                values.append(_as_fed(tensor, array))
        return keys, values

    def with_own_state(self, operation):
        """A random operation with a stream of this session; or an operation with its own queue."""
        if operation.type in _QUEUES:
            return operation_like(operation, HandleOp, (), self._queue_attrs(operation))
        if "_stream" not in operation.given:
            return None
        given = operation.given
        stream = self._streams.get(operation.name)
        if stream is None:
            stream = self._streams[operation.name] = Stream(given["seed"], given["seed2"])
        attrs = {**given, "_stream": stream}
        return operation_like(operation, operation.op, operation.inputs, attrs)

    def _queue_attrs(self, operation):
        """The queue that an operation creates, which the session stores from its first run on."""
        queue = self._queues.get(operation.name)
        if queue is None:
            queue = self._queues[operation.name] = operation.op.kernel(**operation.attrs)
        return {"dtype": operation.outputs[0].dtype, "variable": queue}

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs the fetches with values for the tensors of `feed_list`."""
        leaves, rebuild = fetched(self._graph, fetches)
        keys = [_tensor(self._graph, each) for each in feed_list or ()]

        def run(*values, **options):
            if len(values) != len(keys):
                raise TypeError(f"{len(keys)} values are to be fed, {len(values)} were given.")
            arrays = [_as_fed(key, value) for key, value in zip(keys, values, strict=True)]
            return rebuild(self._results(leaves, keys, arrays))

        return run

    def list_devices(self):
        """The devices that operations run on."""
        from ...config import list_logical_devices

        if self._shared is not None:
            return self._shared.devices()
        prefix = "/job:localhost/replica:0/task:0"
        return [each._replace(name=prefix + each.name) for each in list_logical_devices()]

    def require_devices(self, operations):
        """Refuse operations on devices that the session does not have."""
        if self._shared is not None:
            self._shared.require_devices(operations)

    def lock_of(self, variable):
        """The lock held during an update of a variable."""
        return variable._own_lock if self._shared is None else self._shared.lock(variable._key)

    def close(self):
        """Release the values of the variables; the session cannot be used any more."""
        self._closed = True
        self._steps.clear()
        self.values = {}

    def as_default(self):
        """A context in which `eval()` and `run()` use this session."""
        return sessions.entered(self)


class Session(BaseSession):
    """Runs operations of a graph and holds the values of its variables.

    >>> with tf.Graph().as_default():
    ...     x = tf.compat.v1.placeholder(tf.float32, [None])
    ...     total = tf.reduce_sum(x * 2.0)
    ...     with tf.compat.v1.Session() as session:
    ...         print(session.run(total, feed_dict={x: [1.0, 2.0]}))
    6.0
    """

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._entered = []

    def __enter__(self):
        contexts = [self._graph.as_default(), self.as_default()]
        for context in contexts:
            context.__enter__()
        self._entered.append(contexts)
        return self

    def __exit__(self, *exception):
        for context in reversed(self._entered.pop()):
            context.__exit__(*exception)
        if not self._entered:
            self.close()

    @staticmethod
    def reset(target, containers=None, config=None):
        """Release the values of variables on the server of a target, and end its sessions.

        `containers` restricts this to those containers.
        """
        if target:
            server_of(target).reset(containers)


class InteractiveSession(BaseSession):
    """A session that is the default one from its creation to `close()`."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        sessions.push(self)
        self._graph_context = None
        if graph is not None and graph is not state.graph:
            self._graph_context = graph.as_default()
            self._graph_context.__enter__()

    def close(self):
        """Release the values, and stop being the default session."""
        super().close()
        sessions.remove(self)
        if self._graph_context is not None:
            self._graph_context.__exit__(None, None, None)
            self._graph_context = None


def _given_out(array):
    """A result that the user may modify: not the buffer of a variable, a constant or a feed."""
    if isinstance(array, np.ndarray):
        if not array.ndim:
            return array[()]
        shared = not is_own(array) or not array.flags.writeable
        if shared or sys.getrefcount(array) > _OWN:
            return array.copy()
    return array


def _tensor(graph, key):
    if isinstance(key, GraphVariable):
        return snapshot(key)
    if isinstance(key, (str, bytes)):
        name = key.decode() if isinstance(key, bytes) else key
        try:
            return graph.get_tensor_by_name(name)
        except (KeyError, ValueError) as error:
            raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
    if not isinstance(key, SymbolicTensor):
        raise TypeError(
            "Cannot interpret feed_dict key as Tensor: Can not convert a "
            f"{type(key).__name__} into a Tensor."
        )
    if key.op.graph is not graph:
        raise TypeError(
            f"Cannot interpret feed_dict key as Tensor: Tensor {key} is not an element of this "
            "graph."
        )
    if not graph.is_feedable(key):
        raise ValueError(f"Tensor {key.name} may not be fed.")
    return key


def _fed(graph, key, value):
    """The fed tensors, each with its value."""
    parts = parts_of(key)
    if parts is not None:
        if isinstance(value, RaggedTensorValue):
            value = (value.flat_values, *value.nested_row_splits)
        return list(zip(parts, tuple(value), strict=False))
    return [(_tensor(graph, key), value)]


def _as_fed(tensor, value):
    """The array to feed."""
    if isinstance(value, (SymbolicTensor, Variable)):
        raise TypeError(
            "The value of a feed cannot be a tf.Tensor object. Acceptable feed values include "
            "Python scalars, strings, lists, numpy ndarrays, or TensorHandles. For reference, the "
            f"tensor object was {value!s} which was passed to the argument `feed_dict` with key "
            f"{tensor!s}."
        )
    dtype = tensor.dtype
    if isinstance(value, Tensor):
        value = value._array
    if dtype.name == "string":
        array = array_of(value, dtype)[0]
        if isinstance(value, np.ndarray) and value.dtype == object:
            array = np.array([_bytes(each) for each in value.flat], object).reshape(value.shape)
    else:
        fits = type(value) is not int or not dtype.is_integer or dtype.min <= value <= dtype.max
        if not fits:
            raise TypeError(
                f"Type of feed value {value} with type {type(value)} is not compatible with "
                f"Tensor type {dtype.as_numpy_dtype}. Try explicitly setting the type of the "
                "feed tensor to a larger type (e.g. int64)."
            )
        array = np.asarray(value, dtype=dtype.numpy)
    if not tensor.shape.is_compatible_with(array.shape):
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, which has shape "
            f"{_python_shape(tensor.shape)}"
        )
    return array if array.ndim or dtype.name == "string" else array[()]


def _bytes(value):
    return value.encode() if isinstance(value, str) else value


def _python_shape(shape):
    return None if shape.rank is None else tuple(shape.as_list())
