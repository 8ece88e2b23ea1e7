"""What `Checkpoint.restore` returns: how far the restoration has come."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..core.variable import Variable
from .object_graph import ObjectGraph
from .restoration import Restoration
from .trackables import attribute_of

_SHOWN = 10


class CheckpointLoadStatus:
    """How much of a checkpoint has found its objects; printing it tells."""

    def __init__(self, restoration: Restoration, graph: Any) -> None:
        self._restoration = restoration
        self._graph = graph

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Assert that every value has found its object, and every object its value."""
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
        """Assert that every object with a value has got it from the checkpoint."""
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
        """Assert that anything besides the root has been matched."""
        self._restoration.match()
        if len(self._restoration.bound) <= 1:
            raise AssertionError(
                f"Nothing except the root object matched a checkpointed value. The checkpoint "
                f"{self._restoration.bundle.prefix} has: "
                f"{self._restoration.bundle.names()[:_SHOWN]}"
            )
        return self

    def expect_partial(self) -> CheckpointLoadStatus:
        """Say nothing when values are left that no object has taken."""
        self._restoration.partial = True
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Nothing to do: values are restored at once."""

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing to do: variables are initialized when made, and restored at once."""

    def __str__(self) -> str:
        restoration = self._restoration
        restoration.match()
        unused = restoration.unused()
        paths = restoration.paths()
        waiting: list[str] = []
        lost: list[str] = []
        for number in unused:
            path = paths.get(number, "(root)")
            # A slot's owner is the optimizer, not the variable that it belongs to.
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
    """What `restore(None)` returns."""

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
        """Nothing to do."""
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Always an error: there is no checkpoint."""
        raise AssertionError(_NOTHING)

    def initialize_or_restore(self, session: Any = None) -> None:
        """Nothing to do: variables are initialized when made."""
