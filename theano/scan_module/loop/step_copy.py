"""A copy of a step's graph around other inputs, made node by node and without checks.

A loop is unpacked by each rewrite that looks at it. PyTensor's copy serves arbitrary
replacements and checks their types; here they are the same by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytensor.graph.basic import Variable

from theano.pytensor_internals.graphs.graph import node_like, without_history
from theano.pytensor_internals.graphs.order import order_of


def copied(
    outputs: Iterable[Variable], replacements: Mapping[Variable, Variable]
) -> list[Variable]:
    """Return copies of values of a step that are computed from others.

    Parameters
    ----------
    outputs
        The values.
    replacements
        What takes the place of an input or of a value of the step, of the same type. Constants,
        and inputs that nothing replaces, are shared.
    """
    outputs = list(outputs)
    known = dict(replacements)
    for node in order_of(outputs, known):
        arguments = [known.get(variable, variable) for variable in node.inputs]
        made = node_like(node, arguments)
        without_history([made])
        known.update(zip(node.outputs, made.outputs, strict=True))
    return [known.get(variable, variable) for variable in outputs]
