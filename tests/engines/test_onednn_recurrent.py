"""oneDNN's recurrent layers give what NumPy's give."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from runnel import engines
from runnel.engines.onednn import library, recurrent
from runnel.ops.nn import gated_kernels, recurrent_kernels
from runnel.runtime.engine_selection import here

pytestmark = pytest.mark.skipif(library.load() is None, reason="oneDNN's library is not there")

NOTHING = np.empty(0, np.float32)


def normal(*shape, seed=0, share=0.5):
    return (share * np.random.default_rng(seed).normal(size=shape)).astype(np.float32)


def layer(length, batch, inputs, units, batch_first=False):
    """The weights, the inputs and the states."""
    x = normal(batch, length, inputs, seed=1).swapaxes(0, 1)
    x = x if batch_first else np.ascontiguousarray(x)
    weights = normal(units, 4 * units), normal(inputs, 4 * units, seed=2), normal(4 * units, seed=3)
    return *weights, x, normal(batch, units, seed=4), normal(batch, units, seed=5)


def gated_layer(length, batch, inputs, units, batch_first=False):
    _, _, _, x, h, _ = layer(length, batch, inputs, units, batch_first)
    weights = normal(units, 3 * units), normal(inputs, 3 * units, seed=2)
    return *weights, normal(2, 3 * units, seed=3), x, h


def assert_alike(wanted, got):
    assert len(wanted) == len(got)
    for a, b in zip(wanted, got, strict=True):
        assert b.dtype == np.float32 and b.shape == a.shape
        scale = np.abs(a).max(initial=1e-3)
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-5 * scale)


SIZES = st.tuples(st.integers(1, 6), st.integers(1, 9), st.integers(1, 20), st.integers(1, 40))


@settings(max_examples=25, deadline=None)
@given(SIZES, st.booleans(), st.sets(st.integers(0, 2), min_size=1), st.booleans())
def test_all_steps_and_back(sizes, batch_first, weighted, with_x):
    length, batch, _, units = sizes
    given = layer(*sizes, batch_first)
    engines.use("numpy")
    wanted = recurrent_kernels.lstm(*given, True)
    got = recurrent.lstm(*given, True)
    assert_alike(wanted[:2], got[:2])
    assert_alike(wanted[:2], recurrent.lstm(*given, False)[:2])
    shapes = (length, batch, units), (batch, units), (batch, units)
    weights = [
        normal(*shape, seed=7) if place in weighted else NOTHING
        for place, shape in enumerate(shapes)
    ]
    assert_alike(
        recurrent_kernels.lstm_backprop(*given, *wanted, *weights, with_x),
        recurrent.lstm_backprop(*given, *got, *weights, with_x),
    )


@settings(max_examples=25, deadline=None)
@given(SIZES, st.booleans(), st.sets(st.integers(0, 1), min_size=1), st.booleans())
def test_all_gated_steps_and_back(sizes, batch_first, weighted, with_x):
    length, batch, _, units = sizes
    given = gated_layer(*sizes, batch_first)
    engines.use("numpy")
    wanted = gated_kernels.gru(*given, True)
    got = recurrent.gru(*given, True)
    assert_alike(wanted[:1], got[:1])
    assert_alike(wanted[:1], recurrent.gru(*given, False)[:1])
    shapes = (length, batch, units), (batch, units)
    weights = [
        normal(*shape, seed=7) if place in weighted else NOTHING
        for place, shape in enumerate(shapes)
    ]
    assert_alike(
        gated_kernels.gru_backprop(*given, *wanted, *weights, with_x),
        recurrent.gru_backprop(*given, *got, *weights, with_x),
    )


@pytest.mark.parametrize("batch_first", [False, True])
@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("batch", [6, 7, 16, 27, 34, 51])
def test_a_batch_in_parts(monkeypatch, batch, count, batch_first):
    monkeypatch.setattr(recurrent, "_count_of_parts", lambda kind, sizes: count)
    length, inputs, units = 4, 5, 24
    weights = normal(length, batch, units, seed=6), normal(batch, units, seed=7), NOTHING
    given = layer(length, batch, inputs, units, batch_first)
    engines.use("numpy")
    wanted, got = recurrent_kernels.lstm(*given, True), recurrent.lstm(*given, True)
    assert len(got[-1]) == count
    assert_alike(wanted[:2], got[:2])
    back = recurrent.lstm_backprop(*given, *got, *weights, True)
    assert_alike(recurrent_kernels.lstm_backprop(*given, *wanted, *weights, True), back)
    # Nothing is added to what was there before.
    assert_alike(back, recurrent.lstm_backprop(*given, *got, *weights, True))
    given = gated_layer(length, batch, inputs, units, batch_first)
    wanted, got = gated_kernels.gru(*given, True), recurrent.gru(*given, True)
    assert_alike(wanted[:1], got[:1])
    assert_alike(
        gated_kernels.gru_backprop(*given, *wanted, *weights[:2], True),
        recurrent.gru_backprop(*given, *got, *weights[:2], True),
    )


@pytest.mark.parametrize("count", range(1, 6))
@pytest.mark.parametrize("batch", [5, 16, 17, 50, 100, 131])
def test_every_row_is_in_one_part(batch, count):
    parts = recurrent._parts(recurrent._Sizes(3, batch, 4, 8), count)
    rows = [row for part in parts for row in range(batch)[part.rows]]
    assert len(parts) == count and rows == list(range(batch))
    assert [part.sizes.batch for part in parts] == [len(range(batch)[p.rows]) for p in parts]
    assert max(part.sizes.batch for part in parts) == parts[0].sizes.batch


@pytest.mark.parametrize("meet_quickly", [True, False])
def test_parts_are_for_work_that_is_worth_them(monkeypatch, meet_quickly):
    monkeypatch.setattr(recurrent, "num_threads", lambda most: 2)
    monkeypatch.setattr(recurrent.sharing, "is_low", lambda: meet_quickly)

    def count(length, batch, inputs, units, kind=recurrent._LSTM):
        return recurrent._count_of_parts(kind, recurrent._Sizes(length, batch, inputs, units))

    assert count(40, 50, 57, 128) == 2
    assert count(40, 31, 57, 128) == 1
    assert count(1, 50, 57, 128) == 1
    assert count(40, 50, 57, 256) == (1 if meet_quickly else 2)
    assert count(40, 50, 57, 512) == 1
    assert count(40, 50, 57, 256, recurrent._GRU) == 2
    monkeypatch.setattr(here, "in_parallel_region", True)
    assert count(40, 50, 57, 128) == 1


def test_an_engine_that_is_not_in_use_any_more():
    given = layer(3, 4, 5, 32)
    weights = NOTHING, normal(4, 32, seed=8), NOTHING
    engines.use("onednn")
    there = recurrent_kernels.lstm(*given, True)
    wanted = recurrent_kernels.lstm_backprop(*given, *there, *weights, True)
    engines.use("numpy")
    assert_alike(wanted, recurrent_kernels.lstm_backprop(*given, *there, *weights, True))
    there = recurrent_kernels.lstm(*given, True)
    engines.use("onednn")
    assert_alike(wanted, recurrent_kernels.lstm_backprop(*given, *there, *weights, True))


def test_numbers_that_are_none():
    given = layer(3, 4, 5, 32)
    given[3][1, 2] = np.nan
    outputs, carry, _ = recurrent.lstm(*given, True)
    clean = np.delete(np.arange(4), 2)
    assert np.isnan(outputs[1:, 2]).all() and np.isnan(carry[2]).all()
    assert np.isfinite(outputs[:, clean]).all() and np.isfinite(outputs[0]).all()


def test_what_it_leaves_to_numpy():
    *weights, x, h, c = layer(3, 4, 5, 32)
    wide = [each.astype(np.float64) for each in (*weights, x, h, c)]
    assert recurrent.lstm(*wide, True) is None
    assert recurrent.lstm(*weights, x[:, :0], h[:0], c[:0], True) is None
    for place in range(6):
        given = [*weights, x, h, c]
        given[place] = given[place][..., :-1]
        assert recurrent.lstm(*given, True) is None, place
    for place in range(5):
        given = list(gated_layer(3, 4, 5, 32))
        given[place] = given[place][..., :-1]
        assert recurrent.gru(*given, True) is None, place
