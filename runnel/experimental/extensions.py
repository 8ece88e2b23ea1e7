"""ExtensionType: classes of composite values, which functions accept like tensors."""

from __future__ import annotations

import inspect
import re
import sys
import typing
from typing import Any, cast

import runnel as tf

from ..core.context import state
from ..core.tensor import Tensor
from ..core.type_spec import REGISTERED_SPECS, TypeSpec, register_type_spec
from .fields import (
    check_annotation,
    converted,
    converted_spec,
    filled,
    parts_of,
    specs_in,
)

_RESERVED = frozenset({"self", "Spec", "_type_spec"})
_NO_DEFAULT = inspect.Parameter.empty
_REGISTERED_NAME = re.compile(r"\w+(\.\w+)+")


# The specs of classes that have a `__name__` for files, by that name.
def _register(cls: type, name: str) -> None:
    """Let files know the specs of a class by a name; ValueError if it is no name, or another's."""
    if not _REGISTERED_NAME.fullmatch(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' (e.g. "
            f"'my_project.MyTypeSpec'); got {name!r}, which the __name__ of the class gives."
        )
    spec = cls.Spec  # type: ignore[attr-defined]
    known = REGISTERED_SPECS.get(name)
    place = spec.__module__, spec.__qualname__
    # A class that is defined once more, as by a cell of a notebook, takes its own place.
    if known is not None and (known.__module__, known.__qualname__) != place:
        raise ValueError(
            f"Name {name} has already been registered for class {known.__module__}."
            f"{known.__qualname__}. Give this one another __name__."
        )
    REGISTERED_SPECS[name] = spec
    spec._registered_name = name


class _Maker(type):
    """The metaclass: the constructor runs, then the fields are converted, validated and frozen."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        value = cast(Any, object).__new__(cls)
        value.__init__(*args, **kwargs)
        vars(value).update(cls._checked_fields(vars(value)))
        object.__setattr__(value, "_is_complete", True)
        value.__validate__()
        return value

    def _checked_fields(cls, given: dict[str, Any]) -> dict[str, Any]:
        fields: dict[str, Any] = cls._field_kinds  # type: ignore[attr-defined]
        missing = {name for name in fields if name not in given}
        if missing:
            raise ValueError(f"Missing required fields: {missing}")
        return {name: converted(fields[name], given[name], name) for name in fields}


class ExtensionTypeSpec(TypeSpec):
    """The type of an extension type's values: a spec, or a Python value, for each field."""

    _value_class: type
    # What files call the class; None for classes without a `__name__` of their own.
    _registered_name: str | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = _bound(self._value_class._field_kinds, {}, args, kwargs)  # type: ignore[attr-defined]
        vars(self).update(given)
        self._check()

    def _check(self) -> None:
        fields = self._value_class._field_kinds  # type: ignore[attr-defined]
        for name, annotation in fields.items():
            vars(self)[name] = converted_spec(annotation, vars(self)[name], name)

    def __init_subclass__(cls) -> None:
        own = vars(cls).get("__init__")
        if own is None:
            return

        def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
            own(self, *args, **kwargs)
            self._check()

        cls.__init__ = __init__  # type: ignore[method-assign]

    @property
    def value_type(self) -> type:
        """The extension type of the values."""
        return self._value_class

    @classmethod
    def from_value(cls, value: Any) -> Any:
        """The spec that describes a value."""
        names = cls._value_class._field_kinds  # type: ignore[attr-defined]
        return cls._of({name: specs_in(getattr(value, name)) for name in names})

    @classmethod
    def _of(cls, fields: dict[str, Any]) -> Any:
        # Bypasses the constructor, which a class may have redefined.
        spec = cls.__new__(cls)
        vars(spec).update(fields)
        return spec

    def _field_specs(self) -> dict[str, Any]:
        names = self._value_class._field_kinds  # type: ignore[attr-defined]
        return {name: vars(self)[name] for name in names}

    def _serialize(self) -> tuple[Any, ...]:
        return tuple(self._field_specs().items())

    @classmethod
    def _deserialize(cls, serialization: tuple[Any, ...]) -> Any:
        return cls._of(dict(serialization))

    def __reduce__(self) -> Any:
        return _restored, (self._value_class, self._field_specs())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={spec!r}" for name, spec in self._field_specs().items())
        return f"{self._value_class.__qualname__}.Spec({fields})"

    @property
    def _component_specs(self) -> Any:
        fields = self._field_specs().values()
        return tuple(spec for field in fields for spec in parts_of(field, field))

    def _to_components(self, value: Any) -> Any:
        if not isinstance(value, self._value_class):
            raise TypeError(f"Can not cast {value!r} to {self}")
        fields = self._field_specs().items()
        return tuple(part for name, spec in fields for part in parts_of(spec, getattr(value, name)))

    def placeholder_value(self, placeholder_context: Any) -> Any:
        """A value of this type whose tensors are placeholders of the graph being traced."""
        graph: Any = state.graph
        if graph is None:
            raise ValueError(
                f"No function is being traced that could have a placeholder of {self}."
            )
        return self.from_tensors(
            graph.placeholder(each.dtype, each.shape) for each in self.flatten()
        )

    @classmethod
    def experimental_type_proto(cls) -> Any:
        """The class of the specs' messages."""
        from ..formats.saved_model_messages import TypeSpecProto

        return TypeSpecProto

    def experimental_as_proto(self) -> Any:
        """The spec as a message; NotEncodable where there is none for its class."""
        from ..saved_model.structured_values import encode

        return encode(self).type_spec_value

    @classmethod
    def experimental_from_proto(cls, proto: Any) -> Any:
        """The spec that a message describes."""
        from ..saved_model.structured_values import decode

        return cls._deserialize(decode(proto.type_state))

    def _from_components(self, components: Any) -> Any:
        parts = iter(components)
        fields = {name: filled(spec, parts) for name, spec in self._field_specs().items()}
        value = cast(Any, object).__new__(self._value_class)
        vars(value).update(fields, _is_complete=True)
        return value


