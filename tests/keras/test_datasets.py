"""Datasets, downloaded from a server on this machine and read as tf_keras reads the same files."""

import functools
import gzip
import hashlib
import http.server
import importlib
import json
import pickle
import tarfile
import threading

import numpy as np
import pytest

import runnel
import runnel.keras.datasets
from runnel.keras.datasets import origins

tf_keras = pytest.importorskip("tf_keras")


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        """Tests are quiet."""


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A folder whose files are served under the names that the datasets ask for."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    handler = functools.partial(Quiet, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()

        def offer(name, file_name=None):
            """Let a dataset find the file of this name at the server, with its real hash."""
            path = folder / (file_name or name)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            url = f"http://127.0.0.1:{server.server_port}/{path.name}"
            hashed = origins.ORIGINS[name].file_hash is not None
            monkeypatch.setitem(
                origins.ORIGINS, name, origins.Origin(url, digest if hashed else None)
            )

        offer.folder = folder
        yield offer
        server.shutdown()
        thread.join(10)


def original(monkeypatch, tmp_path, name, **names):
    """tf_keras's module of a dataset, reading the files that Runnel has put into the cache."""
    module = importlib.import_module(f"tf_keras.src.datasets.{name}")

    def found(fname, cache_subdir="datasets", **kwargs):
        path = tmp_path / "home" / cache_subdir / fname
        assert path.exists()
        return str(path)

    monkeypatch.setattr(module, "get_file", found)
    return module


def assert_equal(got, wanted):
    assert type(got) is type(wanted)
    for (x, y), (wanted_x, wanted_y) in zip(got, wanted, strict=True):
        for array, wanted_array in ((x, wanted_x), (y, wanted_y)):
            assert array.dtype == wanted_array.dtype
            assert array.shape == wanted_array.shape
            if array.dtype == object:
                assert array.tolist() == wanted_array.tolist()
            else:
                np.testing.assert_array_equal(array, wanted_array)


def recorded_origins():
    """What tf_keras asks its own get_file for."""
    calls = {}

    class Enough(Exception):
        pass

    for name in (
        "mnist",
        "fashion_mnist",
        "cifar10",
        "cifar100",
        "imdb",
        "reuters",
        "boston_housing",
    ):
        module = importlib.import_module(f"tf_keras.src.datasets.{name}")
        fields = [module.load_data]
        if hasattr(module, "get_word_index"):
            fields.append(module.get_word_index)
        for function in fields:

            def record(fname, origin, file_hash=None, **kwargs):
                calls[fname] = (origin, file_hash)
                if len([each for each in calls if each.endswith("ubyte.gz")]) in (0, 4):
                    raise Enough
                return fname

            kept = module.get_file
            module.get_file = record
            try:
                function()
            except Enough:
                pass
            finally:
                module.get_file = kept
    return calls


def test_origins_are_the_published_ones():
    calls = recorded_origins()
    ours = {name: tuple(origin) for name, origin in origins.ORIGINS.items()}
    # Keras 2 does not have this one.
    assert ours.pop("california_housing.npz")[0].endswith("/california_housing.npz")
    assert ours == calls


def test_mnist(shop, monkeypatch, tmp_path, capsys):
    random = np.random.default_rng(0)
    arrays = {
        "x_train": random.integers(0, 256, (6, 28, 28), np.uint8),
        "y_train": random.integers(0, 10, 6, np.uint8),
        "x_test": random.integers(0, 256, (2, 28, 28), np.uint8),
        "y_test": random.integers(0, 10, 2, np.uint8),
    }
    np.savez(shop.folder / "mnist.npz", **arrays)
    shop("mnist.npz")
    got = runnel.keras.datasets.mnist.load_data()
    assert "Downloading data from http://127.0.0.1" in capsys.readouterr().out
    assert_equal(got, original(monkeypatch, tmp_path, "mnist").load_data())
    np.testing.assert_array_equal(got[1][0], arrays["x_test"])
    # The second time it is there, and the server need not be.
    (shop.folder / "mnist.npz").unlink()
    assert_equal(runnel.keras.datasets.mnist.load_data(), got)
    assert capsys.readouterr().out == ""


def test_mnist_of_another_hash_is_refused(shop, tmp_path):
    np.savez(shop.folder / "mnist.npz", x_train=np.zeros(1))
    shop("mnist.npz")
    np.savez(shop.folder / "mnist.npz", x_train=np.ones(1))
    with pytest.raises(ValueError, match="hash"):
        runnel.keras.datasets.mnist.load_data()
    assert not list((tmp_path / "home" / "datasets").iterdir())


