"""`theano.compile.pfunc`: the name that older programs give `theano.function`."""

from collections.abc import Sequence
from typing import Any

from theano.compile.function import Outputs, function
from theano.compile.function_module import Function
from theano.compile.io import Param
from theano.pytensor_internals.functions.compiling import rebuild_collect_shared

__all__ = ["Param", "pfunc", "rebuild_collect_shared"]


def pfunc(params: Sequence, outputs: Outputs = None, *args: Any, **kwargs: Any) -> Function:
    """Compile a graph into a function, as `theano.function` does.

    Parameters
    ----------
    params : list of Variable or In
        What callers pass.
    outputs : Variable or Out, list of them, or dict of them by name, optional
        What the function returns.
    *args, **kwargs
        The further arguments of `theano.function`.

    Returns
    -------
    Function
    """
    return function(params, outputs, *args, **kwargs)
