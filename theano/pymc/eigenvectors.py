"""A warning for gradients through eigenvectors, which are undefined where two eigenvalues are equal."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors, apply_ancestors
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.linalg import SVD, Eig, Eigh

from theano.pymc.points import Points
from theano.pytensor_internals.graphs.scan import Scan

# the positions of results that turn freely where two eigenvalues, or singular values, are equal
_VECTORS: dict[type, tuple[int, ...]] = {Eigh: (1,), Eig: (1,), SVD: (0, 2)}


def warn_of_eigenvectors(model: Any, points: Points, density: Variable) -> None:
    """Warn if the gradient of a model's density goes through eigenvectors.

    Parameters
    ----------
    model, points
        The model, and the variables by which the gradient is taken.
    density
        The log density, computed from these variables.
    """
    by = _names_beneath([density], points)
    if not by:
        return
    # only now, for each variable, what has been summed
    of = [
        str(variable.name)
        for variable, term in zip(
            [*model.basic_RVs, *model.potentials], model.logp(sum=False), strict=True
        )
        if _names_beneath([term], points)
    ]
    warnings.warn(
        f"the gradient of the log density of {', '.join(of)} by {', '.join(by)} goes through"
        " eigenvectors (or singular vectors), and is undefined where two eigenvalues are equal:"
        " it is a number then, and wrong. Equal are those of a multiple of the identity, of equal"
        " blocks, and, within rounding, the smallest ones of a smooth kernel without added"
        " variance. The density itself is right",
        UserWarning,
        stacklevel=4,
    )


def _names_beneath(values: Iterable[Variable], points: Points) -> list[str]:
    """Return the variables that eigenvectors are computed from, where values are computed from these."""
    found = [v for node in _nodes_with_vectors(values) for v in ancestors(node.inputs)]
    return [
        name
        for name, variable in zip(points.names, points.variables, strict=True)
        if variable in found
    ]


def _nodes_with_vectors(values: Iterable[Variable]) -> Iterator[Apply]:
    """Yield the nodes whose eigenvectors are read; of those in a step, the loop."""
    values = list(values)
    nodes = list(apply_ancestors(values))
    read = {*values, *(v for node in nodes for v in node.inputs)}
    for node in nodes:
        if isinstance(node.op, Scan):
            if any(_nodes_with_vectors(node.op.inner_outputs)):
                yield node
            continue
        op = node.op.core_op if isinstance(node.op, Blockwise) else node.op
        vectors = _VECTORS.get(type(op), ())
        if any(k < len(node.outputs) and node.outputs[k] in read for k in vectors):
            yield node
