"""The values of a compiled function's inputs, for arguments that it could be called with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from theano.pytensor_internals.functions.compiling import Function


def input_values(function: Function, arguments: Sequence | Mapping, asked_by: str) -> list[Any]:
    """Return a value of each input of the compiled graph, from arguments and from what the function holds.

    Raises
    ------
    TypeError
        When the arguments are not those of the function; the text names ``asked_by``.
    """
    specs = [spec for spec in function.maker.inputs if not spec.implicit]
    given = dict(arguments) if isinstance(arguments, Mapping) else dict(enumerate(arguments))
    chosen, missing = {}, []
    for position, spec in enumerate(specs):
        key = spec.name if isinstance(arguments, Mapping) else position
        if key in given:
            chosen[spec] = given.pop(key)
        elif spec.value is None:
            missing.append(str(spec.name or spec.variable))
    if missing or given:
        expected = ", ".join(str(spec.name or spec.variable) for spec in specs)
        raise TypeError(
            f"{asked_by}: the function takes the arguments ({expected}); of those given,"
            f" missing: {', '.join(missing) or 'none'}, too many: {len(given)}"
        )
    return [
        spec.variable.type.filter(chosen[spec], allow_downcast=True)
        if spec in chosen
        else container.data
        for spec, container in zip(function.maker.inputs, function.input_storage, strict=True)
    ]


def arrays_of_shapes(function: Function, shapes: Sequence | Mapping) -> Any:
    """Return arrays that stand for arguments: of zeros, which take no memory as long as nobody writes them."""
    specs = [spec for spec in function.maker.inputs if not spec.implicit]
    keys = shapes.keys() if isinstance(shapes, Mapping) else range(len(shapes))
    types = {key: spec.variable.type for k, spec in enumerate(specs) for key in (k, spec.name)}
    arrays = {key: _array_of_shape(types.get(key), shapes[key]) for key in keys}
    return arrays if isinstance(shapes, Mapping) else list(arrays.values())


def _array_of_shape(kind: object, shape: object) -> Any:
    return (
        np.zeros(shape, getattr(kind, "dtype", None)) if isinstance(shape, tuple | list) else shape
    )
