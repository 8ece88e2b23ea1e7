"""Matmuls, decompositions, solvers and matrix functions."""
