"""RE2's regular expressions, translated to Python's `re`.

What both understand means the same; what differs is translated: flags in the middle of a pattern,
ASCII-only classes and boundaries, POSIX and Unicode classes, `$` that is the very end. What RE2
refuses (lookaround, backreferences, possessive repetition) is refused here too.

A pattern is translated twice: `wide` for decoded text, `narrow` for bytes that are all ASCII.
"""

from __future__ import annotations

import math
import re
import sys
from dataclasses import dataclass

from .character_classes import (
    DIGIT,
    POSIX,
    SPACE,
    SURROGATES,
    WORD,
    Ranges,
    complement,
    merged,
    unicode_class,
)
from .linear_matching import Node

_PERL_CLASSES = {"d": DIGIT, "s": SPACE, "w": WORD}
_CONTROL = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_REPEATS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
_LARGEST_REPEAT = 1000
_NOTHING = "(?!)"
_FEW = 64
# The number of steps of `re` that take about as long as the call of another engine.
_STEPS = 1 << 13
_MANY = 1 << 30


class InvalidPattern(ValueError):
    """A pattern that RE2 does not accept; the message ends with the offending part."""


class SingleBytes(InvalidPattern):
    r"""A pattern with \C, which RE2 itself accepts."""


@dataclass
class Piece:
    """A part of a pattern in both forms, and its matching properties."""

    wide: str
    narrow: str
    may_be_empty: bool = False
    # Matches the same in UTF-8 bytes as in decoded text.
    bytewise: bool = True
    repeats: int = 1
    # The only characters this piece matches, one at a time.
    characters: Ranges | None = None
    # The tree for `linear_matching`; nothing is an empty sequence.
    node: Node = ("sequence", ())
    # The number of ways in which it can match at a position, and of unlimited repetitions of single
    # characters: Python's `re`, which backtracks through all of them, is fast where both are small.
    ways: int = 1
    runs: int = 0
    # Only such a repetition.
    is_run: bool = False

    def limit_of_re(self, searching: bool) -> int:
        """The string length from which on `re` might take too many steps."""
        is_linear = not self.runs or (self.is_run if searching else self.runs == 1)
        if is_linear and self.ways <= _FEW:
            return sys.maxsize
        if self.runs > _FEW:
            return 0
        return int((_STEPS / self.ways) ** (1 / max(self.runs + searching, 1)))


def translate(pattern: str) -> tuple[Piece, int]:
    """The pattern for Python, and the number of its groups."""
    parser = _Parser(pattern)
    piece = parser.alternatives(frozenset())
    if parser.rest():
        raise InvalidPattern(f"unexpected ): {pattern}")
    return piece, parser.groups


