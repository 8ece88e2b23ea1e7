"""Runs in parts: a session computes some fetches, gets more feeds, and computes others."""

from __future__ import annotations

import numpy as np

from ...core.errors import InvalidArgumentError
from ...core.graph.graph import Operation
from ...core.tensor import SymbolicTensor


class _PartialRun:
    """What may be fetched and fed, what was fed and computed, and which operations are done."""

    def __init__(self, fetches, feeds):
        self.fetches = fetches
        self.feeds = feeds
        self.left = {id(each) for each in fetches}
        self.known = {}
        self.done = set()


def _refusal(message):
    return InvalidArgumentError(None, None, message)


class PartialRuns:
    """The runs of a session that are under way, by their handles."""

    def __init__(self):
        self._runs = {}
        self._count = 0

    def begun(self, fetches, feeds):
        """The handle of a new run."""
        self._count += 1
        handle = f"partial_run_{self._count}"
        self._runs[handle] = _PartialRun(fetches, feeds)
        return handle

    def gone_on(self, session, handle, fetches, feeds, values):
        """The values of some of the fetches of a run, of which each is computed once."""
        run = self._runs.get(handle)
        if run is None:
            raise _refusal(
                "Must run 'setup' before performing partial runs! There is no run of this handle, "
                "or all its fetches are done: get another from partial_run_setup."
            )
        for tensor, value in zip(feeds, values, strict=True):
            if not any(tensor is each for each in run.feeds):
                raise _refusal(f"The feed {tensor.name} was not specified in partial_run_setup.")
            if id(tensor) in run.known:
                raise _refusal(f"The feed {tensor.name} has already been fed.")
            run.known[id(tensor)] = tensor, value
        for each in fetches:
            if not any(each is other for other in run.fetches):
                raise _refusal(f"The fetch {each.name} was not specified in partial_run_setup.")
            if id(each) not in run.left:
                raise _refusal(f"The fetch {each.name} has already been fetched.")
        needed = _needed(run, fetches)
        # What other operations may want later is kept now.
        more = [
            tensor
            for operation in needed
            for tensor in operation.outputs
            if tensor.dtype.name not in ("resource", "variant")
            and not any(tensor is each for each in fetches)
        ]
        known = list(run.known.values())
        results = session._results(
            [*fetches, *more], [tensor for tensor, _ in known], [value for _, value in known],
            frozenset(run.done),
        )  # fmt: skip
        for each, result in zip([*fetches, *more], results, strict=True):
            if isinstance(each, SymbolicTensor):
                # The user may change what a run gives.
                kept = result.copy() if isinstance(result, np.ndarray) else result
                run.known[id(each)] = each, kept
        for operation in needed:
            if all(id(tensor) in run.known for tensor in operation.outputs):
                run.done.add(id(operation))
        run.left -= {id(each) for each in fetches}
        if not run.left:
            del self._runs[handle]
        return results[: len(fetches)]


def _needed(run, fetches):
    """The operations that are still to be done for some fetches."""
    wanted, waiting = {}, [
        each if isinstance(each, Operation) else each.op
        for each in fetches
        if id(each) not in run.known
    ]  # fmt: skip
    while waiting:
        operation = waiting.pop()
        if id(operation) in wanted or id(operation) in run.done:
            continue
        if operation.type == "Placeholder":
            raise _refusal(
                f"Fetch {fetches[0].name} can't be computed from the feeds that have been fed so "
                f"far: {operation.name} is missing."
            )
        wanted[id(operation)] = operation
        waiting += [
            each.op
            for each in operation.inputs
            if isinstance(each, SymbolicTensor) and id(each) not in run.known
        ]
        waiting += operation.control_inputs
    return list(wanted.values())
