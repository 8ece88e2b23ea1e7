"""tf.compat.v1.app: runs the main function of a program."""

from __future__ import annotations

import sys as _sys

from . import flags as flags


def run(main=None, argv=None):
    """Parse the command-line flags, call `main` with the remaining arguments, and exit."""
    arguments = flags.FLAGS(list(argv or _sys.argv), known_only=True)
    main = main or _sys.modules["__main__"].main
    _sys.exit(main(arguments))
