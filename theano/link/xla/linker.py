"""The linker of mode 'XLA': a function's graph as programs of the device and of the host."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

from pytensor.graph.basic import Variable
from pytensor.graph.fg import FunctionGraph

from theano.link.xla.data_parallel import Split, SplitMachine
from theano.link.xla.generators.generators_as_keys import (
    GeneratorsAsKeys,  # noqa: F401 -- registers it
)
from theano.link.xla.jax_library import require_jax
from theano.link.xla.machine import Machine
from theano.link.xla.windows import TAG
from theano.pytensor_internals.functions.linking import Container, Linker, map_storage

# The tag of rewrites of what some devices have kernels for
DECIDED_BY_DEVICE = "decided_by_device"

# What is written for other engines: products for BLAS's operators, C code, memory used again.
# XLA fuses, and reuses memory, by itself.
LEFT_OUT = (
    "cxx_only",
    "BlasOpt",
    "inplace",
    "fusion",
    "local_careduce_fusion",
    "scan_make_inplace",
    "shorten_traces",
    DECIDED_BY_DEVICE,
)


class XLALinker(Linker):
    """Compiles a graph with XLA, through JAX, for the given device or the default one.

    Parameters
    ----------
    device : str, optional
        Such as 'cuda0' or 'xla:cpu'; by default the flag `device`, where it names one of XLA's,
        and otherwise 'xla:cpu'.
    split : Split, optional
        Which inputs' batch is split over which devices.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x = T.matrix("x")
    >>> f = theano.function([x], T.tanh(x).sum(), mode="XLA")
    """

    # Traces of which few rows are read are shortened, to those rows and no more.
    required_rewrites = ("minimum_compile", "shorten_traces_to_what_is_read", TAG)
    incompatible_rewrites = LEFT_OUT
    # A step is part of its loop's program, or the host's.
    compiles_steps = False

    def __init__(self, device: str | None = None, split: Split | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        require_jax()
        self.device = device
        self.split = split
        self.fgraph: FunctionGraph | None = None
        self.machine: Machine | None = None

    def accept(
        self, fgraph: FunctionGraph, no_recycling: Sequence[Variable] | None = None, profile=None
    ) -> XLALinker:
        """Tie a linker to a graph: this one, or a copy if it is tied to another already."""
        if self.fgraph is not None and self.fgraph is not fgraph:
            other = copy(self)
            other.fgraph = None
            return other.accept(fgraph, no_recycling, profile)
        self.fgraph = fgraph
        return self

    def make_thunk(self, input_storage=None, output_storage=None, storage_map=None, **kwargs):
        """Make what runs the graph, and the containers of its inputs and outputs."""
        fgraph = self.fgraph
        assert fgraph is not None
        order = self.schedule(fgraph)
        input_storage, output_storage, storage_map = map_storage(
            fgraph, order, input_storage, output_storage, storage_map
        )
        if self.split is None:
            self.machine = Machine(fgraph, order, storage_map, self.device)
        else:
            self.machine = SplitMachine(fgraph, order, storage_map, self.device, self.split)
        return (
            self.machine,
            [Container(v, cell) for v, cell in zip(fgraph.inputs, input_storage, strict=True)],
            [
                Container(v, cell, readonly=True)
                for v, cell in zip(fgraph.outputs, output_storage, strict=True)
            ],
        )

    def __getstate__(self) -> dict[str, Any]:
        # what was compiled belongs to this process
        return {**vars(self), "machine": None}

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
