"""Unicode: decoding to code points and encoding, transcoding, scripts."""

from __future__ import annotations

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import int32, int64
from ...core.op import execute, op
from ...core.shape_rules import require_rank, unchanged
from ...core.shapes import TensorShape
from ..array.arguments import INDEX, require_choice
from ..array.creation import range as range_of
from ..array.joining import stack
from ..array.shaping import reshape, shape as shape_of, size
from .elements import each, filled, is_ragged, text
from .encodings import Decoder, code_points, encodable, encoded, encodings_of_output
from .split import into_rows
from .unicode_scripts import script_numbers


def _attrs(errors, replacement_char, op_name, **others):
    require_choice(op_name, "errors", errors, ("strict", "replace", "ignore"))
    if "output_encoding" in others:
        found, known = others["output_encoding"], encodings_of_output()
        require_choice(op_name, "output_encoding", found, known)
    return {"errors": errors, "replacement_char": int(replacement_char), **others}


# Decoding.


def _decoded_shapes(count):
    def rule(inputs, attrs):
        require_rank(inputs[0], 1, "input")
        rows = inputs[0].shape[0] if inputs[0].shape.rank else None
        splits = TensorShape([None if rows is None else rows + 1])
        return [splits, *[TensorShape([None])] * count]

    return rule


@op(
    "UnicodeDecode",
    "input: string -> row_splits: Tsplits, char_values: int32",
    shape=_decoded_shapes(1),
    gradient=None,
)
def UnicodeDecode(
    input,
    *,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    Tsplits=int64,
):
    decoder = Decoder(input_encoding, errors, replacement_char, replace_control_characters)
    texts = [decoder.text(string) for string in input.ravel().tolist()]
    return _splits(texts, Tsplits), code_points("".join(texts))


@op(
    "UnicodeDecodeWithOffsets",
    "input: string -> row_splits: Tsplits, char_values: int32, char_to_byte_starts: int64",
    shape=_decoded_shapes(2),
    gradient=None,
)
def UnicodeDecodeWithOffsets(
    input,
    *,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    Tsplits=int64,
):
    decoder = Decoder(input_encoding, errors, replacement_char, replace_control_characters)
    pairs = [decoder.text_and_offsets(string) for string in input.ravel().tolist()]
    texts = [text for text, _ in pairs]
    offsets = [offset for _, each_offsets in pairs for offset in each_offsets]
    codes = code_points("".join(texts))
    return _splits(texts, Tsplits), codes, np.array(offsets, np.int64)


def _splits(rows, dtype):
    result = np.zeros(len(rows) + 1, dtype.numpy)
    np.cumsum([len(row) for row in rows], out=result[1:])
    return result


def _decode(input, attrs, name, with_offsets):
    from ..ragged.ragged_tensor import RaggedTensor

    operation = UnicodeDecodeWithOffsets if with_offsets else UnicodeDecode

    def cut(strings):
        splits, *parts = execute(operation, (strings,), attrs)
        return [RaggedTensor.from_row_splits(part, splits, validate=False) for part in parts]

    return into_rows(convert_to_tensor(input), cut, name)


