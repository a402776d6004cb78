"""The user's line among those of a program: not one of this package's or of PyTensor's."""

import os
import sysconfig
import traceback
from collections.abc import Collection, Sequence
from pathlib import Path
from types import FrameType
from typing import Any

import pytensor
from pytensor.graph.basic import Apply, Variable
from pytensor.graph.traversal import walk

from theano.pytensor_internals.graphs.rewriting import copy_stack_trace
from theano.support.data_classes import dataclass

# Python's own, which runs what it is given for its caller; packages are installed in a part of it.
_PYTHON = sysconfig.get_path("stdlib") + os.sep
_INSTALLED = tuple(sysconfig.get_path(name) + os.sep for name in ("purelib", "platlib"))
# The folders whose lines are not a user's.
PACKAGES = (
    *(
        str(folder) + os.sep
        for folder in (Path(pytensor.__file__).parent, Path(__file__).parents[1])
    ),
    # not imported to be asked for its folder
    *(f"{folder}pymc{os.sep}" for folder in _INSTALLED),
)

# The last frame of an operation of a gradient whose line is that of what it differentiates
OF_A_GRADIENT = (__file__, 1, "the gradient of it", "")


def users_frame(frame: FrameType | None) -> FrameType | None:
    """Return a frame, or the nearest of those that called it, which is in none of the packages."""
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGES):
        frame = frame.f_back
    return frame


@dataclass(frozen=True)
class Place:
    """The place that a node comes from.

    Attributes
    ----------
    line
        The user's line, ``file:line``; empty where that is not known.
    of_gradient
        Whether it is not the line's own work, but that of its gradient (`derivatives.lines`).
    """

    line: str
    of_gradient: bool


def users_place(node: Apply) -> Place:
    """Return where a node comes from."""
    return _place_of(node.outputs[0])


def line_of(variable: Variable) -> str:
    """Return the user's line that made a variable, if it is known."""
    return _place_of(variable).line


def _place_of(variable: Variable) -> Place:
    frames = (getattr(variable.tag, "trace", None) or [[]])[0]
    return Place(_line_among(frames), OF_A_GRADIENT in frames)


def _line_among(frames: Sequence[Any]) -> str:
    """Return the last line of a trace that is the user's."""
    users = [frame for frame in frames if _is_a_users(_filename_of(frame))]
    return f"{_filename_of(users[-1])}:{_number_of(users[-1])}" if users else ""


def asked_line(node: Apply) -> str:
    """Return the user's line that asked for the gradient that a node is of, if both are known.

    The node's first trace is then that of what it differentiates, and the one that asked follows.
    """
    first, *others = getattr(node.outputs[0].tag, "trace", None) or [[]]
    if OF_A_GRADIENT not in first:
        return ""
    asked = [_line_among(frames) for frames in others if OF_A_GRADIENT not in frames]
    return next(filter(None, asked), "")


def format_lines(node: Apply) -> str:
    """Return the user's line that made a node; of a gradient both that which asked and what it is of."""
    line, asked = users_line(node), asked_line(node)
    return f"{asked}, as the gradient of {line}" if line and asked else line


def users_line(node: Apply) -> str:
    """Return the user's line that made a node, if it is known."""
    return users_place(node).line


def _is_a_users(file: str) -> bool:
    if file.startswith(_PYTHON) and not file.startswith(_INSTALLED):
        return False
    return not file.startswith(PACKAGES)


def _filename_of(frame: Any) -> str:
    """Return the file of a frame of a stack trace, which old pickles have as tuples."""
    return str(frame.filename if isinstance(frame, traceback.FrameSummary) else frame[0])


def _number_of(frame: Any) -> int | None:
    return frame.lineno if isinstance(frame, traceback.FrameSummary) else frame[1]


def short_line(line: str) -> str:
    """Return a line, ``file:line``, as seen from the folder that the process is in, if the file is there."""
    here = os.getcwd() + os.sep
    return line.removeprefix(here)


def format_line(line: str, of_gradient: bool) -> str:
    """Return a line as `short_line` has it, and whether it is its gradient that is meant."""
    return f"gradient of {short_line(line)}" if line and of_gradient else short_line(line)


def nearest_place(node: Apply) -> Place:
    """Return where a node comes from, or where the nearest of what it is computed from does."""
    places = map(users_place, walk([node], _makers_of_inputs, bfs=True))
    return next((place for place in places if place.line), Place("", users_place(node).of_gradient))


def nearest_line(node: Apply) -> str:
    """Return the user's line that made a node, or the nearest of what it is computed from."""
    return nearest_place(node).line


def _makers_of_inputs(node: Apply) -> list[Apply]:
    return [variable.owner for variable in node.inputs if variable.owner is not None]


def copy_lines(
    old: Variable, new: Variable, given: Collection[Variable], seen: set[Variable] | None = None
) -> None:
    """Have a new value, and all that it is newly computed by, name the user's line of another.

    Parameters
    ----------
    given
        What it is computed from, which keeps its own lines; there may be more in it.
    seen
        What calls before have named or passed by, which this one adds to.
    """
    seen = set() if seen is None else seen
    waiting = [new]
    while waiting:
        variable = waiting.pop()
        if variable in seen or variable in given or variable.owner is None:
            continue
        seen.add(variable)
        waiting += variable.owner.inputs
        for result in variable.owner.outputs:
            if not getattr(result.tag, "trace", None):
                copy_stack_trace(old, result)
