"""A rewrite by itself on a graph: what it makes of the nodes, and in what that differs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from pytensor.graph.basic import Variable
from pytensor.graph.rewriting.basic import MergeOptimizer, NodeRewriter, OpToRewriterTracker
from pytensor.graph.traversal import explicit_graph_inputs
from pytensor.tensor.type import TensorType

from tests_scan_grad.rewrites.check import Made
from tests_scan_grad.rewrites.compare import ROUNDED, difference, scale_of
from theano.pytensor_internals.operations.tensor_rewrites import ShapeOptimizer
from theano.rewriting.arranged import arranged

RAISES = "the rewrite raises"
OF_ANOTHER_TYPE = "a variable of another type"


@dataclass(frozen=True)
class Sides:
    """A rewrite, an expression that it rewrites, and one that it leaves or rewrites otherwise.

    Attributes
    ----------
    rewrite
        PyTensor's rewrite; None where a release lacks it.
    rewritten
        Makes the expression that is rewritten.
    refused
        Makes the other expression.
    otherwise
        Whether the other expression is rewritten, too, to something else than PyTensor makes.
    wrong
        Whether PyTensor's rewrite is wrong of the other expression, in one release at least; if
        not, something else is better without it.
    """

    rewrite: NodeRewriter | None
    rewritten: Callable[[], Any]
    refused: Callable[[], Any]
    otherwise: bool = False
    wrong: bool = True


def given(
    values: Any, dtype: str = "float64", shape: tuple[int | None, ...] | None = None, name: str = ""
) -> Any:
    """Return a variable with a value, of a type that has no static length unless it is said."""
    value = np.array(values, dtype)
    variable = TensorType(dtype, shape or (None,) * value.ndim)(name or None)
    variable.tag.given = value
    return variable


def made(expression: Any) -> Made:
    """Return the graph of an expression, or of several, with the values of its inputs."""
    outputs = list(expression) if isinstance(expression, list | tuple) else [expression]
    inputs = dict.fromkeys(explicit_graph_inputs(outputs))
    return Made(outputs, {v: value_of(v) for v in inputs})


def value_of(variable: Variable) -> Any:
    """Return the value that an input was given, or that a shared variable has."""
    if hasattr(variable, "get_value"):
        return variable.get_value(borrow=False)
    return variable.tag.given


def changes(rewriter: NodeRewriter, graph: Made) -> Iterator[str | None]:
    """Yield for each result that a rewrite replaces in what that differs; None if in nothing."""
    copied, at = graph.graph()
    # equal constants and lengths are one variable, as they are when modes run the rewrites
    MergeOptimizer().rewrite(copied)
    arranged(ShapeOptimizer()).apply(copied)
    tracker = OpToRewriterTracker()
    tracker.add_tracker(rewriter)
    asked = False
    for node in copied.toposort():
        if rewriter not in tracker.get_trackers(node.op):
            continue
        asked = True
        try:
            replaced: Any = rewriter.transform(copied, node)
        except Exception:
            yield RAISES
            continue
        pairs = (
            replaced.items()
            if isinstance(replaced, dict)
            else zip(node.outputs, replaced or (), strict=False)
        )
        for old, new in pairs:
            if isinstance(old, Variable) and new is not old and copied.clients[old]:
                yield _difference(old, new, at)
    assert asked, "no node is of an operation that the rewrite asks for"


def _difference(old: Any, new: Any, at: Any) -> str | None:
    if not _fits_in(old.type, new.type):
        return OF_ANOTHER_TYPE
    before, after = at.value(old), at.value(new)
    operands = [at.value(v) for v in old.owner.inputs]
    kind = difference(before, after, scale_of(operands))
    errors = [type(getattr(each, "error", None)) for each in (before, after)]
    if kind is None and errors[0] is not errors[1]:
        return f"{errors[0].__name__} became {errors[1].__name__}"
    return None if kind == ROUNDED else kind


def _fits_in(old: Any, new: Any) -> bool:
    """Return whether a variable of one type may take the place of one of another."""
    if not isinstance(old, TensorType):
        return True
    lengths = zip(old.shape, new.shape, strict=True) if old.ndim == new.ndim else [(0, 1)]
    return old.dtype == new.dtype and all(None in pair or len({*pair}) == 1 for pair in lengths)
