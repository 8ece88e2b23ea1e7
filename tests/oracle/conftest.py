"""Notes which ops the tests of random numbers compute: these cannot go through compare.check."""

import pytest
from compare import COMPUTED

from runnel.core.context import state

_WITHOUT_CHECK = {"test_random", "test_random_generator", "test_candidate_sampling"}


class _Noting:
    def record(self, op, *operation):
        COMPUTED.add(op.name)

    def variable_read(self, variable):
        """Reading a variable is no op here."""


@pytest.fixture(autouse=True)
def _note_ops(request):
    if request.module.__name__ not in _WITHOUT_CHECK:
        yield
        return
    outer, state.tapes = state.tapes, (*state.tapes, _Noting())
    yield
    state.tapes = outer
