"""Layers that make inputs ready for a model: numbers, categories, text and images."""
