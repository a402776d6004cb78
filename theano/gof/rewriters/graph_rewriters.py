"""Rewrites of whole graphs, with Theano 1.0's names for what they are and do."""

from theano.gof.destroyhandler import DestroyHandler
from theano.gof.instances import including_instances_of
from theano.gof.rewriters.local_rewriters import LocalOptGroup
from theano.gof.toolbox import BadOptimization, NodeFinder
from theano.pytensor_internals.graphs.rewriting import (
    EquilibriumGraphRewriter,
    FromFunctionGraphRewriter,
    GraphRewriter,
    NodeProcessingGraphRewriter,
    SequentialGraphRewriter,
    WalkingGraphRewriter,
)
from theano.pytensor_internals.graphs.rewriting import MergeOptimizer as _PyTensorMergeOptimizer


@including_instances_of(GraphRewriter)
class Optimizer(GraphRewriter):
    """A rewrite of a graph as a whole.

    A subclass defines `apply`, which changes the graph that it is given, and may define
    `add_requirements`, which attaches to the graph what `apply` needs.
    """

    def apply(self, fgraph, *args, **kwargs):
        """Change the graph; by default it stays as it is."""

    def optimize(self, fgraph, *args, **kwargs):
        """Attach what the rewrite needs to the graph, and apply it.

        Parameters
        ----------
        fgraph : FunctionGraph
        """
        return self.rewrite(fgraph, *args, **kwargs)


class FromFunctionOptimizer(Optimizer, FromFunctionGraphRewriter):
    """The rewrite that a function of the graph does.

    Parameters
    ----------
    fn : callable
    requirements : sequence of callables
        Each is given the graph before `fn` is.
    """

    def apply(self, *args, **kwargs):
        return self.fn(*args, **kwargs)


class MergeOptimizer(Optimizer, _PyTensorMergeOptimizer):
    """Make what is computed twice in a graph one."""

    apply = _PyTensorMergeOptimizer.apply


class SeqOptimizer(Optimizer, SequentialGraphRewriter):
    """Several rewrites of a graph, one after the other.

    Parameters
    ----------
    *opts : Optimizer
        The rewrites, or one list of them.
    failure_callback : callable, optional
        Called with the error, this rewrite and the one that failed; the others still run.
    """

    apply = SequentialGraphRewriter.apply
    __repr__ = SequentialGraphRewriter.__repr__
    __hash__ = Optimizer.__hash__  # type: ignore[assignment]


class NavigatorOptimizer(Optimizer, NodeProcessingGraphRewriter):
    """A rewrite of a graph that applies a rewrite of one application, node by node.

    Parameters
    ----------
    local_opt : LocalOptimizer
    ignore_newtrees : bool or 'auto'
        Whether applications that the rewrite makes are left alone; 'auto' asks the rewrite's
        attribute `reentrant`.
    failure_callback : callable, optional
        Called with the error, this rewrite, the replaced pairs, `local_opt` and the node.
    """

    def __init__(self, local_opt, ignore_newtrees="auto", failure_callback=None):
        NodeProcessingGraphRewriter.__init__(self, local_opt, ignore_newtrees, failure_callback)

    @property
    def local_opt(self):
        """The rewrite of one application."""
        return self.node_rewriter


class TopoOptimizer(NavigatorOptimizer, WalkingGraphRewriter):
    """Apply a rewrite of one application along the graph, once at each node.

    Parameters
    ----------
    local_opt : LocalOptimizer
    order : {'in_to_out', 'out_to_in'}
    ignore_newtrees, failure_callback
        As for `NavigatorOptimizer`.
    """

    apply = WalkingGraphRewriter.apply

    def __init__(self, local_opt, order="in_to_out", ignore_newtrees=False, failure_callback=None):
        WalkingGraphRewriter.__init__(self, local_opt, order, ignore_newtrees, failure_callback)


