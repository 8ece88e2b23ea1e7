"""Lookup tables against TensorFlow."""

import copy
import gc

import numpy as np
import pytest
from compare import COMPUTED, check, check_raises
from hypothesis import given, settings, strategies as st

import runnel
from runnel.core.graph.graph import Graph


def table_of(tf, keys, values, default, **kwargs):
    initializer = tf.lookup.KeyValueTensorInitializer(keys, values, **kwargs)
    return tf.lookup.StaticHashTable(initializer, default)


def in_order(tf, exported):
    """What a table exports, sorted by key: tables have no order."""
    keys, values = (each.numpy() for each in exported)
    order = np.argsort(keys.astype(str) if keys.dtype == object else keys)
    return tf.constant(keys[order]), tf.constant(values[order])


WORDS = np.array(["a", "bb", "c", "", "é", "dd"], object)
NUMBERS = np.array([5, -3, 0, 2**40, 77, 6])
VALUES = {
    "int32": np.arange(6, dtype=np.int32) * 10,
    "int64": np.arange(6) * 2**33,
    "float32": np.arange(6, dtype=np.float32) / 4,
    "float64": np.arange(6) / 7,
    "bool": np.array([True, False] * 3),
    "string": np.array([f"v{i}" for i in range(6)], object),
}


@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("shape", [(), (4,), (2, 2), (0,)])
def test_words_to_anything(dtype, shape):
    default = {"bool": False, "string": "none"}.get(dtype, 3)
    asked = np.array(["bb", "x", "", "é"], object)[: int(np.prod(shape))].reshape(shape)

    def lookup(tf, x):
        return table_of(tf, WORDS, VALUES[dtype], default).lookup(x)

    check(lookup, asked, gradient=False)


@pytest.mark.parametrize("values", ["int64", "float32", "string"])
def test_numbers_to_anything(values):
    default = "none" if values == "string" else -1
    few = np.array([[5, 4], [-3, 2**40]])
    many = np.arange(-50, 150).reshape(4, 50)

    def lookup(tf, x):
        return table_of(tf, NUMBERS, VALUES[values], default).lookup(x)

    check(lookup, few, gradient=False)
    check(lookup, many, gradient=False)
    check(lookup, np.concatenate([many.ravel(), [2**40, 2**62, -(2**63)]]), gradient=False)


@pytest.mark.parametrize("spread", [1, 3, 10**12])
@settings(max_examples=20, deadline=None)
@given(st.lists(st.integers(-40, 40), min_size=1, max_size=30, unique=True), st.data())
def test_many_numbers(spread, keys, data):
    """Close together and far apart, they are looked up in different ways."""
    asked = data.draw(st.lists(st.integers(-45, 45), min_size=40, max_size=40))
    keys, asked = np.array(keys) * spread, np.array(asked) * spread

    def lookup(tf, x):
        return table_of(tf, keys, keys * 2 + 1, -1).lookup(x)

    check(lookup, asked, traced=False)


def test_int32_keys_and_other_faces():
    check(lambda tf: table_of(tf, [1, 2], [3, 4], -1)[tf.constant([2, 9])], may_raise=True)
    check(lambda tf: table_of(tf, [1, 2], [3, 4], -1).size(), may_raise=True)
    check(lambda tf: table_of(tf, ["a", "a"], [1, 1], -1).size(), may_raise=True)
    check(lambda tf: table_of(tf, "a", 1, -1).size(), may_raise=True)
    check(lambda tf: table_of(tf, ["a", "b"], [1, 2], 7).default_value, may_raise=True)
    check(
        lambda tf: in_order(tf, table_of(tf, WORDS, VALUES["int64"], 0).export()),
        traced=False,
        may_raise=True,
    )
    table = table_of(runnel, ["a", "b"], [1, 2], -1, value_dtype="int64")
    assert table.key_dtype is runnel.string and table.value_dtype is runnel.int64
    assert table.resource_handle.dtype is runnel.resource and table.name is None


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: table_of(tf, ["a", "a"], [1, 2], -1),
        lambda tf: table_of(tf, ["a", "b"], [1], -1),
        lambda tf: table_of(tf, ["a", "b"], [[1], [2]], -1),
        lambda tf: table_of(tf, [], [], -1, key_dtype=tf.string, value_dtype=tf.int64),
        lambda tf: table_of(tf, [1.0], [1], -1),
        lambda tf: table_of(tf, ["a"], [1], 0.5),
        lambda tf: table_of(tf, ["a"], [1], "a"),
        lambda tf: table_of(tf, ["a"], [1], [1, 2]),
        lambda tf: table_of(tf, ["a"], [1], tf.constant(1, tf.int64)),
        lambda tf: table_of(tf, ["a"], [1], 0).lookup(tf.constant(1)),
        lambda tf: table_of(tf, ["a"], [1], 0, key_dtype=tf.int32),
        lambda tf: table_of(tf, ["a"], [1.5], 0, value_dtype=tf.int32),
    ],
)
def test_static_tables_refuse(call):
    check_raises(call)


