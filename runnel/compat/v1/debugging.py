"""tf.compat.v1.debugging: `tf.debugging` with TensorFlow 1's arguments."""

import runnel as _tf

from . import older as _older
from .assertions import (
    assert_equal as assert_equal,
    assert_greater as assert_greater,
    assert_greater_equal as assert_greater_equal,
    assert_integer as assert_integer,
    assert_less as assert_less,
    assert_less_equal as assert_less_equal,
    assert_near as assert_near,
    assert_negative as assert_negative,
    assert_non_negative as assert_non_negative,
    assert_non_positive as assert_non_positive,
    assert_none_equal as assert_none_equal,
    assert_positive as assert_positive,
    assert_rank as assert_rank,
    assert_rank_at_least as assert_rank_at_least,
    assert_rank_in as assert_rank_in,
    assert_scalar as assert_scalar,
    assert_type as assert_type,
)

assert_all_finite = _older.verify_tensor_all_finite


def __getattr__(name: str) -> object:
    if name in ("is_finite", "is_inf", "is_nan", "is_non_decreasing", "is_strictly_increasing"):
        return getattr(_tf.math, name)
    return getattr(_tf.debugging, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *dir(_tf.debugging)})
