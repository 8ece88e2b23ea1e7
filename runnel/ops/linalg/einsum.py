"""Einsum: sums of products in Einstein notation."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from ...core.convert import convert_to_tensor
from ...core.dtypes import NUMERIC
from ...core.op import execute, op
from ...core.shape_rules import UNKNOWN, dimensions_text
from ...core.shapes import TensorShape
from ...core.tensor import Tensor
from ...runtime.half_precision import is_half, rounded_to_half
from ..array.creation import OnesLike
from ..broadcasting import sum_to
from ..math.complex import conj
from .matmul import multiplied, products_of

_TERM = r"[A-Za-z]*(\.\.\.)?[A-Za-z]*"
_EQUATION = re.compile(f"{_TERM}(,{_TERM})*(->{_TERM})?")


class _Operand(NamedTuple):
    """How one input is reduced and transposed for the batched matmul."""

    diagonal: tuple[list[int], list[int]] | None
    summed: tuple[int, ...]
    order: tuple[int, ...] | None


class _Plan(NamedTuple):
    """The contraction plan of an equation for given ranks; labels are ints, negative in `...`."""

    inputs: tuple[tuple[int, ...], ...]
    output: tuple[int, ...]
    operands: tuple[_Operand, ...]
    # The numbers of batch dimensions, of rows, and of batch and contracted dimensions.
    batch: int
    rows: int
    inner: int
    order: tuple[int, ...] | None
    # Whether the operands are swapped, so that rows precede columns in the output.
    swapped: bool
    # For an outer or element-wise product, without contraction: the new axes of each input.
    stretched: tuple[tuple[slice | None, ...], ...] | None
    spread: tuple[list[int], list[int]] | None

    @property
    def is_product(self) -> bool:
        """Whether it is a matmul of the inputs in some order, and nothing else is computed."""
        others = any(how.summed or how.diagonal is not None for how in self.operands)
        return bool(self.inner) and self.spread is None and not others


@lru_cache(maxsize=1024)
def _plan(equation: str, ranks: tuple[int, ...]) -> _Plan:
    inputs, output = _labels(equation, ranks)
    operands: tuple[_Operand, ...]
    unique = tuple(dict.fromkeys(output))
    spread = None
    if unique != output:
        spread = [unique.index(label) for label in output], list(range(len(unique)))
    if len(inputs) == 1:
        operands = (_operand(inputs[0], unique),)
        return _Plan(inputs, output, operands, 0, 0, 0, None, False, None, spread)
    x, y = (dict.fromkeys(labels) for labels in inputs)
    summed = [label for label in x if label in y and label not in unique]
    if not summed:
        operands = tuple(_operand(labels, unique) for labels in inputs)
        stretched = tuple(
            tuple(slice(None) if label in labels else None for label in unique) for labels in (x, y)
        )
        return _Plan(inputs, output, operands, 0, 0, 0, None, False, stretched, spread)
    swapped = next((label in y for label in unique if (label in x) != (label in y)), False)
    if swapped:
        x, y = y, x
    batch = [label for label in unique if label in x and label in y]
    rows = [label for label in unique if label in x and label not in y]
    columns = [label for label in unique if label in y and label not in x]
    wanted = (*batch, *rows, *summed), (*batch, *summed, *columns)
    operands = tuple(
        _operand(labels, order)
        for labels, order in zip(inputs, wanted[::-1] if swapped else wanted, strict=True)
    )
    order = _permutation((*batch, *rows, *columns), unique)
    sizes = len(batch), len(rows), len(summed)
    return _Plan(inputs, output, operands, *sizes, order, swapped, None, spread)


def _operand(labels: tuple[int, ...], wanted: tuple[int, ...]) -> _Operand:
    diagonal = None
    unique = tuple(dict.fromkeys(labels))
    if unique != labels:
        diagonal = [unique.index(label) for label in labels], list(range(len(unique)))
    summed = tuple(axis for axis, label in enumerate(unique) if label not in wanted)
    left = tuple(label for label in unique if label in wanted)
    return _Operand(diagonal, summed, _permutation(left, wanted))


def _permutation(labels: tuple[int, ...], order: tuple[int, ...]) -> tuple[int, ...] | None:
    """The axes in the given order; None if it is the identity."""
    axes = tuple(labels.index(label) for label in order if label in labels)
    return None if axes == tuple(range(len(axes))) else axes


def _labels(equation: str, ranks: tuple[int, ...]):
    """Integer labels for the dimensions of the inputs and of the output."""
    left, _, right = equation.partition("->")
    terms = left.split(",")
    widest = 0
    for index, (term, rank) in enumerate(zip(terms, ranks, strict=True)):
        letters = len(term.replace("...", ""))
        if rank < letters or (rank > letters and "..." not in term):
            least = "at least " if "..." in term else ""
            raise ValueError(
                f"Expected input {index} to have rank {least}{letters} but got: {rank} (equation "
                f'"{equation}")'
            )
        widest = max(widest, rank - letters)
    if widest and "..." not in right:
        raise ValueError(
            f"Output contains {widest} broadcasting dimension(s) but no ellipsis (...) was found "
            f'in the output subscripts of "{equation}".'
        )
    inputs = tuple(
        _numbers(term, rank - len(term.replace("...", "")))
        for term, rank in zip(terms, ranks, strict=True)
    )
    return inputs, _numbers(right, widest)


def _numbers(term: str, broadcast: int) -> tuple[int, ...]:
    before, _, after = term.partition("...")
    return (*map(ord, before), *range(-broadcast, 0), *map(ord, after))


def _sizes(plan: _Plan, shapes) -> dict[int, int | None]:
    """The size of every label; ValueError where inputs conflict."""
    sizes: dict[int, int | None] = {}
    for labels, shape in zip(plan.inputs, shapes, strict=True):
        for axis, (label, size) in enumerate(zip(labels, shape, strict=True)):
            if label not in sizes:
                sizes[label] = size
                continue
            known = sizes[label]
            if label < 0 and 1 in (known, size):
                sizes[label] = size if known == 1 else known
            elif known is None:
                sizes[label] = size
            elif size not in (None, known):
                raise ValueError(
                    f"Expected dimension {known} at axis {axis} of the input shaped "
                    f"{dimensions_text(TensorShape(shape))} but got dimension {size}"
                )
    return sizes


def _einsum_shape(inputs, attrs):
    (values,) = inputs
    equation = attrs["equation"]
    shapes = [value.shape for value in values]
    if any(shape.rank is None for shape in shapes):
        output = equation.partition("->")[2]
        return UNKNOWN if "..." in equation else TensorShape([None] * len(output))
    plan = _plan(equation, tuple(len(shape) for shape in shapes))
    sizes = _sizes(plan, shapes)
    return TensorShape([sizes[label] for label in plan.output])


@op("Einsum", "inputs: N*T -> output: T", T=NUMERIC, shape=_einsum_shape, gemm="einsum")
def Einsum(inputs, *, equation):
    plan = _plan(equation, tuple([array.ndim for array in inputs]))
    shapes = [array.shape for array in inputs]
    dtype = inputs[0].dtype
    if is_half(inputs[0]) and not plan.is_product:
        inputs = [array.astype(np.float32) for array in inputs]
    arrays = [_arrange(array, how) for array, how in zip(inputs, plan.operands, strict=True)]
    if plan.inner:
        result = _contract(*arrays, plan, shapes)
    else:
        _sizes(plan, shapes)
        result = arrays[0]
        if plan.stretched is not None:
            x, y = (a[index] for a, index in zip(arrays, plan.stretched, strict=True))
            result = x * y
    if plan.spread is not None:
        sizes = _sizes(plan, shapes)
        whole = np.zeros([sizes[label] for label in plan.output], result.dtype)
        np.einsum(whole, *plan.spread)[...] = result
        result = whole
    return result if result.dtype == dtype else rounded_to_half(result, dtype)


def _arrange(array, how: _Operand):
    """Extract diagonals of repeated labels, sum labels that occur nowhere else, transpose."""
    if how.diagonal is not None:
        array = np.einsum(array, *how.diagonal)
    if how.summed:
        array = np.add.reduce(array, axis=how.summed, dtype=array.dtype)
    return array if how.order is None else array.transpose(how.order)


def _contract(x, y, plan: _Plan, shapes):
    """The matmul of (batch, rows, inner) and (batch, inner, columns), transposed to the output."""
    if plan.swapped:
        x, y = y, x
    batch, middle, end = plan.batch, plan.batch + plan.rows, plan.batch + plan.inner
    rows, columns = x.shape[batch:middle], y.shape[end:]
    inner = y.shape[batch:end]
    if x.shape[middle:] != inner or x.shape[:batch] != y.shape[:batch]:
        _sizes(plan, shapes)
    if len(rows) != 1 or len(inner) != 1:
        x = x.reshape((*x.shape[:batch], math.prod(rows), math.prod(inner)))
    if len(columns) != 1 or len(inner) != 1:
        y = y.reshape((*y.shape[:batch], math.prod(inner), math.prod(columns)))
    if plan.order is not None and len(rows) == len(columns) == 1 and batch:
        return _contract_in_order(x, y, plan.order)
    product = multiplied(x, y)
    if len(rows) != 1 or len(columns) != 1:
        product = product.reshape((*product.shape[:batch], *rows, *columns))
    return product if plan.order is None else product.transpose(plan.order)


def _contract_in_order(x, y, order):
    """A batched matmul whose results are written with the output's strides, without a transpose."""
    shape = (*x.shape[:-1], y.shape[-1])
    result = np.empty([shape[axis] for axis in order], x.dtype)
    products = result.transpose(np.argsort(order))
    if products.strides[-1] != products.itemsize or is_half(x):
        return multiplied(x, y).transpose(order)
    products_of(x, y, products)
    return result


