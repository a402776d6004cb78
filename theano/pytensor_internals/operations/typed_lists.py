"""PyTensor's rewrite of operators on lists; loaded when lists are first used."""
# ruff: noqa: F401 -- this file re-exports

from pytensor.typed_list.rewriting import (
    typed_list_inplace_rewrite,  # the graph rewriter that lets them work in place
)
