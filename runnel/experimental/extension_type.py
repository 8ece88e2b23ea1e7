"""tf.experimental.extension_type: what can be asked of the values of extension types."""

from .extensions import as_dict as as_dict
