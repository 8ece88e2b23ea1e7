"""Preprocessing layers for numerical features, categories, text and images."""
