"""Why a value of each step is kept for the gradient, and not computed again."""

from __future__ import annotations

from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import ancestors
from pytensor.tensor.elemwise import CAReduce
from pytensor.tensor.random.op import RandomVariable

from theano.pytensor_internals.graphs.scan import Scan as PyTensorScan
from theano.scan_module.step.operation_kinds import is_cheap, is_product
from theano.tensor.nnet.correlation.filtering import Filtering

# What is not computed twice, by the first rule that holds.
_DEAR = (
    (lambda op: isinstance(op, Filtering), "a correlation"),
    (lambda op: is_product(op), "a product"),
    (lambda op: isinstance(op, RandomVariable), "a random sample"),
    (lambda op: isinstance(op, PyTensorScan), "a loop"),
    (lambda op: isinstance(op, CAReduce), "a sum over elements"),
)


def reason_to_save(value: Variable, policy: str | None) -> str:
    """Why a value is kept.

    Parameters
    ----------
    value
        The value, in the step as it was given.
    policy
        What the flag ``scan.save`` was.

    Returns
    -------
    str
        Such as ``"a product is not computed twice"``.
    """
    if policy == "all":
        return "scan.save=all keeps what the backward step reads"
    node = _nearest_dear(value)
    if node is None:
        return "it cannot be computed again from what is kept"
    kind = next((text for holds, text in _DEAR if holds(node.op)), f"the operation {node.op}")
    return f"{kind} is not computed twice"


def _nearest_dear(value: Variable) -> Apply | None:
    """Return the operation, of those that a value is computed by, for which it is kept."""
    nodes = (v.owner for v in ancestors([value]) if v.owner is not None)
    return next((node for node in nodes if not is_cheap(node)), None)
