"""tf.keras.utils: progress bars, files, encodings and other small tools."""

from .interactive import (
    disable_interactive_logging as disable_interactive_logging,
    enable_interactive_logging as enable_interactive_logging,
    is_interactive_logging_enabled as is_interactive_logging_enabled,
)
from .progbar import Progbar as Progbar
