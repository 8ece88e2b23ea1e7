"""Reading the SavedModel message of a folder, and selecting a MetaGraph by tags."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from google.protobuf import text_format
from google.protobuf.message import DecodeError

from ..formats.paths import local
from ..formats.saved_model_messages import SavedModel
from ..formats.saved_model_names import SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT
from .limits import MOST_BYTES, MOST_BYTES_OF_TEXT, require_size
from .permissions import path_inside


def read_saved_model(export_dir: Any) -> Any:
    """The SavedModel message of a folder; OSError if it is missing or malformed."""
    folder = _path(export_dir)
    binary = os.path.join(folder, SAVED_MODEL_FILENAME_PB)
    text = os.path.join(folder, SAVED_MODEL_FILENAME_PBTXT)
    try:
        if os.path.isfile(binary):
            path_inside(folder, SAVED_MODEL_FILENAME_PB)
            require_size(binary, MOST_BYTES)
            with open(binary, "rb") as file:
                return SavedModel.FromString(file.read())
        if os.path.isfile(text):
            path_inside(folder, SAVED_MODEL_FILENAME_PBTXT)
            require_size(text, MOST_BYTES_OF_TEXT)
            with open(text, encoding="utf-8") as lines:
                return text_format.Parse(lines.read(), SavedModel(), allow_unknown_field=True)
    except (DecodeError, RecursionError, text_format.ParseError, UnicodeError) as failure:
        raise OSError(f"Cannot parse file {folder}: {failure}.") from None
    raise OSError(
        f"SavedModel file does not exist at: {folder}/"
        f"{{{SAVED_MODEL_FILENAME_PBTXT}|{SAVED_MODEL_FILENAME_PB}}}"
    )


def contains_saved_model(export_dir: Any) -> bool:
    """Whether a folder contains a SavedModel.

    >>> tf.saved_model.contains_saved_model(".")
    False
    """
    folder = _path(export_dir)
    names = (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT)
    return any(os.path.isfile(os.path.join(folder, name)) for name in names)


def _path(export_dir: Any) -> str:
    return local(export_dir)


def chosen_meta_graph(saved_model: Any, tags: Any, export_dir: str) -> Any:
    """The MetaGraph with these tags; None: the only one."""
    graphs = list(saved_model.meta_graphs)
    if not graphs:
        raise OSError(f"The SavedModel at {export_dir} has no MetaGraph: it is broken.")
    if tags is not None:
        tags = [tags] if isinstance(tags, str) else list(tags)
    if len(graphs) == 1 and _has_objects(graphs[0]):
        found = graphs[0]
        if tags is not None and set(tags) != set(found.meta_info_def.tags):
            raise ValueError(
                f"Got an incompatible argument to `tags`: {tags}. The SavedModel at {export_dir} "
                f"has one MetaGraph with tags {list(found.meta_info_def.tags)}. You may omit the "
                "argument, pass 'None', or pass matching tags."
            )
        return found
    return tagged_meta_graph(saved_model, tags, export_dir)


def _has_objects(meta_graph: Any) -> bool:
    return bool(meta_graph.HasField("object_graph_def"))


def tagged_meta_graph(saved_model: Any, tags: Iterable[str] | None, export_dir: str) -> Any:
    """The MetaGraph with exactly these tags."""
    graphs = list(saved_model.meta_graphs)
    if tags is None:
        if len(graphs) == 1:
            return graphs[0]
        known = [list(graph.meta_info_def.tags) for graph in graphs]
        raise ValueError(
            f"Importing a SavedModel with `tf.saved_model.load` requires a `tags` argument if "
            f"there is more than one MetaGraph. Got `tags=None`, but there are {len(graphs)} "
            f"MetaGraphs in the SavedModel with tag sets: {known}. Pass a `tags` argument to load "
            "this SavedModel."
        )
    wanted = set(tags)
    for graph in graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    sets = [set(graph.meta_info_def.tags) for graph in graphs]
    raise RuntimeError(
        f"MetaGraphDef associated with tags {str(sorted(wanted)).strip('[]')} could not be found "
        f"in SavedModel, with available tags '{sets}'. To inspect available tag-sets in the "
        f"SavedModel, run `python -m runnel saved_model show {export_dir}`."
    )
