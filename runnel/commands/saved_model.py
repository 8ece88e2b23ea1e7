"""`python -m runnel saved_model show DIR`: the graphs, signatures and functions of a SavedModel."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from typing import Any

from tensorboard.compat.proto import types_pb2

from ..core.errors import OpError
from ..core.type_spec import TypeSpec
from ..saved_model.graph_import import missing_ops
from ..saved_model.reading import read_saved_model
from ..saved_model.structured_values import decode, is_callable
from . import plain


def main(arguments: list[str]) -> int:
    """Do what the arguments ask for; the result is the exit code."""
    options = _parser().parse_args(arguments)
    try:
        for line in _lines(options):
            print(plain(line))
    except BrokenPipeError:
        # Whoever reads, `head` for one, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OpError, OSError, RuntimeError, ValueError) as error:
        words = plain(str(getattr(error, "message", None) or error))
        print(f"runnel saved_model: {words}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runnel saved_model", description="Look into a SavedModel."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("show", help="print the tag-sets, signatures and functions")
    show.add_argument("folder", metavar="DIR", help="the folder of the SavedModel")
    show.add_argument("--all", action="store_true", help="print everything there is")
    show.add_argument("--tag_set", help="the tags of a graph, with commas between them")
    show.add_argument("--signature_def", metavar="KEY", help="the signature to print")
    return parser


def _lines(options: argparse.Namespace) -> Iterator[str]:
    saved = read_saved_model(options.folder)
    if options.all:
        for graph in saved.meta_graphs:
            yield from _everything(graph)
    elif options.tag_set is None:
        yield "The given SavedModel contains the following tag-sets:"
        for graph in saved.meta_graphs:
            yield _tags(graph)
    else:
        graph = _tagged(saved, options.tag_set)
        if options.signature_def is None:
            yield (
                "The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:"
            )
            for key in sorted(graph.signature_def):
                yield f'SignatureDef key: "{key}"'
        else:
            yield from _signature(graph, options.signature_def, "")


def _tags(graph: Any) -> str:
    return ", ".join(f"'{tag}'" for tag in sorted(graph.meta_info_def.tags))


def _tagged(saved: Any, tag_set: str) -> Any:
    wanted = set(tag_set.split(","))
    for graph in saved.meta_graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    known = [",".join(sorted(graph.meta_info_def.tags)) for graph in saved.meta_graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tag-set {tag_set} could not be found in the SavedModel. "
        f"Please use one of the following tag-sets: {known}"
    )


def _everything(graph: Any) -> Iterator[str]:
    yield ""
    yield f"MetaGraphDef with tag-set: {_tags(graph)} contains the following SignatureDefs:"
    for key in sorted(graph.signature_def):
        yield ""
        yield f"signature_def['{key}']:"
        yield from _signature(graph, key, "  ")
    library = {each.signature.name: each for each in graph.graph_def.library.function}
    nodes = [*graph.graph_def.node, *(n for each in library.values() for n in each.node_def)]
    tags = sorted(graph.meta_info_def.tags)
    yield (
        f"The MetaGraph with tag set {tags} contains the following ops: "
        f"{sorted({node.op for node in nodes})}"
    )
    if graph.asset_file_def:
        yield ""
        yield "Assets:"
        for asset in graph.asset_file_def:
            yield f"  {asset.filename}"
    if graph.HasField("object_graph_def"):
        yield from _functions(graph.object_graph_def)
        yield from _lacking(graph.object_graph_def, library)


def _signature(graph: Any, key: str, indent: str) -> Iterator[str]:
    if key not in graph.signature_def:
        known = ", ".join(sorted(graph.signature_def))
        raise ValueError(f'Could not find signature "{key}". Please choose from: {known}')
    signature = graph.signature_def[key]
    for kind, tensors in (("input", signature.inputs), ("output", signature.outputs)):
        yield f"{indent}The given SavedModel SignatureDef contains the following {kind}(s):"
        for name in sorted(tensors):
            info = tensors[name]
            yield f"{indent}  {kind}s['{name}'] tensor_info:"
            if info.WhichOneof("encoding") == "composite_tensor":
                spec = info.composite_tensor.type_spec
                yield f"{indent}      composite: {spec.type_spec_class_name}"
                for part in info.composite_tensor.components:
                    yield f"{indent}      name: {part.name}"
                continue
            yield f"{indent}      dtype: {types_pb2.DataType.Name(info.dtype)}"
            yield f"{indent}      shape: {_shape(info.tensor_shape)}"
            yield f"{indent}      name: {info.name}"
    yield f"{indent}Method name is: {signature.method_name}"


def _shape(shape: Any) -> str:
    if shape.unknown_rank:
        return "unknown_rank"
    return f"({', '.join(str(dim.size) for dim in shape.dim)})"


def _functions(objects: Any) -> Iterator[str]:
    """The functions of the root object, with the arguments that they take."""
    yield ""
    yield "Concrete Functions:"
    for child in sorted(objects.nodes[0].children, key=lambda each: str(each.local_name)):
        node = objects.nodes[child.node_id]
        kind = node.WhichOneof("kind")
        if kind == "function":
            names = list(node.function.concrete_functions)
            spec = decode(node.function.function_spec.fullargspec)
        elif kind == "bare_concrete_function":
            names = [node.bare_concrete_function.concrete_function_name]
            spec = decode(node.bare_concrete_function.function_spec.fullargspec)
        else:
            continue
        yield f"  Function Name: '{child.local_name}'"
        for number, name in enumerate(names, start=1):
            signature = objects.concrete_functions[name].canonicalized_input_signature
            yield from _option(number, decode(signature), list(getattr(spec, "args", ())))
        yield ""


def _option(number: int, signature: Any, names: list[str]) -> Iterator[str]:
    args, kwargs = signature
    if not args and not kwargs:
        return
    yield f"    Option #{number}"
    yield "      Callable with:"
    for place, value in enumerate(args, start=1):
        yield f"        Argument #{place}"
        yield from _value(value, names[place - 1] if place <= len(names) else f"args_{place}")
    for name, value in kwargs.items():
        yield f"        Keyword argument '{name}'"
        yield from _value(value, name)


def _value(value: Any, name: str) -> Iterator[str]:
    if isinstance(value, TypeSpec):
        yield f"          {getattr(value, 'name', None) or name}: {value}"
    else:
        yield f"          DType: {type(value).__name__}"
        yield f"          Value: {value}"


def _lacking(objects: Any, library: dict[str, Any]) -> Iterator[str]:
    """The ops that there is no kernel for here: with any, the model cannot be loaded."""
    nodes = [
        node
        for name, saved in objects.concrete_functions.items()
        if name in library and is_callable(decode(saved.canonicalized_input_signature))
        for node in library[name].node_def
    ]
    missing = missing_ops(nodes, library)
    if missing:
        yield f"Runnel cannot load it, as it has no kernels for: {', '.join(missing)}"
