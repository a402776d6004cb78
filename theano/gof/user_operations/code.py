"""C code that users write for their operations: ``c_code``, or files of C."""

from __future__ import annotations

import warnings
from typing import Any

from pytensor.graph.basic import Apply, Constant
from pytensor.graph.op import Op
from pytensor.scalar.basic import Composite

from theano.configdefaults import config
from theano.flags.flag import caller_stacklevel
from theano.pytensor_internals.functions.c_code import COp, ExternalCOp
from theano.pytensor_internals.graphs.graph import MethodNotDefined

# Packages whose operations have a `perform` that works on whole arrays
_LIBRARIES = ("pytensor.", "theano.")


def is_of_users(module: str) -> bool:
    """Return whether operations of a module are a user's."""
    return not module.startswith(_LIBRARIES) or ".tests." in module


def has_own_code(op: Op) -> bool:
    """Return whether users wrote the C code of an operation, or of the scalar operation in it."""
    scalar = getattr(op, "scalar_op", None)
    if isinstance(scalar, Composite):
        return any(has_own_code(node.op) for node in scalar.fgraph.apply_nodes)
    if scalar is not None and has_own_code(scalar):
        return True
    if isinstance(op, ExternalCOp) and is_of_users(type(op).__module__):
        return True
    written = getattr(type(op), "c_code", COp.c_code)
    return written is not COp.c_code and is_of_users(written.__module__)


def thunk_of_folding(node: Apply, *storage: object) -> Any:
    """Return the C code of users for a node that is folded to a constant; PyTensor asks for Python."""
    folded = all(isinstance(variable, Constant) for variable in node.inputs)
    if not (folded and config.cxx and has_own_code(node.op)):
        return None
    try:
        return node.op.make_c_thunk(node, *storage)  # type: ignore[attr-defined]
    except (NotImplementedError, MethodNotDefined):
        return None


_warned_of: set[type] = set()


def warn_that_own_code_does_not_run(op: Op) -> None:
    """Warn once for each class that Python runs in place of the C code that the user wrote."""
    kind = type(getattr(op, "scalar_op", op))
    if kind in _warned_of:
        return
    _warned_of.add(kind)
    warnings.warn(
        f"The perform of {op} runs in place of its C code: no C++ compiler was found "
        "(install g++ or clang++, or set the flag cxx)",
        stacklevel=caller_stacklevel(),
    )
