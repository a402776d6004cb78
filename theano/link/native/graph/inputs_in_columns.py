"""Shared variables that are read in Fortran's order, as their values lie when a function is compiled.

The data of a DataFrame lies so: column after column. In C's order each call would copy it.

Check: the variable has no new value, so that nothing is computed in its memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pytensor.compile.sharedvalue import SharedVariable
from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph


def inputs_in_columns(
    fgraph: FunctionGraph, storage_map: Mapping[Variable, list]
) -> frozenset[Variable]:
    """Return the inputs whose values lie in Fortran's order, and not in C's as well."""
    # PyTensor's annotation says variables: it has the positions of outputs and of inputs
    updates: Any = fgraph.update_mapping or {}
    updated = {fgraph.inputs[k] for k in updates.values()}
    return frozenset(
        variable
        for variable in fgraph.inputs
        if isinstance(variable, SharedVariable)
        and variable not in updated
        and _is_in_columns(storage_map[variable][0])
    )


def _is_in_columns(value: object) -> bool:
    return type(value) is np.ndarray and value.flags.f_contiguous and not value.flags.c_contiguous
