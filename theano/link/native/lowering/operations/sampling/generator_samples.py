"""Random variables of PyTensor that draw from a generator's words; see ``render/included/generators.inc``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.tensor.type_other import NoneTypeT

from theano.link.native.ir.ir import Buffer, CallRefused, CannotLower, Size, Splat, Value, View
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.scalar_types import DTYPES, FLOATS
from theano.link.native.ir.symbolic import Call, compared
from theano.link.native.lowering.operations.sampling.context import (
    SamplingContext,
    parameter,
    places_in,
)
from theano.link.native.lowering.operations.shapes import numbers_of
from theano.link.native.lowering.registry import lowers
from theano.link.native.lowering.step import Step
from theano.link.native.statements.tasks import (
    AfterOthers,
    ByDistribution,
    Categories,
    DifferentByChance,
    DifferentRows,
    Dirichlet,
    Multinomial,
    NormalRows,
    Permutations,
    Shuffled,
)
from theano.link.native.statements.tasks import SampleFromGenerator as SamplingTask
from theano.pytensor_internals.operations import random
from theano.support.data_classes import dataclass
from theano.tensor.numpy_samplers.generator_samples import SampleFromGenerator
from theano.tensor.numpy_samplers.ufunc_loops import EINSUM, FACTORS, missing_loops

_IS_ZERO = Expression("words of a known generator", "is zero", None, "bool")
_NUMBERS = tuple(DTYPES)
_INTEGERS = tuple(dtype for dtype in DTYPES if dtype not in FLOATS)
_SIGNED = tuple(dtype for dtype in _INTEGERS if dtype != "uint64")


@dataclass(frozen=True)
class Distribution:
    """A random variable's parameters, and what draws it.

    Attributes
    ----------
    dtypes
        Of which types each parameter may be.
    sampler
        Appends the samples; none for those of single numbers.
    name
        What single numbers are called; empty for the operation's own name.
    loops
        Ufuncs whose loops it goes through.
    """

    dtypes: tuple[tuple[str, ...], ...]
    sampler: Callable[[SamplingContext, list[Value]], Buffer] | None = None
    name: str = ""
    loops: tuple[str, ...] = ()


# the call runs again by Python, in which NumPy raises what it raises
_REFUSED = CallRefused, "parameters that NumPy refuses"


def _numbers(count: int, name: str = "") -> Distribution:
    return Distribution((_NUMBERS,) * count, name=name)


def _after_others(name: str) -> Callable[[SamplingContext, list[Value]], Buffer]:
    """Return what appends samples of single numbers, each drawn after a first number for all."""

    def appended(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
        given = [parameter(sampling, value) for value in inputs]
        first = sampling.step.rows_without_gaps("float64", sampling.shape or (1,))
        sampler = AfterOthers(name, len(sampling.shape), tuple(where for _, where in given))
        reads = [view for view, _ in given]
        return sampling.append(sampler, reads, scratch=[first], error=_REFUSED)

    return appended


def _shares(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    (rows,) = inputs
    count, of_row = rows.shape[-1], places_in(sampling, rows.shape[:-1])
    scratch = [sampling.step.rows_without_gaps("float64", (count,)) for _ in range(3)]
    return sampling.append(
        Dirichlet(len(sampling.shape), of_row),
        [sampling.step.view(rows)],
        [count],
        added=[count],
        scratch=scratch,
        error=_REFUSED,
    )


def _normal_rows(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    mean, matrix = inputs
    step, count = sampling.step, mean.shape[-1]
    for length in matrix.shape[-2:]:
        step.sizes.equal(length, count, "a length of a matrix of covariances")
    square = step.sizes.product([count, count])
    of_mean, of_matrix = (
        places_in(sampling, shape) for shape in (mean.shape[:-1], matrix.shape[:-2])
    )
    method = sampling.node.op.sampler.method  # type: ignore[attr-defined]
    step.libraries.add("normal_rows")
    return sampling.append(
        NormalRows(len(sampling.shape), of_mean, of_matrix, method),
        [step.view(mean), step.view(matrix)],
        [count],
        added=[count],
        scratch=[
            step.rows_without_gaps("float64", (size,)) for size in (*[square] * 3, *[count] * 3)
        ],
        error=_REFUSED,
    )


def _multinomial_of(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    trials, p = inputs
    number, of_number = parameter(sampling, trials)
    count, of_row = p.shape[-1], places_in(sampling, p.shape[:-1])
    sampling.step.sizes.check(compared(count, ">", 0), "a category of multinomial samples")
    dtypes = "float64", "int64"
    return sampling.append(
        Multinomial(len(sampling.shape), of_number, of_row, skips=False),
        [number, sampling.step.view(p)],
        [count],
        added=[count],
        scratch=[sampling.step.rows_without_gaps(dtype, (count,)) for dtype in dtypes],
        error=_REFUSED,
    )


def _categories(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    (p,) = inputs
    count, of_row = p.shape[-1], places_in(sampling, p.shape[:-1])
    sums = sampling.step.rows_without_gaps("float64", (count,))
    sampler = Categories(len(sampling.shape), of_row, p.dtype)
    return sampling.append(sampler, [sampling.step.view(p)], [count], scratch=[sums])


def _permutations(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    (x,) = inputs
    step, ndim = sampling.step, len(sampling.shape)
    if not sampling.node.op.sampler.ndims_params[0]:  # type: ignore[attr-defined]
        count = step.size(x, "the length of a permutation")
        step.sizes.check(compared(count, ">=", 0), "a length that is not negative")
        order = step.rows_without_gaps("int64", (count,))
        return sampling.append(Permutations(ndim), [], [count], added=[count], scratch=[order])
    batch = x.ndim - sampling.node.op.sampler.ndims_params[0]
    count, of_array = x.shape[batch], places_in(sampling, x.shape[:batch])
    order = step.rows_without_gaps("int64", (count,))
    sampler = Shuffled(ndim, of_array)
    return sampling.append(sampler, [step.view(x)], [count], added=x.shape[batch:], scratch=[order])


def _different_rows(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    a, *chances, lengths = inputs
    step, ndim = sampling.step, sampling.node.outputs[1].type.ndim - max(a.ndim - 1, 0)  # type: ignore[attr-defined]
    what = "a length of choices"
    shape = [step.size(one, what) for one in numbers_of(step, lengths, ndim, what)]
    for length in shape:
        step.sizes.check(compared(length, ">=", 0), f"{what} that is not negative")
    count = a.shape[0] if a.ndim else step.size(a, "a number of choices")
    wanted = step.sizes.product(shape)
    reads, added = [step.view(a)] if a.ndim else [], [*shape, *a.shape[1:]]
    if chances:
        step.sizes.equal(chances[0].shape[0], count, "a number of probabilities")
        by_chance = DifferentByChance(ndim, bool(a.ndim))
        sizes = ("float64", count), ("float64", count), ("float64", wanted), ("int64", wanted)
        scratch = [step.rows_without_gaps(dtype, (size,)) for dtype, size in sizes]
        reads.append(step.view(chances[0]))
        return sampling.append(by_chance, reads, [count, wanted], added, scratch, _REFUSED)
    # as many as are shuffled, or a table that is mostly empty
    table = step.sizes.binary(step.sizes.binary(wanted, "*", 50), "+", 50)
    table = step.sizes.name(Call("smaller", (count, table)))
    sampler = DifferentRows(ndim, bool(a.ndim))
    scratch = [step.rows_without_gaps("int64", (size,)) for size in (table, wanted)]
    return sampling.append(sampler, reads, [count, wanted, table], added, scratch, _REFUSED)


_LOCATED = (_NUMBERS,) * 2

# A number of each follows from NumPy's draws by sums, products, divisions, and loops of ufuncs.
NATIVE_DRAWS: dict[type, Distribution] = {
    random.UniformRV: _numbers(2),
    random.NormalRV: _numbers(2),
    random.LogNormalRV: _numbers(2),
    random.ExponentialRV: _numbers(1),
    random.GammaRV: _numbers(2),
    random.InvGammaRV: Distribution((_NUMBERS, FLOATS)),
    random.BetaRV: _numbers(2),
    random.WeibullRV: _numbers(1),
    random.LogisticRV: _numbers(2),
    random.LaplaceRV: _numbers(2),
    random.VonMisesRV: _numbers(2),
    random.WaldRV: _numbers(2),
    random.TriangularRV: _numbers(3),
    random.HalfNormalRV: _numbers(2),
    random.StudentTRV: _numbers(3),
    random.CauchyRV: Distribution(_LOCATED, loops=("_cauchy_ppf",)),
    random.HalfCauchyRV: Distribution(_LOCATED, loops=("tan",)),
    random.GumbelRV: Distribution(_LOCATED, loops=("log",)),
    # of a parameter that is divided by, the type is that of the quotient
    random.ParetoRV: Distribution((FLOATS, _NUMBERS), loops=("power",)),
    random.GenGammaRV: Distribution((FLOATS, FLOATS, _NUMBERS), loops=("power",)),
    random.TruncExponentialRV: Distribution(
        (("float64", "int64", "int32"), _NUMBERS, _NUMBERS), loops=("expm1", "log1p")
    ),
    random.PoissonRV: _numbers(1),
    random.GeometricRV: _numbers(1),
    random.NegBinomialRV: _numbers(2),
    random.HyperGeometricRV: Distribution((_SIGNED,) * 3),
    random.BernoulliRV: _numbers(1),
    random.BinomialRV: Distribution((_SIGNED, _NUMBERS)),
    random.BetaBinomialRV: Distribution(
        (_SIGNED, _NUMBERS, _NUMBERS), _after_others("beta_binomial")
    ),
    random.IntegersRV: Distribution((_SIGNED, _SIGNED)),
    random.DirichletRV: Distribution((_NUMBERS,), sampler=_shares),
    random.MvNormalRV: Distribution((_NUMBERS, ("float64",)), sampler=_normal_rows),
    random.MultinomialRV: Distribution((_SIGNED, _NUMBERS), sampler=_multinomial_of),
    random.CategoricalRV: Distribution((FLOATS,), sampler=_categories),
    random.PermutationRV: Distribution((_NUMBERS,), sampler=_permutations),
    random.ChoiceWithoutReplacement: Distribution((_NUMBERS, _SIGNED), sampler=_different_rows),
}


# those of PyMC, which need not be there
_OF_PYMC = {
    "continuous.BetaClippedRV": _numbers(2, "clipped_beta"),
    "continuous.WaldRV": _numbers(3, "shifted_wald"),
    "continuous.MoyalRV": Distribution(_LOCATED, loops=("log",)),
    "continuous.RiceRV": Distribution(_LOCATED, _after_others("rice")),
    # a number of single precision is squared in that
    "continuous.SkewNormalRV": Distribution(
        (_NUMBERS, _NUMBERS, ("float64",)), _after_others("skewnormal")
    ),
    "discrete.DiscreteUniformRV": Distribution((_SIGNED + FLOATS,) * 2, name="integers_to"),
}


def _distribution_of(op: Op) -> Distribution | None:
    """Return the distribution of a random variable's very class, which says how it draws."""
    kind = type(op)
    place = f"{kind.__module__}.{kind.__name__}".removeprefix("pymc.distributions.")
    return NATIVE_DRAWS.get(kind) or _OF_PYMC.get(place)


