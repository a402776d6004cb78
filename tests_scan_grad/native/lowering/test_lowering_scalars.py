"""Every scalar operation of PyTensor, over dtypes, agrees with its own ``perform``."""

from __future__ import annotations

import inspect
import itertools
import sys

import numpy as np
import pytensor.scalar.math as scalar_math
import pytensor.tensor as pt
import pytest
from pytensor.scalar import basic
from pytensor.tensor.elemwise import Elemwise

from tests_scan_grad.native.lowering.evaluations import (
    difference,
    native_function,
    native_loop,
    python_function,
    reference,
)
from theano.pytensor_internals.operations.scalar import Angle

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
DTYPES = ("bool", *INTEGERS, "float32", "float64")
MIXED = (
    ("int8", "float32"),
    ("float32", "float64"),
    ("int32", "float32"),
    ("int64", "uint64"),
    ("uint64", "int64"),
    ("uint8", "int8"),
    ("bool", "int16"),
    ("float64", "int8"),
    ("int8", "uint32"),
)
# fmt: off
FLOATS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.7, 0.2, -0.2, 1e-3, 1e-8, 0.9,
    -0.95, 7.25, 12.0, -12.5, 30.0, 90.0, -90.0, 800.0, -800.0, 1e10, np.inf, -np.inf, np.nan,
)
# fmt: on


def values(dtype: str) -> np.ndarray:
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("float"):
        return np.array(FLOATS, dtype)
    info = np.iinfo(dtype)
    near = [n for n in (-100, -7, -3, -2, -1, 0, 1, 2, 3, 7, 10, 100) if n >= info.min]
    return np.array([info.min, info.min + 1, *near, info.max - 1, info.max], dtype)


def small(dtype: str) -> np.ndarray:
    """A few numbers, for operations of many operands."""
    if dtype == "bool":
        return np.array([False, True])
    if dtype.startswith("float"):
        return np.array([0.0, -1.5, 0.3, 0.8, 2.0, 11.0, np.inf, -np.inf, np.nan], dtype)
    return values(dtype)[1:-1:2]


# where scalar operations are; some moved from PyTensor to this package in 3.3
MODULES = tuple(dict.fromkeys((basic, scalar_math, sys.modules[Angle.__module__])))

# takes complex numbers, has no code, or is not one operation
NOT_HERE = {
    "BinaryBitOp",
    "BinaryScalarOp",
    "Complex",
    "ComplexFromPolar",
    "Composite",
    "FixedLogicalComparison",
    "LogicalComparison",
    "ScalarInnerGraphOp",
    "ScalarOp",
    "UnaryBitOp",
    "UnaryScalarOp",
    "Cast",
    "ScalarMaximum",
    "ScalarMinimum",
}
# PyTensor has no C code for them either
WITHOUT_CODE = {
    "BetaIncInv",
    "GammaIncCInv",
    "GammaIncInv",
    "Grad2F1Loop",
    "Hyp2F1",
    "Ive",
    "Jv",
    "Kve",
    "Owens_t",
    "PolyGamma",
} | ({"NdtriExp"} & set(vars(scalar_math)))


def operations() -> dict[str, basic.ScalarOp]:
    """One instance of each class of scalar operations."""
    found = {}
    for module in MODULES:
        for instance in vars(module).values():
            kind = type(instance)
            if not isinstance(instance, basic.ScalarOp) or kind.__module__ != module.__name__:
                continue
            if kind.__name__ not in NOT_HERE | WITHOUT_CODE:
                found[kind.__name__] = instance
    return found


def test_no_operation_is_forgotten():
    classes = {
        name
        for module in MODULES
        for name, kind in inspect.getmembers(module, inspect.isclass)
        if issubclass(kind, basic.ScalarOp) and kind.__module__ == module.__name__
        if not name.startswith("_")
    }
    assert classes == set(operations()) | NOT_HERE | WITHOUT_CODE


def _signatures(op: basic.ScalarOp):
    count = op.nin if op.nin > 0 else 2
    same = [(dtype,) * count for dtype in DTYPES]
    if count == 1:
        return same
    if count == 2:
        return [*same, *MIXED]
    return [*same, ("bool", "float32", "float32")[:count], ("int8", "float32", "float64")[:count]]


def _operands(op: basic.ScalarOp, dtypes) -> list[np.ndarray]:
    pick = values if len(dtypes) < 3 else small
    if isinstance(op, scalar_math.J0 | scalar_math.J1):
        # far from zero neither has digits, and at infinity SciPy has no limit
        return [np.array([x for x in values(dtypes[0]) if abs(float(x)) < 1e4], dtypes[0])]
    grids = np.meshgrid(*(pick(dtype) for dtype in dtypes), indexing="ij")
    operands = [np.ascontiguousarray(grid.ravel()) for grid in grids]
    if isinstance(op, basic.Pow) and np.result_type(*dtypes).kind in "iu":
        # negative powers of integers are an error, tested below
        kept = operands[1].astype(object) >= 0
        operands = [operand[kept] for operand in operands]
    return operands


