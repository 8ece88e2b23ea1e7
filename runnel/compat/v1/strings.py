"""tf.compat.v1.strings: `tf.strings` with TensorFlow 1's arguments."""

import runnel as _tf

from . import older as _older

reduce_join = _older.reduce_join
substr = _older.substr
to_hash_bucket = _older.string_to_hash_bucket
to_number = _older.string_to_number


def length(input, name=None, unit="BYTE"):
    """The lengths of strings."""
    return _tf.strings.length(input, unit)


def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """Strings split at separators, as a sparse or a ragged tensor."""
    parts = _tf.strings.split(source if input is None else input, sep, maxsplit)
    return parts.to_sparse() if result_type == "SparseTensor" else parts


def __getattr__(name: str) -> object:
    return getattr(_tf.strings, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.strings)})
