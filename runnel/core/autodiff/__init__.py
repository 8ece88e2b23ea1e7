"""Automatic differentiation: tapes, the backward pass, custom gradients, forward mode, jacobians."""
