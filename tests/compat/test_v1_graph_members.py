"""What graphs and operations tell of themselves, and operations made by hand."""

import numpy as np
import pytest
import tensorflow
from both_v1 import agree, error_of, run_both

import runnel
from runnel.core.op import REGISTRY


def test_names_numbers_and_seeds():
    def program(v1, tf):
        graph = v1.get_default_graph()
        found = [graph.get_name_scope(), graph.seed, graph.num_operations()]
        with tf.name_scope("x"), tf.name_scope("y"):
            found.append(graph.get_name_scope())
            tf.constant(1.0)
        tf.random.set_seed(5)
        found += [graph.seed, graph.num_operations()]
        graph.seed = 7
        found.append(tf.random.uniform([]).op.get_attr("seed"))
        found.append([each.name for each in graph.operations][:1])
        with tf.Graph() as other:
            found.append(v1.get_default_graph() is other)
        return found

    agree(program)


def test_versions():
    theirs, ours = run_both(lambda v1, tf: v1.get_default_graph().graph_def_versions)
    assert theirs.producer >= ours.producer > 20
    assert ours.producer == runnel.Graph().as_graph_def().versions.producer


def test_what_may_not_be_fed_or_fetched():
    def program(v1, tf):
        graph = v1.get_default_graph()
        a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
        c = tf.add(a, b, name="c")
        found = [graph.is_feedable(a), graph.is_fetchable(c), graph.is_fetchable(c.op)]
        graph.prevent_feeding(a)
        graph.prevent_fetching(c.op)
        found += [graph.is_feedable(a), graph.is_fetchable(c), graph.is_fetchable(c.op)]
        with v1.Session() as session:
            found += [session.run(b, {b: 5.0}), error_of(lambda: session.run(b, {a: 3.0}))]
            for fetch in (c, c.op, [b, c], "c:0"):
                with pytest.raises(ValueError, match="not fetchable"):
                    session.run(fetch)
        return found

    agree(program)


def test_colocation():
    def program(v1, tf):
        graph = v1.get_default_graph()
        with tf.device("/cpu:0"):
            a = tf.constant(1.0, name="a")
        b = tf.constant(2.0, name="b")
        with graph.colocate_with(a.op):
            d = tf.identity(b, name="d")
            with graph.colocate_with(b):
                e = tf.identity(b, name="e")
            with graph.colocate_with(None, ignore_existing=True):
                f = tf.identity(b, name="f")
        written = [list(each.op.node_def.attr["_class"].list.s) for each in (d, e, f)]
        return [
            [each.op.colocation_groups() for each in (a, d, e, f)],
            written,
            error_of(lambda: graph.colocate_with(None).__enter__()),
        ]

    agree(program)


def test_containers():
    def program(v1, tf):
        graph = v1.get_default_graph()
        with graph.container("box") as name:
            v1.get_variable("v", [], use_resource=True)
        v1.get_variable("w", [], use_resource=True)
        handles = [each for each in graph.get_operations() if each.type == "VarHandleOp"]
        return [name, [each.node_def.attr["container"].s for each in handles]]

    agree(program)


def test_operations_by_hand():
    def program(v1, tf):
        graph = v1.get_default_graph()
        x = tf.constant([1.0, -2.0])
        attrs = {"SrcT": v1.AttrValue(type=1), "DstT": v1.AttrValue(type=3)}
        cast = graph.create_op("Cast", [x], [tf.int32], attrs=attrs)
        with tf.name_scope("scope"):
            types = {"T": v1.AttrValue(type=1)}
            negative = graph.create_op("Neg", [x], [tf.float32], name="n", attrs=types)
        node = v1.NodeDef(name="square", op="Square", input=["Const"])
        node.attr["T"].type = 1
        square = tf.Operation.from_node_def(node, graph, inputs=[x], control_inputs=[cast])
        made = [cast, negative, square]
        with v1.Session() as session:
            values = session.run([each.outputs[0] for each in made])
        return [
            [each.name for each in made],
            [each.type for each in made],
            [str(each.outputs[0].shape) for each in made],
            [each.name for each in square.control_inputs],
            values,
        ]

    agree(program)


def test_operations_by_hand_that_cannot_be():
    graph = runnel.Graph()
    with pytest.raises(RuntimeError, match="NoSuchOp"):
        graph.create_op("NoSuchOp", [])
    with pytest.raises(RuntimeError, match="NoSuchOp"):
        graph.op_def_for_type("NoSuchOp")
    with pytest.raises(TypeError, match="Graph"):
        runnel.Operation.from_node_def(runnel.compat.v1.NodeDef(op="Neg", name="n"), 3)


