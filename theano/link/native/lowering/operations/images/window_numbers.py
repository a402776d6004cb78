"""Numbers of windows, where they are known and where a call decides."""

from __future__ import annotations

from operator import eq, ge, gt, lt

from theano.link.native.ir.ir import CannotLower, Size
from theano.link.native.ir.symbolic import Choice, Operation, compared, sum_of
from theano.link.native.lowering.step import Step

# below it, sums and products of a few are within 64 bits
MOST = 2**31


def require(step: Step, a: Size, relation: str, b: Size, what: str) -> None:
    """Refuse a call, or the operation, unless numbers compare so."""
    known = _known(a, relation, b)
    if known is None:
        step.sizes.check(compared(a, relation, b), what)
    elif not known:
        raise CannotLower(f"other than {what}")


def chosen(a: Size, relation: str, b: Size, yes: Size, no: Size) -> Size:
    """One of two numbers, by how others compare."""
    known = _known(a, relation, b)
    return Choice(compared(a, relation, b), yes, no) if known is None else yes if known else no


def _known(a: Size, relation: str, b: Size) -> bool | None:
    return _RELATIONS[relation](a, b) if isinstance(a, int) and isinstance(b, int) else None


_RELATIONS = {"<": lt, "==": eq, ">": gt, ">=": ge}


def steps_in(left: Size, apart: Size, more: int) -> Size:
    """Return how many steps fit into what is left, and some more."""
    if isinstance(left, int) and isinstance(apart, int):
        return left // apart + more
    return sum_of(left if apart == 1 else Operation("/", left, apart), more)
