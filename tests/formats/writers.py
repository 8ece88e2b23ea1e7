"""Every writer of files: how it saves a version, a number, and which version it loads; None: none.

A version that is not whole is an error.
"""

import os
import tempfile
from pathlib import Path

import numpy as np

import runnel as tf

SIZE = 300


def checkpoint_of(number):
    return tf.train.Checkpoint(
        v=tf.Variable(np.full(SIZE, number, "f")), w=tf.Variable(np.full(SIZE, number, "f"))
    )


def number_in_checkpoint(path):
    if path is None or not os.path.exists(f"{path}.index"):
        return None
    found = checkpoint_of(-1.0)
    found.read(path).expect_partial().assert_existing_objects_matched()
    return number_of(found.v, found.w)


def number_of(*arrays):
    numbers = set(np.concatenate([np.asarray(each).reshape(-1) for each in arrays]).tolist())
    assert len(numbers) == 1, numbers
    return numbers.pop()


def model_of(number):
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, input_shape=(4,))])
    model.set_weights([np.full(each.shape, number, "f") for each in model.get_weights()])
    return model


def module_of(number):
    module = tf.Module()
    module.v = tf.Variable(np.full(SIZE, number, "f"))
    module.f = tf.function(lambda: module.v + number, input_signature=[], autograph=False)
    return module


class Checkpoint:
    def save(self, folder, number):
        checkpoint_of(number).write(str(folder / "ck"))

    def load(self, folder):
        return number_in_checkpoint(str(folder / "ck"))


class InNewFolder(Checkpoint):
    def save(self, folder, number):
        checkpoint_of(number).write(str(folder / "new" / "folder" / "ck"))

    def load(self, folder):
        return number_in_checkpoint(str(folder / "new" / "folder" / "ck"))


class Manager:
    def save(self, folder, number):
        checkpoint = checkpoint_of(number)
        manager = tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=1)
        manager.save(checkpoint_number=int(number))

    def load(self, folder):
        path = tf.train.latest_checkpoint(str(folder))
        try:
            found = number_in_checkpoint(path)
        except tf.errors.NotFoundError:
            found = None
        if found is None and path is not None:
            # Only because a manager has saved another one since, and deleted this.
            assert path != tf.train.latest_checkpoint(str(folder))
            return self.load(folder)
        return found


class Model:
    def __init__(self, name):
        self.name = name

    def save(self, folder, number):
        model_of(number).save(str(folder / self.name))

    def load(self, folder):
        if not os.path.exists(folder / self.name):
            return None
        model = tf.keras.models.load_model(str(folder / self.name), compile=False)
        return number_of(*model.get_weights())


class Weights(Model):
    def save(self, folder, number):
        model_of(number).save_weights(str(folder / self.name))

    def load(self, folder):
        if not any(each.startswith(self.name) for each in os.listdir(folder)):
            return None
        model = model_of(-1.0)
        try:
            model.load_weights(str(folder / self.name))
        except tf.errors.NotFoundError:
            # Data without an index.
            return None
        return number_of(*model.get_weights())


class SavedModel:
    def __init__(self, others=(), inside=False):
        self.others, self.inside = others, inside

    def prepare(self, folder):
        for each in self.others:
            place = folder / "model" / each
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text("mine")

    def save(self, folder, number):
        before = os.getcwd()
        if self.inside:
            os.chdir(folder / "model")
        try:
            tf.saved_model.save(module_of(number), str(folder / "model"))
        finally:
            os.chdir(before)

    def load(self, folder):
        for each in self.others:
            assert (folder / "model" / each).read_text() == "mine"
        try:
            loaded = tf.saved_model.load(str(folder / "model"))
        except OSError as error:
            assert "SavedModel file does not exist" in str(error)
            return None
        return number_of(loaded.v, loaded.f() / 2)


