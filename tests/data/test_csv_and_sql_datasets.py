"""Datasets of CSV files, of databases and of Examples give what TensorFlow's give."""

from __future__ import annotations

import gzip
import sqlite3

import pytest
from pipelines import same, same_error

TEXTS = {
    "plain": "1,2.5,abc\n4,5,x\n",
    "quotes": '1,2.5,abc\n4,,"q ""x"", y"\n,7,\n',
    "line ends": '1,2,a\r\n3,4,"b\nc"\r\n5,6,d',
    "spaces": " 1 , 5 ,  a \n",
    "large": "9999999999,1e3,a\n",
    "word": "x,1,a\n",
    "few fields": "1,2\n",
    "many fields": "1,2,a,b\n",
    "open quote": '1,2,"a\n',
    "quote inside": '1,2,a"b\n',
    "empty": "",
    "empty line": "1,2,a\n\n3,4,b\n",
}
DEFAULTS = {
    "types": lambda tf: [tf.int32, tf.float32, tf.string],
    "values": lambda tf: [0, 0.5, "d"],
    "wide": lambda tf: [tf.int64, tf.constant([1.5], tf.float64), tf.constant(["e"])],
}


@pytest.fixture
def write(tmp_path):
    def write(text, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(text.encode())
        return str(path)

    return write


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("defaults", DEFAULTS)
def test_records(write, text, defaults):
    path = write(TEXTS[text])
    same(lambda tf: tf.data.experimental.CsvDataset(path, DEFAULTS[defaults](tf)))


RECORDS = {
    "header": ([0, 0.0, ""], {"header": True}),
    "columns": ([0, ""], {"select_cols": [0, 2]}),
    "all but": ([0, ""], {"exclude_cols": [1]}),
    "columns backwards": ([0, ""], {"select_cols": [2, 0]}),
    "columns twice": ([0, ""], {"select_cols": [0, 2], "exclude_cols": [1]}),
    "missing mark": ([0, 0.0, ""], {"na_value": "4"}),
    "no quotes": (["", "", ""], {"use_quote_delim": False}),
    "semicolons": ([""], {"field_delim": ";"}),
    "two delimiters": ([""], {"field_delim": ";;"}),
    "no columns": ([], {}),
}


@pytest.mark.parametrize("name", RECORDS)
def test_arguments_of_records(write, name):
    path = write('1,2.5,abc\n4,,"y"\n')
    defaults, keywords = RECORDS[name]
    same(lambda tf: tf.data.experimental.CsvDataset(path, defaults, **keywords))


def test_files_one_after_the_other(write, tmp_path):
    first, second = write("n\n1\n2\n"), write("n\n3\n", "b.csv")
    packed = tmp_path / "c.csv.gz"
    packed.write_bytes(gzip.compress(b"4\n5\n"))
    same(lambda tf: tf.data.experimental.CsvDataset([first, second], [0], header=True))
    same(lambda tf: tf.data.experimental.CsvDataset(str(packed), [0], "GZIP"))
    same_error(lambda tf: tf.data.experimental.CsvDataset(first + "x", [0]))


def test_many_records_and_errors_among_them(write):
    lines = [f"{i},{i / 4}" if i % 100 != 7 else f"{i},none" for i in range(700)]
    path = write("\n".join(lines))
    same(
        lambda tf: [
            (int(a), float(b))
            for a, b in tf.data.experimental.CsvDataset(path, [0, 0.0]).ignore_errors()
        ]
    )


TABLE = "a,b,c,label\n1,2.5,x,0\n3,4,y,1\n5,,z,1\n7,8.25,,0\n"
TABLES = {
    "all": {"num_epochs": 1},
    "without an end": {"shuffle": True, "shuffle_seed": 1},
    "label": {"label_name": "label", "num_epochs": 1},
    "chosen": {"select_columns": ["c", "a"], "num_epochs": 2},
    "chosen by number": {"select_columns": [2, 0], "column_defaults": [0, ""]},
    "other names": {"column_names": ["w", "x", "y", "z"], "num_epochs": 1},
    "no header": {"column_names": ["w", "x", "y", "z"], "header": False, "num_epochs": 1},
    "defaults": {"column_defaults": [0, 1.5, "none", -9], "num_epochs": 1},
    "shuffled": {"shuffle": True, "shuffle_seed": 3, "num_epochs": 1},
    "wrong label": {"label_name": "nope"},
    "wrong column": {"select_columns": ["nope"]},
    "same names": {"column_names": ["w", "w", "y", "z"]},
    "no names": {"header": False},
    "missing mark": {"na_value": "x", "num_epochs": 1},
}


@pytest.mark.parametrize("name", TABLES)
def test_tables(write, name):
    path = write(TABLE)
    keywords = {"shuffle": False, **TABLES[name]}

    def program(tf):
        tf.random.set_seed(8)
        return tf.data.experimental.make_csv_dataset(path, 3, **keywords).take(4)

    same(program)


@pytest.mark.filterwarnings("ignore:overflow")
@pytest.mark.parametrize(
    "text",
    [
        "a,b,c,d,e\n1,99999999999,1e400,x,\n2,3,4,,\n",
        "a,b\n1e300,1.5\n2,nan\n",
        "a,b\n1,2\n3\n",
    ],
)
def test_types_of_columns(write, text):
    path = write(text)
    same(lambda tf: tf.data.experimental.make_csv_dataset(path, 2, shuffle=False, num_epochs=1))


def test_tables_of_several_files(write, tmp_path):
    write("a,b\n1,2\n3,4\n", "p1.csv"), write("a,b\n5,6\n7,8\n", "p2.csv")
    pattern = str(tmp_path / "p?.csv")

    def program(tf, **keywords):
        tf.random.set_seed(8)
        return tf.data.experimental.make_csv_dataset(pattern, 2, num_epochs=1, **keywords)

    same(lambda tf: program(tf, shuffle=False))
    same(lambda tf: program(tf, shuffle=False, num_parallel_reads=2))
    same(lambda tf: program(tf, shuffle_seed=5))
    same_error(lambda tf: tf.data.experimental.make_csv_dataset(str(tmp_path / "z*"), 2))
    write("a,c\n5,6\n", "p2.csv")
    same_error(lambda tf: program(tf))


QUERIES = {
    "rows": ("SELECT i, f, s FROM t ORDER BY i", lambda tf: (tf.int32, tf.float64, tf.string)),
    "one": ("SELECT i FROM t", lambda tf: tf.int64),
    "named": ("SELECT i, f FROM t", lambda tf: {"a": tf.int32, "b": tf.float64}),
    "small": ("SELECT i, i, i, i FROM t", lambda tf: (tf.int8, tf.int16, tf.uint8, tf.uint16)),
    "too large": ("SELECT 300, -1", lambda tf: (tf.int8, tf.uint8)),
    "null": ("SELECT n, n, n, n FROM t", lambda tf: (tf.int32, tf.string, tf.float64, tf.bool)),
    "bytes": ("SELECT b, s FROM t", lambda tf: (tf.string, tf.string)),
    "converted": (
        "SELECT f, s, i, f FROM t",
        lambda tf: (tf.int32, tf.int64, tf.string, tf.string),
    ),
    "true": ("SELECT i, n FROM t", lambda tf: (tf.bool, tf.float64)),
    "nothing": ("SELECT i FROM t WHERE i > 9", lambda tf: tf.int32),
    "no such type": ("SELECT f FROM t", lambda tf: tf.float32),
    "too few": ("SELECT i FROM t", lambda tf: (tf.int32, tf.int32)),
    "no such column": ("SELECT nope FROM t", lambda tf: tf.int32),
    "list": ("SELECT i FROM t", lambda tf: [tf.int32]),
}


@pytest.mark.parametrize("name", QUERIES)
def test_queries(tmp_path, name):
    path = str(tmp_path / "data.sqlite")
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE t (i INTEGER, f REAL, s TEXT, b BLOB, n INTEGER)")
    connection.execute("INSERT INTO t VALUES (1, 2.5, 'ab', x'0102', NULL)")
    connection.execute("INSERT INTO t VALUES (3, 4, '17c', x'', 7)")
    connection.commit()
    connection.close()
    query, types = QUERIES[name]
    same(lambda tf: tf.data.experimental.SqlDataset("sqlite", path, query, types(tf)))
    same_error(lambda tf: tf.data.experimental.SqlDataset("other", path, query, types(tf)))


def records_of_numbers(tf, folder):
    path = str(folder / f"{tf.__name__}.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for number in range(5):
            features = {
                "a": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                "b": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5] * number)),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    return path


