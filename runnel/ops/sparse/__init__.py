"""Sparse tensors: indices and values of the elements that count, and the operations on them."""
