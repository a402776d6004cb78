"""Gradients by Theano's names, `grad`, `L_op` and `R_op`, of operators derived from PyTensor's.

PyTensor asks for `pullback` and `pushforward` first, and would find those of the class that a user
derives from: a `ViewOp` that turns a gradient around would not.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.op import Op as PyTensorOp
from pytensor.graph.traversal import ancestors

from theano.gof.op import PureOp
from theano.gof.user_operations.code import is_of_users
from theano.pytensor_internals.graphs.kinds import is_a

# these ask for the methods by Theano's names
_ASKING = (PureOp, PyTensorOp)

# whether a class of operators may run code of users for its gradient
_by_users: dict[type, bool] = {}


def use_own_gradients(variables: Iterable[Any]) -> bool:
    """Have PyTensor find the gradients that users' operators in a graph define by Theano's names.

    Parameters
    ----------
    variables
        The graph's results; what is no variable is passed over.

    Returns
    -------
    bool
        Whether code of users may run for a gradient of the graph, other than for that of a loop's step.
    """
    found = False
    for variable in ancestors([v for v in variables if isinstance(v, Variable)]):
        if variable.owner is None:
            continue
        op = variable.owner.op
        for kind in (type(op), type(getattr(op, "scalar_op", op))):
            if kind not in _by_users:
                # an operator of a graph may be given a gradient
                _by_users[kind] = is_of_users(kind.__module__) or issubclass(kind, OpFromGraph)
                _adopt(kind, "pullback", ("grad", "L_op"), _pullback)
                _adopt(kind, "pushforward", ("R_op",), PureOp.pushforward)
            found = found or _by_users[kind]
        if is_a(op, HasInnerGraph):
            use_own_gradients(op.inner_outputs)
    return found


def _adopt(kind: type, asked: str, own: tuple[str, ...], method: object) -> None:
    """Give the class that defines a method by Theano's name the one that PyTensor asks for."""
    defining: type | None = None
    for base in kind.__mro__:
        defined = vars(base)
        if asked in defined:
            if defining is not None and base not in _ASKING:
                setattr(defining, asked, method)
            return
        if defining is None and any(name in defined for name in own):
            if not is_of_users(base.__module__):
                return
            defining = base


def _pullback(self, inputs, outputs, cotangents):
    """Return what the nearer of `L_op` and `grad` gives; `L_op` of a base may know no `grad`."""
    for base in type(self).__mro__:
        if "L_op" in vars(base):
            return PureOp.pullback(self, inputs, outputs, cotangents)
        if "grad" in vars(base):
            return list(self.grad(inputs, cotangents))
    raise NotImplementedError(f"{self} has no gradient")