def test_gradients_of_other_names():
    def program(v1, tf):
        name = f"Hundredfold{tf.__name__}"
        with_own = f"Named{tf.__name__}"

        @tf.RegisterGradient(name)
        def _(op, gradient):
            return 100.0 * gradient * op.inputs[0]

        graph = v1.get_default_graph()
        x = tf.constant(3.0)
        with graph.gradient_override_map({"Square": name, "Neg": "Square"}):
            y = tf.square(x)
            z = tf.negative(x)
        with graph.gradient_override_map({"Square": with_own}):
            missing = tf.square(x)
        plain = tf.square(x)
        gradients = [v1.gradients(each, x)[0] for each in (y, z, plain)]
        with v1.Session() as session:
            values = session.run([*gradients, y])
        return [
            values,
            error_of(lambda: v1.gradients(missing, x)),
            error_of(lambda: tf.RegisterGradient(name)(lambda op, gradient: gradient)),
            error_of(lambda: graph.gradient_override_map({1: "a"}).__enter__()),
            error_of(lambda: graph.gradient_override_map([]).__enter__()),
        ]

    agree(program)


# The one dtype that they take here is an attribute there; names of ours; and what it is there
# for the sake of the original's graphs.
_OTHERS = {
    "ConcatOffset", "DecodeCSV", "IdentityN", "ParseExampleV2", "ParseSequenceExampleV2",
    "TensorListConcatV2", "TensorListFromTensor", "TensorListGetItem", "TensorListReserve",
    "Where", "While",
}  # fmt: skip


def test_descriptions_of_ops():
    """Arguments and attributes are the original's, for all ops that it has."""
    assert REGISTRY["DecodeProtoV2"].name == "DecodeProtoV2"
    # Their ops too, which are there once they are asked for.
    assert runnel.compat.v1.summary.image
    theirs, ours = tensorflow.Graph(), runnel.Graph()
    compared = 0
    for name in REGISTRY:
        try:
            wanted = theirs.op_def_for_type(name)
        except RuntimeError:
            continue
        found = ours.op_def_for_type(name)
        compared += 1
        expected = {each.name: each.type for each in wanted.attr}
        # The colour of pixels that are no numbers: here it is always the default.
        expected.pop("bad_color", None)
        assert {each.name: each.type for each in found.attr} == expected, name
        if name not in _OTHERS:
            assert [_argument(each) for each in found.input_arg] == [
                _argument(each) for each in wanted.input_arg
            ]
            assert [_argument(each) for each in found.output_arg] == [
                _argument(each) for each in wanted.output_arg
            ]
    assert compared > 500


def _argument(message):
    return (
        message.name,
        message.type,
        message.type_attr,
        message.number_attr,
        message.type_list_attr,
    )


def test_the_description_of_an_operation():
    def program(v1, tf):
        description = tf.add(tf.constant(1.0), 2.0).op.op_def
        return [description.name, [each.name for each in description.input_arg]]

    agree(program)


def test_values_to_be_fed():
    specs = [
        runnel.TensorSpec([2, None]),
        runnel.RaggedTensorSpec([2, None]),
        runnel.SparseTensorSpec([2, 2]),
        runnel.IndexedSlicesSpec([2]),
    ]
    for spec in specs:
        with runnel.Graph().as_default() as graph:
            value = spec.placeholder_value(None)
            assert spec.is_compatible_with(runnel.type_spec_from_value(value))
            fed = [each for each in graph.operations if each.type == "Placeholder"]
            assert len(fed) == len(spec.flatten())
            assert isinstance(value, spec.value_type)
    with pytest.raises(ValueError, match="no graph is being built"):
        specs[0].placeholder_value(None)


def test_the_spec_of_none():
    for tf in (tensorflow, runnel):
        spec = tf.NoneTensorSpec()
        assert tf.NoneTensorSpec.from_value(None) == spec
        assert spec.most_specific_compatible_shape(spec) == spec
        with pytest.raises(ValueError, match="compatible with both"):
            spec.most_specific_compatible_shape(3)


def test_members_of_wrapped_cells():
    def program(v1, tf):
        cell = tf.nn.RNNCellResidualWrapper(tf.keras.layers.GRUCell(2))
        x, state = tf.ones([3, 2]), tf.zeros([3, 2])
        output, _ = cell.apply(x, state)
        cell.add_update([], inputs=True)
        return [
            output.shape.as_list(),
            list(cell.get_losses_for(x)),
            list(cell.get_updates_for(None)),
        ]

    np.testing.assert_array_equal(agree(program)[0], [3, 2])