@Einsum.gradient
def _(op, grad):
    left, _, output = op.attrs["equation"].partition("->")
    terms = left.split(",")
    gradients = []
    for index, (term, value) in enumerate(zip(terms, op.inputs, strict=True)):
        if not op.needs(index):
            gradients.append(None)
        elif len(terms) == 1:
            gradients.append(_gradient(term, value, output, (grad,)))
        else:
            other = op.inputs[1 - index]
            other = conj(other) if other.dtype.is_complex else other
            gradients.append(_gradient(term, value, f"{output},{terms[1 - index]}", (grad, other)))
    return gradients


def _gradient(term: str, value: Tensor, known: str, factors) -> Tensor:
    """The gradient with respect to input `value` with labels `term`: the einsum of `factors`."""
    letters = "".join(dict.fromkeys(term.replace("...", "")))
    there = "".join(letter for letter in letters if letter in known)
    missing = "".join(letter for letter in letters if letter not in known)
    dots = "..." if "..." in known or "..." in term else ""
    if not dots and not missing:
        return Einsum(factors, equation=f"{known}->{term}")
    gradient = Einsum(factors, equation=f"{known}->{dots}{there}")
    own_dots = "..." if "..." in term else ""
    like = value
    if term != own_dots + letters:
        like = Einsum([value], equation=f"{term}->{own_dots}{letters}")
    if missing:
        # The forward pass summed over these labels: the gradient is broadcast along them.
        ones = execute(OnesLike, (like,))
        equation = f"{dots}{there},{own_dots}{letters}->{dots}{letters}"
        gradient = Einsum([gradient, ones], equation=equation)
    if dots:
        gradient = sum_to(gradient, like)
    if term != own_dots + letters:
        gradient = Einsum([gradient], equation=f"{own_dots}{letters}->{term}")
    return gradient


