"""Tensors of checkpoints as results of an operation, read when it runs."""

from __future__ import annotations

import numpy as np

from ..core.errors import InvalidArgumentError, NotFoundError
from ..core.op import READS_FILES, op
from ..core.shape_rules import UNKNOWN
from ..formats.paths import local
from .io import only


def _unknown_shapes(inputs, attrs):
    return [UNKNOWN] * len(attrs["dtypes"])


@op(
    "RestoreV2",
    "prefix: string, tensor_names: string, shape_and_slices: string -> tensors: *dtypes",
    shape=_unknown_shapes,
    gradient=None,
    effect=READS_FILES,
)
def RestoreV2(prefix, tensor_names, shape_and_slices, *, dtypes):
    from ..formats.tensor_bundle import BundleReader

    bundle = BundleReader(local(only(prefix, "prefix")))
    results = []
    for name, part, dtype in zip(tensor_names, shape_and_slices, dtypes, strict=True):
        key = name.decode()
        if part:
            raise InvalidArgumentError(
                None, None, f"shape_and_slices asks for a part of {key}: {part!r}. Whole tensors "
                "are restored only: leave it empty.",
            )  # fmt: skip
        if key not in bundle:
            raise NotFoundError(None, None, f"Key {key} not found in checkpoint")
        if bundle.dtype(key) is not dtype:
            raise InvalidArgumentError(
                None, None, f"The tensor {key} is {bundle.dtype(key).name} in the checkpoint, not "
                f"{dtype.name}.",
            )  # fmt: skip
        results.append(np.asarray(bundle.read(key)))
    return results