def unicode_decode(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """The code points of each string, as a ragged tensor.

    >>> tf.strings.unicode_decode(["G\\u00f6\\u00f6dnight", "\\U0001f60a"], "UTF-8").to_list()
    [[71, 246, 246, 100, 110, 105, 103, 104, 116], [128522]]
    """
    attrs = _attrs(
        errors, replacement_char, "UnicodeDecode", input_encoding=input_encoding,
        replace_control_characters=bool(replace_control_characters),
    )  # fmt: skip
    return _decode(input, attrs, "unicode_decode", False)[0]


def unicode_decode_with_offsets(
    input,
    input_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """The code points of each string, and the byte offset of each.

    >>> codes, offsets = tf.strings.unicode_decode_with_offsets(["\\u00f6dn"], "UTF-8")
    >>> offsets.to_list()
    [[0, 2, 3]]
    """
    attrs = _attrs(
        errors, replacement_char, "UnicodeDecodeWithOffsets", input_encoding=input_encoding,
        replace_control_characters=bool(replace_control_characters),
    )  # fmt: skip
    return tuple(_decode(input, attrs, "unicode_decode_with_offsets", True))


# Encoding.


def _encoded_shape(inputs, attrs):
    values, splits = inputs
    require_rank(values, 1, "input_values")
    require_rank(splits, 1, "input_splits")
    bounds = splits.shape[0] if splits.shape.rank else None
    return TensorShape([None if bounds is None else bounds - 1])


@op(
    "UnicodeEncode",
    "input_values: int32, input_splits: Tsplits -> output: string",
    Tsplits=INDEX,
    shape=_encoded_shape,
    gradient=None,
)
def UnicodeEncode(
    input_values, input_splits, *, output_encoding, errors="replace", replacement_char=65533
):
    bounds = input_splits.tolist()
    if not bounds or bounds[0] != 0 or bounds[-1] != len(input_values):
        raise ValueError(
            "The row splits must go from 0 to the number of code points "
            f"({len(input_values)}), got {bounds}"
        )
    strings = encoded(input_values, bounds, output_encoding, errors, replacement_char)
    return filled(strings, (len(strings),))


def unicode_encode(input, output_encoding, errors="replace", replacement_char=65533, name=None):
    """Strings from the code points along the last axis.

    >>> tf.strings.unicode_encode([[71, 246, 246], [128522, 33, 33]], "UTF-8").numpy().tolist()
    [b'G\\xc3\\xb6\\xc3\\xb6', b'\\xf0\\x9f\\x98\\x8a!!']
    """
    attrs = _attrs(errors, replacement_char, "UnicodeEncode", output_encoding=output_encoding)
    return _encode(convert_to_tensor(input), attrs)


def _encode(codes, attrs):
    if is_ragged(codes):
        if is_ragged(codes.values) or codes.values.shape.rank != 1:
            return codes.with_values(_encode(codes.values, attrs))
        return execute(UnicodeEncode, (codes.values, codes.row_splits), attrs)
    rank = codes.shape.rank
    if rank is None:
        raise ValueError("tf.strings.unicode_encode needs an input whose rank is known.")
    if rank == 0:
        raise ValueError("input_tensor's rank must be at least 1.")
    if rank == 1:
        splits = stack([convert_to_tensor(0, int32), size(codes)])
        return reshape(execute(UnicodeEncode, (codes, splits), attrs), [])
    sizes = shape_of(codes, out_type=int64)
    flat = reshape(codes, [-1])
    last = sizes[-1]
    rows = 1
    for axis in range(rank - 1):
        rows = sizes[axis] * rows
    splits = range_of(rows + 1) * last
    result = reshape(execute(UnicodeEncode, (flat, splits), attrs), sizes[:-1])
    result.set_shape(codes.shape[:-1])
    return result


# Splitting into characters.


def _split_characters(input, encoding, errors, replacement_char, name, with_offsets):
    operation = "UnicodeDecodeWithOffsets" if with_offsets else "UnicodeDecode"
    decoding = _attrs(errors, replacement_char, operation, input_encoding=encoding)
    encoding_attrs = _attrs(errors, replacement_char, "UnicodeEncode", output_encoding=encoding)
    codes, *offsets = _decode(input, decoding, name, with_offsets)
    flat = codes.flat_values if is_ragged(codes) else codes
    splits = range_of(size(flat, out_type=int64) + 1)
    characters = execute(UnicodeEncode, (flat, splits), encoding_attrs)
    if is_ragged(codes):
        characters = codes.with_flat_values(characters)
    return [characters, *offsets]


def unicode_split(input, input_encoding, errors="replace", replacement_char=65533, name=None):
    """The characters of each string, as a ragged tensor of strings.

    >>> tf.strings.unicode_split(["G\\u00f6d"], "UTF-8").to_list()
    [[b'G', b'\\xc3\\xb6', b'd']]
    """
    return _split_characters(
        input, input_encoding, errors, replacement_char, "unicode_split", False
    )[0]


def unicode_split_with_offsets(
    input, input_encoding, errors="replace", replacement_char=65533, name=None
):
    """The characters of each string, and the byte offset of each.

    >>> characters, offsets = tf.strings.unicode_split_with_offsets(["G\\u00f6d"], "UTF-8")
    >>> offsets.to_list()
    [[0, 1, 3]]
    """
    name = "unicode_split_with_offsets"
    return tuple(_split_characters(input, input_encoding, errors, replacement_char, name, True))


# Strings to strings, integers to integers.


@op("UnicodeTranscode", "input: string -> output: string", shape=unchanged, gradient=None)
def UnicodeTranscode(
    input,
    *,
    input_encoding,
    output_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
):
    written = encodable(replacement_char, output_encoding)
    decoder = Decoder(input_encoding, errors, written, replace_control_characters)
    return each(lambda string: decoder.text(string).encode(output_encoding, "surrogatepass"), input)


def unicode_transcode(
    input,
    input_encoding,
    output_encoding,
    errors="replace",
    replacement_char=65533,
    replace_control_characters=False,
    name=None,
):
    """Each string transcoded to another encoding.

    >>> tf.strings.unicode_transcode(["Hello", "TF"], "UTF-8", "UTF-16-BE").numpy().tolist()
    [b'\\x00H\\x00e\\x00l\\x00l\\x00o', b'\\x00T\\x00F']
    """
    attrs = _attrs(
        errors, replacement_char, "UnicodeTranscode", input_encoding=input_encoding,
        output_encoding=output_encoding,
        replace_control_characters=bool(replace_control_characters),
    )  # fmt: skip
    return execute(UnicodeTranscode, (text(input),), attrs)


@op("UnicodeScript", "input: int32 -> output: int32", shape=unchanged, gradient=None)
def UnicodeScript(input):
    return script_numbers(np.asarray(input))


def unicode_script(input, name=None):
    """ICU's number of the script of each code point; -1 for none.

    >>> tf.strings.unicode_script([1, 31, 38]).numpy()
    array([0, 0, 0], dtype=int32)
    """
    return execute(UnicodeScript, (convert_to_tensor(input),))
