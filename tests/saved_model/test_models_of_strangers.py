"""SavedModels of strangers: what loading and calling them may do, and how they are refused."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
import tensorflow
from tensorboard.compat.proto.meta_graph_pb2 import AssetFileDef

import runnel as tf
from runnel.commands.saved_model import main as show
from runnel.formats.saved_model_messages import SavedModel
from runnel.saved_model.attributes import attr_value

_WIDE = {code: code + 0xFEE0 for code in range(33, 127)}
WIDE_EXEC = "exec".translate(_WIDE)
REFUSED = tf.errors.PermissionDeniedError


class Words(tf.Module):
    """A table of an asset, one of constants, a variable, and functions of them."""

    def __init__(self, vocabulary):
        super().__init__()
        self.scale = tf.Variable(2.0)
        self.words = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                vocabulary, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )  # fmt: skip
        self.numbers = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), 0
        )

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def serve(self, words):
        return self.words.lookup(words), self.numbers.lookup(words)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.uint8)])
    def choose(self, x):
        one, two = tf.constant(0, tf.uint8), tf.constant(1, tf.uint8)
        return tf.cond(tf.size(x) > 0, lambda: x + one, lambda: x + two)

    @tf.function(input_signature=[tf.TensorSpec([], tf.float32)])
    def scaled(self, x):
        return x * self.scale


@pytest.fixture
def model(tmp_path):
    """The folder of a SavedModel."""
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("to\nbe\n")
    (tmp_path / "secret.txt").write_text("TOP\nSECRET\n")
    tf.saved_model.save(Words(str(vocabulary)), str(tmp_path / "model"))
    vocabulary.unlink()
    return str(tmp_path / "model")


class changing:
    """The message of a SavedModel, to be changed and written again at the end of the block."""

    def __init__(self, folder):
        self._path = os.path.join(folder, "saved_model.pb")

    def __enter__(self):
        with open(self._path, "rb") as file:
            self._message = SavedModel.FromString(file.read())
        return self._message.meta_graphs[0]

    def __exit__(self, *failure):
        with open(self._path, "wb") as file:
            file.write(self._message.SerializeToString())


def functions_with(meta_graph, op):
    """The functions of a MetaGraph with a node of this op."""
    functions = meta_graph.graph_def.library.function
    found = [each for each in functions if any(op in node.op for node in each.node_def)]
    assert found
    return found


def add_node(function, name, op, inputs=(), **attrs):
    node = function.node_def.add(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        node.attr[key].CopyFrom(attr_value(value))
    return node


def add_text(function, name, text):
    value = np.array(text.encode(), object)
    add_node(function, name, "Const", dtype=tf.string, value=value)
    return f"{name}:output:0"


def test_a_sound_model_works(model):
    loaded = tf.saved_model.load(model)
    words, numbers = loaded.serve(tf.constant(["be", "b"]))
    assert words.numpy().tolist() == [1, -1] and numbers.numpy().tolist() == [0, 2]
    assert float(loaded.scaled(tf.constant(3.0))) == 6.0


# Code.


def _give_the_branch_of_choose_to(function, meta_graph, code):
    """Add the condition of `choose`, on these bytes, to a function."""
    (condition,) = [
        node
        for each in functions_with(meta_graph, "If")
        for node in each.node_def
        if "then_branch" in node.attr
    ]
    value = np.frombuffer(code, np.uint8)
    add_node(function, "code", "Const", dtype=tf.uint8, value=value)
    add_node(function, "holds", "Const", dtype=tf.bool, value=np.array(True))
    node = function.node_def.add()
    node.CopyFrom(condition)
    node.name = "evil"
    del node.input[:]
    node.input.extend(["holds:output:0", "code:output:0"])


def _name_the_branch(meta_graph, name):
    nodes = [n for f in meta_graph.graph_def.library.function for n in f.node_def]
    old = {node.attr["then_branch"].func.name for node in nodes if "then_branch" in node.attr}
    for node in nodes:
        if "then_branch" in node.attr:
            node.attr["then_branch"].func.name = name
    for function in meta_graph.graph_def.library.function:
        if function.signature.name in old:
            function.signature.name = name


@pytest.mark.parametrize("name", [WIDE_EXEC, "exec", "__import__('os')", "eval", "x\ny"])
def test_no_code_runs_while_a_model_is_loaded_or_called(model, name, tmp_path):
    code = f"open({str(tmp_path / 'ran')!r}, 'w')".encode()
    with changing(model) as meta_graph:
        for function in functions_with(meta_graph, "LookupTableImport"):
            _give_the_branch_of_choose_to(function, meta_graph, code)
        _name_the_branch(meta_graph, name)
    loaded = tf.saved_model.load(model)
    x = np.frombuffer(code, np.uint8)
    np.testing.assert_array_equal(loaded.choose(tf.constant(x)), x)
    assert not (tmp_path / "ran").exists()


def test_a_model_cannot_call_python_functions_of_the_process(model):
    called = []
    with tf.Graph().as_default() as graph:
        tf.numpy_function(called.append, [tf.constant(1.0)], [])
        node = graph.get_operations()[-1].node_def
    with changing(model) as meta_graph:
        for function in functions_with(meta_graph, "LookupTableImport"):
            token = node.attr["token"].s.decode().rpartition("_")[0].encode()
            add_node(function, "evil", "PyFunc", token=token, Tin=[], Tout=[])
    with pytest.raises(ValueError, match="does not exist in this process"):
        tf.saved_model.load(model)
    assert not called


@pytest.mark.parametrize("name", ["__class__", "__dict__", "__reduce__", "__getattr__"])
def test_names_that_python_looks_for_are_no_names_of_parts(model, name):
    with changing(model) as meta_graph:
        for child in meta_graph.object_graph_def.nodes[0].children:
            if child.local_name == "choose":
                child.local_name = name
    with pytest.raises(OSError, match=name):
        tf.saved_model.load(model)


@pytest.mark.parametrize("names", [(WIDE_EXEC, "b"), ("a\uff41", "aa"), ("def", "b"), ("", "b")])
def test_named_tuples_of_odd_names_are_refused(model, names):
    with changing(model) as meta_graph:
        functions = meta_graph.object_graph_def.concrete_functions
        saved = functions[next(each for each in functions if "choose" in each)]
        saved.output_signature.Clear()
        saved.output_signature.named_tuple_value.name = "Pair"
        for name in names:
            pair = saved.output_signature.named_tuple_value.values.add(key=name)
            pair.value.none_value.SetInParent()
    loaded = tf.saved_model.load(model)
    refusals = 0
    for part in (loaded.serve, loaded.choose, loaded.scaled):
        try:
            part.concrete_functions  # noqa: B018 - they are made here
        except (ValueError, OSError):
            refusals += 1
    assert refusals == 1


# Files.


def _write(function, path):
    inputs = [add_text(function, "path", path), add_text(function, "text", "content")]
    add_node(function, "evil", "WriteFile", inputs)


def _print(function, path):
    text = add_text(function, "text", "content")
    add_node(function, "evil", "PrintV2", [text], output_stream=f"file://{path}", end="")


@pytest.mark.parametrize("op", [_write, _print])
def test_loading_writes_no_files_unless_allowed(model, op, tmp_path):
    path = tmp_path / "written"
    with changing(model) as meta_graph:
        for function in functions_with(meta_graph, "LookupTableImport"):
            op(function, str(path))
    for load in (tf.saved_model.load, tf.keras.models.load_model):
        with pytest.raises(REFUSED, match=r"'evil' writes files.*runnel\.allow_file_operations"):
            load(model)
    assert not path.exists()
    with tf.allow_file_operations():
        tf.saved_model.load(model)
    assert path.read_text() == "content"


@pytest.mark.parametrize("op", [_write, _print])
def test_calling_writes_no_files_unless_allowed(model, op, tmp_path):
    path = tmp_path / "written"
    with changing(model) as meta_graph:
        for function in functions_with(meta_graph, "Mul"):
            op(function, str(path))
    loaded = tf.saved_model.load(model)
    with pytest.raises(REFUSED, match=r"runnel\.allow_file_operations"):
        loaded.scaled(tf.constant(1.0))
    with tf.allow_file_operations(), pytest.raises(REFUSED):
        # It was loaded without.
        loaded.scaled(tf.constant(1.0))
    assert not path.exists()
    with tf.allow_file_operations():
        loaded = tf.saved_model.load(model)
    assert float(loaded.scaled(tf.constant(1.0))) == 2.0
    assert path.read_text() == "content"


def _read_file(function, path):
    add_node(function, "evil", "ReadFile", [add_text(function, "path", path)])


def _matching(function, path):
    add_node(function, "evil", "MatchingFiles", [add_text(function, "path", path)])


def _reading_initializer(function, path):
    (node,) = [node for node in function.node_def if "TextFile" in node.op]
    node.input[1] = add_text(function, "path", path)


@pytest.mark.parametrize("op", [_read_file, _matching, _reading_initializer])
def test_loading_reads_no_files_but_assets_unless_allowed(model, op, tmp_path):
    with changing(model) as meta_graph:
        for function in functions_with(meta_graph, "InitializeTableFromTextFile"):
            op(function, str(tmp_path / "secret.txt"))
    with pytest.raises(REFUSED, match=r"reads files.*runnel\.allow_file_operations"):
        tf.saved_model.load(model)
    with tf.allow_file_operations():
        tf.saved_model.load(model)


def test_a_called_function_may_read_files(model, tmp_path):
    with changing(model) as meta_graph:
        (function,) = functions_with(meta_graph, "Mul")
        _read_file(function, str(tmp_path / "missing"))
        function.control_ret["evil"] = "evil"
    tf.saved_model.load(model).scaled(tf.constant(1.0))


@pytest.mark.parametrize("name", ["../../secret.txt", "../assets/../../secret.txt", "/etc/hosts"])
def test_assets_lie_in_the_folder_of_the_model(model, name):
    with changing(model) as meta_graph:
        meta_graph.asset_file_def[0].filename = name
    with pytest.raises(REFUSED, match="leads out of the SavedModel"):
        tf.saved_model.load(model)
    if name.startswith(".."):
        with tf.allow_file_operations():
            loaded = tf.saved_model.load(model)
        assert loaded.serve(tf.constant(["SECRET"]))[0].numpy().tolist() == [1]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
@pytest.mark.parametrize("part", ["assets", "variables"])
@pytest.mark.parametrize("whole", [True, False])
def test_links_do_not_lead_out_of_the_model(model, part, whole, tmp_path):
    inside, outside = os.path.join(model, part), str(tmp_path / "outside")
    shutil.move(inside, outside)
    if whole:
        os.symlink(outside, inside)
    else:
        os.mkdir(inside)
        for name in os.listdir(outside):
            os.symlink(os.path.join(outside, name), os.path.join(inside, name))
    with pytest.raises(REFUSED, match="leads out of the SavedModel"):
        tf.saved_model.load(model)
    with tf.allow_file_operations():
        loaded = tf.saved_model.load(model)
    assert loaded.serve(tf.constant(["be"]))[0].numpy().tolist() == [1]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
def test_a_link_to_a_model_and_links_inside_of_it_are_fine(model, tmp_path):
    (name,) = os.listdir(os.path.join(model, "assets"))
    path = os.path.join(model, "assets", name)
    os.rename(path, f"{path}.real")
    os.symlink(f"{name}.real", path)
    os.symlink(model, tmp_path / "link")
    loaded = tf.saved_model.load(str(tmp_path / "link"))
    assert loaded.serve(tf.constant(["be"]))[0].numpy().tolist() == [1]


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="needs symbolic links")
def test_messages_that_are_links_to_elsewhere(model, tmp_path):
    for name in ("saved_model.pb", "fingerprint.pb"):
        shutil.move(os.path.join(model, name), tmp_path / name)
        os.symlink(tmp_path / name, os.path.join(model, name))
    for load in (tf.saved_model.load, tf.saved_model.experimental.read_fingerprint):
        with pytest.raises(REFUSED, match="leads out of the SavedModel"):
            load(model)
        with tf.allow_file_operations():
            load(model)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
@pytest.mark.parametrize("name", ["variables.index", "variables.data-00000-of-00001"])
def test_pipes_in_models_are_not_waited_for(model, name):
    path = os.path.join(model, "variables", name)
    os.unlink(path)
    os.mkfifo(path)
    with pytest.raises(REFUSED, match=r"variables.* is a pipe or a device"):
        tf.saved_model.load(model)


@pytest.mark.parametrize("content", [b"\xff\xff\xff", b"\0" * (2 << 20)])
def test_a_broken_fingerprint_is_one_error(model, content):
    with open(os.path.join(model, "fingerprint.pb"), "wb") as file:
        file.write(content)
    with pytest.raises((RuntimeError, OSError)):
        tf.saved_model.experimental.read_fingerprint(model)


def test_names_in_a_model_do_not_steer_the_terminal(model, capsys):
    with changing(model) as meta_graph:
        meta_graph.meta_info_def.tags.append("wiped\x1b[2J")
        meta_graph.signature_def["title\x1b]0;x\x07"].method_name = "\u202em"
    for arguments in (["show", model], ["show", model, "--all"], ["show", f"{model}\x1b"]):
        show(arguments)
        printed = "".join(capsys.readouterr())
        assert printed
        assert not set(printed) & {"\x1b", "\x07", "\u202e"}


def _decode_proto(function, text, path):
    add_node(
        function, "evil", "DecodeProtoV2", [text], message_type="A", field_names=["a"],
        output_types=[tf.string], descriptor_source=path,
    )  # fmt: skip


def test_a_path_in_an_attribute_is_no_asset_whatever_the_inputs_are(model, tmp_path):
    with changing(model) as meta_graph:
        for function in functions_with(meta_graph, "InitializeTableFromTextFile"):
            (node,) = [node for node in function.node_def if "TextFile" in node.op]
            _decode_proto(function, node.input[1], str(tmp_path / "secret.txt"))
    with pytest.raises(REFUSED, match="reads files"):
        tf.saved_model.load(model)


def test_sessions_load_under_the_same_rules(tmp_path):
    v1 = tensorflow.compat.v1
    vocabulary = tmp_path / "vocabulary.txt"
    vocabulary.write_text("to\nbe\n")
    (tmp_path / "secret.txt").write_text("TOP\nSECRET\n")
    folder = str(tmp_path / "model")
    with tensorflow.Graph().as_default() as graph, v1.Session() as session:
        path = tensorflow.constant(str(vocabulary), name="path")
        v1.add_to_collection(v1.GraphKeys.ASSET_FILEPATHS, path)
        table = tensorflow.lookup.StaticHashTable(
            tensorflow.lookup.TextFileInitializer(
                path, tensorflow.string, tensorflow.lookup.TextFileIndex.WHOLE_LINE,
                tensorflow.int64, tensorflow.lookup.TextFileIndex.LINE_NUMBER,
            ),
            -1,
        )  # fmt: skip
        words = v1.placeholder(tensorflow.string, [None], name="words")
        tensorflow.identity(table.lookup(words), name="found")
        start = v1.tables_initializer(name="start")
        session.run(start)
        builder = v1.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"], main_op=start,
            assets_collection=graph.get_collection(v1.GraphKeys.ASSET_FILEPATHS),
        )  # fmt: skip
        builder.save()

    def found(word):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            tf.compat.v1.saved_model.load(session, ["serve"], folder)
            return session.run("found:0", {"words:0": [word]}).tolist()

    assert found("be") == [1]
    vocabulary.unlink()
    assert found("be") == [1]
    with changing(folder) as meta_graph:
        for packed in meta_graph.collection_def["saved_model_assets"].any_list.value:
            asset = AssetFileDef.FromString(packed.value)
            asset.filename = "../../secret.txt"
            packed.value = asset.SerializeToString()
    with pytest.raises(REFUSED, match="leads out of the SavedModel"):
        found("SECRET")
    with tf.allow_file_operations():
        assert found("SECRET") == [1]
    with changing(folder) as meta_graph:
        # The same by another constant than that of the asset.
        del meta_graph.collection_def["saved_model_assets"]
        (constant,) = [node for node in meta_graph.graph_def.node if node.name == "path"]
        constant.attr["value"].tensor.string_val[0] = str(tmp_path / "secret.txt").encode()
    with pytest.raises(REFUSED, match="reads files"):
        found("SECRET")


# Bounds.


def test_loading_does_not_wait_for_ever(model):
    def always(x):
        return tf.while_loop(lambda x: x < 1.0, lambda x: (x,), [x])[0]

    spec = tf.TensorSpec([], tf.float32)
    concrete = tf.function(always).get_concrete_function(spec)
    graph_def = concrete.graph.as_graph_def()
    (loop,) = [node for node in graph_def.node if "body" in node.attr]
    with changing(model) as meta_graph:
        meta_graph.graph_def.library.function.extend(graph_def.library.function)
        for function in functions_with(meta_graph, "LookupTableImport"):
            for place in range(len(loop.input)):
                dtype = loop.attr["T"].list.type[place]
                value = np.zeros([], tf.as_dtype(dtype).as_numpy_dtype)
                add_node(function, f"v{place}", "Const", dtype=tf.as_dtype(dtype), value=value)
            node = function.node_def.add()
            node.CopyFrom(loop)
            node.input[:] = [f"v{place}:output:0" for place in range(len(loop.input))]
    with pytest.raises(REFUSED, match=r"loops or waits.*allow_file_operations"):
        tf.saved_model.load(model)


def test_a_message_beyond_what_a_message_can_be_is_not_read(model):
    with open(os.path.join(model, "saved_model.pb"), "ab") as file:
        file.truncate(1 << 32)
    with pytest.raises(OSError, match="at most"):
        tf.saved_model.load(model)


@pytest.mark.parametrize("sizes", [[2**40], [2**62, 2**62], [-5]])
def test_variables_of_absurd_shapes(model, sizes):
    with changing(model) as meta_graph:
        for node in meta_graph.object_graph_def.nodes:
            if node.WhichOneof("kind") == "variable":
                for size in sizes:
                    node.variable.shape.dim.add(size=size)
    options = tf.saved_model.LoadOptions(experimental_skip_checkpoint=True)
    try:
        tf.saved_model.load(model, options=options)
        assert sizes == [-5]
    except (ValueError, OSError, tf.errors.OpError):
        pass
    with pytest.raises((ValueError, OSError, tf.errors.OpError)):
        tf.saved_model.load(model)


def test_a_table_that_is_made_of_itself_is_refused(model):
    with changing(model) as meta_graph:
        graph = meta_graph.object_graph_def
        for number, node in enumerate(graph.nodes):
            for child in node.children:
                if child.local_name == "_create_resource":
                    name = graph.nodes[child.node_id].function.concrete_functions[0]
                    graph.concrete_functions[name].bound_inputs.append(number)
    with pytest.raises(OSError, match="SavedModel"):
        tf.saved_model.load(model)


def test_an_object_graph_that_leads_nowhere_is_refused(model):
    with changing(model) as meta_graph:
        meta_graph.object_graph_def.nodes[0].children[0].node_id = 1000
    with pytest.raises(OSError, match="is broken"):
        tf.saved_model.load(model)
