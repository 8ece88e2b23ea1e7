"""Graphs: symbolic operations, `tf.function`, its traces and their branches."""
