"""tf.nn.experimental: Dropout with a choice of random numbers."""

