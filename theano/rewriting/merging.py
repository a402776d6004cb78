"""Equal operations and constants are made one, as PyTensor does it, with constants distinguished by their bytes.

PyTensor sums the numbers of each constant that are not NaN, in a masked array: a tenth of a millisecond.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from pytensor.graph.basic import Apply, AtomicVariable
from pytensor.graph.fg import FunctionGraph
from pytensor.tensor.type import TensorType

from theano.pytensor_internals.graphs.graph import features_of, remove_feature
from theano.pytensor_internals.graphs.kinds import is_a
from theano.pytensor_internals.graphs.rewriting import MergeFeature, MergeOptimizer

# of larger arrays a sum takes less room than a copy
LARGEST_COPIED = 1000


class Merge(MergeOptimizer):
    """Makes equal operations and constants of a graph one."""

    def add_requirements(self, fgraph: FunctionGraph) -> None:
        """Watch the graph for what is equal."""
        if not hasattr(fgraph, "merge_feature"):
            fgraph.attach_feature(Merging())


class Merging(MergeFeature):
    """Notes which operations and constants of a graph are equal."""

    def on_import(self, fgraph: FunctionGraph, node: Apply, reason: object) -> None:
        """Look for an equal of a node that came into the graph, and of its constants."""
        for variable in node.inputs:
            if is_a(variable, AtomicVariable):
                self.process_atomic(fgraph, variable)
        self.process_node(fgraph, node)

    def on_detach(self, fgraph: FunctionGraph) -> None:
        """Let the graph be watched again: by one that looks at all nodes when it is attached."""
        del fgraph.merge_feature

    def process_atomic(self, fgraph: FunctionGraph, c: object) -> None:
        """Look for an equal of a constant."""
        if id(c) in self.seen_atomics:
            return
        key = _described(c)
        equal = self.atomic_sig_inv.get(key, None)
        if equal is not None:
            self.scheduled.append([[(c, equal, "merge")]])
            return
        self.atomic_sig[c] = key
        self.atomic_sig_inv[key] = c
        self.seen_atomics.add(id(c))


def _described(constant: Any) -> Hashable:
    """Return what is equal for equal constants."""
    kind: Any = constant.type
    data: Any = getattr(constant, "data", None)
    plain = type(kind) is TensorType and type(data) is np.ndarray and data.dtype.kind in "biufc"
    if plain and data.size <= LARGEST_COPIED:
        return kind.dtype, kind.shape, data.shape, data.tobytes()
    return constant.merge_signature()


def forget_equals(fgraph: FunctionGraph) -> None:
    """Have a graph forget what is equal in it; who rewrites it again finds that out again."""
    for feature in features_of(fgraph):
        if isinstance(feature, Merging):
            remove_feature(fgraph, feature)
