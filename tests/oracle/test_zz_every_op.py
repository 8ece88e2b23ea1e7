"""Every op was computed, and every differentiable one differentiated, in some comparison.

The tests of this folder fill COMPUTED and DIFFERENTIATED; this file runs last, and only judges a
run that had all of them. In a run with workers tests/workers.py asks the same.
"""

from pathlib import Path

import pytest
from reached import is_whole, never_computed, never_differentiated


@pytest.fixture
def files(request):
    found = {Path(str(item.fspath)).name for item in request.session.items}
    if not is_whole(found) or request.config.option.keyword or request.session.testsfailed:
        pytest.skip("only a whole run without failures says which ops are covered")
    return found


def test_every_op_is_computed(files):
    assert never_computed(files) == []


def test_every_gradient_is_compared(files):
    assert never_differentiated(files) == []
