"""tf.keras.callbacks.experimental: experimental callbacks, and older names of others."""

from .backup import BackupAndRestore as BackupAndRestore
from .update_embedding import UpdateEmbeddingCallback as UpdateEmbeddingCallback