def why_no_code(node: Apply) -> str:
    """Why a random variable has no code, as far as its types say; empty where it has."""
    op: Any = node.op
    distribution = _distribution_of(op)
    if distribution is None:
        return f"draws of {op.name}"
    if op.dtype not in DTYPES:
        return f"random samples of type {op.dtype}"
    if type(op) is random.ChoiceWithoutReplacement:
        if [variable.ndim for variable in node.inputs[2:]] != list(op.ndims_params):  # type: ignore[attr-defined]
            return "choices without replacement from each of a stack"
    given = [variable.type.dtype for variable in node.inputs[2:]]
    dtypes = distribution.dtypes
    if len(given) > len(dtypes):
        # the probabilities of choices
        dtypes = (dtypes[0], FLOATS, dtypes[1])
    if not all(one in known for one, known in zip(given, dtypes, strict=True)):
        return f"draws of {op.name} with parameters of types {', '.join(given)}"
    loops = distribution.loops
    if isinstance(op, random.MvNormalRV):
        loops = (FACTORS[op.method], EINSUM)
    missing = missing_loops(loops)
    return f"draws of {op.name}: {missing}" if missing else ""


@lowers(SampleFromGenerator)
def sample_from_generator(step: Step, node: Apply, inputs: list[Value]) -> list[Value]:
    """Return the next state's words, and the samples."""
    op: Any = node.op
    distribution = _distribution_of(op.sampler)
    if distribution is None:
        raise CannotLower(f"draws of {op.sampler.name}")
    parameters = inputs[2:]
    shape = _shape_of_samples(step, node, inputs[1], parameters)
    step.libraries |= {"generators", "ufunc_draws"} if distribution.loops else {"generators"}
    words = step.copied(inputs[0])
    words.packed = True
    pickled = step.load(View(words, (), (), (), (0,)))
    step.check(_IS_ZERO, [pickled], CallRefused, "the state of a generator that C does not know")
    sampling = SamplingContext(
        step, node, words, shape, step.temporary("int64", (1,)), SamplingTask
    )
    sampled = (distribution.sampler or _one_by_one)(sampling, parameters)
    ndim = node.outputs[1].type.ndim
    result = View.of(sampled) if ndim else step.load(View(sampled, (), (), (), (0,)))
    return [View.of(words), result]


