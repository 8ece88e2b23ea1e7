"""The optimizers of TensorFlow 1."""

from __future__ import annotations

from ....core.indexed_slices import IndexedSlices
from ....ops import training as fused
from ....ops.array.creation import zeros_like
from ....ops.array.gathering import gather
from ....ops.math.arithmetic import maximum
from ....ops.math.casting import cast
from ....ops.math.elementwise import abs as absolute, sign, sqrt, square
from ..building import done
from .optimizer import Optimizer, filled


class GradientDescentOptimizer(Optimizer):
    """var -= learning_rate gradient."""

    def __init__(self, learning_rate, use_locking=False, name="GradientDescent"):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate

    def _resource_apply_dense(self, grad, handle):
        rate = self._number(self._learning_rate, grad.dtype)
        fused.ApplyGradientDescent((handle,), (rate,), grad)

    def _apply_sparse_duplicate_indices(self, grad, var):
        rate = self._number(self._learning_rate, grad.values.dtype)
        var.scatter_sub(IndexedSlices(grad.values * rate, grad.indices))


class ProximalGradientDescentOptimizer(Optimizer):
    """Gradient descent with L1 and L2 penalties, applied after the step."""

    def __init__(
        self,
        learning_rate,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalGradientDescent",
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _resource_apply_dense(self, grad, handle):
        rate = self._number(self._learning_rate, grad.dtype)
        moved = handle.read_value() - rate * grad
        handle.assign(_shrunk(moved, rate, self._l1, self._l2))

    def _resource_apply_sparse(self, grad, handle, indices):
        rate = self._number(self._learning_rate, grad.dtype)
        moved = gather(handle, indices) - rate * grad
        handle.scatter_update(IndexedSlices(_shrunk(moved, rate, self._l1, self._l2), indices))


def _shrunk(values, rate, l1, l2):
    """The proximal operator of the penalties."""
    if l1 > 0:
        values = sign(values) * maximum(absolute(values) - rate * l1, zeros_like(values))
    return values / (rate * l2 + 1.0)


class MomentumOptimizer(Optimizer):
    """accum = momentum accum + gradient;  var -= learning_rate accum."""

    def __init__(
        self, learning_rate, momentum, use_locking=False, name="Momentum", use_nesterov=False
    ):
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for var in var_list:
            self._slot(var, "momentum")

    def _step(self, grad, accum):
        """The new accumulator, and the update to subtract."""
        rate = self._number(self._learning_rate, grad.dtype)
        momentum = self._number(self._momentum, grad.dtype)
        accum = accum * momentum + grad
        if self._use_nesterov:
            return accum, grad * rate + accum * momentum * rate
        return accum, accum * rate

    def _resource_apply_dense(self, grad, handle):
        slot = self.get_slot(handle, "momentum")
        accum, step = self._step(grad, slot.read_value())
        slot.assign(accum)
        handle.assign_sub(step)

    def _resource_apply_sparse(self, grad, handle, indices):
        slot = self.get_slot(handle, "momentum")
        accum, step = self._step(grad, gather(slot, indices))
        slot.scatter_update(IndexedSlices(accum, indices))
        handle.scatter_sub(IndexedSlices(step, indices))


class AdagradOptimizer(Optimizer):
    """accum += gradient²;  var -= learning_rate gradient / √accum."""

    def __init__(
        self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="Adagrad"
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial = initial_accumulator_value

    def _create_slots(self, var_list):
        for var in var_list:
            self._slot(var, "accumulator", filled(var, self._initial))

    def _arguments(self, grad, handle):
        numbers = [self._number(each, grad.dtype) for each in (self._learning_rate, 0.0)]
        return (handle, self.get_slot(handle, "accumulator")), numbers

    def _resource_apply_dense(self, grad, handle):
        fused.ApplyAdagradV2(*self._arguments(grad, handle), grad)

    def _resource_apply_sparse(self, grad, handle, indices):
        fused.SparseApplyAdagradV2(*self._arguments(grad, handle), grad, indices)


class ProximalAdagradOptimizer(Optimizer):
    """Adagrad with L1 and L2 penalties, applied after the step."""

    def __init__(
        self,
        learning_rate,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="ProximalAdagrad",
    ):
        if initial_accumulator_value <= 0.0:
            raise ValueError(
                f"initial_accumulator_value must be positive: {initial_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial = initial_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength

    def _create_slots(self, var_list):
        for var in var_list:
            self._slot(var, "accumulator", filled(var, self._initial))

    def _step(self, var, accum, grad):
        accum = accum + square(grad)
        rate = self._number(self._learning_rate, grad.dtype) / sqrt(accum)
        return _shrunk(var - rate * grad, rate, self._l1, self._l2), accum

    def _resource_apply_dense(self, grad, handle):
        slot = self.get_slot(handle, "accumulator")
        var, accum = self._step(handle.read_value(), slot.read_value(), grad)
        slot.assign(accum)
        handle.assign(var)

    def _resource_apply_sparse(self, grad, handle, indices):
        slot = self.get_slot(handle, "accumulator")
        var, accum = self._step(gather(handle, indices), gather(slot, indices), grad)
        slot.scatter_update(IndexedSlices(accum, indices))
        handle.scatter_update(IndexedSlices(var, indices))


class AdagradDAOptimizer(Optimizer):
    """Adagrad with dual averaging, for sparse linear models with penalties."""

    def __init__(
        self,
        learning_rate,
        global_step,
        initial_gradient_squared_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="AdagradDA",
    ):
        if initial_gradient_squared_accumulator_value <= 0.0:
            raise ValueError(
                "initial_gradient_squared_accumulator_value must be positive: "
                f"{initial_gradient_squared_accumulator_value}"
            )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._initial = initial_gradient_squared_accumulator_value
        self._l1 = l1_regularization_strength
        self._l2 = l2_regularization_strength
        self._global_step = global_step

    def _create_slots(self, var_list):
        for var in var_list:
            self._slot(var, "gradient_accumulator")
            self._slot(var, "gradient_squared_accumulator", filled(var, self._initial))

    def _step(self, sums, squares, grad):
        step = cast(self._global_step, grad.dtype) + 1.0
        rate = self._number(self._learning_rate, grad.dtype)
        sums, squares = sums + grad, squares + square(grad)
        past = sums
        if self._l1 > 0:
            past = sign(sums) * maximum(absolute(sums) - self._l1 * step, zeros_like(sums))
        return -rate * past / (self._l2 * step * rate + sqrt(squares)), sums, squares

    def _resource_apply_dense(self, grad, handle):
        slots = [self.get_slot(handle, f"gradient_{each}accumulator") for each in ("", "squared_")]
        var, *new = self._step(*[slot.read_value() for slot in slots], grad)
        for slot, value in zip((*slots, handle), (*new, var), strict=True):
            slot.assign(value)

    def _resource_apply_sparse(self, grad, handle, indices):
        slots = [self.get_slot(handle, f"gradient_{each}accumulator") for each in ("", "squared_")]
        var, *new = self._step(*[gather(slot, indices) for slot in slots], grad)
        for slot, value in zip((*slots, handle), (*new, var), strict=True):
            slot.scatter_update(IndexedSlices(value, indices))


class AdadeltaOptimizer(Optimizer):
    """Updates scaled by the RMS of past updates over the RMS of gradients."""

    def __init__(
        self, learning_rate=0.001, rho=0.95, epsilon=1e-8, use_locking=False, name="Adadelta"
    ):
        super().__init__(use_locking, name)
        self._numbers = learning_rate, rho, epsilon

    def _create_slots(self, var_list):
        for var in var_list:
            self._slot(var, "accum")
            self._slot(var, "accum_update")

    def _arguments(self, grad, handle):
        slots = [self.get_slot(handle, name) for name in ("accum", "accum_update")]
        return (handle, *slots), [self._number(each, grad.dtype) for each in self._numbers]

    def _resource_apply_dense(self, grad, handle):
        fused.ApplyAdadelta(*self._arguments(grad, handle), grad)

    def _resource_apply_sparse(self, grad, handle, indices):
        fused.SparseApplyAdadelta(*self._arguments(grad, handle), grad, indices)


class AdamOptimizer(Optimizer):
    """Updates by the mean gradient over the square root of the mean squared one."""

    def __init__(
        self,
        learning_rate=0.001,
        beta1=0.9,
        beta2=0.999,
        epsilon=1e-8,
        use_locking=False,
        name="Adam",
        use_own_namescope_for_non_slot_vars=False,
    ):
        super().__init__(use_locking, name, use_own_namescope_for_non_slot_vars)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self):
        return [self._get_non_slot_variable(name) for name in ("beta1_power", "beta2_power")]

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda var: var.name)
        for name, value in (("beta1_power", self._beta1), ("beta2_power", self._beta2)):
            value = value() if callable(value) else value
            self._create_non_slot_variable(value, name, first)
        for var in var_list:
            self._slot(var, "m")
            self._slot(var, "v")

    def _resource_apply_dense(self, grad, handle):
        dtype = grad.dtype
        scalars = [
            self._number(each, dtype)
            for each in (*self._get_beta_accumulators(), self._lr, self._beta1, self._beta2)
        ]
        slots = [self.get_slot(handle, name) for name in ("m", "v")]
        fused.ApplyAdam((handle, *slots), [*scalars, self._number(self._epsilon, dtype)], grad)

    def _resource_apply_sparse(self, grad, handle, indices):
        dtype = grad.dtype
        power1, power2 = (self._number(each, dtype) for each in self._get_beta_accumulators())
        beta1, beta2 = (self._number(each, dtype) for each in (self._beta1, self._beta2))
        rate = self._number(self._lr, dtype) * sqrt(1 - power2) / (1 - power1)
        m, v = (self.get_slot(handle, name) for name in ("m", "v"))
        m.assign(m.read_value() * beta1)
        m.scatter_add(IndexedSlices(grad * (1 - beta1), indices))
        v.assign(v.read_value() * beta2)
        v.scatter_add(IndexedSlices(square(grad) * (1 - beta2), indices))
        root = sqrt(v.read_value()) + self._number(self._epsilon, dtype)
        handle.assign_sub(rate * m.read_value() / root)

    def _finish(self, update_ops, name_scope):
        from ....ops.sequencing import control_dependencies

        with control_dependencies(update_ops):
            updates = []
            for power, beta in zip(
                self._get_beta_accumulators(), (self._beta1, self._beta2), strict=True
            ):
                beta = self._number(beta, power.dtype)
                updates.append(power.assign(power.read_value() * beta, read_value=False))
        return done([*update_ops, *updates], name_scope)


class RMSPropOptimizer(Optimizer):
    """Updates by the gradient over the square root of the mean squared one."""

    def __init__(
        self,
        learning_rate,
        decay=0.9,
        momentum=0.0,
        epsilon=1e-10,
        use_locking=False,
        centered=False,
        name="RMSProp",
    ):
        super().__init__(use_locking, name)
        self._numbers = learning_rate, decay, momentum, epsilon
        self._centered = centered

    def _create_slots(self, var_list):
        for var in var_list:
            self._slot(var, "rms", filled(var, 1))
            if self._centered:
                self._slot(var, "mg")
            self._slot(var, "momentum")

    def _arguments(self, grad, handle):
        names = ("mg", "rms", "momentum") if self._centered else ("rms", "momentum")
        slots = [self.get_slot(handle, name) for name in names]
        return (handle, *slots), [self._number(each, grad.dtype) for each in self._numbers]

    def _resource_apply_dense(self, grad, handle):
        apply = fused.ApplyCenteredRMSProp if self._centered else fused.ApplyRMSProp
        apply(*self._arguments(grad, handle), grad)

    def _resource_apply_sparse(self, grad, handle, indices):
        apply = fused.SparseApplyCenteredRMSProp if self._centered else fused.SparseApplyRMSProp
        apply(*self._arguments(grad, handle), grad, indices)


class FtrlOptimizer(Optimizer):
    """Follow the regularized leader: sparse linear models."""

    def __init__(
        self,
        learning_rate,
        learning_rate_power=-0.5,
        initial_accumulator_value=0.1,
        l1_regularization_strength=0.0,
        l2_regularization_strength=0.0,
        use_locking=False,
        name="Ftrl",
        accum_name=None,
        linear_name=None,
        l2_shrinkage_regularization_strength=0.0,
        beta=None,
    ):
        if initial_accumulator_value < 0.0:
            raise ValueError(
                "`initial_accumulator_value` needs to be positive or zero. Received: "
                f"initial_accumulator_value={initial_accumulator_value}."
            )
        if learning_rate_power > 0.0:
            raise ValueError(
                "`learning_rate_power` needs to be negative or zero. Received: "
                f"learning_rate_power={learning_rate_power}."
            )
        strengths = {
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for title, value in strengths.items():
            if value < 0.0:
                raise ValueError(
                    f"`{title}` needs to be positive or zero. Received: {title}={value}."
                )
        super().__init__(use_locking, name)
        self._learning_rate = learning_rate
        self._power = learning_rate_power
        self._initial = initial_accumulator_value
        self._l1, self._l2, self._shrinkage = strengths.values()
        self._beta = 0.0 if beta is None else beta

    def _create_slots(self, var_list):
        for var in var_list:
            self._slot(var, "accum", filled(var, self._initial))
            self._slot(var, "linear")

    def _arguments(self, grad, handle):
        rate = self._number(self._learning_rate, grad.dtype)
        l2 = self._number(self._l2, grad.dtype)
        if self._beta:
            l2 = l2 + self._number(self._beta, grad.dtype) / (2.0 * rate)
        others = [self._number(each, grad.dtype) for each in (self._shrinkage, self._power)]
        slots = [self.get_slot(handle, name) for name in ("accum", "linear")]
        return (handle, *slots), [rate, self._number(self._l1, grad.dtype), l2, *others]

    def _resource_apply_dense(self, grad, handle):
        fused.ApplyFtrlV2(*self._arguments(grad, handle), grad)

    def _resource_apply_sparse(self, grad, handle, indices):
        fused.SparseApplyFtrlV2(*self._arguments(grad, handle), grad, indices)
