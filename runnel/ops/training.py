"""Fused updates of optimizers: a variable and its slots change together, in place, block by block.

An update walks over cache-sized blocks: all its arithmetic on one block happens before the next one
is read from memory. Buffers that somebody else can see are copied first, so tensors read from the
variables never change.
"""

from __future__ import annotations

import threading

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import InvalidArgumentError
from ..core.op import execute, op
from ..core.shape_rules import dimensions_text, nothing
from ..core.shapes import TensorShape

# Elements of a block: four float32 arrays of this length fit into a core's second-level cache.
BLOCK = 32768

_TYPES = dtypes.FLOATING | dtypes.COMPLEX


class _Scratch(threading.local):
    """Each thread's buffers for intermediate values of blocks."""

    def __init__(self):
        self._buffers = {}

    def of(self, dtype, count):
        """`count` buffers of a block's length."""
        buffers = self._buffers.get((dtype, count))
        if buffers is None:
            buffers = [np.empty(BLOCK, dtype) for _ in range(count)]
            self._buffers[dtype, count] = buffers
        return buffers


_scratch = _Scratch()


class Update:
    """A change of cells of one shape by a gradient, block by block.

    `rule(*cells, gradient, *scratch, *numbers)` changes the arrays of the cells in place.
    """

    def __init__(self, rule, scratch=1):
        self.rule = rule
        self.scratch = scratch

    def update(self, cells, gradient, numbers):
        """Change the cells in place, or replace their buffers where somebody else holds them."""
        sizes = cells[0]._tensor._array.shape
        if gradient.shape != sizes:
            gradient = _fitted(gradient, sizes)
        arrays = []
        fresh = []
        for cell in cells:
            if sizes and cell._is_sole_owner():
                arrays.append(cell._tensor._array)
            else:
                array = np.array(cell._tensor._array, order="C")
                arrays.append(array)
                fresh.append((cell, array))
        if gradient.size <= BLOCK:
            scratch = [np.empty(sizes, gradient.dtype) for _ in range(self.scratch)]
            self.rule(*arrays, gradient, *scratch, *numbers)
        else:
            self._blocks(cells, arrays, fresh, gradient, numbers)
        for cell, array in fresh:
            cell._replace(array if sizes else array[()])

    def _blocks(self, cells, arrays, fresh, gradient, numbers):
        for i, array in enumerate(arrays):
            if not array.flags.c_contiguous:
                arrays[i] = np.ascontiguousarray(array)
                fresh.append((cells[i], arrays[i]))
        flat = [array.reshape(-1) for array in arrays]
        flat.append(np.ascontiguousarray(gradient).reshape(-1))
        scratch = _scratch.of(gradient.dtype, self.scratch)
        rule = self.rule
        size = gradient.size
        for start in range(0, size, BLOCK):
            stop = start + BLOCK
            if stop > size:
                scratch = [buffer[: size - start] for buffer in scratch]
            rule(*[array[start:stop] for array in flat], *scratch, *numbers)


