"""Encoding and decoding WAV files."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from ..core.convert import convert_to_tensor
from ..core.dtypes import float32, int32, string
from ..core.op import op
from ..core.shapes import TensorShape
from ..core.tensor import Tensor
from ..formats import wav
from .io import only

_LARGEST = 2**31 - 1


# The result of `decode_wav`, with the name it is printed with.
_Decoded = collections.namedtuple(  # type: ignore[name-match]
    "DecodeWav", ["audio", "sample_rate"]
)


def _require_rank(tensor: Tensor, rank: int) -> None:
    if tensor.shape.rank not in (None, rank):
        raise ValueError(
            f"Shape must be rank {rank} but is rank {tensor.shape.rank}: {tensor.shape}"
        )


def _require_sizes(samples: int, channels: int) -> None:
    for name, size in (("desired_samples", samples), ("desired_channels", channels)):
        if not -1 <= size <= _LARGEST:
            raise ValueError(f"{name} must be >= -1 and fit into 32 bits, got {size}")


def _decoded(inputs: Any, attrs: Any) -> list[TensorShape]:
    _require_rank(inputs[0], 0)
    sizes = attrs["desired_samples"], attrs["desired_channels"]
    _require_sizes(*sizes)
    return [TensorShape([None if size == -1 else size for size in sizes]), TensorShape([])]


@op(
    "DecodeWav",
    "contents: string -> audio: float32, sample_rate: int32",
    shape=_decoded,
    gradient=None,
)
def DecodeWav(contents: Any, *, desired_channels: int = -1, desired_samples: int = -1) -> Any:
    _require_sizes(desired_samples, desired_channels)
    samples, rate = wav.decode(only(contents, "contents"))
    count, channels = samples.shape
    if desired_channels not in (-1, channels):
        # The last channel is repeated where there are too few.
        wanted = np.minimum(np.arange(desired_channels), channels - 1)
        samples = samples[:, wanted]
    if desired_samples > count:
        samples = np.pad(samples, ((0, desired_samples - count), (0, 0)))
    elif desired_samples != -1:
        samples = samples[:desired_samples]
    return samples, np.int32(rate)


def decode_wav(
    contents: Any, desired_channels: int = -1, desired_samples: int = -1, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The samples [samples, channels] in [-1, 1) of a 16-bit PCM WAV file, and the sample rate.

    `desired_samples` truncates or pads with silence; `desired_channels` drops channels or repeats
    the last one.

    >>> audio, rate = tf.audio.decode_wav(tf.audio.encode_wav([[0.5], [-0.25]], 8000))
    >>> audio.numpy().tolist(), int(rate)
    ([[0.5], [-0.25]], 8000)
    """
    audio, sample_rate = DecodeWav(
        convert_to_tensor(contents, string),
        desired_channels=int(desired_channels),
        desired_samples=int(desired_samples),
    )
    return _Decoded(audio, sample_rate)


def _encoded(inputs: Any, attrs: Any) -> TensorShape:
    _require_rank(inputs[0], 2)
    _require_rank(inputs[1], 0)
    return TensorShape([])


@op(
    "EncodeWav",
    "audio: float32, sample_rate: int32 -> contents: string",
    shape=_encoded,
    gradient=None,
)
def EncodeWav(audio: Any, sample_rate: Any) -> Any:
    if audio.ndim != 2:
        raise ValueError(
            f"audio must be 2-dimensional, [samples, channels], but has the shape {audio.shape}"
        )
    if np.ndim(sample_rate):
        raise ValueError(
            f"Input sample_rate should be a scalar tensor, got {np.shape(sample_rate)} instead."
        )
    channels = audio.shape[1]
    if not 0 < channels < 2**16:
        raise ValueError(f"num_channels must be in (0, 2^16), got: {channels}")
    if sample_rate <= 0:
        raise ValueError(f"sample_rate must be in (0, 2^32), got: {sample_rate}")
    if 2 * audio.size + 36 >= 2**32:
        raise ValueError(f"{audio.size} samples are too many for one WAV file")
    return np.array(wav.encode(audio, int(sample_rate)), dtype=object)


def encode_wav(audio: Any, sample_rate: Any, name: str | None = None) -> Tensor:
    """The bytes of a 16-bit PCM WAV file with the samples [samples, channels] in [-1, 1].

    >>> tf.audio.encode_wav([[0.0], [1.0]], 8000).numpy()[:4]
    b'RIFF'
    """
    return EncodeWav(convert_to_tensor(audio, float32), convert_to_tensor(sample_rate, int32))
