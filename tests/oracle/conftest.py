"""Notes which ops the tests of random numbers compute: these cannot go through compare.check."""

import pytest
from compare import noted

_WITHOUT_CHECK = {"test_random", "test_random_generator", "test_candidate_sampling"}


@pytest.fixture(autouse=True)
def _note_ops(request):
    if request.module.__name__ in _WITHOUT_CHECK:
        with noted():
            yield
    else:
        yield
