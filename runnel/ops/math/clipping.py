"""Keeping values and norms within bounds."""
