"""Graphs in TensorBoard: `tf.summary.graph`, and functions called between trace_on and export."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import runnel as tf

from ..core.context import state
from ..core.graph.concrete import BackwardFunction, ConcreteFunction
from ..core.graph.graph import FuncGraph, Graph
from ..core.logger import get_logger
from ..core.tensor import SymbolicTensor
from ..formats.events import GRAPH_DEF, event
from . import encoding
from .recording import _FALSE, queued, write
from .writers import recording

_NOT_ON = "Must enable trace before export through tf.summary.trace_on."


def graph(graph_data: Any) -> Any:
    """Write a graph (a tf.Graph or a GraphDef), for TensorBoard's graph dashboard.

    >>> import tempfile
    >>> square = tf.function(lambda x: x * x).get_concrete_function(tf.TensorSpec([], tf.float32))
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     wrote = tf.summary.graph(square.graph)
    """
    if state.graph is not None:
        raise ValueError(
            "graph() cannot be invoked inside a graph context. Call tf.summary.graph outside of "
            "the tf.function, with concrete_function.graph."
        )
    if not recording():
        return _FALSE
    if isinstance(graph_data, Graph):
        message = _graph_def(graph_data, add_shapes=True)
    elif getattr(getattr(graph_data, "DESCRIPTOR", None), "name", None) == "GraphDef":
        message = graph_data
    else:
        raise ValueError(
            "Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received "
            f"graph_data={graph_data} of type {type(graph_data).__name__}. The graph of a "
            "tf.function is function.get_concrete_function(...).graph."
        )
    return queued(event(GRAPH_DEF, message.SerializeToString()))


def _graph_def(graph: Graph, add_shapes: bool = False) -> Any:
    from ..saved_model.graph_export import as_graph_def

    return as_graph_def(graph, None, add_shapes, strict=False)


class _Trace:
    """A trace: the functions called while it is active, and optionally a profile of them."""

    def __init__(self, with_graph: bool, profiling: Any) -> None:
        self.graphs: dict[int, Graph] = {}
        self.profiling = profiling
        self.with_profile = profiling is not None
        self._watched = _watched(self.graphs) if with_graph else []

    def stop_watching(self) -> None:
        for kind, name, method in self._watched:
            setattr(kind, name, method)
        self._watched = []


def _watched(graphs: dict[int, Graph]) -> list[tuple[Any, str, Any]]:
    """Record the graphs of called functions; returns the original methods.

    The methods are replaced only while a trace is active, so that calls have no overhead otherwise.
    """
    call, call_with = ConcreteFunction.call, BackwardFunction.call_with

    def noted_call(self: ConcreteFunction, tensors: Sequence[Any]) -> Any:
        if state.graph is None:
            graphs.setdefault(id(self.graph), self.graph)
        return call(self, tensors)

    def noted_call_with(self: BackwardFunction, weights: Sequence[Any], held: Sequence[Any]) -> Any:
        if state.graph is None:
            graphs.setdefault(id(self.graph), self.graph)
        return call_with(self, weights, held)

    ConcreteFunction.call = noted_call  # type: ignore[method-assign]
    BackwardFunction.call_with = noted_call_with  # type: ignore[method-assign]
    return [(ConcreteFunction, "call", call), (BackwardFunction, "call_with", call_with)]


class _Current:
    """The active trace."""

    trace: _Trace | None = None


def trace_on(graph: bool = True, profiler: bool = False, profiler_outdir: Any = None) -> None:
    """Record the functions that are called, until `trace_export` writes their graphs.

    Args:
      graph: Whether to record the graphs.
      profiler: Whether to profile the program as well.
      profiler_outdir: The folder of the profile. It can also be given to `trace_export`.
    """
    if state.graph is not None:
        get_logger().warning("Cannot enable trace inside a tf.function.")
        return
    if _Current.trace is not None:
        get_logger().warning("Trace already enabled")
        return
    profiling = None
    if profiler:
        from .profiles import Profiling

        profiling = Profiling(profiler_outdir)
    _Current.trace = _Trace(graph or profiler, profiling)


def trace_export(name: str, step: Any = None, profiler_outdir: Any = None) -> None:
    """Write the recorded functions under a name, and stop the trace.

    >>> import tempfile
    >>> square = tf.function(lambda x: x * x)
    >>> tf.summary.trace_on(graph=True)
    >>> result = square(tf.constant(3.0))
    >>> with tf.summary.create_file_writer(tempfile.mkdtemp()).as_default():
    ...     tf.summary.trace_export("square", step=0)
    """
    if state.graph is not None:
        get_logger().warning("Cannot export trace inside a tf.function.")
        return
    trace = _Current.trace
    if trace is None:
        raise ValueError(_NOT_ON)
    plugin = "graph_run_metadata" if trace.with_profile else "graph_run_metadata_graph"
    trace.stop_watching()
    message = run_metadata(list(trace.graphs.values()))
    about = encoding.metadata(plugin, None, b"1")
    write(name, tf.constant(message.SerializeToString()), step, about)
    _Current.trace = None
    if trace.profiling is not None:
        trace.profiling.export(profiler_outdir)


def trace_off() -> None:
    """Stop the trace, and discard the recorded functions.

    >>> tf.summary.trace_off()
    """
    trace, _Current.trace = _Current.trace, None
    if trace is not None:
        trace.stop_watching()
        if trace.profiling is not None:
            trace.profiling.stop()


def run_metadata(graphs: Sequence[Graph]) -> Any:
    """The RunMetadata message with the graphs of functions."""
    from tensorboard.compat.proto.config_pb2 import RunMetadata

    message = RunMetadata()
    for each in graphs:
        definition = _function_graph(each)
        functions = message.function_graphs.add()
        functions.partition_graphs.append(definition)
        functions.pre_optimization_graph.CopyFrom(definition)
        functions.post_optimization_graph.CopyFrom(definition)
        message.partition_graphs.append(definition)
    return message


def _function_graph(graph: Graph) -> Any:
    """The GraphDef of a function call: arguments and results are nodes."""
    definition = _graph_def(graph)
    if not isinstance(graph, FuncGraph):
        return definition
    nodes = {node.name: node for node in definition.node}
    feeds = [*graph.inputs, *graph.internal_captures]
    for index, feed in enumerate(feeds):
        node = nodes.get(feed.op.name)
        if node is not None:
            node.op = "_Arg"
            node.attr["T"].type = feed.dtype.as_datatype_enum
            node.attr["index"].i = index
            del node.attr["dtype"]
            node.attr.pop("shape", None)
    for index, output in enumerate(graph.outputs):
        if not isinstance(output, SymbolicTensor) or output.op.name not in nodes:
            continue
        source = output.op
        place = f":{output.index}" if output.index else ""
        node = definition.node.add(name=f"{source.name}_RetVal", op="_Retval")
        node.input.append(source.name + place)
        node.attr["T"].type = output.dtype.as_datatype_enum
        node.attr["index"].i = index
    return definition
