"""GraphDefs of strangers: nothing in them is run as Python, and none of them asks for too much."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time

import numpy as np
import pytest
import tensorflow
from graph_programs import as_theirs

import runnel
from runnel.compiler.plan import Plan
from runnel.core.graph.graph import Graph
from runnel.saved_model import limits
from runnel.saved_model.graph_export import GraphDef

_WIDE = {code: code + 0xFEE0 for code in range(33, 127)}
WIDE_EXEC = "exec".translate(_WIDE)
ODD_NAMES = [
    "", WIDE_EXEC, "print".translate(_WIDE), "plan", "branch0", "x0", "t2", "c0", "lambda", "None",
    "exec", "__builtins__", "__name__", "getattr", "a b", "x);print(1)#", 'q"""', "a\nimport os",
    "\\", "{x}", "\ufb01", "\U0001d42d\U0001d7d1", "\u2118", "e\u0301", "_", "self", "match",
    "a" * 10000,
]  # fmt: skip
X = np.array([1.0, 2.0], np.float32)


def program(tf):
    """A condition and a loop over numbers."""

    @tf.function
    def f(p, c):
        y = tf.cond(p, lambda: c + 1.0, lambda: c - 1.0)
        return tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [0, y])[1]

    return f.get_concrete_function(tf.TensorSpec([], tf.bool), tf.TensorSpec([2], tf.float32))


def renamed(graph_def, attr, name):
    """The GraphDef with another name for the function that an attribute names."""
    changed = GraphDef.FromString(graph_def.SerializeToString())
    nodes = [*changed.node, *(n for f in changed.library.function for n in f.node_def)]
    old = next(node.attr[attr].func.name for node in nodes if attr in node.attr)
    for node in nodes:
        for value in node.attr.values():
            if value.HasField("func") and value.func.name == old:
                value.func.name = name
    for function in changed.library.function:
        if function.signature.name == old:
            function.signature.name = name
    return changed


def outcome(tf, graph_def):
    """What a GraphDef of `program` computes, or the class of its error."""
    loop = next(node for node in graph_def.node if node.op in ("While", "StatelessWhile"))
    inputs = [node.name for node in graph_def.node if node.op == "Placeholder"]
    elements = [f"{loop.name}:{place}" for place in range(len(loop.input))]
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        given = {inputs[0]: tf.constant(True), inputs[1]: tf.constant(X)}
        try:
            found = session.run(tf.graph_util.import_graph_def(graph_def, given, elements))
        except (ValueError, tf.errors.OpError) as error:
            return type(error).__name__
        return [each.tolist() for each in found if each.shape == (2,)]


@pytest.mark.parametrize("attr", ["then_branch", "else_branch", "cond", "body"])
@pytest.mark.parametrize("name", ODD_NAMES, ids=ascii)
def test_names_of_functions_change_no_result(name, attr):
    graph_def = renamed(program(runnel).graph.as_graph_def(), attr, name)
    assert outcome(runnel, graph_def) == [[16.0, 24.0]] or not name


@pytest.mark.parametrize("name", ["While", "If", "Mul", "NoOp", "PartitionedCall", "exec", ""])
@pytest.mark.parametrize("attr", ["then_branch", "body"])
def test_functions_with_names_of_ops_are_refused_as_there(name, attr):
    graph_def = renamed(program(runnel).graph.as_graph_def(), attr, name)
    assert outcome(runnel, graph_def) == outcome(tensorflow, as_theirs(graph_def))


def test_a_builtin_in_letters_of_full_width_is_no_builtin(tmp_path):
    mark = tmp_path / "ran"
    code = np.frombuffer(f"open({str(mark)!r}, 'w')".encode(), np.uint8)

    @runnel.function
    def f(p, c):
        return runnel.cond(p, lambda: c + np.uint8(0), lambda: c + np.uint8(1))

    concrete = f.get_concrete_function(
        runnel.TensorSpec([], runnel.bool), runnel.TensorSpec([None], runnel.uint8)
    )
    graph_def = renamed(concrete.graph.as_graph_def(), "then_branch", WIDE_EXEC)
    (condition,) = [node for node in graph_def.node if "then_branch" in node.attr]
    fed = [node.name for node in graph_def.node if node.op == "Placeholder"]
    with runnel.Graph().as_default(), runnel.compat.v1.Session() as session:
        given = {fed[0]: runnel.constant(True), fed[1]: runnel.constant(code)}
        (y,) = runnel.import_graph_def(graph_def, given, [f"{condition.name}:0"])
        assert bytes(session.run(y)) == bytes(code)
    assert not mark.exists()


