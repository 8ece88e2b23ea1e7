"""tf.compat.v1."""
from .session import Session, InteractiveSession, get_default_session
from .building import *
from .scopes import *
from .keys import GraphKeys
from .defaults import *
from .variables import VariableV1 as Variable
from . import train
from ...ops.random_streams import set_seed as set_random_seed
from .initializers import *
