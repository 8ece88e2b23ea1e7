"""The classes of tf.compat.v1.layers: layers whose variables come from `get_variable`."""

from __future__ import annotations

import contextlib
import re

import runnel as _tf

from . import layers as _functions, scopes as _scopes
from .keys import GraphKeys as _Keys


class LayerObject:
    """A layer that makes its variables when first called, and uses them again afterwards."""

    _function = ""
    _call = ()

    def __init__(self, arguments, name, reuse):
        self._arguments = arguments
        self._given_name = name
        self._reuse = reuse
        self._scope = None
        self._own = {}
        self.name = name or self._function

    def __getattr__(self, name):
        arguments = self.__dict__.get("_arguments", {})
        if name in arguments:
            return arguments[name]
        found = self._named().get(name) if not name.startswith("_") else None
        if found is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return found

    def __call__(self, inputs, *args, scope=None, **kwargs):
        """Call the layer."""
        given = dict(zip(self._call, args, strict=False), **kwargs)
        first = self._scope is None
        name = (scope or self._given_name) if first else self._scope
        reuse = self._reuse if first else True
        enter = _scopes.variable_scope(name, default_name=self._function, reuse=reuse)
        with self._variables_of_its_own(), enter as entered:
            self._scope = self._scope or entered
            function = getattr(_functions, self._function)
            if self._function in ("flatten", "dropout") or "pooling" in self._function:
                return function(inputs, **self._arguments, **given)
            return function(inputs, **self._arguments, **given, name=entered)

    apply = __call__

    @contextlib.contextmanager
    def _variables_of_its_own(self):
        if _tf.executing_eagerly() and not _scopes.is_tracking():
            with _scopes.tracking(self._own, lambda *_: None):
                yield
        else:
            yield

    @property
    def scope_name(self):
        """The name of its variable scope; there is one when it was called."""
        if self._scope is None:
            raise ValueError(f'No name available for layer scope because the layer "{self.name}" '
                             "has not been used yet.")  # fmt: skip
        return self._scope.name

    def _named(self):
        scope = self.__dict__.get("_scope")
        if scope is None:
            return {}
        known = self._own or _scopes._store().variables
        prefix = f"{scope.name}/"
        return {
            name[len(prefix) :]: variable
            for name, variable in known.items()
            if name.startswith(prefix) and "/" not in name[len(prefix) :]
        }

    @property
    def variables(self):
        found = list(self._named().values())
        return [v for v in found if v.trainable] + [v for v in found if not v.trainable]

    weights = variables

    @property
    def trainable_variables(self):
        return [each for each in self.variables if each.trainable]

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self):
        return [each for each in self.variables if not each.trainable]

    non_trainable_weights = non_trainable_variables

    @property
    def losses(self):
        """The losses of its regularizers."""
        graph = _tf.compat.v1.get_default_graph()
        pattern = re.escape(f"{self.scope_name}/")
        return graph.get_collection(_Keys.REGULARIZATION_LOSSES, pattern)

    @property
    def updates(self):
        """The operations that keep its averages."""
        graph = _tf.compat.v1.get_default_graph()
        return graph.get_collection(_Keys.UPDATE_OPS, re.escape(f"{self.scope_name}/"))


def made_class(name, function, call=()):
    """The class of the layers that a function is."""
    import inspect

    source = inspect.signature(getattr(_functions, function)).parameters
    left_out = ("inputs", "name", "reuse", *call)
    taken = [each for key, each in source.items() if key not in left_out]
    parameters = [
        inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD), *taken,
        inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None),
        inspect.Parameter("_reuse", inspect.Parameter.KEYWORD_ONLY, default=None),
    ]  # fmt: skip
    signature = inspect.Signature(parameters)

    def __init__(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        layer, title, reuse = given.pop("self"), given.pop("name"), given.pop("_reuse")
        LayerObject.__init__(layer, given, title, reuse)

    __init__.__signature__ = signature
    doc = getattr(_functions, function).__doc__
    space = {"__init__": __init__, "_function": function, "_call": tuple(call), "__doc__": doc}
    return type(name, (LayerObject,), {**space, "__module__": _functions.__name__})
