"""The fetches of a session: tensors, operations, variables and names, in any structure."""

from __future__ import annotations

from collections.abc import Mapping

from ...core.convert import convert_to_tensor
from ...core.graph.graph import Operation
from ...core.tensor import SymbolicTensor
from .values import composite_value, parts_of
from .variables import GraphVariable, snapshot


def fetched(graph, fetches):
    """The tensors and operations of a structure, and a function to rebuild it from values."""
    if isinstance(fetches, SymbolicTensor) and fetches.op.graph is graph:
        return [_allowed(graph, fetches)], _only
    leaves = []
    build = _walk(graph, fetches, leaves)
    return leaves, build


def _allowed(graph, element):
    if not graph.is_fetchable(element):
        name = element.name if isinstance(element, Operation) else element.op.name
        raise ValueError(
            f"Operation {name} has been marked as not fetchable (tf.Graph.prevent_fetching). Fetch "
            "another tensor."
        )
    return element


def _only(values):
    return values[0]


def _walk(graph, fetch, leaves):
    """Collect the leaves of a structure; returns a function from all values to the result."""
    if fetch is None:
        raise TypeError(
            f"Argument `fetch` = {fetch} has invalid type {type(fetch).__name__!r}. Cannot be None."
        )
    if isinstance(fetch, list | tuple):
        parts = [_walk(graph, each, leaves) for each in fetch]
        kind = type(fetch)
        if hasattr(fetch, "_fields"):
            return lambda values: kind(*[part(values) for part in parts])
        return lambda values: kind([part(values) for part in parts])
    if isinstance(fetch, Mapping):
        keys = list(fetch)
        parts = [_walk(graph, fetch[key], leaves) for key in keys]
        kind = type(fetch)
        return lambda values: kind(
            [(key, part(values)) for key, part in zip(keys, parts, strict=True)]
        )
    components = parts_of(fetch)
    if components is not None:
        parts = [_part(graph, each, leaves) for each in components]
        return lambda values: composite_value(fetch, [part(values) for part in parts])
    if hasattr(type(fetch), "__attrs_attrs__"):
        names = [each.name for each in type(fetch).__attrs_attrs__]
        parts = [_walk(graph, getattr(fetch, name), leaves) for name in names]
        return lambda values: type(fetch)(*[part(values) for part in parts])
    position = len(leaves)
    leaves.append(_allowed(graph, _leaf(graph, fetch)))
    return lambda values: values[position]


def _part(graph, tensor, leaves):
    if isinstance(tensor, SymbolicTensor):
        return _walk(graph, tensor, leaves)
    return lambda values: convert_to_tensor(tensor).numpy()


def _leaf(graph, fetch):
    if isinstance(fetch, GraphVariable):
        return _of_graph(graph, snapshot(fetch), fetch)
    if isinstance(fetch, str | bytes):
        name = fetch.decode() if isinstance(fetch, bytes) else fetch
        try:
            return _value(graph.as_graph_element(name))
        except (KeyError, ValueError) as error:
            raise ValueError(
                f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})"
            ) from None
    if isinstance(fetch, SymbolicTensor | Operation):
        return _value(_of_graph(graph, fetch, fetch))
    raise TypeError(
        f"Fetch argument {fetch!r} has invalid type {type(fetch).__name__!r}, must be a string or "
        f"Tensor. (Can not convert a {type(fetch).__name__} into a Tensor or Operation.)"
    )


def _value(element):
    """A variable's handle is fetched as its value."""
    if isinstance(element, SymbolicTensor) and element.op.type == "VarHandleOp":
        return snapshot(element.op.given["variable"])
    return element


def _of_graph(graph, element, fetch):
    owner = element.graph if isinstance(element, Operation) else element.op.graph
    if owner is not graph:
        raise ValueError(
            f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({element!r} is not an "
            "element of this graph.)"
        )
    return element
