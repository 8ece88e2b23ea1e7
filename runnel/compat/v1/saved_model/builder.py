"""SavedModels of graphs and sessions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ....core.convert import constant_value
from ....core.graph.graph import Operation
from ....formats import saved_model_names
from ....formats.saved_model_messages import SavedModel
from ....formats.tensor_bundle import write_bundle
from ....release import GIT_VERSION, VERSION
from ....saved_model.folders import replacing_folder
from ....saved_model.main_graph_export import asset_name
from ..keys import GraphKeys
from ..meta_graphs import add_collections, add_saver, saver_def
from ..train.saver import _named, _value


class SavedModelBuilder:
    """Writes the graph of a session with its values, and more graphs for them, to a SavedModel.

    Everything is written by `save`, and the folder then appears atomically.
    """

    def __init__(self, export_dir: Any) -> None:
        self._folder = os.fsdecode(os.fspath(export_dir))
        if os.path.exists(self._folder) and os.listdir(self._folder):
            raise AssertionError(
                f"Export directory {self._folder} already exists, and isn't empty. Please choose a "
                "different export directory, or delete all the contents of the specified directory."
            )
        self._saved_model = SavedModel(
            saved_model_schema_version=saved_model_names.SAVED_MODEL_SCHEMA_VERSION
        )
        self._tensors: list[tuple[str, Any, Any]] | None = None
        self._assets: dict[str, str] = {}

    def add_meta_graph_and_variables(
        self,
        sess: Any,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Add the graph of a session, and the current values of its variables."""
        if self._tensors is not None:
            raise AssertionError(
                "Graph state including variables and assets has already been saved. Please invoke "
                "`add_meta_graph()` instead."
            )
        variables = _variables(sess.graph, saver)
        self._add(
            sess.graph, variables, tags, signature_def_map, assets_collection,
            main_op or legacy_init_op,
        )  # fmt: skip
        self._tensors = [
            (name, variable.dtype, np.asarray(_value(sess, variable)))
            for name, variable in sorted(variables.items())
        ]

    def add_meta_graph(
        self,
        tags: Iterable[str],
        signature_def_map: Mapping[str, Any] | None = None,
        assets_collection: Iterable[Any] | None = None,
        legacy_init_op: Any = None,
        clear_devices: bool = False,
        main_op: Any = None,
        strip_default_attrs: bool = False,
        saver: Any = None,
    ) -> None:
        """Add the current graph, for the values that were added before."""
        from .. import get_default_graph

        if self._tensors is None:
            raise AssertionError(
                "Graph state including variables and assets has not been saved yet. Please invoke "
                "`add_meta_graph_and_variables()` first."
            )
        graph = get_default_graph()
        self._add(
            graph, _variables(graph, saver), tags, signature_def_map, assets_collection,
            main_op or legacy_init_op,
        )  # fmt: skip

    def save(
        self,
        as_text: bool = False,
        experimental_image_format: bool = False,
        experimental_image_writer_options: Any = None,
    ) -> bytes:
        """Write the SavedModel; returns the path of its file."""
        from google.protobuf import text_format

        if experimental_image_format:
            raise ValueError(
                "SavedModels in the image format cannot be written. Leave out "
                "experimental_image_format."
            )
        name, data = (
            saved_model_names.SAVED_MODEL_FILENAME_PB,
            self._saved_model.SerializeToString(),
        )
        if as_text:
            name = saved_model_names.SAVED_MODEL_FILENAME_PBTXT
            data = text_format.MessageToString(self._saved_model).encode()
        with replacing_folder(self._folder) as temporary:
            variables = os.path.join(temporary, saved_model_names.VARIABLES_DIRECTORY)
            os.makedirs(variables)
            if self._tensors:
                write_bundle(
                    os.path.join(variables, saved_model_names.VARIABLES_FILENAME), self._tensors
                )
            if self._assets:
                assets = os.path.join(temporary, saved_model_names.ASSETS_DIRECTORY)
                os.makedirs(assets)
                for copy, path in self._assets.items():
                    shutil.copyfile(path, os.path.join(assets, copy))
            with open(os.path.join(temporary, name), "wb") as file:
                file.write(data)
        return os.fsencode(os.path.join(self._folder, name))

    def _add(
        self,
        graph: Any,
        variables: dict[str, Any],
        tags: Iterable[str],
        signatures: Mapping[str, Any] | None,
        assets: Iterable[Any] | None,
        main_op: Any,
    ) -> None:
        for key, signature in (signatures or {}).items():
            _require_signature(key, signature)
        meta_graph = self._saved_model.meta_graphs.add()
        meta_graph.graph_def.CopyFrom(graph.as_graph_def())
        info = meta_graph.meta_info_def
        info.tags.extend(tags)
        info.tensorflow_version, info.tensorflow_git_version = VERSION, GIT_VERSION
        for key, signature in (signatures or {}).items():
            meta_graph.signature_def[key].CopyFrom(signature)
        for tensor in assets or ():
            self._add_asset(meta_graph, tensor)
        if main_op is not None:
            operation = main_op if isinstance(main_op, Operation) else main_op.op
            meta_graph.collection_def[saved_model_names.MAIN_OP_KEY].node_list.value.append(
                operation.name
            )
        if variables:
            _add_saver(meta_graph, graph, variables)

    def _add_asset(self, meta_graph: Any, tensor: Any) -> None:
        value = constant_value(tensor)
        if value is None:
            raise ValueError(f"The path of an asset must be a constant. Received: {tensor!r}")
        path = bytes(np.asarray(value, object)[()]).decode()
        taken = dict(self._assets)
        name = asset_name(path, taken)
        self._assets = taken
        message = meta_graph.asset_file_def.add(filename=name)
        message.tensor_info.name = tensor.name
        message.tensor_info.dtype = tensor.dtype.as_datatype_enum


