"""tf.keras.callbacks.experimental: callbacks that may change, and older names of others."""

from .backup import BackupAndRestore as BackupAndRestore
from .update_embedding import UpdateEmbeddingCallback as UpdateEmbeddingCallback
