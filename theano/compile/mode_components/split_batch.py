"""The mode of a function whose batch several devices share: what `data_parallel` and `devices` say."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from pytensor.compile.mode import Mode as PyTensorMode
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable

from theano.compile.mode import get_mode


def split_mode(
    mode: PyTensorMode,
    inputs: Sequence,
    data_parallel: object,
    devices: object,
    replaced: Collection[Variable],
) -> PyTensorMode:
    """Return the mode that splits inputs over devices, or the mode itself where nothing is split.

    Parameters
    ----------
    mode
        What the function is compiled with otherwise.
    inputs
        Of the function.
    data_parallel, devices
        As for ``theano.function``.
    replaced
        What `givens` replaces, which an error names.

    Raises
    ------
    TypeError
        When one of the two is no list, or holds what is neither an input nor the name of a device.
    ValueError
        When a variable is not an input, or has no such dimension; when a device is not known.
    """
    if _is_nothing(data_parallel):
        if _is_nothing(devices):
            return mode
        raise ValueError("devices: data_parallel must name the inputs that are split over them")
    variables = [getattr(given, "variable", given) for given in inputs]
    axes = dict(_entry(given, variables, replaced) for given in _listed(data_parallel))
    # Imported when first used: it needs JAX, which is optional.
    engine = importlib.import_module("theano.link.xla")
    if not isinstance(mode.linker, engine.XLALinker):
        mode = get_mode("XLA")
    split = engine.Split(axes, len(variables), _names(devices))
    linker = engine.XLALinker(device=mode.linker.device, split=split)
    return type(mode)(linker=linker, optimizer=mode.provided_optimizer)


def _is_nothing(given: object) -> bool:
    return given is None or (isinstance(given, list | tuple) and not given)


def _listed(data_parallel: object) -> Sequence:
    if isinstance(data_parallel, list | tuple):
        return data_parallel
    what = f"the variable {data_parallel}" if isinstance(data_parallel, Variable) else None
    if isinstance(data_parallel, Mapping):
        what = "a mapping"
    raise TypeError(
        "data_parallel must be a list of inputs, or of pairs of an input and the dimension with the "
        f"batch, such as [(x, 1), y]; got {what or repr(data_parallel)}"
    )


def _entry(given: object, variables: list, replaced: Collection[Variable]) -> tuple[int, int]:
    """Return the position of an input, and its dimension with the batch."""
    variable, axis = given if isinstance(given, list | tuple) and len(given) == 2 else (given, 0)
    if not isinstance(variable, Variable):
        raise TypeError(
            "data_parallel takes the inputs themselves, or pairs of an input and the dimension with "
            f"the batch; got {given!r}, of type {type(given).__name__}"
        )
    if not any(variable is other for other in variables):
        raise ValueError(f"data_parallel: {variable} {_why_no_input(variable, replaced)}")
    ndim = getattr(variable.type, "ndim", 0)
    if not ndim:
        raise ValueError(f"data_parallel: {variable} is one number, which has no rows to split")
    if isinstance(axis, bool) or not isinstance(axis, int | np.integer):
        raise TypeError(
            f"data_parallel: the dimension of {variable} with the batch must be an int, and "
            f"{axis!r} is of type {type(axis).__name__}"
        )
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"data_parallel: {variable} has no dimension {axis!r}; it has {ndim}, "
            "which count from 0"
        )
    position = next(k for k, other in enumerate(variables) if other is variable)
    return position, int(axis) % ndim


def _why_no_input(variable: Variable, replaced: Collection[Variable]) -> str:
    if any(variable is other for other in replaced):
        return (
            "is not an input of the function: givens replaces it. What is split is passed in each "
            "call: make it an input, and leave it out of givens"
        )
    if isinstance(variable, SharedVariable):
        return (
            "is a shared variable, not an input of the function: each device has all of it. "
            "A batch that is split is an input"
        )
    return "is not an input of the function"


def _names(devices: object) -> tuple[str, ...]:
    if devices is None:
        return ()
    if isinstance(devices, list | tuple) and all(isinstance(name, str) for name in devices):
        return tuple(devices)
    raise TypeError(
        f"devices must be a list of names, such as ['cuda0', 'cuda1'] or ['xla:cpu0', 'xla:cpu1']; "
        f"got {devices!r}"
    )
