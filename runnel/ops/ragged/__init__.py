"""Ragged tensors: values in rows of different lengths, and what the operations do to them."""
