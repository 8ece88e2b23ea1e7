"""Damaged and malicious files of Keras: whatever is in them, there is a clean error or a model.

    python tests/fuzz/fuzz_keras_files.py --kind h5 --mutations 100000 --seed 0

Kinds are keras, h5, weights.h5 and json. Bytes are changed at random, behind the checksum of the
file and without it; values, names and structure of the configs are changed, too. A finding is an
error of another class, a file that is touched, a process that is started, values other than those
saved behind a checksum, a load that takes more than some seconds, or more memory than the limit.
The environment variable KEEP_FINDINGS names a folder for the files behind findings.
"""

import argparse
import collections
import copy
import faulthandler
import io
import json
import logging
import os
import random
import signal
import struct
import sys
import tempfile
import time
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np

import runnel as tf
from runnel.keras.saving.files import DamagedFileError

keras, layers = tf.keras, tf.keras.layers
KINDS = ("keras", "h5", "weights.h5", "json")
# So much memory may be asked for beyond what the process has at the beginning.
_ROOM = 2 << 30
# What one file may take. A process that converts an unusual file has a limit of its own.
_SECONDS = 30
_CLEAN = (ValueError, TypeError, NotImplementedError, ImportError, OSError, tf.errors.OpError)
_NUMBERS = (0, 1, -1, 2, 3, 7, 127, 255, 65535, 2**31 - 1, 2**31, 2**32, 2**40, 2**63, 10**30)
_BYTES = (0, 1, 2, 3, 8, 16, 127, 128, 254, 255)
_MODULES = (
    *(
        "builtins",
        "os",
        "subprocess",
        "shutil",
        "pydoc",
        "importlib",
        "numpy",
        "runnel",
        "tf_keras",
    ),
    *("keras", "keras.layers", "keras.utils", "keras.src.ops.numpy", "keras.saving", "__main__"),
)
_NAMES = (
    *("system", "Popen", "eval", "exec", "get_file", "enable_unsafe_deserialization", "pipepager"),
    *("io.write_file", "io.read_file", "io.gfile.remove", "py_function", "math.add", "reshape"),
    *("__lambda__", "__numpy__", "__tensor__", "__typespec__", "__bytes__", "function"),
    *("TensorShape", "__tuple__", "__ellipsis__", "Functional", "Model", "Sequential", "Lambda"),
    *("Dense", "LSTM", "RNN", "Bidirectional", "StringLookup", "TFOpLambda", "SlicingOpLambda"),
    *("ClassMethod", "InstanceMethod", "InstanceProperty", "relu", "float16", "string", "resource"),
)


class TooSlow(BaseException):
    """A load did not come to an end."""


def stop(*_):
    raise TooSlow


class Guard:
    """Notes what a file makes the process do beside reading it."""

    def __init__(self, secret):
        self.secret, self.active, self.found = secret, False, []
        sys.addaudithook(self)

    def __call__(self, event, arguments):
        if not self.active:
            return
        if event == "open" and str(arguments[0]) == self.secret:
            self.found.append("the secret file was opened")
        elif event == "subprocess.Popen":
            if "copying.py" not in str(arguments[1]):
                self.found.append(event)
        elif event in ("os.system", "os.exec", "os.posix_spawn", "socket.connect"):
            self.found.append(event)


def models():
    """Models of the kinds of layers that configs are made of."""
    plain = keras.Sequential(
        [layers.Dense(4, activation="relu", input_shape=(3,)), layers.Dense(1)]
    )
    plain.compile("adam", "mse", metrics=["mae"])
    i = keras.Input((4, 3))
    x = layers.Bidirectional(layers.LSTM(2, return_sequences=True))(i)
    x = tf.math.add(tf.reshape(x, [-1, 4, 4]), 1.0)[:, 1:]
    x = layers.BatchNormalization()(layers.Flatten()(x))
    inner = keras.Sequential([layers.Dense(2, kernel_regularizer="l2", input_shape=(12,))])
    mixed = keras.Model(i, [inner(x), layers.Concatenate()([x, x])])
    mixed.compile(keras.optimizers.SGD(0.1, momentum=0.9), ["mse", None])
    words = keras.Input((1,), dtype=tf.string)
    numbers = layers.StringLookup(vocabulary=["a", "b"])(words)
    texts = layers.TextVectorization(vocabulary=["c", "d"], output_sequence_length=3)(words)
    embedded = layers.Embedding(5, 2)(layers.Concatenate()([numbers, texts]))
    return [plain, mixed, keras.Model(words, layers.GlobalMaxPooling1D()(embedded))]


