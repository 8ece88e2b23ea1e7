"""tf.print: prints the values of tensors when they are computed."""

from __future__ import annotations

import pprint
import sys

import numpy as np

from ..core import nest
from ..core.convert import convert_to_tensor, is_tensor
from ..core.dtypes import string
from ..core.op import WRITES_FILES, op
from ..core.shape_rules import nothing, scalar
from ..core.tensor import Tensor

# The placeholder for a tensor's text; a character that is never printed.
_PLACEHOLDER = "\uffff"
# Characters that are escaped in quoted strings, as in C.
_ESCAPES = str.maketrans(
    {chr(code): f"\\{code:03o}" for code in (*range(32), 127)}
    | {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "'": "\\'", "\\": "\\\\"}
)


@op(
    "StringFormat",
    "inputs: *T -> output: string",
    shape=scalar,
    gradient=None,
)
def StringFormat(inputs, *, template, placeholder=_PLACEHOLDER, summarize=3):
    pieces = template.split(placeholder)
    texts = [_array_text(np.asarray(array), summarize) for array in inputs]
    filled = "".join(a + b for a, b in zip(pieces, [*texts, ""], strict=True))
    return np.array(filled.encode(errors="surrogateescape"), dtype=object)


def _array_text(array, summarize):
    if array.ndim == 0:
        return _element_text(array[()]) if summarize else "..."
    if len(array) and not (array.size and summarize):
        return "[" + "\n" * (array.ndim - 1) + " ...]"
    return _rows_text(array, summarize, 1)


def _rows_text(array, summarize, depth):
    length = len(array)
    if summarize < 0 or length <= 2 * summarize:
        shown = list(range(length))
        cut = length
    else:
        shown = [*range(summarize), *range(length - summarize, length)]
        cut = summarize
    if array.ndim == 1:
        texts = [_element_text(array[i]) for i in shown]
        gap = " "
    else:
        texts = [_rows_text(array[i], summarize, depth + 1) for i in shown]
        gap = "\n" * (array.ndim - 1) + " " * depth
    if len(shown) < length:
        texts.insert(cut, "...")
    return "[" + gap.join(texts) + "]"


def _element_text(value):
    if isinstance(value, bytes):
        return '"' + value.decode(errors="surrogateescape").translate(_ESCAPES) + '"'
    if isinstance(value, np.bool_):
        return "1" if value else "0"
    if np.iscomplexobj(value):
        return "?"
    if isinstance(value, np.integer):
        return str(int(value))
    return _float_text(value)


def _float_text(value):
    """The fewest digits that round-trip: 6 or 9, or 15 or 17 in float64."""
    kind, few, many = (np.float64, 15, 17) if isinstance(value, np.float64) else (np.float32, 6, 9)
    number = float(value)
    text = f"{number:.{few}g}"
    return text if kind(text) == kind(number) or number != number else f"{number:.{many}g}"


def _effect_of_printing(attrs):
    return WRITES_FILES if isinstance(attrs["output_stream"], str) else None


@op(
    "PrintV2",
    "input: string",
    shape=nothing,
    gradient=None,
    stateful=True,
    effect=_effect_of_printing,
)
def PrintV2(input, *, output_stream=None, end="\n"):
    text = input[()].decode(errors="surrogateescape") + end
    if isinstance(output_stream, str):
        path = output_stream.removeprefix("file://")
        with open(path, "a", encoding="utf-8", errors="surrogateescape") as file:
            file.write(text)
    else:
        stream = sys.stderr if output_stream is None else output_stream
        try:
            stream.write(text)
        except UnicodeEncodeError:
            # Invalid UTF-8 is printed as \xff where the stream takes text only.
            stream.write(text.encode(errors="surrogateescape").decode(errors="backslashreplace"))
        stream.flush()
    return []


class _Hole:
    """A placeholder for a tensor while Python formats the structure around it."""

    def __repr__(self):
        return _PLACEHOLDER


def print(*inputs, **kwargs):
    """Print values and tensors, to standard error unless `output_stream` says otherwise.

    Tensors show `summarize` elements at each end of a dimension (3; -1 for all).

    >>> import sys
    >>> tf.print("sum:", tf.constant([1.5, 2.0]), output_stream=sys.stdout)
    sum: [1.5 2]
    """
    stream = kwargs.pop("output_stream", None)
    summarize = kwargs.pop("summarize", 3)
    separator = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {sorted(kwargs)}")
    if isinstance(stream, str) and not stream.startswith("file://"):
        raise ValueError(
            f"output_stream must be a stream such as sys.stdout or 'file://PATH', got {stream!r}."
        )
    if len(inputs) == 1 and _is_lone_string(inputs[0]):
        text = inputs[0]
    else:
        parts = [_template(value) for value in inputs]
        text = StringFormat(
            [tensor for _, tensors in parts for tensor in tensors],
            template=separator.join(template for template, _ in parts),
            summarize=3 if summarize is None else summarize,
        )
    # The top-level graph returns the operation, for a session to run.
    return PrintV2(text, output_stream=stream, end=end or "") or None


def _is_lone_string(value):
    return isinstance(value, Tensor) and value.dtype is string and value.shape.rank == 0


def _template(value):
    """The format of a value, with placeholders for its tensors; and these tensors."""
    if isinstance(value, str):
        return value, []
    tensors = []

    def hole(leaf):
        if not is_tensor(leaf):
            return leaf
        tensors.append(convert_to_tensor(leaf))
        return _Hole()

    return pprint.pformat(nest.map_structure(hole, value)), tensors
