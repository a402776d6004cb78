"""Choices between values: what only one branch needs is computed only if it is taken.

A condition that is known while tracing selects a branch then. Otherwise both branches are traced,
each as a program that `jax.lax.cond` runs or does not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from pytensor.graph.basic import Apply, Constant, Variable

from theano.link.xla.context import CannotLower, Context, Requirement, is_traced
from theano.pytensor_internals.operations.tensor import IfElse

# How much longer one branch is taken to need than the other, until both have been measured
BRANCH_RATIO = 100

# Of a node, the choices that it is under, outermost first: the node of each, and whether it is
# needed where the condition is true.
Place = tuple[tuple[Apply, bool], ...]


def places_of(nodes: Sequence[Apply], wanted: Collection[Variable]) -> dict[Apply, Place]:
    """Return where each node is needed; no node that is needed in two branches is in one of them.

    Parameters
    ----------
    nodes
        In an order in which they can run.
    wanted
        The variables that are needed in any case.
    """
    if not any(isinstance(node.op, IfElse) for node in nodes):
        return {}
    uses: dict[Variable, list[Place]] = {variable: [()] for variable in wanted}
    places: dict[Apply, Place] = {}
    for node in reversed(nodes):
        used = [place for variable in node.outputs for place in uses.get(variable, [])]
        places[node] = _common(used)
        for position, variable in enumerate(node.inputs):
            place = places[node]
            if isinstance(node.op, IfElse) and position:
                place = (*place, (node, position <= node.op.n_outs))
            uses.setdefault(variable, []).append(place)
    return places


def _common(places: Sequence[Place]) -> Place:
    if not places:
        return ()
    shortest = min(places, key=len)
    for length, entry in enumerate(shortest):
        if any(place[length] != entry for place in places):
            return shortest[:length]
    return shortest


def choose(
    node: Apply,
    place: Place,
    known: dict[Variable, Any],
    context: Context,
    compute: Callable[[Place, dict[Variable, Any], Context], None],
) -> list[Any]:
    """Return the values of a choice.

    Parameters
    ----------
    place
        Where the choice itself is needed.
    known
        What has been computed before.
    compute
        Adds to what is known the values of the nodes at a place.
    """
    import jax

    condition = _value(node.inputs[0], known)
    count = node.op.n_outs  # type: ignore[attr-defined]

    def of_branch(taken: bool, inner: Context) -> list[Any]:
        within = dict(known)
        compute((*place, (node, taken)), within, inner)
        chosen = node.inputs[1 : 1 + count] if taken else node.inputs[1 + count :]
        return [_value(variable, within) for variable in chosen]

    if not is_traced(condition):
        return of_branch(bool(condition), context)
    context.ratios.append(BRANCH_RATIO)
    branches = {taken: _Branch(node, taken, of_branch, context) for taken in (True, False)}
    # traced once before, for what the branches require and the shapes that they give
    shapes = {taken: jax.eval_shape(branch)[0] for taken, branch in branches.items()}
    if any(a.shape != b.shape for a, b in zip(shapes[True], shapes[False], strict=True)):
        raise CannotLower("branches of different shapes")
    values, *held = jax.lax.cond(
        condition != 0,
        lambda: branches[True].alongside(branches[False]),
        lambda: branches[False].alongside(branches[True]),
    )
    for taken, holds in zip((True, False), held, strict=True):
        for k, required in enumerate(branches[taken].required):
            context.requirements.append(replace(required, holds=holds[k]))
    return values


class _Branch:
    """One branch as a program: its values, and whether what it requires holds."""

    def __init__(self, node: Apply, taken: bool, values: Any, context: Context):
        self.node, self.taken, self.values, self.context = node, taken, values, context
        self.required: list[Requirement] = []

    def __call__(self) -> tuple[list[Any], Any]:
        import jax.numpy as jnp

        inner = self.context.of_branch()
        dtypes: list[Any] = [variable.type.dtype for variable in self.node.outputs]
        values = self.values(self.taken, inner)
        self.required = inner.requirements
        holds = [jnp.all(requirement.holds) for requirement in inner.requirements]
        arrays = [jnp.asarray(x, dtype=dtype) for x, dtype in zip(values, dtypes, strict=True)]
        return arrays, jnp.stack(holds) if holds else jnp.ones(0, bool)

    def alongside(self, other: _Branch) -> tuple[list[Any], Any, Any]:
        """Return the values, and what holds of the branch of true and of that of false."""
        import jax.numpy as jnp

        values, holds = self()
        others = jnp.ones(len(other.required), bool)
        return (values, holds, others) if self.taken else (values, others, holds)


def _value(variable: Variable, known: dict[Variable, Any]) -> Any:
    return variable.data if isinstance(variable, Constant) else known[variable]
