"""The windows of a convolution or pooling."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

_MOST_SPACE = 3


class Windows(NamedTuple):
    """The windows over a batch of images [batch, *space]."""

    images: tuple[int, ...]
    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    low: tuple[int, ...]
    output: tuple[int, ...]

    @property
    def is_padded(self) -> bool:
        """Whether a window reaches into padding."""
        return any(self.low) or any(self.high)

    @property
    def high(self) -> list[int]:
        """The padding after the last pixel."""
        return [
            max(0, (out - 1) * stride + (kernel - 1) * dilation + 1 - size - low)
            for out, stride, kernel, dilation, size, low in zip(
                self.output, self.strides, self.kernel, self.dilations, self.images[1:], self.low,
                strict=True,
            )
        ]  # fmt: skip


def windows_of(images: Sequence[int], kernel: Sequence[int], axes: Sequence[Any]) -> Windows | None:
    """The windows over images [batch, *space, depth]; None where oneDNN does not support them."""
    if not 1 <= len(axes) <= _MOST_SPACE or not all((*images, *kernel)):
        return None
    found = Windows(
        tuple(images[:-1]),
        tuple(kernel),
        tuple(axis.stride for axis in axes),
        tuple(axis.dilation for axis in axes),
        tuple(axis.low for axis in axes),
        tuple(axis.output for axis in axes),
    )
    return found if all(found.output) and min(found.low) >= 0 else None