def einsum(equation, *inputs, **kwargs):
    """The sum of products that an equation such as "ij,jk->ik" describes.

    Each letter is a dimension; letters that the right side lacks are summed over, a letter twice in
    one term takes the diagonal, "..." stands for dimensions that broadcast. Without "->" the output
    has the letters that occur once ("..." first, letters in alphabetical order). More than two
    inputs are contracted in pairs, the cheapest pair first.

    >>> tf.einsum("ij,jk->ik", tf.constant([[1, 2], [3, 4]]), tf.constant([[5], [6]])).numpy()
    array([[17],
           [39]], dtype=int32)
    """
    unknown = [key for key in kwargs if key not in ("name", "optimize", "greedy")]
    if unknown:
        raise TypeError(
            f"Invalid keyword arguments for einsum: {', '.join(unknown)}. Valid arguments: name, "
            "optimize, greedy."
        )
    equation = _explicit(equation, len(inputs))
    tensors = _same_dtype(inputs)
    if len(tensors) <= 2:
        return execute(Einsum, tensors, {"equation": equation})
    left, _, output = equation.partition("->")
    return _in_pairs(left.split(","), tensors, output)


@lru_cache(maxsize=1024)
def _explicit(equation: str, count: int) -> str:
    """The equation without spaces and with an explicit output; ValueError if it is invalid."""
    text = equation.replace(" ", "")
    if not _EQUATION.fullmatch(text):
        raise ValueError(
            f"Subscripts have incorrect format: {equation}. Expected letters, `,` between the "
            "inputs, `->` before the output and at most one `...` in each."
        )
    left, arrow, output = text.partition("->")
    terms = left.split(",")
    if len(terms) != count:
        raise ValueError(f'Got {count} inputs for equation "{equation}", expecting {len(terms)}')
    letters = left.replace(",", "").replace("...", "")
    if not arrow:
        output = "..." if left.count("...") == 1 else ""
        output += "".join(sorted(letter for letter in set(letters) if letters.count(letter) == 1))
    for letter in output.replace("...", ""):
        if letter not in letters:
            raise ValueError(
                f"Output subscripts contain the label {letter} not present in the input "
                f"subscripts: {equation}"
            )
        if output.count(letter) > 1:
            raise ValueError(
                f"Output subscripts contain a label appearing more than once: {equation}"
            )
    return f"{left}->{output}"


