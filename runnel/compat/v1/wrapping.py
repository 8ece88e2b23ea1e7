"""Functions of tensors from code for v1 graphs, with its variables and subgraphs."""

from __future__ import annotations

import re

import runnel as tf

from ...core.graph.concrete import ConcreteFunction, structure_of
from ...core.graph.graph import FuncGraph, Operation, replay
from ...core.graph.reachability import needed_of
from ...core.graph.signature import BoundSignature, Described, Parameters
from ...core.tensor import Tensor


class WrappedFunction(ConcreteFunction):
    """A function traced once. It runs the side effects that its results need, like a session."""

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """The function from some tensors of the graph to others; an operation returns None.

        >>> double = tf.compat.v1.wrap_function(
        ...     lambda x: tf.add(tf.multiply(x, 2.0, name="double"), 1.0), [tf.TensorSpec([])])
        >>> double.prune("x:0", "double:0")(tf.constant(4.0)).numpy()
        np.float32(8.0)
        """
        element = self.graph.as_graph_element
        feeds, fetches = tf.nest.map_structure(element, (feeds, fetches))
        flat_feeds = tf.nest.flatten(feeds)
        specs = [tf.TensorSpec(feed.shape, feed.dtype) for feed in flat_feeds]
        if input_signature is not None:
            specs = tf.nest.flatten(input_signature)
        graph = FuncGraph(name or "pruned")
        graph.new_variables = None
        graph.variables.update(self.graph.variables)
        with graph.building():
            values = {id(inside): outside for outside, inside in self.graph.captures}
            for feed, spec in zip(flat_feeds, specs, strict=True):
                values[id(feed)] = graph.add_input(spec.dtype, spec.shape, feed.op.name)
            replay(self._needed(flat_feeds, tf.nest.flatten(fetches)), values, _read)
            results = tf.nest.map_structure(
                lambda each: values.get(id(each), each) if isinstance(each, Tensor) else None,
                fetches,
            )
            structure, graph.outputs = structure_of(results, graph)
        return WrappedFunction(graph, structure, _signature(graph, specs))

    def _needed(self, feeds, fetches):
        """The operations that fetches need; ValueError where one needs a tensor that is not fed."""
        known = [*feeds, *(inside for _, inside in self.graph.captures)]
        wanted = [each for each in fetches if isinstance(each, Tensor)]
        effects = [each for each in fetches if isinstance(each, Operation)]
        wanted += [tensor for each in effects for tensor in (*each.outputs, *each.inputs)]
        needed = needed_of(self.graph.operations, known, wanted, False)
        chosen = {id(each) for each in (*needed, *effects)}
        fed = {id(tensor) for tensor in known}
        for operation in needed:
            if operation.type == "Placeholder" and id(operation.outputs[0]) not in fed:
                raise ValueError(
                    f"Unable to lift {[each.name for each in fetches]}: the placeholder "
                    f"{operation.name!r} is needed for it. Add '{operation.name}:0' to the feeds."
                )
        return [each for each in self.graph.operations if id(each) in chosen]


def _read(variable):
    return variable._as_tensor()


def _signature(graph, specs):
    """The inputs by position, or by the names of their placeholders."""
    import inspect

    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    names = [re.sub(r"\W", "_", tensor.op.name) for tensor in graph.inputs]
    signature = inspect.Signature([inspect.Parameter(each, kind) for each in names])
    return BoundSignature(Parameters(Described(signature)), tuple(specs), {})


def wrap_function(fn, signature, name=None):
    """A function of tensors, traced once: `fn` may create variables, also with tf.compat.v1.

    >>> def scaled(x):
    ...     return x * tf.compat.v1.get_variable("scale", initializer=3.0)
    >>> function = tf.compat.v1.wrap_function(scaled, [tf.TensorSpec([])])
    >>> function(tf.constant(2.0)).numpy()
    np.float32(6.0)
    >>> [variable.name for variable in function.variables]
    ['scale:0']
    """
    function = tf.function(fn, autograph=False)
    concrete, _ = function._trace(tuple(signature), {}, None, True)
    graph = concrete.graph
    graph.building_function = False
    return WrappedFunction(graph, concrete._structure, concrete._signature)
