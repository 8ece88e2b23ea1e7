"""Files from a server on this machine, encodings, sequences and workers."""

import functools
import hashlib
import http.server
import io
import pickle
import tarfile
import threading
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from side_by_side import compare, compare_failure

import runnel
import runnel.keras.utils

CLASSES = hnp.arrays(np.int64, hnp.array_shapes(max_dims=3, max_side=4), elements=st.integers(0, 5))


@given(y=CLASSES, count=st.sampled_from([None, 6, 9]), dtype=st.sampled_from(["float32", "int32"]))
def test_encodings(y, count, dtype):
    for name in ("to_categorical", "to_ordinal"):

        def program(tf, keras, name=name):
            encoded = getattr(keras.utils, name)(y, count, dtype)
            assert isinstance(encoded, np.ndarray)
            return encoded

        compare(program)


@pytest.mark.parametrize("y", [3, [0, 1, 2], [[0], [2]], ["1", "2"], [1.7, 2.0], [-1, 1], [True]])
def test_encodings_of_other_values(y):
    compare(lambda tf, keras: keras.utils.to_categorical(y))
    compare(lambda tf, keras: keras.utils.to_ordinal(y))


def test_encoding_failures():
    compare_failure(lambda tf, keras: keras.utils.to_categorical([]))
    compare_failure(lambda tf, keras: keras.utils.to_categorical([0, 5], 3), message="5")
    compare_failure(lambda tf, keras: keras.utils.to_ordinal(["one"]))


@given(
    x=hnp.arrays(
        st.sampled_from([np.float32, np.float64, np.int32]),
        hnp.array_shapes(min_dims=2, max_dims=3, max_side=4),
        elements=st.integers(-3, 3),
    ),
    axis=st.sampled_from([-1, 0, 1]),
    order=st.sampled_from([1, 2, np.inf]),
)
def test_normalize(x, axis, order):
    compare(lambda tf, keras: keras.utils.normalize(x, axis, order))


def test_normalize_a_list():
    compare(lambda tf, keras: keras.utils.normalize([3.0, 4.0]))


