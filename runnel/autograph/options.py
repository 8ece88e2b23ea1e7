"""Options of a conversion."""

from __future__ import annotations

import enum
from typing import Any


class Feature(enum.Enum):
    """Optional parts of the conversion, off by default.

    >>> tf.autograph.experimental.Feature.LISTS
    <Feature.LISTS: 'LISTS'>
    """

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Every feature."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Any) -> tuple[Feature, ...]:
        """Every feature except some."""
        left_out = exclude if isinstance(exclude, list | tuple | set) else (exclude,)
        return tuple(each for each in cls.all() if each not in left_out and each is not cls.ALL)


class ConversionOptions:
    """The options that a converted function passes to its callees."""

    def __init__(
        self,
        recursive: bool = False,
        user_requested: bool = False,
        internal_convert_user_code: bool = True,
        optional_features: Any = (),
    ) -> None:
        self.recursive = recursive
        self.user_requested = user_requested
        self.internal_convert_user_code = internal_convert_user_code
        if isinstance(optional_features, Feature):
            optional_features = (optional_features,)
        self.optional_features = frozenset(optional_features or ())

    @property
    def features(self) -> frozenset[Feature]:
        """The features, with ALL expanded."""
        if Feature.ALL in self.optional_features:
            return frozenset(Feature)
        return self.optional_features

    def source(self) -> str:
        """The options as source text of converted code."""
        names = sorted(f"ag__.Feature.{each.name}" for each in self.optional_features)
        features = names[0] if len(names) == 1 else f"({', '.join(names)})"
        return (
            f"ag__.ConversionOptions(recursive={self.recursive}, "
            f"user_requested={self.user_requested}, optional_features={features}, "
            f"internal_convert_user_code={self.internal_convert_user_code})"
        )

    def _key(self) -> tuple[Any, ...]:
        return self.recursive, self.optional_features

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ConversionOptions) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


STD = ConversionOptions(recursive=True)