def simple_save(
    session: Any, export_dir: Any, inputs: Mapping[str, Any], outputs: Mapping[str, Any],
    legacy_init_op: Any = None,
) -> None:  # fmt: skip
    """Save the graph of a session as a SavedModel with one signature, for serving."""
    from .signature_def_utils import predict_signature_def

    key = saved_model_names.DEFAULT_SERVING_SIGNATURE_DEF_KEY
    signatures = {key: predict_signature_def(inputs, outputs)}
    builder = SavedModelBuilder(export_dir)
    with session.graph.as_default():
        builder.add_meta_graph_and_variables(
            session, [saved_model_names.SERVING], signatures, main_op=legacy_init_op
        )
    builder.save()


def _variables(graph: Any, saver: Any) -> dict[str, Any]:
    if saver is not None:
        return dict(saver._variables)
    return _named(graph.get_collection(GraphKeys.GLOBAL_VARIABLES))


def _require_signature(key: str, signature: Any) -> None:
    for kind, infos in (("inputs", signature.inputs), ("outputs", signature.outputs)):
        for name, info in infos.items():
            if info.WhichOneof("encoding") is None or not (info.dtype or info.HasField("name")):
                raise AssertionError(
                    f"Tensor {name!r} of the {kind} of the signature {key!r} has no name."
                )


def _add_saver(meta_graph: Any, graph: Any, variables: dict[str, Any]) -> None:
    """Add the nodes that save and restore in a session, and the collections of variables."""
    nodes = meta_graph.graph_def.node
    taken = {node.name for node in nodes}
    scope, number = "save", 0
    while any(name.startswith(f"{scope}/") for name in taken):
        number += 1
        scope = f"save_{number}"
    add_saver(nodes, scope, variables)
    meta_graph.saver_def.CopyFrom(saver_def(scope))
    add_collections(meta_graph, graph, [GraphKeys.GLOBAL_VARIABLES, GraphKeys.TRAINABLE_VARIABLES])