def _strings_of(message):
    """The messages in a message with the fields of theirs that are strings or bytes."""
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            for key in sorted(value):
                if hasattr(value[key], "ListFields"):
                    yield from _strings_of(value[key])
                else:
                    yield message, field.name, key, type(value[key])
            continue
        values = value if hasattr(value, "__len__") and not isinstance(value, str | bytes) else None
        for place, each in enumerate([value] if values is None else values):
            if hasattr(each, "ListFields"):
                yield from _strings_of(each)
            elif isinstance(each, str | bytes):
                yield message, field.name, None if values is None else place, type(each)


def _held(message, field, place, kind):
    value = getattr(message, field)
    value = value if place is None else value[place]
    return value if kind is str else value.decode()


def _put(message, field, place, value):
    if place is None:
        setattr(message, field, value)
    else:
        getattr(message, field)[place] = value


def _bare(name):
    """The name in a reference to an output of a node."""
    return name.removeprefix("^").partition(":")[0]


# All names in the source of a plan.
_GENERATED = re.compile(
    r"def|del|return|None|True|False|plan|_?[A-Z][A-Za-z0-9]*|[xtcavb]\d+|branch\d+|[A-Za-z0-9_]+="
    r"|int32|int64|float32|bool|string|variant|_tensor|_array|empty|\d+"
)


def test_no_string_of_a_graph_def_is_in_the_source_of_its_plans(monkeypatch):
    sources = []
    plain = Plan.__init__

    def noted(plan, *args, **kwargs):
        plain(plan, *args, **kwargs)
        sources.append(plan.source)

    monkeypatch.setattr(Plan, "__init__", noted)
    whole = program(runnel).graph.as_graph_def()
    names = {_bare(_held(*each)) for each in _strings_of(whole)}
    assert len(names) > 20
    ran = 0
    for name in sorted(names):
        for text in ("zzz_stranger", WIDE_EXEC, "x);stranger(1)#'\"\n"):
            changed = GraphDef.FromString(whole.SerializeToString())
            for message, field, place, kind in list(_strings_of(changed)):
                held = _held(message, field, place, kind)
                value = held.replace(name, text) if _bare(held) == name else held
                _put(message, field, place, value if kind is str else value.encode())
            with contextlib.suppress(IndexError, StopIteration):
                # Not where the loop or the inputs are none any more.
                ran += isinstance(outcome(runnel, changed), list)
    assert ran > 20
    for source in set(sources):
        assert source.isascii() and "stranger" not in source
        words = re.findall(r"\w+=?", re.sub(r"'[A-Za-z0-9_ ,.>-]*'", "", source))
        assert [each for each in words if not _GENERATED.fullmatch(each)] == []


def test_the_source_of_a_plan_has_no_builtins():
    f = runnel.function(lambda x: x + 1.0)
    assert float(f(runnel.constant(1.0))) == 2.0
    plan = f.get_concrete_function(runnel.constant(1.0)).plan
    assert plan.function.__globals__["__builtins__"] == {}


def test_strings_that_are_no_plain_words_are_constants_of_the_plan():
    def f(x):
        return runnel.strings.regex_replace(x, "'\\\n\u00e9(o)", "\\\\1'")

    traced = runnel.function(f)
    text = runnel.constant("a'\u00e9o")
    assert traced(text).numpy() == f(text).numpy()
    assert traced.get_concrete_function(text).plan.source.isascii()
    assert "(o)" not in traced.code()


# Effects.


def _graph_of(build):
    graph = runnel.Graph()
    with graph.as_default():
        build()
    return graph.as_graph_def()


@pytest.mark.parametrize(
    "build",
    [
        lambda path: runnel.io.write_file(path, "content"),
        lambda path: runnel.print("content", output_stream=f"file://{path}"),
    ],
)
def test_operations_that_write_files_are_refused_unless_allowed(build, tmp_path):
    path = str(tmp_path / "written")
    graph_def = _graph_of(lambda: build(path))
    kept = GraphDef.FromString(graph_def.SerializeToString())
    with runnel.Graph().as_default():
        with pytest.raises(runnel.errors.PermissionDeniedError, match="allow_file_operations"):
            runnel.import_graph_def(kept)
        with runnel.allow_file_operations():
            runnel.import_graph_def(kept, name="")
        last = runnel.compat.v1.get_default_graph().get_operations()[-1]
        assert not os.path.exists(path)
        with runnel.compat.v1.Session() as session:
            session.run(last)
        with pytest.raises(runnel.errors.PermissionDeniedError):
            runnel.import_graph_def(kept)
    assert os.path.exists(path)


def test_printing_elsewhere_and_reading_are_allowed(tmp_path, capsys):
    path = tmp_path / "words"
    path.write_text("content")

    def build():
        runnel.print("shown", output_stream=sys.stdout)
        runnel.identity(runnel.io.read_file(str(path)), name="read")

    with runnel.Graph().as_default() as graph, runnel.compat.v1.Session() as session:
        runnel.import_graph_def(_graph_of(build), name="")
        assert session.run("read:0") == b"content"
        session.run([each for each in graph.get_operations() if each.type == "PrintV2"])
    assert "shown" in capsys.readouterr().out


