"""Helpers of tests, by Theano 1.0's names."""

import copy
import functools
import sys
import unittest
import warnings
from collections.abc import Callable, Sequence
from typing import Any
from unittest import SkipTest

import numpy as np

from theano.compile import function, get_default_mode
from theano.configdefaults import config
from theano.gradient import verify_grad as _verify_grad
from theano.tensor.basic import _allclose, _get_atol_rtol, add

__all__ = [
    "AttemptManyTimes",
    "InferShapeTester",
    "MockRandomState",
    "SkipTest",
    "T_OpContractMixin",
    "TestOptimizationMixin",
    "WrongValue",
    "assertFailure_fast",
    "assert_allclose",
    "fetch_seed",
    "seed_rng",
    "str_diagnostic",
    "verify_grad",
]


def fetch_seed(pseed: Any = None) -> int | None:
    """Return the seed `pseed`, or that of the flag ``unittests.rseed``; None for "random"."""
    seed = pseed or config.unittests.rseed
    if seed == "random" or not seed:
        return None
    try:
        return int(seed)
    except ValueError:
        warnings.warn(f"unittests.rseed: expected a number or random, got {seed!r}", stacklevel=2)
        return None


def seed_rng(pseed: object = None) -> int | None:
    """Seed NumPy's global generator with `fetch_seed`, and return the seed."""
    seed = fetch_seed(pseed)
    np.random.seed(seed)
    return seed


def verify_grad(
    op: Callable,
    pt: Sequence,
    n_tests: int = 2,
    rng: object = None,
    *args: object,
    **kwargs: object,
) -> None:
    """Compare a gradient with finite differences: `theano.gradient.verify_grad`, which is seeded."""
    if rng is None:
        seed_rng()
        rng = np.random
    _verify_grad(op, pt, n_tests, rng, *args, **kwargs)


verify_grad.E_grad = _verify_grad.E_grad  # type: ignore[attr-defined]


class MockRandomState:
    """Draws one number always: for tests of what lies at the ends of a range.

    Parameters
    ----------
    val : float
        What `rand` draws. `randint` draws the lowest number if it is 0, and the highest otherwise.
    """

    def __init__(self, val: float):
        self.val = val

    def rand(self, *shape: int) -> np.ndarray:
        return np.full(shape, self.val, dtype="float64")

    def randint(self, minval: int, maxval: int | None = None, size: Any = 1) -> np.ndarray:
        lowest, end = (0, minval) if maxval is None else (minval, maxval)
        return np.full(size, lowest if self.val == 0 else end - 1, dtype="int64")


class TestOptimizationMixin:
    """Assertions on the operations of a compiled function."""

    __test__ = False

    def assertFunctionContains(
        self, f: object, op: object, min: int = 1, max: int = sys.maxsize
    ) -> None:
        """Assert that so many nodes apply `op`."""
        self._assert_count(f, op, lambda node: node.op == op, min, max)

    def assertFunctionContains0(self, f: object, op: object) -> None:
        self.assertFunctionContains(f, op, min=0, max=0)

    def assertFunctionContains1(self, f: object, op: object) -> None:
        self.assertFunctionContains(f, op, min=1, max=1)

    def assertFunctionContainsN(self, f: object, op: object, N: int) -> None:
        self.assertFunctionContains(f, op, min=N, max=N)

    def assertFunctionContainsClass(
        self,
        f: object,
        op: type,
        min: int = 1,
        max: int = sys.maxsize,
    ) -> None:
        """Assert that so many nodes apply an operation of a class."""
        self._assert_count(f, op, lambda node: isinstance(node.op, op), min, max)

    def assertFunctionContainsClassN(self, f: object, op: type, N: int) -> None:
        self.assertFunctionContainsClass(f, op, min=N, max=N)

    def _assert_count(
        self, f: Any, what: object, is_one: Callable, lowest: int, highest: int
    ) -> None:
        nodes = f.maker.fgraph.toposort()
        count = sum(map(is_one, nodes))
        assert lowest <= count <= highest, (
            f"expected {lowest} to {highest} nodes of {what}, found {count} in {nodes}"
        )

    def SkipTest(self, msg: str = "Skip this test") -> None:
        raise SkipTest(msg)


class T_OpContractMixin:
    """Tests of what all operations must keep to; a subclass gives ``ops`` and ``clone``.

    Attributes
    ----------
    ops : list of Op
        Operations of the class, each different.
    other_op : Op
        One that differs from all of them.
    """

    ops: list = []
    other_op: Any = add

    def copy(self, x: object) -> Any:
        return copy.copy(x)

    def deepcopy(self, x: object) -> Any:
        return copy.deepcopy(x)

    def clone(self, op: object) -> Any:
        """Return a new operation like `op`."""
        raise NotImplementedError("expected a subclass that makes a new operation like this one")

    def test_eq(self):
        for k, op in enumerate(self.ops):
            for same in (op, self.copy(op), self.deepcopy(op), self.clone(op)):
                assert op == same
            assert op != self.other_op
            assert all(op != other for j, other in enumerate(self.ops) if j != k)

    def test_hash(self):
        for k, op in enumerate(self.ops):
            for same in (op, self.copy(op), self.deepcopy(op), self.clone(op)):
                assert hash(op) == hash(same)
            assert all(op != hash(other) for j, other in enumerate(self.ops) if j != k)

    def test_name(self):
        assert all(str(op) for op in self.ops)


