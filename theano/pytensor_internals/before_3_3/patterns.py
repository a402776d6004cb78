"""A quick test of whether a pattern may match: PyTensor 3.0 takes long to find out that it does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op
from pytensor.graph.rewriting.basic import PatternNodeRewriter
from pytensor.graph.rewriting.unify import OpPattern

from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class _Operations:
    """The operation of a pattern, or a kind of it, and those of its operands by position."""

    op: Op | type
    operands: tuple[tuple[int, _Operations], ...]

    @classmethod
    def of(cls, pattern: Sequence) -> _Operations | None:
        """Those of a pattern; None if it does not begin with one."""
        head, *arguments = pattern
        op = head.op_type if isinstance(head, OpPattern) else head
        if not isinstance(op, Op | type):
            return None
        below = [(k, cls.of(a)) for k, a in enumerate(arguments) if isinstance(a, type(pattern))]
        return cls(op, tuple((k, operations) for k, operations in below if operations is not None))

    def match(self, node: Apply) -> bool:
        """Return whether a node and what it reads have these operations."""
        same = isinstance(node.op, self.op) if isinstance(self.op, type) else node.op == self.op
        if not same:
            return False
        for position, operations in self.operands:
            if position >= len(node.inputs):
                return False
            owner = node.inputs[position].owner
            if owner is None or not operations.match(owner):
                return False
        return True


def pattern_question(
    rewriter: PatternNodeRewriter,
) -> Callable[[FunctionGraph, Apply], bool] | None:
    """Return whether the operations of a pattern are there: to match all of it costs far more."""
    operations = _Operations.of(rewriter.in_pattern)
    if operations is None:
        return None
    # some patterns are looked for where a rare operation in them is
    others = rewriter.get_nodes or (lambda fgraph, node: ())

    def question(fgraph: FunctionGraph, node: Apply) -> bool:
        return any(operations.match(each) for each in (node, *others(fgraph, node)))

    return question
