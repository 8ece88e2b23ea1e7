"""The rules of optimizers as passes over whole arrays, for an engine whose threads share them.

A pass changes one array. Its right side is computed from left to right, without precedence, and
`root` and `inverse` are of all before them: `v += grad * grad - v * rest` adds
((grad grad) - v) rest to v. The names are those of the arguments of the rule in training_rules.py.

A function here gives the passes for the numbers of a rule.
"""

from __future__ import annotations

from typing import NamedTuple

from . import training_rules as rules

_SCRATCH = ("scratch", "other")


class Pass(NamedTuple):
    """The array `target` becomes, or grows or shrinks by (`sign`), what steps make of `start`.

    A step is an operator and its second operand, or a function. Arrays and numbers are places
    among what a rule takes.
    """

    target: int
    sign: str
    start: int
    steps: tuple[tuple[str, int | None], ...]

    @classmethod
    def read(cls, line, names):
        """The pass that a line tells of."""
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