def _restored(kind: type, fields: dict[str, Any]) -> Any:
    return kind.Spec._of(fields)  # type: ignore[attr-defined]


def _bound(
    fields: dict[str, Any], defaults: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    bound = _signature(fields, defaults).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _signature(fields: dict[str, Any], defaults: dict[str, Any]) -> inspect.Signature:
    """One parameter per field; keyword-only without a default after one with a default."""
    parameters: list[inspect.Parameter] = []
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for name, annotation in fields.items():
        default = defaults.get(name, _NO_DEFAULT)
        if default is _NO_DEFAULT and parameters and parameters[-1].default is not _NO_DEFAULT:
            kind = inspect.Parameter.KEYWORD_ONLY
        parameters.append(inspect.Parameter(name, kind, default=default, annotation=annotation))
    return inspect.Signature(parameters)


class ExtensionType(metaclass=_Maker):
    """The base class of composite types: a field for every annotation.

    A subclass declares its fields as annotations, optionally with defaults; it gets a constructor,
    equality, a representation and `Spec`, the class of its specs. Its values are immutable.
    Functions, loops, conditions, datasets and `tf.nest` pass them like tensors.

    >>> class Masked(tf.experimental.ExtensionType):
    ...     values: tf.Tensor
    ...     mask: tf.Tensor
    >>> masked = Masked([1, 2], [True, False])
    >>> tf.function(lambda x: tf.boolean_mask(x.values, x.mask))(masked).numpy()
    array([1], dtype=int32)
    """

    _field_kinds: typing.ClassVar[dict[str, Any]] = {}
    _field_defaults: typing.ClassVar[dict[str, Any]] = {}
    # The base class of the specs of its values.
    _spec_class: typing.ClassVar[type] = ExtensionTypeSpec

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kind = type(self)
        vars(self).update(_bound(kind._field_kinds, kind._field_defaults, args, kwargs))

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        namespace = vars(cls)
        hints = _hints(cls, sys._getframe(1))
        cls._field_kinds = {
            name: hint
            for name, hint in hints.items()
            if typing.get_origin(hint) is not typing.ClassVar and hint is not typing.ClassVar
        }
        _check_fields(cls, namespace)
        cls._field_defaults = {}
        for name, annotation in cls._field_kinds.items():
            if hasattr(cls, name):
                default = getattr(cls, name)
                converted(annotation, default, f"default value for {name}")
                cls._field_defaults[name] = default
        if cls.__init__ is ExtensionType.__init__:
            cls.__signature__ = _signature(cls._field_kinds, cls._field_defaults)  # type: ignore[attr-defined]
        body = dict(vars(namespace["Spec"])) if "Spec" in namespace else {}
        for name in ("__dict__", "__weakref__"):
            body.pop(name, None)
        body |= {"_value_class": cls, "__module__": cls.__module__, "_registered_name": None}
        body["__qualname__"] = f"{cls.__qualname__}.Spec"
        cls.Spec = type(f"{cls.__name__}.Spec", (cls._spec_class,), body)  # type: ignore[attr-defined]
        register_type_spec(cls, cls.Spec.from_value)  # type: ignore[attr-defined]
        if "__name__" in namespace:
            _register(cls, namespace["__name__"] + ".Spec")

    @property
    def _type_spec(self) -> Any:
        return type(self).Spec.from_value(self)  # type: ignore[attr-defined]

    def __validate__(self) -> None:
        """Validation by a subclass; called after a value is constructed."""

    def __setattr__(self, name: str, value: Any) -> None:
        self._require_open(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        self._require_open(name)
        object.__delattr__(self, name)

    def _require_open(self, name: str) -> None:
        if name not in type(self)._field_kinds or vars(self).get("_is_complete"):
            raise AttributeError(
                f"Cannot mutate attribute `{name}` outside the custom constructor of "
                "ExtensionType. Make a new value instead."
            )

    def __repr__(self) -> str:
        names = type(self)._field_kinds
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{type(self).__qualname__}({fields})"

    def __eq__(self, other: object) -> Any:
        if type(other) is not type(self):
            return False
        ours, theirs = self._type_spec, other._type_spec
        if not ours.is_compatible_with(theirs):
            return False
        pairs = zip(ours.to_tensors(self), theirs.to_tensors(other), strict=True)
        return tf.reduce_all([_equal(one, another) for one, another in pairs] or [True])

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return tf.logical_not(same) if isinstance(same, Tensor) else not same

    __hash__ = None  # type: ignore[assignment]


def _equal(one: Tensor, another: Tensor) -> Tensor:
    """Whether two tensors have the same shape and elements."""
    if one.shape.is_fully_defined() and another.shape.is_fully_defined():
        return tf.reduce_all(tf.equal(one, another))
    same_rank = tf.equal(tf.rank(one), tf.rank(another))

    def same_shape() -> Tensor:
        return tf.reduce_all(tf.equal(tf.shape(one), tf.shape(another)))

    is_same = tf.cond(same_rank, same_shape, lambda: tf.constant(False))
    return tf.cond(
        is_same, lambda: tf.reduce_all(tf.equal(one, another)), lambda: tf.constant(False)
    )


def _hints(cls: type, frame: Any) -> dict[str, Any]:
    """The annotations of a class; `frame` is where it was defined."""
    try:
        return typing.get_type_hints(cls, localns={cls.__name__: cls})
    except NameError:  # they are strings with names that are not in the module
        names = {**frame.f_globals, **frame.f_locals, cls.__name__: cls}
        return typing.get_type_hints(cls, localns=names)


def _check_fields(cls: type, namespace: Any) -> None:
    """ValueError or TypeError where the body of a subclass has invalid fields."""
    fields: dict[str, Any] = cls._field_kinds  # type: ignore[attr-defined]
    invalid = f"The field annotations for {cls.__name__} are invalid."
    for name in fields:
        if name in _RESERVED:
            raise ValueError(f"{invalid} Field '{name}' is reserved.")
    for name, value in namespace.items():
        is_plain = not (callable(value) or hasattr(value, "__get__") or name.startswith("_"))
        if is_plain and name not in fields and name not in _RESERVED:
            raise ValueError(f"{invalid} Field {name} is missing a type annotation.")
    for name, annotation in fields.items():
        try:
            check_annotation(annotation)
        except TypeError as failure:
            raise TypeError(f"In field {name!r}: {failure}") from None


def as_dict(value: ExtensionType) -> dict[str, Any]:
    """The fields of an extension type's value by name; nested values are not converted."""
    return {name: getattr(value, name) for name in type(value)._field_kinds}
