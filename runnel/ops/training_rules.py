"""The arithmetic of optimizers on one block: arrays updated in place.

A rule takes the arrays of the variable and its slots, the gradient, scratch arrays, and numbers as
arrays of rank 0. A function `..._numbers` computes those numbers from the inputs of the operation.
"""

from __future__ import annotations

from numpy import absolute, add, clip, divide, maximum, multiply, power, sign, sqrt, subtract


def _rest(share):
    """1 - share, from the shortest decimal representation of share.

    float32 rounds 0.999 so coarsely that its distance from 1 is wrong from the fifth digit on.
    """
    return 1 - (share if type(share) is float else float(str(share)))


def keras_momentum(var, accum, grad, scratch, lr, minus_lr, momentum, nesterov=False):
    if not momentum:
        multiply(grad, minus_lr, accum)
        add(var, accum, var)
        return
    multiply(grad, lr, scratch)
    multiply(accum, momentum, accum)
    subtract(accum, scratch, accum)
    if nesterov:
        subtract(var, scratch, var)
        multiply(accum, momentum, scratch)
        add(var, scratch, var)
    else:
        add(var, accum, var)


def keras_momentum_numbers(lr, momentum):
    return lr, -lr, momentum


def gradient_descent(var, delta, scratch, alpha):
    multiply(delta, alpha, scratch)
    subtract(var, scratch, var)


def _moments(m, v, grad, scratch, rest_1, rest_2):
    """m += (grad - m) (1 - beta_1);  v += (grad² - v) (1 - beta_2)."""
    subtract(grad, m, scratch)
    multiply(scratch, rest_1, scratch)
    add(m, scratch, m)
    multiply(grad, grad, scratch)
    subtract(scratch, v, scratch)
    multiply(scratch, rest_2, scratch)
    add(v, scratch, v)


def adam(var, m, v, grad, scratch, rest_1, rest_2, epsilon, alpha):
    _moments(m, v, grad, scratch, rest_1, rest_2)
    sqrt(v, scratch)
    add(scratch, epsilon, scratch)
    divide(m, scratch, scratch)
    multiply(scratch, alpha, scratch)
    subtract(var, scratch, var)


def adam_numbers(beta1_power, beta2_power, lr, beta1, beta2, epsilon):
    alpha = lr * (1 - beta2_power) ** 0.5 / (1 - beta1_power)
    return _rest(beta1), _rest(beta2), epsilon, alpha


def amsgrad(var, m, v, vhat, grad, scratch, rest_1, rest_2, epsilon, alpha):
    _moments(m, v, grad, scratch, rest_1, rest_2)
    maximum(vhat, v, out=vhat)
    sqrt(vhat, scratch)
    add(scratch, epsilon, scratch)
    divide(m, scratch, scratch)
    multiply(scratch, alpha, scratch)
    subtract(var, scratch, var)


def adamax(var, m, v, grad, scratch, rest, beta2, epsilon, rate):
    subtract(grad, m, scratch)
    multiply(scratch, rest, scratch)
    add(m, scratch, m)
    multiply(v, beta2, v)
    absolute(grad, scratch)
    maximum(v, scratch, out=v)
    add(v, epsilon, scratch)
    divide(m, scratch, scratch)
    multiply(scratch, rate, scratch)
    subtract(var, scratch, var)


def adamax_numbers(beta1_power, lr, beta1, beta2, epsilon):
    return _rest(beta1), beta2, epsilon, lr / (1 - beta1_power)


def nadam(var, m, v, grad, scratch, other, rest_1, rest_2, epsilon, on_m, on_grad, on_v):
    _moments(m, v, grad, scratch, rest_1, rest_2)
    multiply(v, on_v, scratch)
    sqrt(scratch, scratch)
    add(scratch, epsilon, scratch)
    divide(m, scratch, other)
    multiply(other, on_m, other)
    subtract(var, other, var)
    divide(grad, scratch, other)
    multiply(other, on_grad, other)
    subtract(var, other, var)


def nadam_numbers(product, now, after, beta2_power, lr, beta1, beta2, epsilon):
    on_m = lr * after / (1 - product * after)
    on_grad = lr * (1 - now) / (1 - product)
    return 1 - beta1, 1 - beta2, epsilon, on_m, on_grad, 1 / (1 - beta2_power)


def _mean_square(ms, grad, scratch, rho, rest):
    multiply(ms, rho, ms)
    multiply(grad, grad, scratch)
    multiply(scratch, rest, scratch)
    add(ms, scratch, ms)


def rmsprop(var, ms, grad, scratch, lr, rho, rest, epsilon):
    _mean_square(ms, grad, scratch, rho, rest)
    add(ms, epsilon, scratch)
    sqrt(scratch, scratch)
    divide(grad, scratch, scratch)
    multiply(scratch, lr, scratch)
    subtract(var, scratch, var)


