"""Keras defaults: the float type, epsilon, the image data format."""

from __future__ import annotations

import json
import os
import warnings
from pathlib import Path
from typing import Any

_FLOATX = ("float16", "float32", "float64")
_DATA_FORMATS = ("channels_last", "channels_first")


class _Settings:
    """The settings of the program, initialized from the user's `~/.keras/keras.json`."""

    def __init__(self) -> None:
        self.floatx = "float32"
        self.epsilon = 1e-7
        self.image_data_format = "channels_last"


_settings = _Settings()


def floatx() -> str:
    """The default float type, as a string.

    >>> tf.keras.backend.floatx()
    'float32'
    """
    return _settings.floatx


def set_floatx(value: str) -> None:
    """Set the default float type: 'float16', 'float32' or 'float64'."""
    if value not in _FLOATX:
        raise ValueError(f"Unknown `floatx` value: {value}. Expected one of {set(_FLOATX)}")
    _settings.floatx = str(value)


def epsilon() -> float:
    """The fuzz factor that keeps logarithms and quotients finite.

    >>> tf.keras.backend.epsilon()
    1e-07
    """
    return _settings.epsilon


def set_epsilon(value: float) -> None:
    """Set the fuzz factor that keeps logarithms and quotients finite."""
    _settings.epsilon = value


def image_data_format() -> str:
    """The default image data format: 'channels_last' or 'channels_first'.

    >>> tf.keras.backend.image_data_format()
    'channels_last'
    """
    return _settings.image_data_format


def set_image_data_format(data_format: str) -> None:
    """Set the default image data format: 'channels_last' or 'channels_first'."""
    _settings.image_data_format = checked_data_format(data_format)


def checked_data_format(data_format: Any) -> str:
    """A data format, validated."""
    if data_format not in _DATA_FORMATS:
        raise ValueError(
            f"Unknown `data_format`: {data_format}. Expected one of {set(_DATA_FORMATS)}"
        )
    return data_format


def resolved_data_format(data_format: str | None) -> str:
    """The given data format, or the default one for None."""
    return image_data_format() if data_format is None else checked_data_format(data_format)


def backend() -> str:
    """The name of the Keras backend."""
    return "tensorflow"


def _read_user_settings() -> None:
    home = os.environ.get("KERAS_HOME")
    path = Path(home) / "keras.json" if home else Path("~/.keras/keras.json").expanduser()
    try:
        written = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RuntimeError):
        return
    if not isinstance(written, dict):
        return
    if isinstance(written.get("epsilon"), float):
        set_epsilon(written["epsilon"])
    for key, setter in (("floatx", set_floatx), ("image_data_format", set_image_data_format)):
        if key in written:
            try:
                setter(written[key])
            except ValueError as error:
                warnings.warn(f"{path} is ignored in part: {error}", stacklevel=2)


_read_user_settings()