class FusedUpdate(Update):
    """An op that changes a variable and its slots by a gradient.

    Its inputs, as `inputs` lists them, are the cells (with a star), scalars and the gradient.
    `numbers(*scalars)` computes what the rule takes, once for all variables of a step.
    """

    def __init__(self, name, inputs, rule, numbers, scratch=1, nesterov=False):
        super().__init__(rule, scratch)
        names = [part.strip() for part in inputs.split(",")]
        self.name = name
        self.cells = sum(1 for each in names if each.startswith("*"))
        self.position = next(i for i, each in enumerate(names) if each in ("grad", "delta"))
        self.nesterov = nesterov
        self._numbers = numbers
        types = {each: "resource" if each[0] == "*" else "T" for each in names}
        self.op = op(
            name,
            ", ".join(f"{each.lstrip('*')}: {kind}" for each, kind in types.items()),
            T=_TYPES,
            shape=nothing,
            kernel=self._nesterov_kernel() if nesterov else self._kernel(),
            stateful=True,
            gradient=None,
        )

    def _kernel(self):
        def kernel(*inputs, use_locking=False):
            cells, scalars, gradient = self._split(inputs)
            self.update(cells, gradient, self.prepare(scalars, gradient.dtype))
            return []

        return kernel

    def _nesterov_kernel(self):
        def kernel(*inputs, use_locking=False, use_nesterov=False):
            cells, scalars, gradient = self._split(inputs)
            self.update(cells, gradient, (*self.prepare(scalars, gradient.dtype), use_nesterov))
            return []

        return kernel

    def _split(self, inputs):
        rest = list(inputs[self.cells :])
        gradient = rest.pop(self.position - self.cells)
        return inputs[: self.cells], rest, gradient

    def prepare(self, scalars, dtype):
        """The rule's numbers as arrays of rank 0: ufuncs take those fastest."""
        return tuple([np.asarray(number, dtype) for number in self._numbers(*scalars)])

    def __call__(self, cells, scalars, gradient, **attrs):
        """Do the update as an operation, with scalars and gradient as tensors."""
        inputs = [cell.handle for cell in cells]
        inputs += [convert_to_tensor(each) for each in scalars]
        inputs.insert(self.position, gradient)
        execute(self.op, tuple(inputs), attrs)


def _fitted(gradient, sizes):
    try:
        return np.broadcast_to(gradient, sizes)
    except ValueError:
        raise InvalidArgumentError(
            None,
            None,
            f"Incompatible shapes: the variable has shape {dimensions_text(TensorShape(sizes))}, "
            f"its gradient {dimensions_text(TensorShape(gradient.shape))}.",
        ) from None


def _rest(share):
    """1 - share, of the decimal number that the share was written as.

    float32 keeps so few digits of 0.999 that its distance from 1 is wrong from the fifth one on.
    """
    return 1 - (share if type(share) is float else float(str(share)))


# The rules, from here on. Each works on a block: the cells' arrays, the gradient, scratch buffers,
# numbers.


def _keras_momentum(var, accum, grad, scratch, lr, momentum, nesterov=False):
    if not momentum:
        np.multiply(grad, -lr, accum)
        np.add(var, accum, var)
        return
    np.multiply(grad, lr, scratch)
    np.multiply(accum, momentum, accum)
    np.subtract(accum, scratch, accum)
    if nesterov:
        np.subtract(var, scratch, var)
        np.multiply(accum, momentum, scratch)
        np.add(var, scratch, var)
    else:
        np.add(var, accum, var)


def _gradient_descent(var, delta, scratch, alpha):
    np.multiply(delta, alpha, scratch)
    np.subtract(var, scratch, var)


def _moments(m, v, grad, scratch, rest_1, rest_2):
    """m += (grad - m) (1 - beta_1);  v += (grad² - v) (1 - beta_2)."""
    np.subtract(grad, m, scratch)
    np.multiply(scratch, rest_1, scratch)
    np.add(m, scratch, m)
    np.multiply(grad, grad, scratch)
    np.subtract(scratch, v, scratch)
    np.multiply(scratch, rest_2, scratch)
    np.add(v, scratch, v)


def _adam(var, m, v, grad, scratch, rest_1, rest_2, epsilon, alpha):
    _moments(m, v, grad, scratch, rest_1, rest_2)
    np.sqrt(v, scratch)
    np.add(scratch, epsilon, scratch)
    np.divide(m, scratch, scratch)
    np.multiply(scratch, alpha, scratch)
    np.subtract(var, scratch, var)


def _adam_numbers(beta1_power, beta2_power, lr, beta1, beta2, epsilon):
    alpha = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    return _rest(beta1), _rest(beta2), epsilon, alpha


