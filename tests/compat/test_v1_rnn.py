"""Recurrent networks of TensorFlow 1, in graphs."""

import numpy as np
import pytest
from both_v1 import agree

RANDOM = np.random.RandomState(0)
BATCH = RANDOM.randn(3, 4, 2).astype(np.float32)
LENGTHS = [4, 2, 3]

CELLS = {
    "basic": lambda cells: cells.BasicRNNCell(3),
    "gru": lambda cells: cells.GRUCell(3, activation="relu"),
    "basic_lstm": lambda cells: cells.BasicLSTMCell(3, forget_bias=0.5),
    "lstm": lambda cells: cells.LSTMCell(3, use_peepholes=True, cell_clip=0.5, num_proj=2),
    "joined": lambda cells: cells.LSTMCell(3, state_is_tuple=False),
    "several": lambda cells: cells.MultiRNNCell([cells.GRUCell(3), cells.LSTMCell(2)]),
    "residual": lambda cells: cells.ResidualWrapper(cells.GRUCell(2)),
    "dropout": lambda cells: cells.DropoutWrapper(cells.BasicLSTMCell(3), 1.0, 1.0, 1.0),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("name", "form"),
    [*[(name, "lengths") for name in CELLS], ("basic_lstm", "dynamic"), ("lstm", "static")],
)
def test_cells(name, form):
    def program(v1, tf):
        x = v1.placeholder(tf.float32, [None, 4, 2])
        start = v1.constant_initializer([0.1, -0.2, 0.3])
        with v1.variable_scope("net", initializer=start):
            cell = CELLS[name](v1.nn.rnn_cell)
            if form == "static":
                outputs, last = v1.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float32)
            else:
                lengths = LENGTHS if form == "lengths" else None
                outputs, last = v1.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32)
        names = sorted(v.name for v in v1.trainable_variables())
        weights = sorted(v1.trainable_variables(), key=lambda v: v.name)
        loss = tf.reduce_sum(tf.square(tf.stack(outputs)))
        slopes = v1.gradients(loss, weights)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            found = session.run([outputs, last, slopes], {x: BATCH})
            return [names, list(found[0]), tf.nest.flatten(found[1]), found[2]]

    agree(program, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore")
def test_both_directions():
    def program(v1, tf):
        cells = v1.nn.rnn_cell
        x = tf.constant(BATCH)
        with v1.variable_scope("net", initializer=v1.constant_initializer(0.2)):
            outputs, states = v1.nn.bidirectional_dynamic_rnn(
                cells.GRUCell(2), cells.GRUCell(3), x, LENGTHS, dtype=tf.float32
            )
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            names = sorted(v.name for v in v1.global_variables())
            return [names, session.run([outputs, states])]

    agree(program)
