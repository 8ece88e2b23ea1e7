"""The compiler: a traced graph is rewritten by passes and made into a straight-line Python program."""
