"""Factors of matrices, solutions of linear systems and of Sylvester's, determinants, eigenvectors and singular values.

The runtime computes them (``runtime/linear_algebra/linear_algebra.c``), in single and double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytensor.scalar as ps
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.linalg import (
    QR,
    SVD,
    Cholesky,
    CholeskySolve,
    Det,
    Eigh,
    LUFactor,
    MatrixInverse,
    PivotToPermutations,
    Schur,
    SLogDet,
    Solve,
    SolveTriangular,
)

from theano.link.native.ir.ir import Buffer, CannotLower, Size, Value, View
from theano.link.native.ir.scalar_expressions import expression_of
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.ir.symbolic import compared, minimum
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import computing_class, lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.call_runtime import CallRuntime, OfStack, Whole
from theano.link.native.statements.costs import MOVE, MULTIPLY_ADD
from theano.pytensor_internals.operations.tensor import TRSYL
from theano.support.data_classes import dataclass
from theano.tensor.linear_algebra.solved_systems import SolveOrNaN

# LAPACK counts in C's int
_MOST_ROWS = 2**31 - 1


@dataclass(frozen=True)
class Routine:
    """A function of the runtime for one matrix, with or without others next to it.

    Attributes
    ----------
    name
        Its name, without that of the precision.
    flags
        Numbers that it is given after the matrix.
    results
        Of each result the sizes, by letters: ``n`` rows, ``m`` right sides, or columns of a matrix
        that need not be square, ``k`` the fewer of the two.
    operands
        Of each operand the same; the last may be a vector.
    work
        How many elements of work memory, as a sum of products of these letters and numbers.
    integers
        How many integers of it, for each row.
    failure
        What a call raises where the function returns that there is no result.
    """

    name: str
    flags: tuple[int, ...] = ()
    results: tuple[str, ...] = ("nn",)
    operands: tuple[str, ...] = ("nn",)
    work: tuple[tuple[str | int, ...], ...] = ()
    integers: int = 0
    failure: str | None = None

    @property
    def two_sizes(self) -> bool:
        return any("m" in letters for letters in self.operands)


# as runtime.h counts them
_KINDS = {"gen": 0, "pos": 1, "sym": 2, "her": 2, "tridiagonal": 3, "banded": 4}


_OF_A_SYSTEM = ("nn", "nm")


def _solve(op: Solve) -> Routine:
    if op.assume_a not in _KINDS:
        raise CannotLower(f"the solution of a system whose matrix is {op.assume_a!r}")
    return Routine(
        "solve",
        (_KINDS[op.assume_a], int(op.lower)),
        ("nm",),
        _OF_A_SYSTEM,
        (("n", "n"), ("n", "m")),
        1,
    )


def _schur(op: Schur) -> Routine:
    if op.output != "real" or op.sort is not None:
        raise CannotLower("a Schur form of complex numbers, or in an order")
    return Routine("schur", (), ("nn", "nn"), work=(("n", "n"), ("n", "n"), (40, "n")))


def _qr(op: QR) -> Routine:
    if op.pivoting or op.mode == "raw":
        raise CannotLower("factors Q and R that are raw, or of columns in another order")
    work: tuple[tuple[str | int, ...], ...] = (("n", "m"), (65, "n"), (65, "m"))
    if op.mode == "r":
        return Routine("qr_triangle", (), ("nm",), ("nm",), work)
    if op.mode == "full":
        return Routine("qr", (1,), ("nn", "nm"), ("nm",), (("n", "n"), *work))
    return Routine("qr", (0,), ("nk", "km"), ("nm",), work)


def _svd(op: SVD) -> Routine:
    rest: tuple[tuple[str | int, ...], ...] = ((4, "k", "k"), (8, "k"), (64, "n"), (64, "m"))
    failure = "SVD did not converge"
    if not op.compute_uv:
        work = (("n", "m"), *rest)
        return Routine("singular_values", (), ("k",), ("nm",), work, 8, failure)
    u, v = ("nn", "mm") if op.full_matrices else ("nk", "km")
    work = (("n", "m"), tuple(u), tuple(v), *rest)
    return Routine("svd", (int(op.full_matrices),), (u, "k", v), ("nm",), work, 8, failure)


_DETERMINANT = Routine("determinant", (), ("", ""), work=(("n", "n"),), integers=1)

ROUTINES: Mapping[type, Callable[[Any], Routine]] = {
    Cholesky: lambda op: Routine("cholesky", (int(op.lower),)),
    SolveTriangular: lambda op: Routine(
        "solve_triangular", (int(op.lower), int(op.unit_diagonal)), ("nm",), _OF_A_SYSTEM
    ),
    CholeskySolve: lambda op: Routine("solve_factored", (int(op.lower),), ("nm",), _OF_A_SYSTEM),
    Solve: _solve,
    SolveOrNaN: _solve,
    LUFactor: lambda op: Routine("lu", (), ("nn", "n"), work=(("n", "n"),)),
    MatrixInverse: lambda op: Routine(
        "inverse", work=(("n", "n"),), integers=1, failure="Singular matrix"
    ),
    Det: lambda op: _DETERMINANT,
    SLogDet: lambda op: _DETERMINANT,
    Eigh: lambda op: Routine(
        "eigh",
        (int(op.lower),),
        ("n", "nn"),
        work=(("n", "n"), ("n", "n"), (40, "n")),
        integers=12,
        failure="Eigenvalues did not converge",
    ),
    QR: _qr,
    SVD: _svd,
    Schur: _schur,
    TRSYL: lambda op: Routine(
        "solve_sylvester",
        (),
        ("nm",),
        ("nn", "mm", "nm"),
        (("n", "n"), ("m", "m"), ("n", "m")),
    ),
}


def routine_of(op: Op) -> Routine | None:
    """Return what computes an operation on one matrix, if the runtime has it."""
    kind = computing_class(op, ROUTINES)
    return None if kind is None else ROUTINES[kind](op)


@lowers(*ROUTINES)
def linear_algebra(step: Step, node, inputs: list[Value]) -> list[Value]:
    routine = routine_of(node.op)
    assert routine is not None
    return on_stacks(step, node, routine, inputs, [()] * len(inputs))


def on_stacks(
    step: Step,
    node: Apply,
    routine: Routine,
    inputs: Sequence[Value],
    flags: Sequence[Sequence[bool]],
) -> list[Value]:
    """Call a routine for each matrix of a stack; ``flags`` says which sizes of it are known as 1."""
    dtype = node.outputs[0].type.dtype
    if dtype not in FLOATS:
        raise CannotLower(f"linear algebra in {dtype}")
    if len(inputs) != len(routine.operands):
        raise CannotLower("a generalized eigenvalue problem")
    views = [step.view(cast(step, value, dtype)) for value in inputs]
    stack = stack_shape(step, views, flags)
    cores = [view.shape[len(known) :] for view, known in zip(views, flags, strict=True)]
    sizes = _sizes(step, routine, cores)
    operands = [stretched(view, stack, known) for view, known in zip(views, flags, strict=True)]
    vector = len(cores) == 2 and len(cores[1]) == 1
    dtypes = [variable.type.dtype for variable in node.outputs] + [dtype] * len(routine.results)
    results = [
        step.rows_without_gaps(
            kind, (*stack, *(sizes[letter] for letter in letters.strip("m" * vector)))
        )
        for letters, kind in zip(routine.results, dtypes, strict=False)
    ]
    call = _Call(step, routine, dtype, sizes, len(stack))
    step.append(call.statement(results, operands), *results, *call.work)
    values: list[Value] = [View.of(r) if r.shape else step.load(View.of(r)) for r in results]
    if routine is _DETERMINANT and len(node.outputs) == 1:
        sign, logarithm = values
        size = step.apply(expression_of(ps.exp, [dtype], dtype), [logarithm])
        return [step.apply(expression_of(ps.mul, [dtype, dtype], dtype), [sign, size])]
    return values[: len(node.outputs)]


def _sizes(step: Step, routine: Routine, cores: Sequence[tuple[Size, ...]]) -> dict[str, Size]:
    found: dict[str, Size] = {}
    for core, letters in zip(cores, routine.operands, strict=True):
        square = len(set(letters)) == 1
        why = _SQUARE if square else "rows of a matrix and of the right side of a system"
        for size, letter in zip(core, letters, strict=False):
            found[letter] = step.sizes.equal(found[letter], size, why) if letter in found else size
    n, m = found["n"], found.get("m", 1)
    for size in (n, m):
        if not isinstance(size, int):
            step.sizes.check(compared(size, "<=", _MOST_ROWS), "rows that LAPACK can count")
    sizes = {"n": n, "m": m}
    if any("k" in letters for letters in routine.results):
        sizes["k"] = step.sizes.name(minimum(n, m))
    return sizes


_SQUARE = "rows and columns of a square matrix"


class _Call:
    """The calls of a routine for all matrices of a stack."""

    def __init__(
        self, step: Step, routine: Routine, dtype: str, sizes: Mapping[str, Size], ndim: int
    ):
        self.routine, self.dtype, self.sizes = routine, dtype, sizes
        self.ndim = ndim
        self.work: list[Buffer] = []
        if routine.work:
            size: Size = 0
            for term in routine.work:
                size = step.sizes.binary(size, "+", self._product(step, term))
            self.work.append(step.rows_without_gaps(dtype, (size,)))
        if routine.integers:
            count = self._product(step, (routine.integers, "n"))
            self.work.append(step.rows_without_gaps("int32", (count,)))

    def _product(self, step: Step, term: Sequence[str | int]) -> Size:
        return step.sizes.product(self.sizes[f] if isinstance(f, str) else f for f in term)

    def statement(self, results: Sequence[Buffer], operands: Sequence[View]) -> CallRuntime:
        """Return the statement that calls it."""
        routine, n, m = self.routine, self.sizes["n"], self.sizes["m"]
        made = len(results)
        first = made + len(self.work)
        others = range(first + 1, first + len(operands))
        arguments = (
            n,
            *([m] if routine.two_sizes else []),
            OfStack(first, 2),
            *routine.flags,
            *(OfStack(k, 2) for k in others),
            *map(OfStack, range(made)),
            *map(Whole, range(made, first)),
        )
        terms = (n, n, m if routine.two_sizes else n)
        failure = routine.failure
        return CallRuntime(
            f"{routine.name}_{SUFFIX[self.dtype]}",
            [View.of(buffer) for buffer in (*results, *self.work)],
            list(operands),
            arguments,
            results[0].shape[: self.ndim],
            [Work(MULTIPLY_ADD[self.dtype], terms)],
            [Work(1, terms)],
            None if failure is None else (np.linalg.LinAlgError, failure),
            # LAPACK is looked for, by Python, when it is first needed
            by_caller=True,
        )


@lowers(PivotToPermutations)
def rows_as_exchanged(step: Step, node, inputs: list[Value]) -> list[Value]:
    """Return where each row is found after the exchanges of a factorization, or where each goes."""
    return [permutation(step, step.view(inputs[0]), node.op.inverse)]


def permutation(step: Step, pivots: View, inverse: bool) -> View:
    """Return the permutations that exchanges along the last dimension amount to."""
    out = View.of(step.rows_without_gaps("int64", pivots.shape))
    exchanges = step.view(cast(step, pivots, "int64"))
    length, stack = pivots.shape[-1], pivots.shape[:-1]
    arguments = (length, int(inverse), OfStack(1, 1), OfStack(0))
    takes = [Work(2 * MOVE, (length,))]
    failure = IndexError, "a pivot is out of bounds"
    call = CallRuntime("permutation", [out], [exchanges], arguments, stack, takes, (), failure)
    step.append(call, out.buffer)
    return out
