"""A graph and its summaries written as in TensorFlow 1.

A plain TensorFlow 1 program: a `FileWriter` takes the graph of a session and what the session
computes. Look at it with `tensorboard --logdir tensorboard`.
"""

import argparse

import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--log-dir", default="tensorboard")
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()

    with tf.name_scope("inputs"):
        x = tf.placeholder(tf.float32, [None], name="x")
        y = tf.placeholder(tf.float32, [None], name="y")
    with tf.name_scope("line"):
        a = tf.Variable(0.0, name="a")
        b = tf.Variable(0.0, name="b")
        predicted = a * x + b
    with tf.name_scope("train"):
        loss = tf.reduce_mean(tf.square(predicted - y))
        step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    tf.summary.scalar("loss", loss)
    tf.summary.histogram("errors", predicted - y)
    merged = tf.summary.merge_all()

    with tf.Session() as sess:
        writer = tf.summary.FileWriter(options.log_dir, sess.graph)
        sess.run(tf.global_variables_initializer())
        feed = {x: [0.0, 1.0, 2.0, 3.0], y: [1.0, 3.0, 5.0, 7.0]}
        for number in range(options.steps):
            summary, _ = sess.run([merged, step], feed_dict=feed)
            writer.add_summary(summary, global_step=number)
        writer.close()
        slope, offset = sess.run([a, b])
        print(f"y = {slope:.1f} x + {offset:.1f}, written to {options.log_dir}")


if __name__ == "__main__":
    main()
