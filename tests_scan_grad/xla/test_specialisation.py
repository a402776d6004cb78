"""One program for each shape and each length that is computed before the call."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import theano
import theano.tensor as T

pytest.importorskip("jax")

ROWS = np.arange(30.0).reshape(10, 3)


def programs(function) -> list[int]:
    return [len(program.specialisations) for program in function.vm.programs]


def test_a_slice_has_one_program_for_all_positions():
    data, i, x = theano.shared(ROWS), T.lscalar("i"), T.matrix("x")
    batch = {x: data[i * 4 : (i + 1) * 4]}
    f = theano.function([i], (2 * x).sum(axis=1), givens=batch, mode="XLA")
    for k in (0, 1, 0):
        np.testing.assert_allclose(f(k), 2 * ROWS[4 * k : 4 * k + 4].sum(axis=1))
    assert programs(f) == [1]
    # the last two rows only
    np.testing.assert_allclose(f(2), 2 * ROWS[8:].sum(axis=1))
    assert programs(f) == [2]


@pytest.mark.parametrize("columns", [slice(None), slice(1, None), 2])
@pytest.mark.parametrize("change", [T.set_subtensor, T.inc_subtensor])
def test_a_slice_that_is_written_has_one_program_for_all_positions(columns, change):
    x, i = T.matrix("x"), T.lscalar("i")
    f = theano.function([x, i], change(x[i : i + 3, columns], 7.0), mode="XLA")
    for k in (0, 4, -5):
        expected = ROWS.copy()
        part = expected[k : k + 3, columns]
        part[...] = 7.0 + (part if change is T.inc_subtensor else 0)
        np.testing.assert_allclose(f(ROWS, k), expected)
    assert programs(f) == [1]


def test_a_length_is_known_by_its_value_not_by_what_it_is_made_of():
    lengths = T.lvector("lengths")
    f = theano.function([lengths], T.zeros((lengths.max(), 40)) + 1, mode="XLA")
    assert f([2, 3]).shape == f([3, 1]).shape == (3, 40)
    assert programs(f) == [1]
    assert f([4, 1]).shape == (4, 40)
    assert programs(f) == [2]


def test_a_new_shape_is_not_rewritten_again():
    x = T.matrix("x")
    f = theano.function([x], x.T.dot(x), mode="XLA")
    plan = f.vm.plan
    for rows in (2, 5, 2):
        np.testing.assert_allclose(f(ROWS[:rows]), ROWS[:rows].T @ ROWS[:rows])
    assert f.vm.plan is plan
    assert programs(f) == [2]


def test_a_length_that_the_device_computes_cuts_the_graph():
    x = T.vector("x")
    count = T.cast(T.sqr(x).sum(), "int64")
    f = theano.function([x], T.alloc(x[0], count, 30) * 2, mode="XLA")
    np.testing.assert_allclose(f([1.0, 2.0]), np.full((5, 30), 2.0))
    assert [stage.on_device for stage in f.vm.plan.stages] == [True, True]
    assert not f.vm.plan.reasons


def test_a_large_constant_is_moved_once_and_no_part_of_the_program():
    table, x = T.constant(np.arange(20000.0)), T.vector("x")
    f = theano.function([x], (x * table).sum(), mode="XLA")
    assert float(f(np.ones(20000))) == np.arange(20000.0).sum()
    (stage,) = f.vm.plan.stages
    assert len(stage.inputs) == 2
    small = theano.function([x], (x * T.constant(np.arange(3.0))).sum(), mode="XLA")
    assert float(small(np.ones(3))) == 3
    assert small.vm.plan.stages[0].inputs == (small.maker.fgraph.inputs[0],)


def test_tf32_is_off_unless_the_flag_asks_for_it():
    x = T.fmatrix("x")
    assert str(theano.function([x], x.dot(x), mode="XLA").vm.values.precision) == "HIGHEST"
    with theano.change_flags({"xla.tf32": True}):
        assert str(theano.function([x], x.dot(x), mode="XLA").vm.values.precision) == "DEFAULT"


def test_the_program_that_was_not_used_for_longest_is_dropped():
    x = T.vector("x")
    with theano.change_flags({"xla.programs": 2}):
        f = theano.function([x], x * 2, mode="XLA")
    kept = f.vm.programs[0].specialisations
    lengths = []
    f(np.ones(1))
    f(np.ones(2))
    f(np.ones(1))
    with pytest.warns(UserWarning, match="xla.bucket_lengths has lengths share programs"):
        f(np.ones(3))
    lengths += [values[0][0] for values, _ in kept]
    assert lengths == [(1,), (3,)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(f(np.ones(2)), [2, 2])
    assert [values[0][0] for values, _ in kept] == [(3,), (2,)]