def _amsgrad(var, m, v, vhat, grad, scratch, rest_1, rest_2, epsilon, alpha):
    _moments(m, v, grad, scratch, rest_1, rest_2)
    np.maximum(vhat, v, out=vhat)
    np.sqrt(vhat, scratch)
    np.add(scratch, epsilon, scratch)
    np.divide(m, scratch, scratch)
    np.multiply(scratch, alpha, scratch)
    np.subtract(var, scratch, var)


def _adamax(var, m, v, grad, scratch, rest, beta2, epsilon, rate):
    np.subtract(grad, m, scratch)
    np.multiply(scratch, rest, scratch)
    np.add(m, scratch, m)
    np.multiply(v, beta2, v)
    np.abs(grad, scratch)
    np.maximum(v, scratch, out=v)
    np.add(v, epsilon, scratch)
    np.divide(m, scratch, scratch)
    np.multiply(scratch, rate, scratch)
    np.subtract(var, scratch, var)


def _adamax_numbers(beta1_power, lr, beta1, beta2, epsilon):
    return _rest(beta1), beta2, epsilon, lr / (1 - beta1_power)


def _nadam(var, m, v, grad, scratch, other, rest_1, rest_2, epsilon, on_m, on_grad, on_v):
    _moments(m, v, grad, scratch, rest_1, rest_2)
    np.multiply(v, on_v, scratch)
    np.sqrt(scratch, scratch)
    np.add(scratch, epsilon, scratch)
    np.divide(m, scratch, other)
    np.multiply(other, on_m, other)
    np.subtract(var, other, var)
    np.divide(grad, scratch, other)
    np.multiply(other, on_grad, other)
    np.subtract(var, other, var)


def _nadam_numbers(product, now, after, beta2_power, lr, beta1, beta2, epsilon):
    on_m = lr * after / (1 - product * after)
    on_grad = lr * (1 - now) / (1 - product)
    return 1 - beta1, 1 - beta2, epsilon, on_m, on_grad, 1 / (1 - beta2_power)


def _mean_square(ms, grad, scratch, rho, rest):
    np.multiply(ms, rho, ms)
    np.multiply(grad, grad, scratch)
    np.multiply(scratch, rest, scratch)
    np.add(ms, scratch, ms)


def _rmsprop(var, ms, grad, scratch, lr, rho, rest, epsilon):
    _mean_square(ms, grad, scratch, rho, rest)
    np.add(ms, epsilon, scratch)
    np.sqrt(scratch, scratch)
    np.divide(grad, scratch, scratch)
    np.multiply(scratch, lr, scratch)
    np.subtract(var, scratch, var)


def _rmsprop_momentum(var, ms, mom, grad, scratch, lr, rho, rest, momentum, epsilon):
    _mean_square(ms, grad, scratch, rho, rest)
    np.add(ms, epsilon, scratch)
    np.sqrt(scratch, scratch)
    np.divide(grad, scratch, scratch)
    np.multiply(scratch, lr, scratch)
    np.multiply(mom, momentum, mom)
    np.add(mom, scratch, mom)
    np.subtract(var, mom, var)


def _centered_denominator(mg, ms, grad, scratch, rho, rest, epsilon):
    _mean_square(ms, grad, scratch, rho, rest)
    np.multiply(mg, rho, mg)
    np.multiply(grad, rest, scratch)
    np.add(mg, scratch, mg)
    np.multiply(mg, mg, scratch)
    np.subtract(ms, scratch, scratch)
    np.add(scratch, epsilon, scratch)
    np.sqrt(scratch, scratch)


def _centered_rmsprop(var, mg, ms, grad, scratch, lr, rho, rest, epsilon):
    _centered_denominator(mg, ms, grad, scratch, rho, rest, epsilon)
    np.divide(grad, scratch, scratch)
    np.multiply(scratch, lr, scratch)
    np.subtract(var, scratch, var)


