"""Automatic differentiation: tapes, backward pass, custom gradients, forward mode."""
