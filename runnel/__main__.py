"""`python -m runnel program.py [arguments]`: run a TensorFlow program on Runnel."""

import sys

from .program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
