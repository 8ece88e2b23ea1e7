"""tf.io.decode_csv on TensorFlow and on Runnel."""

import numpy as np
import pytest
from compare import check, check_raises
from hypothesis import given, settings, strategies as st

import runnel


def records(*texts):
    array = np.empty(len(texts), object)
    array[:] = texts
    return array


LINES = ["1,2", "1,", '"1",2', " 1,2 ", "1,2\n", "1,2,3", "1", "", ",", "+1,-2", "0x1,2",
         "2147483648,1", "-2147483648,1", "1.0,2", '"1"x,2', '1"1,2', "\n1,2", "\r\n1,2", "1,\n",
         '1,"2"\n', '1,"', '1,"2', '1,"2""3"', "1_0,2", "\t1,\x0b2", "- 1,2", "1\0,2", "+-1,2",
         "1,\n2", '"\n1\n",2', " ,2", "1\x1c,2", "9" * 5000 + ",2", "1,2\n\n", '"",""']  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_integers(line):
    check(
        lambda tf, line: tf.io.decode_csv(line, [[0], [7]]), records(line.encode()), may_raise=True
    )


TEXTS = ["a,b", '"a,b",c', '"a""b",c', '"a\nb",c', 'a"b,c', 'a, "b"', ' "a",b', '"a" ,b',
         "a\nb,c", '"",b', ",", 'a,"""', 'a,""""', "a,\rb", '"a"b,c', "é,b",
         "a\0b,c", '"a",\n"b"']  # fmt: skip


@pytest.mark.parametrize("line", TEXTS)
def test_a_line_of_strings(line):
    for quotes in (True, False):
        check(
            lambda tf, line, quotes=quotes: tf.io.decode_csv(
                line, [["d"], ["e"]], use_quote_delim=quotes
            ),
            records(line.encode()),
            may_raise=True,
        )


NUMBERS = ["1.5", "1e3", " 1.5 ", "inf", "-INF", "nan", "NaN(x_1)", "nan(-)", "infinity", "1e400",
           "1e-400", "0x1p3", "0X.8", "0x", "-0x1p-3", "1.", ".5", ".", "1e", "1_0", "+1.5", "",
           '""', "1.5x", "1e-46", "3.4028236e38", "infi", "1e99999999999", "1.5\x1c", "0x1p99999",
           "1" * 400, " "]  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_a_floating_number(text):
    def both_widths(tf, line):
        defaults = [tf.constant([2.5], dtype) for dtype in (tf.float32, tf.float64)]
        return tf.io.decode_csv(line, defaults)

    check(both_widths, records(f"{text},{text}".encode()), may_raise=True)


def test_columns_of_many_records():
    lines = records(b"1,2.5,a,9223372036854775807\n".strip(), b",,,", b'"3",1e2,"x,""y",-5')
    defaults = [[7], [0.5], ["none"], np.array([11], np.int64)]
    check(lambda tf, lines: tf.io.decode_csv(lines, defaults), lines)
    check(lambda tf, lines: tf.io.decode_csv(lines, defaults), lines.reshape(3, 1))
    check(lambda tf, lines: tf.io.decode_csv(lines, defaults), lines[:0])
    check(lambda tf: tf.io.decode_csv("1,2,a,4", defaults))


@pytest.mark.parametrize("columns", [[0, 2], [1, 2], [2, 3], [0, 3], [0], [2, 0], [0, 0], [-1, 1]])
@pytest.mark.parametrize("line", ["1,2,3", '1,2,"', 'a"b,2,3', "1,2,3\n", "1,2,", '"a,b",2,3'])
def test_chosen_columns(columns, line):
    check(
        lambda tf, line: tf.io.decode_csv(line, [[5], [6]], select_cols=columns),
        records(line.encode()),
        may_raise=True,
    )


@pytest.mark.parametrize("line", ["NA,3", ",3", '"NA",3', " NA,3", "NA,NA"])
@pytest.mark.parametrize("required", [False, True])
def test_missing_values(line, required):
    default = np.zeros(0 if required else 1, np.int32)
    check(
        lambda tf, line: tf.io.decode_csv(line, [default, default], na_value="NA"),
        records(line.encode()),
        may_raise=True,
    )


@pytest.mark.parametrize("delimiter", ["\t", "|", "::", "", '"', "\n", " ", "é", b";"])
def test_delimiters(delimiter):
    text = delimiter.decode() if isinstance(delimiter, bytes) else delimiter
    for line in (f"1{text}2", f"1{text}", f"{text}2", f'"1"{text}2'):
        check(
            lambda tf, line: tf.io.decode_csv(line, [["5"], ["6"]], field_delim=delimiter),
            records(line.encode()),
            may_raise=True,
        )


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text('1a,"\n\r -.', max_size=8), min_size=1, max_size=3),
    st.booleans(),
    st.sampled_from([[["d"], ["e"]], [[1], ["e"]], [["d"], [2.5]]]),
)
def test_any_text(lines, quotes, defaults):
    check(
        lambda tf, lines: tf.io.decode_csv(lines, defaults, use_quote_delim=quotes),
        records(*[line.encode() for line in lines]),
        may_raise=True,
    )


def test_refusals():
    check_raises(lambda tf: tf.io.decode_csv("1,2", [[5, 6], [7]]))
    check_raises(lambda tf: tf.io.decode_csv("1,2", [[[5]], [7]]))
    check_raises(lambda tf: tf.io.decode_csv("1,2", []))
    check_raises(lambda tf: tf.io.decode_csv("1", [[True]]), message="OUT_TYPE")
    check_raises(lambda tf: tf.io.decode_csv("1", 5))
    check_raises(lambda tf: tf.io.decode_csv("1", [[1]], field_delim=5))
    check_raises(lambda tf: tf.io.decode_csv(["1,2", "3,x"], [[1], [1]]), message="record 1")
    check_raises(
        lambda tf: tf.io.decode_csv(["1,2", "3"], [[1], [1]]), message="have 1 in record 1"
    )


def test_shapes_in_a_graph():
    @runnel.function(input_signature=[runnel.TensorSpec([None, 3], runnel.string)])
    def decode(lines):
        columns = runnel.io.decode_csv(lines, [[1], ["x"]])
        assert [column.shape.as_list() for column in columns] == [[None, 3]] * 2
        return columns

    numbers, words = decode([["1,a", "2,b", ","]])
    assert numbers.numpy().tolist() == [[1, 2, 1]]
    assert words.numpy().tolist() == [[b"a", b"b", b"x"]]
