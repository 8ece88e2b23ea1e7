"""The core that all other packages depend on: dtypes, shapes, tensors, operations, gradients."""
