"""The operators that converted code calls as `ag__`, one for each Python construct it replaces."""

from .branching import if_exp as if_exp, if_stmt as if_stmt
from .calls import converted_call as converted_call
from .lists import list_append as list_append
from .logic import (
    and_ as and_,
    assert_stmt as assert_stmt,
    compare as compare,
    eq as eq,
    not_ as not_,
    not_eq as not_eq,
    or_ as or_,
)
from .loops import for_stmt as for_stmt, while_stmt as while_stmt
from .options import STD as STD, ConversionOptions as ConversionOptions, Feature as Feature
from .scopes import (
    FunctionScope as FunctionScope,
    autograph_artifact as autograph_artifact,
    with_function_scope as with_function_scope,
)
from .values import (
    Undefined as Undefined,
    UndefinedReturnValue as UndefinedReturnValue,
    is_undefined as is_undefined,
    ld as ld,
    ldu as ldu,
)
