"""tf.summary: training metrics and data, written to event files for TensorBoard."""

from ..core.suggestions import suggesting as _suggesting
from . import experimental as experimental
from .recording import (
    audio as audio,
    histogram as histogram,
    image as image,
    scalar as scalar,
    text as text,
    write as write,
)
from .traces import (
    graph as graph,
    trace_export as trace_export,
    trace_off as trace_off,
    trace_on as trace_on,
)
from .writers import (
    SummaryWriter as SummaryWriter,
    create_file_writer as create_file_writer,
    create_noop_writer as create_noop_writer,
    flush as flush,
    record_if as record_if,
    should_record_summaries as should_record_summaries,
)

__getattr__ = _suggesting(__name__)
