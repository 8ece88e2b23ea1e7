"""What programs show of their training."""

import numpy as np


def sums_of(model):
    """For each weight its sum, the sum of its sizes, and its first number."""
    return [
        np.array([np.sum(weight), np.sum(np.abs(weight)), np.ravel(weight)[0]])
        for weight in model.get_weights()
    ]


def losses_seen(keras, show):
    """A callback that shows the loss of each batch."""
    return keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, logs: show(f"loss of batch {batch}", logs["loss"])
    )


def show_history(show, run):
    """Show what `fit` gave for each epoch."""
    for name in sorted(run.history):
        show(f"{name} of epochs", run.history[name])
