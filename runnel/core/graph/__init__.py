"""Graphs: operations under construction, `tf.function`, its traces and their branches."""