class InferShapeTester(unittest.TestCase):
    """A test case that looks whether shapes are known without computing the values."""

    mode: Any = None

    def setUp(self):
        seed_rng()
        mode = get_default_mode() if self.mode is None else self.mode
        self.mode = mode.including("canonicalize")

    def _compile_and_check(
        self,
        inputs: Sequence,
        outputs: Sequence,
        numeric_inputs: Sequence,
        cls: Any,
        excluding: Sequence[str] | None = None,
        warn: bool = True,
        check_topo: bool = True,
    ) -> None:
        """Assert that a function of the shapes alone has no operation of `cls`, and is right.

        With `warn`, values of which two lengths are the same are warned of: they would not show
        that lengths are mixed up.
        """
        mode = self.mode.excluding(*excluding) if excluding else self.mode
        if warn and any(map(_has_equal_lengths, inputs, numeric_inputs)):
            warnings.warn(f"{cls}: lengths that are the same may be mixed up", stacklevel=2)
        values = function(inputs, outputs, mode=mode)
        shapes = function(inputs, [output.shape for output in outputs], mode=mode)
        if check_topo:
            assert not any(isinstance(node.op, cls) for node in shapes.maker.fgraph.toposort())
        assert any(isinstance(node.op, cls) for node in values.maker.fgraph.toposort())
        for value, shape in zip(values(*numeric_inputs), shapes(*numeric_inputs), strict=True):
            assert np.all(value.shape == shape), (value.shape, shape)


def _has_equal_lengths(variable: Any, value: Any) -> bool:
    shape = np.shape(value)
    ones = getattr(variable.type, "broadcastable", (False,) * len(shape))
    lengths = [length for length, one in zip(shape, ones, strict=False) if not one]
    return len(set(lengths)) < len(lengths)


def str_diagnostic(expected: object, value: object, rtol: float | None, atol: float | None) -> str:
    """Return text that describes how two arrays differ."""
    both = {"expected": np.asarray(expected), "value": np.asarray(value)}
    lines = [
        f"  {name}: shape {x.shape}, dtype {x.dtype}, strides {x.strides}, "
        + (f"min {x.min()}, max {x.max()}, " if x.size else "")
        + f"{np.isinf(x).sum()} infinite, {np.isnan(x).sum()} nan"
        for name, x in both.items()
    ]
    lines += [f"  {name}: {x}" for name, x in both.items()]
    one, other = both.values()
    if one.shape == other.shape and one.size:
        with np.errstate(invalid="ignore", divide="ignore"):
            absolute = np.abs(other - one)
            relative = absolute / np.abs(one)
        for name, difference in (("absolute", absolute), ("relative", relative)):
            lines.append(
                f"  {name} difference: max {difference.max()}, mean {difference.mean()}, "
                f"median {np.median(difference)}, std {difference.std()}"
            )
    own_atol, own_rtol = _get_atol_rtol(one, other)
    rtol, atol = own_rtol if rtol is None else rtol, own_atol if atol is None else atol
    return "\n".join([*lines, f"  rtol, atol: {rtol} {atol}"]) + "\n"


class WrongValue(Exception):
    """Two arrays that should be close differ."""

    def __init__(self, expected_val: object, val: object, rtol: float | None, atol: float | None):
        super().__init__()
        self.val1, self.val2, self.rtol, self.atol = expected_val, val, rtol, atol

    def __str__(self):
        return "WrongValue\n" + str_diagnostic(self.val1, self.val2, self.rtol, self.atol)


def assert_allclose(
    expected: Any, value: Any, rtol: float | None = None, atol: float | None = None
) -> None:
    """Raise `WrongValue` unless two arrays are close, as their dtypes let expect."""
    if not _allclose(expected, value, rtol, atol):
        raise WrongValue(expected, value, rtol, atol)


class AttemptManyTimes:
    """A decorator of tests that need not pass each time, with another seed in each attempt.

    Parameters
    ----------
    n_attempts : int
        How often it is tried at most.
    n_req_successes : int
        How often it must pass.
    """

    def __init__(self, n_attempts: int, n_req_successes: int = 1):
        if n_attempts < n_req_successes:
            raise ValueError(f"{n_req_successes} of {n_attempts} attempts cannot succeed")
        self.n_attempts, self.n_req_successes = n_attempts, n_req_successes

    def __call__(self, fct: Callable) -> Callable:
        """Wrap a test, or a method of a test case, whose ``setUp`` is called in each attempt."""

        @functools.wraps(fct)
        def attempted(*args: object, **kwargs: object) -> None:
            first, successes = config.unittests.rseed, 0
            case = args[0] if len(args) == 1 and isinstance(args[0], unittest.TestCase) else None
            for attempt in range(self.n_attempts):
                try:
                    config.unittests.rseed = _later_seed(first, attempt)
                    if case is not None:
                        case.setUp()
                    fct(*args, **kwargs)
                    successes += 1
                except Exception:
                    if successes + self.n_attempts - attempt - 1 < self.n_req_successes:
                        raise
                finally:
                    config.unittests.rseed = first
                    if case is not None:
                        case.tearDown()
                if successes == self.n_req_successes:
                    return

        return attempted


def _later_seed(seed: Any, attempt: int) -> Any:
    return seed if seed in (None, "random") else str(int(seed) + attempt)


def assertFailure_fast(f: Callable) -> Callable:
    """Return a test as it is: cycles are never looked for in the way in which some tests fail."""
    return f
