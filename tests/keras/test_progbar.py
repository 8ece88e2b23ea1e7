"""The progress bar writes, character by character, what tf_keras writes at the same times."""

import contextlib
import io
import logging
import random
import time

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import runnel
import runnel.keras.callbacks
import runnel.keras.utils

tf_keras = pytest.importorskip("tf_keras")
KERAS = {"tf_keras": tf_keras, "runnel": runnel.keras}


class Clock:
    def __init__(self, monkeypatch):
        self.now = 1000.0
        monkeypatch.setattr(time, "time", lambda: self.now)


def written(monkeypatch, keras, program):
    """What a program prints that gets a library and a clock which it turns itself."""
    out = io.StringIO()
    with monkeypatch.context() as patch, contextlib.redirect_stdout(out):
        # The original writes into pipes what it writes into terminals.
        patch.setattr("runnel.keras.utils.interactive.is_watched", lambda: True)
        program(keras, Clock(patch))
    return out.getvalue()


def assert_same_text(monkeypatch, program):
    wanted = written(monkeypatch, tf_keras, program)
    assert written(monkeypatch, runnel.keras, program) == wanted
    return wanted


VALUES = [0.0, 1.0, 1e-3, 1e-4, 1234.5, -1e-5, float("nan"), float("inf")]


@settings(max_examples=200)
@given(
    seed=st.integers(0, 2**32),
    target=st.sampled_from([None, 1, 2, 9, 10, 100, 1000]),
    verbose=st.sampled_from([0, 1, 1, 2]),
    width=st.sampled_from([30, 10]),
    interval=st.sampled_from([0.05, 0, 1]),
    stateful=st.sampled_from([None, ["acc"], ["loss"]]),
    scale=st.sampled_from([0, 1e-7, 1e-4, 1e-2, 1, 60, 3600, 50000]),
)
def test_any_updates(monkeypatch, seed, target, verbose, width, interval, stateful, scale):
    def program(keras, clock):
        chance = random.Random(seed)
        bar = keras.utils.Progbar(target, width, verbose, interval, stateful, "sample")
        current = 0
        for _ in range(chance.randint(1, 12)):
            clock.now += chance.random() * scale
            current += chance.choice([0, 1, chance.randint(0, target or 50)])
            kind = chance.choice([float, np.float32, np.array])
            names = chance.sample(["loss", "acc", "mae"], chance.randint(0, 3))
            values = [(name, kind(chance.choice(VALUES) * chance.random())) for name in names]
            # One line at the end (verbose=2) asks for a known target.
            finalize = chance.choice([None, False, True]) if target else None
            if chance.random() < 0.2:
                bar.add(chance.randint(0, 3), values)
            else:
                bar.update(current, values, finalize=finalize)

    assert_same_text(monkeypatch, program)


def test_the_line_of_the_guides(monkeypatch):
    def program(keras, clock):
        bar = keras.utils.Progbar(3)
        for step in range(1, 4):
            clock.now += 0.1
            bar.update(step, [("loss", 1.1668)])

    text = assert_same_text(monkeypatch, program)
    assert text.endswith("3/3 [==============================] - 0s 100ms/step - loss: 1.1668\n")


def test_disabled_interactive_logging_goes_to_the_log(monkeypatch, caplog):
    def program(keras, clock):
        keras.utils.disable_interactive_logging()
        try:
            assert not keras.utils.is_interactive_logging_enabled()
            bar = keras.utils.Progbar(2, verbose=1)
            for step in (1, 2):
                clock.now += 1
                bar.update(step, [("loss", 0.5)])
        finally:
            keras.utils.enable_interactive_logging()
        assert keras.utils.is_interactive_logging_enabled()

    logs = {}
    for name, keras in KERAS.items():
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="absl"):
            assert written(monkeypatch, keras, program) == ""
        logs[name] = [record.getMessage() for record in caplog.records]
    assert logs["runnel"] == logs["tf_keras"]
    assert len(logs["runnel"]) == 2


def test_no_terminal_and_no_posix_means_new_lines(monkeypatch):
    """Where lines cannot be rewritten, each state is a line of its own."""
    monkeypatch.setattr("runnel.keras.utils.interactive.can_rewrite_a_line", lambda: False)

    def program(keras, clock):
        bar = keras.utils.Progbar(2)
        for step in (1, 2):
            clock.now += 1
            bar.update(step)

    lines = written(monkeypatch, runnel.keras, program).split("\n")
    assert [line[:3] for line in lines] == ["", "1/2", "2/2", ""]


def test_no_steps_at_all():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        runnel.keras.utils.Progbar(0).update(0, finalize=True)
    assert "0/0 [" in out.getvalue()


class Model:
    def __init__(self, names=()):
        self.metrics = [type("Metric", (), {"name": name}) for name in names]
        self.stop_training = False


