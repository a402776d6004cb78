"""Arrays of booleans as indices: by the engine as by PyTensor's Python code."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

import theano
from tests_scan_grad.native.lowering.evaluations import (
    difference,
    native_function,
    python_function,
    reference,
)
from tests_scan_grad.native.lowering.lowering_checks import check, numbers, of
from theano.link.native import c_function, report

DTYPES = ("float64", "float32")
SHAPES = [(4, 5), (1, 1), (3, 0), (0, 3), (0, 0), (7, 2)]


def masks(*shape: int, seed: int = 0) -> list[np.ndarray]:
    """One that holds somewhere, one nowhere, one everywhere."""
    some = np.random.default_rng(seed + sum(shape)).integers(0, 2, shape).astype(bool)
    return [some, np.zeros(shape, bool), np.ones(shape, bool)]


def agree_in_functions(inputs, outputs, *calls) -> None:
    """As `check`, in Python functions and of C, not in loops."""
    python, native = python_function(inputs, outputs), native_function(inputs, outputs)
    in_c = c_function(native)
    for values in calls:
        expected = reference(python, values)
        for results in (native(*values), in_c(*values)):
            for ours, theirs in zip(results, expected, strict=True):
                assert difference(ours, theirs) is None, difference(ours, theirs)


READS = {
    "elements": (2, lambda x, m: [x[m], x[m].sum(), x[m] * 2 + x[m].mean()]),
    "rows": (1, lambda x, m: [x[m], pt.exp(x[m]).sum(axis=0)]),
    "rows of two stacks": (1, lambda x, m: [pt.stack([x, -x], axis=1)[m]]),
    "columns": (1, lambda x, m: [x.T[:, m], x.T[::-1, m]]),
    "after an index": (1, lambda x, m: [pt.stack([x, -x])[pt.constant([1]), m]]),
    "where it is computed": (2, lambda x, m: [x[x > 0], x[(x > 0) & m], pt.tanh(x)[~m]]),
    "positions": (2, lambda x, m: [*pt.nonzero(m), *pt.nonzero(x), m.nonzero()[0] + 1]),
    "gradient": (2, lambda x, m: [pytensor.grad((pt.exp(x[m]) ** 2).sum(), x)]),
    "gradient of rows": (1, lambda x, m: [pytensor.grad((pt.exp(x[m]) ** 2).sum(), x)]),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", READS)
def test_reads(name, dtype):
    ndim, build = READS[name]
    x, m = of(None, None, dtype=dtype), of(*[None] * ndim, dtype="bool")
    calls = [
        [numbers(*shape, dtype=dtype), mask] for shape in SHAPES for mask in masks(*shape[:ndim])
    ]
    if "index" in name:
        calls = [call for call in calls if len(call[1]) != 1]
    with np.errstate(all="ignore"):
        agree_in_functions([x, m], build(x, m), *calls)


UPDATES = {
    "number": (2, lambda x, m, y: [y[0, 0]]),
    "literal": (2, lambda x, m, y: [pt.constant(2.5, dtype=x.dtype)]),
    "values": (2, lambda x, m, y: [y.flatten()]),
    "number of rows": (1, lambda x, m, y: [y[0, 0]]),
    "rows": (1, lambda x, m, y: [y]),
    "one row": (1, lambda x, m, y: [y[0], y[:1]]),
    "one column": (1, lambda x, m, y: [y[:, :1]]),
}


@pytest.mark.parametrize("dtype", [*DTYPES, "int32"])
@pytest.mark.parametrize("name", UPDATES)
def test_updates(name, dtype):
    ndim, build = UPDATES[name]
    x, y, m = (
        of(None, None, dtype=dtype),
        of(None, None, dtype=dtype),
        of(*[None] * ndim, dtype="bool"),
    )
    outputs = []
    for value in build(x, m, y):
        if "one" in name and value.ndim == 2:
            value = pt.specify_broadcastable(value, 1 if "column" in name else 0)
        outputs += [pt.set_subtensor(x[m], value), pt.inc_subtensor(x[m], value)]
    calls = []
    for shape in SHAPES:
        for mask in masks(*shape[:ndim]):
            held = int(mask.sum())
            given = {"rows": (held, shape[1]), "one column": (held, 1)}.get(name, (1, shape[1]))
            given = (1, held) if name == "values" else (1, 1) if "number" in name else given
            calls.append([numbers(*shape, dtype=dtype), numbers(*given, dtype=dtype), mask])
    check([x, y, m], outputs, *calls)


def test_updates_of_other_dimensions():
    x, m, n = of(None, None, None), of(None, dtype="bool"), of(None, None, dtype="bool")
    y, z = of(None, None, None), of(None, None)
    outputs = [
        pt.set_subtensor(x[:, m], y),
        pt.inc_subtensor(x[:, :, m], 1.5),
        pt.inc_subtensor(x[:, n], z),
        pt.set_subtensor(x[n.T], z[:1].T),
    ]
    first, both = np.array([True, False, True]), masks(3, 3)[0]
    values = [numbers(3, 3, 3), first, both, numbers(3, 2, 3), numbers(3, int(both.sum()))]
    check([x, m, n, y, z], outputs, values)


def test_truth_values_are_updated():
    x, m = of(None, dtype="bool"), of(None, dtype="bool")
    outputs = [pt.set_subtensor(x[m], np.array(True)), pt.inc_subtensor(x[m], np.array(True))]
    check([x, m], outputs, *([masks(5, seed=1)[0], n] for n in masks(5)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_masks_that_are_constant(dtype):
    x, y = of(None, None, dtype=dtype), of(None, dtype=dtype)
    for rows, both in zip(masks(4), masks(4, 5), strict=True):
        outputs = [
            x[rows],
            x[both],
            x.T[:, rows],
            pt.set_subtensor(x[both], 1.0),
            pt.inc_subtensor(x[both], y),
            pt.set_subtensor(x[rows], 1.0),
            pt.inc_subtensor(x.T[:, rows], y[0]) if both.any() else x,
            pytensor.grad((x[both] ** 2).sum(), x),
        ]
        check([x, y], outputs, [numbers(4, 5, dtype=dtype), numbers(int(both.sum()), dtype=dtype)])


def test_missing_data_in_a_loop():
    """A step combines a mask that is known before the loop with one that differs in each step."""
    x, seen, m = of(None, None), of(None, None, dtype="bool"), of(None, dtype="bool")

    def step(row, present, mean, m):
        known = pt.set_subtensor(mean[present], 0.5)
        known = pt.inc_subtensor(known[m], row[m])
        return known + row[m].sum() * 0.1

    means, _ = theano.scan(step, sequences=[x, seen], outputs_info=[pt.zeros(3)], non_sequences=[m])
    outputs = [means, theano.grad(means.sum(), x)]
    f = theano.function([x, seen, m], outputs)
    told = report(f)
    assert not told.calls and all(loop.reason is None for loop in told.loops), str(told)
    python = python_function([x, seen, m], outputs)
    for mask in masks(3):
        values = [numbers(5, 3), masks(5, 3)[0], mask]
        for ours, theirs in zip(f(*values), python(*values), strict=True):
            assert difference(ours, theirs) is None


def test_a_mask_of_another_shape_is_refused():
    x, m = of(None), of(None, dtype="bool")
    for output in (x[m], pt.set_subtensor(x[m], 1.0)):
        f = theano.function([x, m], output)
        assert not report(f).calls
        with pytest.raises(IndexError, match="boolean index did not match") as failure:
            f(numbers(3), np.ones(4, bool))
        assert "Subtensor" in str(failure.value)


@pytest.mark.parametrize("update", [pt.set_subtensor, pt.inc_subtensor])
def test_values_that_are_too_many_are_refused(update):
    x, m, y = of(None), of(None, dtype="bool"), of(None)
    f = theano.function([x, m, y], update(x[m], y))
    mask = np.array([True, True, False])
    for count in (0, 3, 4):
        with pytest.raises(ValueError) as failure:
            f(numbers(3), mask, numbers(count))
        assert "Subtensor" in str(failure.value)
    # one value is for all
    np.testing.assert_array_equal(f(np.zeros(3), mask, np.ones(1)), [1, 1, 0])
    rows = of(None, None, dtype="bool")
    looped, _ = theano.scan(lambda m, x, y: update(x[m], y), rows, None, [x, y])
    g = theano.function([rows, x, y], looped)
    assert not report(g).calls
    with pytest.raises(ValueError, match="Subtensor"):
        g(np.ones((2, 3), bool), np.zeros(3), np.ones(2))


def test_shared_variables_are_updated_where_a_mask_holds():
    table, m, y = theano.shared(np.zeros(4), "table"), of(None, dtype="bool"), of(None)
    f = theano.function([m, y], [], updates=[(table, pt.inc_subtensor(table[m], y))])
    assert not report(f).calls
    mask = np.array([True, False, True, False])
    f(mask, np.array([1.0, 2.0]))
    with pytest.raises(ValueError):
        f(mask, np.ones(3))
    np.testing.assert_array_equal(table.get_value(), [1, 0, 2, 0])
