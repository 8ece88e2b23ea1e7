"""tf.print writes what TensorFlow writes."""

import subprocess
import sys
import tempfile

import pytest
import tensorflow

import runnel

CALLS = r"""
tf.print('a', 1, 2.5, tf.constant([1.5, 2]), True, None)
tf.print(tf.constant(1.0), tf.constant(0.1), tf.constant(1e-10), tf.constant(123456789.))
tf.print(tf.constant(1 / 3), tf.constant(1 / 3, tf.float64), tf.constant(2 / 3, tf.float16))
tf.print(tf.constant(list(range(10))))
tf.print(tf.constant(list(range(10))), summarize=-1)
tf.print(tf.constant(list(range(10))), summarize=2)
tf.print(tf.constant([[i + 10 * j for i in range(10)] for j in range(10)]))
tf.print(tf.constant([[[0, 1], [2, 3]], [[4, 5], [6, 7]]]))
tf.print(tf.constant(['a', 'b"c']))
tf.print(tf.constant('x'), 'y')
tf.print([1, 2, 3], [tf.constant(1), tf.constant([2, 3])])
tf.print({'b': tf.constant(1), 'a': 's'}, (1, 'a'), [tf.constant('q'), 'z'])
tf.print('x', tf.constant(1), sep=',')
tf.print('no newline', end='|')
tf.print('')
tf.print('{}', tf.constant(1), '%s')
tf.print(tf.constant([True, False]), tf.constant(True))
tf.print(tf.Variable([1.0, 2.0]))
tf.print(tf.constant([], tf.float32))
tf.print(tf.constant([[1.5, float('nan')], [float('inf'), -1]]))
tf.print(tf.float32, b'bytes', tf.TensorShape([2]), 1e-7, 1e20)
tf.print(tf.constant(1e20), tf.constant(1234567.0), tf.constant(12345678.0), tf.constant(0.00001))
tf.print(tf.constant(3, tf.uint8), tf.constant([3], tf.int64), tf.constant([1.0], tf.bfloat16))
"""


def written(tf, call):
    with tempfile.NamedTemporaryFile() as file:
        call = f"{call[:-1]}, output_stream='file://{file.name}')"
        eval(call, {"tf": tf})
        return file.read().decode()


@pytest.mark.parametrize("call", [line for line in CALLS.split("\n") if line])
def test_same_text(call):
    assert written(runnel, call) == written(tensorflow, call)


def test_standard_error_by_default():
    program = "import sys, runnel as tf; tf.print('e'); tf.print('o', output_stream=sys.stdout)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("o\n", "e\n")


def test_unknown_arguments_are_named():
    with pytest.raises(ValueError, match="colour"):
        runnel.print("a", colour=1)
    with pytest.raises(ValueError, match="file://PATH"):
        runnel.print("a", output_stream="log.txt")