def test_fashion_mnist(shop, monkeypatch, tmp_path):
    random = np.random.default_rng(1)
    for part, count in (("train", 5), ("t10k", 3)):
        for kind, header, shape in (
            ("labels-idx1", 8, (count,)),
            ("images-idx3", 16, (count, 784)),
        ):
            name = f"{part}-{kind}-ubyte.gz"
            content = bytes(header) + random.integers(0, 10, shape, np.uint8).tobytes()
            (shop.folder / name).write_bytes(gzip.compress(content))
            shop(name)
    got = runnel.keras.datasets.fashion_mnist.load_data()
    assert_equal(got, original(monkeypatch, tmp_path, "fashion_mnist").load_data())
    assert got[0][0].shape == (5, 28, 28)


def archive(path, folder, contents, protocol=2):
    source = path.parent / "source" / folder
    source.mkdir(parents=True)
    for name, content in contents.items():
        (source / name).write_bytes(pickle.dumps(content, protocol))
    with tarfile.open(path, "w:gz") as file:
        file.add(source, folder)


@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_cifar10(shop, data_format):
    """By the published format; the original reads nothing but batches of 10,000."""
    random = np.random.default_rng(2)
    names = [f"data_batch_{number}" for number in range(1, 6)] + ["test_batch"]
    batches = {
        name: {
            b"data": random.integers(0, 256, (3, 3072), np.uint8),
            b"labels": random.integers(0, 10, 3).tolist(),
        }
        for name in names
    }
    archive(shop.folder / "cifar-10-python.tar.gz", "cifar-10-batches-py", batches)
    shop("cifar-10-batches-py", "cifar-10-python.tar.gz")
    runnel.keras.backend.set_image_data_format(data_format)
    try:
        (x_train, y_train), (x_test, y_test) = runnel.keras.datasets.cifar10.load_data()
    finally:
        runnel.keras.backend.set_image_data_format("channels_last")
    x = np.concatenate([x_train, x_test])
    if data_format == "channels_last":
        # Rows of a file are all the red, then all the green, then all the blue.
        x = np.stack([x[..., 0], x[..., 1], x[..., 2]], 1)
    assert x_train.dtype == y_train.dtype == y_test.dtype == np.uint8
    np.testing.assert_array_equal(
        x.reshape(18, 3072), np.concatenate([batches[name][b"data"] for name in names])
    )
    labels = [label for name in names for label in batches[name][b"labels"]]
    assert np.concatenate([y_train, y_test]).tolist() == [[label] for label in labels]


@pytest.mark.parametrize("label_mode", ["fine", "coarse"])
def test_cifar100(shop, monkeypatch, tmp_path, label_mode):
    random = np.random.default_rng(3)

    def batch(count):
        return {
            b"data": random.integers(0, 256, (count, 3072), np.uint8),
            b"fine_labels": random.integers(0, 100, count).tolist(),
            b"coarse_labels": random.integers(0, 20, count).tolist(),
        }

    contents = {"train": batch(7), "test": batch(4)}
    archive(shop.folder / "cifar-100-python.tar.gz", "cifar-100-python", contents)
    shop("cifar-100-python", "cifar-100-python.tar.gz")
    got = runnel.keras.datasets.cifar100.load_data(label_mode)
    assert_equal(got, original(monkeypatch, tmp_path, "cifar100").load_data(label_mode))


def test_cifar100_label_mode():
    for keras in (tf_keras, runnel.keras):
        with pytest.raises(ValueError, match="label_mode"):
            keras.datasets.cifar100.load_data("middling")


class Trap:
    def __reduce__(self):
        return print, ("the trap has sprung",)


def test_pickles_run_no_code(shop, capsys):
    archive(
        shop.folder / "cifar-100-python.tar.gz", "cifar-100-python", {"train": Trap(), "test": {}}
    )
    shop("cifar-100-python", "cifar-100-python.tar.gz")
    with pytest.raises(pickle.UnpicklingError, match="print"):
        runnel.keras.datasets.cifar100.load_data()
    assert "sprung" not in capsys.readouterr().out


def as_objects(lists):
    array = np.empty(len(lists), dtype=object)
    array[:] = lists
    return array


def texts(random, count):
    return as_objects(
        [random.integers(1, 60, random.integers(1, 12)).tolist() for _ in range(count)]
    )


OPTIONS = [
    {},
    {"num_words": 30},
    {"num_words": 30, "skip_top": 8},
    {"num_words": 30, "oov_char": None},
    {"start_char": None},
    {"start_char": None, "index_from": None},
    {"start_char": None, "index_from": 0},
    {"index_from": 7, "oov_char": 5, "start_char": 4},
    {"maxlen": 6},
    {"maxlen": 6, "num_words": 20, "seed": 5},
]


