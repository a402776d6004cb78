"""C code that users write for their operations: ``c_code``, or files of C."""

from __future__ import annotations

import warnings
from typing import Any

from pytensor.scalar.basic import Composite

from theano.flags.flag import caller_stacklevel
from theano.pytensor_base.c_code import COp, ExternalCOp

# Modules whose operations all have `perform`, and code that says that there is none.
_NOT_OF_USERS = ("pytensor.", "theano.gof.op")


def has_own_code(op: Any) -> bool:
    """Whether the C code of an operation is not PyTensor's; that of its scalar operation counts."""
    scalar = getattr(op, "scalar_op", None)
    if isinstance(scalar, Composite):
        return any(has_own_code(node.op) for node in scalar.fgraph.apply_nodes)
    if scalar is not None and has_own_code(scalar):
        return True
    if isinstance(op, ExternalCOp) and not type(op).__module__.startswith("pytensor."):
        return True
    written = getattr(type(op), "c_code", COp.c_code)
    return not written.__module__.startswith(_NOT_OF_USERS)


_warned_of: set[type] = set()


def warn_that_own_code_does_not_run(op: Any) -> None:
    """Say once of each class that Python runs in the place of the C code that the user wrote."""
    if type(op) in _warned_of:
        return
    _warned_of.add(type(op))
    warnings.warn(
        f"The perform of {op} runs in place of its C code: no C++ compiler was found "
        "(install g++ or clang++, or set the flag cxx)",
        stacklevel=caller_stacklevel(),
    )
