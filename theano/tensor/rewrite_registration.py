"""Having rewrites run at one of the stages of compiling: canonicalize, stabilize, specialize."""

from collections.abc import Callable
from typing import Any

from theano.pytensor_internals.graphs.rewriting import NodeRewriter
from theano.rewriting.database import optdb


def _registering(stage: str, *always: str) -> Callable:
    def register(lopt: NodeRewriter | str, *tags: str, **kwargs: object) -> Any:
        if isinstance(lopt, str):
            # a decorator with tags only
            return lambda rewrite: register(rewrite, lopt, *tags, **kwargs)
        name = kwargs.pop("name", None) or lopt.__name__  # type: ignore[attr-defined]
        optdb[stage].register(name, lopt, *always, *tags, **kwargs)
        return lopt

    register.__name__ = f"register_{stage}"
    register.__doc__ = f"""Have a rewrite run at the stage {stage} of this package's modes.

    Parameters
    ----------
    lopt : LocalOptimizer or str
        The rewrite; or the first of the tags, for a decorator.
    *tags : str
        By which modes include or exclude it, besides its name.
    name : str, optional
        By default the rewrite's.

    Returns
    -------
    LocalOptimizer or callable
        The rewrite, or the decorator of one.
    """
    return register


register_canonicalize = _registering("canonicalize", "fast_run", "fast_compile")
register_stabilize = _registering("stabilize", "fast_run")
register_specialize = _registering("specialize", "fast_run")
register_specialize_device = _registering("specialize", "fast_run")
register_uncanonicalize = _registering("uncanonicalize", "fast_run")