class OpKeyOptimizer(NavigatorOptimizer):
    """Apply a rewrite to the applications of the operators that it tracks, until none changes.

    Parameters
    ----------
    local_opt : LocalOptimizer
        A rewrite whose `op_key` or `tracks` names its operators.
    ignore_newtrees, failure_callback
        As for `NavigatorOptimizer`.
    """

    def __init__(self, local_opt, ignore_newtrees=False, failure_callback=None):
        if not _operators_of(local_opt):
            raise TypeError(
                f"OpKeyOptimizer expects a rewrite that names operators, by op_key: {local_opt}"
            )
        super().__init__(local_opt, ignore_newtrees, failure_callback)

    def add_requirements(self, fgraph):
        super().add_requirements(fgraph)
        fgraph.attach_feature(NodeFinder())

    def apply(self, fgraph):
        """Apply the rewrite to each matching application in `fgraph`."""
        operators = _operators_of(self.local_opt)
        pending = [node for operator in operators for node in fgraph.get_nodes(operator)]
        current = None

        def enqueue(node):
            if node is not current and node.op in operators:
                pending.append(node)

        updater = self.attach_updater(fgraph, enqueue, None, name=self.name)
        try:
            while pending:
                current = pending.pop()
                if current in fgraph.apply_nodes:
                    self.process_node(fgraph, current)
        finally:
            self.detach_updater(fgraph, updater)


def _operators_of(local_opt) -> list:
    named = local_opt.op_key() if hasattr(local_opt, "op_key") else local_opt.tracks()
    return list(named) if isinstance(named, list | tuple) else [named] if named else []


class EquilibriumOptimizer(NavigatorOptimizer, EquilibriumGraphRewriter):
    """Apply rewrites of applications and of graphs until none of them changes anything.

    Parameters
    ----------
    optimizers : list of LocalOptimizer and Optimizer
    failure_callback : callable, optional
    ignore_newtrees : bool
    tracks_on_change_inputs : bool
        Whether a node whose inputs changed is looked at again in the same round.
    max_use_ratio : float, optional
        How often each may be used, for each node of the graph.
    final_optimizers, cleanup_optimizers : list of Optimizer, optional
        Applied at the end of each round, and after each rewrite of the graph.
    """

    apply = EquilibriumGraphRewriter.apply
    add_requirements = EquilibriumGraphRewriter.add_requirements
    print_summary = EquilibriumGraphRewriter.print_summary

    def __init__(
        self,
        optimizers,
        failure_callback=None,
        ignore_newtrees=True,
        tracks_on_change_inputs=False,
        max_use_ratio=None,
        final_optimizers=None,
        cleanup_optimizers=None,
    ):
        EquilibriumGraphRewriter.__init__(
            self,
            optimizers,
            failure_callback and _with_types(failure_callback),
            ignore_newtrees,
            tracks_on_change_inputs,
            max_use_ratio,
            final_optimizers,
            cleanup_optimizers,
        )


def _with_types(failure_callback):
    """Return a callback to which a replacement of another type is a wrong rewrite, as in Theano."""

    def called(error, navigator, pairs, rewriter, node):
        for old, new in pairs or ():
            if isinstance(error, TypeError) and new is not None and not _replaces(old, new):
                error = BadOptimization(old, new, None, None, reason=str(rewriter))
        return failure_callback(error, navigator, pairs, rewriter, node)

    return called


def _replaces(old, new):
    try:
        old.type.filter_variable(new)
    except TypeError:
        return False
    return True


def optimizer(f):
    """Make a rewrite of a graph from a function of it."""
    made = FromFunctionOptimizer(f)
    made.__name__ = f.__name__
    return made


def inplace_optimizer(f):
    """Make a rewrite of a graph, which makes operators work in place, from a function of it."""
    made = FromFunctionOptimizer(f, (lambda fgraph: fgraph.attach_feature(DestroyHandler()),))
    made.__name__ = f.__name__
    return made


def in2out(*local_opts, **kwargs):
    """Apply rewrites of one application from the inputs to the outputs."""
    return _along("in_to_out", local_opts, **kwargs)


def out2in(*local_opts, **kwargs):
    """Apply rewrites of one application from the outputs to the inputs."""
    return _along("out_to_in", local_opts, **kwargs)


def _along(order, local_opts, name=None, failure_callback=TopoOptimizer.warn_inplace, **kwargs):
    if len(local_opts) > 1:
        (local_opt,) = (LocalOptGroup(*local_opts),)
    else:
        (local_opt,) = local_opts
        name = name or getattr(local_opt, "__name__", None)
    made = TopoOptimizer(local_opt, order=order, failure_callback=failure_callback, **kwargs)
    if name:
        made.__name__ = name
    return made
