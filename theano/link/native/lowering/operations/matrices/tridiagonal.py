"""Factors of tridiagonal matrices, and solutions by them, in time that grows as the diagonals do."""

from __future__ import annotations

from collections.abc import Sequence

from theano.link.native.ir.ir import CannotLower, Value, View
from theano.link.native.ir.scalar_types import C_TYPES, FLOATS
from theano.link.native.ir.symbolic import compared
from theano.link.native.lowering.operations.elementwise import cast
from theano.link.native.lowering.operations.kernels import looks_of
from theano.link.native.lowering.operations.matrices.stacks import stack_shape, stretched
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.render.arrays import Array, indices, loops
from theano.link.native.render.looks import declared, look_after, unless_empty
from theano.link.native.statements.base import Work
from theano.link.native.statements.kernel import Kernel
from theano.pytensor_base.operations.tensor import (
    LUFactorTridiagonal,
    SolveLUFactorTridiagonal,
)

# nanoseconds for a row: a division, and what waits for it
_ROW = 8.0

_Flags = Sequence[Sequence[bool]]


@lowers(LUFactorTridiagonal)
def factors(step: Step, node, inputs: list[Value]) -> list[Value]:
    return factors_of_stack(step, node, inputs, [()] * len(inputs))


@lowers(SolveLUFactorTridiagonal)
def solution(step: Step, node, inputs: list[Value]) -> list[Value]:
    return solutions_of_stack(step, node, inputs, [()] * len(inputs))


def factors_of_stack(step: Step, node, inputs: list[Value], flags: _Flags) -> list[Value]:
    """Multipliers, three diagonals of the upper factor, and which row came to each place."""
    dtype = node.outputs[0].type.dtype
    views = _views(step, inputs, flags, [dtype] * 3)
    stack, n = views[1].shape[:-1], views[1].shape[-1]
    step.sizes.check(compared(n, ">=", 2), "a tridiagonal matrix of two rows or more")
    for beside in (views[0], views[2]):
        both = step.sizes.binary(beside.shape[-1], "+", 1)
        step.sizes.equal(both, n, "lengths of the diagonals of a matrix")
    lengths = [views[0].shape[-1], n, views[2].shape[-1], step.sizes.binary(n, "-", 2), n]
    outs = [
        step.rows_without_gaps(variable.type.dtype, (*stack, length))
        for variable, length in zip(node.outputs, lengths, strict=True)
    ]
    names, looks = indices("b", len(stack)), looks_of(step)

    def lines(*arrays: Array) -> list[str]:
        made, given = arrays[:5], arrays[5:]
        body = [
            line
            for to, of in zip(made, given, strict=False)
            for line in loops(
                "i", [to.shape[-1]], [f"{to.at(*names, 'i')} = {of.at(*names, 'i')};"]
            )
        ]
        body += [
            *_elimination(C_TYPES[dtype], names, made),
            *look_after(str(made[1].shape[-1]), looks),
        ]
        around = loops(names, made[1].shape[:-1], body, looks)
        return [*declared(looks), *unless_empty(made[1].shape, around)]

    results = [View.of(out) for out in outs]
    takes = [Work(_ROW, (*stack, n))]
    step.append(Kernel(results, views, lines, takes=takes), *outs)
    return list(results)


def _elimination(kind: str, names: Sequence[str], made: Sequence[Array]) -> list[str]:
    """Elimination with exchanges of neighbouring rows (Golub and Van Loan 2013, section 4.3.3)."""

    def at(k: int, place: str) -> str:
        return made[k].at(*names, place)

    n = str(made[1].shape[-1])
    below, main, above, second = (at(k, "i") for k in range(4))
    next_main, next_above = at(1, "i + 1"), at(2, "i + 1")
    step = [
        f"{at(4, 'i')} = i + 1;",
        f"if (i < {n} - 2) {second} = 0;",
        f"if (__builtin_fabs({main}) >= __builtin_fabs({below})) {{",
        f"if ({main} != 0) {{ {below} /= {main}; {next_main} -= {below} * {above}; }}",
        "} else {",
        f"const {kind} factor = {main} / {below}, kept = {above};",
        f"{main} = {below}; {below} = factor; {above} = {next_main};",
        f"{next_main} = kept - factor * {next_main};",
        f"if (i < {n} - 2) {{ {second} = {next_above}; {next_above} *= -factor; }}",
        f"{at(4, 'i')} = i + 2;",
        "}",
    ]
    return [*loops("i", [f"{n} - 1"], step), f"{at(4, n + ' - 1')} = {n};"]


