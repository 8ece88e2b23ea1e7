"""Kills (SIGKILL) processes that write a SavedModel again and again, and looks at what they left.

    python killing_exports.py FOLDER KILLS

Each victim is a fork of one process that imports Runnel. Prints how many were in the midst of it.
"""

import os
import random
import shutil
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


def main(parent, kills):
    folder = os.path.join(parent, "model")
    chance = random.Random(1)
    before, unfinished, longest = 0.0, 0, 0.08
    tf.saved_model.save(module_of(before), folder)
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
        left = [name for name in os.listdir(parent) if name != "model"]
        unfinished += bool(left)
        for name in left:
            shutil.rmtree(os.path.join(parent, name))
        found = tf.saved_model.load(folder)
        number = float(found.f(0.0))
        assert number >= before, (number, before)
        assert (found.v.numpy() == number).all() and (found.w.numpy() == number).all(), number
        before = number
        if before == 0:
            # Too soon for this machine.
            longest *= 1.2
    assert before > 0, "nothing was ever saved"
    print(unfinished)


if __name__ == "__main__":
    main(*sys.argv[1:])
