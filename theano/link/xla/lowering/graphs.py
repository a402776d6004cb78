"""Operations that are graphs of others, choices between values, and checks of conditions."""

from __future__ import annotations

import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.ifelse import IfElse
from pytensor.raise_op import CheckAndRaise

from theano.link.xla.context import CannotLower, is_traced
from theano.link.xla.interpret import interpret
from theano.link.xla.lowering.table import lowers, why_not


def _why_not(node) -> str | None:
    reasons = ((inner, why_not(inner)) for inner in node.op.fgraph.toposort())
    return next((f"{inner.op}: {reason}" for inner, reason in reasons if reason), None)


@lowers(OpFromGraph, why_not=_why_not)
def inlined(op, node, inputs, context):
    """The operations inside."""
    return interpret(op.fgraph, inputs, context)


@lowers(CheckAndRaise)
def checked(op, node, inputs, context):
    """The first input, once the conditions are known to hold."""
    import jax.numpy as jnp

    value, *conditions = inputs
    for condition in conditions:
        holds = jnp.all(condition) if is_traced(condition) else np.all(condition)
        context.require(holds, op.exc_type(op.msg))
    return value


@lowers(IfElse, even_if_concrete=True)
def chosen(op, node, inputs, context):
    """The values of one of two branches."""
    import jax.numpy as jnp
    from jax import lax

    condition, *values = inputs
    if not is_traced(condition):
        return values[: op.n_outs] if condition else values[op.n_outs :]
    # signature: condition | values if true | values if false
    dtypes = [variable.type.dtype for variable in node.inputs[1:]]
    arrays = [jnp.asarray(x, dtype) for x, dtype in zip(values, dtypes, strict=True)]
    yes, no = arrays[: op.n_outs], arrays[op.n_outs :]
    if any(a.shape != b.shape for a, b in zip(yes, no, strict=True)):
        raise CannotLower("branches of different shapes")
    return lax.cond(condition != 0, lambda: yes, lambda: no)
