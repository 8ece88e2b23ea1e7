"""tf.io.gfile: the same calls on TensorFlow and on Runnel, each in a folder of its own."""

import os
import pathlib

import pytest
import tensorflow

import runnel


def outcome(tf, call, folder):
    """What a call gives, with the folder's name taken out; or the class of its exception."""
    try:
        result = call(tf.io.gfile, str(folder))
    except Exception as failure:  # the classes are what is compared
        return type(failure).__name__
    return repr(result).replace(str(folder), "FOLDER")


def fill(folder):
    """Files and folders to work on."""
    (folder / "d" / "sub").mkdir(parents=True)
    (folder / "w" / "b" / "c").mkdir(parents=True)
    (folder / "w" / "a").mkdir()
    for name in ("d/b", "d/a", "d/C", "d/.hidden", "d/é", "w/z", "w/y", "w/b/q", "w/b/c/r"):
        (folder / name).write_text(name)
    (folder / "f").write_bytes(b"hello\nwor\rld\r\n\nlast")
    (folder / "binary").write_bytes(b"\xff\x00")
    (folder / "utf8").write_text("é日本\nx\n", encoding="utf8")
    os.symlink(folder / "nowhere", folder / "dangling")


def same(tmp_path, *calls):
    """The calls, one after the other, have the same outcomes on both sides."""
    outcomes = []
    for tf in (tensorflow, runnel):
        folder = tmp_path / tf.__name__
        folder.mkdir()
        fill(folder)
        outcomes.append([outcome(tf, call, folder) for call in calls])
    for number, (theirs, ours) in enumerate(zip(*outcomes, strict=True)):
        assert ours == theirs, f"call {number}"


def write(gfile, name, mode, *contents):
    with gfile.GFile(name, mode) as file:
        return [file.write(each) for each in contents]


def read(gfile, name, mode="r"):
    with gfile.GFile(name, mode) as file:
        return file.read()


def test_reading(tmp_path):
    same(
        tmp_path,
        lambda g, d: g.GFile(d + "/f").read(),
        lambda g, d: g.GFile(d + "/f", "rb").read(),
        lambda g, d: list(g.GFile(d + "/f")),
        lambda g, d: list(g.GFile(d + "/f", "rb")),
        lambda g, d: g.GFile(d + "/f").readlines(),
        lambda g, d: g.GFile(d + "/f").next(),
        lambda g, d: g.GFile(d + "/f").read(0),
        lambda g, d: g.GFile(d + "/f").read(-2),
        lambda g, d: g.GFile(d + "/f").read(None),
        lambda g, d: g.GFile(d + "/binary").read(),
        lambda g, d: g.GFile(d + "/binary", "rb").read(),
        lambda g, d: g.GFile(d + "/utf8").read(2),
        lambda g, d: g.GFile(d + "/utf8").readline(),
        lambda g, d: g.GFile(d + "/utf8", "rb").read(2),
        lambda g, d: g.GFile(pathlib.Path(d) / "f").read(),
        lambda g, d: g.GFile((d + "/f").encode()).read(),
        lambda g, d: g.GFile("file://" + d + "/f").read(),
        lambda g, d: g.GFile(d + "/f").size(),
        lambda g, d: g.GFile(d + "/no").read(),
        lambda g, d: list(g.GFile(d + "/no")),
        lambda g, d: g.GFile(d + "/no").size(),
        lambda g, d: g.GFile(d).read(),
        lambda g, d: g.GFile("").read(),
        lambda g, d: g.GFile(3).read(),
        lambda g, d: g.GFile("other://f").read(),
        lambda g, d: g.GFile(d + "/f").write("x"),
        lambda g, d: [g.GFile(d + "/f", mode).mode for mode in ("r", "rb", "rb+", "w", "a+")],
        lambda g, d: [g.GFile(name).name for name in ("a", b"a", pathlib.Path("a"))],
        lambda g, d: g.GFile(d + "/f").seekable(),
    )


