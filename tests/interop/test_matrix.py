"""Files go from TensorFlow to Runnel and back, just as docs/saving.md says."""

import os
import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "saving.md"
# The rows of the table by the kinds of files that `file_programs.py` writes.
ROWS = {
    "module": "checkpoint of a `tf.Module`",
    "model": "checkpoint of a Keras model and its optimizer",
    "weights": "`save_weights` as a checkpoint",
    "weights_h5": "`save_weights` to `.weights.h5`",
    "old_h5": "`save_weights` to `.h5`",
    "h5": "model in `.h5`",
    "keras": "model in `.keras`",
    "saved_module": "SavedModel of a `tf.Module`",
    "saved_keras": "SavedModel of a Keras model, its signature",
    "tfrecord": "TFRecord with `tf.train.Example`",
}
COLUMNS = [
    ("TensorFlow 2.21", "runnel"),
    ("runnel", "TensorFlow 2.21"),
    ("Keras 3", "runnel"),
    ("runnel", "Keras 3"),
]
# Keras 3 writes weights to `.weights.h5` only.
NOT_WRITTEN = {("Keras 3", "weights"), ("Keras 3", "old_h5")}


def documented():
    """The table of the document: the cells of each row by its title."""
    rows = {}
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0] in ROWS.values():
            rows[cells[0]] = cells[1:]
    return rows


def test_everything_is_written(exchanged):
    assert exchanged["problems"] == {"runnel": {}, "TensorFlow 2.21": {}, "Keras 3": {}}


@pytest.mark.parametrize("kind", ROWS)
def test_files_are_understood_as_documented(kind, exchanged):
    tested, reasons = [], []
    for writer, reader in COLUMNS:
        grade, reason = exchanged["results"][writer, reader][kind]
        tested.append("not written" if (writer, kind) in NOT_WRITTEN else grade)
        reasons.append(reason)
    assert documented()[ROWS[kind]] == tested, reasons


def test_the_document_has_no_other_rows():
    text = DOCUMENT.read_text(encoding="utf-8")
    table = re.search(r"^\| file \|.*?\n\n", text, re.MULTILINE | re.DOTALL)
    assert table is not None
    titles = [line.split("|")[1].strip() for line in table.group().strip().splitlines()[2:]]
    assert titles == list(ROWS.values())


@pytest.mark.parametrize("name", ["TensorFlow 2.21", "Keras 3"])
def test_the_command_lists_the_originals_checkpoints(name, exchanged, capsys):
    from runnel.commands.checkpoint import main

    assert main([os.fspath(exchanged["folder"] / name / "module")]) == 0
    assert "module/parts/1/name  string" in capsys.readouterr().out
