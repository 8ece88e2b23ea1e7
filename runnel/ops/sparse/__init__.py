"""Sparse tensors: indices and values of the explicit elements, and the operations on them."""
