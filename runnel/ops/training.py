"""Fused optimizer updates: a variable and its slots are updated together, in place, block by block.

An update loops over cache-sized blocks: all its arithmetic on one block happens before the next one
is read from memory. Buffers with other references are copied first, so tensors read from the
variables never change.
"""

from __future__ import annotations

import functools
import os
import threading
from operator import is_not

import numpy as np

from ..core import dtypes
from ..core.convert import convert_to_tensor
from ..core.errors import InvalidArgumentError
from ..core.op import execute, op
from ..core.shape_rules import dimensions_text, nothing
from ..core.shapes import TensorShape
from ..runtime.buffers import aligned_copy, is_aligned
from ..runtime.engine_selection import accelerated
from . import training_passes as passes, training_rules as rules
from .array.arguments import INDEX
from .array.gathering import require_in_range
from .variable_updates import change

# Elements per block: four float32 arrays of this length fit a core's L2 cache.
BLOCK = 32768

_TYPES = dtypes.FLOATING | dtypes.COMPLEX

# Updates are serialized: none is lost, and a fork finds every variable with its tensor.
_one_at_a_time = threading.Lock()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_one_at_a_time.acquire,
        after_in_parent=_one_at_a_time.release,
        after_in_child=_one_at_a_time.release,
    )


class _Scratch(threading.local):
    """Thread-local buffers for intermediate values of blocks."""

    def __init__(self):
        self._buffers = {}

    def of(self, dtype, count):
        """`count` buffers of the length of a block."""
        buffers = self._buffers.get((dtype, count))
        if buffers is None:
            buffers = [np.empty(BLOCK, dtype) for _ in range(count)]
            self._buffers[dtype, count] = buffers
        return buffers


_scratch = _Scratch()


# For smaller variables NumPy's single thread is as fast as several.
UPDATE_THRESHOLD = 32_768


class Update:
    """An in-place update of cells of equal shape by a gradient, block by block.

    `rule(*cells, gradient, *scratch, *numbers)` updates the arrays of the cells in place.
    `passes(*numbers)` is the same for an engine's kernel for large arrays.
    """

    def __init__(self, rule, scratch=1, passes=None):
        self.rule = rule
        self.scratch = scratch
        self._passes = passes
        self._pairs = {}
        self._sweep = (
            accelerated("update", UPDATE_THRESHOLD)(self._by_blocks) if passes else self._by_blocks
        )

    def update(self, cells, gradient, numbers):
        """Update the cells in place, or replace their buffers if they have other references.

        Updates of a cell by several threads are serialized, and its readers wait for them.
        """
        with _one_at_a_time:
            sizes = cells[0]._tensor._array.shape
            if gradient.shape != sizes:
                gradient = _fitted(gradient, sizes)
            if gradient.size == 1:
                pairs = self._pairs_for(cells, gradient)
                self._hold_numbers(cells, 0, pairs, sizes, numbers)
            else:
                self._hold(cells, [], gradient, numbers)

    def _hold(self, cells, arrays, gradient, numbers):
        """Hold the cells' locks and tensors recursively; each call releases its own.

        So an interrupt, which may come between any two calls, leaves no lock held and no cell
        without its tensor.
        """
        cell = cells[len(arrays)]
        with cell._lock:
            tensor = cell._take()
            try:
                array = None if tensor is None else tensor._array
                if gradient.size > BLOCK and tensor is not None and not is_aligned(array):
                    # Once, at its first update.
                    array = tensor._array = aligned_copy(array)
                arrays.append(array)
                if len(arrays) < len(cells):
                    self._hold(cells, arrays, gradient, numbers)
                else:
                    self._change(cells, arrays, gradient, numbers)
            finally:
                if tensor is not None:
                    cell._tensor = tensor

    def _change(self, cells, arrays, gradient, numbers):
        """Update the arrays; those that are None have other references: update a copy."""
        fresh = []
        for i, array in enumerate(arrays):
            if array is None:
                arrays[i] = aligned_copy(cells[i]._tensor._array)
                fresh.append((cells[i], arrays[i]))
        if gradient.size > BLOCK:
            self._blocks(arrays, gradient, numbers)
        else:
            for _ in range(self.scratch):
                numbers = (np.empty(gradient.shape, gradient.dtype), *numbers)
            self.rule(*arrays, gradient, *numbers)
        for cell, array in fresh:
            cell._replace(array)

    def _pairs_for(self, cells, gradient):
        """Buffers of two elements for cells of one, the gradient included.

        NumPy takes twice as long for one element in place as for two, so each is duplicated. The
        buffers are reused by the next update: updates are serialized.
        """
        pairs = self._pairs.get(gradient.dtype)
        if pairs is None:
            pairs = [np.empty(2, gradient.dtype) for _ in range(len(cells) + 1 + self.scratch)]
            self._pairs[gradient.dtype] = pairs
        pairs[len(cells)][...] = gradient
        return pairs

    def _hold_numbers(self, cells, place, pairs, sizes, numbers):
        """Update cells of one element, locked as in `_hold` but never in place."""
        cell, pair = cells[place], pairs[place]
        with cell._lock:
            pair[...] = cell._tensor._array
            place += 1
            if place < len(cells):
                self._hold_numbers(cells, place, pairs, sizes, numbers)
            else:
                self.rule(*pairs, *numbers)
            cell._replace(pair[:1].reshape(sizes).copy() if sizes else pair[0])

    def _blocks(self, arrays, gradient, numbers):
        whole = [np.ascontiguousarray(array) for array in arrays]
        flat = [array.reshape(-1) for array in whole]
        flat.append(np.ascontiguousarray(gradient).reshape(-1))
        self._sweep(*flat, numbers, self._passes and self._passes(*numbers))
        for array, changed in zip(arrays, whole, strict=True):
            if changed is not array:
                array[...] = changed

    def _by_blocks(self, *arguments):
        """Update flat arrays block by block; the last two arguments are numbers and passes."""
        *flat, numbers, _ = arguments
        size = flat[0].size
        scratch = _scratch.of(flat[0].dtype, self.scratch)
        rule = self.rule
        for start in range(0, size, BLOCK):
            stop = start + BLOCK
            if stop > size:
                scratch = [buffer[: size - start] for buffer in scratch]
            rule(*[array[start:stop] for array in flat], *scratch, *numbers)


