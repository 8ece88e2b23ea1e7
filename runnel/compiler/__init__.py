"""The compiler: a traced graph, rewritten by passes, as a straight-line Python function."""