@pytest.mark.parametrize("mode", ["x", "rt", "U", "q", "", "rw"])
def test_modes_that_are_none(tmp_path, mode):
    same(tmp_path, lambda g, d: g.GFile(d + "/f", mode))


def test_positions(tmp_path):
    def steps(g, d):
        with g.GFile(d + "/f") as file:
            found = [file.read(3), file.tell(), file.seek(2), file.tell(), file.read(2)]
            found += [file.seek(1, 1), file.tell(), file.seek(-2, 2), file.read(), file.tell()]
            found += [file.seek(position=3), file.readline(), file.tell(), file.read()]
        return [*found, file.read(5), file.close(), file.close()]

    def beyond(g, d):
        with g.GFile(d + "/f") as file:
            try:
                file.seek(100)
            except Exception:
                return file.tell(), file.read(), file.seek(-3, 1), file.read()

    same(
        tmp_path,
        steps,
        beyond,
        lambda g, d: g.GFile(d + "/f").seek(2, 3),
        lambda g, d: g.GFile(d + "/f").seek(-5),
        lambda g, d: g.GFile(d + "/f").seek(5, 2),
        lambda g, d: g.GFile(d + "/f").seek(),
        lambda g, d: g.GFile(d + "/f", "w").seek(0),
    )


def test_writing(tmp_path):
    def positions(mode):
        def steps(g, d):
            with g.GFile(d + "/f", mode) as file:
                found = [file.tell(), file.write("abc"), file.flush(), file.tell(), file.size()]
            return [*found, read(g, d + "/f")]

        return steps

    def read_and_write(mode):
        def steps(g, d):
            with g.GFile(d + "/d/a", mode) as file:
                file.write("xyz")
                file.flush()
                return file.read(), file.tell()

        return steps

    same(
        tmp_path,
        lambda g, d: write(g, d + "/new", "w", "one", "two\n"),
        lambda g, d: read(g, d + "/new"),
        lambda g, d: write(g, d + "/new", "a", "é"),
        lambda g, d: write(g, d + "/new", "ab", b"\xff"),
        lambda g, d: write(g, d + "/new", "wb", "text"),
        lambda g, d: write(g, d + "/new", "w", b"bytes"),
        lambda g, d: read(g, d + "/new", "rb"),
        lambda g, d: write(g, d + "/new", "w", 3),
        lambda g, d: write(g, d + "/untouched", "w"),
        lambda g, d: g.exists(d + "/untouched"),
        lambda g, d: write(g, d + "/no/f", "w", "x"),
        lambda g, d: write(g, d, "w", "x"),
        lambda g, d: g.GFile(d + "/new", "w").read(),
        lambda g, d: g.GFile(d + "/new", "w").readline(),
        lambda g, d: write(g, pathlib.Path(d) / "path", "w", "x"),
        positions("a"),
        positions("w"),
        read_and_write("w+"),
        read_and_write("a+"),
    )


def test_what_there_is(tmp_path):
    same(
        tmp_path,
        lambda g, d: [g.exists(d + name) for name in ("/f", "", "/no", "/f/x", "/dangling", "/d/")],
        lambda g, d: [g.isdir(d + name) for name in ("/f", "", "/no", "/f/x", "/dangling", "/d/")],
        lambda g, d: [g.exists(""), g.isdir(""), g.exists("file://" + d), g.exists(d.encode())],
        lambda g, d: g.exists(3),
        lambda g, d: g.exists(None),
        lambda g, d: g.exists("other://x"),
        lambda g, d: g.isdir(pathlib.Path(d)),
        lambda g, d: [g.stat(d + "/f").length, g.stat(d + "/f").is_directory],
        lambda g, d: g.stat(d).is_directory,
        lambda g, d: g.stat(d + "/f").mtime_nsec - int(os.stat(d + "/f").st_mtime) * 10**9,
        lambda g, d: g.stat(d + "/no"),
        lambda g, d: g.listdir(d + "/d") == os.listdir(d + "/d"),
        lambda g, d: sorted(g.listdir(pathlib.Path(d) / "d")),
        lambda g, d: sorted(g.listdir((d + "/d/").encode())),
        lambda g, d: g.listdir(d + "/f"),
        lambda g, d: g.listdir(d + "/no"),
        lambda g, d: g.listdir(""),
    )