def solutions_of_stack(step: Step, node, inputs: list[Value], flags: _Flags) -> list[Value]:
    """Solutions of systems, or of those of the transposed matrices, by such factors."""
    op = getattr(node.op, "core_op", node.op)
    dtype = node.outputs[0].type.dtype
    views = _views(step, inputs, flags, [*[dtype] * 4, "int32", dtype])
    sides, stacked = views[5], views[1].ndim - 1
    n = step.sizes.equal(views[1].shape[-1], sides.shape[stacked], "rows of a system")
    step.sizes.check(compared(n, ">=", 2), "a tridiagonal system of two rows or more")
    for k, fewer in enumerate((1, 0, 1, 2, 0)):
        length = step.sizes.binary(views[k].shape[-1], "+", fewer)
        step.sizes.equal(length, n, "lengths of the factors of a tridiagonal matrix")
    out = step.rows_without_gaps(dtype, sides.shape)
    names, looks = indices("b", stacked), looks_of(step)
    columns = ["j"] if op.b_ndim == 2 else []
    substitute = _substitution_transposed if op.transposed else _substitution

    def lines(y: Array, *given: Array) -> list[str]:
        *factors, side = given
        of = [lambda place, one=one: one.at(*names, place) for one in factors]  # type: ignore[misc]
        copied = f"{y.at(*names, 'i', *columns)} = {side.at(*names, 'i', *columns)};"
        each = loops("i", [y.shape[stacked]], [copied])
        each += substitute(
            C_TYPES[dtype], str(y.shape[stacked]), of, lambda place: y.at(*names, place, *columns)
        )
        each = loops(columns, y.shape[stacked + 1 :], each) if columns else each
        body = [*each, *look_after(str(y.shape[stacked]), looks)]
        around = loops(names, y.shape[:stacked], body, looks)
        return [*declared(looks), *unless_empty(y.shape, around)]

    takes = [Work(_ROW, out.shape)]
    step.append(Kernel([View.of(out)], views, lines, takes=takes), out)
    return [View.of(out)]


def _substitution(kind: str, n: str, of, x) -> list[str]:
    below, main, above, second, pivot = of
    here, after = x("i"), x("i + 1")
    forward = [
        f"if ({pivot('i')} == i + 1) {{ {after} -= {below('i')} * {here}; }} else {{",
        f"const {kind} kept = {here}; {here} = {after};",
        f"{after} = kept - {below('i')} * {here}; }}",
    ]
    return [
        *loops("i", [f"{n} - 1"], forward),
        f"for (int64_t i = {n} - 1; i >= 0; i--) {{",
        f"{kind} rest = {here};",
        f"if (i < {n} - 1) rest -= {above('i')} * {after};",
        f"if (i < {n} - 2) rest -= {second('i')} * {x('i + 2')};",
        f"{here} = rest / {main('i')};",
        "}",
    ]


def _substitution_transposed(kind: str, n: str, of, x) -> list[str]:
    below, main, above, second, pivot = of
    here, after = x("i"), x("i + 1")
    forward = [
        f"{kind} rest = {here};",
        f"if (i > 0) rest -= {above('i - 1')} * {x('i - 1')};",
        f"if (i > 1) rest -= {second('i - 2')} * {x('i - 2')};",
        f"{here} = rest / {main('i')};",
    ]
    return [
        *loops("i", [n], forward),
        f"for (int64_t i = {n} - 2; i >= 0; i--) {{",
        f"if ({pivot('i')} == i + 1) {{ {here} -= {below('i')} * {after}; }} else {{",
        f"const {kind} kept = {after}; {after} = {here} - {below('i')} * kept;",
        f"{here} = kept; }}",
        "}",
    ]


def _views(step: Step, inputs: Sequence[Value], flags: _Flags, dtypes: Sequence[str]) -> list[View]:
    """The operands in memory, all with the stack that theirs broadcast to."""
    if dtypes[0] not in FLOATS:
        raise CannotLower(f"linear algebra in {dtypes[0]}")
    views = [step.view(cast(step, v, dtype)) for v, dtype in zip(inputs, dtypes, strict=True)]
    stack = stack_shape(step, views, flags)
    return [stretched(view, stack, known) for view, known in zip(views, flags, strict=True)]
