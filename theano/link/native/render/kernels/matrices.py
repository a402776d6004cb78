"""Products of stacks of matrices, routines of the runtime for each of a stack, tridiagonal systems."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.render.arrays import Array, indices, loops, passes
from theano.link.native.render.looks import declared, look_after, unless_empty
from theano.link.native.render.registry import writes_task
from theano.link.native.statements.tasks import (
    CallRoutine,
    ComposeExchanges,
    FactorTridiagonal,
    MultiplyStacks,
    SolveTridiagonal,
)


@writes_task(MultiplyStacks)
def multiply_stacks(task: MultiplyStacks, looks: int, y: Array, x: Array, z: Array) -> list[str]:
    names = indices("b", len(y.shape) - 2)
    one = _runtime_product if y.dtype in FLOATS else _plain_product
    products = loops(names, y.shape[:-2], one(names, y, x, z, looks), looks)
    return [*declared(looks), *unless_empty(y.shape, products)]


def _runtime_product(names: Sequence[str], y: Array, x: Array, z: Array, looks: int) -> list[str]:
    operands = [
        f"{array.name} + {array.offset(*names)}, {array.strides[-2]}, {array.strides[-1]}"
        for array in (x, z)
    ]
    result = f"{y.name} + {y.offset(*names)}, {y.strides[-2]}"
    sizes = f"{y.shape[-2]}, {y.shape[-1]}, {x.shape[-1]}"
    # a large product looks up itself
    elements = f"{y.shape[-2]} * {y.shape[-1]} + {x.shape[-2]} * {x.shape[-1]}"
    return [
        f"runtime->gemm_{SUFFIX[y.dtype]}({sizes}, {', '.join(operands)}, {result});",
        *(look_after(elements, looks) if names else []),
    ]


def _plain_product(names: Sequence[str], y: Array, x: Array, z: Array, looks: int) -> list[str]:
    """The product of whole numbers, which wraps around, or of truth values."""
    add, multiply = ("|", "&") if y.dtype == "bool" else ("+", "*")
    working = y.kind if y.dtype == "bool" else "uint64_t"
    left, right = x.at(*names, "i", "k"), z.at(*names, "k", "j")
    term = f"total = total {add} ({working}){left} {multiply} ({working}){right};"
    body = [
        f"{working} total = 0;",
        *passes("k", [x.shape[-1]], [term], looks),
        f"{y.at(*names, 'i', 'j')} = ({y.kind})total;",
    ]
    return loops("ij", y.shape[-2:], body, looks)


@writes_task(CallRoutine)
def call_routine(task: CallRoutine, looks: int, *given: Any) -> list[str]:
    """The calls of a routine for all matrices of a stack.

    Given are results, work memory, the matrix and others beside it; two sizes; what ends the step.
    """
    names = indices("b", task.stacked)
    made, work = given[: task.results], given[task.results : task.results + task.works]
    rest = given[task.results + task.works :]
    operands = [each for each in rest if isinstance(each, Array)]
    n, m, *fails = (each for each in rest if not isinstance(each, Array))

    def one_of(array: Array) -> str:
        return f"{array.name} + {array.offset(*names)}"

    def with_strides(array: Array) -> str:
        # the stride of columns of a right side that is a vector
        no_columns = ["0"] if len(array.shape) == len(names) + 1 else []
        return ", ".join((one_of(array), *array.strides[len(names) :], *no_columns))

    arguments = [
        n,
        *([m] if task.two_sizes else []),
        with_strides(operands[0]),
        *map(str, task.flags),
        *map(with_strides, operands[1:]),
        *map(one_of, made),
        *(array.name for array in work),
    ]
    suffix = SUFFIX[operands[0].dtype]
    call = f"runtime->{task.name}_{suffix}({', '.join(arguments)})"
    body = [f"if (!{call}) {{ {fails[0]} }}"] if fails else [f"{call};"]
    if task.signs_logarithm:
        sign, logarithm = (array.at(*names) for array in made)
        body.append(f"{sign} *= exp({logarithm});")
    body += look_after(f"{n} * {n} * {m if task.two_sizes else n}", looks)
    stack = made[0].shape[: len(names)]
    return [*declared(looks), *unless_empty(stack, loops(names, stack, body, looks))]


@writes_task(ComposeExchanges)
def compose_exchanges(
    task: ComposeExchanges, looks: int, y: Array, rows: Array, x: Array, fails: str
) -> list[str]:
    names, n = indices("b", len(x.shape) - 1), str(x.shape[-1])
    exchange = [
        f"int64_t other = {x.at(*names, 'i')};",
        f"other += other < 0 ? {n} : 0;",
        f"if (other < 0 || other >= {n}) {{ {fails} }}",
        f"const int64_t kept = {rows.at('i')};",
        f"{rows.at('i')} = {rows.at('other')};",
        f"{rows.at('other')} = kept;",
    ]
    place = f"{y.at(*names, 'i')} = {rows.at('i')};"
    if not task.inverse:
        place = f"{y.at(*names, rows.at('i'))} = i;"
    body = [
        *loops("i", [n], [f"{rows.at('i')} = i;"]),
        *loops("i", [n], exchange),
        *loops("i", [n], [place]),
        *look_after(n, looks),
    ]
    stack = x.shape[:-1]
    return [*declared(looks), *unless_empty(stack, loops(names, stack, body, looks))]


@writes_task(FactorTridiagonal)
def factor_tridiagonal(task: FactorTridiagonal, looks: int, *arrays: Array) -> list[str]:
    made, given = arrays[:5], arrays[5:]
    names = indices("b", len(made[1].shape) - 1)
    body = [
        line
        for to, of in zip(made, given, strict=False)
        for line in loops("i", [to.shape[-1]], [f"{to.at(*names, 'i')} = {of.at(*names, 'i')};"])
    ]
    body += [*_elimination(names, made), *look_after(str(made[1].shape[-1]), looks)]
    around = loops(names, made[1].shape[:-1], body, looks)
    return [*declared(looks), *unless_empty(made[1].shape, around)]


def _elimination(names: Sequence[str], made: Sequence[Array]) -> list[str]:
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
        f"const {made[0].kind} factor = {main} / {below}, kept = {above};",
        f"{main} = {below}; {below} = factor; {above} = {next_main};",
        f"{next_main} = kept - factor * {next_main};",
        f"if (i < {n} - 2) {{ {second} = {next_above}; {next_above} *= -factor; }}",
        f"{at(4, 'i')} = i + 2;",
        "}",
    ]
    return [*loops("i", [f"{n} - 1"], step), f"{at(4, n + ' - 1')} = {n};"]


# how an element of an array reads, at a place along the dimension that is eliminated
_At = Callable[[str], str]


@writes_task(SolveTridiagonal)
def solve_tridiagonal(task: SolveTridiagonal, looks: int, y: Array, *given: Array) -> list[str]:
    *factors, side = given
    columns = ["j"] if task.of_matrices else []
    stacked = len(y.shape) - 1 - len(columns)
    names, n = indices("b", stacked), y.shape[stacked]
    of: list[_At] = [lambda place, one=one: one.at(*names, place) for one in factors]  # type: ignore[misc]
    copied = f"{y.at(*names, 'i', *columns)} = {side.at(*names, 'i', *columns)};"
    substitute = _substitution_transposed if task.transposed else _substitution
    each = [
        *loops("i", [n], [copied]),
        *substitute(y.kind, str(n), of, lambda place: y.at(*names, place, *columns)),
    ]
    each = loops(columns, y.shape[stacked + 1 :], each) if columns else each
    body = [*each, *look_after(str(n), looks)]
    around = loops(names, y.shape[:stacked], body, looks)
    return [*declared(looks), *unless_empty(y.shape, around)]


def _substitution(kind: str, n: str, of: Sequence[_At], x: _At) -> list[str]:
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


def _substitution_transposed(kind: str, n: str, of: Sequence[_At], x: _At) -> list[str]:
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
