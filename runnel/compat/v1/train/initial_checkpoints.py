"""Variables of a graph that begin with values of a checkpoint."""

from __future__ import annotations

import os
import re

import numpy as np

from ....core.convert import convert_to_tensor
from ....core.op import REGISTRY
from ....core.shapes import TensorShape
from ....core.variable import Variable
from ....formats.paths import local
from ....train.reader import load_checkpoint
from ....train.state_file import latest_checkpoint
from ..building import global_variables, trainable_variables
from ..scopes import _store
from ..variables import GraphVariable


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Let the initializers of variables read a checkpoint.

    `assignment_map` has names there with variables or their names here, or scopes "there/" with
    scopes "here/"; "/" is everything.

    >>> import tempfile
    >>> v1, path = tf.compat.v1, tempfile.mkdtemp() + "/model"
    >>> with tf.Graph().as_default(), v1.Session() as session:
    ...     v = v1.get_variable("old/v", initializer=tf.constant([1.0, 2.0]))
    ...     session.run(v.initializer)
    ...     path = v1.train.Saver().save(session, path)
    >>> with tf.Graph().as_default(), v1.Session() as session:
    ...     v = v1.get_variable("new/v", [2])
    ...     v1.train.init_from_checkpoint(path, {"old/": "new/"})
    ...     session.run(v1.global_variables_initializer())
    ...     print(session.run(v))
    [1. 2.]
    """
    path, reader = _opened(ckpt_dir_or_file)
    shapes = reader.get_variable_to_shape_map()
    pairs = assignment_map.items() if isinstance(assignment_map, dict) else assignment_map
    named = _store().variables
    for theirs, ours in sorted(pairs, key=lambda pair: pair[0]):
        if isinstance(ours, Variable):
            _begin_with(ours, path, theirs, shapes, path)
        elif not isinstance(ours, str):
            raise TypeError(
                f"The value of {theirs!r} in assignment_map is {ours!r}: give a variable, its "
                "name, or a scope that ends with '/'."
            )
        elif ours in named:
            _begin_with(named[ours], path, theirs, shapes, path)
        else:
            _begin_scope(named, path, theirs, ours, shapes)


def _begin_scope(named, path, theirs, ours, shapes):
    for scope, other in ((ours, theirs), (theirs, ours)):
        if not scope.endswith("/"):
            raise ValueError(
                f"Assignment map with scope only name {scope} should map to scope only {other}. "
                "Should be 'scope/': 'other_scope/'. There is no variable of the name "
                f"{ours!r} either."
            )
    theirs, ours = theirs.lstrip("/"), ours.lstrip("/")
    for name, variable in sorted(named.items()):
        if name.startswith(ours):
            _begin_with(variable, path, theirs + name[len(ours) :], shapes, path)


def warm_start(
    ckpt_to_initialize_from,
    vars_to_warm_start=".*",
    var_name_to_vocab_info=None,
    var_name_to_prev_var_name=None,
):
    """Let variables begin with the values that they have in a checkpoint.

    `vars_to_warm_start`: a pattern for trainable variables, a list of patterns for all global
    ones, or a list of variables. `var_name_to_prev_var_name` has their names there.
    """
    if var_name_to_vocab_info:
        raise ValueError(
            "var_name_to_vocab_info: embeddings are not sorted by another vocabulary here. Load "
            "the old one with tf.train.load_variable, and choose its rows."
        )
    path, reader = _opened(ckpt_to_initialize_from)
    shapes = reader.get_variable_to_shape_map()
    earlier = dict(var_name_to_prev_var_name or {})
    for variable in _chosen(vars_to_warm_start):
        name = variable.name.rpartition(":")[0]
        given = str(ckpt_to_initialize_from)
        _begin_with(variable, path, earlier.get(name, name), shapes, given)


def _chosen(which):
    if which is None:
        return []
    if isinstance(which, str):
        return [v for v in trainable_variables() if re.match(which, v.name)]
    if isinstance(which, Variable):
        return [which]
    which = list(which)
    if all(isinstance(each, str) for each in which):
        return [v for v in global_variables() if any(re.match(each, v.name) for each in which)]
    if not all(isinstance(each, Variable) for each in which):
        raise ValueError(
            "If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`. Given: "
            f"{which!r}"
        )
    return which


def _opened(ckpt_dir_or_file):
    """The path of a checkpoint, and its reader."""
    path = local(ckpt_dir_or_file)
    reader = load_checkpoint(path)
    return (latest_checkpoint(path) if os.path.isdir(path) else path), reader


def _begin_with(variable, path, key, shapes, checkpoint):
    """Let a variable be initialized with a tensor of a checkpoint."""
    key = key.removesuffix(":0")
    if key not in shapes:
        raise ValueError(f"Tensor {key} is not found in {checkpoint} checkpoint {shapes}")
    shape = variable.shape
    if not shape.is_compatible_with(shapes[key]):
        raise ValueError(
            f"Shape of variable {variable.name} ({tuple(shape)}) doesn't match with shape of "
            f"tensor {key} ({shapes[key]}) from checkpoint reader."
        )
    if not isinstance(variable, GraphVariable):
        variable.assign(load_checkpoint(path).get_tensor(key))
        return
    with variable.graph.as_default(), variable.graph.control_dependencies(None):
        names = [np.array([each], object) for each in (key.encode(), b"")]
        (value,) = REGISTRY["RestoreV2"](
            convert_to_tensor(path), *(convert_to_tensor(each) for each in names),
            dtypes=(variable.dtype,),
        )  # fmt: skip
        value.set_shape(TensorShape(shapes[key]))
        REGISTRY["AssignVariableOp"](variable.handle, value)
    variable.initializer = variable.graph.operations[-1]
    variable._initial_value = value
