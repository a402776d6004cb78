"""Element-wise operations in one pass over the elements."""

from __future__ import annotations

from collections.abc import Callable

from theano.link.native.ir.ir import Compute, Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.ir.sharing import Share
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.looks import between_looks
from theano.link.native.render.nests import Operands, element, nest
from theano.link.native.render.numbers_in_c import C_TYPES, number_in_c
from theano.link.native.render.registry import renders
from theano.link.native.render.scalar_functions import scalar_text, vector_text
from theano.link.native.render.writer import Writer
from theano.link.native.statements.map import Map


def about_map(statement: Map) -> str:
    return ", ".join(compute.name for compute in statement.body if compute.stored)


def libraries_of_map(statement: Map) -> set[str]:
    return {"vectors", *(compute.operation.library for compute in statement.body)}


@renders(Map, about=about_map, libraries=libraries_of_map)
def lines_of_map(statement: Map, writer: Writer, share: Share | None) -> list[str]:
    """The computations in one pass over the elements, or a thread's share of them.

    A pass that looks up for signals ends early where one came.
    """
    elements = Elements(writer, statement)
    between = between_looks(len(statement.body)) if writer.looks else 0
    return nest(statement.shape, elements.operands, elements.inner, share, between)


class Elements:
    """A pass over elements as it is written: its operands, and its innermost loop.

    Parameters
    ----------
    apart
        A result that is stored, beside others, in a row that the caller declares as ``row``.
    """

    def __init__(self, writer: Writer, statement: Map, apart: Compute | None = None):
        self.writer, self.statement, self.apart = writer, statement, apart
        self.operands = operands = Operands(writer)
        self.loads: dict[tuple[int, int], int] = {}
        for compute in statement.body:
            for position, operand in enumerate(compute.operands):
                if isinstance(operand, View):
                    self.loads[id(compute), position] = operands.add(operand)
        self.stores = {
            id(compute): operands.add(View.of(compute.buffer))
            for compute in statement.body
            if compute.stored and compute.buffer is not None
        }
        self._dtype = _vector_type(statement, self.loads, operands)
        self._divisors = _divisors(statement) if self._dtype is not None else {}
        if self._divisors:
            extents, _ = operands.collapsed(statement.shape)
            if len(extents) > 1 or _are_few(extents[0]):
                self._divisors = {}
        if apart is not None:
            self.stores[id(apart)] = len(operands.views)
            if apart.dtype != self._dtype:
                self._dtype = None

    def inner(self, first: str, end: str, strides: list[Product]) -> list[str]:
        """The loop over ``i`` from one bound to another, given the strides of operands along it."""
        if self.apart is not None:
            strides = [*strides, Product(1)]
        bounds = first, end
        given = self.writer, self.statement, self.loads, self.stores, bounds, strides
        if self._dtype is not None and _vector_strides(strides, self.loads, self.stores):
            return _vector_loop(*given, self._dtype, self._divisors)
        return _scalar_loop(*given)


# Elements for which the reciprocal of what they are divided by is worth computing.
_MANY = 64


def _are_few(size: Size) -> bool:
    return isinstance(size, int) and size < _MANY


def _operand_texts(
    writer: Writer, compute: Compute, loads, scalar: Callable[[Scalar], str], load: str
) -> list[str]:
    texts = []
    for position, operand in enumerate(compute.operands):
        if isinstance(operand, View):
            texts.append(f"{load}{loads[id(compute), position]}")
        elif isinstance(operand, Compute):
            texts.append(writer.result(operand))
        else:
            texts.append(scalar(operand))
    return texts


def _scalar_loop(writer, statement, loads, stores, bounds, strides) -> list[str]:
    used = sorted(set(loads.values()))
    names = {k: f"x{k}" for k in used}
    first, end = bounds
    lines = ["TN_INDEPENDENT", f"for (int64_t i = {first}; i < {end}; i++) {{"]
    types = {
        loads[id(c), position]: operand.dtype
        for c in statement.body
        for position, operand in enumerate(c.operands)
        if isinstance(operand, View)
    }
    lines += [f"const {C_TYPES[types[k]]} {names[k]} = {element(k, strides[k])};" for k in used]
    for compute in statement.body:
        texts = _operand_texts(writer, compute, loads, writer.number, "x")
        text = scalar_text(compute.operation, texts, compute.dtypes)
        lines.append(f"const {C_TYPES[compute.dtype]} {writer.result(compute)} = {text};")
    for compute in statement.body:
        if id(compute) in stores:
            k = stores[id(compute)]
            lines.append(f"{element(k, strides[k])} = {writer.result(compute)};")
    return [*lines, "}"]


