"""`python -m runnel checkpoint`: list the tensors of a checkpoint, or compare two."""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterable

import numpy as np

from ..core.errors import OpError
from ..formats.tensor_bundle import BundleReader
from ..train.object_graph import GRAPH_KEY, VALUE
from ..train.state_file import latest_checkpoint
from . import plain

_ENDING = f"/.ATTRIBUTES/{VALUE}"
_UNITS = ("B", "KB", "MB", "GB", "TB")


def main(arguments: list[str]) -> int:
    """Do what the arguments ask for; the result is the exit code.

    As `diff` does: 0 for equal checkpoints, 1 for different ones, 2 for trouble.
    """
    options = _parser().parse_args(arguments)
    try:
        if options.diff is None:
            return _show(_open(options.checkpoint), options.full_names)
        first, second = options.diff
        return _compare(_open(first), _open(second), options.full_names)
    except BrokenPipeError:
        # Whoever reads, `head` for one, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (OpError, OSError, ValueError) as error:
        words = plain(str(getattr(error, "message", None) or error))
        print(f"runnel checkpoint: {words}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m runnel checkpoint",
        description="List the tensors of a checkpoint (name, dtype, shape, size), or compare two.",
        epilog="A checkpoint is given by its prefix (folder/ckpt-3), by one of its files, or by "
        "its folder, which means the latest in it.",
    )
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("checkpoint", nargs="?", metavar="CHECKPOINT", help="the checkpoint to list")
    what.add_argument(
        "--diff", nargs=2, metavar=("A", "B"), help="tell what differs between two checkpoints"
    )
    parser.add_argument(
        "--full-names",
        action="store_true",
        help=f"print names as the file has them, with their ending {_ENDING}",
    )
    return parser


def _open(path: str) -> BundleReader:
    """The checkpoint that a path on the command line means."""
    if os.path.isdir(path):
        latest = latest_checkpoint(path)
        if latest is None:
            raise ValueError(
                f"there is no checkpoint in {path}: it has no file 'checkpoint' that names one. "
                "Give the prefix of a checkpoint, such as "
                f"{os.path.join(path, 'ckpt-1')}."
            )
        return BundleReader(latest)
    if os.path.isfile(path):
        folder, name = os.path.split(path)
        path = os.path.join(folder, name.removesuffix(".index").partition(".data-")[0])
    return BundleReader(path)


def _names(checkpoint: BundleReader) -> list[str]:
    """The names of all tensors but the object graph, which is a message, not a value."""
    return [name for name in checkpoint.names() if name != GRAPH_KEY]


def _label(name: str, full: bool) -> str:
    return name if full else name.removesuffix(_ENDING)


def _shape(shape: list[int]) -> str:
    return f"({', '.join(map(str, shape))})"


def _size(count: int) -> str:
    """A number of bytes for people.

    >>> from runnel.commands.checkpoint import _size
    >>> _size(999), _size(123_456)
    ('999 B', '123.5 KB')
    """
    size = float(count)
    for unit in _UNITS:
        if size < 1000 or unit == _UNITS[-1]:
            break
        size /= 1000
    return f"{count} B" if unit == "B" else f"{size:.1f} {unit}"


def _table(rows: Iterable[tuple[str, ...]], right: int) -> str:
    """Rows in columns; the column numbered `right` is flush right."""
    kept = [tuple(plain(cell, kept="") for cell in row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    lines = []
    for row in kept:
        cells = [
            cell.rjust(width) if i == right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def _show(checkpoint: BundleReader, full: bool) -> int:
    names = _names(checkpoint)
    rows: list[tuple[str, ...]] = [("name", "dtype", "shape", "size")]
    total = elements = 0
    for name in names:
        size, shape = checkpoint.stored_bytes(name), checkpoint.shape(name)
        total += size
        elements += math.prod(shape)
        rows.append((_label(name, full), checkpoint.dtype(name).name, _shape(shape), _size(size)))
    print(f"checkpoint {plain(checkpoint.prefix)}")
    print(_table(rows, right=3))
    print(f"total: {len(names)} tensors, {elements:,} values, {_size(total)}")
    return 0


def _compare(first: BundleReader, second: BundleReader, full: bool) -> int:
    ours, theirs = set(_names(first)), set(_names(second))
    changed: list[tuple[str, ...]] = []
    equal = 0
    for name in sorted(ours & theirs):
        difference = _difference(first, second, name)
        if difference is None:
            equal += 1
        else:
            changed.append((_label(name, full), difference))
    print(f"A: {plain(first.prefix)}")
    print(f"B: {plain(second.prefix)}")
    for title, checkpoint, names in (("A", first, ours - theirs), ("B", second, theirs - ours)):
        if names:
            print(f"\nonly in {title}: {len(names)}")
            print(_table(((_label(n, full), *_kind(checkpoint, n)) for n in sorted(names)), -1))
    if changed:
        print(f"\nchanged: {len(changed)}")
        print(_table(changed, -1))
    print(f"\nequal: {equal}")
    return 0 if len(ours) == len(theirs) == equal else 1


def _kind(checkpoint: BundleReader, name: str) -> tuple[str, str]:
    return checkpoint.dtype(name).name, _shape(checkpoint.shape(name))


def _difference(first: BundleReader, second: BundleReader, name: str) -> str | None:
    """How the values of a tensor differ; None where they are equal, NaN with NaN too."""
    kinds = [_kind(each, name) for each in (first, second)]
    if kinds[0] != kinds[1]:
        return " -> ".join(f"{dtype} {shape}" for dtype, shape in kinds)
    one, other = first.read(name), second.read(name)
    if one.dtype == object:
        count = int(np.sum(one != other))
        return f"{count} of {one.size} strings differ" if count else None
    if one.tobytes() == other.tobytes():
        return None
    if one.dtype.kind not in "fcV":
        different = one != other
        # Python's integers: differences of unsigned or narrow ones would wrap around.
        pairs = zip(one[different].tolist(), other[different].tolist(), strict=True)
        largest = max(abs(a - b) for a, b in pairs)
        return f"{int(different.sum())} of {one.size} differ, by at most {largest}"
    wide = np.complex128 if one.dtype.kind == "c" else np.float64
    one, other = one.astype(wide), other.astype(wide)
    both_nan = np.isnan(one) & np.isnan(other)
    different = (one != other) & ~both_nan
    if not different.any():
        return None
    with np.errstate(invalid="ignore", over="ignore"):
        largest = np.abs(one - other)[different].max()
    return f"{int(different.sum())} of {one.size} differ, by at most {largest:.6g}"
