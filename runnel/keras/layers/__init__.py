"""tf.keras.layers: the building blocks of models."""
