"""Names of parametrized cases that are the same in every process, as `pytest -n` demands."""

import re


def stable(value: object) -> str:
    """The text of a value without its address in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


def stable_repr(value: object) -> str:
    """The representation of a value without addresses in memory."""
    return stable(repr(value))
