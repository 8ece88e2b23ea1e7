"""What everything stands on: dtypes, shapes, tensors, operations, gradients."""
