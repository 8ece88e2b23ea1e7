"""Signals: Fourier and cosine transforms, frames, windows, spectrograms."""