class Server(http.server.SimpleHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        if self.path == "/short.bin":
            self.send_response(200)
            self.send_header("Content-Length", "100000")
            self.end_headers()
            self.wfile.write(b"x" * 5000)
        elif self.path == "/unsized.bin":
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 5000)
        else:
            super().do_GET()

    def log_message(self, *args):
        """Tests are quiet."""


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A served folder, with the address of its server and the paths that were asked for."""
    folder = tmp_path / "served"
    folder.mkdir()
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    handler = functools.partial(Server, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.asked = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        server.folder = folder
        server.address = f"http://127.0.0.1:{server.server_port}/"
        server.cache = tmp_path / "home" / "datasets"
        yield server
        server.shutdown()
        thread.join(10)


get_file = runnel.keras.utils.get_file
CONTENT = b"hello" * 50000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
MD5 = hashlib.md5(CONTENT, usedforsecurity=False).hexdigest()


def files_in(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_get_file(served, capsys):
    (served.folder / "a.txt").write_bytes(CONTENT)
    path = get_file("b.txt", served.address + "a.txt")
    assert path == str(served.cache / "b.txt")
    assert Path(path).read_bytes() == CONTENT
    printed = capsys.readouterr().out
    assert printed.startswith(f"Downloading data from {served.address}a.txt\n")
    assert "250000/250000 [==============================]" in printed
    # It is not asked for again.
    assert get_file("b.txt", served.address + "a.txt") == path
    assert served.asked == ["/a.txt"]
    assert capsys.readouterr().out == ""
    assert files_in(served.cache) == ["b.txt"]


def test_names_and_places(served, tmp_path):
    (served.folder / "a.txt").write_bytes(CONTENT)
    url = served.address + "a.txt"
    assert get_file(origin=url + "?version=3") == str(served.cache / "a.txt")
    assert get_file("sub/c.txt", url) == str(served.cache / "sub" / "c.txt")
    assert get_file(tmp_path / "d.txt", url) == str(tmp_path / "d.txt")
    place = get_file("e.txt", url, cache_subdir="models", cache_dir=tmp_path / "new")
    assert place == str(tmp_path / "new" / "models" / "e.txt")


@pytest.mark.parametrize(
    "options",
    [
        {"md5_hash": MD5},
        {"file_hash": MD5},
        {"file_hash": SHA256},
        {"file_hash": SHA256.upper()},
        {"file_hash": SHA256, "hash_algorithm": "sha256"},
        {"file_hash": MD5, "hash_algorithm": "md5"},
    ],
)
def test_right_hash(served, options, capsys):
    (served.folder / "a.txt").write_bytes(CONTENT)
    served.cache.mkdir(parents=True)
    (served.cache / "a.txt").write_bytes(b"outdated")
    path = get_file("a.txt", served.address + "a.txt", **options)
    assert Path(path).read_bytes() == CONTENT
    assert "A local file was found, but it seems to be incomplete" in capsys.readouterr().out
    get_file("a.txt", served.address + "a.txt", **options)
    assert len(served.asked) == 1


@pytest.mark.parametrize("options", [{"file_hash": "0" * 64}, {"md5_hash": "0" * 32}])
def test_wrong_hash_leaves_no_file(served, options):
    (served.folder / "a.txt").write_bytes(CONTENT)
    with pytest.raises(ValueError, match=r"Incomplete or corrupted file detected.*0{32}"):
        get_file("a.txt", served.address + "a.txt", **options)
    assert files_in(served.cache) == []


def test_unknown_hash_algorithm(served):
    (served.folder / "a.txt").write_bytes(CONTENT)
    with pytest.raises(ValueError, match="sha512"):
        get_file("a.txt", served.address + "a.txt", file_hash=MD5, hash_algorithm="sha512")


def test_missing_arguments():
    compare_failure(lambda tf, keras: keras.utils.get_file("a.txt"))
    compare_failure(lambda tf, keras: keras.utils.get_file(origin="http://127.0.0.1:9/"))
    compare_failure(lambda tf, keras: keras.utils.get_file("a.txt", "no address"))


def test_failures_are_explained(served):
    with pytest.raises(Exception, match="404 -- File not found"):
        get_file("a.txt", served.address + "absent.txt")
    compare_failure(
        lambda tf, keras: keras.utils.get_file("a.txt", "http://127.0.0.1:9/a.txt"),
        message="http://127.0.0.1:9/a.txt",
    )
    with pytest.raises(Exception, match="offline"):
        get_file("a.txt", "http://127.0.0.1:9/a.txt")
    assert files_in(served.cache) == []


def test_broken_connection_leaves_no_file(served):
    with pytest.raises(Exception, match="5000"):
        get_file("short.bin", served.address + "short.bin")
    assert files_in(served.cache) == []


def test_broken_download_keeps_the_file_that_was_there(served):
    served.cache.mkdir(parents=True)
    (served.cache / "short.bin").write_bytes(b"the older one")
    with pytest.raises(Exception, match="5000"):
        get_file("short.bin", served.address + "short.bin", file_hash=MD5)
    assert (served.cache / "short.bin").read_bytes() == b"the older one"
    assert files_in(served.cache) == ["short.bin"]


def test_interruption_leaves_no_file(served, monkeypatch):
    (served.folder / "a.txt").write_bytes(CONTENT)

    def interrupt(*args, **kwargs):
        assert files_in(served.cache)
        raise KeyboardInterrupt

    monkeypatch.setattr(runnel.keras.utils.Progbar, "update", interrupt)
    with pytest.raises(KeyboardInterrupt):
        get_file("a.txt", served.address + "a.txt")
    assert files_in(served.cache) == []


def test_unknown_size(served, capsys):
    path = get_file("unsized.bin", served.address + "unsized.bin")
    assert Path(path).read_bytes() == b"x" * 5000
    assert capsys.readouterr().out.endswith("\n")


def make_tar(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
            else:
                member.type, member.linkname = content
                archive.addfile(member)


def test_extract_tar(served):
    make_tar(served.folder / "pack.tar.gz", [("pack/a.txt", b"A"), ("pack/sub/b.txt", b"B")])
    url = served.address + "pack.tar.gz"
    assert get_file("pack.tar.gz", url, extract=True) == str(served.cache / "pack.tar.gz")
    assert files_in(served.cache) == ["pack.tar.gz", "pack/a.txt", "pack/sub/b.txt"]
    # Again over what is there.
    (served.cache / "pack" / "a.txt").write_bytes(b"changed")
    get_file("pack.tar.gz", url, extract=True)
    assert (served.cache / "pack" / "a.txt").read_bytes() == b"A"
    assert len(served.asked) == 1


@pytest.mark.parametrize("fname", ["pack", "pack.tar.gz", None])
def test_untar(served, fname):
    make_tar(served.folder / "pack.tar.gz", [("pack/a.txt", b"A")])
    for _ in range(2):
        path = get_file(fname, served.address + "pack.tar.gz", untar=True)
        assert path == str(served.cache / "pack")
    assert files_in(served.cache) == ["pack.tar.gz", "pack/a.txt"]
    assert len(served.asked) == 1


def test_extract_zip(served):
    with zipfile.ZipFile(served.folder / "pack.zip", "w") as archive:
        archive.writestr("pack/a.txt", "A")
        archive.writestr("../outside.txt", "B")
    get_file("pack.zip", served.address + "pack.zip", extract=True)
    assert files_in(served.cache) == ["outside.txt", "pack.zip", "pack/a.txt"]


def test_archive_formats(served):
    make_tar(served.folder / "pack.tar.gz", [("pack/a.txt", b"A")])
    url = served.address + "pack.tar.gz"
    get_file("pack.tar.gz", url, extract=True, archive_format="zip")
    get_file("pack.tar.gz", url, extract=True, archive_format=None)
    assert files_in(served.cache) == ["pack.tar.gz"]
    with pytest.raises(ValueError, match="rar"):
        get_file("pack.tar.gz", url, extract=True, archive_format="rar")
    get_file("pack.tar.gz", url, extract=True, archive_format=["zip", "tar"])
    assert files_in(served.cache) == ["pack.tar.gz", "pack/a.txt"]


EVIL = {
    "parent": [("../evil.txt", b"evil")],
    "absolute": [("/ABSOLUTE/evil.txt", b"evil")],
    "link out": [("door", (tarfile.SYMTYPE, "../..")), ("door/evil.txt", b"evil")],
    "absolute link": [("door", (tarfile.SYMTYPE, "/ABSOLUTE")), ("door/evil.txt", b"evil")],
    "hard link": [("door", (tarfile.LNKTYPE, "../../secret.txt"))],
    "device": [("door", (tarfile.FIFOTYPE, ""))],
}


@pytest.mark.parametrize("kind", EVIL)
def test_archives_stay_inside(served, tmp_path, kind):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    members = [
        (
            name.replace("/ABSOLUTE", str(tmp_path)),
            (content[0], content[1].replace("/ABSOLUTE", str(tmp_path)))
            if isinstance(content, tuple)
            else content,
        )
        for name, content in EVIL[kind]
    ]
    make_tar(served.folder / "evil.tar.gz", [*members, ("good/a.txt", b"A")])
    with pytest.warns(UserWarning, match="Skipping invalid path"):
        get_file("evil.tar.gz", served.address + "evil.tar.gz", extract=True)
    outside = [name for name in files_in(tmp_path) if not name.startswith(("served", "home"))]
    assert outside == ["secret.txt"]
    assert (served.cache / "good" / "a.txt").read_bytes() == b"A"
    # What lay below a refused link is a plain file in a plain folder now, or nothing.
    assert not any(path.is_symlink() for path in served.cache.rglob("*"))


def test_links_inside_are_kept(served):
    make_tar(
        served.folder / "pack.tar.gz",
        [("pack/a.txt", b"A"), ("pack/b.txt", (tarfile.SYMTYPE, "a.txt"))],
    )
    get_file("pack.tar.gz", served.address + "pack.tar.gz", extract=True)
    assert (served.cache / "pack" / "b.txt").read_bytes() == b"A"


class Numbers(runnel.keras.utils.Sequence):
    def __init__(self, count):
        self.count = count
        self.epochs = 0

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        if index >= self.count:
            raise IndexError(index)
        return index + 100 * self.epochs

    def on_epoch_end(self):
        self.epochs += 1


class Broken(Numbers):
    def __getitem__(self, index):
        if index == 2:
            raise KeyError("number two")
        return index


def test_sequence():
    assert list(Numbers(3)) == [0, 1, 2]
    compare_failure_of_sequence = [lambda empty: empty[0], len]
    for use in compare_failure_of_sequence:
        with pytest.raises(NotImplementedError, match="must define"):
            use(runnel.keras.utils.Sequence())


def take(enqueuer, count, **options):
    enqueuer.start(**options)
    try:
        batches = enqueuer.get()
        return [next(batches) for _ in range(count)]
    finally:
        enqueuer.stop(timeout=30)
        assert not enqueuer.is_running()
        assert not enqueuer.run_thread.is_alive()


@pytest.mark.parametrize("workers", [1, 4])
@pytest.mark.parametrize("max_queue_size", [1, 10])
def test_ordered_enqueuer(workers, max_queue_size):
    enqueuer = runnel.keras.utils.OrderedEnqueuer(Numbers(3))
    got = take(enqueuer, 8, workers=workers, max_queue_size=max_queue_size)
    assert got == [0, 1, 2, 100, 101, 102, 200, 201]


def test_ordered_enqueuer_shuffles():
    got = take(runnel.keras.utils.OrderedEnqueuer(Numbers(20), shuffle=True), 40, workers=2)
    assert sorted(got[:20]) == list(range(20))
    assert sorted(got[20:]) == list(range(100, 120))
    assert got[:20] != sorted(got[:20])


def test_ordered_enqueuer_with_processes():
    with warnings.catch_warnings():
        # Python warns of processes forked beside threads, which the user asked for.
        warnings.simplefilter("ignore", DeprecationWarning)
        enqueuer = runnel.keras.utils.OrderedEnqueuer(Numbers(3), use_multiprocessing=True)
        assert take(enqueuer, 5, workers=2) == [0, 1, 2, 100, 101]


def test_ordered_enqueuer_hands_on_errors():
    enqueuer = runnel.keras.utils.OrderedEnqueuer(Broken(4))
    enqueuer.start(workers=2)
    batches = enqueuer.get()
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(KeyError, match="number two"):
        next(batches)
    assert not enqueuer.is_running()
    enqueuer.stop()


@pytest.mark.parametrize("workers", [1, 3])
def test_generator_enqueuer(workers):
    enqueuer = runnel.keras.utils.GeneratorEnqueuer(iter(range(25)))
    enqueuer.start(workers=workers, max_queue_size=3)
    assert list(enqueuer.get()) == list(range(25))
    enqueuer.stop()


def test_generator_enqueuer_hands_on_errors():
    def failing():
        yield 1
        raise KeyError("after one")

    enqueuer = runnel.keras.utils.GeneratorEnqueuer(failing())
    enqueuer.start()
    batches = enqueuer.get()
    assert next(batches) == 1
    with pytest.raises(KeyError, match="after one"):
        next(batches)
    assert not enqueuer.is_running()


def test_generator_enqueuer_stops_in_the_middle():
    def endless():
        while True:
            yield 1

    assert take(runnel.keras.utils.GeneratorEnqueuer(endless()), 5, max_queue_size=2) == [1] * 5


def test_enqueuer_not_started():
    for kind in ("OrderedEnqueuer", "GeneratorEnqueuer"):
        enqueuer = getattr(runnel.keras.utils, kind)(Numbers(2))
        assert not enqueuer.is_running()
        assert list(enqueuer.get()) == []
        enqueuer.stop()


def test_timed_thread():
    class Counter(runnel.keras.utils.TimedThread):
        def __init__(self):
            super().__init__(0.001, name="counter")
            self.count = 0
            self.reached = threading.Event()

        def on_interval(self):
            self.count += 1
            if self.count >= 3:
                self.reached.set()

    counter = Counter()
    assert not counter.is_alive()
    for _ in range(2):
        counter.reached.clear()
        with counter as entered:
            assert entered is counter
            assert counter.is_alive()
            assert counter.thread.name == "counter"
            assert counter.reached.wait(30)
        counter.thread.join(30)
        assert not counter.is_alive()
    with pytest.raises(NotImplementedError, match="on_interval"):
        runnel.keras.utils.TimedThread(1).on_interval()


def test_warmstart_embedding_matrix(tmp_path):
    old = np.arange(6, dtype=np.float32).reshape(3, 2)
    path = tmp_path / "terms.txt"
    path.write_text("b\nd\na\nc\n")
    for new in (["b", "d", "a", "c"], np.array(["b", "d", "a", "c"]), str(path)):
        compare(
            lambda tf, keras, new=new: keras.utils.warmstart_embedding_matrix(
                ["a", "b", "c"], new, old, keras.initializers.Constant(7.0)
            )
        )


def test_set_random_seed():
    def draw(tf, keras):
        keras.utils.set_random_seed(812)
        return np.random.rand(3), tf.random.uniform([3])

    compare(draw)
    compare_failure(lambda tf, keras: keras.utils.set_random_seed("a"))


def test_batches_of_x_y_and_weights():
    unpack = runnel.keras.utils.unpack_x_y_sample_weight
    for batch in [(1,), (1, 2), (1, 2, 3), [1, 2], 1]:
        compare(lambda tf, keras, batch=batch: keras.utils.unpack_x_y_sample_weight(batch))
    with pytest.raises(ValueError, match="sample_weight"):
        unpack((1, 2, 3, 4))


def test_names_of_custom_objects():
    utils = runnel.keras.utils
    with utils.custom_object_scope({"double": len}), utils.CustomObjectScope({"triple": max}):
        assert utils.get_registered_object("double") is len
        assert utils.get_registered_object("triple") is max
    assert "double" not in utils.get_custom_objects()


def test_source_inputs():
    def program(tf, keras):
        a, b, c = (keras.Input([2], name=name) for name in "abc")
        shared = a * 2.0
        both = keras.layers.add([b, shared]) + shared
        chosen = [both, shared, a, keras.layers.add([c, both, a])]
        found = [keras.utils.get_source_inputs(each) for each in chosen]
        found.append(keras.utils.get_source_inputs(both, chosen[-1]._keras_history.layer, 0))
        return [[tensor.name for tensor in tensors] for tensors in found]

    compare(program)
    assert runnel.keras.utils.get_source_inputs(3) == 3


def test_callbacks_and_bars_are_plain_objects():
    """Nothing in them holds on to a file or a lock, so that they can be copied."""
    bar = runnel.keras.utils.Progbar(3, verbose=0)
    bar.add(1, [("loss", 0.5)])
    again = pickle.loads(pickle.dumps(bar))
    assert again.target == 3
