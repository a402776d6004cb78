"""Common parts of samples of a generator whose words are an array."""

from __future__ import annotations

from collections.abc import Sequence

from pytensor.graph.basic import Apply

from theano.link.native.ir.ir import Buffer, Scalar, Size, Splat, Value, View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.lowering.step import Step
from theano.link.native.statements.base import Work
from theano.link.native.statements.costs import ARITHMETIC
from theano.link.native.statements.kernel import Kernel
from theano.link.native.statements.tasks import SampleFromGenerator, SampleFromWords, Where
from theano.support.data_classes import dataclass

# a sample on one thread, roughly: a logarithm and an exponential, or some words
_NANOSECONDS = 60 * ARITHMETIC


@dataclass(frozen=True, eq=False)
class SamplingContext:
    """Common parts of all samples.

    Attributes
    ----------
    words
        The state that advances.
    shape
        Of the samples, without the dimensions that each of them has.
    wrong
        Becomes 1 where a parameter is not right, which ends the step.
    task
        Which generator draws.
    """

    step: Step
    node: Apply
    words: Buffer
    shape: tuple[Size, ...]
    wrong: Buffer
    task: type[SampleFromGenerator] | type[SampleFromWords] = SampleFromWords

    @property
    def dtype(self) -> str:
        """The type of the samples."""
        return self.node.outputs[1].type.dtype

    def append(
        self,
        sampler: object,
        reads: Sequence[View],
        numbers: Sequence[Size] = (),
        added: Sequence[Size] = (),
        scratch: Sequence[Buffer] = (),
        error: tuple[type[Exception], str] | None = None,
    ) -> Buffer:
        """Append samples; the error is raised where a parameter is not right."""
        step, kept = self.step, list(scratch)
        out = step.temporary(self.dtype, (*self.shape, *added) or (1,))
        writes = [View.of(buffer) for buffer in (out, *kept, self.words, self.wrong)]

        kernel = Kernel(
            writes,
            [View.of(self.words), *reads],
            self.task(sampler, len(kept)),
            numbers,
            takes=[Work(_NANOSECONDS, out.shape)],
        )
        step.append(kernel, out, *kept, self.words, self.wrong)
        if error is not None:
            wrong = step.load(View(self.wrong, (), (), (), (0,)))
            step.check(_IS_RIGHT, [wrong], *error)
        return out


_IS_RIGHT = Expression("parameters are right", "is zero", None, "bool")


def parameter(sampling: SamplingContext, value: Value) -> tuple[View, Where]:
    """Return a parameter in memory, and where the one is that belongs to a sample."""
    where = places_in(sampling, value.shape)
    if isinstance(value, Splat | Scalar):
        scalar = value.scalar if isinstance(value, Splat) else value
        return sampling.step.view(scalar), (None,)
    return sampling.step.view(value), where


def places_in(sampling: SamplingContext, shape: Sequence[Size]) -> Where:
    """Return where in an array, which broadcasts to the samples, that of a sample is."""
    sizes, ndim = sampling.step.sizes, len(sampling.shape)
    where: list[int | None] = []
    for d in range(-len(shape), 0):
        one = sizes.find(shape[d]) == 1
        if not one:
            sizes.equal(shape[d], sampling.shape[d], "a length of a parameter of random samples")
        where.append(None if one else ndim + d)
    return tuple(where)
