"""The core of Keras: layers, models and their training."""
