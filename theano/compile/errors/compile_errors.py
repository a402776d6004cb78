"""Errors of an operation's C code that does not compile."""

from __future__ import annotations

import traceback

from pytensor.graph.basic import Apply

from theano.source_locations.lines import format_lines, nearest_line

# So many lines after the compiler's first error show the code.
_LINES_OF_CODE = 2


def explain_compile_error(error: Exception) -> None:
    """Put the compiler's first error, the operation and the user's line before all options.

    Parameters
    ----------
    error
        PyTensor's; its message, with the compiler's command, becomes its note.
    """
    whole = str(error)
    lines = whole.splitlines()
    wrong = [k for k, line in enumerate(lines) if " error: " in line or " error:" in line]
    message = lines[wrong[0] : wrong[0] + 1 + _LINES_OF_CODE] if wrong else lines[:1]
    message[0] = message[0].partition("error: ")[2] or message[0]
    node = _node_that_was_compiled(error)
    if node is not None:
        message[0] = f"C code of {node.op} does not compile: {message[0]}"
        message += [
            f"Apply node: {node}",
            f"Created at: {format_lines(node) or nearest_line(node)}",
        ]
    message.append("The compiler's command and its whole output are in the note of this error.")
    error.args = ("\n".join(message),)
    error.add_note(whole)


def _node_that_was_compiled(error: Exception) -> Apply | None:
    nodes = [frame.f_locals.get("node") for frame, _ in traceback.walk_tb(error.__traceback__)]
    return next((node for node in reversed(nodes) if isinstance(node, Apply)), None)
