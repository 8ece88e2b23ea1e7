"""The common inputs of all frameworks: sizes of the workloads, data and initial weights."""

from __future__ import annotations

import io
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

# The layers in order: kernels as [*space, inputs, outputs], each with its bias.
MLP = ((784, 100), (100, 10))
CNN = ((5, 5, 1, 32), (5, 5, 32, 64), (3136, 1024), (1024, 10))
DQN = ((4, 24), (24, 24), (24, 2))
CHARACTERS, UNITS = 57, 256


@dataclass(frozen=True)
class Sizes:
    """The sizes of the workloads."""

    operations: int = 1000
    batch: int = 50
    steps: int = 40
    replayed: int = 32
    mobile_batch: int = 16
    mobile_side: int = 96
    photo_side: int = 224
    training_rows: int = 60000
    test_rows: int = 10000
    photos: int = 500
    records: int = 20000
    wide: int = 2500


FULL = Sizes()
# The minimum that runs every line of a workload.
SMOKE = Sizes(
    operations=2, batch=6, steps=3, replayed=4, mobile_batch=2, mobile_side=32, photo_side=32,
    training_rows=600, test_rows=200, photos=3, records=40, wide=40,
)  # fmt: skip


def layers(kernels: tuple[tuple[int, ...], ...]) -> list[np.ndarray]:
    """Kernels with He's standard deviation, each followed by a bias of zeros."""
    generator = np.random.default_rng(7)
    found = []
    for shape in kernels:
        deviation = math.sqrt(2 / math.prod(shape[:-1]))
        found.append(generator.normal(0, deviation, shape).astype(np.float32))
        found.append(np.zeros(shape[-1:], np.float32))
    return found


def recurrent_layers() -> list[np.ndarray]:
    """Kernel, recurrent kernel and bias of an LSTM (gates i, f, c, o), then the last layer."""
    kernel, bias, output, output_bias = layers(((CHARACTERS, 4 * UNITS), (UNITS, CHARACTERS)))
    recurrent = layers(((UNITS, 4 * UNITS),))[0] / 2
    return [kernel, recurrent, bias, output, output_bias]


def digits(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Images [count, 28, 28, 1] and their classes."""
    generator = np.random.default_rng(1)
    images = generator.random((count, 28, 28, 1), np.float32)
    return images, generator.integers(0, 10, count, np.int32)


def texts(batch: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Characters [batch, steps] and the one that follows."""
    generator = np.random.default_rng(2)
    characters = generator.integers(0, CHARACTERS, (batch, steps + 1), np.int32)
    return characters[:, :-1].copy(), characters[:, -1].copy()


def prices() -> tuple[np.ndarray, np.ndarray]:
    """Five years and the prices in them, both normalized to [0, 1]."""
    values = np.array([[2013, 2014, 2015, 2016, 2017], [12000, 14000, 15000, 16500, 17500]])
    low, high = values.min(1, keepdims=True), values.max(1, keepdims=True)
    years, price = ((values - low) / (high - low)).astype(np.float32)
    return years, price


def replay(batch: int) -> tuple[np.ndarray, ...]:
    """States, actions, rewards, next states and terminal flags."""
    generator = np.random.default_rng(3)
    states, following = generator.normal(size=(2, batch, 4)).astype(np.float32)
    actions = generator.integers(0, 2, batch, np.int32)
    ends = (generator.random(batch) < 0.1).astype(np.float32)
    return states, actions, np.ones(batch, np.float32), following, ends


def photos(batch: int, side: int) -> np.ndarray:
    """Images [batch, side, side, 3] between -1 and 1."""
    return np.random.default_rng(4).uniform(-1, 1, (batch, side, side, 3)).astype(np.float32)


def jpeg_files(folder: Path, count: int) -> list[str]:
    """JPEG files of 500 x 375 pixels: noise that is smooth at several scales."""
    from PIL import Image

    generator = np.random.default_rng(5)
    names = []
    for index in range(count):
        mixture = np.zeros((375, 500, 3), np.float32)
        for cells, share in ((5, 0.6), (25, 0.25), (125, 0.15)):
            coarse = generator.integers(0, 256, (cells * 3 // 4 + 1, cells, 3), np.uint8)
            layer = Image.fromarray(coarse).resize((500, 375), Image.Resampling.BICUBIC)
            mixture += share * np.asarray(layer, np.float32)
        data = io.BytesIO()
        Image.fromarray(mixture.astype(np.uint8)).save(data, "JPEG", quality=90)
        path = folder / f"{index:04}.jpg"
        path.write_bytes(data.getvalue())
        names.append(str(path))
    return names


def records(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Records of 784 bytes and a label each."""
    generator = np.random.default_rng(6)
    rows: Any = generator.integers(0, 256, (count, 784), np.uint8)
    return rows, np.arange(count) % 10
