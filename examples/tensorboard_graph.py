"""The graph of a traced function, drawn by TensorBoard.

A plain TensorFlow 2 program: the gradient of a loss is a function, and what it computes can be
looked at on the page Graphs of `tensorboard --logdir tensorboard`.
"""

import argparse

import tensorflow as tf


@tf.function
def grad(x, y, w, b):
    """The loss of a line, and its gradient."""
    with tf.GradientTape() as tape:
        tape.watch([w, b])
        with tf.name_scope("line"):
            predicted = tf.linalg.matvec(x, w) + b
        with tf.name_scope("loss"):
            loss = 0.5 * tf.reduce_sum(tf.square(predicted - y))
    return loss, tape.gradient(loss, [w, b])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log-dir", default="tensorboard")
    options = parser.parse_args()

    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    y = tf.constant([1.0, 2.0])
    w, b = tf.constant([1.0, 2.0]), tf.constant(1.0)

    summary_writer = tf.summary.create_file_writer(options.log_dir)
    tf.summary.trace_on(graph=True)
    loss, (w_grad, b_grad) = grad(x, y, w, b)
    with summary_writer.as_default():
        tf.summary.trace_export(name="grad", step=0)
        tf.summary.graph(grad.get_concrete_function(x, y, w, b).graph)
    print(f"loss {loss.numpy()}, gradients {w_grad.numpy()} and {b_grad.numpy()}")
    print(f"written to {options.log_dir}")


if __name__ == "__main__":
    main()
