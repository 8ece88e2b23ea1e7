"""Runs with several workers (`pytest -n`): who gets which files, and what they found together."""

from __future__ import annotations

from pathlib import Path

import pytest
import reached
from xdist.scheduler import LoadFileScheduling

# Their tests share one run of the original, which is made once by the worker that has them all.
TOGETHER = ("tests/interop/", "tests/saved_model/")


class FileScheduling(LoadFileScheduling):
    """A worker gets whole files, and folders whose files share what is slow to make."""

    def _split_scope(self, nodeid):
        for folder in TOGETHER:
            if nodeid.startswith(folder):
                return folder
        return super()._split_scope(nodeid)


class Worker:
    """Leaves the verdict on the whole run to the process that has the whole run."""

    def __init__(self):
        self.files = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config, items):
        self.files = sorted({item.path.name for item in items})
        items[:] = [item for item in items if item.path.name != reached.JUDGE]

    def pytest_sessionfinish(self, session):
        session.config.workeroutput["reached"] = {
            "files": self.files,
            "computed": sorted(reached.COMPUTED),
            "differentiated": sorted(reached.DIFFERENTIATED),
        }


class Starter:
    """Joins what the workers noted and reports the tests of reached.JUDGE."""

    def __init__(self):
        self.files = set()

    def pytest_xdist_make_scheduler(self, config, log):
        return FileScheduling(config, log)

    def pytest_testnodedown(self, node):
        found = getattr(node, "workeroutput", {}).get("reached")
        if found is not None:
            self.files.update(found["files"])
            reached.COMPUTED.update(found["computed"])
            reached.DIFFERENTIATED.update(found["differentiated"])

    def pytest_sessionfinish(self, session, exitstatus):
        whole = reached.JUDGE in self.files and reached.is_whole(self.files)
        if not whole or exitstatus != pytest.ExitCode.OK or session.config.option.keyword:
            return
        for name, missing in reached.VERDICTS.items():
            left = missing(self.files)
            path = str(Path("tests") / "oracle" / reached.JUDGE)
            report = pytest.TestReport(
                nodeid=f"{path}::{name}",
                location=(path, None, name),
                keywords={},
                outcome="failed" if left else "passed",
                longrepr=f"no comparison reaches {', '.join(left)}" if left else None,
                when="call",
            )
            session.config.hook.pytest_runtest_logreport(report=report)
            if left:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
