"""The inside of a loop over elements: what is loaded, computed and stored, one by one or in vectors.

What is short and used once stands where it is used.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.loop_nests import (
    Address,
    Apply,
    Assign,
    Let,
    Load,
    Local,
    Node,
    Store,
    Value,
)
from theano.link.native.ir.scalar_types import FLOATS, SUFFIX
from theano.link.native.ir.symbolic import Size
from theano.link.native.render.numbers_in_c import C_TYPES
from theano.link.native.render.scalar_functions import (
    FUNCTIONS_ON_VECTORS,
    scalar_text,
    vector_text,
    without_outer_parentheses,
)
from theano.support.data_classes import dataclass

# What reads well within another expression, and has the type of its operands.
_FOLDED = {"add", "divide", "multiply", "negate", "square", "subtract", *FUNCTIONS_ON_VECTORS}
_LONGEST_FOLDED = 90


class Spelling(Protocol):
    """The text of nodes in a kind of loop."""

    def kind(self, dtype: str, computed: bool = False) -> str:
        """Return the C type of values, of what is computed or of what is loaded."""

    def load(self, load: Load) -> str: ...

    def store(self, store: Store, text: str) -> str: ...

    def number(self, number: Scalar) -> str: ...

    def apply(self, apply: Apply, operands: Sequence[str]) -> str: ...

    def is_by_lanes(self, apply: Apply) -> bool:
        """Return whether an operation is done lane by lane, so that its operands have names."""


@dataclass(frozen=True)
class OneByOne:
    """One element a turn."""

    load: Callable[[Load], str]
    number: Callable[[Scalar], str]

    def kind(self, dtype: str, computed: bool = False) -> str:
        # gcc makes no masks of conditions that go through a byte
        return "int" if dtype == "bool" and computed else C_TYPES[dtype]

    def store(self, store: Store, text: str) -> str:
        return f"{self.load(Load(store.pointer, '', store.index))} = {text};"

    def apply(self, apply: Apply, operands: Sequence[str]) -> str:
        return scalar_text(apply.operation, operands, apply.dtypes)

    def is_by_lanes(self, apply: Apply) -> bool:
        return False


@dataclass(frozen=True)
class InLanes:
    """As many elements as a vector of a type has, or the first ``rest`` of them."""

    dtype: str
    rest: str
    address: Callable[[Address | Size], str]
    number: Callable[[Scalar], str]

    def kind(self, dtype: str, computed: bool = False) -> str:
        return "__auto_type" if dtype == "bool" else f"tn_{SUFFIX[dtype]}v"

    def load(self, load: Load) -> str:
        if load.apart != 1:
            apart = self.address(load.apart)
            return self._called("load_apart", load.dtype, load.pointer, load.index, apart)
        return self._called("load", load.dtype, load.pointer, load.index)

    def store(self, store: Store, text: str) -> str:
        called = self._called("store", store.value.dtype, store.pointer, store.index, text)
        return f"{called};"

    def _called(self, name: str, dtype: str, pointer: str, index: Size, *more: str) -> str:
        """Return the call that loads or stores elements."""
        some, boolean = "_some" if self.rest else "", "mask_" if dtype == "bool" else ""
        operands = [self.address(Address(pointer, index)), *more, *([self.rest] if some else [])]
        return f"tn_{boolean}{name}{some}_{SUFFIX[self.dtype]}({', '.join(operands)})"

    def apply(self, apply: Apply, operands: Sequence[str]) -> str:
        return vector_text(apply.operation, operands, apply.dtypes, self.dtype)

    def is_by_lanes(self, apply: Apply) -> bool:
        return not apply.operation.in_vectors


def is_straight(body: Sequence[Node]) -> bool:
    """Return whether nodes load, compute and store, and stores come last."""
    lets = [isinstance(node, Let) and not node.variable for node in body]
    stores = [isinstance(node, Store) for node in body]
    return all(map(max, lets, stores)) and lets == sorted(lets, reverse=True)


def straight_lines(body: Sequence[Node], spelling: Spelling) -> list[str]:
    """Return the lines of such nodes, and of what is assigned after them."""
    return _Straight(body, spelling).lines()


class _Straight:
    """Such nodes as they are written.

    Attributes
    ----------
    texts
        How what was computed or loaded reads where it is used.
    loading
        What stands where it is used, and loads there.
    """

    def __init__(self, body: Sequence[Node], spelling: Spelling):
        self.spelling = spelling
        self.lets = [node for node in body if isinstance(node, Let)]
        self.stores = [node for node in body if isinstance(node, Store)]
        self.assigned = [node for node in body if isinstance(node, Assign)]
        ends: list[Store | Assign] = [*self.stores, *self.assigned]
        self.materialized = {one.value.name for one in ends if isinstance(one.value, Local)}
        self.texts: dict[str, str] = {}
        self.loading: set[str] = set()
        self.uses = self._uses()

    def lines(self) -> list[str]:
        lines = [line for let in self.lets for line in self._line(let)]
        for store in self.stores:
            text = without_outer_parentheses(self._value(store.value))
            lines.append(self.spelling.store(store, text))
        for assign in self.assigned:
            text = without_outer_parentheses(self._value(assign.value))
            lines.append(f"{assign.name} = {text};")
        return lines

    def _line(self, let: Let) -> list[str]:
        """Return the line that names a value, if it does not stand where it is used."""
        spelling, value = self.spelling, let.value
        if isinstance(value, Apply) and spelling.is_by_lanes(value):
            return self._lane_by_lane(let.name, value)
        text, used = self._value(value), self.uses[let.name]
        loads = isinstance(value, Load) or any(
            isinstance(operand, Local) and operand.name in self.loading
            for operand in getattr(value, "operands", ())
        )
        if let.name not in self.materialized and used == 1 and _may_fold(let, text):
            self.texts[let.name] = text
            self.loading |= {let.name} if loads else set()
            return []
        # what is stored first must not be loaded afterwards, as it may lie in the same memory
        if let.name in self.materialized and not used and not loads:
            self.texts[let.name] = text
            return []
        kind = spelling.kind(let.dtype, isinstance(value, Apply))
        return [f"const {kind} {let.name} = {without_outer_parentheses(text)};"]

    def _value(self, value: Value) -> str:
        if isinstance(value, Load):
            return self.spelling.load(value)
        if isinstance(value, Local):
            return self.texts.get(value.name, value.name)
        if isinstance(value, Scalar):
            return self.spelling.number(value)
        assert isinstance(value, Apply)
        return self.spelling.apply(value, [self._value(operand) for operand in value.operands])

    def _uses(self) -> Counter[str]:
        """Return how often what is named is written by what is computed."""
        uses: Counter[str] = Counter()
        for let in self.lets:
            apply = let.value
            if not isinstance(apply, Apply):
                continue
            marks = [f"@{position}@" for position in range(len(apply.operands))]
            by_lanes = self.spelling.is_by_lanes(apply)
            text = "" if by_lanes else self.spelling.apply(apply, marks)
            for mark, operand in zip(marks, apply.operands, strict=True):
                if isinstance(operand, Local):
                    uses[operand.name] += 2 if by_lanes else text.count(mark)
        return uses

    def _lane_by_lane(self, name: str, apply: Apply) -> list[str]:
        """Return what has no form on vectors, so that the rest may be on vectors."""
        texts = [
            self._value(operand) if isinstance(operand, Scalar) else f"{self._value(operand)}[lane]"
            for operand in apply.operands
        ]
        one = scalar_text(apply.operation, texts, apply.dtypes)
        width = f"TN_WIDTH_{SUFFIX[apply.dtype].upper()}"
        return [
            f"{self.spelling.kind(apply.dtype)} {name};",
            f"for (int lane = 0; lane < {width}; lane++) {name}[lane] = {one};",
        ]


def _may_fold(let: Let, text: str) -> bool:
    if isinstance(let.value, Load):
        return True
    if not isinstance(let.value, Apply):
        return False
    operation = let.value.operation
    return (
        operation.operation in _FOLDED
        and operation.operand_dtype == let.dtype in FLOATS
        and len(text) <= _LONGEST_FOLDED
    )
