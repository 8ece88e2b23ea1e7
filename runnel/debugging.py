"""tf.debugging: Assertions and numeric checks."""

from .core.devices import (
    get_log_device_placement as get_log_device_placement,
    set_log_device_placement as set_log_device_placement,
)
