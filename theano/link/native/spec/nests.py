"""Verification of loop nests: their names are in scope, their types agree, their loops can be run as they say.

It is asked of each nest that a schedule makes where ``native.verify`` is set, as it always is in the
tests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.loop_nests import (
    Address,
    Apply,
    Assign,
    Block,
    Call,
    Declare,
    Fail,
    For,
    Form,
    If,
    Kind,
    Lanes,
    Let,
    Load,
    Local,
    Memory,
    Node,
    Number,
    Pointer,
    Poll,
    Polled,
    Result,
    Store,
    Value,
    named,
)
from theano.link.native.ir.prologue import names_of
from theano.link.native.ir.scalar_types import FLOATS
from theano.link.native.ir.symbolic import Operation, Size
from theano.support.data_classes import dataclass


class UnsoundNest(AssertionError):
    """A schedule has made a nest that cannot be right."""


def verify_nest(
    nodes: Sequence[Node], memory: Mapping[str, str], knows: Callable[[str], bool], of: str
) -> None:
    """Look at all nodes of a nest.

    Parameters
    ----------
    memory
        The dtypes of the arrays that it may read and write, by name.
    knows
        Says of the name of a size or a bound whether the step has it.
    of
        What the nest is made from, for the message.

    Raises
    ------
    UnsoundNest
        With the first node that is wrong, and what is wrong with it.
    """
    names = {name: _Named(name, dtype, is_memory=True) for name, dtype in memory.items()}
    scope = _Scope(names, knows)
    try:
        scope.look_at(nodes)
    except _Wrong as wrong:
        raise UnsoundNest(f"the nest of {of}: {wrong}") from None


class _Wrong(Exception):
    pass


@dataclass(frozen=True)
class _Named:
    """The meaning of a name."""

    name: str
    dtype: str
    is_memory: bool = False
    variable: bool = False


class _Scope:
    """The names that nodes see.

    Attributes
    ----------
    own
        The names of this scope, which hide those around it and are bound once.
    """

    def __init__(
        self, names: dict[str, _Named], knows: Callable[[str], bool], polled: bool = False
    ):
        self.names, self.knows, self.polled = names, knows, polled
        self.own: set[str] = set()

    def look_at(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            _LOOKS[type(node)](self, node)

    def inside(self, nodes: Sequence[Node], *more: _Named) -> None:
        """Look at nodes in braces, which see more."""
        inner = _Scope(dict(self.names), self.knows, self.polled)
        for one in more:
            inner.bind(one)
        inner.look_at(nodes)

    def bind(self, named: _Named) -> None:
        if named.name in self.own:
            raise _Wrong(f"{named.name} is named twice")
        self.own.add(named.name)
        self.names[named.name] = named

    # ---- what nodes use ----

    def sizes(self, *sizes: Size) -> None:
        for name in sorted(names_of(sizes)):
            if name not in self.names and not self.knows(name):
                raise _Wrong(f"{name} is used where nothing has named it")

    def element(self, pointer: str, index: Size, dtype: str | None) -> None:
        self.sizes(index)
        known = self.names.get(pointer)
        if known is None or not known.is_memory:
            raise _Wrong(f"{pointer} is no memory that it may touch")
        if dtype is not None and dtype != known.dtype:
            raise _Wrong(f"an element of {pointer}, of {known.dtype}, as {dtype}")

    def value(self, value: Value) -> None:
        if isinstance(value, Load):
            self.element(value.pointer, value.index, value.dtype)
            self.sizes(value.apart)
        elif isinstance(value, Local):
            known = self.names.get(value.name)
            if known is None or known.is_memory:
                raise _Wrong(f"{value.name} is used where nothing has named it")
            if known.dtype != value.dtype:
                raise _Wrong(f"{value.name}, of {known.dtype}, as {value.dtype}")
        elif isinstance(value, Apply):
            for operand in value.operands:
                self.value(operand)
        elif isinstance(value, Result):
            self.operands(value.operands)
        elif not isinstance(value, Scalar):
            raise _Wrong(f"{value!r} is no value")

    def operands(self, operands: Sequence[Address | Size]) -> None:
        for operand in operands:
            if isinstance(operand, Address):
                self.element(operand.pointer, operand.index, None)
            else:
                self.sizes(operand)

    # ---- nodes ----

    def _let(self, node: Let) -> None:
        self.value(node.value)
        # all lanes are 1 or 0
        is_mask = node.kind is Kind.VECTOR and node.value.dtype == "bool"
        if not isinstance(node.value, Scalar) and node.value.dtype != node.dtype and not is_mask:
            raise _Wrong(f"{node.name}, of {node.dtype}, is a value of {node.value.dtype}")
        self.bind(_Named(node.name, node.dtype, variable=node.variable))

    def _declare(self, node: Declare) -> None:
        self.bind(_Named(node.name, node.dtype, variable=True))

    def _assign(self, node: Assign) -> None:
        self.value(node.value)
        known = self.names.get(node.name)
        if known is None or not known.variable:
            raise _Wrong(f"{node.name} is assigned to, which is not variable")

    def _number(self, node: Number) -> None:
        self.sizes(node.value)
        if node.name in names_of([node.value]):
            raise _Wrong(f"{node.name} is computed from itself")
        self.bind(_Named(node.name, "int64"))

    def _pointer(self, node: Pointer) -> None:
        self.element(node.base, 0, node.dtype)
        self.sizes(*node.offset)
        self.bind(_Named(node.name, node.dtype, is_memory=True))

    def _memory(self, node: Memory | Lanes) -> None:
        self.bind(_Named(node.name, node.dtype, is_memory=True))

    def _store(self, node: Store) -> None:
        self.element(node.pointer, node.index, None)
        self.value(node.value)

    def _call(self, node: Call) -> None:
        self.operands(node.operands)

    def _if(self, node: If) -> None:
        self.sizes(node.condition)
        self.inside(node.body)

    def _block(self, node: Block) -> None:
        self.inside(node.body)

    def _with_polls(self, node: Polled) -> None:
        # no braces: what it names stays named
        before, self.polled = self.polled, True
        self.look_at(node.body)
        self.polled = before

    def _poll(self, node: Poll) -> None:
        self.sizes(node.elements)
        self._among_polls("a poll")

    def _fail(self, node: Fail) -> None:
        if not issubclass(node.kind, Exception):
            raise _Wrong(f"{node.kind} is no exception")

    def _for(self, node: For) -> None:
        self.sizes(node.first, node.end, node.by)
        if node.polled:
            self._among_polls(f"the loop over {node.index}, which ends at a poll,")
        if node.form is Form.LANES:
            self._can_be_in_lanes(node)
            # it is counted on after the last whole vector
            self.bind(_Named(node.index, "int64"))
            self.inside(node.body)
        else:
            self.inside(node.body, _Named(node.index, "int64"))

    def _among_polls(self, what: str) -> None:
        if not self.polled:
            raise _Wrong(f"{what} is not within nodes with polls")

    def _can_be_in_lanes(self, node: For) -> None:
        """Refuse what no vectors can do: anything but loads, operations and stores of one type."""
        body = _with_rows(node.body)
        others = [one for one in body if not isinstance(one, Let | Store)]
        if others or node.by != 1:
            raise _Wrong(f"the loop over {node.index} is in lanes and has more than these can do")
        values = [one.value for one in body if isinstance(one, Let | Store)]
        loaded = [one for one in values if isinstance(one, Load)]
        stores = [one for one in body if isinstance(one, Store)]
        dtypes = {one.dtype for one in loaded} | {one.value.dtype for one in stores}
        dtypes |= {self.names[one.pointer].dtype for one in stores if one.pointer in self.names}
        if dtypes - {"bool", node.dtype} or node.dtype not in FLOATS:
            of = node.dtype or "no type"
            raise _Wrong(f"the loop over {node.index} is in lanes of {of} and has {sorted(dtypes)}")
        if any(_last_term(one.index) != named(node.index) for one in stores):
            raise _Wrong(f"the loop over {node.index} is in lanes and stores elements apart")


def _last_term(size: Size) -> Size:
    """Return what is added last to make a size."""
    return size.b if isinstance(size, Operation) and size.operator == "+" else size


def _with_rows(body: Sequence[Node]) -> list[Node]:
    """Return what is done in lanes, with what is done for each row of loops within."""
    found: list[Node] = []
    for node in body:
        if isinstance(node, For) and node.form is Form.SERIAL and node.by == 1 and not node.polled:
            found += [one for one in node.body if not isinstance(one, Pointer | Assign)]
        else:
            found.append(node)
    return found


_LOOKS: dict[type, Callable[[_Scope, Any], None]] = {
    Let: _Scope._let,
    Declare: _Scope._declare,
    Assign: _Scope._assign,
    Number: _Scope._number,
    Pointer: _Scope._pointer,
    Memory: _Scope._memory,
    Lanes: _Scope._memory,
    Store: _Scope._store,
    Call: _Scope._call,
    If: _Scope._if,
    Block: _Scope._block,
    Polled: _Scope._with_polls,
    Poll: _Scope._poll,
    Fail: _Scope._fail,
    For: _Scope._for,
}
