"""How much memory and work the config of a stranger's model may claim while it is loaded."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .code_objects import is_trusted


class _Left(threading.local):
    """The bytes that the layers of a model being loaded may still allocate; None: unlimited."""

    count: int | None = None
    file: int = 0
    # The calls of layers that may still be made; None outside of `calls_of_model`.
    calls: int | None = None


_left = _Left()
# The allowance for unsaved state, in bytes, and the factor for the size of the saved weights.
_ROOM = 256 << 20
_TIMES = 4
# A model in a model is called layer by layer: twenty of them, each of which calls the next twice,
# make a million calls.
MOST_CALLS = 1 << 15


@contextmanager
def weights_of_file(size: int) -> Iterator[None]:
    """Limit the memory of layers created in the block to about the size of the file's weights."""
    outer = _left.count, _left.file
    _left.count, _left.file = _TIMES * size + _ROOM, size
    try:
        yield
    finally:
        _left.count, _left.file = outer


def claim(name: Any, shape: tuple[int | None, ...], width: int, what: str = "a weight") -> None:
    """Claim memory for a layer's items; reject it if the file is too small."""
    if _left.count is None:
        return
    needed = width * math.prod(each for each in shape if each is not None)
    if needed > _left.count:
        raise ValueError(
            f"The layer {name!r} of the model in the file wants {what} of shape {shape}, about "
            f"{needed} bytes, but the weights in the file have {_left.file} bytes in all. The file "
            "is damaged or was made to use up memory. If you trust its source, `safe_mode=False` "
            "loads it all the same."
        )
    _left.count -= needed


@contextmanager
def calls_of_model() -> Iterator[None]:
    """The models made in the block may call so many layers in all, models in them included."""
    outer = _left.calls
    if outer is None and not is_trusted():
        _left.calls = MOST_CALLS
    try:
        yield
    finally:
        _left.calls = outer


def claim_calls(name: Any, layer: Any) -> None:
    """Note that a layer is called in a model, and what it calls with it; refuse it beyond all."""
    if _left.calls is None:
        return
    # The call itself is in the file; what it makes others call is not.
    _left.calls -= _calls_of(layer, {}) - 1
    if _left.calls < 0:
        raise ValueError(
            f"The config of the model calls models in models, such as {name!r}, so often that more "
            f"than {MOST_CALLS} calls of layers come of it. It is damaged or was made to use up "
            "time. If you trust its source, load it with `safe_mode=False`, or inside of "
            "`with tf.keras.saving.SafeModeScope(False):`."
        )


def _calls_of(layer: Any, known: dict[int, int]) -> int:
    """How many layers are called with a layer, itself included."""
    if id(layer) not in known:
        steps = getattr(layer, "_steps", None)
        if steps is not None:
            inner = [getattr(step, "layer", step) for step in steps]
        elif isinstance(getattr(layer, "layers", None), list):
            inner = layer.layers
        else:
            inner = [layer.layer] if hasattr(layer, "layer") else []
        known[id(layer)] = 1 + sum(_calls_of(each, known) for each in inner)
    return known[id(layer)]
