"""Vocabularies of lookup layers: read from files, validated, and built from counts."""

from __future__ import annotations

import collections
import math
import os
from collections.abc import Iterable
from typing import Any

import numpy as np


def tokens_in_file(path: str, as_token: Any) -> list[Any]:
    """The tokens in a file with one token per line."""
    if not os.path.isfile(path):
        raise ValueError(f"Vocabulary file {path} does not exist.")
    with open(path, encoding="utf-8", newline="\n") as file:
        lines = file.read().split("\n")
    if lines and lines[-1] == "":
        lines.pop()
    return [as_token(line.rstrip("\r")) for line in lines]


def write_tokens(path: str, tokens: Iterable[Any]) -> None:
    """Write tokens into a file, one per line."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write("\n".join(str(token) for token in tokens))


def read_tokens(path: str, as_token: Any) -> list[Any]:
    """Read the tokens that `write_tokens` wrote."""
    with open(path, encoding="utf-8", newline="\n") as file:
        return [as_token(line) for line in file.read().split("\n")]


def without_special(
    vocabulary: list[Any], special: list[Any], mask_token: Any, oov_token: Any, invert: bool
) -> list[Any]:
    """A vocabulary without its leading special tokens, which are allowed only there."""
    tokens = vocabulary
    if special and vocabulary[: len(special)] == special:
        tokens = vocabulary[len(special) :]
    repeated = [token for token, count in collections.Counter(tokens).items() if count > 1]
    if repeated:
        raise ValueError(
            "The passed vocabulary has at least one repeated term. Please uniquify your dataset. "
            f"The repeated terms are {repeated}"
        )
    refused = [("mask", mask_token)] if mask_token is not None else []
    if invert and oov_token is not None:
        refused.append(("oov", oov_token))
    for name, token in refused:
        if token in tokens:
            raise ValueError(
                f"Found reserved {name.upper() if name == 'oov' else name} token at unexpected "
                "location in `vocabulary`. Note that passed `vocabulary` does not need to include "
                "the OOV and mask tokens. Either remove all mask and OOV tokens, or include them "
                f"only at the start of the vocabulary in precisely this order: {special}. "
                f"Received: {name}_token={token} at vocabulary index [{vocabulary.index(token)}]"
            )
    return tokens


class TokenCounts:
    """Token counts and document frequencies."""

    def __init__(self) -> None:
        self.tokens: collections.Counter[Any] = collections.Counter()
        self.documents_with: collections.Counter[Any] = collections.Counter()
        self.documents = 0

    def add(self, rows: Iterable[Any], count_documents: bool) -> None:
        """Count the tokens in documents."""
        for row in rows:
            self.tokens.update(row)
            if count_documents:
                self.documents_with.update(set(row))
                self.documents += 1

    def most_common(self, without: list[Any], limit: int | None) -> list[Any]:
        """The tokens by descending count; ties by descending token."""
        pairs = [(count, token) for token, count in self.tokens.items() if token not in without]
        pairs.sort(reverse=True)
        return [token for _, token in pairs[:limit]]

    def idf_weights(self, tokens: list[Any]) -> list[float]:
        """The idf weights: log(1 + documents / (1 + documents with the token))."""
        return [
            math.log(1.0 + self.documents / (1.0 + self.documents_with[token])) for token in tokens
        ]


def plain_tokens(values: Any, encoding: str | None) -> list[Any]:
    """Tokens as Python strings or integers."""
    flat = np.asarray(values).reshape(-1).tolist()
    if encoding is None:
        return flat
    return [each.decode(encoding) if isinstance(each, bytes) else each for each in flat]
