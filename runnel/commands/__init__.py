"""What `python -m runnel NAME` does besides running programs: a module with a `main` for each."""

# The name of a command (and of its module here), and what the help says of it.
COMMANDS = {
    "checkpoint": "list the tensors of a checkpoint, or compare two",
    "saved_model": "show the signatures and functions of a SavedModel",
}


def plain(text: str, kept: str = "\n") -> str:
    r"""Text without what would steer a terminal: such characters as Python writes them.

    The names in files are as others chose them.

    >>> from runnel.commands import plain
    >>> print(plain("kernel\x1b[31m\u202e"))
    kernel\x1b[31m\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        each if each.isprintable() or each in kept else ascii(each)[1:-1] for each in text
    )
