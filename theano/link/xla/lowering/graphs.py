"""Operations that are graphs of others, and checks of conditions."""

from __future__ import annotations

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.raise_op import CheckAndRaise

from theano.link.xla.context import is_traced
from theano.link.xla.interpret import interpret
from theano.link.xla.lowering.table import lowers, why_not


def _why_not(node) -> str | None:
    reasons = ((inner, why_not(inner)) for inner in node.op.fgraph.toposort())
    return next((f"{inner.op}: {reason}" for inner, reason in reasons if reason), None)


@lowers(OpFromGraph, why_not=_why_not)
def inlined(op, node, inputs, context):
    """Return the operations inside."""
    return interpret(op.fgraph, inputs, context)


@lowers(CheckAndRaise)
def checked(op, node, inputs, context):
    """Return the first input, once the conditions are known to hold."""
    import jax.numpy as jnp

    value, *conditions = inputs
    for condition in conditions:
        holds = jnp.all(condition) if is_traced(condition) else np.all(condition)
        context.require(holds, op.exc_type(op.msg))
    return value
