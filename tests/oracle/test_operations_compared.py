"""Programs whose results once differed from TensorFlow's, over the breadth of the operations."""

import io

import numpy as np
import pytest
import tensorflow
from both import same
from compare import check, check_raises

import runnel

_HUGE = [1, 2**63], [2**53 + 1, 2**63], [2**63, 1.5], [1.5, 2**63], [1.5, 10**30], 10**30, [2**63]
_DTYPES = None, "float32", "float64", "uint64", "int64", "int32"


# TensorFlow itself stumbles (SystemError) over uint64 from 64 bits on.
_PAIRS = [(v, d) for v in _HUGE for d in _DTYPES if (v, d) != (10**30, "uint64")]


@pytest.mark.parametrize(("value", "dtype"), _PAIRS, ids=repr)
def test_integers_of_more_than_63_bits(value, dtype):
    check(lambda tf: tf.constant(value, dtype), traced=False, may_raise=True)


@pytest.mark.parametrize("value", [1e39, [1.0, -1e39], 3.4028236e38, 3.4028235e38, float("inf")])
@pytest.mark.parametrize("dtype", [None, "float32", "float64"])
def test_numbers_beyond_float32(value, dtype):
    check(lambda tf: tf.constant(value, dtype), traced=False, may_raise=True)


_PRINTED = [
    np.array(["a\nb", "\t\r\\ \"q\" 's'", "\x00\x01\x7f", "é"], object),
    np.array([b"\xff\x80ok"], object),
    np.array("a\nb", object),
    np.zeros([2, 0]),
    np.zeros([2, 3, 0]),
    np.zeros([0, 2]),
    np.arange(12).reshape(3, 4),
    np.array(5),
]


@pytest.mark.parametrize("summarize", [3, 0, -1])
@pytest.mark.parametrize("value", _PRINTED, ids=lambda value: f"{value.dtype}{value.shape}")
def test_printed(value, summarize, tmp_path):
    def program(tf, note):
        path = tmp_path / tf.__name__
        tensor = tf.constant(value)
        stream = f"file://{path}"
        tf.print("x:", tensor, [tensor, 1], summarize=summarize, output_stream=stream)
        note(path.read_bytes(), tf.strings.format("{}", tensor, summarize=summarize))

    same(program)


@pytest.mark.parametrize("text", [b"a'b\\c", b"\xff"])
def test_printed_ragged(text, tmp_path):
    def program(tf, note):
        path = tmp_path / tf.__name__
        tf.print(tf.ragged.constant([[text], []]), output_stream=f"file://{path}")
        note(path.read_bytes())

    same(program)


def test_bytes_on_a_stream_of_text():
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    runnel.print(runnel.constant(b"\xff!"), output_stream=stream)
    assert stream.buffer.getvalue() == b"\\xff!\n"


def _rows(tf, values):
    return tf.RaggedTensor.from_nested_row_splits(values, [[0, 2, 3], [0, 2, 2, 5]])


def _parts(result):
    return [result.flat_values, *result.nested_row_splits] if hasattr(result, "values") else result


@pytest.mark.parametrize("axis", [None, 0, 1, 2, [1, 2]])
@pytest.mark.parametrize("name", ["reduce_variance", "reduce_std"])
def test_variance_of_rows(name, axis):
    values = np.array([1.0, 2.5, 5.0, 3.0, 3.5])
    check(
        lambda tf, x: _parts(getattr(tf.math, name)(_rows(tf, x), axis=axis)),
        values,
        gradient=name == "reduce_variance",
        second_order=False,
        smooth=False,
    )


def test_variance_of_other_rows():
    check(lambda tf: tf.math.reduce_variance(tf.ragged.constant([[1, 2], [5]]), axis=1))
    check(lambda tf: tf.math.reduce_std(tf.ragged.constant([[1.0, 2], [5]]), 0, keepdims=True))
    check_raises(
        lambda tf: tf.math.reduce_variance(
            tf.cast(tf.ragged.constant([[1.0], []]), tf.complex64), axis=1
        )
    )


def test_mask_with_uniform_inner_dimensions():
    def program(tf, x):
        rows = tf.RaggedTensor.from_row_splits(tf.reshape(x, [3, 2]), [0, 1, 1, 3])
        return _parts(tf.ragged.boolean_mask(rows, rows > 2.0))

    check(program, np.arange(6.0), smooth=False)


@pytest.mark.parametrize(
    ("program", "values"),
    [
        (lambda tf, x: tf.repeat(x, [1, 2, 0], axis=0), np.arange(6.0).reshape(3, 2)),
        (lambda tf, x: tf.repeat(x, [2, 0, 3]), np.arange(3.0)),
        (
            lambda tf, x: (
                tf.sparse.slice(
                    tf.SparseTensor([[0, 1], [1, 0], [2, 2]], x, [3, 4]), [1, 0], [2, 3]
                ).values
            ),
            np.arange(3.0),
        ),
    ],
    ids=["repeat rows", "repeat", "sparse slice"],
)
def test_gradient_is_a_tensor(program, values):
    x = runnel.constant(values)
    with runnel.GradientTape() as tape:
        tape.watch(x)
        y = program(runnel, x)
    assert isinstance(tape.gradient(y, x), runnel.Tensor)
    check(program, values)


