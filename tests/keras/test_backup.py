"""BackupAndRestore: an interrupted training goes on as if nothing had happened."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from side_by_side import tf_keras

import runnel


class Interrupted(Exception):
    pass


def data():
    generator = np.random.default_rng(0)
    return generator.normal(size=(24, 3)).astype("float32"), generator.normal(size=(24, 1))


def build(keras):
    keras.utils.set_random_seed(2)
    model = keras.Sequential([keras.layers.Dense(4, input_shape=(3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def interruption(keras, epoch, batch):
    class Interruption(keras.callbacks.Callback):
        def on_epoch_begin(self, number, logs=None):
            self.epoch = number

        def on_train_batch_begin(self, number, logs=None):
            if (self.epoch, number) == (epoch, batch):
                raise Interrupted

    return Interruption()


@pytest.mark.parametrize("keras", [tf_keras, runnel.keras])
@pytest.mark.parametrize("save_freq", ["epoch", 2])
def test_an_interrupted_training_goes_on(keras, save_freq, tmp_path):
    x, y = data()
    whole = build(keras).fit(x, y, 8, epochs=5, shuffle=False, verbose=0)
    model = build(keras)
    backup = keras.callbacks.BackupAndRestore(tmp_path, save_freq)
    with pytest.raises(Interrupted):
        model.fit(x, y, 8, epochs=5, shuffle=False, verbose=0,
                  callbacks=[backup, interruption(keras, 2, 1)])  # fmt: skip
    again = build(keras)
    backup = keras.callbacks.BackupAndRestore(tmp_path, save_freq)
    rest = again.fit(x, y, 8, epochs=5, shuffle=False, verbose=0, callbacks=[backup])
    assert rest.epoch == [2, 3, 4]
    np.testing.assert_allclose(rest.history["loss"][1:], whole.history["loss"][3:], rtol=1e-5)
    assert not any(path.is_file() for path in tmp_path.rglob("*"))


PROGRAM = """
    import os, signal, sys
    import numpy as np
    import runnel as tf

    folder, kill_at = sys.argv[1], int(sys.argv[2])
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(2,))])
    model.compile("adam", "mse")

    class Kill(tf.keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == kill_at:
                os.kill(os.getpid(), signal.SIGKILL)

    backup = tf.keras.callbacks.BackupAndRestore(folder)
    x = np.arange(8.0).reshape(4, 2)
    history = model.fit(x, x, epochs=4, verbose=0, shuffle=False, callbacks=[backup, Kill()])
    print(history.epoch, history.history["loss"][-1])
"""


def test_a_killed_process_goes_on(tmp_path):
    def run(folder, kill_at):
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), str(folder), str(kill_at)],
            capture_output=True, text=True, timeout=120, env=os.environ,
        )  # fmt: skip

    whole = run(tmp_path / "whole", -1).stdout
    killed = run(tmp_path / "killed", 2)
    assert killed.returncode == -signal.SIGKILL
    again = run(tmp_path / "killed", -1).stdout
    assert again.startswith("[2, 3]") and whole.startswith("[0, 1, 2, 3]")
    assert again.split()[-1] == whole.split()[-1]


def test_a_backup_of_another_model_is_refused(tmp_path):
    x, y = data()
    keras = runnel.keras
    backup = keras.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
    build(keras).fit(x, y, verbose=0, callbacks=[backup])
    other = keras.Sequential([keras.layers.Dense(7, input_shape=(3,)), keras.layers.Dense(1)])
    other.compile("adam", "mse")
    with pytest.raises(ValueError, match="another model"):
        other.fit(x, y, verbose=0, callbacks=[backup])


def test_nothing_to_do_is_refused(tmp_path):
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError, match="must be set"):
            keras.callbacks.BackupAndRestore(tmp_path, save_freq=0)
