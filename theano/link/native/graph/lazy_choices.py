"""In a step, a lazy choice becomes an operation that has its two branches inside.

What only a branch needs is computed in it, and so only where it is taken:

    ifelse(c, f(x), g(x))   ->   lazy choice of (c, x, x) with f and g inside

Each branch is lowered as a loop of one step, which is a separate C function.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable
from pytensor.graph.fg import FunctionGraph
from pytensor.graph.op import Op

from theano.link.native.graph.partition import lazy_regions
from theano.pytensor_internals.graphs.order import in_order
from theano.pytensor_internals.operations.tensor import IfElse
from theano.scan_module.loop.roles import Roles
from theano.scan_module.scan_op import Scan
from theano.support.data_classes import dataclass


class OneStep(Scan):
    """A loop that makes one step, so that nothing is prepared before it."""


@dataclass(frozen=True, eq=False)
class Branch:
    """The computation of one branch of a condition: results, and what it reads."""

    read: list[Variable]
    results: list[Variable]
    name: str

    def as_loop(self, changing: Sequence[bool]) -> tuple[OneStep, list[int]]:
        """Return a loop whose traces are the results; the order in which it takes what is read.

        Parameters
        ----------
        changing
            For each of what is read, whether other steps around it read something else: it is read
            as a sequence.
        """
        places = range(len(self.read))
        order = sorted(places, key=lambda k: not changing[k])
        roles = Roles(sum(changing), (), len(self.results), 0, len(places) - sum(changing), False)
        inputs = [self.read[k] for k in order]
        return OneStep(inputs, self.results, roles.info(), name=self.name), order


class LazyChoice(Op):
    """The results of one of two branches; given the condition, and what each branch reads.

    Attributes
    ----------
    branches
        What is computed where the condition holds, and where it does not.
    """

    def __init__(self, branches: tuple[Branch, Branch]):
        self.branches = branches

    def make_node(self, *inputs: Variable) -> Apply:
        types = [variable.type for variable in self.branches[0].results]
        return Apply(self, list(inputs), [of_type() for of_type in types])

    def perform(self, node, inputs, output_storage):
        raise NotImplementedError(
            "it is an internal form of the native engine, which has code for it"
        )

    def read_by(self, given: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Return what each branch reads, of what there is for each input."""
        first = len(self.branches[0].read)
        return list(given[1 : 1 + first]), list(given[1 + first :])


def with_lazy_choices(graph: FunctionGraph) -> FunctionGraph:
    """Return the graph of a step, with such operations in place of choices, if it has any."""
    order = in_order(graph)
    choices = [node for node in order if isinstance(node.op, IfElse)]
    if not choices:
        return graph
    copy, known = graph.clone_get_equiv(attach_feature=False)
    regions = lazy_regions(graph, order)
    # those within a branch come again in its loop
    for choice in [node for node in choices if not regions[node]]:
        made = _lazy_choice(choice, regions)
        inputs = [known[variable] for variable in made.inputs]
        results = made.op.make_node(*inputs).outputs
        for output, result in zip(choice.outputs, results, strict=True):
            variable: Any = known[output]
            copy.replace(variable, result, import_missing=True)
    return copy


def _lazy_choice(choice: Apply, regions: dict[Apply, tuple]) -> Apply:
    op: Any = choice.op
    condition, *results = choice.inputs
    branches = []
    for taken, values in ((True, results[: op.n_outs]), (False, results[op.n_outs :])):
        own = {node for node, region in regions.items() if region[:1] == ((id(choice), taken),)}
        name = f"the branch {'taken' if taken else 'not taken'} of {op}"
        branches.append(Branch(_read(values, own), values, name))
    made = LazyChoice((branches[0], branches[1]))
    return made.make_node(condition, *branches[0].read, *branches[1].read)


def _read(results: Sequence[Variable], own: set[Apply]) -> list[Variable]:
    """Return what the nodes of a branch read, or it passes on, but for constants."""
    found: dict[Variable, None] = {}
    seen: set[Variable] = set()
    waiting = list(results)
    while waiting:
        variable = waiting.pop()
        if variable in seen or isinstance(variable, Constant):
            continue
        seen.add(variable)
        if variable.owner in own:
            waiting += variable.owner.inputs
        else:
            found[variable] = None
    return list(found)