# Vocabularies.


def vocabulary(tf, words, buckets, **kwargs):
    values = tf.range(len(words), dtype=tf.int64)
    initializer = tf.lookup.KeyValueTensorInitializer(words, values)
    return tf.lookup.StaticVocabularyTable(initializer, buckets, **kwargs)


def test_vocabulary():
    asked = np.array([["a", "x"], ["é", "unknown word"]], object)
    check(lambda tf, x: vocabulary(tf, WORDS, 4).lookup(x), asked)
    check(lambda tf, x: vocabulary(tf, WORDS, 1)[x], asked)
    check(lambda tf: vocabulary(tf, WORDS, 4).size())
    check(lambda tf, x: vocabulary(tf, NUMBERS, 4).lookup(x), np.array([[5, 4], [-3, 99]]))
    check(
        lambda tf, x: vocabulary(tf, NUMBERS, 4, lookup_key_dtype=tf.int32).lookup(x),
        np.array([5, 4, -3], np.int32),
    )
    check(lambda tf, x: tf.lookup.StaticVocabularyTable(None, 3).lookup(x), asked)
    check(lambda tf: tf.lookup.StaticVocabularyTable(None, 3).size())
    check(lambda tf: [vocabulary(tf, WORDS, 4, name="v").name, vocabulary(tf, WORDS, 4).name])


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: vocabulary(tf, ["a"], 0),
        lambda tf: vocabulary(tf, ["a"], -1),
        lambda tf: vocabulary(tf, [1.0], 1),
        lambda tf: vocabulary(tf, [1], 1),
        lambda tf: vocabulary(tf, ["a"], 1, lookup_key_dtype=tf.int64),
        lambda tf: vocabulary(tf, ["a"], 1).lookup(tf.constant(1)),
        lambda tf: tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(["a"], [0]), 1
        ),
    ],
)
def test_vocabularies_refuse(call):
    check_raises(call)


# Text files.


def from_file(tf, path, key, value, default, kinds=("string", "int64"), **kwargs):
    initializer = tf.lookup.TextFileInitializer(
        str(path), tf.as_dtype(kinds[0]), key, tf.as_dtype(kinds[1]), value, **kwargs
    )
    return tf.lookup.StaticHashTable(initializer, default, experimental_is_anonymous=True)


LINE, NUMBER = -2, -1


def test_text_files(tmp_path):
    path = tmp_path / "table.txt"
    path.write_bytes("emerson 10\nlake 20\r\npälmer 30".encode())

    def exported(key, value, default, kinds=("string", "int64"), **kwargs):
        def call(tf):
            table = from_file(tf, path, key, value, default, kinds, delimiter=" ", **kwargs)
            return in_order(tf, table.export())

        check(call, traced=False, may_raise=True)

    exported(0, 1, -1)
    exported(LINE, NUMBER, -1)
    exported(0, NUMBER, -1, value_index_offset=7)
    exported(0, NUMBER, -1, vocab_size=2)
    exported(NUMBER, LINE, "", ("int64", "string"))
    exported(1, 0, "", ("int64", "string"))
    exported(0, 1, -1.0, ("string", "float32"))
    exported(0, 1, "", ("string", "string"))


@pytest.mark.parametrize(
    ("content", "arguments", "options"),
    [
        ("a\nb\na\n", (LINE, NUMBER, -1), {}),
        ("a\n\nb\n", (LINE, NUMBER, -1), {}),
        ("", (LINE, NUMBER, -1), {}),
        ("a\nb\n", (LINE, NUMBER, -1), {"vocab_size": 3}),
        ("a 1\nb 2\n", (0, 2, -1), {"delimiter": " "}),
        ("a 1\nb c\n", (0, 1, -1), {"delimiter": " "}),
        ("a 1\n", (0, 1, -1), {"delimiter": "ab"}),
        (None, (LINE, NUMBER, -1), {}),
        ("a\n", (-3, NUMBER, -1), {}),
        ("a\n", (0, -3, -1), {}),
        ("a\n", (0, NUMBER, -1), {"vocab_size": 0}),
        ("a\n", (NUMBER, 0, -1), {}),
        ("a\n", (0, NUMBER, -1), {"kinds": ("string", "string")}),
    ],
)
def test_bad_text_files(content, arguments, options, tmp_path):
    path = tmp_path / "table.txt"
    if content is not None:
        path.write_text(content)
    failure = check_raises(lambda tf: from_file(tf, path, *arguments, **options))
    if content is None:
        assert "table.txt" in str(failure)
    check_raises(lambda tf: tf.lookup.TextFileInitializer("", tf.string, 0, tf.int64, 1))


