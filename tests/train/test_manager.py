"""tf.train.CheckpointManager beside the original's, and what a crash leaves behind."""

import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest
import tensorflow as original

import runnel as tf


def names(paths):
    return [os.path.basename(path) for path in paths]


def state_text(folder):
    """The `checkpoint` file without its times."""
    return re.sub(r"timestamps?: [\d.]+", "time", (folder / "checkpoint").read_text())


def history(module, folder):
    """What a manager does in a program that uses all of its arguments."""
    checkpoint = module.train.Checkpoint(v=module.Variable(1.0))
    manager = module.train.CheckpointManager(checkpoint, str(folder / "a"), max_to_keep=2)
    told = [names([manager.save()]) for _ in range(4)]
    told += [names(manager.checkpoints), sorted(os.listdir(folder / "a")), state_text(folder / "a")]
    told += [names([manager.save(checkpoint_number=77)]), names(manager.checkpoints)]
    told += [names([manager.save(checkpoint_number=module.Variable(78))])]
    again = module.train.CheckpointManager(checkpoint, str(folder / "a"), max_to_keep=2)
    told += [names(again.checkpoints), names([again.latest_checkpoint, again.save()])]
    told += [names(again.checkpoints), names([again.restore_or_initialize()])]

    step = module.Variable(0, dtype=module.int64)
    manager = module.train.CheckpointManager(
        checkpoint,
        str(folder / "b"),
        max_to_keep=None,
        step_counter=step,
        checkpoint_interval=3,
        checkpoint_name="model",
        init_fn=lambda: told.append("made"),
    )
    told.append(manager.restore_or_initialize())
    for number in range(7):
        step.assign(number)
        saved = manager.save()
        told.append(saved and names([saved]))
    told += [manager.save(check_interval=False), names(manager.checkpoints)]
    step.assign(7)
    told += [names([manager.save(check_interval=False)]), manager.checkpoint_interval]

    manager = module.train.CheckpointManager(
        checkpoint, str(folder / "c"), max_to_keep=1, keep_checkpoint_every_n_hours=1e-9
    )
    for _ in range(3):
        manager.save()
        time.sleep(0.01)
    told += [sorted(os.listdir(folder / "c")), names(manager.checkpoints)]
    return told


def test_a_manager_does_what_the_originals_does(tmp_path):
    assert history(tf, tmp_path / "ours") == history(original, tmp_path / "theirs")


@pytest.mark.parametrize(
    "arguments",
    [{"max_to_keep": 0}, {"max_to_keep": -1}, {"max_to_keep": 2, "checkpoint_interval": 3}],
)
def test_wrong_arguments(arguments, tmp_path):
    for module in (original, tf):
        with pytest.raises(ValueError):
            module.train.CheckpointManager(module.train.Checkpoint(), str(tmp_path), **arguments)


def test_each_new_checkpoint_once(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    manager.save()
    seen = []
    for path in tf.train.checkpoints_iterator(str(tmp_path), timeout=0.05):
        seen.append(os.path.basename(path))
        if len(seen) < 3:
            manager.save()
    assert seen == ["ckpt-1", "ckpt-2", "ckpt-3"]


def test_files_that_the_manager_did_not_write_stay(tmp_path):
    (tmp_path / "ckpt-1.data-notes").write_text("mine")
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1.0)), str(tmp_path), max_to_keep=1
    )
    manager.save()
    manager.save()
    assert (tmp_path / "ckpt-1.data-notes").read_text() == "mine"


_SAVING = """
import sys, numpy as np, runnel as tf
v, w = tf.Variable(np.zeros(30_000)), tf.Variable(np.zeros(30_000))
checkpoint = tf.train.Checkpoint(v=v, w=w)
manager = tf.train.CheckpointManager(checkpoint, sys.argv[1], max_to_keep=2)
manager.restore_or_initialize()
print("ready", flush=True)
while True:
    v.assign_add(np.ones(30_000)); w.assign(v)
    if sys.argv[2] == "manager":
        manager.save()
    else:
        checkpoint.write(sys.argv[1] + "/same")
"""


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX systems")
@pytest.mark.parametrize("kind", ["manager", "same name"])
def test_a_killed_program_leaves_a_whole_checkpoint(kind, tmp_path):
    chance = random.Random(1)
    v, w = (tf.Variable(tf.zeros([30_000], tf.float64)) for _ in range(2))
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    before = 0.0
    for _ in range(int(os.environ.get("RUNNEL_KILLS", "6"))):
        process = subprocess.Popen(
            [sys.executable, "-c", _SAVING, str(tmp_path), kind], stdout=subprocess.PIPE
        )
        with process:
            process.stdout.readline()
            time.sleep(chance.uniform(0.05, 0.3))
            process.send_signal(signal.SIGKILL)
        path = str(tmp_path / "same")
        if kind == "manager":
            path = tf.train.latest_checkpoint(str(tmp_path))
            assert path is not None
        elif not os.path.exists(path + ".index"):
            continue
        checkpoint.read(path).expect_partial().assert_existing_objects_matched()
        assert (v.numpy() == v.numpy()[0]).all() and (w.numpy() == v.numpy()[0]).all()
        if kind == "manager":
            assert v.numpy()[0] >= before
            before = v.numpy()[0]


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are of POSIX systems")
def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    program = """
import resource, signal, sys, numpy as np, runnel as tf
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
v = tf.Variable(np.zeros(1000))
manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), sys.argv[1], max_to_keep=1)
manager.save()
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, resource.RLIM_INFINITY))
try:
    manager.save()
except OSError as error:
    print("refused", error.errno)
"""
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert "refused" in run.stdout
    path = tf.train.latest_checkpoint(str(tmp_path))
    assert path == str(tmp_path / "ckpt-1")
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint",
        "ckpt-1.data-00000-of-00001",
        "ckpt-1.index",
    ]
    tf.train.Checkpoint(v=tf.Variable([0.0] * 1000, dtype="float64")).restore(
        path
    ).assert_consumed()
