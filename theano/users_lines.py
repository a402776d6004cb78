"""Which line of a program is the user's: not one of this package's or of PyTensor's."""

import os
import traceback
from collections.abc import Collection
from pathlib import Path

import pytensor
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import walk

from theano.pytensor_base.graphs.rewriting import copy_stack_trace

# The folders whose lines are not a user's.
PACKAGES = tuple(
    str(folder) + os.sep for folder in (Path(pytensor.__file__).parent, Path(__file__).parent)
)


def users_line(node: Apply) -> str:
    """Return the user's line that made a node, if it is known."""
    traces = getattr(node.outputs[0].tag, "trace", None) or [[]]
    lines = [
        (frame.filename, frame.lineno) if isinstance(frame, traceback.FrameSummary) else frame[:2]
        for frame in traces[0]
    ]
    users = [line for line in lines if not str(line[0]).startswith(PACKAGES)]
    return "{}:{}".format(*users[-1]) if users else ""


def short_line(line: str) -> str:
    """A line, ``file:line``, as seen from the folder that the process is in, if the file is there."""
    here = os.getcwd() + os.sep
    return line.removeprefix(here)


def nearest_line(node: Apply) -> str:
    """Return the user's line that made a node, or the nearest of what it is computed from."""
    nearest = walk([node], _makers_of_inputs, bfs=True)
    return next(filter(None, map(users_line, nearest)), "")


def _makers_of_inputs(node: Apply) -> list[Apply]:
    return [variable.owner for variable in node.inputs if variable.owner is not None]


def copy_lines(old: Variable, new: Variable, given: Collection[Variable]) -> None:
    """Have a new value, and all that it is newly computed by, name the user's line of another.

    Parameters
    ----------
    given
        What it is computed from, which keeps its own lines; there may be more in it.
    """
    for variable in list(walk([new], lambda variable: _newly_read(variable, given))):
        named = variable in given or getattr(variable.tag, "trace", None)
        if variable.owner is not None and not named:
            copy_stack_trace(old, variable)


def _newly_read(variable: Variable, given: Collection[Variable]) -> list[Variable]:
    return [] if variable.owner is None or variable in given else variable.owner.inputs
