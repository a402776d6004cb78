"""Internals of PyTensor's random variables: their classes, and copies of generators."""
# ruff: noqa: F401 -- this file re-exports

from typing import TypeVar

from pytensor.tensor.random.basic import (
    BernoulliRV,
    BetaBinomialRV,
    BetaRV,
    BinomialRV,
    CategoricalRV,
    CauchyRV,
    ChoiceWithoutReplacement,
    DirichletRV,
    ExponentialRV,
    GammaRV,
    GenGammaRV,
    GeometricRV,
    GumbelRV,
    HalfCauchyRV,
    HalfNormalRV,
    HyperGeometricRV,
    IntegersRV,
    InvGammaRV,
    LaplaceRV,
    LogisticRV,
    LogNormalRV,
    MultinomialRV,
    MvNormalRV,
    NegBinomialRV,
    NormalRV,
    ParetoRV,
    PermutationRV,
    PoissonRV,
    StudentTRV,
    TriangularRV,
    TruncExponentialRV,
    UniformRV,
    VonMisesRV,
    WaldRV,
    WeibullRV,
)
from pytensor.tensor.random.op import RandomVariable
from pytensor.tensor.random.type import (
    RandomGeneratorType,  # the type of NumPy's generators
)
from pytensor.tensor.random.utils import (
    custom_rng_deepcopy as copied_generator,  # another generator in the same state
)

Drawing = TypeVar("Drawing", bound=RandomVariable)


def in_place(op: Drawing) -> Drawing:
    """Return the operator that advances the generator which it is given, instead of a copy."""
    return type(op)(**{**op._props_dict(), "inplace": True})  # type: ignore[attr-defined]
