"""C text: what stands before functions, how their lines are indented, and comments."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from pathlib import Path

from theano.link.native.ir.emit_expressions import special_functions
from theano.link.native.ir.ir import Assign, Map
from theano.link.native.lowering.step import Step

HERE = Path(__file__).parent


def c_text(steps: Iterable[Step], lines: Iterable[str]) -> str:
    """A text that a C compiler takes: what the functions of some steps need, and their lines."""
    body = "\n".join(lines)
    head = [*preamble(_computes(steps, body)), *special_functions(body)]
    return "\n".join([*head, body]) + "\n"


def preamble(computes: bool) -> list[str]:
    """What stands before the functions: with activations, if anything is computed."""
    names = ["prelude.inc"]
    if computes:
        names += ["../runtime/activations.inc", "vectors.inc"]
    return [*map(_content, names)]


@functools.cache
def _content(name: str) -> str:
    return (HERE / name).read_text()


def _computes(steps: Iterable[Step], text: str) -> bool:
    """Whether statements, or the numbers before them, may use activations or vectors."""
    maps = any(isinstance(s, Map | Assign) for step in steps for s in step.statements)
    return maps or "tn_s_" in text


def indented(lines: Iterable[str]) -> list[str]:
    """The lines of a function, which are written without."""
    depth, result = 0, []
    for line in lines:
        depth -= line.startswith("}")
        result.append(line if line.startswith("#") else "    " * depth + line)
        depth += line.endswith("{")
    return result


def comment(what: str) -> str:
    """Text as a comment."""
    return f"/* {what.replace('*/', '')} */"


def declaration(lines: Iterable[str]) -> list[str]:
    """The line that declares a function which other parts of a program call, if it is one."""
    start = next((line for line in lines if line.startswith("TN_SHARED ")), None)
    return [] if start is None else [f"{start};"]