def _centered_rmsprop_momentum(var, mg, ms, mom, grad, scratch, lr, rho, rest, momentum, epsilon):
    _centered_denominator(mg, ms, grad, scratch, rho, rest, epsilon)
    np.divide(grad, scratch, scratch)
    np.multiply(scratch, lr, scratch)
    np.multiply(mom, momentum, mom)
    np.add(mom, scratch, mom)
    np.subtract(var, mom, var)


def _momentum_numbers(lr, rho, momentum, epsilon):
    return lr, rho, _rest(rho), momentum, epsilon


def _rho_numbers(lr, rho, epsilon):
    return lr, rho, _rest(rho), epsilon


def _adagrad(var, accum, grad, scratch, lr, epsilon):
    np.multiply(grad, grad, scratch)
    np.add(accum, scratch, accum)
    np.sqrt(accum, scratch)
    np.add(scratch, epsilon, scratch)
    np.divide(grad, scratch, scratch)
    np.multiply(scratch, lr, scratch)
    np.subtract(var, scratch, var)


def _keras_adagrad(var, accum, grad, scratch, lr, epsilon):
    np.multiply(grad, grad, scratch)
    np.add(accum, scratch, accum)
    np.add(accum, epsilon, scratch)
    np.sqrt(scratch, scratch)
    np.divide(grad, scratch, scratch)
    np.multiply(scratch, lr, scratch)
    np.subtract(var, scratch, var)


def _adadelta(var, accum, accum_update, grad, scratch, other, lr, rho, rest, epsilon):
    _mean_square(accum, grad, scratch, rho, rest)
    np.add(accum_update, epsilon, scratch)
    np.add(accum, epsilon, other)
    np.divide(scratch, other, scratch)
    np.sqrt(scratch, scratch)
    np.multiply(scratch, grad, scratch)
    np.multiply(scratch, lr, other)
    np.subtract(var, other, var)
    np.multiply(scratch, scratch, scratch)
    np.multiply(scratch, rest, scratch)
    np.multiply(accum_update, rho, accum_update)
    np.add(accum_update, scratch, accum_update)


def _ftrl(
    var, accum, linear, grad, scratch, powered, lr, l1, minus_l1, twice_l2, twice_shrinkage, power
):
    np.power(accum, power, powered)
    np.multiply(grad, grad, scratch)
    np.add(accum, scratch, accum)
    np.power(accum, power, scratch)
    np.subtract(powered, scratch, powered)
    np.divide(powered, lr, powered)
    np.add(powered, twice_shrinkage, powered)
    np.multiply(powered, var, powered)
    np.add(linear, powered, linear)
    np.add(linear, grad, linear)
    np.divide(scratch, lr, scratch)
    np.add(scratch, twice_l2, scratch)
    np.clip(linear, minus_l1, l1, powered)
    np.subtract(powered, linear, powered)
    np.divide(powered, scratch, var)


def _ftrl_numbers(lr, l1, l2, l2_shrinkage, lr_power):
    return lr, l1, -l1, 2 * l2, 2 * l2_shrinkage, -lr_power


def _lion(var, m, grad, scratch, other, lr, beta1, rest_1, beta2, rest_2):
    np.multiply(m, beta1, scratch)
    np.multiply(grad, rest_1, other)
    np.add(scratch, other, scratch)
    np.sign(scratch, scratch)
    np.multiply(scratch, lr, scratch)
    np.subtract(var, scratch, var)
    np.multiply(m, beta2, m)
    np.multiply(grad, rest_2, scratch)
    np.add(m, scratch, m)


def _lion_numbers(lr, beta1, beta2):
    return lr, beta1, _rest(beta1), beta2, _rest(beta2)


def _moving_average(average, value, scratch, momentum, rest):
    np.multiply(average, momentum, average)
    np.multiply(value, rest, scratch)
    np.add(average, scratch, average)


def _same(*scalars):
    return scalars


