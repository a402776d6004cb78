"""Linkers, which turn a graph into something that runs, with Theano 1.0's names and signatures."""
# ruff: noqa: F401 -- this file re-exports

from collections.abc import Callable, Sequence
from typing import Any

from theano.gof.instances import including_instances_of
from theano.pytensor_internals.functions import linking
from theano.pytensor_internals.functions.linking import (
    Container,
    gc_helper,
    map_storage,
    raise_with_op,
    streamline,
)


@including_instances_of(linking.Linker)
class Linker(linking.Linker):
    """A maker of functions that run a graph.

    A subclass defines `accept`, which takes a graph, and `make_thunk`, which returns a function
    without arguments and the containers of its inputs and outputs.
    """

    def make_function(self, unpack_single: bool = True, **kwargs: object) -> Callable:
        """Return a function of the values of the accepted graph's inputs.

        Parameters
        ----------
        unpack_single : bool
            Whether the value of an only output is returned as it is, instead of in a list.
        **kwargs
            For `make_thunk`.

        Returns
        -------
        callable
            Its attributes `thunk`, `inputs` and `outputs` are what `make_thunk` returned.
        """
        thunk, inputs, outputs = self.make_thunk(**kwargs)

        def execute(*values):
            if len(values) != len(inputs):
                raise TypeError(f"The graph expects {len(inputs)} values, not {len(values)}")
            for container, value in zip(inputs, values, strict=True):
                container.data = value
            thunk()
            results = [container.data for container in outputs]
            return results[0] if unpack_single and len(results) == 1 else results

        execute.thunk, execute.inputs, execute.outputs = (  # type: ignore[attr-defined]
            thunk,
            inputs,
            outputs,
        )
        return execute


@including_instances_of(linking.LocalLinker)
class LocalLinker(Linker, linking.LocalLinker):
    """A linker that runs each application of the graph on its own."""


@including_instances_of(linking.PerformLinker)
class PerformLinker(LocalLinker, linking.PerformLinker):
    """The linker that runs the `perform` of each operator.

    Parameters
    ----------
    allow_gc : bool, optional
        Whether values that are not needed any more are freed; by default the flag `allow_gc`.
    schedule : callable, optional
        Returns the applications of a graph in the order to run them.
    """


class _WithoutGraph:
    """A wrapper of thunks as Theano's, which did not get the graph: applications knew it."""

    def __init__(self, wrapper: Callable):
        self.wrapper = wrapper

    def __call__(self, fgraph, i, node, *thunks):
        node.fgraph = fgraph
        return self.wrapper(i, node, *thunks)


@including_instances_of(linking.WrapLinker)
class WrapLinker(Linker, linking.WrapLinker):
    """A linker that has a function run the applications of a graph.

    Parameters
    ----------
    linkers : list of LocalLinker
        Each makes a function of each application.
    wrapper : callable
        Called with the number of an application, itself, and the function that each linker
        made from it; it is to call them.
    """

    def __init__(self, linkers: Sequence[linking.LocalLinker], wrapper: Callable):
        wrapper = wrapper if isinstance(wrapper, _WithoutGraph) else _WithoutGraph(wrapper)
        linking.WrapLinker.__init__(self, linkers, wrapper)  # type: ignore[arg-type]


def WrapLinkerMany(
    linkers: Sequence[linking.LocalLinker], wrappers: Sequence[Callable]
) -> WrapLinker:
    """Return a linker that has several functions run each application, one after the other."""

    def run_all(*args):
        for wrapper in wrappers:
            wrapper(*args)

    return WrapLinker(linkers, run_all)
