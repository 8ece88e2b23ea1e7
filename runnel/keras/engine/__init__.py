"""The machinery of Keras: layers, models and their training."""
