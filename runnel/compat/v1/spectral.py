"""tf.compat.v1.spectral: Fourier and cosine transforms, from `tf.signal`."""

import runnel as _tf

_NAMES = frozenset({
    "dct", "fft", "fft2d", "fft3d", "idct", "ifft", "ifft2d", "ifft3d", "irfft", "irfft2d",
    "irfft3d", "rfft", "rfft2d", "rfft3d",
})  # fmt: skip


def __getattr__(name: str) -> object:
    if name in _NAMES:
        return getattr(_tf.signal, name)
    raise AttributeError(f"module 'runnel.compat.v1.spectral' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(_NAMES)
