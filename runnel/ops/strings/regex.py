"""Regular expressions in RE2's syntax: full matches, and replacement."""

from __future__ import annotations

import re
import sys
from functools import cache, lru_cache
from typing import Any

import numpy as np

from ...core.op import execute, op
from ...core.shape_rules import dimensions_text, unchanged
from ...core.shapes import TensorShape
from .elements import as_bytes, each, measured, text
from .linear_matching import Program, TooLarge
from .regex_syntax import InvalidPattern, Piece, SingleBytes, translate


class Expression:
    """A compiled pattern for bytes that hold UTF-8.

    Simple patterns are matched by Python's `re`, which is fastest where it needs little
    backtracking. All others go to RE2 itself, or where its package is not installed, to
    `linear_matching`: both run in linear time.
    """

    def __init__(self, pattern: bytes) -> None:
        try:
            piece, self.groups = translate(pattern.decode())
        except UnicodeDecodeError:
            raise _invalid(pattern, "invalid UTF-8") from None
        except (SingleBytes, RecursionError) as failure:
            piece = None
            self._engine: Any = _compiled_by_re2(pattern)
            if self._engine is None:
                raise _invalid(pattern, str(failure)) from None
            self.groups = self._engine.groups
        except InvalidPattern as failure:
            # RE2's newer versions accept more than the original's.
            raise _invalid(pattern, str(failure)) from None
        self._may_be_empty = piece is None or piece.may_be_empty
        self._bytewise = piece is not None and piece.bytewise and not piece.may_be_empty
        self._characters = None if piece is None else _ascii_characters(piece)
        # Shorter strings than these are matched and searched by `re`.
        self._match_limit = self._search_limit = 0
        if piece is None:
            return
        self._match_limit, self._search_limit = piece.limit_of_re(False), piece.limit_of_re(True)
        if self._match_limit or self._search_limit:
            self._narrow = re.compile(piece.narrow.encode())
            self._wide = re.compile(piece.wide)
        if min(self._match_limit, self._search_limit) < sys.maxsize:
            self._engine = _compiled_by_re2(pattern)
            if self._engine is None:
                try:
                    self._engine = Program(piece.node, self.groups)
                except (TooLarge, RecursionError) as failure:
                    raise _invalid(pattern, str(failure)) from None

    def matches(self, string: bytes) -> bool:
        """Whether the whole string matches."""
        if len(string) >= self._match_limit:
            if isinstance(self._engine, Program):
                return self._engine.matches(_decoded(string))
            return self._engine.fullmatch(string) is not None
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

    def _engine_replacer(self, parts, literal, everywhere):
        engine = self._engine
        if isinstance(engine, Program):
            wide = _template([_decoded(p) if isinstance(p, bytes) else p for p in parts], None, "")
            return lambda string: _encoded(
                _replace_all(engine, wide, _decoded(string), _one, everywhere)
            )
        narrow = _template(parts, literal, b"")
        return lambda string: _replace_all(engine, narrow, string, _length_at, everywhere)

    def _general_replacer(self, parts, literal, everywhere):
        limit = self._search_limit
        if not limit:
            return self._engine_replacer(parts, literal, everywhere)
        by_re = self._replacer_by_re(parts, literal, everywhere)
        if limit == sys.maxsize:
            return by_re
        by_engine = self._engine_replacer(parts, literal, everywhere)
        return lambda string: by_re(string) if len(string) < limit else by_engine(string)

    def _replacer_by_re(self, parts, literal, everywhere):
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
            # As a string, not as a function: then it all runs in the expression's compiled code.
            narrow = literal.replace(b"\\", rb"\\")
            wide = _decoded(narrow)

        def replace_nonempty(string):
            if bytewise or string.isascii():
                return search_narrow.sub(narrow, string, count)
            return _encoded(search_wide.sub(wide, _decoded(string), count))

        return replace_nonempty


def _replace_all(expression, rewritten, string, length_at=None, everywhere=True):
    """All matches replaced; an empty one directly after another match is skipped."""
    length_at = length_at or _one
    pieces = []
    position, last_end, size = 0, -1, len(string)
    while position <= size:
        found = expression.search(string, position)
        if found is None:
            break
        start, end = found.span()
        pieces.append(string[position:start])
        if start == end == last_end:
            position = start + length_at(string, start)
            pieces.append(string[start:position])
            continue
        pieces.append(rewritten(found))
        position = last_end = end
        if not everywhere:
            break
        if start == end:
            position = end + length_at(string, end)
            pieces.append(string[end:position])
    pieces.append(string[position:])
    return string[:0].join(pieces)


def _one(string, position):
    return 1


def _length_at(string, position):
    """The number of bytes of the character at a position; 1 for invalid UTF-8."""
    for size in range(1, 5):
        try:
            string[position : position + size].decode()
        except UnicodeDecodeError:
            continue
        return size
    return 1


def _invalid(pattern: bytes, reason: str) -> ValueError:
    shown = pattern.decode(errors="backslashreplace")
    return ValueError(f"Invalid pattern: {shown}, error: {reason}")


def _ascii_characters(piece: Piece) -> bytes | None:
    """The characters that a piece matches one at a time, if they are all ASCII."""
    if not piece.characters or any(high >= 0x80 for _, high in piece.characters):
        return None
    return bytes(code for low, high in piece.characters for code in range(low, high + 1))


@cache
def _re2() -> Any:
    """The package `google-re2`; None where it is not installed."""
    try:
        import re2
    except ImportError:
        return None
    return re2


def _compiled_by_re2(pattern: bytes) -> Any:
    re2 = _re2()
    if re2 is None:
        return None
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except re2.error as failure:
        reason = failure.args[0] if failure.args else b""
        if isinstance(reason, bytes):
            reason = reason.decode(errors="backslashreplace")
        raise _invalid(pattern, reason) from None


def _template(parts, literal, empty):
    """The function from a match to its replacement."""
    if literal is not None:
        return lambda found: literal
    return lambda found: empty.join(
        [(found.group(part) or empty) if isinstance(part, int) else part for part in parts]
    )


def _parsed_rewrite(rewrite):
    r"""Literal parts and group numbers (\0 to \9); False if an unknown escape ended it."""
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
    """The compiled form of a pattern; ValueError if RE2 would refuse it."""
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
