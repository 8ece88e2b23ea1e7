"""Our reader of HDF5 against h5py; damaged and malicious files."""

import io
import struct

import h5py
import numpy as np
import pytest

from runnel.formats import hdf5
from runnel.formats.hdf5.foreign import plain_copy


def everything(target, **options):
    """A file with all that Keras, its users and other programs write."""
    chance = np.random.default_rng(0)
    with h5py.File(target, "w", **{"libver": "earliest", **options}) as file:
        for kind in "bBhHiIlLqQefd?FD":
            file[f"kind {ord(kind)}"] = (chance.random((3, 4)) * 50).astype(kind)
        file["big endian"] = np.arange(5, dtype=">f4")
        file["scalar"] = 3.5
        file["empty"] = np.zeros((0, 3))
        file["also empty"] = np.zeros((3, 0), "f4")
        file["bytes"] = np.array([b"ab", b"c"])
        file["texts"] = ["x", "yy", "z" * 300]
        file["text"] = "hällo"
        file["raw"] = np.arange(4, dtype="u2").view("V2")
        packed = {"compression": "gzip", "shuffle": True, "fletcher32": True}
        file.create_dataset("packed", data=chance.random((100, 7)), chunks=(9, 3), **packed)
        odd = chance.random((31, 5)).astype("f4")
        file.create_dataset("summed", data=odd, chunks=(9, 3), fletcher32=True)
        file.create_dataset("odd", data=np.arange(7, dtype="u1"), chunks=(7,), fletcher32=True)
        gaps = file.create_dataset("gaps", (100, 50), "f4", chunks=(10, 10), fillvalue=2.5)
        gaps[3:20] = 1
        file.create_dataset("unwritten", (10,), "f4")
        file.create_dataset("filled", (10,), "f4", fillvalue=7)
        file.create_dataset("growing", (10, 3), "f4", maxshape=(None, 3))[...] = 2
        for index in range(600):
            file[f"many/groups/{index}/value"] = index
        attributes = file["many"].attrs
        for index in range(30):
            attributes[f"number {index}"] = index * 1.5
        attributes["text"] = "é" * 1000
        attributes["bytes"] = np.bytes_("abc")
        attributes["texts"] = ["a", "bb"]
        attributes["names"] = np.array(["a", "bb"], "S")
        attributes["flag"], attributes["single"] = True, np.float32(3)
        attributes["many"] = np.arange(6).reshape(2, 3)
        attributes["nothing"] = h5py.Empty("f")


def assert_equal(ours, theirs):
    attributes = dict(theirs.attrs)
    assert ours.attrs.keys() == attributes.keys()
    for name, wanted in attributes.items():
        got = ours.attrs[name]
        if isinstance(wanted, h5py.Empty):
            assert got is None
            continue
        assert type(got) is type(wanted), name
        assert_same_array(np.asarray(got), np.asarray(wanted))
    assert list(ours) == list(theirs)
    for name, member in theirs.items():
        if isinstance(member, h5py.Group):
            assert_equal(ours[name], member)
        else:
            assert (ours[name].shape, ours[name].dtype) == (member.shape, member.dtype), name
            assert_same_array(np.asarray(ours[name]), np.asarray(member))


def assert_same_array(got, wanted):
    assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
    assert got.tobytes() == wanted.tobytes() or np.array_equal(got, wanted)


@pytest.mark.parametrize("options", ({}, {"userblock_size": 1024}), ids=("plain", "user block"))
@pytest.mark.parametrize("in_memory", (False, True))
def test_reads_what_h5py_reads(tmp_path, options, in_memory):
    path = str(tmp_path / "file.h5")
    everything(path, **options)
    content = (tmp_path / "file.h5").read_bytes()
    with hdf5.Source(content if in_memory else path) as source, h5py.File(path) as theirs:
        root = hdf5.open_group(source)
        root.check()
        assert_equal(root, theirs)
        assert root["many/groups/3/value"][()] == 3
        assert "many/groups/700" not in root
        assert root.get("many/nothing") is None


def test_newer_structures_are_copied_by_another_process(tmp_path):
    path = str(tmp_path / "file.h5")
    with h5py.File(path, "w", libver="latest") as file:
        for index in range(20):
            file[f"group/{index}"] = np.arange(index)
            file["group"].attrs[str(index)] = "x" * index
        file.create_dataset("chunks", data=np.eye(9), chunks=(4, 4), compression="lzf")
    with hdf5.Source(path) as source, pytest.raises(hdf5.UnknownStructure, match="superblock"):
        hdf5.open_group(source)
    for where in (path, (tmp_path / "file.h5").read_bytes()):
        copied = plain_copy(where, "newer structures")
        with copied as copy, hdf5.Source(copy) as source, h5py.File(path) as theirs:
            assert_equal(hdf5.open_group(source), theirs)


def test_a_seal_notices_every_changed_byte(tmp_path):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        file["weights"] = np.arange(50.0)
        file["scalar"], file["empty"] = 1.0, np.zeros(0)
        file.attrs["config"] = '{"units": 3}'
    hdf5.seal(str(path))
    whole = path.read_bytes()
    size = len(whole) - 24
    with h5py.File(path) as file:
        assert file["weights"][7] == 7
    with hdf5.Source(str(path)) as source:
        assert source.check_seal()
        assert np.asarray(hdf5.open_group(source)["weights"]).tolist() == np.arange(50.0).tolist()
    for at in range(0, size, 7):
        broken = bytearray(whole)
        broken[at] ^= 1 << at % 8
        with pytest.raises(hdf5.DamagedFile, match="checksum"):
            hdf5.Source(bytes(broken)).check_seal()


