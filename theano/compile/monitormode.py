"""MonitorMode: call the user's functions before and after each node."""

from theano.compile.mode_components.optimizers import resolve_optimizer, rewriter_of
from theano.pytensor_internals.functions.compiling import MonitorMode as PyTensorMonitorMode
from theano.rewriting.database import optdb

__all__ = ["MonitorMode", "detect_nan"]


class MonitorMode(PyTensorMonitorMode):
    """Mode that steps through a function; and through steps of loops that it is given to.

    Parameters
    ----------
    pre_func, post_func : callable, optional
        Called before and after each node with its position, the node, and the callable that
        computes it, whose ``inputs`` and ``outputs`` are one-element lists of values.
    optimizer : str or query, optional
        Which rewrites run; by default the flag `optimizer`.
    linker, db : optional
        For internal use.
    """

    def __init__(self, pre_func=None, post_func=None, optimizer="default", linker=None, db=None):
        query, db = resolve_optimizer(optimizer), optdb if db is None else db
        super().__init__(pre_func, post_func, query, linker, db)

    @property
    def optimizer(self):
        """The rewriter, as other modes run it."""
        return rewriter_of(self)

    def eval(self, fgraph, i, node, fn):
        """Run one node between the two functions, which take Theano's three arguments."""
        if self.pre_func is not None:
            self.pre_func(i, node, fn)
        fn()
        if self.post_func is not None:
            self.post_func(i, node, fn)


def detect_nan(i, node, fn):
    """As `post_func`, print the node and its values when an output holds a NaN."""
    import numpy as np

    from theano.printing import debugprint

    for output in fn.outputs:
        value = output[0]
        if np.issubdtype(getattr(value, "dtype", object), np.inexact) and np.isnan(value).any():
            print("*** NaN detected ***")
            debugprint(node)
            print(f"Inputs : {[stored[0] for stored in fn.inputs]}")
            print(f"Outputs: {[stored[0] for stored in fn.outputs]}")
            break
