"""Costs of sequences of labels, and their gradients, as the runtime computes them.

Sequences are shared out among threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.scalar_types import C_TYPES, SUFFIX
from theano.link.native.ir.sharing import ONE, Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import VECTOR_FUNCTION
from theano.link.native.text.looks import between_looks, declared, going_on, look_after
from theano.link.native.text.writer import Writer


@dataclass(eq=False)
class Ctc(Statement):
    """Costs of sequences, and their gradients where they are wanted.

    Attributes
    ----------
    costs
        One for each sequence.
    gradients
        Of the shape of the activations, without gaps; none or one.
    work
        A row of work memory for each sequence.
    activations
        By step, sequence and class.
    labels
        A row for each sequence; negative ones are left out.
    steps
        How many steps of each sequence count.
    """

    costs: View
    gradients: list[View]
    work: View
    activations: View
    labels: View
    steps: View

    as_function = AsFunction.WHERE_IT_REPEATS
    leaves_work = True
    may_fail = False

    def values_read(self) -> Sequence[Operand]:
        return [self.activations, self.labels, self.steps]

    def values_written(self) -> Sequence[Operand]:
        return [self.costs, *self.gradients, self.work]

    def sizes_that_agree(self) -> list[tuple[Size, Size]]:
        sequences = self.costs.shape[0]
        others = [self.work.shape[0], self.activations.shape[1], self.labels.shape[0]]
        return [(sequences, size) for size in (*others, self.steps.shape[0])]

    def way(self, sharing: Sharing, sizes: Sizes) -> Way:
        """Each thread has a range of the sequences."""
        sequences = sizes.find(self.costs.shape[0])
        return ONE if sequences == 1 else sharing.share(0, sequences, "1")

    def part_of_thread(self, sizes: Sizes) -> Share | None:
        way = self.way(Sharing(), sizes)
        return replace(way, first="first", end="end") if isinstance(way, Share) else None

    def touches(self, share: Share | None) -> list[Touch]:
        sequences, second = (None, None) if share is None else (0, 1)
        return [
            Touch(self.activations, second),
            Touch(self.labels, sequences),
            Touch(self.steps, sequences),
            Touch(self.costs, sequences, True),
            Touch(self.work, sequences, True),
            *(Touch(view, second, True) for view in self.gradients),
        ]

    def nanoseconds(self) -> list[Work]:
        passes = 1 + len(self.gradients)
        of_states = (self.activations.shape[0], *self.labels.shape)
        return [
            Work(passes * VECTOR_FUNCTION[self.activations.dtype], self.activations.shape),
            # three exponentials and a logarithm for each of twice as many states as labels
            Work(passes * 8 * VECTOR_FUNCTION["float64"], of_states),
        ]

    def operations(self) -> list[Work]:
        passes = 1 + len(self.gradients)
        of_states = (self.activations.shape[0], *self.labels.shape)
        return [Work(4 * passes, self.activations.shape), Work(24 * passes, of_states)]

    def lines(self, writer: Writer, share: Share | None) -> list[str]:
        dtype = self.activations.dtype
        looks = between_looks() if writer.looks else 0
        named = {
            "x": self.activations,
            "labels": self.labels,
            "steps": self.steps,
            "costs": self.costs,
            "work": self.work,
            **dict(zip(["gradients"], self.gradients, strict=False)),
        }
        places = {name: writer.place(view) for name, view in named.items()}
        strides = {name: [one.text for one in place.strides] for name, place in places.items()}
        pointers = [
            f"{C_TYPES[named[name].dtype]} *const {name} = {place.pointer};"
            for name, place in places.items()
        ]
        steps, sequences, classes = writer.shape(self.activations)
        of_gradient = strides["gradients"][0] if self.gradients else "0"
        sizes = [steps, classes, writer.shape(self.labels)[1], strides["x"][0], strides["x"][2]]
        sizes += [strides["labels"][1], of_gradient]
        gradient = f"gradients + k * ({strides['gradients'][1]})" if self.gradients else "0"
        operands = [
            f"TN_CTC({', '.join(map(str, sizes))})",
            f"x + k * ({strides['x'][1]})",
            f"labels + k * ({strides['labels'][0]})",
            f"steps[k * ({strides['steps'][0]})]",
            f"work + k * ({strides['work'][0]})",
            gradient,
        ]
        first, end = ("0", sequences) if share is None else (share.first, share.end)
        call = f"runtime->ctc_{SUFFIX[dtype]}({', '.join(operands)})"
        return [
            "{",
            *declared(looks),
            *pointers,
            f"for (int64_t k = {first}; k < {end}{going_on(looks)}; k++) {{",
            f"costs[k * ({strides['costs'][0]})] = {call};",
            *look_after(f"{steps} * {classes}", looks),
            "}",
            "}",
        ]
