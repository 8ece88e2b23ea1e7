"""tf.compat.v1.train: optimizers, learning rates, the counter of steps, moving averages."""

from .averages import ExponentialMovingAverage as ExponentialMovingAverage
from .optimizer import Optimizer as Optimizer
from .optimizers import (
    AdadeltaOptimizer as AdadeltaOptimizer,
    AdagradDAOptimizer as AdagradDAOptimizer,
    AdagradOptimizer as AdagradOptimizer,
    AdamOptimizer as AdamOptimizer,
    FtrlOptimizer as FtrlOptimizer,
    GradientDescentOptimizer as GradientDescentOptimizer,
    MomentumOptimizer as MomentumOptimizer,
    ProximalAdagradOptimizer as ProximalAdagradOptimizer,
    ProximalGradientDescentOptimizer as ProximalGradientDescentOptimizer,
    RMSPropOptimizer as RMSPropOptimizer,
)
from .steps import (
    assert_global_step as assert_global_step,
    cosine_decay as cosine_decay,
    cosine_decay_restarts as cosine_decay_restarts,
    create_global_step as create_global_step,
    exponential_decay as exponential_decay,
    get_global_step as get_global_step,
    get_or_create_global_step as get_or_create_global_step,
    global_step as global_step,
    inverse_time_decay as inverse_time_decay,
    linear_cosine_decay as linear_cosine_decay,
    natural_exp_decay as natural_exp_decay,
    noisy_linear_cosine_decay as noisy_linear_cosine_decay,
    piecewise_constant as piecewise_constant,
    piecewise_constant as piecewise_constant_decay,
    polynomial_decay as polynomial_decay,
)
