"""What the tests of engines share: either engine, and the default one again afterwards."""

import os

import pytest

from runnel import engines
from runnel.engines.onednn import library


@pytest.fixture(autouse=True)
def default_engine():
    yield
    engines.use(os.environ.get("RUNNEL_ENGINE", "onednn"))


@pytest.fixture
def outrun(monkeypatch):
    """Says whether oneDNN outruns BLAS, whatever the processor."""
    from runnel.engines.onednn import matmul

    return lambda does: monkeypatch.setattr(matmul, "outruns_blas", lambda: does)


@pytest.fixture(params=["onednn", "numpy"])
def engine(request):
    if request.param == "onednn" and library.load() is None:
        pytest.skip("oneDNN's library is not there")
    engines.use(request.param)
    return request.param
