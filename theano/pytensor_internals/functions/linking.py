"""Internals of PyTensor's linkers, which make a rewritten graph run."""
# ruff: noqa: F401 -- this file re-exports

import sys
from copy import copy

from pytensor.graph.basic import Apply
from pytensor.link.basic import (
    Container,  # holds the value of an input or output: `storage`, `data`, `type`
    JITLinker,  # base of those of Numba, JAX and others, which translate the graphs inside operators
    Linker,  # `accept`, `make_thunk`
    LocalLinker,  # a linker of one node after another: `make_all`
    PerformLinker,  # runs `perform` of each node
    WrapLinker,  # has a function run each node
)
from pytensor.link.utils import (
    gc_helper,  # which variable is last read where
    map_storage,  # (graph, order, input storage, output storage) -> storage of each variable
    raise_with_op,  # raises the present error with the node and the user's line
    streamline,  # a function that runs thunks in order
)
from pytensor.link.vm import (
    VM,  # base of the programs that run thunks
    Loop,  # runs them in order
    Stack,  # runs them as they are needed: lazily
    UpdatingVM,  # a program that stores the new values of shared variables itself
    VMLinker,  # the linker of these; `use_cloop`, `lazy`, `allow_gc`
    calculate_reallocate_info,  # which value may reuse whose memory
)

if sys.version_info >= (3, 12):
    from pytensor.compile.inner_function import link_only_mode
    from pytensor.tensor.optimize import ScipyWrapperOp

    def with_function_linked_by(node: Apply, linker: Linker) -> Apply:
        """Return a node whose operation calls a function of this linker, if it searches; other nodes as they are.

        SciPy calls the function that a search for a root or a minimum has inside. Its graph has been
        rewritten with the graph around it. The operation of the node, which others may share, stays
        as it is.
        """
        if not isinstance(node.op, ScipyWrapperOp):
            return node
        linked = copy(node)
        linked.op = op = node.op.clone_with_inner_graph(node.op.fgraph)
        op._fn = op.compile_fn(link_only_mode(linker))
        return linked

else:

    def with_function_linked_by(node: Apply, linker: Linker) -> Apply:
        """Return the node: its operation compiles the function that it calls by itself."""
        return node
