"""tf.keras.callbacks.experimental: an older name of BackupAndRestore."""

from .backup import BackupAndRestore as BackupAndRestore
