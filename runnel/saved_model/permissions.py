"""Permitted side effects of graphs loaded from files.

While a SavedModel is loaded, its initializers may read its assets; they must not loop or block, as
that might never terminate. Functions called later may read any file. No operation may write files
or call Python functions. The side effects of an op are part of its declaration.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core import dtypes
from ..core.context import state
from ..core.errors import PermissionDeniedError
from ..core.graph.branch import Branch
from ..core.graph.graph import Operation
from ..core.op import MAY_NOT_END, READS_FILES, WRITES_FILES, Op
from ..core.tensor import Tensor
from .assets import asset_of

_OPTION = (
    "If you trust where it comes from, load it in a block `with runnel.allow_file_operations():`."
)


@contextmanager
def allow_file_operations() -> Iterator[None]:
    """Allow graphs loaded in a block to read and write any files, in later calls, too.

    This applies to `tf.saved_model.load`, `tf.keras.models.load_model` of a folder,
    `tf.graph_util.import_graph_def` and the loaders of `tf.compat.v1`. Load only files in it that
    you would also run as a program.

    >>> with tf.Graph().as_default() as graph:
    ...     tf.io.write_file("greeting", "hello")
    >>> with tf.Graph().as_default():
    ...     try:
    ...         tf.graph_util.import_graph_def(graph.as_graph_def())
    ...     except tf.errors.PermissionDeniedError as refusal:
    ...         print(refusal.message.partition(",")[0])
    The operation 'WriteFile' writes files (WriteFile)
    >>> with tf.Graph().as_default(), tf.allow_file_operations():
    ...     tf.graph_util.import_graph_def(graph.as_graph_def())
    """
    before, state.trusts_files = state.trusts_files, True
    try:
        yield
    finally:
        state.trusts_files = before


class Permissions:
    """The permitted side effects of one loaded graph's operations.

    Those that run during loading (`loading`) may read assets only, and must terminate.
    """

    def __init__(self, trusted: bool | None = None, loading: bool = False) -> None:
        self.trusted = state.trusts_files if trusted is None else trusted
        self.loading = loading

    def while_loading(self) -> Permissions:
        """The permissions of a function that runs while its SavedModel is loaded."""
        return Permissions(self.trusted, loading=True)

    def require(
        self, name: str, op: Op, inputs: Sequence[Tensor], attrs: dict[str, Any], graph: Any
    ) -> None:
        """Raise PermissionDeniedError for an operation that is not permitted in a graph."""
        if op.effect is None or self.trusted:
            return
        effect = op.effect_with(attrs)
        if effect == WRITES_FILES:
            raise PermissionDeniedError(
                None, None, f"The operation '{name}' writes files ({op.name}), which graphs that "
                f"come from files may not. {_OPTION}",
            )  # fmt: skip
        if self.loading and effect == MAY_NOT_END:
            raise _no_waiting(name, op)
        if self.loading and effect == READS_FILES and not _reads_assets(op, inputs, graph):
            raise _no_reading(name, op)


def _no_reading(name: str, op: Op) -> PermissionDeniedError:
    return PermissionDeniedError(
        None, None, f"The operation '{name}' reads files ({op.name}) while its SavedModel is "
        f"loaded, when nothing but its own assets may be read. {_OPTION}",
    )  # fmt: skip


def _no_waiting(name: str, op: Op) -> PermissionDeniedError:
    return PermissionDeniedError(
        None, None, f"The operation '{name}' loops or waits ({op.name}) while its SavedModel is "
        f"loaded, which might never end. {_OPTION}",
    )  # fmt: skip


def _reads_assets(op: Op, inputs: Sequence[Tensor], graph: Any) -> bool:
    """Whether all strings that an operation gets are paths of assets, and no attribute is one."""
    if _named_by_attributes(op):
        return False
    outside = {id(inside): each for each, inside in getattr(graph, "captures", ())}
    strings = [each for each in inputs if each.dtype is dtypes.string]
    return bool(strings) and all(
        asset_of(outside.get(id(each), each)) is not None for each in strings
    )


def _named_by_attributes(op: Op) -> bool:
    """Whether the files that an op reads are named by its attributes, not by its inputs."""
    return callable(op.effect)


def require_initializers(operations: Iterable[Operation], assets: Sequence[Tensor]) -> None:
    """Raise PermissionDeniedError for operations that are not permitted in initializers."""
    if state.trusts_files:
        return
    known = {id(tensor) for tensor in assets}
    for operation in _with_branches(operations):
        effect = operation.op.effect_with(operation.given)
        if effect == MAY_NOT_END:
            raise _no_waiting(operation.name, operation.op)
        if effect == READS_FILES:
            strings = [each for each in operation.inputs if each.dtype is dtypes.string]
            strange = any(id(each) not in known for each in strings)
            if not strings or strange or _named_by_attributes(operation.op):
                raise _no_reading(operation.name, operation.op)


def _with_branches(operations: Iterable[Operation]) -> Iterator[Operation]:
    """Operations, including those of the branches of conditions and loops."""
    waiting = [list(operations)]
    seen: set[int] = set()
    while waiting:
        for operation in waiting.pop():
            yield operation
            for value in operation.given.values():
                for each in value if isinstance(value, list | tuple) else (value,):
                    if isinstance(each, Branch) and id(each.graph) not in seen:
                        seen.add(id(each.graph))
                        waiting.append(each.graph.operations)


def path_inside(folder: str, *names: str) -> str:
    """The path of a file in the folder of a SavedModel.

    PermissionDeniedError where the names, or symbolic links, lead out of the folder, or to a pipe
    or device, which might never end.
    """
    path = os.path.join(folder, *names)
    if state.trusts_files:
        return path
    inside = os.path.join(os.path.realpath(folder), "")
    if "\0" in path or not os.path.join(os.path.realpath(path), "").startswith(inside):
        raise PermissionDeniedError(
            None, None, f"{os.path.join(*names)!r} leads out of the SavedModel at {folder}, whose "
            f"files must be in its folder. {_OPTION}",
        )  # fmt: skip
    if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
        raise PermissionDeniedError(
            None, None, f"{os.path.join(*names)!r} in the SavedModel at {folder} is a pipe or a "
            f"device. {_OPTION}",
        )  # fmt: skip
    return path


def require_files_inside(folder: str, name: str) -> None:
    """Raise PermissionDeniedError if a file in a subfolder is a symbolic link to the outside."""
    path_inside(folder, name)
    subfolder = os.path.join(folder, name)
    for each in os.listdir(subfolder) if os.path.isdir(subfolder) else ():
        path_inside(folder, name, each)