def description(tf):
    return {"a": tf.io.FixedLenFeature([], tf.int64), "b": tf.io.VarLenFeature(tf.float32)}


FEATURES = {
    "once": {"num_epochs": 1, "shuffle": False},
    "label": {"num_epochs": 1, "shuffle": False, "label_key": "a"},
    "shuffled": {"num_epochs": 2, "shuffle_seed": 4},
    "full batches": {"num_epochs": 1, "shuffle": False, "drop_final_batch": True},
    "without an end": {"shuffle": False},
    "wrong label": {"label_key": "c"},
}


@pytest.mark.parametrize("name", FEATURES)
def test_features(tmp_path, name):
    def program(tf):
        tf.random.set_seed(8)
        dataset = tf.data.experimental.make_batched_features_dataset(
            records_of_numbers(tf, tmp_path), 2, description(tf), **FEATURES[name]
        )
        return dataset.cardinality(), list(dataset.take(5))

    same(program)


def test_parsed_batches(tmp_path):
    def program(tf, batched=True, features=True):
        dataset = tf.data.TFRecordDataset(records_of_numbers(tf, tmp_path))
        dataset = dataset.batch(2) if batched else dataset
        parse = tf.data.experimental.parse_example_dataset(
            description(tf) if features else None, num_parallel_calls=2
        )
        return list(dataset.apply(parse))

    same(program)
    same_error(lambda tf: program(tf, batched=False))
    same_error(lambda tf: program(tf, features=False))
