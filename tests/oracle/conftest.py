"""Notes the ops of tests that cannot go through compare.check: random numbers and printing."""

import pytest
from compare import noted

_WITHOUT_CHECK = {
    "test_candidate_sampling",
    "test_printing",
    "test_random",
    "test_random_generator",
}


@pytest.fixture(autouse=True)
def _note_ops(request):
    if request.module.__name__ in _WITHOUT_CHECK:
        with noted():
            yield
    else:
        yield