class FusedUpdate(Update):
    """An op that updates a variable and its slots by a gradient.

    Its inputs, as `inputs` lists them, are the cells (with a star), scalars and the gradient.
    `numbers(*scalars)` computes the rule's numbers, once for all variables of a step.
    """

    def __init__(self, name, inputs, rule, numbers, scratch=1, nesterov=False, passes=None):
        super().__init__(rule, scratch, passes)
        names = [part.strip() for part in inputs.split(",")]
        self.name = name
        self.cells = sum(1 for each in names if each.startswith("*"))
        self.position = next(i for i, each in enumerate(names) if each in ("grad", "delta"))
        self.nesterov = nesterov
        self._numbers = numbers
        self._last = ((), None, ())
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
        self.op.shared = passes is not None

    def _kernel(self):
        def kernel(*inputs, use_locking=False):
            cells, scalars, gradient = self._alike(inputs)
            self.update(cells, gradient, self.prepared(scalars, gradient.dtype))
            return []

        return kernel

    def _nesterov_kernel(self):
        def kernel(*inputs, use_locking=False, use_nesterov=False):
            cells, scalars, gradient = self._alike(inputs)
            self.update(cells, gradient, (*self.prepared(scalars, gradient.dtype), use_nesterov))
            return []

        return kernel

    def _split(self, inputs):
        rest = list(inputs[self.cells :])
        gradient = rest.pop(self.position - self.cells)
        return inputs[: self.cells], rest, gradient

    def _alike(self, inputs):
        """The parts of the inputs; InvalidArgumentError for a gradient of another shape."""
        cells, scalars, gradient = self._split(inputs)
        sizes = cells[0]._tensor._array.shape
        if gradient.shape != sizes:
            shapes = [dimensions_text(TensorShape(each)) for each in (sizes, gradient.shape)]
            name = self.op.inputs[self.position].name
            raise InvalidArgumentError(
                None,
                None,
                f"var and {name} do not have the same shape{' '.join(shapes)}: pair each gradient "
                "with the variable that it is of.",
            )
        return cells, scalars, gradient

    def prepared(self, scalars, dtype):
        """The rule's numbers, cached: all variables of a step pass the identical scalars."""
        known, kind, numbers = self._last
        if kind is not dtype or len(known) != len(scalars) or any(map(is_not, known, scalars)):
            numbers = self.prepare(scalars, dtype)
            self._last = scalars, dtype, numbers
        return numbers

    def prepare(self, scalars, dtype):
        """The rule's numbers as arrays of rank 0, which ufuncs convert fastest."""
        return tuple(
            [
                _constant(number, dtype) if type(number) is float else np.array(number, dtype)
                for number in self._numbers(*scalars)
            ]
        )

    def __call__(self, cells, scalars, gradient, **attrs):
        """Run the update as an operation, with scalars and gradient as tensors."""
        inputs = [cell.handle for cell in cells]
        inputs += [convert_to_tensor(each) for each in scalars]
        inputs.insert(self.position, gradient)
        execute(self.op, tuple(inputs), attrs)


