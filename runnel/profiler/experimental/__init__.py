"""`tf.profiler.experimental`: profiles for TensorBoard and browsers' trace viewers."""

from ..session import (
    Profile as Profile,
    ProfilerOptions as ProfilerOptions,
    Trace as Trace,
    start as start,
    stop as stop,
)
from . import client as client, server as server