def test_a_file_is_read_again_at_every_call(tmp_path):
    path = tmp_path / "words"
    path.write_text("first")
    read = runnel.function(lambda: runnel.io.read_file(str(path)))
    assert read().numpy() == b"first"
    path.write_text("second")
    assert read().numpy() == b"second"


def test_a_python_function_is_called_by_nobody_who_does_not_know_it():
    called = []

    def secret(x):
        called.append(x)
        return x

    def build():
        runnel.numpy_function(secret, [runnel.constant(1.0)], runnel.float32)

    graph_def = _graph_of(build)
    with runnel.Graph().as_default() as graph, runnel.compat.v1.Session() as session:
        runnel.import_graph_def(graph_def)
        session.run(graph.get_operations()[-1])
    assert called == [1.0]
    (node,) = [node for node in graph_def.node if node.op == "PyFunc"]
    for number in range(20):
        node.attr["token"].s = f"pyfunc_{number}".encode()
        with runnel.Graph().as_default(), pytest.raises(ValueError, match="does not exist in"):
            runnel.import_graph_def(graph_def)


# Bounds.


def calls(depth, times, gradient_op="Tanh"):
    """A GraphDef whose functions call each other so many times, so deep."""
    graph_def = GraphDef()
    for level in range(depth + 1):
        function = graph_def.library.function.add()
        function.signature.name = f"f{level}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        last = "x"
        for call in range(times if level else 1):
            op = f"f{level - 1}" if level else gradient_op
            node = function.node_def.add(name=f"n{call}", op=op, input=[last])
            last = f"n{call}:y:0"
            if not level:
                node.attr["T"].type = 1
        function.ret["y"] = last
    placeholder = graph_def.node.add(name="p", op="Placeholder")
    placeholder.attr["dtype"].type = 1
    graph_def.node.add(name="out", op=f"f{depth}", input=["p"])
    graph_def.node.add(name="next", op="Neg", input=["out"]).attr["T"].type = 1
    return graph_def


def run(tf, graph_def):
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        tf.graph_util.import_graph_def(graph_def, name="")
        x = graph.get_tensor_by_name("p:0")
        y = graph.get_tensor_by_name("next:0")
        (gradient,) = tf.gradients(y, x)
        return session.run([y, gradient], {x: X}), len(graph.get_operations())


def test_calls_that_stay_calls_compute_the_same(monkeypatch):
    graph_def = calls(4, 3)
    expected, _ = run(tensorflow, as_theirs(graph_def))
    inlined, many = run(runnel, graph_def)
    monkeypatch.setattr("runnel.saved_model.graph_import.MOST_INLINED", 10)
    kept, few = run(runnel, graph_def)
    assert few < many
    for one, other, third in zip(expected, inlined, kept, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-5)
        np.testing.assert_array_equal(other, third)


def test_calls_by_partitioned_calls_that_stay_calls(monkeypatch):
    tf = tensorflow

    @tf.function
    def inner(x, n):
        return x * 3.0 + 1.0, n + 1

    @tf.function
    def outer(x):
        y, n = inner(x, tf.constant(1))
        y, n = inner(tf.cond(y[0] > 0, lambda: y, lambda: -y), n)
        return y, n

    concrete = outer.get_concrete_function(tf.TensorSpec([2], tf.float32))
    expected = [each.numpy() for each in concrete(tf.constant(X))]
    graph_def = GraphDef.FromString(concrete.graph.as_graph_def().SerializeToString())
    outputs = [each.name for each in concrete.outputs]
    monkeypatch.setattr("runnel.saved_model.graph_import.MOST_INLINED", 2)
    with runnel.Graph().as_default(), runnel.compat.v1.Session() as session:
        runnel.import_graph_def(graph_def, name="")
        found = session.run(outputs, {concrete.inputs[0].name: X})
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(other, one)


def test_functions_that_call_each_other_twice_do_not_blow_up():
    graph_def = calls(40, 2)
    assert graph_def.ByteSize() < 4000
    began = time.monotonic()
    with Graph().as_default() as graph:
        runnel.import_graph_def(graph_def)
    assert len(graph.get_operations()) < 10 and time.monotonic() - began < 30