def _shape_of_samples(
    step: Step, node: Apply, size: Value, parameters: list[Value]
) -> tuple[Size, ...]:
    """Return the shape of the samples, without the dimensions that each of them has."""
    op: Any = node.op
    ndims = op.sampler.ndims_params
    if isinstance(node.inputs[1].type, NoneTypeT):
        batches = [
            Splat(step.of_size(1), value.shape[: value.ndim - ndim])
            for value, ndim in zip(parameters, ndims, strict=True)
            if value.ndim > ndim
        ]
        return step.broadcast_shape(batches) if batches else ()
    ndim = node.outputs[1].type.ndim - op.sampler.ndim_supp  # type: ignore[attr-defined]
    lengths = numbers_of(step, size, ndim, "the size of random samples")
    shape = tuple(step.size(length, "a size of random samples") for length in lengths)
    for length in shape:
        step.sizes.check(compared(length, ">=", 0), "a size of random samples that is not negative")
    return shape


def _one_by_one(sampling: SamplingContext, inputs: list[Value]) -> Buffer:
    """Return samples with their own parameters."""
    node = sampling.node
    sampler: Any = node.op.sampler  # type: ignore[attr-defined]
    given = [parameter(sampling, value) for value in inputs]
    distribution = _distribution_of(sampler)
    assert distribution is not None
    name = distribution.name or sampler.name
    if name == "pareto" and sampling.shape and not isinstance(node.inputs[1].type, NoneTypeT):
        # SciPy then draws an array, of one number, too
        name = "pareto_of_size"
    task = ByDistribution(name, len(sampling.shape), tuple(where for _, where in given))
    return sampling.append(task, [view for view, _ in given], error=_REFUSED)
