"""Regular expression matching in linear time: all alternatives are simulated at once.

A pattern's tree is compiled to a program of few instructions. A thread is a program counter with
the positions of the groups it has passed; threads are stored in order of preference, at most one
per instruction, so that a character costs at most one step per instruction (Thompson's and Pike's
algorithm). Python's `re` backtracks through alternatives, of which there may be exponentially many.

    ("character", expression)            one character, by an expression of `re` for a single one
    ("sequence", nodes), ("choice", nodes), ("repeat", node, low, high, lazy)
    ("group", number, node), ("assertion", kind)
"""

from __future__ import annotations

import re
from typing import Any

Node = tuple[Any, ...]
_LARGEST_PROGRAM = 50_000
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")


class TooLarge(ValueError):
    """A pattern whose repetitions would make the program too long."""


class Program:
    """A compiled pattern; `groups` is the number of its groups without the whole match."""

    def __init__(self, node: Node, groups: int) -> None:
        self.groups = groups
        self._code: list[list[Any]] = []
        self._add(("sequence", [("group", 0, node)]))
        self._emit("match")

    # The program.

    def _emit(self, *instruction: Any) -> list[Any]:
        if len(self._code) >= _LARGEST_PROGRAM:
            raise TooLarge("pattern too large - compile failed")
        self._code.append(list(instruction))
        return self._code[-1]

    def _add(self, node: Node) -> None:
        kind = node[0]
        if kind == "sequence":
            for each in node[1]:
                self._add(each)
        elif kind == "choice":
            self._add_choice(node[1])
        elif kind == "repeat":
            self._add_repeat(*node[1:])
        elif kind == "group":
            self._emit("save", 2 * node[1])
            self._add(node[2])
            self._emit("save", 2 * node[1] + 1)
        elif kind == "character":
            self._emit("character", re.compile(node[1], re.DOTALL).fullmatch, {})
        else:
            self._emit("assertion", node[1])

    def _add_choice(self, nodes: list[Node]) -> None:
        ends = []
        for each in nodes[:-1]:
            split = self._emit("split", len(self._code) + 1, None)
            self._add(each)
            ends.append(self._emit("jump", None))
            split[2] = len(self._code)
        self._add(nodes[-1])
        for end in ends:
            end[1] = len(self._code)

    def _split(self, lazy: bool) -> tuple[list[Any], int]:
        """A split that prefers to continue here, and the index of its other branch to be set."""
        split = self._emit("split", None, None)
        split[2 if lazy else 1] = len(self._code)
        return split, 1 if lazy else 2

    def _add_repeat(self, node: Node, low: int, high: int | None, lazy: bool) -> None:
        for _ in range(low - (high is None and low > 0)):
            self._add(node)
        if high is None:
            if low:
                self._add_some(node, lazy)
            else:
                # (x+)? rather than x*, which differs where x matches nothing.
                split, other = self._split(lazy)
                self._add_some(node, lazy)
                split[other] = len(self._code)
            return
        splits = []
        for _ in range(high - low):
            splits.append(self._split(lazy))
            self._add(node)
        for split, other in splits:
            split[other] = len(self._code)

    def _add_some(self, node: Node, lazy: bool) -> None:
        start = len(self._code)
        self._add(node)
        split = self._emit("split", start, start)
        split[1 if lazy else 2] = len(self._code)

    # Matching.

    def matches(self, text: str) -> bool:
        """Whether the whole text matches."""
        return self._run(text, 0, whole=True) is not None

    def search(self, text: str, position: int = 0) -> Match | None:
        """The first match from a position on, the preferred one of those that start there."""
        found = self._run(text, position, whole=False)
        return None if found is None else Match(text, found)

    def _run(self, text: str, position: int, whole: bool) -> tuple[int, ...] | None:
        code, size, start = self._code, len(text), position
        empty = (-1,) * (2 * self.groups + 2)
        threads: list[tuple[int, tuple[int, ...]]] = []
        best: tuple[int, ...] | None = None
        while True:
            if best is None and (not whole or position == start):
                threads.append((0, empty))
            if not threads:
                return best
            character = text[position] if position < size else ""
            following: list[tuple[int, tuple[int, ...]]] = []
            for place, saved in self._closure(threads, text, position):
                instruction = code[place]
                if instruction[0] == "match":
                    if whole and position < size:
                        continue
                    best = saved
                    # What follows has lower preference.
                    break
                known = instruction[2]
                fits = known.get(character)
                if fits is None:
                    fits = bool(character) and instruction[1](character) is not None
                    if len(known) < 4096:
                        known[character] = fits
                if fits:
                    following.append((place + 1, saved))
            if position >= size:
                return best
            threads = following
            position += 1

    def _closure(
        self, threads: list[tuple[int, tuple[int, ...]]], text: str, position: int
    ) -> list[tuple[int, tuple[int, ...]]]:
        """The threads at character instructions and at the end, after all epsilon transitions."""
        code, seen = self._code, set()
        found = []
        stack = threads[::-1]
        while stack:
            place, saved = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            instruction = code[place]
            kind = instruction[0]
            if kind == "split":
                stack.append((instruction[2], saved))
                stack.append((instruction[1], saved))
            elif kind == "jump":
                stack.append((instruction[1], saved))
            elif kind == "save":
                number = instruction[1]
                stack.append((place + 1, (*saved[:number], position, *saved[number + 1 :])))
            elif kind == "assertion":
                if _holds(instruction[1], text, position):
                    stack.append((place + 1, saved))
            else:
                found.append((place, saved))
        return found


def _holds(kind: str, text: str, position: int) -> bool:
    if kind == "start":
        return position == 0
    if kind == "end":
        return position == len(text)
    before, after = text[position - 1 : position] if position else "", text[position : position + 1]
    if kind == "line start":
        return before in ("", "\n")
    if kind == "line end":
        return after in ("", "\n")
    return ((before in _WORD) != (after in _WORD)) == (kind == "boundary")


class Match:
    """The positions of a match and of its groups."""

    def __init__(self, text: str, places: tuple[int, ...]) -> None:
        self._text, self._places = text, places

    def span(self) -> tuple[int, int]:
        """Start and end of the match."""
        return self._places[0], self._places[1]

    def group(self, number: int) -> str | None:
        """The text of a group; None if it did not participate."""
        start, end = self._places[2 * number : 2 * number + 2]
        return None if start < 0 or end < 0 else self._text[start:end]
