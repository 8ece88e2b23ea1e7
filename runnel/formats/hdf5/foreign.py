"""HDF5 files with structures that Keras does not write: converted to the plain form by h5py.

libhdf5 can crash or hang on a corrupt file, so a separate process with resource limits does this.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from tempfile import TemporaryDirectory

from .source import DamagedFile

_SECONDS = 8
_BYTES_PER_SECOND = 20 << 20
_MEMORY = 1 << 30


@contextlib.contextmanager
def plain_copy(where: str | bytes | memoryview, reason: str) -> Iterator[str]:
    """The path of a copy of an HDF5 file that contains plain groups and datasets only."""
    if not sys.executable:
        raise DamagedFile(f"it has {reason}, which is read with another Python process only")
    with TemporaryDirectory() as folder:
        path, copy = os.path.join(folder, "given.h5"), os.path.join(folder, "copy.h5")
        if isinstance(where, str):
            path = os.path.abspath(where)
        else:
            with open(path, "wb") as file:
                file.write(where)
        size = os.path.getsize(path)
        program = os.path.join(os.path.dirname(__file__), "copying.py")
        most = str(_MEMORY + 4 * size)
        seconds = _SECONDS + size / _BYTES_PER_SECOND
        try:
            done = subprocess.run(
                [sys.executable, "-I", program, path, copy, most],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise DamagedFile(f"it has {reason}, and libhdf5 does not come to an end") from None
        if done.returncode:
            words = done.stderr.strip().splitlines()[-1:] or [f"it ended with {done.returncode}"]
            raise DamagedFile(f"it has {reason}, and libhdf5 cannot read it: {words[0]}")
        yield copy
