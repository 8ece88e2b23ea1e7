"""tf.experimental.extension_type: functions on values of extension types."""

from .extensions import as_dict as as_dict
