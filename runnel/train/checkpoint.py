"""Checkpoint: saving and restoring the state of Python objects."""

from __future__ import annotations

import functools
import inspect
import os
import threading
import weakref
from typing import Any

from ..core import dtypes, hooks
from ..core.context import init_scope, state
from ..core.errors import DataLossError, NotFoundError
from ..core.variable import Variable
from ..formats.paths import local
from ..formats.saved_model_names import (
    SAVED_MODEL_FILENAME_PB,
    SAVED_MODEL_FILENAME_PBTXT,
    VARIABLES_DIRECTORY,
    VARIABLES_FILENAME,
)
from ..formats.tensor_bundle import BundleReader, write_bundle
from . import awaiting
from .graph_status import GraphInitializationStatus, GraphLoadStatus, in_default_session
from .object_graph import GRAPH_KEY, ObjectGraph, graph_tensor
from .options import CheckpointOptions
from .restoration import Restoration
from .state_file import update_checkpoint_state
from .status import CheckpointLoadStatus, InitializationOnlyStatus
from .trackables import Trackable, attribute_children, children_of, is_trackable, slots_of
from .write_thread import WriteThread

_SAVED_MODELS = (SAVED_MODEL_FILENAME_PB, SAVED_MODEL_FILENAME_PBTXT)

_NOT_TRACKABLE = (
    "`Checkpoint` was expecting {name} to be a trackable object (an object derived from "
    "`Trackable`), got {value}. If you believe this object should be trackable (i.e. it is part of "
    "the TensorFlow Python API and manages state), please open an issue."
)
_OWN = ("_root", "_save_counter", "_writing")


