"""Kills (SIGKILL) processes that save checkpoints, at random moments, and looks at what they left.

    python killing.py FOLDER KIND KILLS SEED

One process imports Runnel; each victim is a fork of it, so that a kill costs milliseconds. KIND is
`manager` for a CheckpointManager that keeps two checkpoints, or `same` for one checkpoint that is
written again and again under the same name. Prints how many of the kills left a file unfinished.
"""

import os
import random
import signal
import sys
import time

import numpy as np

import runnel as tf

SIZE = 20_000


def objects(folder):
    v, w = (tf.Variable(np.zeros(SIZE)) for _ in range(2))
    checkpoint = tf.train.Checkpoint(v=v, w=w)
    return v, w, checkpoint, tf.train.CheckpointManager(checkpoint, folder, max_to_keep=2)


def save_for_ever(folder, kind):
    v, w, checkpoint, manager = objects(folder)
    manager.restore_or_initialize()
    while True:
        v.assign_add(np.ones(SIZE))
        w.assign(v)
        if kind == "manager":
            manager.save()
        else:
            checkpoint.write(os.path.join(folder, "same"))


def number_in(folder, kind):
    """The number that the latest checkpoint holds everywhere; -1 if there is none yet."""
    v, w, checkpoint, _ = objects(folder)
    if kind == "manager":
        path = tf.train.latest_checkpoint(folder)
        if path is None:
            assert not os.path.exists(os.path.join(folder, "checkpoint")), os.listdir(folder)
            return -1.0
    else:
        path = os.path.join(folder, "same")
        if not os.path.exists(path + ".index"):
            return -1.0
    checkpoint.read(path).expect_partial().assert_existing_objects_matched()
    number = v.numpy()[0]
    assert (v.numpy() == number).all() and (w.numpy() == number).all(), path
    return number


def main(folder, kind, kills, seed):
    chance = random.Random(int(seed))
    before, unfinished, longest = -1.0, 0, 0.06
    for _ in range(int(kills)):
        victim = os.fork()
        if victim == 0:
            try:
                save_for_ever(folder, kind)
            finally:
                os._exit(1)
        time.sleep(chance.uniform(0.0, longest))
        os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
        assert os.WIFSIGNALED(status), "the victim ended by itself"
        left = [name for name in os.listdir(folder) if "tempstate" in name]
        unfinished += bool(left)
        number = number_in(folder, kind)
        if kind == "manager":
            assert number >= before, (number, before)
        before = number
        if before < 0:
            # Too soon for this machine.
            longest *= 1.2
    assert before >= 0, "nothing was ever saved"
    # Who saves next takes away what the killed ones left.
    _, _, checkpoint, manager = objects(folder)
    if kind == "manager":
        manager.restore_or_initialize()
        manager.save()
    else:
        checkpoint.write(os.path.join(folder, "same"))
    left = [name for name in os.listdir(folder) if name.endswith(".lock") or "tempstate" in name]
    assert not left, left
    print(unfinished)


if __name__ == "__main__":
    main(*sys.argv[1:])