class GetFile:
    def save(self, folder, number):
        with tempfile.TemporaryDirectory() as elsewhere:
            source = Path(elsewhere) / "source"
            source.write_bytes(np.full(SIZE, number).tobytes())
            (folder / "cache" / "fetched").unlink(missing_ok=True)
            tf.keras.utils.get_file(
                "fetched", source.as_uri(), cache_dir=str(folder), cache_subdir="cache"
            )

    def load(self, folder):
        path = folder / "cache" / "fetched"
        return number_of(np.frombuffer(path.read_bytes())) if path.exists() else None


def numbers_in(dataset):
    return number_of(*dataset.as_numpy_iterator())


class Saved:
    """Also of elements of another kind than before."""

    def save(self, folder, number):
        kind = tf.float32 if number == 1.0 else tf.float64
        tf.data.Dataset.from_tensors(tf.fill([SIZE], tf.cast(number, kind))).save(
            str(folder / "data")
        )

    def load(self, folder):
        if not os.path.exists(folder / "data" / "snapshot.metadata"):
            return None
        return numbers_in(tf.data.Dataset.load(str(folder / "data")))


class Cache:
    """What is computed when there is no whole file has the number -1."""

    def save(self, folder, number):
        for path in folder.glob("cache*"):
            path.unlink()
        list(self.dataset(number).cache(str(folder / "cache")))

    def dataset(self, number):
        return tf.data.Dataset.from_tensors(np.full(SIZE, number, "f")).repeat(3)

    def load(self, folder):
        number = numbers_in(self.dataset(-1.0).cache(str(folder / "cache")))
        return None if number == -1.0 else number


class Snapshot:
    def dataset(self, number):
        number = tf.Variable(number)
        source = tf.data.Dataset.range(3).map(lambda i: tf.fill([SIZE], number))
        return source

    def save(self, folder, number):
        list(self.dataset(number).snapshot(str(folder / "snap")))

    def load(self, folder):
        if not list((folder / "snap").glob("*/snapshot.metadata")):
            return None
        return numbers_in(self.dataset(-1.0).snapshot(str(folder / "snap")))


class Backup:
    def fitted(self, folder, number, **kwargs):
        model = model_of(number)
        model.compile(tf.keras.optimizers.SGD(0.0), "mse")
        backup = tf.keras.callbacks.BackupAndRestore(str(folder / "backup"), **kwargs)
        data = np.zeros((2, 4), "f"), np.zeros((2, 8), "f")
        model.fit(*data, epochs=1, verbose=0, callbacks=[backup])
        return model

    def save(self, folder, number):
        (folder / "backup" / "backup.npz").unlink(missing_ok=True)
        self.fitted(folder, number, delete_checkpoint=False)

    def load(self, folder):
        if not (folder / "backup" / "backup.npz").exists():
            return None
        return number_of(*self.fitted(folder, -1.0, delete_checkpoint=False).get_weights())


class Graph:
    def save(self, folder, number):
        graph = tf.Graph()
        with graph.as_default():
            tf.constant(np.full(SIZE, number))
        tf.io.write_graph(graph, str(folder), "graph.pb", as_text=False)

    def load(self, folder):
        if not (folder / "graph.pb").exists():
            return None
        graph_def = tf.compat.v1.GraphDef.FromString((folder / "graph.pb").read_bytes())
        return number_of(tf.make_ndarray(graph_def.node[0].attr["value"].tensor))


WRITERS = {
    "checkpoint": Checkpoint(),
    "checkpoint in a new folder": InNewFolder(),
    "manager": Manager(),
    ".keras": Model("m.keras"),
    ".h5": Model("m.h5"),
    ".weights.h5": Weights("m.weights.h5"),
    "weights in a checkpoint": Weights("m"),
    "SavedModel": SavedModel(),
    "SavedModel beside other files": SavedModel(["README", "assets.extra/deep/notes"]),
    "SavedModel in the current folder": SavedModel(["README"], inside=True),
    "model as a SavedModel": Model("m"),
    "get_file": GetFile(),
    "Dataset.save": Saved(),
    "Dataset.cache": Cache(),
    "Dataset.snapshot": Snapshot(),
    "BackupAndRestore": Backup(),
    "write_graph": Graph(),
}
