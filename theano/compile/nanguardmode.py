"""NanGuardMode: stop at the first node that makes a NaN, an infinity or a huge value."""

from pytensor.graph.basic import Apply
from pytensor.tensor.basic import AllocEmpty
from pytensor.tensor.subtensor import IncSubtensor

from theano.compile.optimizers import resolve_optimizer
from theano.pytensor_base.functions.nan_guard_mode import NanGuardMode as PyTensorNanGuardMode
from theano.pytensor_base.functions.nan_guard_mode import contains_inf, contains_nan

__all__ = ["NanGuardMode", "contains_inf", "contains_nan"]


class NanGuardMode(PyTensorNanGuardMode):
    """Mode that checks every value a function computes.

    Parameters
    ----------
    nan_is_error, inf_is_error, big_is_error : bool, optional
        What is an error: NaN, infinity, a magnitude above 1e10. By default, what the flags of the
        section NanGuardMode say.
    optimizer : str or query, optional
        Which rewrites run; by default the flag `optimizer`.
    linker, db : optional
        For internal use.

    Raises
    ------
    AssertionError
        When the compiled function is called and such a value turns up, unless the flag
        NanGuardMode.action asks for a warning or a debugger.
    """

    def __init__(
        self,
        nan_is_error=None,
        inf_is_error=None,
        big_is_error=None,
        optimizer="default",
        linker=None,
        db=None,
    ):
        query = resolve_optimizer(optimizer)
        super().__init__(nan_is_error, inf_is_error, big_is_error, query, linker, db)
        check = self.linker.callback

        def check_what_is_written(node, thunk, storage_map, compute_map):
            if not _is_written_in_part(node):
                check(node, thunk, storage_map, compute_map)

        self.linker.callback = check_what_is_written
        self._checks = (nan_is_error, inf_is_error, big_is_error)

    def clone(self, link_kwargs=None, optimizer="", **kwargs):
        """Return a mode with the same checks and, when given, other rewrites."""
        optimizer = self.provided_optimizer if optimizer == "" else optimizer
        return type(self)(*self._checks, optimizer=optimizer)


def _is_written_in_part(node: Apply) -> bool:
    """Whether a node writes a part of new memory, such as a loop's: the rest may hold anything."""
    while isinstance(node.op, IncSubtensor) and node.inputs[0].owner is not None:
        node = node.inputs[0].owner
        if isinstance(node.op, AllocEmpty):
            return True
    return False
