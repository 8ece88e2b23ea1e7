"""`python -m runnel checkpoint`: what it lists and compares."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import runnel as tf
from runnel.commands.checkpoint import main


@pytest.fixture
def folder(tmp_path):
    """Two checkpoints that differ in every way."""
    parts = {
        "same": tf.Variable(np.arange(300, dtype=np.float32).reshape(3, 100)),
        "nothing": tf.Variable([np.nan, 1.0]),
        "number": tf.Variable([1.0, 2.0, 3.0]),
        "byte": tf.Variable([5, 250], dtype=tf.uint8),
        "flag": tf.Variable([True, False]),
        "half": tf.Variable([1.0, 2.0], dtype=tf.bfloat16),
        "wave": tf.Variable([1 + 1j]),
        "words": tf.Variable(["a", "b"]),
        "shape": tf.Variable([1.0]),
        "gone": [tf.Variable(1)],
    }
    checkpoint = tf.train.Checkpoint(**parts)
    checkpoint.save(str(tmp_path / "ckpt"))
    parts["number"].assign([1.0, 2.5, -1.0])
    parts["byte"].assign([250, 5])
    parts["flag"].assign([True, True])
    parts["half"].assign([1.0, 4.0])
    parts["wave"].assign([4 + 5j])
    parts["words"].assign(["a", "c"])
    checkpoint.shape = tf.Variable([1, 2])
    del checkpoint.gone
    checkpoint.new = tf.Variable(1.0)
    checkpoint.save(str(tmp_path / "ckpt"))
    return tmp_path


def lines(capsys):
    return [line.split("  ") for line in capsys.readouterr().out.splitlines()]


def cells(line):
    return [cell.strip() for cell in line if cell.strip()]


def test_a_listing_has_every_tensor(folder, capsys):
    assert main([str(folder / "ckpt-1")]) == 0
    first, *rest, last = capsys.readouterr().out.splitlines()
    assert first == f"checkpoint {folder}/ckpt-1"
    rows = {row[0]: row[1:] for row in (cells(line.split("  ")) for line in rest)}
    assert rows["name"] == ["dtype", "shape", "size"]
    assert rows["same"] == ["float32", "(3, 100)", "1.2 KB"]
    assert rows["gone/0"] == ["int32", "()", "4 B"]
    assert rows["wave"] == ["complex128", "(1)", "16 B"]
    assert rows["save_counter"] == ["int64", "()", "8 B"]
    assert len(rows) == 12
    values = [300, 2, 3, 2, 2, 2, 1, 2, 1, 1, 1]
    # Two lengths of one byte, a checksum of four, two letters.
    words = 2 + 4 + 2
    size = 1200 + 8 + 12 + 2 + 2 + 4 + 16 + words + 4 + 4 + 8
    assert last == f"total: 11 tensors, {sum(values)} values, {size / 1000:.1f} KB"


@pytest.mark.parametrize("name", ["", "ckpt-2", "ckpt-2.index", "ckpt-2.data-00000-of-00001"])
def test_folders_prefixes_and_files_mean_a_checkpoint(name, folder, capsys):
    assert main([str(folder / name)]) == 0
    assert capsys.readouterr().out.startswith(f"checkpoint {folder}/ckpt-2\n")


def test_a_comparison_tells_what_differs_and_by_how_much(folder, capsys):
    assert main(["--diff", str(folder / "ckpt-1"), str(folder / "ckpt-2")]) == 1
    found = [cells(line) for line in lines(capsys)]
    assert found == [
        [f"A: {folder}/ckpt-1"],
        [f"B: {folder}/ckpt-2"],
        [],
        ["only in A: 1"],
        ["gone/0", "int32", "()"],
        [],
        ["only in B: 1"],
        ["new", "float32", "()"],
        [],
        ["changed: 8"],
        ["byte", "2 of 2 differ, by at most 245"],
        ["flag", "1 of 2 differ, by at most 1"],
        ["half", "1 of 2 differ, by at most 2"],
        ["number", "2 of 3 differ, by at most 4"],
        ["save_counter", "1 of 1 differ, by at most 1"],
        ["shape", "float32 (1) -> int32 (2)"],
        ["wave", "1 of 1 differ, by at most 5"],
        ["words", "1 of 2 strings differ"],
        [],
        ["equal: 2"],
    ]


def test_equal_checkpoints(folder, capsys):
    assert main(["--diff", str(folder), str(folder / "ckpt-2"), "--full-names"]) == 0
    assert capsys.readouterr().out.endswith("equal: 11\n")


def test_trouble_is_told_without_a_traceback(folder, capsys):
    assert main([str(folder / "none")]) == 2
    assert "Failed to find any matching files" in capsys.readouterr().err
    (folder / "empty").mkdir()
    assert main([str(folder / "empty")]) == 2
    assert "there is no checkpoint in" in capsys.readouterr().err
    data = folder / "ckpt-1.data-00000-of-00001"
    data.write_bytes(b"\xff" * data.stat().st_size)
    assert main(["--diff", str(folder / "ckpt-1"), str(folder / "ckpt-2")]) == 2
    assert "checksum mismatch" in capsys.readouterr().err


def test_the_door_is_python_m_runnel(folder):
    def run(*arguments):
        root = str(Path(tf.__file__).parent.parent)
        # A checkpoint's folder has a file of the same name as the command.
        return subprocess.run(
            [sys.executable, "-m", "runnel", *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    assert "total: 11 tensors" in run("checkpoint", ".")
    assert "--diff A B" in run("checkpoint", "--help")
    assert "checkpoint  list the tensors" in run("--help")


def test_names_in_files_do_not_steer_the_terminal(tmp_path, capsys):
    names = {"red\x1b[31m": tf.Variable(1.0), "bell\x07\nforged": tf.Variable(2.0)}
    tf.train.Checkpoint(**names).write(str(tmp_path / "c"))
    assert main([str(tmp_path / "c")]) == 0
    listed = capsys.readouterr().out
    assert r"red\x1b[31m" in listed and r"bell\x07\nforged" in listed
    assert not set(listed) & {"\x1b", "\x07"}
    assert main([str(tmp_path / "none\x1b[2J")]) == 2
    assert "\x1b" not in capsys.readouterr().err
