"""Arithmetic, comparison, special functions, reductions, sorting, segments."""