# Without any shift, the original adds arrays instead of joining lists, and fails.
UNSHIFTED = [{"start_char": None, "index_from": None}, {"start_char": None, "index_from": 0}]


@pytest.mark.parametrize("options", [o for o in OPTIONS if o not in UNSHIFTED], ids=str)
def test_imdb(shop, monkeypatch, tmp_path, options):
    random = np.random.default_rng(4)
    np.savez(
        shop.folder / "imdb.npz",
        x_train=texts(random, 20),
        y_train=random.integers(0, 2, 20),
        x_test=texts(random, 11),
        y_test=random.integers(0, 2, 11),
    )
    shop("imdb.npz")
    got = runnel.keras.datasets.imdb.load_data(**options)
    assert_equal(got, original(monkeypatch, tmp_path, "imdb").load_data(**options))


@pytest.mark.parametrize("options", [*OPTIONS, {"test_split": 0.5}], ids=str)
def test_reuters(shop, monkeypatch, tmp_path, options):
    random = np.random.default_rng(5)
    np.savez(shop.folder / "reuters.npz", x=texts(random, 23), y=random.integers(0, 46, 23))
    shop("reuters.npz")
    got = runnel.keras.datasets.reuters.load_data(**options)
    assert_equal(got, original(monkeypatch, tmp_path, "reuters").load_data(**options))


@pytest.mark.parametrize("options", UNSHIFTED, ids=str)
def test_imdb_without_shift(shop, options):
    x, y = as_objects([[1, 2], [3]]), np.arange(2)
    np.savez(shop.folder / "imdb.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    shop("imdb.npz")
    (_, _), (x_test, y_test) = runnel.keras.datasets.imdb.load_data(**options, num_words=9)
    assert {label: text for text, label in zip(x_test, y_test, strict=True)} == {0: [1, 2], 1: [3]}


def test_arguments_of_texts(shop):
    for keras in (tf_keras, runnel.keras):
        for module in (keras.datasets.imdb, keras.datasets.reuters):
            with pytest.raises(TypeError, match="Unrecognized"):
                module.load_data(number_of_words=3)
    random = np.random.default_rng(6)
    x, y = texts(random, 3), np.arange(3)
    np.savez(shop.folder / "imdb.npz", x_train=x, y_train=y, x_test=x, y_test=y)
    shop("imdb.npz")
    with pytest.raises(ValueError, match="maxlen"):
        runnel.keras.datasets.imdb.load_data(maxlen=1)


@pytest.mark.parametrize("name", ["imdb", "reuters"])
def test_word_index(shop, name):
    index = {"the": 1, "naïve": 2}
    (shop.folder / f"{name}_word_index.json").write_text(json.dumps(index))
    shop(f"{name}_word_index.json")
    assert getattr(runnel.keras.datasets, name).get_word_index() == index


def test_label_names():
    wanted = tf_keras.datasets.reuters.get_label_names()
    assert runnel.keras.datasets.reuters.get_label_names() == wanted


@pytest.mark.parametrize("options", [{}, {"test_split": 0.5, "seed": 3}, {"test_split": 0.0}])
def test_boston_housing(shop, monkeypatch, tmp_path, options):
    random = np.random.default_rng(7)
    np.savez(shop.folder / "boston_housing.npz", x=random.normal(size=(17, 13)), y=np.arange(17.0))
    shop("boston_housing.npz")
    got = runnel.keras.datasets.boston_housing.load_data(**options)
    assert_equal(got, original(monkeypatch, tmp_path, "boston_housing").load_data(**options))


@pytest.mark.parametrize("version", ["large", "small"])
def test_california_housing(shop, monkeypatch, tmp_path, version):
    later = pytest.importorskip("keras.src.datasets.california_housing")
    random = np.random.default_rng(8)
    np.savez(
        shop.folder / "california_housing.npz", x=random.normal(size=(700, 8)), y=np.arange(700.0)
    )
    shop("california_housing.npz")
    got = runnel.keras.datasets.california_housing.load_data(version)
    path = tmp_path / "home" / "datasets" / "california_housing.npz"
    monkeypatch.setattr(later, "get_file", lambda *args, **kwargs: str(path))
    assert_equal(got, later.load_data(version))


def test_housing_arguments():
    with pytest.raises(ValueError, match="test_split"):
        runnel.keras.datasets.california_housing.load_data(test_split=1.0)
    with pytest.raises(ValueError, match="version"):
        runnel.keras.datasets.california_housing.load_data("medium")


def test_cache_dir(shop, tmp_path):
    np.savez(shop.folder / "boston_housing.npz", x=np.zeros((5, 13)), y=np.arange(5.0))
    shop("boston_housing.npz")
    runnel.keras.datasets.boston_housing.load_data(cache_dir=tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "datasets" / "boston_housing.npz").exists()
