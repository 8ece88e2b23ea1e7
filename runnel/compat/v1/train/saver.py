"""Saver: the values of variables in a session, in TensorFlow's checkpoint files."""

from __future__ import annotations

import glob
import os
import re

import numpy as np

from ....core.context import state
from ....core.errors import InvalidArgumentError, NotFoundError
from ....core.variable import Variable
from ..building import get_collection
from ..keys import GraphKeys
from ..variables import GraphVariable

_SHARD = re.compile(r"\.data-\d{5}-of-\d{5}$")


class Saver:
    """Writes the values of variables to checkpoints, retains the latest ones, and restores them.

    >>> import tempfile
    >>> v1 = tf.compat.v1
    >>> with tf.Graph().as_default(), tempfile.TemporaryDirectory() as folder:
    ...     v = v1.Variable(1.0, name="v")
    ...     with v1.Session() as session:
    ...         session.run(v.assign(5.0))
    ...         path = v1.train.Saver().save(session, folder + "/model", global_step=3)
    ...         session.run(v.initializer)
    ...         v1.train.Saver().restore(session, path)
    ...         print(session.run(v))
    np.float32(5.0)
    5.0
    """

    def __init__(
        self,
        var_list=None,
        reshape=False,
        sharded=False,
        max_to_keep=5,
        keep_checkpoint_every_n_hours=10000.0,
        name=None,
        restore_sequentially=False,
        saver_def=None,
        builder=None,
        defer_build=False,
        allow_empty=False,
        write_version=2,
        pad_step_number=False,
        save_relative_paths=False,
        filename=None,
    ):
        self._reshape = reshape
        self._max_to_keep = max_to_keep
        self._pad = pad_step_number
        self._hours = keep_checkpoint_every_n_hours
        self._latest = []
        self._scope = None
        if var_list is None:
            if state.home is None:
                raise RuntimeError(
                    "When eager execution is enabled, `var_list` must specify a list or dict of "
                    "variables to save"
                )
            var_list = get_collection(GraphKeys.GLOBAL_VARIABLES)
            var_list = var_list + get_collection(GraphKeys.SAVEABLE_OBJECTS)
        if not var_list and not allow_empty:
            raise ValueError("No variables to save")
        self._variables = _named(var_list)
        if state.home is not None:
            self._scope = state.home.unique_name(state.name_scope + (name or "save"))
            state.home.savers[self._scope] = self._variables

    @classmethod
    def _described(cls, message, variables, scope):
        """The saver that a SaverDef describes, of variables by their keys in checkpoints."""
        saver = cls(variables, max_to_keep=message.max_to_keep, allow_empty=True)
        saver._hours = message.keep_checkpoint_every_n_hours
        saver._scope = scope
        state.home.savers[scope] = saver._variables
        return saver

    @property
    def saver_def(self):
        return self.as_saver_def()

    def as_saver_def(self):
        """The names of the nodes that save and restore, in graphs that are exported."""
        from ..meta_graphs import saver_def

        return saver_def(self._scope or "save", self._max_to_keep, self._hours)

    def export_meta_graph(
        self,
        filename=None,
        collection_list=None,
        as_text=False,
        export_scope=None,
        clear_devices=False,
        clear_extraneous_savers=False,
        strip_default_attrs=False,
        save_debug_info=False,
    ):
        """The graph being built with this saver as a MetaGraphDef, also in a file if named."""
        from .meta_graph_files import export_meta_graph

        return export_meta_graph(
            filename, None, None, self.as_saver_def(), collection_list, as_text, None,
            export_scope, clear_devices, clear_extraneous_savers, strip_default_attrs,
        )  # fmt: skip

    def recover_last_checkpoints(self, checkpoint_paths):
        """Take those of these checkpoints that there are for the latest ones."""
        from ....train.state_file import checkpoint_exists

        self._latest = [path for path in checkpoint_paths if checkpoint_exists(path)]

    @property
    def last_checkpoints(self):
        return list(self._latest)

    def set_last_checkpoints(self, last_checkpoints):
        """Set the list of checkpoints; the oldest are deleted as new ones are saved."""
        self._latest = list(last_checkpoints)

    def set_last_checkpoints_with_time(self, last_checkpoints_with_time):
        """Set the list of checkpoints, as pairs with their times."""
        self._latest = [path for path, _ in last_checkpoints_with_time]

    def save(
        self,
        sess,
        save_path,
        global_step=None,
        latest_filename=None,
        meta_graph_suffix="meta",
        write_meta_graph=True,
        write_state=True,
        strip_default_attrs=False,
        save_debug_info=False,
    ):
        """Write the values, and the graph beside them; the path of the checkpoint."""
        from ....formats.tensor_bundle import write_bundle
        from ....train.state_file import update_checkpoint_state

        path = os.fspath(save_path)
        folder = os.path.dirname(path)
        if folder and not os.path.isdir(folder):
            if not os.path.isdir(os.path.dirname(folder) or "."):
                raise ValueError(
                    f"Parent directory of {path} doesn't exist, can't save. Make it with "
                    "tf.io.gfile.makedirs."
                )
            os.mkdir(folder)
        if global_step is not None:
            step = _step(sess, global_step)
            path = f"{path}-{step:08d}" if self._pad else f"{path}-{step}"
        write_bundle(
            path,
            [
                (name, variable.dtype, np.asarray(_value(sess, variable)))
                for name, variable in sorted(self._variables.items())
            ],
        )
        self._keep(path, meta_graph_suffix)
        if write_meta_graph and self._scope is not None:
            with sess.graph.as_default():
                self.export_meta_graph(f"{path}.{meta_graph_suffix}")
        if write_state:
            update_checkpoint_state(folder, path, self._latest, latest_filename)
        return path

    def _keep(self, path, suffix):
        self._latest = [each for each in self._latest if each != path] + [path]
        while self._max_to_keep and len(self._latest) > self._max_to_keep:
            _delete(self._latest.pop(0), suffix)

    def restore(self, sess, save_path):
        """Restore the values of the variables from a checkpoint; they need no initializer then."""
        from ....formats.tensor_bundle import BundleReader, index_path

        if save_path is None:
            raise ValueError("Can't load save_path when it is None.")
        path = os.fspath(save_path)
        if not os.path.exists(index_path(path)):
            raise ValueError(f"The passed save_path is not a valid checkpoint: {path}")
        bundle = BundleReader(path)
        values = {}
        for name, variable in self._variables.items():
            if name not in bundle:
                raise NotFoundError(
                    None, None, f"Key {name} not found in checkpoint {path}; it has "
                    f"{', '.join(bundle.names()[:20])}.",
                )  # fmt: skip
            value = np.asarray(bundle.read(name))
            if not variable.shape.is_compatible_with(value.shape):
                if not self._reshape:
                    raise InvalidArgumentError(
                        None, None, "Assign requires shapes of both tensors to match. lhs shape= "
                        f"{variable.shape} rhs shape= {value.shape} for variable {name}.",
                    )  # fmt: skip
                value = value.reshape(variable.shape.as_list())
            values[name] = value
        for name, variable in self._variables.items():
            _give(sess, variable, values[name])