# Tables that change.


def mutable(tf, default=-1, key=None, value=None):
    return tf.lookup.experimental.MutableHashTable(
        key or tf.string, value or tf.int64, default_value=default
    )


def dense(tf, default=-1, empty=0, deleted=-1, **kwargs):
    return tf.lookup.experimental.DenseHashTable(
        tf.int64, tf.int64, default, empty, deleted, **kwargs
    )


def test_inserting_and_removing():
    def program(tf):
        table = mutable(tf)
        found = [table.size(), *table.export()]
        table.insert(["a", "b", "a"], [1, 2, 3])
        found += [table.size(), table.lookup(["a", "z"]), table["b"], table.lookup([["a"]])]
        table.remove(tf.constant(["a", "z"]))
        table.insert([["c", "d"]], [[7, 8]])
        table.insert("e", 9)
        found += [table.size(), table.lookup(["a", "b", "c", "d", "e"])]
        defaults = tf.constant([5, 6], tf.int64)
        found.append(table.lookup(tf.constant(["x", "b"]), dynamic_default_values=defaults))
        return [*found, *in_order(tf, table.export())]

    check(program, traced=False)


def test_values_that_are_vectors():
    def program(tf):
        table = mutable(tf, [-1.0, -2.0], tf.int64, tf.float32)
        table.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]])
        defaults = tf.constant([[5.0, 6.0], [7.0, 8.0]])
        return [
            table.lookup(tf.constant([[1, 9]], tf.int64)),
            table.lookup(tf.constant([1, 9], tf.int64), dynamic_default_values=defaults),
            *in_order(tf, table.export()),
        ]

    check(program, traced=False, gradient=False)


def test_numbers_that_change():
    def program(tf):
        table = mutable(tf, key=tf.int64)
        asked = tf.range(100, dtype=tf.int64)
        found = [table.lookup(asked)]
        for start in range(3):
            table.insert(asked[start::7], asked[start::7] * 2)
            found += [table.lookup(asked), table.lookup(asked)]
        table.remove(asked[::2])
        return [*found, table.lookup(asked), table.size()]

    check(program, traced=False)


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: mutable(tf, "a"),
        lambda tf: mutable(tf, [[1]]),
        lambda tf: mutable(tf, key=tf.float32),
        lambda tf: mutable(tf).insert(["a", "b"], [1]),
        lambda tf: mutable(tf, [1, 2]).insert(["a", "b"], [[1], [2]]),
        lambda tf: mutable(tf).insert(["a"], [1.5]),
        lambda tf: mutable(tf).insert([1], [1]),
        lambda tf: mutable(tf).insert(tf.constant([1]), [1]),
        lambda tf: mutable(tf).remove(tf.constant([1])),
        lambda tf: mutable(tf).lookup(tf.constant([1])),
        lambda tf: mutable(tf).lookup(
            tf.constant(["a", "b"]), dynamic_default_values=tf.constant([5, 6, 7], tf.int64)
        ),
        lambda tf: mutable(tf).lookup(["a"], dynamic_default_values=[5]),
    ],
)
def test_mutable_tables_refuse(call):
    check_raises(call)


def test_dense_tables():
    def program(tf):
        table = dense(tf, initial_num_buckets=4)
        table.insert([1, 2], [10, 20])
        table.insert_or_assign([2, 3], [21, 30])
        found = [table.size(), table.lookup([1, 2, 3, 9]), table[[[1], [9]]]]
        table.erase(tf.constant([1], tf.int64))
        table.remove(tf.constant([5], tf.int64))
        return [*found, table.size(), table.lookup([1, 2])]

    check(program, traced=False)


def test_dense_tables_of_vectors():
    def program(tf):
        by_pair = dense(tf, 0, [0, 0], [-1, -1])
        by_pair.insert([[1, 2], [3, 4]], [5, 6])
        to_pair = dense(tf, [0, 0])
        to_pair.insert([1, 2], [[5, 6], [7, 8]])
        return [by_pair.lookup([[3, 4], [1, 1]]), by_pair.size(), to_pair.lookup([[2], [9]])]

    check(program, traced=False)


def test_dense_tables_export_their_places():
    table = dense(runnel, initial_num_buckets=4)
    table.insert([7, 8, 9, 10], [1, 2, 3, 4])
    keys, values = (each.numpy() for each in table.export())
    assert keys.shape == values.shape == (8, 1)
    used = keys[:, 0] != 0
    found = zip(keys[used, 0].tolist(), values[used, 0].tolist(), strict=True)
    assert dict(found) == {7: 1, 8: 2, 9: 3, 10: 4}


