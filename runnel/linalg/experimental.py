"""tf.linalg.experimental: Iterative solvers."""

