"""Mutated GraphDefs and SavedModels: each is loaded and called, or refused by a clean error.

    python tests/fuzz/fuzz_graphs.py --mutations 100000 --seed 0

The messages are changed in their bytes and in their fields. Loading may give a ValueError, an
OSError, a RuntimeError or a class of tf.errors; a call with proper inputs a TypeError, too, where
the function takes others now. A finding is any other exception, a crash, memory beyond a bound, a
file that is written, Python source with other names than generated ones, and a mutation that takes
too long to load. Calls may take any time, as loops may be endless: they are stopped.

Each batch runs in a process of its own; `--only NUMBER` repeats one mutation in this one.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import functools
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import graph_seeds
from google.protobuf import text_format
from message_mutations import Mutator, strings_in

import runnel as tf
from runnel.core.op import REGISTRY
from runnel.formats.saved_model_messages import SavedModel
from runnel.formats.saved_model_names import KERAS_METADATA_FILENAME
from runnel.saved_model.graph_export import GraphDef
from runnel.saved_model.restored import SignatureMap

_BATCH = 500
# Seconds of computing: a load must be done then, a call is stopped; a batch may take so long.
_LOADING = 10
_CALLING = 1
_LONGEST = 900
# Memory beyond what runs anyway.
_MEMORY = 2 << 30
_CLEAN = (ValueError, OSError, RuntimeError, tf.errors.OpError)
_RAW = (UnicodeError, RecursionError, NotImplementedError)
# What the source of a plan may consist of; constants are arguments of it.
_WORDS = re.compile(
    r"(?:def|del|return|None|True|False|plan|_?[A-Z]\w*|[xtcavb]\d+|branch\d+|u?int\d+|b?float\d+\w*"
    r"|complex\d+|q?u?int\d+|string|variant|resource|bool|empty|give_to_blas|give_to_engine|[a-z]\w*(?==)"
    r"|_tensor|_array|out|\d+)"
)
_TEXTS = re.compile(r"b?'[A-Za-z0-9_ ,.>-]*'")


class Stopped(BaseException):
    """What was not done in time."""


class Watch:
    """Notes what a process may not do: write files, and run source that is not generated."""

    def __init__(self, folder):
        self._folder = folder
        self.on = False
        self.seen = []
        sys.addaudithook(self._hook)

    def _hook(self, event, arguments):
        if not self.on:
            return
        if event == "open":
            path, mode, flags = arguments
            if isinstance(path, int):
                return
            writes = bool(set(mode or "") & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR)
            if writes:
                self.seen.append(f"writes {path!r}")
        elif event == "compile":
            source, name = arguments
            if isinstance(source, bytes):
                source = source.decode()
            if isinstance(source, str) and str(name).startswith("<runnel plan"):
                self._check(source)
        elif event in ("os.remove", "os.rename", "os.mkdir", "os.rmdir"):
            self.seen.append(f"writes {os.fspath(arguments[0])!r}")
        elif event.startswith(("os.system", "subprocess.", "os.exec", "os.posix_spawn")):
            self.seen.append(event)

    def _check(self, source):
        for word in re.findall(r"\w+(?:=)?", _TEXTS.sub("", source)):
            if not _WORDS.fullmatch(word.rstrip("=")) and not word.endswith("="):
                self.seen.append(f"source with the name {word!r}: {source[:300]}")
        if not source.isascii():
            self.seen.append(f"source that is not ASCII: {source[:300]}")


class Cases:
    """The originals, and what is done with a mutation of each."""

    def __init__(self, folder):
        self.folder = folder
        self.graphs = graph_seeds.graph_defs()
        self.models = graph_seeds.saved_models(folder)
        words = set(REGISTRY)
        for graph_def, *_ in self.graphs.values():
            words |= strings_in(graph_def)
        self.words = {word for word in words if len(word) < 60}
        self.messages = {}
        files = {path: Path(path, KERAS_METADATA_FILENAME) for path in self.models.values()}
        self.metadata = {path: file.read_bytes() for path, file in files.items() if file.exists()}
        for name, path in self.models.items():
            data = Path(path, "saved_model.pb").read_bytes()
            self.messages[name] = SavedModel.FromString(data)
            self.words |= strings_in(self.messages[name])

    def graph_def(self, source, clock):
        """Import a mutated GraphDef, and run it in a session."""
        original, fed, array, outputs = self.graphs[source.choice(sorted(self.graphs))]
        message = self._mutated(original, source)
        if message is None:
            return "refused"
        with tf.Graph().as_default() as graph:
            tf.graph_util.import_graph_def(message, name="")
            clock.called()
            with tf.compat.v1.Session() as session:
                names = {each.name for op in graph.get_operations() for each in op.outputs}
                wanted = [name for name in outputs if name in names]
                feeds = {fed: array} if fed in names else {}
                session.run(wanted, feeds)
        return "ran"

    def saved_model(self, source, clock):
        """Load a mutated SavedModel, and call its signatures and functions."""
        name = source.choice(sorted(self.models))
        message = self._mutated(self.messages[name], source)
        if message is None:
            return "refused"
        path = self.models[name]
        self._write(path, message, source)
        clock.began()
        if source.random() < 0.15:
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                tf.compat.v1.saved_model.load(session, ["serve"], path)
            return "loaded"
        by_keras = path in self.metadata and source.random() < 0.4
        load = tf.keras.models.load_model if by_keras else tf.saved_model.load
        loaded = load(path)
        clock.called()
        x = tf.constant(graph_seeds.X)
        words = tf.constant(["a", "z"])
        calls = []
        signatures = getattr(loaded, "signatures", None)
        for key in list(signatures) if isinstance(signatures, SignatureMap) else ():

            def call(key=key):
                function = signatures[key]
                specs = function.structured_input_signature[1]
                given = {n: words if s.dtype is tf.string else x for n, s in specs.items()}
                function(**given)

            calls.append(call)
        for key, argument in (("double", x), ("serve", x), ("find", words), ("__call__", x)):
            function = vars(loaded).get(key)
            if callable(function):
                calls.append(functools.partial(function, argument))
        refusal = None
        for call in calls:
            try:
                call()
            except Exception as error:
                # The worst of them counts.
                if refusal is None or isinstance(refusal, _CLEAN):
                    refusal = error
        if refusal is not None:
            raise refusal
        return "ran"

    def _write(self, path, message, source):
        """Write a SavedModel, sometimes as text or with broken metadata of Keras."""
        binary, text = Path(path, "saved_model.pb"), Path(path, "saved_model.pbtxt")
        text.unlink(missing_ok=True)
        metadata = Path(path, KERAS_METADATA_FILENAME)
        if path in self.metadata:
            data = self.metadata[path]
            if source.random() < 0.2:
                data = Mutator(source, self.words).mutated_bytes(data)
            metadata.write_bytes(data)
        binary.write_bytes(message.SerializeToString())
        if source.random() < 0.02:
            binary.unlink()
            data = text_format.MessageToString(message).encode()
            text.write_bytes(Mutator(source, self.words).mutated_bytes(data))

    def _mutated(self, original, source):
        mutator = Mutator(source, self.words)
        if source.random() < 0.25:
            try:
                return type(original).FromString(
                    mutator.mutated_bytes(original.SerializeToString())
                )
            except Exception as error:
                # The library's own error for bytes that are no message.
                if type(error).__name__ != "DecodeError":
                    raise
                return None
        message = type(original).FromString(original.SerializeToString())
        for _ in range(source.choice((1, 1, 1, 2, 4))):
            mutator.mutate(self._part(message, source))
        return message

    def _part(self, message, source):
        """A part of a message that is likely to matter, or the whole of it."""
        chance = source.random()
        if isinstance(message, SavedModel) and message.meta_graphs:
            if chance < 0.3:
                return message.meta_graphs[0].object_graph_def
            message = message.meta_graphs[0].graph_def if chance < 0.9 else message
        if not isinstance(message, GraphDef) or source.random() < 0.15:
            return message
        bodies = [each.node_def for each in message.library.function] + [message.node]
        nodes = [node for body in bodies for node in body]
        if not nodes or source.random() < 0.1:
            return message
        node = source.choice(nodes)
        if node.attr and source.random() < 0.6:
            return node.attr[source.choice(sorted(node.attr))]
        if node.input and source.random() < 0.6:
            place = source.randrange(len(node.input))
            node.input[place] = source.choice(source.choice(nodes).input or [node.name])
        return node


class Clock:
    """Stops what is not done in time, and knows whether that was a call."""

    def __init__(self):
        self.is_calling = False
        signal.signal(signal.SIGPROF, self._ring)

    def _ring(self, number, frame):
        raise Stopped

    def began(self):
        self.is_calling = False
        signal.setitimer(signal.ITIMER_PROF, _LOADING)

    def called(self):
        self.is_calling = True
        signal.setitimer(signal.ITIMER_PROF, _CALLING)

    def ended(self):
        signal.setitimer(signal.ITIMER_PROF, 0)


def outcome(number, seed, cases, clock, watch):
    """What came of one mutation, and the story of a finding."""
    source = random.Random(f"{seed} {number}")
    kind = source.choice(("graph_def", "saved_model"))
    clock.began()
    watch.on, watch.seen = True, []
    story = None
    try:
        watch.seen.clear()
        told = getattr(cases, kind)(source, clock)
    except Stopped:
        told = "stopped" if clock.is_calling else "FOUND"
        story = None if clock.is_calling else "not loaded in time\n" + traceback.format_exc()
    except Exception as error:
        told = type(error).__name__
        if isinstance(error, _RAW) or not (isinstance(error, _CLEAN) or is_refused_call(error)):
            told, story = "FOUND", traceback.format_exc()
    finally:
        clock.ended()
        watch.on = False
    expected = os.path.join(cases.folder, "")
    seen = [each for each in watch.seen if not each.startswith(f"writes {expected!r}"[:-1])]
    if seen:
        told, story = "FOUND", "\n".join(seen)
    return f"{kind}: {told}", story


def is_refused_call(error):
    """Whether an error says that other arguments are wanted now, which is a TypeError."""
    told = ("inding inputs to tf.function failed", "to EagerTensor of dtype")
    return isinstance(error, TypeError) and any(each in str(error) for each in told)


def run(numbers, seed, folder):
    """The outcomes of some mutations, and the findings with their numbers."""
    cases, clock, watch = Cases(folder), Clock(), Watch(folder)
    found, findings = Counter(), []
    for number in numbers:
        faulthandler.dump_traceback_later(60, exit=True)
        progress(folder, number)
        told, story = outcome(number, seed, cases, clock, watch)
        found[told] += 1
        if story is not None:
            findings.append((number, story))
    faulthandler.cancel_dump_traceback_later()
    return found, findings


def progress(folder, number):
    with open(os.path.join(folder, "at"), "w") as file:
        file.write(str(number))


def limit_memory():
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + _MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


def batch(numbers, seed, folder):
    """The outcomes and findings of a batch in a process of its own."""
    os.makedirs(folder)
    result = os.path.join(folder, "result.json")
    process = os.fork()
    if not process:
        code = 1
        try:
            home = os.path.join(folder, "home")
            os.mkdir(home)
            os.chdir(home)
            limit_memory()
            with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
                found, findings = run(numbers, seed, folder)
            left = os.listdir(home)
            if left:
                findings.append((numbers[0], f"in this batch, files were written: {left}"))
            Path(result).write_text(json.dumps([found, findings]))
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(process, 0)
    try:
        if os.path.exists(result):
            found, findings = json.loads(Path(result).read_text())
            return Counter(found), findings, numbers[-1]
        if not os.path.exists(os.path.join(folder, "at")):
            raise SystemExit("The originals could not be made.")
        at = int(Path(folder, "at").read_text())
        story = f"the process ended with status {os.waitstatus_to_exitcode(status)}"
        return Counter({"CRASHED": at - numbers[0] + 1}), [(at, story)], at
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--mutations", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    options = parser.parse_args(arguments)
    faulthandler.enable()
    tf.get_logger().setLevel("ERROR")
    began = time.monotonic()
    total, findings = Counter(), []
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        if options.only is not None:
            limit_memory()
            total, findings = run([options.only], options.seed, folder)
        number = 0
        while options.only is None and number < options.mutations:
            numbers = list(range(number, min(number + _BATCH, options.mutations)))
            found, more, last = batch(numbers, options.seed, os.path.join(folder, str(number)))
            total += found
            findings += more
            number = last + 1
    for told, count in sorted(total.items()):
        print(f"{count:8}  {told}")
    for place, (each, story) in enumerate(findings):
        if place < 40:
            print(f"FINDING in mutation {each}:\n{story}")
    print(f"{sum(total.values())} mutations, {len(findings)} findings, seed {options.seed}, "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
