"""Which line of a program is the user's: not one of this package's or of PyTensor's."""

import os
import traceback
from pathlib import Path

import pytensor
from pytensor.graph.basic import Apply

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