class RowUpdate:
    """The op of a fused update of some rows only: those at `indices`, which must be unique.

    Its inputs are those of the dense update, with `indices` after the gradient.
    """

    def __init__(self, name, whole):
        self.whole = whole
        self.name = name
        parts = [f"{argument.name}: {argument.type}" for argument in whole.op.inputs]
        parts.insert(whole.position + 1, "indices: Tindices")
        self.op = op(
            name,
            ", ".join(parts),
            T=_TYPES,
            Tindices=INDEX,
            shape=nothing,
            kernel=self._nesterov_kernel() if whole.nesterov else self._kernel(),
            stateful=True,
            gradient=None,
        )

    def _kernel(self):
        def kernel(*inputs, use_locking=False):
            self._update(inputs)
            return []

        return kernel

    def _nesterov_kernel(self):
        def kernel(*inputs, use_locking=False, use_nesterov=False):
            self._update(inputs, use_nesterov)
            return []

        return kernel

    def _update(self, inputs, *attrs):
        inputs = list(inputs)
        indices = inputs.pop(self.whole.position + 1)
        cells, scalars, gradient = self.whole._split(inputs)
        require_in_range(indices, cells[0]._tensor._array.shape[0])
        numbers = self.whole.prepare(scalars, gradient.dtype)
        with _one_at_a_time:
            rows = [cell._tensor._array[indices] for cell in cells]
            gradient = _fitted(gradient, rows[0].shape)
            scratch = [np.empty(gradient.shape, gradient.dtype) for _ in range(self.whole.scratch)]
            self.whole.rule(*rows, gradient, *scratch, *numbers, *attrs)
            for cell, values in zip(cells, rows, strict=True):
                change(cell, lambda array, values=values: array.__setitem__(indices, values))

    def __call__(self, cells, scalars, gradient, indices, **attrs):
        """Run the update as an operation, with scalars, gradient and indices as tensors."""
        inputs = [cell.handle for cell in cells]
        inputs += [convert_to_tensor(each) for each in scalars]
        inputs.insert(self.whole.position, gradient)
        inputs.insert(self.whole.position + 1, indices)
        execute(self.op, tuple(inputs), attrs)


@functools.lru_cache(maxsize=256)
def _constant(number, dtype):
    """A number that recurs in every step, cached as a read-only array."""
    return np.array(number, dtype)


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


