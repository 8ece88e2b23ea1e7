"""tf.autograph.experimental: options of conversion and of staged loops."""

from .api import (
    do_not_convert as do_not_convert,
    set_loop_options as set_loop_options,
)
from .options import Feature as Feature
