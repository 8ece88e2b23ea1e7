"""GraphDef files."""

from __future__ import annotations

import os
from typing import Any

from ..core.graph.graph import Graph
from ..formats.paths import refusals
from ..formats.safe_files import make_folders, replace_file


def write_graph(
    graph_or_graph_def: Any, logdir: str | os.PathLike[str], name: str, as_text: bool = True
) -> str:
    """Write the GraphDef of a graph to a file, as text or binary; returns the path of the file.

    >>> import tempfile
    >>> graph = tf.Graph()
    >>> with graph.as_default():
    ...     total = tf.constant(1.0) + 2.0
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = tf.io.write_graph(graph, folder, "sum.pbtxt")
    """
    from google.protobuf import text_format

    made = isinstance(graph_or_graph_def, Graph)
    graph_def = graph_or_graph_def.as_graph_def() if made else graph_or_graph_def
    logdir = os.fspath(logdir)
    path = os.path.join(logdir, name)
    if as_text:
        content = text_format.MessageToString(graph_def).encode()
    else:
        content = graph_def.SerializeToString()
    with refusals(path):
        make_folders(logdir)
        replace_file(path, content)
    return path
