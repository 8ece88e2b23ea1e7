"""tf.graph_util: Graphs as messages."""

from .saved_model.graph_import import import_graph_def as import_graph_def
