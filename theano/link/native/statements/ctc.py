"""Costs of sequences of labels, and their gradients, as the runtime computes them.

Sequences are shared out among threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from theano.data_classes import dataclass
from theano.link.native.ir.ir import Size, View
from theano.link.native.ir.sharing import ONE, Share, Sharing, Way
from theano.link.native.ir.sizes import Sizes
from theano.link.native.statements.base import AsFunction, Operand, Statement, Touch, Work
from theano.link.native.statements.costs import VECTOR_FUNCTION


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
