"""tf.math.special: Special functions."""

from ..ops.math.bessel import (
    bessel_i0 as bessel_i0,
    bessel_i0e as bessel_i0e,
    bessel_i1 as bessel_i1,
    bessel_i1e as bessel_i1e,
    bessel_j0 as bessel_j0,
    bessel_j1 as bessel_j1,
    bessel_k0 as bessel_k0,
    bessel_k0e as bessel_k0e,
    bessel_k1 as bessel_k1,
    bessel_k1e as bessel_k1e,
    bessel_y0 as bessel_y0,
    bessel_y1 as bessel_y1,
)
from ..ops.math.special import (
    dawsn as dawsn,
    expint as expint,
    fresnel_cos as fresnel_cos,
    fresnel_sin as fresnel_sin,
    spence as spence,
)
