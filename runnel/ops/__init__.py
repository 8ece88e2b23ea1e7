"""The operations, by family: each declared once, with its kernel, shape rule and gradient."""
