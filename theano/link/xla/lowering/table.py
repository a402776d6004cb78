"""The table of lowerings: an op's class -> the function that traces it with JAX.

A lowering is ``function(op, node, inputs, context)``; it returns the value of the node's output,
or the list of their values. A value is either

* traced: a ``jax.Array`` (under ``jit`` a tracer). Its shape is known, its elements are not;
* concrete: a NumPy array or scalar, a Python number, ``None``, a slice or another object.

A node whose inputs are all concrete runs its own ``perform`` in NumPy, so that what shapes and
lengths are made from stays known; a lowering is asked then only if it was registered with
``even_if_concrete`` (a constructor of large arrays, a loop). Results need not have the declared
dtype: `interpret` casts them. ``context.require`` states what can only be checked when the
program runs; ``CannotLower`` has the node run on the host, with its text as the reason; any other
exception is the user's error and reaches him as it is.

``concrete`` says which inputs must be concrete: positions, or a function of the node that gives
them. The planner makes them static arguments, or cuts the graph before the node.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.scalar.basic import ScalarType
from pytensor.tensor.type_other import NoneTypeT, SliceType

from theano.link.xla.arrays import is_array
from theano.link.xla.context import CannotLower, Context
from theano.link.xla.jax_library import import_keeping_settings
from theano.support.data_classes import dataclass

Lowering = Callable[[Any, Apply, list[Any], Context], Any]
Positions = Collection[int] | Callable[[Apply], Collection[int]]


@dataclass(frozen=True)
class Rule:
    """The rule by which nodes of a class of ops are traced, and what must be known for that.

    Attributes
    ----------
    lower
        The lowering.
    concrete
        The inputs that must be concrete.
    even_if_concrete
        Whether the lowering is asked also where all inputs are concrete.
    why_not
        Returns, for a node, why it cannot be traced at all, or None.
    """

    lower: Lowering
    concrete: Positions = ()
    even_if_concrete: bool = False
    why_not: Callable[[Apply], str | None] | None = None


_RULES: dict[type, Rule] = {}


def lowers(*classes: type, **settings: Any) -> Callable[[Lowering], Lowering]:
    """Register the decorated function as the lowering of these classes.

    It is that of their subclasses, too, unless they define again what they compute.

    Parameters
    ----------
    *classes : type
    **settings
        ``concrete``, ``even_if_concrete`` and ``why_not`` of `Rule`.

    Examples
    --------
    >>> from pytensor.tensor.shape import Shape_i
    >>> @lowers(Shape_i)
    ... def length(op, node, inputs, context):
    ...     return inputs[0].shape[op.i]
    """

    def register(function: Lowering) -> Lowering:
        for op_class in classes:
            _RULES[op_class] = Rule(function, **settings)
        return function

    return register


def rule_of(op: Op) -> Rule:
    """Return the rule of the op's class, or of the class that says what the op computes."""
    for op_class in type(op).__mro__:
        if op_class in _RULES:
            return _RULES[op_class]
        if "perform" in vars(op_class):
            break
    return _FALLBACK


def concrete_inputs(node: Apply) -> Collection[int]:
    """Positions of the inputs that must be known when the node is traced."""
    wanted = rule_of(node.op).concrete
    return wanted(node) if callable(wanted) else wanted


def why_not(node: Apply) -> str | None:
    """Why a node cannot be part of an XLA program, or None if nothing speaks against it."""
    rule = rule_of(node.op)
    if rule is not _FALLBACK and rule.why_not and (reason := rule.why_not(node)):
        return reason
    for variable in (*node.inputs, *node.outputs):
        is_traced = is_array(variable) or isinstance(variable.type, _PARTS_OF_OPERANDS)
        if not is_traced and not hasattr(variable.type, "device"):
            return f"a value of type {variable.type} stays on the host"
    return rule.why_not(node) if rule.why_not else None


# besides arrays; None and slices are parts of indices
_PARTS_OF_OPERANDS = (ScalarType, NoneTypeT, SliceType)


def _jax_funcify() -> Any:
    return import_keeping_settings("theano.pytensor_internals.operations.jax_dispatch").jax_funcify


def by_pytensor(op: Op, node: Apply, inputs: list[Any], context: Context) -> Any:
    """Trace by PyTensor's own function for the op."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _jax_funcify()(op, node=node)(*inputs)
    except Exception as error:
        text = str(error).strip().splitlines() or [""]
        raise CannotLower(f"{type(error).__name__}: {text[0]}") from error


def _unknown_to_pytensor(node: Apply) -> str | None:
    function = _jax_funcify()
    if function.dispatch(type(node.op)) is function.dispatch(object):
        return "the engine has no code for it"
    return None


_FALLBACK = Rule(by_pytensor, why_not=_unknown_to_pytensor)


def runs_on_host(*classes: type, why: str) -> None:
    """Declare that ops of these classes are never traced, and why."""

    def refuse(op: Op, node: Apply, inputs: list[Any], context: Context) -> Any:
        raise CannotLower(why)

    for op_class in classes:
        _RULES[op_class] = Rule(refuse, why_not=lambda node: why)
