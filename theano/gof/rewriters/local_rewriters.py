"""Rewrites of one application of an operator, with Theano 1.0's names and signatures.

Theano asks ``rewrite.transform(node)``, PyTensor ``rewrite.transform(fgraph, node)``. A rewrite
made here may be written either way and asked either way.
"""

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pytensor.graph.basic import Apply
from pytensor.graph.fg import FunctionGraph, Output
from pytensor.graph.op import Op

from theano.gof.destroyhandler import DestroyHandler
from theano.gof.instances import including_instances_of
from theano.pytensor_internals.graphs.graph import MethodNotDefined
from theano.pytensor_internals.graphs.rewriting import (
    NodeRewriter,
    SequentialNodeRewriter,
    SubstitutionNodeRewriter,
)


def graph_around(node: Apply) -> FunctionGraph:
    """Return a graph that holds `node` and what it depends on, without copying them."""
    return FunctionGraph(outputs=node.outputs, clone=False)


def _asked_either_way(transform: Callable) -> Callable:
    with_graph = _takes_graph(transform)

    @functools.wraps(transform)
    def asked(self, *args, **options):
        if not with_graph:
            with _knowing_its_graph(args[-1], args[0] if len(args) > 1 else None):
                return transform(self, args[-1])
        if len(args) == 1:
            args = (graph_around(args[0]), *args)
        return transform(self, *args, **options)

    return asked


@contextmanager
def _knowing_its_graph(node: Apply, fgraph: FunctionGraph | None) -> Iterator[None]:
    """Give a node, its inputs and its outputs the attributes that Theano's had in a graph."""
    if fgraph is None:
        yield
        return
    variables = {*node.inputs, *node.outputs}
    node.fgraph = fgraph  # type: ignore[attr-defined]
    for variable in variables:
        variable.clients = [  # type: ignore[attr-defined]
            ("output", user.op.idx) if isinstance(user.op, Output) else (user, position)
            for user, position in fgraph.clients.get(variable, ())
        ]
    try:
        yield
    finally:
        # a rewrite that asks another one finds them gone
        vars(node).pop("fgraph", None)
        for variable in variables:
            vars(variable).pop("clients", None)


