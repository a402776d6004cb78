"""The products of a step as data: what each computes, and what it waits for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors

from theano.scan_module.report.describe import describe_product, operands_of
from theano.scan_module.step.products import products_among
from theano.source_locations.lines import users_line
from theano.support.data_classes import dataclass


@dataclass(frozen=True)
class StepProduct:
    """A product of a step.

    Attributes
    ----------
    expression
        What it computes.
    states
        The values of earlier steps that it waits for. If there are none, it could be computed for
        all steps at once; then a decision says why it is not.
    after
        The positions, among the products of the step, of those whose results it reads, by way of
        other work but of no other product.
    line
        The user's line that made it, ``file:line``; empty where that is not known. It is no part of
        what makes two products equal.
    """

    expression: str
    states: tuple[str, ...]
    after: tuple[int, ...] = ()
    line: str = field(default="", compare=False)


def products_of_step(
    nodes: Iterable[Apply], states: Iterable[Variable], names: Mapping[Variable, str]
) -> tuple[StepProduct, ...]:
    """Return the products among the nodes of a step, in the order in which they run.

    Parameters
    ----------
    nodes
        The step, in order.
    states
        What it reads of earlier steps.
    names
        What to call what the step reads.
    """
    products, states = products_among(nodes), set(states)
    makers = {output: k for k, node in enumerate(products) for output in node.outputs}

    def product(position: int, node: Apply) -> StepProduct:
        operands = operands_of(node)
        waited = {names.get(v, "a state") for v in ancestors(operands) if v in states}
        nearest = ancestors(operands, blockers=[v for v in makers if v not in node.outputs])
        return StepProduct(
            describe_product(node, names),
            tuple(sorted(waited)),
            tuple(sorted({makers[v] for v in nearest if v in makers} - {position})),
            users_line(node),
        )

    return tuple(product(position, node) for position, node in enumerate(products))