def fit(keras, clock, verbose, epochs, steps, names, validate, known_steps):
    """The calls that `fit` makes for the progress bar, with steps of 0.3 s."""
    callbacks = keras.callbacks.CallbackList(
        [keras.callbacks.ProgbarLogger(count_mode="steps")],
        verbose=verbose,
        epochs=epochs,
        steps=steps if known_steps else None,
    )
    bar = next(iter(callbacks))
    bar.set_model(Model(names))
    bar.set_params({"verbose": verbose, "epochs": epochs, "steps": steps if known_steps else None})
    callbacks.on_train_begin()
    for epoch in range(epochs):
        callbacks.on_epoch_begin(epoch)
        logs = {}
        for step in range(steps):
            clock.now += 0.3
            callbacks.on_train_batch_begin(step)
            logs = {"loss": 1.0 / (step + 1), "mae": 0.1 * step}
            callbacks.on_train_batch_end(step, dict(logs))
        if validate:
            callbacks.on_test_begin()
            callbacks.on_test_batch_begin(0)
            callbacks.on_test_batch_end(0, {"loss": 0.25})
            callbacks.on_test_end({"loss": 0.25})
            logs["val_loss"] = 0.25
        callbacks.on_epoch_end(epoch, dict(logs))
    callbacks.on_train_end(logs)


@pytest.mark.parametrize("verbose", [0, 1, 2])
@pytest.mark.parametrize("names", [(), ("loss", "mae")])
@pytest.mark.parametrize(("epochs", "validate"), [(1, False), (3, True)])
def test_bar_of_fit(monkeypatch, verbose, names, epochs, validate):
    def program(keras, clock):
        fit(keras, clock, verbose, epochs, 4, names, validate, known_steps=True)

    text = assert_same_text(monkeypatch, program)
    assert ("Epoch 3/3" in text) == (epochs == 3 and verbose > 0)


def test_bar_of_fit_learns_the_number_of_steps(monkeypatch):
    def program(keras, clock):
        fit(keras, clock, 1, 2, 4, ("loss", "mae"), True, known_steps=False)

    text = assert_same_text(monkeypatch, program)
    assert "/Unknown" in text
    assert "4/4 [=" in text


def test_one_line_per_epoch_learns_the_number_of_steps(monkeypatch):
    def program(keras, clock):
        fit(keras, clock, 2, 2, 4, ("loss", "mae"), True, known_steps=False)

    text = written(monkeypatch, runnel.keras, program)
    assert text.count("4/4 - 1s - loss: 0.2500 - mae: 0.3000 - val_loss: 0.2500 - 1s/epoch") == 2


@pytest.mark.parametrize("phase", ["test", "predict"])
@pytest.mark.parametrize("verbose", [1, 2])
def test_bar_of_evaluate_and_predict(monkeypatch, phase, verbose):
    def program(keras, clock):
        logs = {"loss": 0.5} if phase == "test" else {}
        callbacks = keras.callbacks.CallbackList(
            add_progbar=True, model=Model(["loss"]), verbose=verbose, epochs=1, steps=3
        )
        getattr(callbacks, f"on_{phase}_begin")()
        for step in range(3):
            clock.now += 0.3
            getattr(callbacks, f"on_{phase}_batch_begin")(step)
            getattr(callbacks, f"on_{phase}_batch_end")(step, dict(logs))
        getattr(callbacks, f"on_{phase}_end")(logs)

    text = assert_same_text(monkeypatch, program)
    assert "3/3" in text


@pytest.mark.parametrize("count_mode", ["samples", "steps"])
def test_counting_samples(monkeypatch, count_mode):
    def program(keras, clock):
        bar = keras.callbacks.ProgbarLogger(count_mode, stateful_metrics=["acc"])
        bar.set_params({"verbose": 1, "epochs": 2, "steps": 3})
        bar.on_train_begin()
        for epoch in range(2):
            bar.on_epoch_begin(epoch)
            for step in range(3):
                clock.now += 0.1
                bar.on_train_batch_end(step, {"loss": 1.0 * step, "acc": 0.1 * step, "size": 4})
            bar.on_epoch_end(epoch, {"loss": 2.0, "val_loss": 3.0})

    assert_same_text(monkeypatch, program)


def test_unknown_count_mode():
    for keras in KERAS.values():
        with pytest.raises(ValueError, match="count_mode"):
            keras.callbacks.ProgbarLogger("minutes")


def test_a_pipe_gets_one_line_per_epoch(capfd):
    model = runnel.keras.Sequential([runnel.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    x = np.ones((64, 2))
    model.fit(x, x[:, :1], epochs=2, validation_split=0.5)
    lines = capfd.readouterr().out.splitlines()
    assert [line[:9] for line in lines[::2]] == ["Epoch 1/2", "Epoch 2/2"]
    for line in lines[1::2]:
        assert line.startswith("1/1 [=====") and "val_loss" in line and "\b" not in line
    assert len(lines) == 4
