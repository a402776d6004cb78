"""A copy of a step's graph around other inputs, made node by node and without checks.

A loop is taken apart by each rewrite that looks at it. PyTensor's copy serves arbitrary
replacements and checks their types; here they are the same by construction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pytensor.graph.basic import Apply, Variable

from theano.pytensor_base.graphs.graph import read_tag, without_history
from theano.pytensor_base.graphs.order import order_of


def copied(
    outputs: Iterable[Variable], replacements: Mapping[Variable, Variable]
) -> list[Variable]:
    """Copies of values of a step that are computed from others.

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
        made = Apply(node.op, arguments, [_like(variable) for variable in node.outputs])
        read_tag(made.tag, "__dict__").update(read_tag(node.tag, "__dict__"))
        without_history([made])
        known.update(zip(node.outputs, made.outputs, strict=True))
    return [known.get(variable, variable) for variable in outputs]


def _like(variable: Variable) -> Variable:
    made = type(variable)(variable.type, None, None, name=variable.name)
    read_tag(made.tag, "__dict__").update(read_tag(variable.tag, "__dict__"))
    return made
