"""Parsing of records, with TensorFlow 1's arguments."""

from __future__ import annotations

import runnel as tf


def decode_csv(
    records,
    record_defaults,
    field_delim=",",
    use_quote_delim=True,
    name=None,
    na_value="",
    select_cols=None,
):
    """The columns of CSV lines, one tensor for each."""
    return tf.io.decode_csv(
        records, record_defaults, field_delim, use_quote_delim, na_value, select_cols
    )


def decode_raw(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The numbers encoded in strings of bytes."""
    given = bytes if input_bytes is None else input_bytes
    if given is None or out_type is None:
        raise ValueError("Must specify `input_bytes` and `out_type`.")
    return tf.io.decode_raw(given, out_type, little_endian)


def parse_example(serialized, features, name=None, example_names=None):
    """The features of serialized Example messages, as tensors."""
    return tf.io.parse_example(serialized, features, example_names)


def parse_single_example(serialized, features, name=None, example_names=None):
    """The features of one serialized Example message, as tensors."""
    return tf.io.parse_single_example(serialized, features, example_names)
