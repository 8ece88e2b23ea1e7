"""Kills (SIGKILL) processes that write a SavedModel again and again, and looks at what they left.

    python killing_exports.py FOLDER KILLS KIND

KIND is `alone` for a folder with nothing but the SavedModel, `others` for one with files of others,
and `moving` for one whose files have to be moved singly. Each victim is a fork of one process that
imports Runnel. Prints how many were in the midst of it.
"""

import os
import random
import signal
import sys
import time

import runnel as tf

SIZE = 20_000


def module_of(number):
    module = tf.Module()
    module.v, module.w = (tf.Variable(tf.fill([SIZE], float(number))) for _ in range(2))
    spec = tf.TensorSpec([], tf.float32)
    module.f = tf.function(lambda x: x + module.v[0], input_signature=[spec], autograph=False)
    return module


def save_for_ever(folder, number):
    while True:
        number += 1
        tf.saved_model.save(module_of(number), folder)


def left_in(folder):
    return [name for name in os.listdir(folder) if name.startswith(".")]


def main(parent, kills, kind):
    folder = os.path.join(parent, "model")
    chance = random.Random(1)
    before, unfinished, longest = 0.0, 0, 0.08
    tf.saved_model.save(module_of(before), folder)
    if kind != "alone":
        os.makedirs(os.path.join(folder, "assets.extra"))
        with open(os.path.join(folder, "assets.extra", "notes"), "w") as file:
            file.write("mine")
    if kind == "moving":
        os.chdir(folder)
    for _ in range(int(kills)):
        victim = os.fork()
        if victim == 0:
            try:
                save_for_ever(folder, before)
            finally:
                os._exit(1)
        time.sleep(chance.uniform(0.0, longest))
        os.kill(victim, signal.SIGKILL)
        _, status = os.waitpid(victim, 0)
        assert os.WIFSIGNALED(status), "the victim ended by itself"
        unfinished += bool(left_in(parent) or left_in(folder))
        found = tf.saved_model.load(folder)
        number = float(found.f(0.0))
        assert number >= before, (number, before)
        assert (found.v.numpy() == number).all() and (found.w.numpy() == number).all(), number
        before = number
        if kind != "alone":
            with open(os.path.join(folder, "assets.extra", "notes")) as file:
                assert file.read() == "mine"
        if before == 0:
            # Too soon for this machine.
            longest *= 1.2
    assert before > 0, "nothing was ever saved"
    # Who saves next takes away what the killed ones left.
    tf.saved_model.save(module_of(before), folder)
    assert not left_in(parent) + left_in(folder), (left_in(parent), left_in(folder))
    print(unfinished)


if __name__ == "__main__":
    main(*sys.argv[1:])
