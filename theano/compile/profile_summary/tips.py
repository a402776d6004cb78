"""Advice in a profile's summary."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

from pytensor.tensor.math import Dot

from theano.configdefaults import config

# The part of the time above which nodes that Python runs are worth a note
MUCH = 0.1


def write_tips(profile: object, file: TextIO) -> None:
    """Write what may make a profiled function faster."""
    print(
        "Here are tips to potentially make your code run faster. Test them first, as they are not "
        "guaranteed to always provide a speedup.",
        *(f"  - {tip}" for tip in tips(profile) or ["Sorry, no tip for today."]),
        sep="\n",
        file=file,
    )


def tips(profile: object) -> list[str]:
    """Return what may make a profiled function faster."""
    return [tip for rule in (_precision, _python, _mixed_products) for tip in rule(profile)]


def _precision(profile: object) -> Iterator[str]:
    if config.floatX == "float64":
        yield "Try the Theano flag floatX=float32"


def _python(profile: Any) -> Iterator[str]:
    whole = sum(profile.apply_time.values())
    slow = sum(
        t for (_, node), t in profile.apply_time.items() if not profile.apply_cimpl.get(node)
    )
    if slow > MUCH * whole > 0:
        yield (
            f"Python runs operations that take {slow / whole:.0%} of the time: "
            "theano.link.native.report(f) says which, and why"
        )


def _mixed_products(profile: Any) -> Iterator[str]:
    for _, node in profile.apply_time:
        dtypes = [
            variable.type.dtype for variable in node.inputs if hasattr(variable.type, "dtype")
        ]
        if isinstance(node.op, Dot) and len(set(dtypes)) > 1:
            yield f"A product has operands of different dtypes, {' and '.join(dtypes)}: {node}"
