"""oneDNN (version 3) through its C interface."""
