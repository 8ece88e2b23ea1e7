"""Files that hold GraphDefs."""

from __future__ import annotations

import os
from typing import Any

from ..core.graph.graph import Graph


def write_graph(
    graph_or_graph_def: Any, logdir: str | os.PathLike[str], name: str, as_text: bool = True
) -> str:
    """Write the GraphDef of a graph to a file, as text or as bytes; the path of the file.

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
    os.makedirs(logdir, exist_ok=True)
    path = os.path.join(logdir, name)
    if as_text:
        content = text_format.MessageToString(graph_def).encode()
    else:
        content = graph_def.SerializeToString()
    # A reader never sees half of a file.
    unfinished = f"{path}.tmp{os.getpid()}"
    with open(unfinished, "wb") as file:
        file.write(content)
    os.replace(unfinished, path)
    return path
