"""Views of the object graphs of checkpoints and of programs, for inspection and comparison."""

from __future__ import annotations

import os
from collections import deque
from typing import Any

from ..formats.tensor_bundle import BundleReader
from .object_graph import ObjectGraph
from .restoration import _graph_of
from .trackables import children_of


class TrackableView:
    """The object graph below a root.

    >>> view = tf.train.TrackableView(tf.train.Checkpoint(v=tf.Variable(1.0)))
    >>> list(view.children(view.root))
    ['v']
    """

    def __init__(self, root: Any) -> None:
        self._root = root

    @property
    def root(self) -> Any:
        return self._root

    @classmethod
    def children(cls, obj: Any, save_type: str = "checkpoint", **kwargs: Any) -> dict[str, Any]:
        """The children of an object by name."""
        return children_of(obj)

    def descendants(self) -> list[Any]:
        """The root and all its descendants, in breadth-first order."""
        return ObjectGraph(self._root).nodes


class CheckpointView:
    """The object graph of a checkpoint.

    >>> import tempfile
    >>> path = tf.train.Checkpoint(v=tf.Variable(1.0)).save(tempfile.mkdtemp() + "/ckpt")
    >>> tf.train.CheckpointView(path).children(0)
    {'v': 1, 'save_counter': 2}
    """

    def __init__(self, save_path: Any) -> None:
        self._graph = _graph_of(BundleReader(os.fspath(save_path)))

    def children(self, node_id: int) -> dict[str, int]:
        """The node IDs of a node's children by name."""
        return {each.local_name: each.node_id for each in self._graph.nodes[node_id].children}

    def descendants(self) -> list[int]:
        """The node IDs of the root and all its descendants, in breadth-first order."""
        found = {0: None}
        waiting = deque([0])
        while waiting:
            for number in self.children(waiting.popleft()).values():
                if number not in found:
                    found[number] = None
                    waiting.append(number)
        return list(found)

    def match(self, obj: Any) -> dict[int, Any]:
        """The nodes matched to objects below `obj`, by the names of children."""
        matches = {0: obj}
        waiting = deque([0])
        while waiting:
            number = waiting.popleft()
            parts = children_of(matches[number])
            for name, child in self.children(number).items():
                if child not in matches and name in parts:
                    matches[child] = parts[name]
                    waiting.append(child)
        return matches

    def diff(self, obj: Any) -> tuple[dict[int, Any], list[int], list[Any]]:
        """The nodes matched to `obj`, the unmatched nodes, and the unmatched objects."""
        matches = self.match(obj)
        only_here = [number for number in self.descendants() if number not in matches]
        matched = {id(value) for value in matches.values()}
        only_there = [each for each in ObjectGraph(obj).nodes if id(each) not in matched]
        return matches, only_here, only_there
