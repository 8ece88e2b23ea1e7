"""Making, shaping, joining, indexing and scattering tensors."""
