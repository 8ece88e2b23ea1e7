"""tf.audio: Sound in WAV files."""

from ..ops.audio import (
    decode_wav as decode_wav,
    encode_wav as encode_wav,
)