ApplyGradientDescent = FusedUpdate(
    "ResourceApplyGradientDescent", "*var, alpha, delta", _gradient_descent, _same
)
ApplyKerasMomentum = FusedUpdate(
    "ResourceApplyKerasMomentum",
    "*var, *accum, lr, grad, momentum",
    _keras_momentum,
    _same,
    nesterov=True,
)
ApplyAdam = FusedUpdate(
    "ResourceApplyAdam",
    "*var, *m, *v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
    _adam,
    _adam_numbers,
)
ApplyAdamWithAmsgrad = FusedUpdate(
    "ResourceApplyAdamWithAmsgrad",
    "*var, *m, *v, *vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
    _amsgrad,
    _adam_numbers,
)
ApplyAdaMax = FusedUpdate(
    "ResourceApplyAdaMax",
    "*var, *m, *v, beta1_power, lr, beta1, beta2, epsilon, grad",
    _adamax,
    _adamax_numbers,
)
ApplyRMSProp = FusedUpdate(
    "ResourceApplyRMSProp",
    "*var, *ms, *mom, lr, rho, momentum, epsilon, grad",
    _rmsprop_momentum,
    _momentum_numbers,
)
ApplyCenteredRMSProp = FusedUpdate(
    "ResourceApplyCenteredRMSProp",
    "*var, *mg, *ms, *mom, lr, rho, momentum, epsilon, grad",
    _centered_rmsprop_momentum,
    _momentum_numbers,
)
ApplyAdagradV2 = FusedUpdate(
    "ResourceApplyAdagradV2", "*var, *accum, lr, epsilon, grad", _adagrad, _same
)
ApplyAdadelta = FusedUpdate(
    "ResourceApplyAdadelta",
    "*var, *accum, *accum_update, lr, rho, epsilon, grad",
    _adadelta,
    _rho_numbers,
    scratch=2,
)
ApplyFtrlV2 = FusedUpdate(
    "ResourceApplyFtrlV2",
    "*var, *accum, *linear, grad, lr, l1, l2, l2_shrinkage, lr_power",
    _ftrl,
    _ftrl_numbers,
    scratch=2,
)

# What follows has no counterpart among the operations of the original, whose optimizers compose it.
ApplyNadam = FusedUpdate(
    "ResourceApplyNadam",
    "*var, *m, *v, product, now, after, beta2_power, lr, beta1, beta2, epsilon, grad",
    _nadam,
    _nadam_numbers,
    scratch=2,
)
ApplyKerasRMSProp = FusedUpdate(
    "ResourceApplyKerasRMSProp", "*var, *ms, lr, rho, epsilon, grad", _rmsprop, _rho_numbers
)
ApplyKerasCenteredRMSProp = FusedUpdate(
    "ResourceApplyKerasCenteredRMSProp",
    "*var, *mg, *ms, lr, rho, epsilon, grad",
    _centered_rmsprop,
    _rho_numbers,
)
ApplyKerasAdagrad = FusedUpdate(
    "ResourceApplyKerasAdagrad", "*var, *accum, lr, epsilon, grad", _keras_adagrad, _same
)
ApplyLion = FusedUpdate(
    "ResourceApplyLion", "*var, *m, lr, beta1, beta2, grad", _lion, _lion_numbers, scratch=2
)

_average = Update(_moving_average)


def decay(variable, factor):
    """variable -= factor variable, by a number."""
    if variable._tensor._array.shape and variable._is_sole_owner():
        array = variable._tensor._array
        for start in range(0, len(array), rows := max(1, BLOCK * len(array) // max(array.size, 1))):
            block = array[start : start + rows]
            np.subtract(block, block * factor, block)
    else:
        array = variable._tensor._array
        variable._replace(array - array * factor)


def update_average(average, variable, momentum):
    """average = momentum average + (1 - momentum) variable, by a Python number."""
    value = np.asarray(variable._tensor._array)
    numbers = (np.asarray(momentum, value.dtype), np.asarray(1 - momentum, value.dtype))
    _average.update((average,), value, numbers)