# perform computes these in half or single precision, and rounds only then to the result's type
ROUGH = {("Softplus", "bool"): 2e-3, ("Angle", "float32"): 1e-6, ("Angle", "int16"): 1e-6}
ROUGH |= {("Angle", "int8"): 1e-3, ("Angle", "bool"): 1e-3, ("Angle", "uint8"): 1e-3}


def _takes(op: basic.ScalarOp, inputs, operands) -> bool:
    """Return whether PyTensor and its Python code accept these types."""
    try:
        output = Elemwise(op)(*inputs)
        if output.dtype.startswith("complex") or output.dtype == "float16":
            return False
        reference(python_function(inputs, [output]), operands)
    except (TypeError, NotImplementedError, AttributeError):
        return False
    return True


def compare(op: basic.ScalarOp, signatures) -> int:
    """Compare one operation on operands of each of the types; the number that were taken."""
    inputs, outputs, operands = [], [], []
    for dtypes in signatures:
        arrays = _operands(op, dtypes)
        own = [pt.vector(dtype=dtype) for dtype in dtypes]
        if _takes(op, own, arrays):
            inputs.append(own)
            outputs.append(Elemwise(op)(*own))
            operands.append(arrays)
    flat = list(itertools.chain.from_iterable(inputs))
    flat_values = list(itertools.chain.from_iterable(operands))
    actual = native_loop(flat, outputs)(*flat_values)
    expected = reference(python_function(flat, outputs), flat_values)
    wrong = []
    for own, arrays, ours, theirs in zip(inputs, operands, actual, expected, strict=True):
        rough = ROUGH.get((type(op).__name__, str(own[0].dtype)))
        if rough is not None:
            np.testing.assert_allclose(ours, theirs, rough)
            continue
        what = difference(ours, theirs)
        if what is not None:
            at = np.argwhere(
                ~np.isclose(ours.astype(float), theirs.astype(float), 1e-9, 1e-9, equal_nan=True)
            )
            numbers = [array[at[0]] for array in arrays] if len(at) else "?"
            wrong.append(f"{[x.dtype for x in own]} -> {theirs.dtype} of {numbers}: {what}")
    assert not wrong, "\n".join(wrong)
    return len(outputs)


@pytest.mark.parametrize("name", sorted(operations()))
def test_operation(name):
    op = operations()[name]
    assert compare(op, _signatures(op))


FUNCTIONS = "sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arctanh exp log sqrt".split()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_functions_where_there_is_no_number(dtype):
    """Compilers know identities, such as for cos(atan(x)), not all of which hold for NaN."""
    x = pt.vector(dtype=dtype)
    pairs = list(itertools.product(FUNCTIONS, FUNCTIONS))
    outputs = [getattr(pt, outer)(getattr(pt, inner)(x)) for outer, inner in pairs]
    operands = [np.array([np.nan, np.inf, -np.inf, 0.0, -0.25, 0.75], dtype)]
    expected = reference(python_function([x], outputs), operands)
    for pair, ours, theirs in zip(
        pairs, native_function([x], outputs)(*operands), expected, strict=True
    ):
        np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs), "(".join(pair))


def test_casts():
    """Between all types, of numbers that both hold."""
    inputs, outputs, operands = [], [], []
    for source, target in itertools.product(DTYPES, DTYPES):
        numbers = values(source)
        if target in INTEGERS:
            low, high = np.iinfo(target).min, np.iinfo(target).max
            fits = [x == x and low <= x <= high and abs(x) < 2.0**64 for x in numbers.tolist()]
            numbers = numbers[np.array(fits)]
        inputs.append(pt.vector(dtype=source))
        outputs.append(Elemwise(basic.Cast(basic.get_scalar_type(target)))(inputs[-1]))
        operands.append(numbers)
    actual = native_loop(inputs, outputs)(*operands)
    expected = reference(python_function(inputs, outputs), operands)
    for x, ours, theirs in zip(inputs, actual, expected, strict=True):
        what = difference(ours, theirs)
        assert what is None, f"{x.dtype} to {theirs.dtype}: {what}"


@pytest.mark.parametrize("dtype", INTEGERS)
def test_a_whole_number_has_no_negative_powers(dtype):
    x, y = pt.vector("x", dtype=dtype), pt.vector("y", dtype=dtype)
    power = native_loop([x, y], [x**y])
    assert power(np.array([2, 3], dtype), np.array([3, 0], dtype))[0].tolist() == [8, 1]
    if not dtype.startswith("u"):
        with pytest.raises(ValueError, match="negative integer powers"):
            power(np.array([2, 3], dtype), np.array([3, -1], dtype))
        assert power(np.array([2, 3], dtype), np.array([3, 0], dtype))[0].tolist() == [8, 1]


def test_complex_numbers_have_no_code():
    x = pt.zvector("x")
    with pytest.raises(AssertionError, match="complex128"):
        native_loop([x], [x * x])
