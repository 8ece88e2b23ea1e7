"""The rules of optimizers as passes over whole arrays, for an engine that parallelizes them.

A pass updates one array. Its right-hand side is evaluated from left to right, without precedence,
and `root` and `inverse` apply to everything before them: `v += grad * grad - v * rest` adds ((grad
grad) - v) rest to v. The names are those of the arguments of the rule in training_rules.py.

A function here returns the passes for the numbers of a rule.
"""

from __future__ import annotations

from typing import NamedTuple

from . import training_rules as rules

_SCRATCH = ("scratch", "other")


class Pass(NamedTuple):
    """Assign, add or subtract (`sign`) to `target` the result of the steps applied to `start`.

    A step is an operator and its second operand, or a function. Operands are indices into the
    rule's arguments.
    """

    target: int
    sign: str
    start: int
    steps: tuple[tuple[str, int | None], ...]

    @classmethod
    def read(cls, line, names):
        """Parse a line into a pass."""
        target, sign, start, *rest = line.split()
        words = iter(rest)
        steps = [(word, None if word.isalpha() else names.index(next(words))) for word in words]
        return cls(names.index(target), sign.rstrip("="), names.index(start), tuple(steps))


def _read(rule, *lines):
    code = rule.__code__
    names = [name for name in code.co_varnames[: code.co_argcount] if name not in _SCRATCH]
    return tuple(Pass.read(line, names) for line in lines)


def _always(rule, *lines):
    passes = _read(rule, *lines)
    return lambda *numbers: passes


_MOMENTS = ["m += grad - m * rest_1", "v += grad * grad - v * rest_2"]
_MEAN_SQUARE = ["ms = ms * rho", "ms += grad * grad * rest"]

gradient_descent = _always(rules.gradient_descent, "var -= delta * alpha")
adam = _always(rules.adam, *_MOMENTS, "var -= v root + epsilon inverse * m * alpha")
nadam = _always(
    rules.nadam,
    *_MOMENTS,
    "var -= v * on_v root + epsilon inverse * m * on_m",
    "var -= v * on_v root + epsilon inverse * grad * on_grad",
)
rmsprop = _always(rules.rmsprop, *_MEAN_SQUARE, "var -= ms + epsilon root inverse * grad * lr")
rmsprop_momentum = _always(
    rules.rmsprop_momentum,
    *_MEAN_SQUARE,
    "mom = mom * momentum",
    "mom += ms + epsilon root inverse * grad * lr",
    "var = var - mom",
)
adagrad = _always(
    rules.adagrad, "accum += grad * grad", "var -= accum root + epsilon inverse * grad * lr"
)
keras_adagrad = _always(
    rules.keras_adagrad, "accum += grad * grad", "var -= accum + epsilon root inverse * grad * lr"
)

_DECAYED = ["accum = accum * momentum", "accum -= grad * lr"]
_momentum = _read(rules.keras_momentum, *_DECAYED, "var = var + accum")
_nesterov = _read(rules.keras_momentum, *_DECAYED, "var -= grad * lr", "var += accum * momentum")
_plain = _read(rules.keras_momentum, "accum = grad * minus_lr", "var = var + accum")


def keras_momentum(lr, minus_lr, momentum, nesterov=False):
    if not momentum:
        return _plain
    return _nesterov if nesterov else _momentum
