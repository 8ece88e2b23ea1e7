"""Graphs and functions as the messages of files: GraphDef."""
