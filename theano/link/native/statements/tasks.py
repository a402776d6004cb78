"""Tasks of kernels, one class for each; `render/kernels/` writes them.

The arrays and numbers of a kernel come in an order that belongs to its task: what is written, work
memory, what is read; then the numbers.
"""

from __future__ import annotations

from typing import Any

from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Symbolic
from theano.support.data_classes import dataclass

# ---- elements ----


@dataclass(frozen=True)
class WriteEye:
    """Ones on a diagonal, given how far right of the main one it is, and zeros elsewhere."""


@dataclass(frozen=True)
class WriteRange:
    """Numbers at equal distances, given the first and the distance."""


@dataclass(frozen=True)
class TakeDiagonal:
    """Elements along two axes at once, from so far down and right; their axis comes last."""

    axes: tuple[int, int]
    down: int
    right: int


@dataclass(frozen=True)
class Convolve:
    """Sums of products of vectors and of others backwards, given the first shift."""


@dataclass(frozen=True)
class Computed:
    """A number of a scalar loop that an expression makes of others, or of literals."""

    name: str
    dtype: str
    expression: Expression
    operands: tuple[Symbolic, ...]
    dtypes: tuple[str, ...]


@dataclass(frozen=True)
class LoopOnNumbers:
    """For each element a loop over single numbers.

    Attributes
    ----------
    inputs
        The names and types of what it begins with; the first of them are its states.
    computations
        What a turn computes, in order.
    results
        What states become, and then the condition on which it ends, if it has one.
    states
        How many states there are.
    """

    inputs: tuple[tuple[str, str], ...]
    computations: tuple[Computed, ...]
    results: tuple[Symbolic, ...]
    states: int


# ---- matrices ----


@dataclass(frozen=True)
class MultiplyStacks:
    """The products of matrices of two stacks, of integers or booleans."""


# ---- indices ----


@dataclass(frozen=True)
class IndexedElements:
    """Elements of an array, given last, that arrays and numbers of indices select.

    Attributes
    ----------
    ndim
        How many dimensions the array has.
    axes
        Those that have an array, or a number, of indices.
    dtypes
        For each of them the type of its array of indices; none for a number.
    common
        How many dimensions the arrays of indices have together.
    first
        The dimension of the result where those of the arrays begin.
    """

    ndim: int
    axes: tuple[int, ...]
    dtypes: tuple[str | None, ...]
    common: int
    first: int

    @property
    def others(self) -> list[int]:
        """The dimensions that are selected as a whole."""
        return [d for d in range(self.ndim) if d not in self.axes]

    @property
    def arrays(self) -> int:
        """Return how many arrays of indices there are."""
        return sum(dtype is not None for dtype in self.dtypes)


@dataclass(frozen=True)
class IndexedGather:
    """Copy what is selected, from each of a stack of so many dimensions."""

    gathered: IndexedElements
    stacked: int = 0


@dataclass(frozen=True)
class IndexedScatter:
    """Set what is selected ('set'), or combine it ('add', 'or') with an array, or with the first number."""

    gathered: IndexedElements
    operation: str


@dataclass(frozen=True)
class FindPositions:
    """The positions where a mask holds, one vector for each of its dimensions."""


@dataclass(frozen=True)
class UpdateWhere:
    """Set or combine, as above, elements where a mask of so many dimensions holds, from an axis on."""

    axis: int
    masked: int
    operation: str


# ---- random samples ----


@dataclass(frozen=True)
class SampleUniforms:
    """Numbers between 0 and 1 of the generator MRG31k3p; its states go on."""


@dataclass(frozen=True)
class SampleTruncated:
    """Nearer samples in place of normal ones that are far, given half their number."""


@dataclass(frozen=True)
class MultinomialCounts:
    """Counts of each category in uniform samples, given how many there are of a row."""


@dataclass(frozen=True)
class MultinomialChoices:
    """The categories of uniform samples, with or without replacement."""

    replace: bool


@dataclass(frozen=True)
class SampleFromWords:
    """Samples of NumPy's `RandomState`, whose words are an array.

    Written are the samples, so much work memory, the words, and whether a parameter is not right.

    Attributes
    ----------
    sampler
        The samples, as one of the classes below.
    works
        How many arrays are work memory.
    """

    sampler: Any
    works: int


@dataclass(frozen=True)
class SampleFromGenerator:
    """Samples of NumPy's `Generator`, whose words are an array; otherwise as `SampleFromWords`."""

    sampler: Any
    works: int


# of each dimension of a parameter the dimension of the samples, or none where there is one of it
Where = tuple[int | None, ...]


@dataclass(frozen=True)
class ByDistribution:
    """Single numbers of a distribution, with parameters that may be arrays."""

    distribution: str
    ndim: int
    where: tuple[Where, ...]


@dataclass(frozen=True)
class AfterOthers:
    """The same, where each sample is drawn after a first number for all of them."""

    distribution: str
    ndim: int
    where: tuple[Where, ...]


@dataclass(frozen=True)
class Dirichlet:
    """Rows of shares of 1, given where a row of parameters is."""

    ndim: int
    of_row: Where


@dataclass(frozen=True)
class NormalRows:
    """Rows of normal numbers, given where a mean and a matrix of covariances are.

    Attributes
    ----------
    factor
        Which factor of the matrix is taken: 'cholesky', 'eigh' or 'svd'.
    """

    ndim: int
    of_mean: Where
    of_matrix: Where
    factor: str


@dataclass(frozen=True)
class Categories:
    """Positions in rows of probabilities, given where a row is, and the type in which it is summed."""

    ndim: int
    of_row: Where
    dtype: str


@dataclass(frozen=True)
class Shuffled:
    """Arrays in another order along their first dimension, given where an array is."""

    ndim: int
    of_array: Where


@dataclass(frozen=True)
class DifferentRows:
    """Rows of an array, or integers below its length, in so many dimensions, none of them twice."""

    ndim: int
    of_array: bool


@dataclass(frozen=True)
class DifferentByChance:
    """The same by probabilities."""

    ndim: int
    of_array: bool


@dataclass(frozen=True)
class Permutations:
    """Integers below a number, shuffled."""

    ndim: int


@dataclass(frozen=True)
class EvenChoices:
    """Elements of a vector, or integers below a number, all as probable."""

    ndim: int
    of_vector: bool
    replace: bool


@dataclass(frozen=True)
class ChoicesByProbability:
    """The same by probabilities, whose sum is so near to 1."""

    ndim: int
    of_vector: bool
    replace: bool
    tolerance: float


@dataclass(frozen=True)
class Multinomial:
    """Counts of each category in a number of trials.

    Attributes
    ----------
    of_number, of_row
        Where the number of trials and the probabilities are.
    skips
        Whether no number is taken for a category that is certain.
    """

    ndim: int
    of_number: Where
    of_row: Where
    skips: bool
