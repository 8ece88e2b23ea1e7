"""tf.math: Arithmetic, special functions, reductions and segments."""

from ..core.suggestions import suggesting as _suggesting
from ..ops.math.arithmetic import (
    accumulate_n as accumulate_n,
    add as add,
    add_n as add_n,
    maximum as maximum,
    minimum as minimum,
    multiply as multiply,
    multiply_no_nan as multiply_no_nan,
    nextafter as nextafter,
    polyval as polyval,
    pow as pow,
    scalar_mul as scalar_mul,
    squared_difference as squared_difference,
    subtract as subtract,
)
from ..ops.math.bessel import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
)
from ..ops.math.comparison import (
    equal as equal,
    greater as greater,
    greater_equal as greater_equal,
    is_non_decreasing as is_non_decreasing,
    is_strictly_increasing as is_strictly_increasing,
    less as less,
    less_equal as less_equal,
    logical_and as logical_and,
    logical_not as logical_not,
    logical_or as logical_or,
    logical_xor as logical_xor,
    not_equal as not_equal,
)
from ..ops.math.complex import (
    angle as angle,
    conj as conj,
    imag as imag,
    real as real,
)
from ..ops.math.counting import (
    bincount as bincount,
    confusion_matrix as confusion_matrix,
    invert_permutation as invert_permutation,
)
from ..ops.math.cumulative import (
    cumprod as cumprod,
    cumsum as cumsum,
    cumulative_logsumexp as cumulative_logsumexp,
)
from ..ops.math.division import (
    divide as divide,
    divide_no_nan as divide_no_nan,
    floordiv as floordiv,
    floormod as floormod,
    mod as mod,
    truediv as truediv,
    xdivy as xdivy,
)
from ..ops.math.elementwise import (
    abs as abs,
    exp as exp,
    expm1 as expm1,
    log as log,
    log1p as log1p,
    log_sigmoid as log_sigmoid,
    negative as negative,
    reciprocal as reciprocal,
    reciprocal_no_nan as reciprocal_no_nan,
    rsqrt as rsqrt,
    sigmoid as sigmoid,
    sign as sign,
    softplus as softplus,
    softsign as softsign,
    sqrt as sqrt,
    square as square,
    xlog1py as xlog1py,
    xlogy as xlogy,
)
from ..ops.math.reduction import (
    argmax as argmax,
    argmin as argmin,
    reduce_all as reduce_all,
    reduce_any as reduce_any,
    reduce_euclidean_norm as reduce_euclidean_norm,
    reduce_max as reduce_max,
    reduce_mean as reduce_mean,
    reduce_min as reduce_min,
    reduce_prod as reduce_prod,
    reduce_sum as reduce_sum,
)
from ..ops.math.rounding import (
    ceil as ceil,
    floor as floor,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    rint as rint,
    round as round,
)
from ..ops.math.segment import (
    segment_max as segment_max,
    segment_mean as segment_mean,
    segment_min as segment_min,
    segment_prod as segment_prod,
    segment_sum as segment_sum,
    unsorted_segment_max as unsorted_segment_max,
    unsorted_segment_mean as unsorted_segment_mean,
    unsorted_segment_min as unsorted_segment_min,
    unsorted_segment_prod as unsorted_segment_prod,
    unsorted_segment_sqrt_n as unsorted_segment_sqrt_n,
    unsorted_segment_sum as unsorted_segment_sum,
)
from ..ops.math.sobol import (
    sobol_sample as sobol_sample,
)
from ..ops.math.sorting import (
    approx_max_k as approx_max_k,
    approx_min_k as approx_min_k,
    in_top_k as in_top_k,
    top_k as top_k,
)
from ..ops.math.special import (
    betainc as betainc,
    digamma as digamma,
    erf as erf,
    erfc as erfc,
    erfcinv as erfcinv,
    erfinv as erfinv,
    igamma as igamma,
    igammac as igammac,
    lbeta as lbeta,
    lgamma as lgamma,
    ndtri as ndtri,
    polygamma as polygamma,
    zeta as zeta,
)
from ..ops.math.statistics import (
    count_nonzero as count_nonzero,
    l2_normalize as l2_normalize,
    reduce_logsumexp as reduce_logsumexp,
    reduce_std as reduce_std,
    reduce_variance as reduce_variance,
    zero_fraction as zero_fraction,
)
from ..ops.math.trigonometry import (
    acos as acos,
    acosh as acosh,
    asin as asin,
    asinh as asinh,
    atan as atan,
    atan2 as atan2,
    atanh as atanh,
    cos as cos,
    cosh as cosh,
    sin as sin,
    sinh as sinh,
    tan as tan,
    tanh as tanh,
)
from ..ops.nn.softmax import (
    log_softmax as log_softmax,
    softmax as softmax,
)
from . import special as special

__getattr__ = _suggesting(__name__)
