"""Every writer of files, and what is left of the old and the new version when the power fails."""

import os

import pytest
from power_loss import recorded
from writers import WRITERS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="only there folders can be flushed")
# What removes its old version itself, in the test.
FRESH = ("get_file", "Dataset.cache", "Dataset.snapshot", "BackupAndRestore")


@pytest.mark.filterwarnings("ignore:You are saving your model as an HDF5 file")
@pytest.mark.parametrize("again", [False, True], ids=["fresh", "again"])
@pytest.mark.parametrize("name", WRITERS)
def test_the_old_or_the_new_version_is_whole(name, again, tmp_path):
    if again and name in FRESH:
        pytest.skip("these write only what is not there")
    writer = WRITERS[name]
    folder = tmp_path / "folder"
    folder.mkdir()
    if hasattr(writer, "prepare"):
        writer.prepare(folder)
    if again:
        writer.save(folder, 1.0)
        assert writer.load(folder) == 1.0
    states = recorded(folder, lambda: writer.save(folder, 1.0 + again))
    assert writer.load(folder) == 1.0 + again
    seen = set()
    for number, state in enumerate(states):
        place = tmp_path / f"{number}"
        place.mkdir()
        state.make(place)
        try:
            found = writer.load(place)
        except Exception as error:
            tree = sorted((path, type(content)) for path, content in state.files())
            raise AssertionError(
                f"of {len(states)} states, this cannot be loaded: {tree}"
            ) from error
        assert found in (
            (2.0,) if again and state.is_final else (1.0, 2.0) if again else (None, 1.0)
        )
        assert found is not None or not state.is_final
        seen.add(found)
    # Some moments were before, some after, or the recording says nothing.
    assert seen == ({1.0, 2.0} if again else {None, 1.0})


def test_what_is_not_flushed_is_lost(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")

    def careless():
        with open(f"{path}.new", "w") as file:
            file.write("something new")
        os.replace(f"{path}.new", path)

    found = {dict(state.files()).get("file") for state in recorded(tmp_path, careless)}
    assert found == {b"old", b"", b"someth", b"something new"}


def test_a_rename_that_is_not_flushed_may_be_lost(tmp_path):
    def careless():
        with open(tmp_path / "new", "w") as file:
            file.write("1")
            file.flush()
            os.fsync(file.fileno())
        os.rename(tmp_path / "new", tmp_path / "first")
        os.mkdir(tmp_path / "second")

    final = [dict(state.files()) for state in recorded(tmp_path, careless) if state.is_final]
    assert {"first" in each for each in final} == {True, False}
    assert {"second" in each for each in final} == {True, False}
    assert all(
        content == b"1" for each in final for name, content in each.items() if name != "second"
    )
