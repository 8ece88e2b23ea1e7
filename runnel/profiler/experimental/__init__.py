"""`tf.profiler.experimental`: profiles of this program, for TensorBoard and tracing pages."""

from ..session import (
    Profile as Profile,
    ProfilerOptions as ProfilerOptions,
    Trace as Trace,
    start as start,
    stop as stop,
)
from . import client as client, server as server
