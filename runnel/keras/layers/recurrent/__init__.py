"""Recurrent layers: cells, the loops over time around them, and wrappers for time and direction."""

from .cells import (
    AbstractRNNCell as AbstractRNNCell,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    SimpleRNNCell as SimpleRNNCell,
)
from .layers import GRU as GRU, LSTM as LSTM, SimpleRNN as SimpleRNN
from .rnn import RNN as RNN
from .stacked import StackedRNNCells as StackedRNNCells
