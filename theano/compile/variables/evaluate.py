"""`variable.eval()`: a function of one variable, compiled when it is asked for and kept."""

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.graph.basic import Variable
from pytensor.graph.op import HasInnerGraph
from pytensor.graph.traversal import ancestors

from theano.compile.function import function
from theano.compile.mode import Mode, get_mode
from theano.pytensor_internals.graphs.graph import functions_of
from theano.support.data_classes import dataclass

# So many calls with the same inputs are left to NumPy, before the C compiler is started.
CALLS_BY_NUMPY = 2


@dataclass
class _Kept:
    """A function of a variable, and how many more calls it is meant for."""

    call: Callable
    left: int | None


def evaluate(
    variable: Variable,
    inputs_to_values: Mapping[Variable | str, Any] | None,
    name: str,
    **options: Any,
) -> Any:
    """Compute a variable's value, as `theano.function` compiles it.

    The function is kept with the variable, for calls that give the same inputs. A graph of few
    nodes that NumPy is good for is run by it at first: most are asked for once.

    Parameters
    ----------
    variable : Variable
    inputs_to_values : mapping, optional
        The value of each input, by variable or by name.
    name : str
        Of the function, in profiles and errors.
    **options
        For `theano.function`.

    Returns
    -------
    array
    """
    values = _by_variable(variable, inputs_to_values or {})
    inputs = tuple(sorted(values, key=id))
    arguments = [values[given] for given in inputs]
    kept = functions_of(variable)
    key = ("theano.function", inputs, tuple(options.items()))
    try:
        found = kept.get(key)
    except TypeError:
        # an option that cannot be a key
        return function(list(inputs), variable, name=name, **options)(*arguments)
    if found is None:
        found = kept[key] = _first(inputs, variable, name, options)
    elif found.left == 0:
        found = kept[key] = _Kept(function(list(inputs), variable, name=name, **options), None)
    if found.left is None:
        return found.call(*arguments)
    found.left -= 1
    with np.errstate(all="ignore"):
        return found.call(*arguments)


def _by_variable(variable: Variable, given: Mapping[Variable | str, Any]) -> dict[Variable, Any]:
    """Return the values by variable; a name must be that of one variable of the graph."""
    values = {}
    for key, value in given.items():
        if isinstance(key, str):
            named = [other for other in ancestors([variable]) if other.name == key]
            if len(named) != 1:
                found = "several variables" if named else "no variable"
                raise ValueError(f"eval: {variable} depends on {found} with the name {key!r}")
            key = named[0]
        values[key] = value
    return values


def _first(inputs: tuple[Variable, ...], variable: Variable, name: str, options: dict) -> _Kept:
    """Compile a variable for its first calls."""
    mode = _for_few_calls(variable, get_mode(options.get("mode")))
    if mode is None:
        return _Kept(function(list(inputs), variable, name=name, **options), None)
    call = function(list(inputs), variable, name=name, **{**options, "mode": mode})
    return _Kept(call, CALLS_BY_NUMPY if call.maker.linker.left_to_numpy else None)


def _for_few_calls(variable: Variable, mode: PyTensorMode) -> Mode | None:
    """Return the mode with an engine that starts no compiler for what NumPy does well."""
    native: Any = sys.modules.get("theano.link.native")
    if native is None or type(mode) is not Mode or type(mode.linker) is not native.NativeLinker:
        return None
    nodes = (found.owner for found in ancestors([variable]))
    if any(node is not None and isinstance(node.op, HasInnerGraph) for node in nodes):
        return None
    # Imported when first used, as the engine is.
    engine = importlib.import_module("theano.link.native.few_calls")
    linker = engine.FewCallsLinker(c_thunks=mode.linker.c_thunks)
    return Mode(linker, mode.provided_optimizer, mode.optdb)