class _Parser:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.position = 0
        self.groups = 0
        # The position at which the last repetition was looked for.
        self.operator = 0

    def rest(self) -> str:
        return self.pattern[self.position :]

    def peek(self) -> str:
        return self.pattern[self.position : self.position + 1]

    def taken(self, prefix: str) -> bool:
        if not self.pattern.startswith(prefix, self.position):
            return False
        self.position += len(prefix)
        return True

    def next(self) -> str:
        self.position += 1
        return self.pattern[self.position - 1]

    # Structure.

    def alternatives(self, flags: frozenset[str]) -> Piece:
        branches: list[list[Piece]] = [[]]
        while self.position < len(self.pattern) and self.peek() != ")":
            if self.taken("|"):
                branches.append([])
            elif (changed := self._flags_from_here(flags)) is not None:
                flags = changed
            elif self.taken("\\Q"):
                quoted, _, rest = self.rest().partition("\\E")
                branches[-1].extend(self._literal(ord(each), flags) for each in quoted)
                self.position = len(self.pattern) - len(rest)
            elif (bounds := self._bounds()) is not None:
                self._repeat(branches[-1], bounds, flags)
            else:
                branches[-1].append(self._atom(flags))
        if len(branches) == 1 and len(branches[0]) == 1:
            return branches[0][0]
        pieces = [piece for branch in branches for piece in branch]
        sequences: list[Node] = [
            ("sequence", [piece.node for piece in branch]) for branch in branches
        ]
        return Piece(
            "|".join("".join(piece.wide for piece in branch) for branch in branches),
            "|".join("".join(piece.narrow for piece in branch) for branch in branches),
            any(all(piece.may_be_empty for piece in branch) for branch in branches),
            all(piece.bytewise for piece in pieces),
            max((piece.repeats for piece in pieces), default=1),
            node=sequences[0] if len(sequences) == 1 else ("choice", sequences),
            ways=_limited(
                sum(_limited(math.prod(piece.ways for piece in branch)) for branch in branches)
            ),
            runs=sum(piece.runs for piece in pieces),
        )

    def _flags_from_here(self, flags: frozenset[str]) -> frozenset[str] | None:
        found = re.compile(r"\(\?([a-zA-Z]*)(-[a-zA-Z]+)?\)").match(self.pattern, self.position)
        if found is None or found.group() == "(?)":
            return None
        self.position = found.end()
        return self._changed(flags, found.group(1), found.group(2) or "", found.group())

    def _changed(
        self, flags: frozenset[str], added: str, removed: str, where: str
    ) -> frozenset[str]:
        for index, letter in enumerate(added + removed.lstrip("-")):
            if letter not in "imsU":
                raise InvalidPattern(f"invalid perl operator: {where[: index + 3]}")
        return (flags | set(added)) - set(removed)

    def _repeat(
        self, branch: list[Piece], bounds: tuple[int, int | None], flags: frozenset[str]
    ) -> None:
        """Apply a repetition to the last piece of a branch."""
        operator = self.pattern[self.operator : self.position]
        if not branch:
            raise InvalidPattern(f"no argument for repetition operator: {operator}")
        first = self.operator
        lazy = self.taken("?") != ("U" in flags)
        after = self.position
        if self._bounds() is not None:
            raise InvalidPattern(f"bad repetition operator: {self.pattern[first : self.position]}")
        self.position = after
        piece = branch[-1]
        low, high = bounds
        repeats = max(low, high or 0, 1) * piece.repeats
        if high is not None and repeats > _LARGEST_REPEAT:
            raise InvalidPattern(f"invalid repetition size: {operator}")
        single = piece.node[0] == "character"
        many = f"{{{low},{'' if high is None else high}}}" + ("?" if lazy else "")
        branch[-1] = Piece(
            f"(?:{piece.wide}){many}",
            f"(?:{piece.narrow}){many}",
            piece.may_be_empty or not low,
            piece.bytewise,
            repeats if high is not None else piece.repeats,
            node=("repeat", piece.node, low, high, lazy),
            ways=_ways_of_repeat(piece, low, high),
            # Of anything but single characters, one is as bad as many.
            runs=piece.runs * (high or 1) if high is not None else 1 if single else _MANY,
            is_run=high is None and single,
        )

    def _bounds(self) -> tuple[int, int | None] | None:
        """The bounds of the repetition of the piece before; None where no repetition follows."""
        self.operator = self.position
        letter = self.peek()
        if letter in _REPEATS:
            self.position += 1
            return _REPEATS[letter]
        found = re.compile(r"\{([0-9]+)(,([0-9]*))?\}").match(self.pattern, self.position)
        if found is None:
            return None
        self.position = found.end()
        low = int(found.group(1))
        high = low if found.group(2) is None else int(found.group(3)) if found.group(3) else None
        if max(low, high or 0) > _LARGEST_REPEAT or (high is not None and high < low):
            raise InvalidPattern(f"invalid repetition size: {found.group()}")
        return low, high

    # Atoms.

    def _atom(self, flags: frozenset[str]) -> Piece:
        letter = self.next()
        if letter == "(":
            return self._group(flags)
        if letter == "[":
            return self._class(flags)
        if letter == ".":
            low, high = (f"\\U{code:08x}" for code in SURROGATES)
            newline = "" if "s" in flags else "\\n"
            narrow = f"[^{newline}]" if newline else "(?s:.)"
            wide = f"[^{newline}{low}-{high}]"
            return Piece(wide, narrow, bytewise=False, node=("character", wide))
        if letter == "^":
            return _LINE_START if "m" in flags else _START
        if letter == "$":
            return _LINE_END if "m" in flags else _END
        if letter == "\\":
            return self._escape(flags)
        return self._literal(ord(letter), flags)

    def _group(self, flags: frozenset[str]) -> Piece:
        start = self.position - 1
        capture = True
        if self.taken("?P<"):
            name, closed, _ = self.rest().partition(">")
            if not closed or not re.fullmatch(r"[A-Za-z0-9_]+", name):
                shown = f"(?P<{name}>" if closed else self.pattern[start:]
                raise InvalidPattern(f"invalid named capture group: {shown}")
            self.position += len(name) + 1
        elif self.peek() == "?":
            found = re.compile(r"\?([a-zA-Z]*)(-[a-zA-Z]+)?:").match(self.pattern, self.position)
            if found is None:
                raise InvalidPattern(f"invalid perl operator: {self.pattern[start : start + 3]}")
            self.position = found.end()
            where = f"({found.group()}"
            flags = self._changed(flags, found.group(1), found.group(2) or "", where)
            capture = False
        if capture:
            self.groups += 1
        number = self.groups
        inner = self.alternatives(flags)
        if not self.taken(")"):
            raise InvalidPattern(f"missing ): {self.pattern}")
        opening = "(" if capture else "(?:"
        return Piece(
            f"{opening}{inner.wide})",
            f"{opening}{inner.narrow})",
            inner.may_be_empty,
            inner.bytewise,
            inner.repeats,
            node=("group", number, inner.node) if capture else inner.node,
            ways=inner.ways,
            runs=inner.runs,
            is_run=inner.is_run,
        )

    def _escape(self, flags: frozenset[str]) -> Piece:
        letter = self.peek()
        if letter == "A":
            self.position += 1
            return _START
        if letter == "z":
            self.position += 1
            return _END
        if letter in ("b", "B"):
            self.position += 1
            return _BOUNDARY if letter == "b" else _NO_BOUNDARY
        if letter == "C":
            raise SingleBytes(
                r"unsupported escape sequence: \C (bytes cannot be matched singly; use . or [...])"
            )
        named = self._named_class()
        if named is not None:
            ranges, negated = named
            return _of_class(ranges, negated, flags)
        return self._literal(self._escaped_character(), flags)

    def _literal(self, code: int, flags: frozenset[str]) -> Piece:
        ascii_only = code < 0x80
        wide = re.escape(chr(code))
        narrow = wide if ascii_only else _NOTHING
        if "i" not in flags:
            return Piece(
                wide,
                narrow,
                bytewise=ascii_only,
                characters=[(code, code)],
                node=("character", wide),
            )
        return _folded(f"(?i:{wide})", ascii_only and not chr(code).isalpha())

    # Classes.

    def _named_class(self) -> tuple[Ranges, bool] | None:
        r"""The class after a backslash: \d, \pL, \p{Greek}, ...; None if none follows."""
        letter = self.peek()
        if letter and letter in "dswDSW":
            self.position += 1
            return _PERL_CLASSES[letter.lower()], letter.isupper()
        if letter not in ("p", "P"):
            return None
        start = self.position - 1
        self.position += 1
        negated = letter == "P"
        if self.taken("{"):
            name, closed, _ = self.rest().partition("}")
            if not closed:
                raise InvalidPattern(f"invalid character class range: {self.pattern[start:]}")
            self.position += len(name) + 1
        else:
            name = self.next() if self.rest() else ""
        if name.startswith("^"):
            negated, name = not negated, name[1:]
        ranges = unicode_class(name)
        if ranges is None:
            where = self.pattern[start : self.position]
            raise InvalidPattern(f"invalid character class range: {where}")
        return ranges, negated

    def _class(self, flags: frozenset[str]) -> Piece:
        start = self.position - 1
        negated = self.taken("^")
        ranges: Ranges = []
        first = True
        while first or self.peek() != "]":
            first = False
            if not self.rest():
                raise InvalidPattern(f"missing ]: {self.pattern[start:]}")
            found = self._class_inside_class()
            if found is not None:
                ranges.extend(found)
                continue
            low = self._class_character(start)
            high = low
            if self.peek() == "-" and self.pattern[self.position + 1 : self.position + 2] != "]":
                begin = self.position
                self.position += 1
                high = self._class_character(start)
                if high < low:
                    where = f"{chr(low)}{self.pattern[begin : self.position]}"
                    raise InvalidPattern(f"invalid character class range: {where}")
            ranges.append((low, high))
        self.position += 1
        return _of_class(ranges, negated, flags)

    def _class_inside_class(self) -> Ranges | None:
        found = re.compile(r"\[:(\^?)([^\]]*?):\]").match(self.pattern, self.position)
        if found is not None:
            if found.group(2) not in POSIX:
                raise InvalidPattern(f"invalid character class range: {found.group()}")
            self.position = found.end()
            ranges = POSIX[found.group(2)]
            return complement(ranges) if found.group(1) else ranges
        if self.peek() != "\\":
            return None
        self.position += 1
        named = self._named_class()
        if named is None:
            self.position -= 1
            return None
        return complement(named[0]) if named[1] else named[0]

    def _class_character(self, start: int) -> int:
        if not self.rest():
            raise InvalidPattern(f"missing ]: {self.pattern[start:]}")
        letter = self.next()
        return self._escaped_character() if letter == "\\" else ord(letter)

    def _escaped_character(self) -> int:
        if not self.rest():
            raise InvalidPattern("trailing \\")
        start = self.position - 1
        letter = self.next()
        if letter in _CONTROL:
            return _CONTROL[letter]
        if letter.isascii() and not letter.isalnum():
            return ord(letter)
        octal = re.compile(r"0[0-7]{0,2}|[1-7][0-7]{1,2}").match(self.pattern, start + 1)
        if octal is not None:
            self.position = octal.end()
            return int(octal.group(), 8)
        if letter == "x":
            found = re.compile(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\}").match(
                self.pattern, self.position
            )
            code = int(found.group(1) or found.group(2), 16) if found is not None else -1
            if found is not None and code <= 0x10FFFF:
                self.position = found.end()
                return code
            end = start + 3
            if found is not None:
                # Up to the digit that overflows.
                while int(self.pattern[start + 3 : end] or "0", 16) <= 0x10FFFF:
                    end += 1
            raise InvalidPattern(f"invalid escape sequence: {self.pattern[start:end]}")
        raise InvalidPattern(f"invalid escape sequence: \\{letter}")


