"""The status objects that `Checkpoint.restore` returns."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..core.variable import Variable
from .object_graph import ObjectGraph
from .restoration import Restoration
from .trackables import attribute_of

_SHOWN = 10


class CheckpointLoadStatus:
    """The progress of a restoration; printing it shows what was matched."""

    def __init__(self, restoration: Restoration, graph: Any) -> None:
        self._restoration = restoration
        self._graph = graph

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Assert that every value was matched to an object, and every object to a value."""
        self.assert_existing_objects_matched()
        restoration = self._restoration
        unused = restoration.unused()
        if unused:
            node = restoration.graph.nodes[unused[0]]
            raise AssertionError(
                f"Unresolved object in checkpoint {restoration.paths().get(unused[0])}: {node}"
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Assert that every object with a value was restored from the checkpoint."""
        self._restoration.match()
        graph: ObjectGraph = self._graph()
        unmatched = [
            value
            for value in graph.nodes
            if (isinstance(value, Variable) or attribute_of(value)) and not self._is_restored(value)
        ]
        if unmatched:
            shown = unmatched[:_SHOWN]
            raise AssertionError(
                f"Found {len(unmatched)} Python objects that were not bound to checkpointed "
                "values, likely due to changes in the Python program. Showing "
                f"{len(shown)} of {len(unmatched)} unmatched objects: {shown}"
            )
        return self

    def _is_restored(self, value: Any) -> bool:
        numbers = self._restoration.nodes_of(value)
        return any(number in self._restoration.restored for number in numbers)

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Assert that any object other than the root was matched."""
        self._restoration.match()
        if len(self._restoration.bound) <= 1:
            raise AssertionError(
                f"Nothing except the root object matched a checkpointed value. The checkpoint "
                f"{self._restoration.bundle.prefix} has: "
                f"{self._restoration.bundle.names()[:_SHOWN]}"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Suppress warnings about unused values."""
        self._restoration.partial = True
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """No effect: values are restored immediately."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """No effect: variables are initialized when created, and restored immediately."""

    def __str__(self) -> str:
        restoration = self._restoration
        restoration.match()
        unused = restoration.unused()
        paths = restoration.paths()
        waiting: list[str] = []
        lost: list[str] = []
        for number in unused:
            path = paths.get(number, "(root)")
            # The owner of a slot is the optimizer, not the variable.
            owner = path.partition("'s state")[0] if "'s state" in path else path.rpartition(".")[0]
            known = any(paths.get(bound) == owner for bound in restoration.bound)
            (waiting if known else lost).append(owner)
        lines = [
            f"Checkpoint {restoration.bundle.prefix}: {len(restoration.restored)} values restored, "
            f"{len(waiting)} waiting for their variables, {len(lost)} unused."
        ]
        for title, owners in (("waiting", waiting), ("unused", lost)):
            lines += [f"  {title}: {owner} ({n})" for owner, n in Counter(owners).items()]
        return "\n".join(lines)


_NOTHING = "No checkpoint specified (save_path=None); nothing is being restored."


class InitializationOnlyStatus:
    """The status of `restore(None)`."""

    def assert_consumed(self) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    def assert_existing_objects_matched(self) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    def assert_nontrivial_match(self) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    def expect_partial(self) -> InitializationOnlyStatus:
        """No effect."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    def initialize_or_restore(self, session: Any = None) -> None:
        """No effect: variables are initialized when created."""
