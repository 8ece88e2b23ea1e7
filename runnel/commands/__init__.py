"""What `python -m runnel NAME` does besides running programs: a module with a `main` for each."""

# The name of a command (and of its module here), and what the help says of it.
COMMANDS = {
    "checkpoint": "list the tensors of a checkpoint, or compare two",
    "saved_model": "show the signatures and functions of a SavedModel",
}
