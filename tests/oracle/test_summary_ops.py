"""The operations whose results are Summary messages."""

import warnings

import numpy as np
from compare import check

VALUES = np.array([-1.5, 0.0, 2.0, 1e-3], np.float32)


def quiet(call):
    """A call outside of a graph, about which both libraries warn."""

    def run(tf, *arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # As text: NumPy drops zeros at the end of bytes.
            return tf.io.encode_base64(call(tf.compat.v1.summary, tf, *arguments))

    return run


def test_scalars_and_histograms():
    check(quiet(lambda summary, tf, x: summary.scalar("x", x)), np.float32(0.5))
    check(quiet(lambda summary, tf, x: summary.scalar("x", x, family="f")), np.int64(3))
    check(quiet(lambda summary, tf, x: summary.histogram("h", x)), VALUES)
    check(quiet(lambda summary, tf, x: summary.histogram("h", x)), np.arange(5))


def test_sounds_texts_and_tensors():
    sound = np.linspace(-1.2, 1.2, 12, dtype=np.float32).reshape(2, 3, 2)
    check(quiet(lambda summary, tf, x: summary.audio("a", x, 8000)), sound)
    check(quiet(lambda summary, tf, x: summary.audio("a", x, 8000, max_outputs=1)), sound[..., 0])
    check(quiet(lambda summary, tf: summary.text("t", tf.constant("a text"))))
    check(quiet(lambda summary, tf, x: summary.tensor_summary("t", x, "why")), VALUES)


def test_images():
    """The tag alone: tests/summary compares the pixels, which each library packs in its way."""
    images = np.linspace(-1.0, 1.0, 24, dtype=np.float32).reshape(2, 2, 2, 3)

    def begin(tf, x):
        # The original has this operation in graphs only.
        @tf.function
        def traced(x):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return tf.compat.v1.summary.image("i", x, 1)

        return tf.strings.substr(traced(x), 2, 9)

    check(begin, images)


def test_merged_summaries():
    def merged(tf, x):
        @tf.function
        def traced(x):
            summary = tf.compat.v1.summary
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return summary.merge([summary.scalar("a", x), summary.histogram("b", [x])])

        return tf.io.encode_base64(traced(x))

    check(merged, np.float32(2.0))
