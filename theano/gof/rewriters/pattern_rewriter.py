"""The rewrite that replaces one pattern of operators by another."""

from typing import Any

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.op import Op

from theano.gof.rewriters.local_rewriters import LocalOptimizer

_NUMBERS = (int, float, np.number, np.ndarray)


class PatternSub(LocalOptimizer):
    """Replace each expression of one form by one of another form.

    A pattern is a tuple of an operator and the patterns of its inputs; a string, which stands for
    any variable, the same one at each place; a number or a constant, which stands for constants
    of that value; or, to be matched only, a dictionary of a ``pattern``, a ``constraint``, which
    says whether it may match a variable, and ``allow_multiple_clients``.

    Parameters
    ----------
    in_pattern : tuple or dict
        What is replaced.
    out_pattern : tuple or str
        What replaces it.
    allow_multiple_clients : bool
        Whether inner parts of the pattern may be used elsewhere too, and so be computed still.
    skip_identities_fn : callable, optional
        Says of the old and the new variable whether to leave the old one.
    name : str, optional
    tracks : sequence of operators
        With `get_nodes`: at which nodes the rewrite is asked instead.
    get_nodes : callable, optional
        Returns the nodes to try for a tracked one.
    values_eq_approx : callable, optional
        How DebugMode compares the new values with the old ones.

    Examples
    --------
    >>> import theano.tensor as T
    >>> from theano.gof import FunctionGraph, PatternSub, TopoOptimizer
    >>> x = T.dvector("x")
    >>> graph = FunctionGraph([x], [T.exp(T.log(x))])
    >>> TopoOptimizer(PatternSub((T.exp, (T.log, "x")), "x")).optimize(graph)[1]
    1
    >>> graph
    [x]
    """

    def __init__(
        self,
        in_pattern,
        out_pattern,
        allow_multiple_clients=False,
        skip_identities_fn=None,
        name=None,
        tracks=(),
        get_nodes=None,
        values_eq_approx=None,
    ):
        top = in_pattern["pattern"] if isinstance(in_pattern, dict) else in_pattern
        if not isinstance(top, list | tuple) or not isinstance(top[0], Op):
            raise TypeError(
                f"PatternSub expects a pattern that begins with an operator, not {in_pattern!r}"
            )
        if tracks and get_nodes is None:
            raise ValueError("PatternSub expects get_nodes where tracks is given")
        self.in_pattern, self.out_pattern, self.op = in_pattern, out_pattern, top[0]
        self.allow_multiple_clients = allow_multiple_clients
        self.skip_identities_fn = skip_identities_fn
        self._tracks, self.get_nodes = list(tracks) or [self.op], get_nodes
        self.values_eq_approx = values_eq_approx
        if name:
            self.__name__ = name

    def op_key(self):
        """Return the operator that the pattern begins with."""
        return self.op

    def tracks(self):
        return self._tracks

    def transform(self, fgraph, node, enforce_tracks=True):
        """Return what replaces the output of `node`, or False where the pattern does not match."""
        if self.get_nodes is None:
            return self._replacement(fgraph, node)
        for candidate in self.get_nodes(node):
            found = candidate != "output" and self._replacement(fgraph, candidate)
            if found:
                return dict(zip(candidate.outputs, found, strict=True))
        return False

    def _replacement(self, fgraph, node):
        if node.op != self.op or len(node.outputs) != 1:
            return False
        old = node.outputs[0]
        found: dict[str, Variable] | None = _match(self.in_pattern, old, {}, fgraph, True, self)
        if found is None:
            return False
        new = _build(self.out_pattern, found)
        if not old.type.is_super(new.type):
            return False
        if self.skip_identities_fn is not None and self.skip_identities_fn(old, new):
            return False
        if self.values_eq_approx is not None:
            new.tag.values_eq_approx = self.values_eq_approx
        return [new]

    def __str__(self):
        return getattr(
            self, "__name__", f"{_as_text(self.in_pattern)} -> {_as_text(self.out_pattern)}"
        )

    __repr__ = __str__


def _match(
    pattern: object,
    variable: Variable,
    found: dict,
    fgraph: object,
    may_be_shared: bool,
    rule: PatternSub,
) -> dict | None:
    """Return `found` with what the strings of `pattern` stand for in `variable`, None if nothing."""
    if isinstance(pattern, dict):
        if not pattern.get("constraint", lambda variable: True)(variable):
            return None
        shared = pattern.get("allow_multiple_clients", may_be_shared)
        return _match(pattern["pattern"], variable, found, fgraph, shared, rule)
    if isinstance(pattern, str):
        same = found.get(pattern, variable) is variable
        return {**found, pattern: variable} if same else None
    if isinstance(pattern, list | tuple):
        return _match_application(pattern, variable, found, fgraph, may_be_shared, rule)
    if not isinstance(variable, Constant):
        return None
    if isinstance(pattern, Constant):
        return found if pattern.equals(variable) else None
    if isinstance(pattern, _NUMBERS):
        return found if np.all(np.asarray(pattern) == variable.data) else None
    return None


def _match_application(pattern, variable, found, fgraph, may_be_shared, rule):
    operator, *inputs = pattern
    node = variable.owner
    if node is None or node.op != operator or len(node.inputs) != len(inputs):
        return None
    if not may_be_shared and len(fgraph.clients[variable]) > 1:
        return None
    for part, value in zip(inputs, node.inputs, strict=True):
        found = _match(part, value, found, fgraph, rule.allow_multiple_clients, rule)
        if found is None:
            return None
    return found


def _build(pattern: object, found: dict[str, Variable]) -> Any:
    if isinstance(pattern, dict):
        return _build(pattern["pattern"], found)
    if isinstance(pattern, str):
        return found[pattern]
    if isinstance(pattern, list | tuple):
        operator, *inputs = pattern
        return operator(*(_build(part, found) for part in inputs))
    return pattern


def _as_text(pattern: object) -> str:
    if isinstance(pattern, dict):
        condition = pattern.get("constraint", "no conditions")
        return f"{_as_text(pattern['pattern'])} subject to {condition}"
    if isinstance(pattern, list | tuple):
        operator, *inputs = pattern
        return f"{operator}({', '.join(map(_as_text, inputs))})"
    return str(pattern)
