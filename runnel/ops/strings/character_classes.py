"""Sets of characters as sorted ranges of code points: the named classes of RE2's syntax."""

from __future__ import annotations

import sys
import unicodedata
from functools import cache

Ranges = list[tuple[int, int]]

LAST = sys.maxunicode
# Bytes that are not UTF-8 are decoded to these; no character class may match them.
SURROGATES = (0xD800, 0xDFFF)


def _of(*pairs: str) -> Ranges:
    return [(ord(pair[0]), ord(pair[-1])) for pair in pairs]


DIGIT = _of("09")
SPACE = _of("\t\n", "\f\r", "  ")
WORD = _of("09", "AZ", "__", "az")

POSIX: dict[str, Ranges] = {
    "alnum": _of("09", "AZ", "az"),
    "alpha": _of("AZ", "az"),
    "ascii": [(0, 0x7F)],
    "blank": _of("\t\t", "  "),
    "cntrl": [(0, 0x1F), (0x7F, 0x7F)],
    "digit": DIGIT,
    "graph": _of("!~"),
    "lower": _of("az"),
    "print": _of(" ~"),
    "punct": _of("!/", ":@", "[`", "{~"),
    "space": _of("\t\r", "  "),
    "upper": _of("AZ"),
    "word": WORD,
    "xdigit": _of("09", "AF", "af"),
}


def merged(ranges: Ranges) -> Ranges:
    """Sorted, without overlaps."""
    result: Ranges = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return result


def complement(ranges: Ranges) -> Ranges:
    """All other characters."""
    result: Ranges = []
    start = 0
    for low, high in merged(ranges):
        if low > start:
            result.append((start, low - 1))
        start = high + 1
    if start <= LAST:
        result.append((start, LAST))
    return result


@cache
def _categories() -> dict[str, Ranges]:
    """The characters of each general category of Unicode, and of its first letter."""
    found: dict[str, Ranges] = {}
    start, current = 0, unicodedata.category("\0")
    for code in range(1, LAST + 2):
        category = unicodedata.category(chr(code)) if code <= LAST else ""
        if category != current:
            found.setdefault(current, []).append((start, code - 1))
            start, current = code, category
    for name in list(found):
        found.setdefault(name[0], []).extend(found[name])
    return {name: merged(ranges) for name, ranges in found.items() if name not in ("Cn",)}


def unicode_class(name: str) -> Ranges | None:
    """The characters of a category such as L or Lu, or of a script such as Greek."""
    if name == "Any":
        return [(0, LAST)]
    from .unicode_scripts import characters_of_script

    return _categories().get(name) or characters_of_script(name)
