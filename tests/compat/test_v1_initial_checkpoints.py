"""Variables that begin with values of a checkpoint, on both libraries."""

import numpy as np
import pytest
import tensorflow
from both_v1 import agree, error_of

import runnel

A, B = [1.0, 2.0], 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoints")
    v1 = tensorflow.compat.v1
    with tensorflow.Graph().as_default(), v1.Session() as session:
        with v1.variable_scope("old"):
            v1.get_variable("a", initializer=tensorflow.constant(A))
            v1.get_variable("b", initializer=tensorflow.constant(B))
        v1.get_variable("table", initializer=tensorflow.reshape(tensorflow.range(12.0), [4, 3]))
        session.run(v1.global_variables_initializer())
        v1.train.Saver().save(session, str(path / "model"), global_step=2)
    return str(path)


def make(v1, tf, scope="new"):
    with v1.variable_scope(scope):
        a = v1.get_variable("a", [2], initializer=v1.zeros_initializer())
        b = v1.get_variable("b", [], tf.int32, initializer=v1.zeros_initializer())
    return a, b


INITIAL = {
    "scopes": lambda v: {"old/": "new/"},
    "a variable": lambda v: {"old/a": v[0]},
    "names": lambda v: {"old/a": "new/a", "old/b": v[1]},
    "pairs": lambda v: [("old/b", v[1]), ("old/a", "new/a")],
    "no such tensor": lambda v: {"old/c": "new/a"},
    "no such variable": lambda v: {"old/a": "new/none"},
    "another shape": lambda v: {"table": "new/a"},
    "no such scope": lambda v: {"old/": "nope/"},
    "no slash": lambda v: {"old": "new"},
}
WARM = {
    "all": ("old", {}),
    "pattern": ("new", {"vars_to_warm_start": ".*a", "earlier": {"new/a": "old/a"}}),
    "patterns": ("new", {"vars_to_warm_start": ["new/b"], "earlier": {"new/b": "old/b"}}),
    "nothing": ("new", {"vars_to_warm_start": "other"}),
    "missing": ("new", {}),
}


def values(v1, tf, variables, begin):
    with v1.Session() as session:
        found = []

        def run():
            begin()
            session.run(v1.global_variables_initializer())
            found.extend(session.run(list(variables)))

        return error_of(run), found


@pytest.mark.parametrize("case", INITIAL)
def test_init_from_checkpoint(case, folder):
    def program(v1, tf):
        variables = make(v1, tf)
        mapping = INITIAL[case](variables)
        begin = lambda: v1.train.init_from_checkpoint(folder, mapping)  # noqa: E731
        return values(v1, tf, variables, begin)

    agree(program)


@pytest.mark.parametrize("case", WARM)
def test_warm_start(case, folder):
    scope, options = WARM[case]
    options = dict(options)
    if "earlier" in options:
        options["var_name_to_prev_var_name"] = options.pop("earlier")

    def program(v1, tf):
        variables = make(v1, tf, scope)
        return values(v1, tf, variables, lambda: v1.train.warm_start(folder, **options))

    agree(program)


def test_reading(folder):
    def program(v1, tf):
        path = v1.train.latest_checkpoint(folder)
        return [
            v1.train.list_variables(folder), v1.train.load_variable(folder, "old/a"),
            v1.train.load_checkpoint(path).has_tensor("table"), v1.train.checkpoint_exists(path),
            v1.train.checkpoint_exists(path + "0"), v1.train.get_checkpoint_mtimes([path]), path,
        ]  # fmt: skip

    agree(program)


def test_the_graph_can_be_saved_with_such_variables(folder, tmp_path):
    v1 = runnel.compat.v1
    with runnel.Graph().as_default(), v1.Session() as session:
        variables = make(v1, runnel)
        v1.train.init_from_checkpoint(folder, {"old/": "new/"})
        session.run(v1.global_variables_initializer())
        runnel.identity(variables[0] * 2.0, name="twice")
        path = v1.train.Saver().save(session, str(tmp_path / "model"))
    for library in (tensorflow, runnel):
        v1 = library.compat.v1
        with library.Graph().as_default(), v1.Session() as session:
            v1.train.import_meta_graph(path + ".meta").restore(session, path)
            np.testing.assert_array_equal(session.run("twice:0"), [2.0, 4.0])


def test_remove_checkpoint(tmp_path):
    v1 = runnel.compat.v1
    with runnel.Graph().as_default(), v1.Session() as session:
        make(v1, runnel)
        session.run(v1.global_variables_initializer())
        path = v1.train.Saver().save(session, str(tmp_path / "model"))
    v1.train.remove_checkpoint(path)
    assert [each.name for each in tmp_path.iterdir()] == ["checkpoint"]
