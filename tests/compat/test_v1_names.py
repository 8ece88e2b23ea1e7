"""Each name of the original's tf.compat.v1 is here, or in the list of those that are absent."""

import pathlib
import re

import runnel

HERE = pathlib.Path(__file__).parent
README = HERE.parent.parent / "runnel" / "compat" / "README.md"


def recorded():
    """The original's public names, recorded from version 2.21; namespaces end with a dot."""
    space = ""
    for line in (HERE / "names_of_v1.txt").read_text().splitlines():
        if line.startswith("["):
            space = line[1:-1]
            continue
        for name in line.split():
            yield f"{space}.{name}".lstrip(".")


def listed():
    """The names that the README calls absent."""
    _, _, section = README.read_text().partition("## What is absent")
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


def is_here(name):
    value = runnel.compat.v1
    for part in name.rstrip(".").split("."):
        try:
            value = getattr(value, part)
        except (AttributeError, ModuleNotFoundError):
            return False
    return True


def test_the_list_is_complete():
    absent = listed()
    spaces = tuple(name for name in absent if name.endswith("."))
    missing = [
        name
        for name in recorded()
        if not is_here(name) and name not in absent and not name.startswith(spaces)
    ]
    assert missing == []


def test_the_list_has_nothing_that_is_here():
    known = set(recorded())
    assert [name for name in sorted(listed()) if is_here(name) or name not in known] == []
