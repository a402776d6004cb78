"""Element-wise operations in one pass over the elements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Set

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Compute, Scalar, View
from theano.link.native.ir.layout import Product
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.ir.sharing import Share
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.c_text import without_outer_parentheses
from theano.link.native.render.looks import between_looks
from theano.link.native.render.nests import Operands, element, nest
from theano.link.native.render.numbers_in_c import C_TYPES, number_in_c
from theano.link.native.render.registry import renders
from theano.link.native.render.scalar_functions import (
    FUNCTIONS_ON_VECTORS,
    scalar_text,
    vector_text,
)
from theano.link.native.render.writer import Writer
from theano.link.native.statements.map import Map


def about_map(statement: Map) -> str:
    stored = [one.buffer for one in statement.body if one.stored and one.buffer is not None]
    return ", ".join(dict.fromkeys(buffer.root().name for buffer in stored))


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
        return _scalar_loop(*given, self.operands)


# Elements for which the reciprocal of what they are divided by is worth computing.
_MANY = 64


def _are_few(size: Size) -> bool:
    return isinstance(size, int) and size < _MANY


# What reads well within another expression, and has the type of its operands.
_FOLDED = {"add", "divide", "multiply", "negate", "square", "subtract", *FUNCTIONS_ON_VECTORS}
_LONGEST_FOLDED = 90


@dataclass
class _Body:
    """The computations of a pass as lines; what is short and used once stands where it is used.

    Attributes
    ----------
    loads
        Which operand is loaded, by the computation and the position in it.
    stores
        The operand in which a computation is stored.
    types
        The C types of values, by their dtypes.
    scalar
        Returns how a number reads.
    write
        Returns a computation in C, given how its operands read.
    by_lanes
        Whether a computation is done lane by lane, so that its operands have names.
    """

    writer: Writer
    loads: dict[tuple[int, int], int]
    stores: dict[int, int]
    types: Mapping[str, str]
    scalar: Callable[[Scalar], str]
    write: Callable[[Compute, list[str]], str]
    by_lanes: Callable[[Compute], bool] = lambda compute: False

    def lines(
        self,
        statement: Map,
        loaded: dict[int, tuple[str, str]],
        store: Callable[[int, str], str],
    ) -> list[str]:
        """Return the lines.

        Parameters
        ----------
        loaded
            The dtype of operands, and how they are loaded.
        store
            Returns what stores a value in an operand.
        """
        uses = self._uses(statement)
        names = {k: text if uses["load", k] == 1 else f"x{k}" for k, (_, text) in loaded.items()}
        lines = [
            f"const {self.types[dtype]} x{k} = {text};"
            for k, (dtype, text) in loaded.items()
            if names[k] != text
        ]
        texts: dict[int, str] = {}
        values: dict[int, str] = {}
        # what stands where it is used, and loads there
        loading: set[int] = set()
        for compute in statement.body:
            operands = self._operands(compute, names, texts)
            loads = self._loads(compute, names, loading)
            texts[id(compute)] = self.writer.result(compute)
            if self.by_lanes(compute):
                lines += self._lane_by_lane(compute, operands)
                continue
            text, used = self.write(compute, operands), uses["result", id(compute)]
            if id(compute) not in self.stores and used == 1 and self._may_fold(compute, text):
                texts[id(compute)] = text
                loading |= {id(compute)} if loads else set()
                continue
            text = without_outer_parentheses(text)
            # what is stored first must not be loaded afterwards, as it may lie in the same memory
            if id(compute) in self.stores and not used and not loads:
                values[id(compute)] = text
                continue
            kind = self.types[compute.dtype]
            lines.append(f"const {kind} {self.writer.result(compute)} = {text};")
        stored = [one for one in statement.body if id(one) in self.stores]
        return lines + [
            store(self.stores[id(one)], values.get(id(one), texts[id(one)])) for one in stored
        ]

    def _operands(
        self, compute: Compute, names: Mapping[int, str], texts: Mapping[int, str]
    ) -> list[str]:
        found = []
        for position, operand in enumerate(compute.operands):
            if isinstance(operand, View):
                k = self.loads[id(compute), position]
                found.append(names.get(k, f"x{k}"))
            elif isinstance(operand, Compute):
                found.append(texts[id(operand)])
            else:
                found.append(
                    self.writer.number(operand) if self.by_lanes(compute) else self.scalar(operand)
                )
        return found

    def _loads(self, compute: Compute, names: Mapping[int, str], loading: Set[int]) -> bool:
        """Return whether operands are loaded where a computation stands."""
        for position, operand in enumerate(compute.operands):
            if isinstance(operand, View):
                k = self.loads[id(compute), position]
                if names.get(k, f"x{k}") != f"x{k}":
                    return True
            elif id(operand) in loading:
                return True
        return False

    def _may_fold(self, compute: Compute, text: str) -> bool:
        operation = compute.operation
        return (
            operation.operation in _FOLDED
            and operation.operand_dtype == compute.dtype in FLOATS
            and len(text) <= _LONGEST_FOLDED
        )

    def _uses(self, statement: Map) -> Counter[tuple[str, int]]:
        """Return how often each operand and each result is written."""
        uses: Counter[tuple[str, int]] = Counter()
        for compute in statement.body:
            marks = [f"@{position}@" for position in range(len(compute.operands))]
            text = "" if self.by_lanes(compute) else self.write(compute, marks)
            for position, (mark, operand) in enumerate(zip(marks, compute.operands, strict=True)):
                if not isinstance(operand, Scalar):
                    used = self._key(compute, position)
                    uses[used] += text.count(mark) if text else 2
        return uses

    def _key(self, compute: Compute, position: int) -> tuple[str, int]:
        operand = compute.operands[position]
        if isinstance(operand, View):
            return "load", self.loads[id(compute), position]
        return "result", id(operand)

    def _lane_by_lane(self, compute: Compute, operands: list[str]) -> list[str]:
        """Return what has no form on vectors, so that the rest may be on vectors."""
        texts = [
            text if isinstance(operand, Scalar) else f"{text}[lane]"
            for text, operand in zip(operands, compute.operands, strict=True)
        ]
        result = self.writer.result(compute)
        one = scalar_text(compute.operation, texts, compute.dtypes)
        width = f"TN_WIDTH_{SUFFIX[compute.dtype].upper()}"
        return [
            f"{self.types[compute.dtype]} {result};",
            f"for (int lane = 0; lane < {width}; lane++) {result}[lane] = {one};",
        ]


def _scalar_loop(writer, statement, loads, stores, bounds, strides, operands) -> list[str]:
    first, end = bounds
    body = _Body(
        writer,
        loads,
        stores,
        C_TYPES,
        writer.number,
        lambda compute, texts: scalar_text(compute.operation, texts, compute.dtypes),
    )
    loaded = {
        k: (operands.views[k].dtype, element(k, strides[k])) for k in sorted(set(loads.values()))
    }
    return [
        "TN_INDEPENDENT",
        f"for (int64_t i = {first}; i < {end}; i++) {{",
        *body.lines(statement, loaded, lambda k, value: f"{element(k, strides[k])} = {value};"),
        "}",
    ]


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
    suffix, (first, end) = SUFFIX[dtype], bounds
    width, vector, splat = (
        f"TN_WIDTH_{suffix.upper()}",
        f"tn_{suffix}v",
        f"TN_SPLAT_{suffix.upper()}",
    )
    used = sorted(set(loads.values()))
    lines = [f"const {vector} x{k} = {splat}(*p{k});" for k in used if not strides[k].factor]
    splats: dict[str, str] = {}
    for operand in (operand for compute in statement.body for operand in compute.operands):
        if isinstance(operand, Scalar) and number_in_c(operand) not in splats:
            splats[number_in_c(operand)] = name = f"s{len(splats)}"
            text = f"({C_TYPES[dtype]}){writer.number(operand)}"
            lines.append(f"const {vector} {name} = {splat}({text});")
    for number, name in divisors.items():
        text = f"tn_divisor_of_{suffix}(({C_TYPES[dtype]}){writer.rename(number)})"
        lines.append(f"const tn_divisor_{suffix} {name} = {text};")

    def write(compute: Compute, texts: list[str]) -> str:
        divisor = divisors.get(_divisor(compute))
        if divisor is not None:
            return f"tn_divided_{suffix}({texts[0]}, {divisor})"
        return vector_text(compute.operation, texts, dtype)

    body = _Body(
        writer,
        loads,
        stores,
        {dtype: vector, "bool": "__auto_type"},
        lambda number: splats[number_in_c(number)],
        write,
        by_lanes=lambda compute: not compute.operation.in_vectors,
    )

    def pass_of(load: str, store: str) -> list[str]:
        loaded = {k: (dtype, load.format(f"p{k} + i")) for k in used if strides[k].factor}
        return body.lines(statement, loaded, lambda k, value: store.format(f"p{k} + i", value))

    return [
        *lines,
        f"int64_t i = {first};",
        f"for (; i + {width} <= {end}; i += {width}) {{",
        *pass_of(f"tn_load_{suffix}({{}})", f"tn_store_{suffix}({{}}, {{}});"),
        "}",
        f"if (i < {end}) {{",
        f"const int64_t rest = {end} - i;",
        *pass_of(
            f"tn_load_some_{suffix}({{}}, rest)", f"tn_store_some_{suffix}({{}}, {{}}, rest);"
        ),
        "}",
    ]


def _divisor(compute: Compute) -> str | None:
    """The number that a computation divides all elements by."""
    by = compute.operands[-1]
    divides = compute.operation.name == "true_div" and isinstance(by, Scalar)
    return number_in_c(by) if divides else None  # type: ignore[arg-type]


def _divisors(statement: Map) -> dict[str | None, str]:
    """The numbers that elements are divided by, each with a name."""
    found = dict.fromkeys(filter(None, map(_divisor, statement.body)))
    return {number: f"d{k}" for k, number in enumerate(found)}
