"""tf.keras.metrics.experimental."""

from .python_metric import PyMetric as PyMetric