def test_making_and_deleting(tmp_path):
    same(
        tmp_path,
        lambda g, d: [g.mkdir(d + "/m"), g.isdir(d + "/m"), g.mkdir(d + "/m")],
        lambda g, d: g.mkdir(d + "/x/y"),
        lambda g, d: g.mkdir(d + "/f"),
        lambda g, d: g.mkdir(""),
        lambda g, d: [g.makedirs(d + "/x/y/z"), g.makedirs(d + "/x/y/z"), g.isdir(d + "/x/y/z")],
        lambda g, d: g.makedirs(d + "/f"),
        lambda g, d: g.makedirs(d + "/f/z"),
        lambda g, d: g.makedirs(""),
        lambda g, d: g.remove(d + "/no"),
        lambda g, d: g.remove(d + "/d"),
        lambda g, d: [g.remove(d + "/d/a"), g.exists(d + "/d/a")],
        lambda g, d: [g.rmtree(d + "/w"), g.exists(d + "/w")],
        lambda g, d: [g.rmtree(d + "/d/b"), g.exists(d + "/d/b")],
        lambda g, d: g.rmtree(d + "/no"),
    )


def test_deleting_a_link_leaves_what_it_points_to(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x").write_text("x")
    os.symlink(tmp_path / "real", tmp_path / "link")
    with pytest.raises(runnel.errors.FailedPreconditionError):
        runnel.io.gfile.rmtree(tmp_path / "link")
    assert (tmp_path / "real" / "x").exists()


def test_copying_and_renaming(tmp_path):
    same(
        tmp_path,
        lambda g, d: [g.copy(d + "/f", d + "/f2"), read(g, d + "/f2")],
        lambda g, d: g.copy(d + "/f", d + "/f2"),
        lambda g, d: [g.copy(d + "/d/a", d + "/f2", overwrite=True), read(g, d + "/f2")],
        lambda g, d: g.copy(d + "/no", d + "/f3"),
        lambda g, d: g.copy(d + "/d", d + "/d2"),
        lambda g, d: g.copy(d + "/f", d + "/d"),
        lambda g, d: g.copy(d + "/f", d + "/d", True),
        lambda g, d: g.copy(d + "/f", d + "/no/x"),
        lambda g, d: g.copy(d + "/f", d + "/f"),
        lambda g, d: [os.chmod(d + "/f", 0o700), g.copy(d + "/f", d + "/m"),
                      oct(os.stat(d + "/m").st_mode)],
        lambda g, d: g.copy(pathlib.Path(d) / "f", (d + "/f9").encode()),
        lambda g, d: [g.rename(d + "/f2", d + "/f4"), g.exists(d + "/f2"), g.exists(d + "/f4")],
        lambda g, d: g.rename(d + "/f4", d + "/f"),
        lambda g, d: [g.rename(d + "/f4", d + "/f", overwrite=True), g.exists(d + "/f4")],
        lambda g, d: g.rename(d + "/no", d + "/f5"),
        lambda g, d: [g.rename(d + "/d", d + "/d3"), g.isdir(d + "/d3")],
        lambda g, d: g.rename(d + "/f", d + "/no/x"),
        lambda g, d: g.rename(d + "/f", d + "/d3", True),
        lambda g, d: g.rename(d + "/w", d + "/d3", True),
        lambda g, d: g.rename(d + "/f", d + "/f"),
    )  # fmt: skip


PATTERNS = ["d/*", "f*", "?", "q*", "q/*", "f", "**", "*/*", "d/{a,b}", "d/[!a]", "d/[^a]",
            "d/[ab]", "d/[a-c]", "d/\\a", "d/[a", "d/", "d/.h*", "d/[]a]", "w/*/*/r", "d/[z-a]", "",
            "d/*/"]  # fmt: skip


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(tmp_path, pattern):
    same(
        tmp_path,
        lambda g, d: sorted(g.glob(f"{d}/{pattern}")),
        lambda g, d: sorted(g.glob(f"file://{d}/{pattern}")),
    )


def test_patterns_of_operations(tmp_path, monkeypatch):
    """tf.io.matching_files and tf.io.read_file take the same names."""
    (tmp_path / "folder").mkdir()
    fill(tmp_path / "folder")
    monkeypatch.chdir(tmp_path / "folder")
    for pattern in ("d/*", "*", "file://" + str(tmp_path) + "/folder/f*", ["f", "d/[ab]", "f"]):
        theirs, ours = (
            tf.io.matching_files(pattern).numpy().tolist() for tf in (tensorflow, runnel)
        )
        assert ours == theirs
    address = f"file://{tmp_path}/folder/new/file"
    runnel.io.write_file(address, "hello")
    assert runnel.io.read_file(address).numpy() == b"hello"
    assert tensorflow.io.read_file(address).numpy() == b"hello"


def test_several_patterns(tmp_path, monkeypatch):
    same(
        tmp_path,
        lambda g, d: g.glob([d + "/f", d + "/d/[a]", d + "/f"]),
        lambda g, d: g.glob([]),
        lambda g, d: g.glob(""),
        lambda g, d: g.glob(3),
        lambda g, d: [monkeypatch.chdir(d), sorted(g.glob("*")), sorted(g.glob("d/*"))],
    )


def test_walking(tmp_path):
    def ordered(walked):
        return sorted((name, sorted(folders), sorted(files)) for name, folders, files in walked)

    def pruned(g, d):
        visited = []
        for name, folders, _ in g.walk(d + "/w"):
            visited.append(name)
            folders[:] = [each for each in folders if each != "b"]
        return visited

    def places(g, d, **options):
        names = [name for name, _, _ in g.walk(d + "/w", **options)]
        return names.index(d + "/w/b") < names.index(d + "/w/b/c"), names.index(d + "/w")

    same(
        tmp_path,
        lambda g, d: ordered(g.walk(d + "/w")),
        lambda g, d: ordered(g.walk(d)),
        lambda g, d: places(g, d),
        lambda g, d: places(g, d, topdown=False),
        lambda g, d: list(g.walk(d + "/no")),
        lambda g, d: list(g.walk(d + "/f")),
        lambda g, d: ordered(g.walk(pathlib.Path(d) / "w")),
        lambda g, d: ordered(g.walk((d + "/w/b/").encode())),
        lambda g, d: ordered(g.walk("file://" + d + "/w")),
        pruned,
    )


def test_walking_where_nothing_is_tells():
    failures = []
    assert list(runnel.io.gfile.walk("/no/such/folder", onerror=failures.append)) == []
    assert [type(each) for each in failures] == [runnel.errors.NotFoundError]


def test_joining(tmp_path):
    parts = [("a", "b", "c"), ("a", "/b"), ("gs://a", "b"), ("a",), ("a/", "b"), (b"a", b"b"),
             (pathlib.Path("a"), "b"), ("", "b"), ("a", b"b"), ("a", "")]  # fmt: skip
    same(tmp_path, *[lambda g, d, each=each: g.join(*each) for each in parts])


def test_schemes():
    ours = runnel.io.gfile.get_registered_schemes()
    assert set(ours) <= set(tensorflow.io.gfile.get_registered_schemes())
    assert "file" in ours and "" in ours


def test_messages_name_the_file(tmp_path):
    gfile = runnel.io.gfile
    missing = str(tmp_path / "missing")
    for call in (
        lambda: gfile.GFile(missing).read(),
        lambda: gfile.stat(missing),
        lambda: gfile.listdir(missing),
        lambda: gfile.remove(missing),
        lambda: gfile.rmtree(missing),
        lambda: gfile.copy(missing, missing + "2"),
        lambda: gfile.rename(missing, missing + "2"),
    ):
        with pytest.raises(runnel.errors.NotFoundError, match="missing"):
            call()