@pytest.mark.parametrize(
    "call",
    [
        lambda tf: dense(tf).insert([0], [1]),
        lambda tf: dense(tf).insert([-1], [1]),
        lambda tf: dense(tf).lookup([0]),
        lambda tf: dense(tf).erase(tf.constant([-1], tf.int64)),
        lambda tf: dense(tf, deleted=0),
        lambda tf: dense(tf, deleted=[-1]),
        lambda tf: dense(tf, initial_num_buckets=3),
        lambda tf: dense(tf).insert([1, 2], [5]),
        lambda tf: dense(tf).insert([[1, 2]], [[5, 6]]),
        lambda tf: dense(tf, 0.5),
        lambda tf: dense(tf, empty="a"),
    ],
)
def test_dense_tables_refuse(call):
    check_raises(call)


# Tables in ragged tensors, graphs and modules.


def test_ragged_and_sparse_keys():
    def program(tf):
        keys = tf.ragged.constant([["a"], [], ["b", "x"]])
        sparse = tf.sparse.from_dense([["a", ""], ["x", "b"]])
        tables = (table_of(tf, ["a", "b"], [1, 2], 0), vocabulary(tf, ["a", "b"], 3))
        rows = [table.lookup(keys).to_list() for table in tables]
        return [rows, *[tf.sparse.to_dense(table.lookup(sparse)) for table in tables]]

    check(program, traced=False)


def test_a_table_in_a_graph():
    static = table_of(runnel, ["a", "b"], [1, 2], -1)
    changing = mutable(runnel)
    graph = Graph()
    keys = graph.placeholder(runnel.string, runnel.TensorShape([None]))
    with graph.as_default():
        found = static.lookup(keys)
        changing.insert(keys, runnel.cast(found, runnel.int64) * 10)
        after, size = changing.lookup(keys), changing.size()
        made_inside = table_of(runnel, ["b"], [5], 0).lookup(keys)
    assert found.shape.as_list() == [None] and size.shape.as_list() == []
    words = np.array([b"b", b"x"], object)
    arrays = graph.compute([found, after, size, made_inside], [(keys, words)])
    assert [np.asarray(a).tolist() for a in arrays] == [[2, -1], [20, -10], 2, [5, 0]]
    assert changing.lookup(["b"]).numpy().tolist() == [20]


def test_tables_made_by_a_graph():
    """As a saved model makes them: the handle is a value of the graph."""
    op = runnel.core.op.REGISTRY
    kinds = {"key_dtype": runnel.int64, "value_dtype": runnel.float32}
    pair = runnel.TensorShape([2])
    graph = Graph()
    results = []
    with graph.as_default():
        keys = runnel.constant([3, 4], runnel.int64)
        scalars, pairs = runnel.constant([0.5, 1.5]), runnel.constant([[1.0, 2.0], [3.0, 4.0]])
        markers = (runnel.constant(0, runnel.int64), runnel.constant(-1, runnel.int64))
        for handle, values in [
            (op["HashTableV2"](**kinds), scalars),
            (op["MutableHashTableV2"](**kinds), scalars),
            (op["MutableHashTableOfTensorsV2"](**kinds, value_shape=pair), pairs),
            (op["MutableDenseHashTableV2"](*markers, **kinds), scalars),
        ]:
            assert handle.dtype is runnel.resource and handle.shape.rank == 0
            op["LookupTableInsertV2"](handle, keys, values)
            default = runnel.zeros_like(values[0])
            results.append(op["LookupTableFindV2"](handle, keys[1:], default))
    COMPUTED.update(operation.type for operation in graph.operations)
    found = [np.asarray(array).tolist() for array in graph.compute(results, {})]
    assert found == [[1.5], [1.5], [[3.0, 4.0]], [1.5]]


def test_a_table_in_a_module():
    class Model(runnel.Module):
        def __init__(self):
            super().__init__()
            self.weight = runnel.Variable(1.0)
            self.table = mutable(runnel)

    model = Model()
    assert len(model.variables) == 1
    model.table.insert(["a"], [1])
    clone = copy.deepcopy(model.table)
    model.table.insert(["b"], [2])
    assert int(model.table.size()) == 2 and int(clone.size()) == 1


def test_a_handle_keeps_its_table():
    handle = table_of(runnel, ["a"], [1], 0).resource_handle
    gc.collect()
    size = runnel.core.op.REGISTRY["LookupTableSizeV2"](handle)
    assert int(size) == 1
