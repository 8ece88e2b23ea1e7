"""Matrix products, decompositions, solvers and matrix functions."""