def _same_dtype(inputs) -> list[Tensor]:
    dtype = next((each.dtype for each in inputs if isinstance(each, Tensor)), None)
    if dtype is None:
        first = convert_to_tensor(inputs[0])
        return [first, *(convert_to_tensor(each, None, first.dtype) for each in inputs[1:])]
    return [convert_to_tensor(each, None, dtype) for each in inputs]


def _in_pairs(terms: list[str], tensors: list[Tensor], output: str) -> Tensor:
    """Greedy contraction order: first the pair whose result grows least over its operands."""
    terms, tensors = list(terms), list(tensors)
    sizes = _letter_sizes(terms, tensors)
    while len(terms) > 2:
        best = None
        for j in range(1, len(terms)):
            for i in range(j):
                rest = [term for index, term in enumerate(terms) if index not in (i, j)]
                product = _product_term(terms[i], terms[j], [*rest, output])
                grown = _elements(product, sizes)
                grown -= _elements(terms[i], sizes) + _elements(terms[j], sizes)
                if best is None or grown < best[0]:
                    best = grown, i, j, product
        assert best is not None
        _, i, j, product = best
        pair = [tensors[i], tensors[j]]
        joined = Einsum(pair, equation=f"{terms[i]},{terms[j]}->{product}")
        del terms[j], tensors[j], terms[i], tensors[i]
        terms.append(product)
        tensors.append(joined)
    return Einsum(tensors, equation=f"{','.join(terms)}->{output}")


def _letter_sizes(terms: list[str], tensors: list[Tensor]) -> dict[str, int]:
    """The statically known sizes, for the contraction order only: unknown ones count as 1."""
    sizes: dict[str, int] = {}
    for term, tensor in zip(terms, tensors, strict=True):
        if tensor.shape.rank is None:
            continue
        before, _, after = term.partition("...")
        dims = tensor.shape.as_list()
        pairs = [*zip(before, dims, strict=False), *zip(after[::-1], dims[::-1], strict=False)]
        sizes.update((letter, size) for letter, size in pairs if size is not None)
    return sizes


def _product_term(first: str, second: str, rest: list[str]) -> str:
    kept = "".join(rest)
    letters = dict.fromkeys((first + second).replace("...", ""))
    dots = "..." if "..." in first or "..." in second else ""
    return dots + "".join(letter for letter in letters if letter in kept)


def _elements(term: str, sizes: dict[str, int]) -> int:
    return math.prod(sizes.get(letter, 1) for letter in term.replace("...", ""))