def rmsprop_momentum(var, ms, mom, grad, scratch, lr, rho, rest, momentum, epsilon):
    _mean_square(ms, grad, scratch, rho, rest)
    add(ms, epsilon, scratch)
    sqrt(scratch, scratch)
    divide(grad, scratch, scratch)
    multiply(scratch, lr, scratch)
    multiply(mom, momentum, mom)
    add(mom, scratch, mom)
    subtract(var, mom, var)


def _centered_denominator(mg, ms, grad, scratch, rho, rest, epsilon):
    _mean_square(ms, grad, scratch, rho, rest)
    multiply(mg, rho, mg)
    multiply(grad, rest, scratch)
    add(mg, scratch, mg)
    multiply(mg, mg, scratch)
    subtract(ms, scratch, scratch)
    add(scratch, epsilon, scratch)
    sqrt(scratch, scratch)


def centered_rmsprop(var, mg, ms, grad, scratch, lr, rho, rest, epsilon):
    _centered_denominator(mg, ms, grad, scratch, rho, rest, epsilon)
    divide(grad, scratch, scratch)
    multiply(scratch, lr, scratch)
    subtract(var, scratch, var)


def centered_rmsprop_momentum(var, mg, ms, mom, grad, scratch, lr, rho, rest, momentum, epsilon):
    _centered_denominator(mg, ms, grad, scratch, rho, rest, epsilon)
    divide(grad, scratch, scratch)
    multiply(scratch, lr, scratch)
    multiply(mom, momentum, mom)
    add(mom, scratch, mom)
    subtract(var, mom, var)


def momentum_numbers(lr, rho, momentum, epsilon):
    return lr, rho, _rest(rho), momentum, epsilon


def rho_numbers(lr, rho, epsilon):
    return lr, rho, _rest(rho), epsilon


def adagrad(var, accum, grad, scratch, lr, epsilon):
    multiply(grad, grad, scratch)
    add(accum, scratch, accum)
    sqrt(accum, scratch)
    add(scratch, epsilon, scratch)
    divide(grad, scratch, scratch)
    multiply(scratch, lr, scratch)
    subtract(var, scratch, var)


def keras_adagrad(var, accum, grad, scratch, lr, epsilon):
    multiply(grad, grad, scratch)
    add(accum, scratch, accum)
    add(accum, epsilon, scratch)
    sqrt(scratch, scratch)
    divide(grad, scratch, scratch)
    multiply(scratch, lr, scratch)
    subtract(var, scratch, var)


def adadelta(var, accum, accum_update, grad, scratch, other, lr, rho, rest, epsilon):
    _mean_square(accum, grad, scratch, rho, rest)
    add(accum_update, epsilon, scratch)
    add(accum, epsilon, other)
    divide(scratch, other, scratch)
    sqrt(scratch, scratch)
    multiply(scratch, grad, scratch)
    multiply(scratch, lr, other)
    subtract(var, other, var)
    multiply(scratch, scratch, scratch)
    multiply(scratch, rest, scratch)
    multiply(accum_update, rho, accum_update)
    add(accum_update, scratch, accum_update)


def _raised(array, exponent, result):
    if exponent == 0.5:
        sqrt(array, result)
    else:
        power(array, exponent, result)


def ftrl(
    var,
    accum,
    linear,
    grad,
    scratch,
    other,
    lr,
    l1,
    minus_l1,
    twice_l2,
    twice_shrinkage,
    exponent,
):
    _raised(accum, exponent, other)
    multiply(grad, grad, scratch)
    add(accum, scratch, accum)
    _raised(accum, exponent, scratch)
    subtract(other, scratch, other)
    divide(other, lr, other)
    add(other, twice_shrinkage, other)
    multiply(other, var, other)
    add(linear, other, linear)
    add(linear, grad, linear)
    divide(scratch, lr, scratch)
    add(scratch, twice_l2, scratch)
    clip(linear, minus_l1, l1, other)
    subtract(other, linear, other)
    divide(other, scratch, var)


def ftrl_numbers(lr, l1, l2, l2_shrinkage, lr_power):
    return lr, l1, -l1, 2 * l2, 2 * l2_shrinkage, -lr_power


def lion(var, m, grad, scratch, other, lr, beta1, rest_1, beta2, rest_2):
    multiply(m, beta1, scratch)
    multiply(grad, rest_1, other)
    add(scratch, other, scratch)
    # Ten times faster than in place.
    sign(scratch, other)
    multiply(other, lr, other)
    subtract(var, other, var)
    multiply(m, beta2, m)
    multiply(grad, rest_2, scratch)
    add(m, scratch, m)


def lion_numbers(lr, beta1, beta2):
    return lr, beta1, 1 - beta1, beta2, 1 - beta2


def moving_average(average, value, scratch, momentum, rest):
    multiply(average, momentum, average)
    multiply(value, rest, scratch)
    add(average, scratch, average)


def same(*scalars):
    return scalars
