"""Doctests see Runnel as `tf`, so that every example reads as a TensorFlow program does."""

import pytest


@pytest.fixture(autouse=True)
def _tf_in_doctests(doctest_namespace: dict[str, object]) -> None:
    import numpy as np

    import runnel

    doctest_namespace["tf"] = runnel
    doctest_namespace["np"] = np
