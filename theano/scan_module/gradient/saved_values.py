"""The choice of values of the forward step to save for the backward step: a minimum cut.

A value that the backward step needs is either saved in every step, or computed again from values
that are. Saving costs memory; computing again is allowed where it is cheap. With one edge per
value, of the value's size as capacity, from the expensive operations to the backward step, the
smallest set of values to save is a minimum cut.

The cut nearest to the backward step is taken among equally small ones: it leaves the least to
compute again. It never passes behind an exponential: rewrites that keep ``exp(x) / (1 + exp(x))``
finite must see the exponential and the quotient in one step. The idea is that of rematerialisation by minimum cut in AOTAutograd's partitioner
(https://dev-discuss.pytorch.org/t/467).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable

import numpy as np
from pytensor.graph.basic import Constant, Variable
from pytensor.graph.traversal import ancestors
from pytensor.scalar.basic import (
    Add,
    ArcTan,
    Cos,
    Cosh,
    Exp,
    Exp2,
    Expm1,
    Log,
    Log1p,
    Log2,
    Log10,
    Mul,
    Neg,
    Pow,
    Reciprocal,
    ScalarOp,
    Sin,
    Sinh,
    Sqr,
    Sub,
    Tan,
    Tanh,
    TrueDiv,
)
from pytensor.scalar.math import Erf
from pytensor.tensor.elemwise import DimShuffle, Elemwise
from pytensor.tensor.math import Max, Sum
from pytensor.tensor.subtensor import Subtensor
from pytensor.tensor.type import TensorType

from theano.configdefaults import config
from theano.scan_module.gradient.dependence import computed_from, dependents, in_order
from theano.scan_module.gradient.minimum_cut import behind_the_cut
from theano.scan_module.gradient.rules.chosen_operands import choices
from theano.scan_module.step.operation_kinds import is_cheap, is_product
from theano.support.data_classes import dataclass

# Length assumed of a dimension whose length is not known before the loop runs.
NOMINAL_LENGTH = 16
LARGEST_CAPACITY = 2**20
UNBOUNDED = 2**30

EXPONENTIALS = (Exp, Exp2, Expm1, Sinh, Cosh)
ARITHMETIC = (Add, Sub, Mul, TrueDiv, Neg, Reciprocal, Sqr)
# none of which a rewrite has to see next to what the gradient makes of it, as it has exponentials and sigmoids
LONG_BY_XLA = (Log, Log1p, Log2, Log10, Pow, Tanh, Sin, Cos, Tan, ArcTan, Erf)


@dataclass(frozen=True)
class ForwardStep:
    """Facts about the forward step that the backward step may use without saving anything.

    Attributes
    ----------
    available
        Values that the backward loop can read: sequences, states, traces, invariants.
    unavailable
        Inner inputs that it cannot: states of which only the last value exists.
    overwritten
        Inner inputs that it cannot, and that can be saved: places of buffers that later steps write.
    invariants
        Inner inputs that are the same in every step.
    savable
        Selects those values of the step that can be saved, which have one shape in all steps.
    """

    available: Collection[Variable]
    unavailable: Collection[Variable]
    overwritten: Collection[Variable]
    invariants: Collection[Variable]
    savable: Callable[[list[Variable]], set[Variable]]


def choose_saved_values(
    step: ForwardStep,
    backward_outputs: Collection[Variable],
    cotangents: Iterable[Variable],
    policy: str,
) -> list[Variable]:
    """Return the values of the forward step to save.

    Parameters
    ----------
    step
        What is available without saving.
    backward_outputs
        The outputs of the backward step, in terms of forward values and cotangents.
    cotangents
        The placeholders of the cotangents.
    policy
        'auto': the minimum cut; 'all': every value that the backward step reads, or the minimum
        cut if one of them cannot be saved;
        'none': only what cannot be computed again, such as random samples and ``choices``.
    """
    needed = _needed(step, list(backward_outputs), set(cotangents))
    region = _region(step, needed)
    sampled = _samples(region, step.unavailable)
    savable = step.savable(region)
    # A draw is saved in any case: a second one would differ. So might a second choice.
    only_once = sampled | (savable & choices(region, step.available))
    savable |= sampled
    tensors = [variable for variable in needed if isinstance(variable.type, TensorType)]
    if policy == "all" and savable.issuperset(tensors):
        return tensors
    savable -= _of_exponentials(region) - only_once - set(step.overwritten)
    long = _long_by_xla(list(ancestors(backward_outputs)))
    sources = {
        variable
        for variable in region
        if variable in step.unavailable
        or variable in step.overwritten
        or variable in only_once
        or (
            policy != "none"
            and variable.owner is not None
            and variable in savable
            and (variable in long or not is_cheap(variable.owner))
        )
    }
    if not sources:
        return []
    return _minimum_cut(region, sources, set(needed), savable - set(step.unavailable))


def _needed(
    step: ForwardStep, outputs: list[Variable], cotangents: set[Variable]
) -> list[Variable]:
    """Forward values, not available as they are, that nodes of the backward step read."""
    invariant = computed_from(step.invariants, ancestors(outputs, blockers=list(step.available)))
    backward = dependents(cotangents, list(ancestors(outputs, blockers=list(step.available))))
    free = set(step.available) | invariant
    needed: dict[Variable, None] = {}

    def need(variable: Variable) -> None:
        if not (variable in free or variable in backward or isinstance(variable, Constant)):
            needed[variable] = None

    for output in outputs:
        need(output)
    for variable in ancestors(outputs, blockers=list(free)):
        if variable in backward and variable.owner is not None and variable not in free:
            for argument in variable.owner.inputs:
                need(argument)
    return list(needed)


def _region(step: ForwardStep, needed: list[Variable]) -> list[Variable]:
    """Return the values that lie between what is available and what is needed."""
    everything = list(ancestors(needed, blockers=list(step.available)))
    free = set(step.available) | computed_from(step.invariants, everything)
    reached = ancestors(needed, blockers=list(free))
    return [v for v in reached if v not in free and not isinstance(v, Constant)]


def _samples(region: list[Variable], unavailable: Collection[Variable]) -> set[Variable]:
    """Values that come out of a generator's state, so that a second draw would differ."""
    states = set(unavailable)
    sampled = set()
    for variable in in_order(region):
        if variable.owner is not None and any(a in states for a in variable.owner.inputs):
            sampled.add(variable)
            if not isinstance(variable.type, TensorType):
                states.add(variable)
    return sampled


