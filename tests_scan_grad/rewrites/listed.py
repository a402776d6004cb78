"""The rewrites that Theano's modes run, by name."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from pytensor.graph.rewriting.basic import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    NodeProcessingGraphRewriter,
    NodeRewriter,
    SequentialGraphRewriter,
    SequentialNodeRewriter,
)

from theano.compile.mode import OPT_FAST_RUN, Mode, predefined_modes
from theano.rewriting.arranged import InTime
from theano.rewriting.rewrites.of_pytensor.replacements import INSTEAD

# that compile loops ahead of time, and change nothing in the graph
NOT_OF_GRAPHS = ("compile_ahead", "compile_ahead_of_joined")


# the reason of a change that one of several rewrites made, which run as one
SEVERAL = "one of several"


@cache
def modes() -> dict[str, Any]:
    """The modes whose rewrites are listed.

    The third has what the native engine does by itself: fusion, BLAS, results in place.
    """
    return {
        "FAST_RUN": predefined_modes["FAST_RUN"].excluding(*NOT_OF_GRAPHS),
        "FAST_COMPILE": predefined_modes["FAST_COMPILE"].excluding(*NOT_OF_GRAPHS),
        "FAST_RUN in Python": Mode("py", OPT_FAST_RUN)
        .including("fusion")
        .excluding(*NOT_OF_GRAPHS),
    }


def name_of(rewriter: object) -> str:
    """The name of a rewrite, or of what PyTensor gives as the reason of a change."""
    if isinstance(rewriter, str):
        return rewriter
    if isinstance(rewriter, SequentialNodeRewriter):
        return SEVERAL
    return getattr(rewriter, "name", None) or getattr(rewriter, "__name__", None) or str(rewriter)


def parts(rewriter: Any) -> list[Any]:
    """The rewrites that a rewrite is made from; none if it is one itself."""
    if isinstance(rewriter, SequentialGraphRewriter):
        return list(rewriter)
    if isinstance(rewriter, EquilibriumGraphRewriter):
        return [
            *rewriter.global_rewriters,
            *rewriter.get_node_rewriters(),
            *rewriter.final_rewriters,
            *rewriter.cleanup_rewriters,
        ]
    if isinstance(rewriter, SequentialNodeRewriter | InTime):
        return list(rewriter.rewrites)
    if isinstance(rewriter, NodeProcessingGraphRewriter):
        return [rewriter.node_rewriter]
    return []


def single(rewriter: Any) -> Iterator[GraphRewriter | NodeRewriter]:
    """The rewrites that are not made of others."""
    inside = parts(rewriter)
    if not inside:
        yield INSTEAD.get(rewriter, rewriter)
    for part in inside:
        yield from single(part)


@cache
def rewrites() -> dict[str, list[GraphRewriter | NodeRewriter]]:
    """All rewrites that the modes run, by name: one name may stand for several."""
    found: dict[str, list[GraphRewriter | NodeRewriter]] = {}
    for mode in modes().values():
        for rewriter in single(mode.optimizer):
            same_name = found.setdefault(name_of(rewriter), [])
            if rewriter not in same_name:
                same_name.append(rewriter)
    return found
