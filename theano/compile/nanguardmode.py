"""NanGuardMode: stop at the first node that makes a NaN, an infinity or a huge value."""

from theano.compile.errors.wrong_values import Wrongs
from theano.compile.mode_components.guarded_linker import GuardedLinker
from theano.compile.mode_components.optimizers import resolve_optimizer, rewriter_of
from theano.configdefaults import config
from theano.pytensor_internals.functions.nan_guard_mode import NanGuardMode as PyTensorNanGuardMode
from theano.pytensor_internals.functions.nan_guard_mode import contains_inf, contains_nan
from theano.pytensor_internals.graphs.rewriting import SequentialGraphRewriter
from theano.rewriting.database import optdb
from theano.scan_module.scan_opt.steps.steps_of_mode import StepsOfMode

__all__ = ["NanGuardMode", "contains_inf", "contains_nan"]

# What makes one operation of several, and overwrites what may have to be looked at again.
_HIDING = ("fusion", "BlasOpt", "inplace")


class NanGuardMode(PyTensorNanGuardMode):
    """Mode that checks every value a function computes, in the steps of loops too.

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

    Notes
    -----
    Values that element-wise operations hand to each other are not checked: a logarithm of 0 that a
    switch does not choose is no error, nor is a constant. All values of a call are kept until the next one.
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
        db = optdb if db is None else db
        super().__init__(nan_is_error, inf_is_error, big_is_error, query, linker, db)
        self._checks = tuple(
            flag if given is None else given
            for given, flag in zip(
                (nan_is_error, inf_is_error, big_is_error), _checks_of_flags(), strict=True
            )
        )
        self.linker = GuardedLinker(Wrongs(*self._checks))

    @property
    def optimizer(self):
        """The rewriter, after which steps of loops have this mode, too."""
        return SequentialGraphRewriter(rewriter_of(self, _HIDING), self.steps())

    def of_steps(self):
        """Return the mode of steps of loops, whose inputs were looked at as results of others."""
        made = self.clone()
        made.linker.of_inputs = False
        return made

    def steps(self):
        """Return the rewriter that gives loops that mode."""
        return StepsOfMode("steps_for_nan_guard", self.of_steps)

    def clone(self, link_kwargs=None, optimizer="", **kwargs):
        """Return a mode with the same checks and, when given, other rewrites."""
        optimizer = self.provided_optimizer if optimizer == "" else optimizer
        made = type(self)(*self._checks, optimizer=optimizer)
        made.linker.of_inputs = self.linker.of_inputs
        return made

    def __reduce__(self):
        return type(self), (*self._checks, self.provided_optimizer)


def _checks_of_flags():
    flags = config.NanGuardMode
    return flags.nan_is_error, flags.inf_is_error, flags.big_is_error
