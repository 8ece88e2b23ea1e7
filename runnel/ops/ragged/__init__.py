"""Ragged tensors: values in rows of different lengths, and the operations on them."""
