"""The profile of a trace."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any

from ..core.logger import get_logger
from ..profiler import experimental as profiler


class Profiling:
    """The active profiler of a trace.

    TensorFlow 2.21 takes the folder at the start; older programs specify it at export. Until it is
    known, the profile is written to a temporary folder.
    """

    def __init__(self, folder: Any) -> None:
        self._folder = None if folder is None else os.fspath(folder)
        self._temporary = tempfile.mkdtemp(prefix="profile") if folder is None else None
        profiler.start(self._folder or self._temporary or "")

    def export(self, folder: Any = None) -> None:
        """End the profile, and store it in the folder."""
        if self._folder is not None:
            if folder is not None:
                get_logger().warning(
                    "Ignoring `profiler_outdir` passed to trace_export(). Please pass it to "
                    "trace_on() instead."
                )
            profiler.stop()
            return
        profiler.stop(save=folder is not None)
        if folder is None:
            get_logger().warning(
                "The profile is lost: no `profiler_outdir` was passed to trace_on() or "
                "trace_export()."
            )
        else:
            shutil.copytree(self._temporary or "", os.fspath(folder), dirs_exist_ok=True)
        self._remove()

    def stop(self) -> None:
        """End the profile, and discard it."""
        profiler.stop(save=False)
        self._remove()

    def _remove(self) -> None:
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)
