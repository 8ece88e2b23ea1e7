"""tf.audio: Sound in WAV files."""

from ..core.suggestions import suggesting as _suggesting
from ..ops.audio import (
    decode_wav as decode_wav,
    encode_wav as encode_wav,
)

__getattr__ = _suggesting(__name__)
