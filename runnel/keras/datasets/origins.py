"""URLs and hashes of the datasets, and safe loading."""

from __future__ import annotations

import io
import pickle
from typing import Any, NamedTuple

import numpy as np

from ..utils.files import get_file


class Origin(NamedTuple):
    """The URL of a file, and its hash if published."""

    url: str
    file_hash: str | None = None


_BASE = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/"

ORIGINS = {
    "mnist.npz": Origin(
        _BASE + "mnist.npz", "731c5ac602752760c8e48fbffcf8c3b850d9dc2a2aedcf2cc48468fc17b673d1"
    ),
    "train-labels-idx1-ubyte.gz": Origin(_BASE + "train-labels-idx1-ubyte.gz"),
    "train-images-idx3-ubyte.gz": Origin(_BASE + "train-images-idx3-ubyte.gz"),
    "t10k-labels-idx1-ubyte.gz": Origin(_BASE + "t10k-labels-idx1-ubyte.gz"),
    "t10k-images-idx3-ubyte.gz": Origin(_BASE + "t10k-images-idx3-ubyte.gz"),
    "cifar-10-batches-py": Origin(
        "https://www.cs.toronto.edu/~kriz/cifar-10-python.tar.gz",
        "6d958be074577803d12ecdefd02955f39262c83c16fe9348329d7fe0b5c001ce",
    ),
    "cifar-100-python": Origin(
        "https://www.cs.toronto.edu/~kriz/cifar-100-python.tar.gz",
        "85cd44d02ba6437773c5bbd22e183051d648de2e7d6b014e1ef29b855ba677a7",
    ),
    "imdb.npz": Origin(
        _BASE + "imdb.npz", "69664113be75683a8fe16e3ed0ab59fda8886cb3cd7ada244f7d9544e4676b9f"
    ),
    "imdb_word_index.json": Origin(
        _BASE + "imdb_word_index.json", "bfafd718b763782e994055a2d397834f"
    ),
    "reuters.npz": Origin(
        _BASE + "reuters.npz", "d6586e694ee56d7a4e65172e12b3e987c03096cb01eab99753921ef915959916"
    ),
    "reuters_word_index.json": Origin(
        _BASE + "reuters_word_index.json", "4d44cc38712099c9e383dc6e5f11a921"
    ),
    "boston_housing.npz": Origin(
        _BASE + "boston_housing.npz",
        "f553886a1f8d56431e820c5b82552d9d95cfcb96d1e678153f8839538947dff5",
    ),
    "california_housing.npz": Origin(
        _BASE + "california_housing.npz",
        "1a2e3a52e0398de6463aebe6f4a8da34fb21fbb6b934cf88c3425e766f2a1a6f",
    ),
}


def fetch(name: str, path: Any = None, **kwargs: Any) -> str:
    """The path of a dataset's file in the cache, downloaded if necessary.

    `path` is the name in the cache, by default its own.
    """
    origin = ORIGINS[name]
    return get_file(path or name, origin=origin.url, file_hash=origin.file_hash, **kwargs)


class _ArraysOnly(pickle.Unpickler):
    """An unpickler for plain values and NumPy arrays; rejects all that could run code."""

    def find_class(self, module: str, name: str) -> Any:
        if name == "_reconstruct" and module in (
            "numpy.core.multiarray",
            "numpy._core.multiarray",
        ):
            return np.empty(0).__reduce__()[0]
        if module == "numpy" and name in ("ndarray", "dtype"):
            return getattr(np, name)
        if (module, name) == ("_codecs", "encode"):
            # How Python 3 pickles bytes in older protocols.
            return lambda text, encoding: text.encode(encoding)
        raise pickle.UnpicklingError(
            f"{module}.{name} does not belong into a file of arrays; the file is not what it "
            "claims to be. Remove it from the cache to download it again."
        )


def read_pickle(path: str) -> dict[str, Any]:
    """Load the dict in a CIFAR pickle, with its keys as str."""
    with open(path, "rb") as file:
        content = _ArraysOnly(io.BytesIO(file.read()), encoding="bytes").load()
    return {
        key.decode("utf8") if isinstance(key, bytes) else key: value
        for key, value in content.items()
    }
