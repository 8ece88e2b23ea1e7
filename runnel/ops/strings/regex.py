"""Regular expressions in RE2's syntax: full matches, and replacement."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

from ...core.op import execute, op
from ...core.shape_rules import dimensions_text, unchanged
from ...core.shapes import TensorShape
from .elements import as_bytes, each, measured, text
from .regex_syntax import InvalidPattern, translate


class Expression:
    """A pattern ready for use on bytes that hold UTF-8."""

    def __init__(self, pattern: bytes) -> None:
        try:
            piece, self.groups = translate(pattern.decode())
            self._narrow = re.compile(piece.narrow.encode())
            self._wide = re.compile(piece.wide)
        except UnicodeDecodeError:
            raise ValueError(f"Invalid pattern: {pattern!r}, error: invalid UTF-8") from None
        except InvalidPattern as failure:
            shown = pattern.decode()
            raise ValueError(f"Invalid pattern: {shown}, error: {failure}") from None
        except (re.error, RecursionError, OverflowError) as failure:
            shown = pattern.decode()
            raise ValueError(f"Invalid pattern: {shown}, error: {failure}") from None
        self._may_be_empty = piece.may_be_empty
        self._bytewise = piece.bytewise and not piece.may_be_empty
        ascii_only = piece.characters and all(high < 0x80 for _, high in piece.characters)
        self._characters = (
            bytes(code for low, high in piece.characters or () for code in range(low, high + 1))
            if ascii_only
            else None
        )

    def matches(self, string: bytes) -> bool:
        """Whether the whole string matches."""
        if self._bytewise or string.isascii():
            return self._narrow.fullmatch(string) is not None
        return self._wide.fullmatch(_decoded(string)) is not None

    def replacer(self, rewrite: bytes, everywhere: bool):
        """The function that replaces the matches in a string."""
        parts, complete = _parsed_rewrite(rewrite)
        if any(isinstance(part, int) and part > self.groups for part in parts):
            return bytes
        if not everywhere and not complete:
            return bytes
        literal = b"".join(parts) if all(isinstance(part, bytes) for part in parts) else None
        if everywhere and self._characters is not None and literal is not None:
            if not literal:
                characters = self._characters
                return lambda string: string.translate(None, characters)
            if len(literal) == 1:
                table = bytes.maketrans(self._characters, literal * len(self._characters))
                return lambda string: string.translate(table)
        return self._general_replacer(parts, literal, everywhere)

    def _general_replacer(self, parts, literal, everywhere):
        narrow = _template(parts, literal, b"")
        wide = _template([_decoded(p) if isinstance(p, bytes) else p for p in parts], None, "")
        search_narrow, search_wide = self._narrow, self._wide
        if everywhere and self._may_be_empty:

            def replace(string):
                if string.isascii():
                    return _replace_all(search_narrow, narrow, string)
                return _encoded(_replace_all(search_wide, wide, _decoded(string)))

            return replace
        count = 0 if everywhere else 1
        bytewise = self._bytewise
        if literal is not None:
            # As text, not as a function: then all is done by the expression's own code.
            narrow = literal.replace(b"\\", rb"\\")
            wide = _decoded(narrow)

        def replace_nonempty(string):
            if bytewise or string.isascii():
                return search_narrow.sub(narrow, string, count)
            return _encoded(search_wide.sub(wide, _decoded(string), count))

        return replace_nonempty


def _replace_all(expression, rewritten, string):
    """All matches replaced; an empty one right after another match does not count."""
    pieces = []
    position, last_end, size = 0, -1, len(string)
    while position <= size:
        found = expression.search(string, position)
        if found is None:
            break
        start, end = found.span()
        pieces.append(string[position:start])
        if start == end == last_end:
            pieces.append(string[start : start + 1])
            position = start + 1
            continue
        pieces.append(rewritten(found))
        position = last_end = end
        if start == end:
            pieces.append(string[end : end + 1])
            position = end + 1
    pieces.append(string[position:])
    return string[:0].join(pieces)


def _template(parts, literal, empty):
    """The function of a match that gives its replacement."""
    if literal is not None:
        return lambda found: literal
    return lambda found: empty.join(
        [(found.group(part) or empty) if isinstance(part, int) else part for part in parts]
    )


def _parsed_rewrite(rewrite):
    r"""Literal parts and numbers of groups (\0 to \9); False if an unknown escape ended it."""
    parts: list[bytes | int] = []
    position = 0
    while position < len(rewrite):
        before, backslash, after = rewrite[position:].partition(b"\\")
        parts.append(before)
        position += len(before) + 2
        if backslash:
            if after[:1].isdigit():
                parts.append(int(after[:1]))
            elif after[:1] == b"\\":
                parts.append(b"\\")
            else:
                return parts, False
    return parts, True


def _decoded(string):
    return string.decode(errors="surrogateescape")


def _encoded(string):
    return string.encode(errors="surrogateescape")


@lru_cache(maxsize=256)
def expression(pattern: bytes) -> Expression:
    """The compiled form of a pattern; ValueError if RE2 would not take it."""
    return Expression(pattern)


@lru_cache(maxsize=256)
def _replacer(pattern, rewrite, everywhere):
    return expression(pattern).replacer(rewrite, everywhere)


@op("StaticRegexFullMatch", "input: string -> output: bool", shape=unchanged, gradient=None)
def StaticRegexFullMatch(input, *, pattern):
    return measured(expression(pattern).matches, input, np.bool_)


def _scalar(array, name):
    if array.ndim:
        shape = dimensions_text(TensorShape(array.shape))
        raise ValueError(f"{name} must be scalar, but received {shape}")
    return array[()]


def _scalar_patterns(inputs, attrs):
    for tensor, name in zip(inputs[1:], ("Pattern", "Rewrite"), strict=False):
        if tensor.shape.rank:
            raise ValueError(f"{name} must be scalar, but received {dimensions_text(tensor.shape)}")
    return inputs[0].shape


@op(
    "RegexFullMatch",
    "input: string, pattern: string -> output: bool",
    shape=_scalar_patterns,
    gradient=None,
)
def RegexFullMatch(input, pattern):
    return measured(expression(_scalar(pattern, "Pattern")).matches, input, np.bool_)


def regex_full_match(input, pattern, name=None):
    r"""Whether each string as a whole matches a regular expression (RE2's syntax).

    >>> tf.strings.regex_full_match(["TF lib", "lib TF"], ".*lib$").numpy()
    array([ True, False])
    """
    if isinstance(pattern, str | bytes):
        attrs = {"pattern": as_bytes(pattern, "pattern")}
        return execute(StaticRegexFullMatch, (text(input),), attrs)
    return execute(RegexFullMatch, (text(input), text(pattern)))


@op("StaticRegexReplace", "input: string -> output: string", shape=unchanged, gradient=None)
def StaticRegexReplace(input, *, pattern, rewrite, replace_global=True):
    return each(_replacer(pattern, rewrite, replace_global), input)


@op(
    "RegexReplace",
    "input: string, pattern: string, rewrite: string -> output: string",
    shape=_scalar_patterns,
    gradient=None,
)
def RegexReplace(input, pattern, rewrite, *, replace_global=True):
    pattern, rewrite = _scalar(pattern, "Pattern"), _scalar(rewrite, "Rewrite")
    return each(_replacer(pattern, rewrite, replace_global), input)


def regex_replace(input, pattern, rewrite, replace_global=True, name=None):
    r"""The matches of a regular expression (RE2's syntax) replaced; \1 is the first group, \0 all.

    >>> tf.strings.regex_replace("Text with tags.<br /><b>contains html</b>", "<[^>]+>", " ")
    <tf.Tensor: shape=(), dtype=string, numpy=b'Text with tags.  contains html '>
    """
    if not isinstance(replace_global, bool | np.bool_):
        raise TypeError(f"Expected bool for argument 'replace_global' not {replace_global!r}.")
    attrs = {"replace_global": bool(replace_global)}
    if isinstance(pattern, str | bytes) and isinstance(rewrite, str | bytes):
        attrs["pattern"] = as_bytes(pattern, "pattern")
        attrs["rewrite"] = as_bytes(rewrite, "rewrite")
        return execute(StaticRegexReplace, (text(input),), attrs)
    return execute(RegexReplace, (text(input), text(pattern), text(rewrite)), attrs)