def test_repeat_counts_no_axis_from_the_end_of_an_unknown_rank():
    def program(tf, note):
        function = tf.function(
            lambda x: tf.repeat(x, 2, axis=-1), [tf.TensorSpec(None)], autograph=False
        )
        function(tf.constant([1.0]))

    assert same(program) == ["raised ValueError"]


def test_split_of_an_unknown_rank():
    def program(tf, note):
        spec = tf.TensorSpec(None, tf.string)
        rows = tf.function(lambda x: tf.strings.split(x, "b"), [spec], autograph=False)(
            tf.constant(["abc", "", "b"])
        )
        note(rows.flat_values, rows.row_splits)

    same(program)


@pytest.mark.parametrize("blank", [0, 2, -1])
def test_ctc_loss_of_sparse_labels(blank):
    def loss(tf, logits):
        labels = tf.SparseTensor([[0, 0], [0, 2], [1, 0]], tf.constant([1, 3, 1]), [2, 3])
        return tf.nn.ctc_loss(labels, logits, None, [6, 5], blank_index=blank)

    logits = np.random.RandomState(0).randn(6, 2, 4).astype(np.float32)
    check(loss, logits, second_order=False, smooth=False)


@pytest.mark.parametrize(
    ("rows", "values", "frames", "blank"),
    [
        ([0, 0, 1], [1, 1, 1], [2, 5], 0),
        ([0, 0, 0], [1, 2, 1], [6, 5], 0),
        ([0, 0, 1], [1, 2, 1], [1, 5], 0),
        ([0, 0, 1], [0, 1, 1], [6, 5], 0),
        ([0, 0, 1], [1, 2, 1], [6, 5], None),
    ],
    ids=["impossible", "no labels", "too long", "blank", "no blank index"],
)
def test_ctc_loss_of_odd_sparse_labels(rows, values, frames, blank):
    def loss(tf, logits):
        indices = [[row, column] for column, row in enumerate(rows)]
        labels = tf.SparseTensor(indices, tf.constant(values), [2, 3])
        return tf.nn.ctc_loss(labels, logits, None, frames, blank_index=blank)

    logits = np.random.RandomState(0).randn(6, 2, 4).astype(np.float32)
    check(loss, logits, second_order=False, smooth=False, may_raise=True)


def test_ctc_cost_with_unknown_classes():
    def program(tf, note):
        spec = tf.TensorSpec([None, None, None])
        cost = tf.function(
            lambda p: tf.keras.backend.ctc_batch_cost([[1, 2]], p, [[4]], [[2]]), [spec]
        )
        note(cost(tf.fill([1, 4, 4], 0.25)))

    same(program)


def test_names_of_results():
    def program(tf, note):
        note(type(tf.nn.max_pool_with_argmax(tf.ones([1, 2, 2, 1]), 2, 2, "SAME")).__name__)
        note(type(tf.nn.ctc_unique_labels([[1, 1, 2]])).__name__)

    same(program)


@pytest.mark.parametrize("mode", ["MIN_FIRST", "MIN_COMBINED", "SCALED"])
@pytest.mark.parametrize("limit", [1.0, 4.0])
def test_quantized_where_zero_is_halfway(mode, limit):
    def program(tf):
        values = tf.linspace(-limit, limit, 9)
        levels, low, high = tf.quantization.quantize(values, -limit, limit, tf.qint8, mode)
        return [levels, low, high, tf.quantization.dequantize(levels, -limit, limit, mode)]

    check(program, traced=False)


def test_sign_of_complex_zero():
    values = np.array([1 + 2j, 0, 1e-3j])
    check(lambda tf, x: tf.sign(x), values, second_order=False)


def test_jacobian_of_slices():
    def program(tf, note):
        x = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.gather(x, [0, 0, 2]) ** 3
            gradient = inner.gradient(y, x)
        note(outer.jacobian(gradient, x))

    same(program)


def test_variable_is_initialized():
    check(lambda tf: tf.Variable(1.0).is_initialized(), traced=False)
    assert tensorflow.Variable(1.0).is_initialized()


def test_round_like_numpy():
    """Rounding is Python's `round` as long as tensors act like NumPy's arrays."""
    runnel.experimental.numpy.experimental_enable_numpy_behavior()
    try:
        assert [round(runnel.constant(2.6)).numpy(), round(runnel.constant(2.64), 1).numpy()] == [
            np.float32(3.0),
            np.float32(2.6),
        ]
    finally:
        runnel.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="off")