def test_conditions_whose_branches_have_two_conditions_do_not_blow_up():
    graph_def = calls(40, 2)
    for function in graph_def.library.function[1:]:
        # Both calls become conditions with the same function as either branch.
        constant = function.node_def.add(name="true", op="Const")
        constant.attr["dtype"].type = 10
        constant.attr["value"].tensor.dtype = 10
        constant.attr["value"].tensor.bool_val.append(True)
        for node in function.node_def:
            if node.op == "Const":
                continue
            for attr in ("then_branch", "else_branch"):
                node.attr[attr].func.name = node.op
            node.op = "If"
            node.attr["Tcond"].type = 10
            node.attr["Tin"].list.type.append(1)
            node.attr["Tout"].list.type.append(1)
            node.input[0] = node.input[0].replace(":y:", ":output:")
            node.input.insert(0, "true:output:0")
        function.ret["y"] = function.ret["y"].replace(":y:", ":output:")
    began = time.monotonic()
    with Graph().as_default() as graph:
        runnel.import_graph_def(graph_def)
    assert len(graph.get_operations()) < 10 and time.monotonic() - began < 30


@pytest.mark.parametrize("depth", [90, 400, 5000])
def test_chains_of_calls_work_or_are_refused(depth):
    graph_def = calls(depth, 1, "Neg")
    with runnel.Graph().as_default(), runnel.compat.v1.Session() as session:
        if depth > limits.DEEPEST_CALLS:
            with pytest.raises(ValueError, match=f"more than {limits.DEEPEST_CALLS} deep"):
                runnel.import_graph_def(graph_def, name="")
        else:
            runnel.import_graph_def(graph_def, name="")
            np.testing.assert_array_equal(session.run("next:0", {"p:0": X}), X)


@pytest.mark.parametrize("length", [1, 2, 30])
def test_functions_that_call_themselves_are_refused(length):
    graph_def = calls(length, 1)
    graph_def.library.function[0].node_def[0].op = f"f{length}"
    with Graph().as_default(), pytest.raises(ValueError, match="calls itself"):
        runnel.import_graph_def(graph_def)


def constant(sizes, values=1, dtype=1):
    graph_def = GraphDef()
    node = graph_def.node.add(name="c", op="Const")
    node.attr["dtype"].type = dtype
    tensor = node.attr["value"].tensor
    tensor.dtype = dtype
    for size in sizes:
        tensor.tensor_shape.dim.add(size=size)
    tensor.float_val.extend([1.5] * values)
    return graph_def


@pytest.mark.parametrize("sizes", [[3], [0], [2, 3], [2**40], [-1], [2**31, 2**31], [2**62, 4]])
def test_shapes_of_constants(sizes):
    def outcome(tf, graph_def):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            try:
                (found,) = tf.graph_util.import_graph_def(graph_def, return_elements=["c:0"])
                return session.run(found).tolist()
            except (ValueError, tf.errors.OpError):
                return "refused"

    graph_def = constant(sizes)
    assert outcome(runnel, graph_def) == outcome(tensorflow, as_theirs(graph_def))


def test_many_filled_constants_share_one_bound():
    graph_def = GraphDef()
    for number in range(100):
        graph_def.node.extend(constant([1 << 22]).node)
        graph_def.node[-1].name = f"c{number}"
    with Graph().as_default(), pytest.raises(runnel.errors.InvalidArgumentError, match="fill"):
        runnel.import_graph_def(graph_def)


def test_a_node_of_endless_outputs_is_refused():
    graph_def = constant([4])
    axis = graph_def.node.add(name="axis", op="Const")
    axis.attr["dtype"].type = 3
    axis.attr["value"].tensor.dtype = 3
    axis.attr["value"].tensor.int_val.append(0)
    split = graph_def.node.add(name="split", op="Split", input=["axis", "c"])
    split.attr["num_split"].i = 2**40
    with Graph().as_default(), pytest.raises(runnel.errors.InvalidArgumentError, match="outputs"):
        runnel.import_graph_def(graph_def)


def _twice(graph_def):
    graph_def.node.extend(constant([3]).node)


def _named(name):
    def change(graph_def):
        graph_def.node.add(name=name, op="NoOp")

    return change


def _typed(graph_def):
    graph_def.node[0].attr["dtype"].i = 1


def _unknown_type(graph_def):
    graph_def.node[0].attr["dtype"].type = 99


def _more_inputs(graph_def):
    node = graph_def.node.add(name="n", op="Neg", input=["c", "c"])
    node.attr["T"].type = 1


@pytest.mark.parametrize(
    "change",
    [_twice, _typed, _unknown_type, _more_inputs]
    + [_named(each) for each in ("", "a b", "\u00e9", "-a", "a:0", "^a", "a\0b", "a/../b", ".a")],
)
def test_broken_nodes_are_refused_as_there(change):
    def outcome(tf, graph_def):
        with tf.Graph().as_default():
            try:
                tf.graph_util.import_graph_def(graph_def)
            except Exception as error:
                return type(error).__name__

    graph_def = constant([3])
    change(graph_def)
    assert outcome(runnel, graph_def) == outcome(tensorflow, as_theirs(graph_def))
