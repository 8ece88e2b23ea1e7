"""Creating, reshaping, concatenating, indexing and scattering tensors."""
