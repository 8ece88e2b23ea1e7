"""Neural-network operations: convolution, pooling, activations, losses."""