def _named(var_list):
    """Variables keyed by the names under which they are saved."""
    if isinstance(var_list, dict):
        return dict(var_list)
    found = {}
    for variable in var_list:
        if not isinstance(variable, Variable):
            raise TypeError(f"Variable to save is not a Variable: {variable!r}")
        name = variable.name.rpartition(":")[0]
        if name in found:
            raise ValueError(f"At least two variables have the same name: {name}")
        found[name] = variable
    return found


def _step(session, global_step):
    if isinstance(global_step, Variable):
        return int(_value(session, global_step))
    if hasattr(global_step, "graph"):
        return int(session.run(global_step))
    return int(global_step)


def _value(session, variable):
    if isinstance(variable, GraphVariable):
        return session.run(variable)
    return variable.numpy()


def _give(session, variable, value):
    value = value if value.ndim or value.dtype == object else value[()]
    if isinstance(variable, GraphVariable):
        with session._at_work():
            variable._replace(value)
    else:
        variable.assign(value)


def _delete(path, suffix="meta"):
    shards = glob.glob(glob.escape(path) + ".data-*")
    for name in [
        f"{path}.index",
        f"{path}.{suffix}",
        *[each for each in shards if _SHARD.search(each)],
    ]:
        if os.path.exists(name):
            os.unlink(name)
