"""Graphs and checkpoints in files."""

from __future__ import annotations

import os


def write_graph(graph_or_graph_def, logdir, name, as_text=True):
    """Write a graph to a file, as text or as a binary message; returns the path of the file."""
    from google.protobuf import text_format

    graph_def = graph_or_graph_def
    if hasattr(graph_def, "as_graph_def"):
        graph_def = graph_def.as_graph_def(add_shapes=True)
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    if as_text:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text_format.MessageToString(graph_def))
    else:
        with open(path, "wb") as file:
            file.write(graph_def.SerializeToString(deterministic=True))
    return path


def checkpoint_exists(checkpoint_prefix):
    """Whether there is a checkpoint of this path."""
    from ....train import state_file

    return state_file.checkpoint_exists(checkpoint_prefix)


def get_checkpoint_mtimes(checkpoint_prefixes):
    """When each of those of these checkpoints that there are was written, in seconds."""
    from ....formats.paths import local
    from ....formats.tensor_bundle import index_path

    paths = [index_path(local(each)) for each in checkpoint_prefixes]
    return [os.path.getmtime(path) for path in paths if os.path.exists(path)]


def remove_checkpoint(checkpoint_prefix, checkpoint_format_version=2, meta_graph_suffix="meta"):
    """Delete the files of a checkpoint, and of the graph beside it."""
    from ....formats.paths import local
    from .saver import _delete

    _delete(local(checkpoint_prefix), meta_graph_suffix)