def _of_exponentials(region: list[Variable]) -> set[Variable]:
    """Return the exponentials, which overflow, and sums, products and quotients of them."""
    found: set[Variable] = set()
    for variable in in_order(region):
        node = variable.owner
        if node is None:
            continue
        kind = type(getattr(node.op, "scalar_op", None)) if isinstance(node.op, Elemwise) else None
        if kind in EXPONENTIALS:
            if not _is_below_its_maximum(node.inputs[0]):
                found.add(variable)
        elif kind in ARITHMETIC or isinstance(node.op, DimShuffle | Sum | Max):
            if any(operand in found for operand in node.inputs):
                found.add(variable)
    return found


def _long_by_xla(variables: list[Variable]) -> set[Variable]:
    """Return the functions that XLA on the CPU, which a flag asks for, takes longer for than to store them.

    Next to products they take little, and the memory would be more.
    """
    nodes = [variable.owner for variable in variables if variable.owner is not None]
    if not config.device.startswith("xla:cpu") or any(is_product(node.op) for node in nodes):
        return set()
    return {
        node.outputs[0]
        for node in nodes
        if isinstance(node.op, Elemwise) and isinstance(node.op.scalar_op, LONG_BY_XLA)
    }


def _is_below_its_maximum(variable: Variable) -> bool:
    """Return whether this is ``x - x.max()``, of which no exponential overflows."""
    if not _is_of(variable, Sub):
        return False
    operand, subtracted = variable.owner.inputs  # type: ignore[union-attr]
    while subtracted.owner is not None and isinstance(subtracted.owner.op, DimShuffle):
        subtracted = subtracted.owner.inputs[0]
    largest = subtracted.owner
    return largest is not None and isinstance(largest.op, Max) and largest.inputs[0] is operand


def _is_of(variable: Variable, kind: type[ScalarOp]) -> bool:
    node = variable.owner
    return (
        node is not None
        and isinstance(node.op, Elemwise)
        and isinstance(getattr(node.op, "scalar_op", None), kind)
    )


def _sizes(region: list[Variable]) -> dict[Variable, int]:
    """Bytes of each value, relative to the others, from what is known of the shapes."""
    slices: dict[Variable, int] = {}
    for variable in region:
        if variable.owner is not None and isinstance(variable.owner.op, Subtensor):
            source = variable.owner.inputs[0]
            slices[source] = slices.get(source, 0) + 1
    sizes: dict[Variable, int] = {}
    for variable in in_order(region):
        if not isinstance(variable.type, TensorType):
            sizes[variable] = UNBOUNDED
            continue
        candidates = [_nominal_size(variable)]
        op = None if variable.owner is None else variable.owner.op
        if isinstance(op, Subtensor) and variable.owner.inputs[0] in sizes:
            # gates cut out of one product share its size
            source = variable.owner.inputs[0]
            candidates.append(sizes[source] // slices[source])
        if isinstance(op, Elemwise):
            # operands of equal shape have equal size, whatever is known of it
            candidates += [
                sizes[argument]
                for argument in variable.owner.inputs
                if argument in sizes and argument.type.shape == variable.type.shape
            ]
        sizes[variable] = max(1, min(candidates))
    return sizes


def _nominal_size(variable: Variable) -> int:
    elements = np.prod(
        [NOMINAL_LENGTH if length is None else length for length in variable.type.shape],
        dtype=float,
    )
    return int(min(elements * np.dtype(variable.type.dtype).itemsize, LARGEST_CAPACITY))


def _minimum_cut(
    region: list[Variable],
    sources: set[Variable],
    needed: set[Variable],
    savable: Collection[Variable],
) -> list[Variable]:
    sizes = _sizes(region)
    position = {variable: k for k, variable in enumerate(region)}
    source, sink = 2 * len(region), 2 * len(region) + 1
    edges: dict[tuple[int, int], int] = {}
    for variable, k in position.items():
        entry, leave = 2 * k, 2 * k + 1
        edges[entry, leave] = sizes[variable] if variable in savable else UNBOUNDED
        if variable in sources:
            edges[source, entry] = UNBOUNDED
        if variable in needed:
            edges[leave, sink] = UNBOUNDED
        for argument in () if variable.owner is None else variable.owner.inputs:
            if argument in position:
                edges[2 * position[argument] + 1, entry] = UNBOUNDED
    # values from which the sink can still be reached lie behind the cut that is nearest to it
    behind = behind_the_cut(edges, source, sink)
    return [
        variable
        for variable, k in position.items()
        if 2 * k not in behind
        and 2 * k + 1 in behind
        and variable in savable
        and isinstance(variable.type, TensorType)
    ]
