"""Parsing of Example and SequenceExample records into tensors."""
