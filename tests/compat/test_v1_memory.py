"""Graphs that nobody needs any more are gone, with their variables and sessions."""

import gc
import weakref

import numpy as np

import runnel


def test_a_dropped_graph_leaves_nothing():
    v1 = runnel.compat.v1
    graph = runnel.Graph()
    with graph.as_default():
        x = v1.placeholder(runnel.float32, [None, 2])
        w = v1.get_variable("w", [2, 1])
        model = runnel.keras.Sequential([runnel.keras.layers.Dense(1)])
        loss = runnel.reduce_sum(model(x) + runnel.matmul(x, w))
        train = v1.train.AdamOptimizer().minimize(loss)
        model.get_weights()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            session.run(train, {x: np.ones([1, 2])})
    left = weakref.ref(graph)
    del graph, x, w, model, loss, train, session
    gc.collect()
    assert left() is None
