"""Graphs under construction: what is known of a value before the graph runs."""

import runnel as tf
from runnel.core.graph.graph import Graph
from runnel.core.op import REGISTRY


def test_a_size_used_again_and_again_is_worked_out_once(monkeypatch):
    add = REGISTRY["AddV2"]
    calls = []

    def counted(x, y):
        calls.append(1)
        return x + y

    monkeypatch.setattr(add, "kernel", counted)
    with Graph().as_default():
        size = tf.constant(1)
        for _ in range(12):
            size = size + size
        assert tf.zeros([size]).shape == [4096]
    assert len(calls) < 50


def test_a_size_with_a_long_history_is_left_unknown():
    with Graph().as_default():
        size = tf.constant(0)
        for _ in range(2000):
            size = size + 1
        assert tf.zeros([size]).shape.as_list() == [None]
