"""Operators made from a graph: PyTensor's, with Theano's ways to give them a gradient."""

from collections.abc import Callable, Sequence
from typing import Any

from pytensor.compile.builders import OpFromGraph as PyTensorOpFromGraph
from pytensor.gradient import DisconnectedType
from pytensor.graph.basic import Variable

from theano.compile.function import function
from theano.compile.mode import get_mode
from theano.gof.test_values import no_test_values
from theano.pytensor_internals.functions.compiling import GradientsInContext
from theano.pytensor_internals.graphs.graph import copy_of_graph_inside

__all__ = ["OpFromGraph"]

DEFAULT = "default"

Override = str | PyTensorOpFromGraph | Variable | Callable | Sequence | None


class OpFromGraph(GradientsInContext):
    """An operator that does what a graph does.

    Parameters
    ----------
    inputs, outputs : list of Variable
        The graph. Shared variables in it need not be listed.
    inline : bool, optional
        Whether the graph takes the operator's place when a function is compiled.
    lop_overrides, grad_overrides : optional
        What computes the gradient in place of the graph's own: a callable or an operator of the
        inputs, the outputs (of `lop_overrides` only) and the outputs' gradients that returns a
        list; or a list with, for each input, such a callable, ``'default'``, or a variable of
        type NullType or DisconnectedType.
    rop_overrides : optional
        The same for `Rop`: of the inputs and their directions, with an entry for each output.
    connection_pattern : list of list of bool, optional
        For each input, which outputs depend on it.
    name : str, optional
        Name in errors and printed graphs.
    pullback, pushforward, strict, destroy_map : optional
        As for PyTensor's operator.
    **kwargs
        For `theano.function`, which compiles the graph where it is not inlined.

    Raises
    ------
    TypeError
        When an override is none of these, or an input or output is not a variable.
    ValueError
        When two overrides of the gradient are given, or a list of them has the wrong length.

    Examples
    --------
    >>> import theano
    >>> import theano.tensor as T
    >>> x, y = T.dscalars("x", "y")
    >>> scaled = theano.OpFromGraph([x, y], [x * y])
    >>> float(scaled(x, 2 * y).eval({x: 3.0, y: 4.0}))
    24.0
    """

    # the graph in the variables of whoever wrote it
    as_written: tuple[list[Variable], list[Variable]] | None = None

    def __init__(
        self,
        inputs: list[Variable],
        outputs: list[Variable],
        inline: bool = False,
        lop_overrides: Override = DEFAULT,
        grad_overrides: Override = DEFAULT,
        rop_overrides: Override = DEFAULT,
        connection_pattern: list[list[bool]] | None = None,
        name: str | None = None,
        *,
        pullback: Any = None,
        pushforward: Any = None,
        **kwargs: Any,
    ):
        given = [
            override
            for override in (
                pullback,
                _converted(lop_overrides, _of_outputs),
                _converted(grad_overrides, _of_gradients),
            )
            if override is not None
        ]
        if len(given) > 1:
            raise ValueError("lop_overrides and grad_overrides are mutually exclusive")
        with no_test_values():
            super().__init__(
                inputs,
                outputs,
                inline=inline,
                pullback=given[0] if given else None,
                pushforward=pushforward or _converted(rop_overrides, _of_directions),
                connection_pattern=connection_pattern,
                name=name,
                **kwargs,
            )
        self.as_written = inputs, outputs
        if isinstance(self.pullback_overrides, list):
            self.pullback_overrides = self._for_all_inputs(self.pullback_overrides, len(inputs))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "as_written"}

    def _for_all_inputs(self, overrides: list, listed: int) -> list:
        """Return overrides of the gradients of the inputs, and none of those of shared variables."""
        if len(overrides) not in (listed, len(self.inner_inputs)):
            raise ValueError(f"{self}: expected {listed} overrides, got {len(overrides)}")
        return overrides + [None] * (len(self.inner_inputs) - len(overrides))

    @property
    def local_inputs(self) -> list[Variable]:
        """The inputs of the graph inside."""
        return self.inner_inputs

    @property
    def local_outputs(self) -> list[Variable]:
        """The outputs of the graph inside."""
        return self.inner_outputs

    @property
    def fn(self):
        """The compiled graph."""
        if getattr(self, "_compiled", None) is None:
            kwargs = dict(self.kwargs)
            mode = get_mode(kwargs.pop("mode", None)).excluding("symbolic_op_recognition")
            graph = copy_of_graph_inside(self)
            self._compiled = function(graph.inputs, graph.outputs, mode=mode, **kwargs)
            self._compiled.trust_input = True
        return self._compiled

    def connection_pattern(self, node):
        """For each input, which outputs depend on it; none if its gradient is said to be none."""
        pattern = super().connection_pattern(node)
        overrides = self.pullback_overrides
        if isinstance(overrides, list):
            for row, override in zip(pattern, overrides, strict=False):
                if isinstance(getattr(override, "type", None), DisconnectedType):
                    row[:] = [False] * len(row)
        return pattern

    def while_deriving(self):
        """No test values are in the graph inside; the gradient's operator gets them as a whole."""
        return no_test_values()


def _of_outputs(override: Callable) -> Callable:
    """Return a callable of three lists, of an operator or a callable of these."""

    def pullback(inputs, outputs, gradients):
        gradients = _connected(outputs, gradients)
        if isinstance(override, PyTensorOpFromGraph):
            return override(*inputs, *outputs, *gradients, return_list=True)
        return override(inputs, outputs, gradients)

    return pullback


def _of_gradients(override: Callable) -> Callable:
    """Return a callable of three lists, of an operator or a callable that does without the outputs."""

    def pullback(inputs, outputs, gradients):
        gradients = _connected(outputs, gradients)
        if isinstance(override, PyTensorOpFromGraph):
            return override(*inputs, *gradients, return_list=True)
        return override(inputs, gradients)

    return pullback


def _of_directions(override: Callable) -> Callable:
    """Return a callable of two lists, of an operator or a callable of these."""

    def pushforward(inputs, directions):
        if isinstance(override, PyTensorOpFromGraph):
            return override(*inputs, *directions, return_list=True)
        return override(inputs, directions)

    return pushforward


def _connected(outputs: list[Any], gradients: list[Any]) -> list[Any]:
    """Return the gradients, zero where nothing depends on the output: overrides expect tensors."""
    return [
        output.zeros_like() if isinstance(gradient.type, DisconnectedType) else gradient
        for output, gradient in zip(outputs, gradients, strict=True)
    ]


def _converted(override: Override, convert: Callable) -> Any:
    """Return PyTensor's form of an override; None stands for the graph's own gradient."""
    if (isinstance(override, str) and override == DEFAULT) or override is None:
        return None
    if isinstance(override, list | tuple):
        return [_converted_entry(entry, convert) for entry in override]
    if not callable(override):
        raise _not_an_override(override)
    return convert(override)


def _converted_entry(entry: object, convert: Callable) -> Any:
    if (isinstance(entry, str) and entry == DEFAULT) or entry is None:
        return None
    if isinstance(entry, Variable):
        return entry
    if not callable(entry):
        raise _not_an_override(entry)
    converted = convert(entry)

    def single(*arguments):
        result = converted(*arguments)
        return result[0] if isinstance(result, list) else result

    return single


def _not_an_override(override: object) -> TypeError:
    return TypeError(
        "An override of OpFromGraph is 'default', a callable, an OpFromGraph, a variable of type "
        f"NullType or DisconnectedType in a list, or a list of them; got {override!r}"
    )
