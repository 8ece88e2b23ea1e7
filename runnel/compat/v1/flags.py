"""tf.compat.v1.flags: options of the command line; absl's own where it is installed."""

from __future__ import annotations

import importlib as _importlib
import importlib.util as _importlib_util
from typing import Any as _Any

if _importlib_util.find_spec("absl") is not None:
    from absl.flags import *  # noqa: F403
    from absl.flags import FLAGS as FLAGS

    def __getattr__(name: str) -> _Any:
        return getattr(_importlib.import_module("absl.flags"), name)

else:
    from .small_flags import (
        FLAGS as FLAGS,
        DEFINE_bool as DEFINE_bool,
        DEFINE_boolean as DEFINE_boolean,
        DEFINE_enum as DEFINE_enum,
        DEFINE_float as DEFINE_float,
        DEFINE_integer as DEFINE_integer,
        DEFINE_list as DEFINE_list,
        DEFINE_string as DEFINE_string,
        FlagValues as FlagValues,
        mark_flag_as_required as mark_flag_as_required,
        mark_flags_as_required as mark_flags_as_required,
    )
