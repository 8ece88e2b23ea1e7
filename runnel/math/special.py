"""tf.math.special: Special functions."""