@pytest.mark.parametrize("parts", [(0,), (10,), (17,), (22,), (3, 9), (3, 21), (12, 21)])
def test_a_damaged_seal_is_no_missing_one(tmp_path, parts):
    path = tmp_path / "file.h5"
    with h5py.File(path, "w", libver="earliest") as file:
        file["values"] = np.arange(4.0)
    hdf5.seal(str(path))
    broken = bytearray(path.read_bytes())
    for part in parts:
        broken[len(broken) - 24 + part] ^= 4
    with pytest.raises(hdf5.DamagedFile, match="checksum"):
        hdf5.Source(bytes(broken)).check_seal()


@pytest.mark.parametrize("change", ("a value", "an attribute", "a dataset"))
def test_changes_by_h5py_remove_the_seal(tmp_path, change):
    path = str(tmp_path / "file.h5")
    with h5py.File(path, "w", libver="earliest") as file:
        file["x"], file.attrs["a"] = np.arange(10.0), "old"
    hdf5.seal(path)
    with h5py.File(path, "r+") as file:
        if change == "a value":
            file["x"][3] = 30
        elif change == "an attribute":
            file.attrs["a"] = "new"
        else:
            file["y"] = np.zeros(3)
    with hdf5.Source(path) as source, h5py.File(path) as theirs:
        assert not source.check_seal()
        assert_equal(hdf5.open_group(source), theirs)


def refused(content, match):
    with hdf5.Source(content) as source, pytest.raises(hdf5.DamagedFile, match=match):
        root = hdf5.open_group(source)
        root.check()
        for member in root.values():
            np.asarray(member)


def made(fill, **options):
    buffer = io.BytesIO()
    with h5py.File(buffer, "w", libver="earliest", **options) as file:
        fill(file)
    return buffer.getvalue()


def test_values_in_other_files_are_refused(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"TOP-SECRET-PASSW" * 3)

    def outside(file):
        file.create_dataset("x", (3, 4), "f4", external=[(str(secret), 0, 48)])

    def virtual(file):
        layout = h5py.VirtualLayout((3, 4), "f4")
        layout[:] = h5py.VirtualSource(str(secret), "k", (3, 4))
        file.create_virtual_dataset("x", layout)

    def soft(file):
        file["y"] = np.zeros(3)
        file["x"] = h5py.SoftLink("/y")

    def link(file):
        file["x"] = h5py.ExternalLink(str(secret), "k")

    refused(made(outside), "another file")
    refused(made(virtual), "other datasets")
    refused(made(soft), "link to another place")
    for fill in (outside, virtual, soft, link):
        path = str(tmp_path / "newest.h5")
        with h5py.File(path, "w", libver="latest") as file:
            fill(file)
        with (
            pytest.raises(hdf5.DamagedFile, match=r"another file|link to another place"),
            plain_copy(path, "newer structures"),
        ):
            pass


def test_a_dataset_larger_than_its_file_is_refused():
    refused(made(lambda file: file.create_dataset("x", (2**40,), "f4")), "more than a file")
    refused(
        made(lambda file: file.create_dataset("x", (2**40,), "f4", chunks=(2**28,))),
        "more than a file",
    )
    whole = made(lambda file: file.create_dataset("x", data=np.arange(10.0)))
    grown = whole.replace(struct.pack("<QQ", 10, 10), struct.pack("<QQ", 1000, 1000))
    assert grown != whole
    refused(grown, "80 bytes, but its shape")


def test_a_packed_dataset_gives_no_more_than_its_shape():
    def fill(file):
        packed = {"chunks": (100,), "compression": "gzip"}
        file.create_dataset("x", data=np.zeros(100), **packed)

    whole = made(fill)
    # The chunks shrink, and with them what may come out of each of them.
    broken = whole.replace(struct.pack("<II", 100, 8), struct.pack("<II", 50, 8))
    assert broken != whole
    refused(broken, "chunk")


def test_a_tree_that_contains_itself_is_refused():
    def fill(file):
        for index in range(500):
            file[f"group {index}"] = index

    whole = made(fill)
    node = whole.index(b"TREE\0\1")
    broken = bytearray(whole)
    broken[node + 32 : node + 40] = struct.pack("<Q", node)
    refused(bytes(broken), "descendants")


def test_a_heap_that_goes_in_circles_is_refused():
    whole = made(lambda file: file.attrs.update(a="text", b="more text"))
    heap = whole.index(b"GCOL")
    broken = bytearray(whole)
    broken[heap + 16 + 8 : heap + 16 + 16] = struct.pack("<Q", 2**63)
    refused(bytes(broken), "heap of texts")


def test_a_file_that_was_cut_off_is_refused():
    whole = made(lambda file: file.create_dataset("x", data=np.arange(1000.0)))
    for size in range(96, len(whole), 500):
        refused(whole[:size], "cut off")


def test_wrong_checksums_of_chunks_are_noticed():
    values = np.arange(200.0)
    whole = made(lambda file: file.create_dataset("x", data=values, chunks=(200,), fletcher32=True))
    at = whole.index(values.tobytes())
    for position in range(at, at + 1600, 37):
        broken = bytearray(whole)
        broken[position] ^= 16
        refused(bytes(broken), "checksum")
