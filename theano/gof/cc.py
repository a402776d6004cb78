"""The linkers that run C code, by Theano 1.0's names."""
# ruff: noqa: F401 -- this file re-exports

from theano.gof.instances import including_instances_of
from theano.gof.link import Linker, LocalLinker
from theano.pytensor_internals.functions import c_code
from theano.pytensor_internals.functions.c_code import CLinkerObject


@including_instances_of(c_code.CLinker)
class CLinker(Linker, c_code.CLinker):
    """The linker that makes one C function of the whole graph.

    Parameters
    ----------
    schedule : callable, optional
        Returns the applications of a graph in the order to run them.
    """


@including_instances_of(c_code.OpWiseCLinker)
class OpWiseCLinker(LocalLinker, c_code.OpWiseCLinker):
    """The linker that makes a C function of each application.

    Parameters
    ----------
    fallback_on_perform : bool
        Whether an operator without C code runs its `perform`.
    allow_gc : bool, optional
        Whether values that are not needed any more are freed; by default the flag `allow_gc`.
    nice_errors : bool
        Whether an error names the application.
    schedule : callable, optional
        Returns the applications of a graph in the order to run them.
    """


@including_instances_of(c_code.DualLinker)
class DualLinker(Linker, c_code.DualLinker):
    """The linker that runs both C code and `perform` of each operator, and compares.

    Parameters
    ----------
    checker : callable
        Called with the lists of one value that `perform` and C code gave; raises an error.
    schedule : callable, optional
        Returns the applications of a graph in the order to run them.
    """
