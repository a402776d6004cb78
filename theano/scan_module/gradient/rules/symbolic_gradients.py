"""Gradients that are not those of PyTensor's operators, by the rules of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.op import Op
from pytensor.graph.replace import graph_replace
from pytensor.tensor.math import Dot

from theano.pytensor_internals.graphs.annotations import only_result
from theano.pytensor_internals.graphs.order import order_of
from theano.pytensor_internals.operations.tensor import GRADIENT_RULES
from theano.scan_module.gradient.rules.rows_times_vector import rows_times_vector

# The class of an operator -> what a node of it, with these inputs, is to be differentiated as;
# None where it is to be differentiated as it is.
Rule = Callable[[Apply, Sequence[Variable]], Variable | None]


def _rule_of(operator: Callable[[Op], Op]) -> Rule:
    return lambda node, inputs: only_result(operator(node.op)(*inputs))


# of operators that are graphs
OF_GRAPHS: Mapping[type, Rule] = {
    kind: _rule_of(operator) for kind, operator in GRADIENT_RULES.items()
}
RULES: Mapping[type, Rule] = {**OF_GRAPHS, Dot: rows_times_vector}


def with_rules(
    outputs: Sequence[Variable], rules: Mapping[type, Rule] = RULES
) -> tuple[list[Variable], dict[Variable, Variable]]:
    """Return outputs whose operators have these rules.

    Returns
    -------
    list of Variable
        The outputs; those that have no such operator before them are the ones that were given.
    dict
        Of each variable that was made the one that it stands for.
    """
    made: dict[Variable, Variable] = {}
    for node in order_of(outputs):
        inputs = [made.get(variable, variable) for variable in node.inputs]
        rule = rules.get(type(node.op))
        ruled = None if rule is None else rule(node, inputs)
        if ruled is not None:
            results = [ruled]
        elif inputs != node.inputs:
            results = node.clone_with_new_inputs(inputs).outputs
        else:
            continue
        made.update(zip(node.outputs, results, strict=True))
    return [made.get(v, v) for v in outputs], {new: old for old, new in made.items()}


def without_rules(
    values: Sequence[Variable], stands_for: dict[Variable, Variable]
) -> list[Variable]:
    """Values computed from what `with_rules` made, computed from what it stands for instead."""
    return graph_replace(list(values), stands_for, strict=False) if stands_for else list(values)