def _assertion(kind: str, wide: str, narrow: str | None = None) -> Piece:
    return Piece(wide, narrow or wide, may_be_empty=True, node=("assertion", kind))


_START = _assertion("start", r"\A")
_END = _assertion("end", r"\Z")
_LINE_START = _assertion("line start", "(?m:^)")
_LINE_END = _assertion("line end", "(?m:$)")
_BOUNDARY = _assertion("boundary", r"(?a:\b)", r"\b")
_NO_BOUNDARY = _assertion("no boundary", r"(?!(?a:\b))", r"(?!\b)")


def _limited(number: int) -> int:
    return min(number, _MANY)


def _ways_of_repeat(piece: Piece, low: int, high: int | None) -> int:
    if high is None:
        return piece.ways
    if piece.ways == 1:
        return high - low + 1
    return _limited(piece.ways ** min(high, 30)) * (high - low + 1)


def _folded(wide: str, bytewise: bool) -> Piece:
    """A case-insensitive piece.

    ASCII letters equal some others except for case (k the Kelvin sign, s the long s): the wide form
    handles them.
    """
    expression = re.compile(wide)
    codes = [(code, code) for code in range(0x80) if expression.match(chr(code))]
    return Piece(wide, _bracketed(codes, False), bytewise=bytewise, node=("character", wide))


def _of_class(ranges: Ranges, negated: bool, flags: frozenset[str]) -> Piece:
    ranges = merged(ranges)
    without = complement([*complement(ranges), SURROGATES])
    wide = _bracketed([*ranges, SURROGATES] if negated else without, negated)
    narrow = _bracketed([(low, min(high, 0x7F)) for low, high in ranges if low < 0x80], negated)
    ascii_only = not negated and all(high < 0x80 for _, high in ranges)
    if "i" in flags:
        return _folded(f"(?i:{wide})", bytewise=False)
    return Piece(
        wide,
        narrow,
        bytewise=ascii_only,
        characters=None if negated else ranges,
        node=("character", wide),
    )


def _bracketed(ranges: Ranges, negated: bool) -> str:
    if not ranges:
        return "(?s:.)" if negated else _NOTHING
    parts = [
        _code(low) if low == high else f"{_code(low)}-{_code(high)}" for low, high in merged(ranges)
    ]
    return f"[{'^' if negated else ''}{''.join(parts)}]"


def _code(code: int) -> str:
    return f"\\x{code:02x}" if code < 0x80 else f"\\U{code:08x}"