def scrambled(chance, data):
    """Bytes with a few changes."""
    broken = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(broken) + 1)
        kind = chance.randrange(8)
        if kind < 3 and at < len(broken):
            broken[at] ^= 1 << chance.randrange(8)
        elif kind == 3 and at < len(broken):
            broken[at] = chance.choice(_BYTES)
        elif kind < 6:
            at -= at % chance.choice((1, 2, 4, 8))
            number = chance.choice((*_NUMBERS, len(data), at)) & (2**64 - 1)
            if chance.random() < 0.4:
                # An address of something else in the file.
                number = 8 * chance.randrange(len(data) // 8 + 1)
            width = chance.choice((1, 2, 4, 8))
            broken[at : at + width] = struct.pack("<Q", number)[:width]
        elif kind == 6:
            size, source = chance.randint(1, 64), chance.randrange(len(broken) + 1)
            broken[at : at + size] = broken[source : source + size]
        elif chance.random() < 0.3:
            del broken[at:]
    return bytes(broken)


def any_value(chance, root, secret):
    """A value of any type for a place in a config."""
    kind = chance.randrange(10)
    if kind == 0:
        return chance.choice((None, True, False, "", [], {}, 0.5, -1e308, float("nan")))
    if kind == 1:
        return chance.choice(_NUMBERS)
    if kind == 2:
        return chance.choice(_NAMES)
    if kind == 3:
        return secret
    if kind == 4:
        value = chance.choice(_NUMBERS)
        for _ in range(chance.choice((1, 3, 100, 5000))):
            value = [value] if chance.random() < 0.9 else {"class_name": "Dense", "config": value}
        return value
    if kind == 5:
        return {
            "module": chance.choice(_MODULES),
            "class_name": chance.choice(_NAMES),
            "config": chance.choice(
                (chance.choice(_NAMES), {"origin": "http://localhost:9/x"}, {})
            ),
            "registered_name": chance.choice((None, chance.choice(_NAMES))),
        }
    if kind == 6:
        return [chance.choice(_NUMBERS) for _ in range(chance.randrange(5))]
    if kind == 7:
        return chance.choice((*_NAMES, *_MODULES)) + chance.choice(("", "_0", ".x", "\0", "é" * 50))
    try:
        return copy.deepcopy(chance.choice(list(places(root)))[2])
    except (RecursionError, IndexError):
        return []


def places(root):
    """All places in a config: the container, the key, the value."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in list(items):
            yield node, key, value
            if isinstance(value, dict | list):
                waiting.append(value)


def changed_config(chance, text, secret):
    """A config in JSON with a few other values."""
    root = json.loads(text)
    for _ in range(chance.randint(1, 3)):
        found = list(places(root))
        if not found:
            break
        if chance.random() < 0.3:
            found = [each for each in found if each[1] in ("class_name", "module", "function")]
        node, key, _ = chance.choice(found or list(places(root)))
        kind = chance.random()
        if kind < 0.1 and isinstance(node, dict):
            node[chance.choice(_NAMES)] = any_value(chance, root, secret)
        elif kind < 0.2:
            del node[key]
        elif kind < 0.3 and key in ("class_name", "function"):
            node[key] = chance.choice(_NAMES)
        elif kind < 0.4 and key == "module":
            node[key] = chance.choice(_MODULES)
        else:
            node[key] = any_value(chance, root, secret)
    try:
        text = json.dumps(root)
    except (RecursionError, ValueError):
        return "[" * 100_000
    return scrambled(chance, text.encode()).decode("utf-8", "replace") if kind > 0.97 else text


class Case:
    """A saved model: its bytes in every kind of file, and how to make others of them."""

    def __init__(self, model, folder):
        self.model, self.folder = model, folder
        self.weights = model.get_weights()
        self.saved = {}
        for kind in ("keras", "h5"):
            path = os.path.join(folder, f"whole.{kind}")
            model.save(path)
            self.saved[kind] = Path(path).read_bytes()
        path = os.path.join(folder, "whole.weights.h5")
        model.save_weights(path)
        self.saved["weights.h5"] = Path(path).read_bytes()
        self.saved["json"] = model.to_json().encode()

    def mutation(self, kind, chance, secret):
        """The way the file was changed, and its bytes."""
        data = self.saved[kind]
        if kind == "json":
            return "config", changed_config(chance, data.decode(), secret).encode()
        way = chance.choice(("bytes", "structure", "structure", "config", "config"))
        if way == "bytes":
            return way, scrambled(chance, data)
        if kind == "keras":
            return way, self._archive(way, chance, data, secret)
        if way == "config" and kind == "h5":
            return way, self._other_attribute(chance, data, secret)
        # Without the checksum at the end, as other programs write files.
        return "structure", scrambled(chance, data[:-24])

    def _archive(self, way, chance, data, secret):
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = [(name, archive.read(name)) for name in archive.namelist()]
        made = io.BytesIO()
        packing = chance.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
        with warnings.catch_warnings(), zipfile.ZipFile(made, "w", packing) as archive:
            warnings.simplefilter("ignore")
            for name, content in parts:
                if way == "config" and name == "config.json":
                    content = changed_config(chance, content.decode(), secret).encode()
                elif way == "config" and name == "metadata.json" and chance.random() < 0.1:
                    content = content.replace(b'"2.', b'"3.')
                elif way == "structure" and name.endswith(".h5"):
                    content = scrambled(chance, content)
                elif way == "structure" and chance.random() < 0.05:
                    name = chance.choice(("../x", "/x", "config.json", "assets/x/y", name + "x"))
                archive.writestr(name, content)
        return made.getvalue()

    def _other_attribute(self, chance, data, secret):
        buffer = io.BytesIO(data)
        with h5py.File(buffer, "r+") as file:
            names = [name for name in ("model_config", "training_config") if name in file.attrs]
            name = chance.choice(names)
            text = changed_config(chance, file.attrs[name], secret)
            file.attrs[name] = text.replace("\0", " ")
        return buffer.getvalue()

    def load(self, kind, data):
        """Load a mutation."""
        if kind == "json":
            return keras.models.model_from_json(data.decode("utf-8", "replace"))
        path = os.path.join(self.folder, f"broken.{kind}")
        Path(path).write_bytes(data)
        if kind != "weights.h5":
            return keras.models.load_model(path)
        self.model.set_weights([value * 0 for value in self.weights])
        try:
            self.model.load_weights(path)
        finally:
            loaded = self.model.get_weights()
            self.model.set_weights(self.weights)
        return loaded


def is_as_saved(case, loaded):
    weights = loaded if isinstance(loaded, list) else loaded.get_weights()
    return len(weights) == len(case.weights) and all(map(np.array_equal, weights, case.weights))


def run(kind, mutations, seed, folder):
    """Load so many mutations; the number of each outcome, and the findings."""
    secret = os.path.join(folder, "secret")
    Path(secret).write_text("alpha\nbeta\n")
    cases = [Case(model, folder) for model in models()]
    guard = Guard(secret)
    outcomes, findings = collections.Counter(), []
    signal.signal(signal.SIGALRM, stop)
    for number in range(mutations):
        chance = random.Random(f"{seed}/{number}")
        case = chance.choice(cases)
        way, data = case.mutation(kind, chance, secret)
        problem = None
        began = time.monotonic()
        signal.alarm(_SECONDS)
        faulthandler.dump_traceback_later(4 * _SECONDS, exit=True)
        guard.active = True
        try:
            loaded = case.load(kind, data)
            outcomes[way, "loaded"] += 1
            # Behind the seal or the checksums of the archive nothing else may be.
            if way == "bytes" and data != case.saved[kind] and not is_as_saved(case, loaded):
                problem = "other values were loaded"
        except TooSlow:
            problem = "took too long"
        except _CLEAN as error:
            outcomes[way, type(error).__name__] += 1
            if isinstance(error, DamagedFileError) and folder not in str(error):
                problem = f"an error without the path: {error}"
        except BaseException as error:
            problem = f"{type(error).__name__}: {error}"
        finally:
            guard.active = False
            signal.alarm(0)
            faulthandler.cancel_dump_traceback_later()
        problem = problem or (guard.found and str(guard.found))
        if time.monotonic() - began > _SECONDS / 3 and not problem:
            problem = f"took {time.monotonic() - began:.0f} s"
        if problem:
            findings.append((number, way, problem))
            guard.found.clear()
            kept = os.environ.get("KEEP_FINDINGS")
            if kept:
                Path(kept, f"{seed}-{number}.{kind}").write_bytes(data)
        if number % 200 == 0:
            keras.backend.clear_session()
    return outcomes, findings


def limit_memory():
    """Make a huge allocation fail, where the system can."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
        limit = pages * resource.getpagesize() + _ROOM
        resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    except (ImportError, OSError):
        print("memory is not limited on this system")


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Load files of Keras that are broken at random.")
    parser.add_argument("--kind", choices=KINDS, default="h5")
    parser.add_argument("--mutations", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    tf.get_logger().setLevel(logging.CRITICAL)
    limit_memory()
    began = time.monotonic()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        outcomes, findings = run(options.kind, options.mutations, options.seed, folder)
    for outcome, number in sorted(outcomes.items()):
        print(f"{number:8}  {': '.join(outcome)}")
    for finding in findings[:20]:
        print("FINDING", *finding)
    print(f"{options.mutations} files of {options.kind}, {len(findings)} findings, seed "
          f"{options.seed}, {time.monotonic() - began:.0f} s")  # fmt: skip
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