def _vector_type(statement: Map, loads, operands: Operands) -> str | None:
    """The one floating-point type of a map that can run on vectors, or None."""
    dtypes = {view.dtype for view in operands.views}
    if len(dtypes) != 1 or not dtypes <= set(FLOATS):
        return None
    (dtype,) = dtypes
    in_vectors = [c.operation for c in statement.body if c.operation.in_vectors]
    if len(in_vectors) < len(statement.body) and not any(e.function for e in in_vectors):
        # the compiler makes vectors of what it can
        return None
    for compute in statement.body:
        expression = compute.operation
        if compute.dtype == "bool" and (compute.stored or not expression.in_vectors):
            return None
        for position, operand in enumerate(compute.operands):
            truth = expression.takes_truth and position == 0
            if truth and not expression.in_vectors:
                return None
            wanted = {"bool"} if truth else {dtype}
            if isinstance(operand, Scalar) and not truth:
                continue
            if isinstance(operand, Scalar) or operand.dtype not in wanted:
                return None
        if compute.dtype not in (dtype, "bool") or expression.operand_dtype != dtype:
            return None
    return dtype


def _vector_strides(strides: list[Product], loads, stores) -> bool:
    one = Product(1)
    return all(strides[k] == one for k in stores.values()) and all(
        strides[k] == one or not strides[k].factor for k in loads.values()
    )


def _vector_loop(
    writer, statement, loads, stores, bounds, strides, dtype, divisors: dict[str | None, str]
) -> list[str]:
    suffix = SUFFIX[dtype]
    width = f"TN_WIDTH_{suffix.upper()}"
    vector, splat = f"tn_{suffix}v", f"TN_SPLAT_{suffix.upper()}"
    used = sorted(set(loads.values()))
    lines: list[str] = []
    splats: dict[str, str] = {}
    for k in used:
        if not strides[k].factor:
            lines.append(f"const {vector} x{k} = {splat}(*p{k});")
    for compute in statement.body:
        for operand in compute.operands:
            if isinstance(operand, Scalar) and number_in_c(operand) not in splats:
                name = f"s{len(splats)}"
                splats[number_in_c(operand)] = name
                text = f"({C_TYPES[dtype]}){writer.number(operand)}"
                lines.append(f"const {vector} {name} = {splat}({text});")

    for number, name in divisors.items():
        text = f"tn_divisor_of_{suffix}(({C_TYPES[dtype]}){writer.rename(number)})"
        lines.append(f"const tn_divisor_{suffix} {name} = {text};")

    def value_of(compute: Compute, texts: list[str]) -> str:
        divisor = divisors.get(_divisor(compute))
        if divisor is not None:
            return f"tn_divided_{suffix}({texts[0]}, {divisor})"
        return vector_text(compute.operation, texts, dtype)

    def body(load: str, store: str) -> list[str]:
        text = [
            f"const {vector} x{k} = {load.format(f'p{k} + i')};" for k in used if strides[k].factor
        ]
        for compute in statement.body:
            if not compute.operation.in_vectors:
                text += _one_by_one(writer, compute, loads, vector, width)
                continue
            texts = _operand_texts(writer, compute, loads, lambda s: splats[number_in_c(s)], "x")
            kind = "__auto_type" if compute.dtype == "bool" else vector
            text.append(f"const {kind} {writer.result(compute)} = {value_of(compute, texts)};")
        for compute in statement.body:
            if id(compute) in stores:
                target = f"p{stores[id(compute)]} + i"
                text.append(store.format(target, writer.result(compute)))
        return text

    first, end = bounds
    lines.append(f"int64_t i = {first};")
    lines.append(f"for (; i + {width} <= {end}; i += {width}) {{")
    lines += body(f"tn_load_{suffix}({{}})", f"tn_store_{suffix}({{}}, {{}});")
    lines += ["}", f"if (i < {end}) {{", f"const int64_t rest = {end} - i;"]
    lines += body(
        f"tn_load_some_{suffix}({{}}, rest)", f"tn_store_some_{suffix}({{}}, {{}}, rest);"
    )
    return [*lines, "}"]


def _divisor(compute: Compute) -> str | None:
    """The number that a computation divides all elements by."""
    by = compute.operands[-1]
    divides = compute.operation.name == "true_div" and isinstance(by, Scalar)
    return number_in_c(by) if divides else None  # type: ignore[arg-type]


def _divisors(statement: Map) -> dict[str | None, str]:
    """The numbers that elements are divided by, each with a name."""
    found = dict.fromkeys(filter(None, map(_divisor, statement.body)))
    return {number: f"d{k}" for k, number in enumerate(found)}


def _one_by_one(writer, compute: Compute, loads, vector: str, width: str) -> list[str]:
    """What has no form on vectors, of each of a vector's elements, so that the rest may be on vectors."""
    texts = [
        text if isinstance(operand, Scalar) else f"{text}[lane]"
        for text, operand in zip(
            _operand_texts(writer, compute, loads, writer.number, "x"),
            compute.operands,
            strict=True,
        )
    ]
    result = writer.result(compute)
    one = scalar_text(compute.operation, texts, compute.dtypes)
    return [
        f"{vector} {result};",
        f"for (int lane = 0; lane < {width}; lane++) {result}[lane] = {one};",
    ]