ApplyGradientDescent = FusedUpdate(
    "ResourceApplyGradientDescent",
    "*var, alpha, delta",
    rules.gradient_descent,
    rules.same,
    passes=passes.gradient_descent,
)
ApplyKerasMomentum = FusedUpdate(
    "ResourceApplyKerasMomentum",
    "*var, *accum, lr, grad, momentum",
    rules.keras_momentum,
    rules.keras_momentum_numbers,
    nesterov=True,
    passes=passes.keras_momentum,
)
ApplyAdam = FusedUpdate(
    "ResourceApplyAdam",
    "*var, *m, *v, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
    rules.adam,
    rules.adam_numbers,
    passes=passes.adam,
)
ApplyAdamWithAmsgrad = FusedUpdate(
    "ResourceApplyAdamWithAmsgrad",
    "*var, *m, *v, *vhat, beta1_power, beta2_power, lr, beta1, beta2, epsilon, grad",
    rules.amsgrad,
    rules.adam_numbers,
)
ApplyAdaMax = FusedUpdate(
    "ResourceApplyAdaMax",
    "*var, *m, *v, beta1_power, lr, beta1, beta2, epsilon, grad",
    rules.adamax,
    rules.adamax_numbers,
)
ApplyRMSProp = FusedUpdate(
    "ResourceApplyRMSProp",
    "*var, *ms, *mom, lr, rho, momentum, epsilon, grad",
    rules.rmsprop_momentum,
    rules.momentum_numbers,
    passes=passes.rmsprop_momentum,
)
ApplyCenteredRMSProp = FusedUpdate(
    "ResourceApplyCenteredRMSProp",
    "*var, *mg, *ms, *mom, lr, rho, momentum, epsilon, grad",
    rules.centered_rmsprop_momentum,
    rules.momentum_numbers,
)
ApplyAdagradV2 = FusedUpdate(
    "ResourceApplyAdagradV2",
    "*var, *accum, lr, epsilon, grad",
    rules.adagrad,
    rules.same,
    passes=passes.adagrad,
)
ApplyAdadelta = FusedUpdate(
    "ResourceApplyAdadelta",
    "*var, *accum, *accum_update, lr, rho, epsilon, grad",
    rules.adadelta,
    rules.rho_numbers,
    scratch=2,
)
ApplyFtrlV2 = FusedUpdate(
    "ResourceApplyFtrlV2",
    "*var, *accum, *linear, grad, lr, l1, l2, l2_shrinkage, lr_power",
    rules.ftrl,
    rules.ftrl_numbers,
    scratch=2,
)

SparseApplyKerasMomentum = RowUpdate("ResourceSparseApplyKerasMomentum", ApplyKerasMomentum)
SparseApplyRMSProp = RowUpdate("ResourceSparseApplyRMSProp", ApplyRMSProp)
SparseApplyCenteredRMSProp = RowUpdate("ResourceSparseApplyCenteredRMSProp", ApplyCenteredRMSProp)
SparseApplyAdagradV2 = RowUpdate("ResourceSparseApplyAdagradV2", ApplyAdagradV2)
SparseApplyAdadelta = RowUpdate("ResourceSparseApplyAdadelta", ApplyAdadelta)
SparseApplyFtrlV2 = RowUpdate("ResourceSparseApplyFtrlV2", ApplyFtrlV2)

# The following have no counterpart among the original's operations: its optimizers compose them.
ApplyNadam = FusedUpdate(
    "ResourceApplyNadam",
    "*var, *m, *v, product, now, after, beta2_power, lr, beta1, beta2, epsilon, grad",
    rules.nadam,
    rules.nadam_numbers,
    scratch=2,
    passes=passes.nadam,
)
ApplyKerasRMSProp = FusedUpdate(
    "ResourceApplyKerasRMSProp",
    "*var, *ms, lr, rho, epsilon, grad",
    rules.rmsprop,
    rules.rho_numbers,
    passes=passes.rmsprop,
)
ApplyKerasCenteredRMSProp = FusedUpdate(
    "ResourceApplyKerasCenteredRMSProp",
    "*var, *mg, *ms, lr, rho, epsilon, grad",
    rules.centered_rmsprop,
    rules.rho_numbers,
)
ApplyKerasAdagrad = FusedUpdate(
    "ResourceApplyKerasAdagrad",
    "*var, *accum, lr, epsilon, grad",
    rules.keras_adagrad,
    rules.same,
    passes=passes.keras_adagrad,
)
ApplyLion = FusedUpdate(
    "ResourceApplyLion",
    "*var, *m, lr, beta1, beta2, grad",
    rules.lion,
    rules.lion_numbers,
    scratch=2,
)

SparseApplyAdaMax = RowUpdate("ResourceSparseApplyAdaMax", ApplyAdaMax)
SparseApplyKerasAdagrad = RowUpdate("ResourceSparseApplyKerasAdagrad", ApplyKerasAdagrad)

_average = Update(rules.moving_average)


def decay(variable, factor):
    """variable -= factor variable, for a Python number."""

    def shrink(array):
        flat = array.reshape(-1)
        for start in range(0, flat.size, BLOCK):
            block = flat[start : start + BLOCK]
            np.subtract(block, block * factor, block)

    with _one_at_a_time:
        change(variable, shrink)


def update_average(average, variable, momentum):
    """average = momentum average + (1 - momentum) variable, for a Python number."""
    value = np.asarray(variable._tensor._array)
    numbers = (np.asarray(momentum, value.dtype), np.asarray(1 - momentum, value.dtype))
    _average.update((average,), value, numbers)
