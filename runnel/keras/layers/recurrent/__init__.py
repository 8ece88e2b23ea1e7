"""Recurrent layers: cells, the loops over time around them, and wrappers for time and direction."""

from .bidirectional import Bidirectional as Bidirectional
from .cells import (
    AbstractRNNCell as AbstractRNNCell,
    GRUCell as GRUCell,
    LSTMCell as LSTMCell,
    SimpleRNNCell as SimpleRNNCell,
)
from .conv_lstm import (
    ConvLSTM1D as ConvLSTM1D,
    ConvLSTM2D as ConvLSTM2D,
    ConvLSTM3D as ConvLSTM3D,
)
from .layers import GRU as GRU, LSTM as LSTM, SimpleRNN as SimpleRNN
from .rnn import RNN as RNN
from .stacked import StackedRNNCells as StackedRNNCells
from .time_distributed import TimeDistributed as TimeDistributed
