"""tf.autograph: conversion of Python control flow to graph control flow, based on `ast`."""

from . import experimental as experimental
from .api import (
    to_code as to_code,
    to_graph as to_graph,
    trace as trace,
)
from .calls import convert as convert
from .verbosity import set_verbosity as set_verbosity
