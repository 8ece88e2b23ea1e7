"""tf.random.experimental: Random-number functions under their older names."""

