"""Asset: a file that belongs to a model and is saved with it."""

from __future__ import annotations

import os
import weakref
from typing import Any

import numpy as np

from ..core.context import state
from ..core.convert import convert_to_tensor, register_converter
from ..core.dtypes import DType, string
from ..core.graph.graph import FuncGraph
from ..core.tensor import Tensor

# Assets by their path tensors, which functions capture.
_ASSETS: weakref.WeakValueDictionary[int, Asset] = weakref.WeakValueDictionary()


def asset_of(tensor: Tensor) -> Asset | None:
    """The asset with this path tensor."""
    found = _ASSETS.get(id(tensor))
    return found if found is not None and found._tensor is tensor else None


class Asset:
    """A file that `tf.saved_model.save` copies into the SavedModel.

    Functions that use its path get the path of the copy after loading, wherever the folder is then.

    >>> tf.saved_model.Asset("vocabulary.txt").asset_path
    <tf.Tensor: shape=(), dtype=string, numpy=b'vocabulary.txt'>
    """

    def __init__(self, path: Any) -> None:
        if isinstance(path, os.PathLike):
            path = os.fspath(path)
        self._tensor = convert_to_tensor(path, string)
        _ASSETS[id(self._tensor)] = self

    @property
    def asset_path(self) -> Tensor:
        """The path, as a tensor."""
        graph = state.graph
        if isinstance(graph, FuncGraph):
            # Captured by functions instead of being embedded as a constant: the path changes with
            # loading.
            return graph.own(graph.function_graph().capture(self._tensor))
        return self._tensor

    @property
    def path(self) -> str:
        """The path, as a Python string."""
        path: bytes = np.asarray(self._tensor._array).item()
        return os.fsdecode(path)

    def _checkpoint_children(self) -> dict[str, Any]:
        return {}


def _convert_asset(asset: Asset, dtype: DType | None) -> Tensor:
    return asset.asset_path


register_converter(Asset, _convert_asset)