class Checkpoint(Trackable):
    """Saves and restores the variables of objects, identified by their paths in the object graph.

    Values restored before their variables exist are assigned when these are created.

    >>> import tempfile
    >>> v = tf.Variable(1.0)
    >>> checkpoint = tf.train.Checkpoint(v=v)
    >>> path = checkpoint.save(tempfile.mkdtemp() + "/ckpt")
    >>> _ = v.assign(5.0)
    >>> status = checkpoint.restore(path).assert_consumed()
    >>> v.numpy().item()
    1.0
    """

    _root: Any
    _save_counter: Variable | None
    _writing: WriteThread | None

    def __init__(self, root: Any = None, **kwargs: Any) -> None:
        set_plainly = object.__setattr__
        if root is not None and not _can_be_root(root):
            raise ValueError(_NOT_TRACKABLE.format(name="root", value=root))
        set_plainly(self, "_root", root)
        set_plainly(self, "_save_counter", None)
        set_plainly(self, "_writing", None)
        for name, value in sorted(kwargs.items()):
            value = value() if _is_reference(value) else value
            if not is_trackable(value):
                raise ValueError(_NOT_TRACKABLE.format(name=name, value=value))
            if root is not None and children_of(root).get(name, value) is not value:
                raise ValueError(
                    f"Cannot create a Checkpoint with keyword argument {name} if root.{name} "
                    "already exists."
                )
            set_plainly(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)
        if name not in _OWN and is_trackable(value):
            awaiting.notify(self._root_object())

    @property
    def root(self) -> Any:
        """The root object of the checkpoint."""
        if self._root is None:
            raise AttributeError("'Checkpoint' object has no attribute 'root'")
        return self._root

    def _root_object(self) -> Any:
        return self if self._root is None else self._root

    def _checkpoint_children(self) -> dict[str, Any]:
        parts = attribute_children(self)
        for name in _OWN:
            parts.pop(name, None)
        if self._root is not None:
            parts = {**children_of(self._root), **parts, "root": self._root}
        if self._save_counter is not None:
            parts["save_counter"] = self._save_counter
        return parts

    def _attached_to_root(self) -> dict[str, Any]:
        """Additional children of the root of the object graph."""
        return {} if self._root is None else self._checkpoint_children()

    def _graph(self) -> ObjectGraph:
        return ObjectGraph(self._root_object(), self._attached_to_root())

    # Saving.

    @property
    def save_counter(self) -> Variable:
        """The number of calls of `save`: a variable, which is saved as well."""
        return self._make_save_counter()

    def _make_save_counter(self) -> Variable:
        if self._save_counter is not None:
            return self._save_counter
        with init_scope():
            counter = Variable(0, name="save_counter", dtype=dtypes.int64, trainable=False)
        counter._name = "save_counter:0"
        object.__setattr__(self, "_save_counter", counter)
        awaiting.notify(self._root_object())
        return counter

    @in_default_session
    def write(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write the files `<file_prefix>.index` and `<file_prefix>.data-…`, without numbering."""
        return self._write(local(file_prefix), options, None)

    @in_default_session
    def save(self, file_prefix: Any, options: CheckpointOptions | None = None) -> str:
        """Write a checkpoint `<file_prefix>-<number>`, and record it in the file `checkpoint`."""
        prefix = local(file_prefix)
        if not os.path.basename(prefix):
            raise ValueError(
                f"The file prefix {prefix!r} is a folder. Give a name in it too, as "
                f"{os.path.join(prefix, 'ckpt')!r}."
            )
        number = self.save_counter.assign_add(1, read_value=True)
        path = f"{prefix}-{int(number)}"
        return self._write(
            path, options, lambda: update_checkpoint_state(os.path.dirname(path), path)
        )

    def _write(self, path: str, options: CheckpointOptions | None, finish: Any) -> str:
        options = CheckpointOptions() if options is None else options
        self.sync()
        message, tensors = self._graph().described(options.experimental_skip_slot_variables)
        tensors.append(graph_tensor(message))

        def work() -> None:
            write_bundle(path, tensors)
            if finish is not None:
                finish()
            for callback in options.experimental_write_callbacks or ():
                callback(*[path][: len(inspect.signature(callback).parameters)])

        if options.enable_async:
            # The tensors are immutable: a variable that is updated meanwhile allocates a new
            # buffer.
            object.__setattr__(self, "_writing", WriteThread(work))
        else:
            work()
        return path

    def sync(self) -> None:
        """Wait until an asynchronous save is complete."""
        writing, thread = self._writing, threading.current_thread()
        if writing is not None and writing is not thread:
            object.__setattr__(self, "_writing", None)
            writing.finish()

    # Restoring.

    def read(self, save_path: Any, options: CheckpointOptions | None = None) -> Any:
        """Restore what `write` wrote; the status reports whether everything was matched."""
        if state.home is not None:
            return self._in_graph(lambda: self.read(save_path, options), save_path)
        if save_path is None:
            return InitializationOnlyStatus()
        self.sync()
        path = local(save_path)
        # A checkpoint may have the name of a folder next to it.
        if os.path.isdir(path) and not os.path.exists(f"{path}.index"):
            raise DataLossError(
                None, None, f"Unable to open table file {path}: Is a directory. Give the path of a "
                f"checkpoint in it, as tf.train.latest_checkpoint({path!r}) does.",
            )  # fmt: skip
        bundle = BundleReader(path)
        if GRAPH_KEY not in bundle:
            from .named_values import restore_by_names

            try:
                return restore_by_names(bundle, self._graph)
            finally:
                bundle.release()
        slots = options is None or not options.experimental_skip_slot_variables
        root = self._root_object()
        attached = weakref.WeakMethod(self._attached_to_root)
        restoration = Restoration(bundle, root, attached, slots)
        try:
            waits = restoration.begin()
        except BaseException:
            restoration.partial = True
            raise
        finally:
            # Later objects are restored from the files that exist at that time.
            bundle.release()
        # In a session no variables are created later.
        if waits and state.session is None:
            awaiting.add(restoration)
        return CheckpointLoadStatus(restoration, self._graph)

    def _in_graph(self, restore: Any, save_path: Any) -> Any:
        """The status for graph mode."""
        variables = functools.partial(_variables_of, self)
        if save_path is None:
            return GraphInitializationStatus(variables)
        return GraphLoadStatus(lambda: restore().expect_partial(), variables)

    def restore(self, save_path: Any, options: CheckpointOptions | None = None) -> Any:
        """Restore what `save` wrote, including `save_counter`; None restores nothing.

        For the folder of a SavedModel, the values of its variables are restored.

        Returns a status: `assert_consumed()` requires that everything was matched,
        `expect_partial()` allows that it was not; printing it shows what was restored, what is
        pending and what is unused.
        """
        if state.home is not None:
            self._make_save_counter()
            return self._in_graph(lambda: self.restore(save_path, options), save_path)
        if save_path is None:
            self._make_save_counter()
            return InitializationOnlyStatus()
        try:
            status = self.read(_or_of_saved_model(local(save_path)), options)
        except NotFoundError as error:
            raise NotFoundError(
                None, None, f"Error when restoring from checkpoint or SavedModel at "
                f"{os.fspath(save_path)}: {error.message}\nPlease double-check that the path is "
                "correct. You may be missing the checkpoint suffix (e.g. the '-1' in "
                "'path/to/ckpt-1').",
            ) from None  # fmt: skip
        self._make_save_counter()
        return status


def _variables_of(checkpoint: Checkpoint) -> list[Any]:
    """The variables of the objects that belong to a graph, slots included."""
    nodes = checkpoint._graph().nodes
    slots = [slot for node in nodes for _, _, slot in slots_of(node)]
    return [each for each in (*nodes, *slots) if hasattr(each, "initializer")]


def _or_of_saved_model(path: Any) -> Any:
    """The path of a checkpoint; for the folder of a SavedModel, that of its variables."""
    if any(os.path.isfile(os.path.join(path, name)) for name in _SAVED_MODELS):
        hooks.complete_saved_model(path)
        return os.path.join(path, VARIABLES_DIRECTORY, VARIABLES_FILENAME)
    return path


def _can_be_root(value: Any) -> bool:
    return is_trackable(value) and not isinstance(value, list | dict | tuple)


def _is_reference(value: Any) -> bool:
    return isinstance(value, weakref.ref)
