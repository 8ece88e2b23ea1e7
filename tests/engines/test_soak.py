"""A long training loop, shortened: memory stays flat, and primitives do not pile up."""

import os
import sys

import numpy as np
import pytest

from runnel import engines
from runnel.engines.onednn import library

sys.path.insert(0, os.path.dirname(__file__))
from soak import soak


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is asked of Linux")
def test_training_with_changing_batches(monkeypatch):
    if library.load() is not None:
        from runnel.engines.onednn import primitive

        engines.use("onednn")
        # Far fewer than the shapes that come along, so that old ones have to go.
        monkeypatch.setattr(primitive, "_MOST", 60)
    outcome = soak(seconds=15, parts=5, largest=64, fewest=60)
    assert np.isfinite(outcome.losses).all()
    assert outcome.primitives <= 60
    # The first part fills caches and the allocator's arenas; what follows adds next to nothing.
    assert outcome.resident[-1] - outcome.resident[1] < 16