def _takes_graph(transform: Callable) -> bool:
    parameters = list(inspect.signature(transform).parameters.values())
    # self, then the graph and the node, or the node alone
    required = [p for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    return len(required) != 2


@including_instances_of(NodeRewriter)
class LocalOptimizer(NodeRewriter):
    """A rewrite of one application of an operator.

    A subclass defines ``transform(self, node)``, which returns False, or the variables that
    replace the outputs of `node`, or a dictionary from old to new variables; and may define
    `tracks`, which returns the operators it is for, or None for all. While a graph is rewritten,
    ``node.fgraph`` is the graph, and ``variable.clients`` lists who uses an input or output of
    `node`: pairs of an application, or 'output', and a position.
    """

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "transform" in vars(cls):
            cls.transform = _asked_either_way(vars(cls)["transform"])  # type: ignore[method-assign]

    def transform(self, *args, **kwargs):
        raise MethodNotDefined("transform", type(self), type(self).__name__)


class FromFunctionLocalOptimizer(LocalOptimizer):
    """The rewrite that a function of the application does.

    Parameters
    ----------
    fn : callable
    tracks : sequence of operators and operator classes, or None
    requirements : sequence of callables
        Each is given the graph before the rewrite runs.
    """

    def __init__(self, fn, tracks=None, requirements=()):
        self.fn = fn
        self._tracks = tracks
        self.requirements = requirements

    def transform(self, node):
        """Return what the function returns for `node`."""
        return self.fn(node)

    def add_requirements(self, fgraph):
        for require in self.requirements:
            require(fgraph)

    def tracks(self):
        return self._tracks

    def __str__(self):
        return getattr(self, "__name__", f"<{type(self).__name__} instance>")


def local_optimizer(tracks: Sequence | None, inplace: bool = False, requirements: Sequence = ()):
    """Make a rewrite of one application from a function of it.

    Parameters
    ----------
    tracks : sequence of operators and operator classes, or None
        Which applications the function is asked about; None for all.
    inplace : bool
        Whether the rewrite makes operators work in place.
    requirements : sequence of callables
        Each is given the graph before the rewrite runs.

    Returns
    -------
    callable
        A decorator for a function ``f(node)`` that returns False, or the variables that
        replace the outputs of ``node``.
    """
    if tracks is not None and len(tracks) == 0:
        raise ValueError("local_optimizer expects operators to track, or None for all")
    for tracked in tracks or ():
        if not isinstance(tracked, Op) and not (
            isinstance(tracked, type) and issubclass(tracked, Op)
        ):
            raise ValueError(
                f"local_optimizer tracks operators and classes of operators, not {tracked!r}"
            )
    if inplace:
        requirements = (*requirements, lambda fgraph: fgraph.attach_feature(DestroyHandler()))

    def decorate(rewrite: Callable[[Apply], object]) -> FromFunctionLocalOptimizer:
        made = FromFunctionLocalOptimizer(rewrite, tracks, requirements)
        made.__name__ = rewrite.__name__  # type: ignore[attr-defined]
        return made

    return decorate


class OpSub(LocalOptimizer, SubstitutionNodeRewriter):
    """Replace each application of an operator by another's, on the same inputs.

    Parameters
    ----------
    op1, op2 : Op
    transfer_tags : bool
        Whether the new node and its outputs have the tags of the old ones.
    """

    def op_key(self):
        """Return the operator that is replaced."""
        return self.op1

    def transform(self, fgraph, node, enforce_tracks=True):
        """Return the outputs of the new application, or False for another operator's node."""
        return SubstitutionNodeRewriter.transform(self, fgraph, node)


class OpRemove(LocalOptimizer):
    """Replace each application of an operator by its inputs.

    Parameters
    ----------
    op : Op
        An operator with as many outputs as inputs, of the same types.
    """

    reentrant = False

    def __init__(self, op):
        self.op = op

    def op_key(self):
        """Return the operator that is removed."""
        return self.op

    def tracks(self):
        return [self.op]

    def transform(self, node):
        """Return the inputs of `node`, or False where it applies another operator."""
        if node.op != self.op or len(node.inputs) != len(node.outputs):
            return False
        return list(node.inputs)

    def __str__(self):
        return f"{self.op}(x) -> x"


class LocalOptGroup(LocalOptimizer, SequentialNodeRewriter):
    """Several rewrites of one application, of which the first that applies is taken.

    Parameters
    ----------
    *optimizers : LocalOptimizer
    apply_all_opts : bool
        Whether each that applies is applied, to what the one before it made.
    profile : bool
        Whether to measure the time of each.
    """

    def __init__(self, *optimizers, apply_all_opts=False, profile=False):
        SequentialNodeRewriter.__init__(
            self, *optimizers, apply_all_rewrites=apply_all_opts, profile=profile
        )

    @property
    def opts(self):
        """The rewrites of the group."""
        return self.rewrites

    def transform(self, fgraph, node, enforce_tracks=False):
        """Return what the rewrites make of `node`."""
        return SequentialNodeRewriter.transform(self, fgraph, node)


class OfPyTensor(LocalOptimizer):
    """A PyTensor rewrite that may be asked without a graph, as Theano's were.

    Parameters
    ----------
    rewriter : NodeRewriter
    name : str
        What it is printed as.
    """

    def __init__(self, rewriter: NodeRewriter, name: str):
        self.rewriter = rewriter
        self.__name__ = name
        self.reentrant = getattr(rewriter, "reentrant", True)

    def tracks(self):
        return self.rewriter.tracks()

    def add_requirements(self, fgraph):
        self.rewriter.add_requirements(fgraph)

    def transform(self, fgraph, node, enforce_tracks=True):
        """Return what the rewrite makes of `node`."""
        return self.rewriter.transform(fgraph, node, enforce_tracks=enforce_tracks)

    def __str__(self):
        return self.__name__
