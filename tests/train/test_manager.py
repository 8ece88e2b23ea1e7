"""tf.train.CheckpointManager beside the original's, and what a crash leaves behind."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

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


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is of POSIX systems")
@pytest.mark.parametrize("kind", ["manager", "same"])
def test_a_killed_program_leaves_a_whole_checkpoint(kind, tmp_path):
    script = Path(__file__).with_name("killing.py")
    kills = os.environ.get("RUNNEL_KILLS", "100")
    run = subprocess.run(
        [sys.executable, str(script), str(tmp_path), kind, kills, "1"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(tf.__file__).parent.parent)},
    )
    assert run.returncode == 0, run.stderr
    # Some victims were in the middle of writing, or the test says nothing.
    assert int(run.stdout) > 0


@pytest.mark.skipif(os.name != "posix", reason="limits of file sizes are of POSIX systems")
def test_a_full_disk_leaves_the_old_checkpoint(tmp_path):
    program = """
import os, resource, signal, sys, numpy as np, runnel as tf
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
folder = sys.argv[1]
v = tf.Variable(np.zeros(1000))
checkpoint = tf.train.Checkpoint(v=v)
manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
good, refused = manager.save(), 0
for limit in [0, 20, 60, 100, *range(150, 9000, 450)]:
    v.assign_add(np.ones(1000))
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        saved = manager.save()
    except tf.errors.ResourceExhaustedError:
        saved, refused = None, refused + 1
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    latest = tf.train.latest_checkpoint(folder)
    assert latest == (saved or good), (limit, latest, saved, good)
    good = latest
    again = tf.Variable(np.zeros(1000))
    status = tf.train.Checkpoint(v=again).read(good)
    status.expect_partial().assert_existing_objects_matched()
    assert (again.numpy() == again.numpy()[0]).all()
    if saved is None:
        assert again.numpy()[0] < v.numpy()[0]
        assert not [name for name in os.listdir(folder) if "tempstate" in name], limit
print(refused)
"""
    run = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert int(run.stdout) > 10


PLACES = {
    "{folder}/other/precious": True,
    "../other/precious": True,
    "link/precious": True,
    "sub/../../other/precious": True,
    "precious": False,
    "sub/precious": False,
    "{folder}/mine/precious": False,
}


@pytest.mark.parametrize(("name", "stays"), PLACES.items())
def test_only_checkpoints_of_its_own_folder_are_deleted(name, stays, tmp_path):
    (tmp_path / "mine" / "sub").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "mine" / "link").symlink_to(tmp_path / "other")
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    name = name.format(folder=tmp_path)
    path = os.path.join(tmp_path, "mine", name)
    checkpoint.write(path)
    state = f'model_checkpoint_path: "{name}"\nall_model_checkpoint_paths: "{name}"\n'
    (tmp_path / "mine" / "checkpoint").write_text(state)
    # Reading may lead elsewhere, as in the original.
    assert tf.train.latest_checkpoint(tmp_path / "mine") == path
    manager = tf.train.CheckpointManager(checkpoint, tmp_path / "mine", max_to_keep=1)
    saved = manager.save()
    assert manager.checkpoints == [saved]
    assert os.path.exists(f"{path}.index") == stays


def test_a_manager_deletes_its_own_under_any_prefix(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(
        checkpoint, tmp_path / "mine", max_to_keep=1, checkpoint_name="../values/ckpt"
    )
    (tmp_path / "mine").mkdir()
    for _ in range(3):
        manager.save()
    names = sorted(os.listdir(tmp_path / "values"))
    assert names == ["ckpt-3.data-00000-of-00001", "ckpt-3.index"]


@pytest.mark.parametrize(
    "content", ["x" * (1 << 25), "model_checkpoint_path: 3", "\0\xff", "{" * 10**5]
)
def test_state_files_that_are_none(content, tmp_path):
    (tmp_path / "checkpoint").write_bytes(content.encode("latin-1"))
    assert tf.train.latest_checkpoint(tmp_path) is None
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(v=tf.Variable(1.0)), tmp_path, max_to_keep=1
    )
    assert manager.latest_checkpoint is None
    assert manager.save() == tf.train.latest_checkpoint(tmp_path)
