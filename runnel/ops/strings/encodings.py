"""Decoding of bytes to code points and encoding, with a policy for invalid input."""

from __future__ import annotations

import codecs
import itertools

import numpy as np

_OUTPUTS = ("UTF-8", "UTF-16-BE", "UTF-32-BE")
_LAST = 0x10FFFF


def encodings_of_output() -> tuple[str, ...]:
    """The encodings that strings can be written in."""
    return _OUTPUTS


class Decoder:
    """Decodes strings; invalid bytes are replaced, dropped or refused."""

    def __init__(
        self, encoding: str, errors: str, replacement: int, replace_controls: bool
    ) -> None:
        try:
            self._encoding = codecs.lookup(encoding).name
        except LookupError:
            raise ValueError(f"Could not create converter for input encoding: {encoding}") from None
        _require_code_point(replacement)
        self._ascii = self._encoding in ("utf-8", "ascii", "iso8859-1")
        self._errors = errors
        self._replacement = "" if errors == "ignore" else chr(replacement)
        self._controls = dict.fromkeys(range(0x20), self._replacement) if replace_controls else None

    def text(self, string: bytes) -> str:
        """The characters of a string."""
        try:
            result = string.decode(self._encoding)
        except UnicodeDecodeError:
            return "".join(characters for characters, _ in self._pieces(string))
        return result if self._controls is None else result.translate(self._controls)

    def text_and_offsets(self, string: bytes) -> tuple[str, list[int]]:
        """The characters of a string, and the byte offset of each."""
        texts, offsets = [], []
        if self._controls is None and string.isascii() and self._ascii:
            return string.decode(), list(range(len(string)))
        for characters, starts in self._pieces(string):
            texts.append(characters)
            offsets.extend(starts)
        return "".join(texts), offsets

    def _pieces(self, string):
        """Valid parts and replacements, alternating: their characters and their offsets."""
        position = 0
        while position < len(string):
            invalid = 0
            try:
                part = string[position:].decode(self._encoding)
            except UnicodeDecodeError as failure:
                if self._errors == "strict":
                    raise ValueError("Invalid formatting on input string") from None
                part = string[position : position + failure.start].decode(self._encoding)
                invalid = failure.end - failure.start
            for character in part:
                width = len(character.encode(self._encoding))
                shown = character
                if self._controls is not None:
                    shown = character.translate(self._controls)
                yield shown, [position] * len(shown)
                position += width
            if invalid:
                yield self._replacement, [position] * len(self._replacement)
                position += invalid
            elif not part:
                return


def code_points(characters: str) -> np.ndarray:
    """The code point of each character."""
    # A replacement may be a surrogate: any code point is allowed there.
    return np.frombuffer(characters.encode("utf-32-le", "surrogatepass"), "<i4")


def _require_code_point(code: int) -> None:
    if not 0 <= code <= _LAST:
        raise ValueError(f"replacement_char out of unicode codepoint range, got {code}")


def encodable(code: int, encoding: str) -> int:
    """A replacement that can be encoded: UTF-8 has no surrogates."""
    return 0xFFFD if encoding == "UTF-8" and 0xD800 <= code <= 0xDFFF else code


def encoded(
    codes: np.ndarray, bounds: list[int], encoding: str, errors: str, replacement: int
) -> list[bytes]:
    """The strings of the code points between consecutive bounds."""
    _require_code_point(replacement)
    valid = (codes >= 0) & (codes <= _LAST) & ((codes < 0xD800) | (codes > 0xDFFF))
    if not valid.all():
        if errors == "strict":
            raise ValueError("Code point is out of range for Unicode, or is a surrogate.")
        if errors == "replace":
            codes = np.where(valid, codes, np.int32(encodable(replacement, encoding)))
        else:
            kept = np.concatenate([[0], np.cumsum(valid)])
            codes, bounds = codes[valid], kept[bounds].tolist()
    characters = codes.astype("<i4").tobytes().decode("utf-32-le", "surrogatepass")
    if bounds == list(range(len(characters) + 1)):
        # Single characters, as from splitting a text; most of them are repeated.
        known = {each: each.encode(encoding, "surrogatepass") for each in set(characters)}
        return [known[each] for each in characters]
    pairs = itertools.pairwise(bounds)
    return [characters[start:end].encode(encoding, "surrogatepass") for start, end in pairs]
