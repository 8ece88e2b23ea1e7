"""String operations: tensors of bytes."""
