"""Name-based checkpoints without an object graph, as `tf.compat.v1.train.Saver` writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.variable import Variable
from ..formats.tensor_bundle import BundleReader
from .object_graph import ObjectGraph
from .restoration import assign


def restore_by_names(bundle: BundleReader, graph: Callable[[], ObjectGraph]) -> NameBasedStatus:
    """Assign the values saved under the names of variables."""
    unmatched = []
    for value in graph().nodes:
        if isinstance(value, Variable):
            name = value._name.removesuffix(":0")
            if name not in bundle:
                unmatched.append(value)
                continue
            if list(value.shape) != bundle.shape(name) or value.dtype is not bundle.dtype(name):
                raise ValueError(
                    f"The checkpoint {bundle.prefix} has {name} with the shape "
                    f"{bundle.shape(name)} and dtype {bundle.dtype(name).name}, the variable "
                    f"{value._name} {value.shape} and {value.dtype.name}."
                )
            assign(value, bundle.read(name))
    return NameBasedStatus(bundle, unmatched)


class NameBasedStatus:
    """The status of restoring a name-based checkpoint."""

    def __init__(self, bundle: BundleReader, unmatched: list[Any]) -> None:
        self._bundle = bundle
        self._unmatched = unmatched

    def assert_consumed(self) -> NameBasedStatus:
        """Assert that every variable was in the checkpoint."""
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> NameBasedStatus:
        """Assert that every variable was in the checkpoint."""
        missing = [each for each in self._unmatched if each._name != "save_counter:0"]
        if missing:
            raise AssertionError(
                f"Some objects had attributes which were not restored: {missing}. The checkpoint "
                f"{self._bundle.prefix} has: {self._bundle.names()[:10]}"
            )
        return self

    assert_nontrivial_match = assert_existing_objects_matched

    def expect_partial(self) -> NameBasedStatus:
        """No effect: unused values are not reported."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """No effect: values are restored immediately."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """No effect: values are restored immediately."""
