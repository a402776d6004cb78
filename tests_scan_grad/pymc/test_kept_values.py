"""Values kept of a draw: each lands in its own variable, whatever the lengths of data are."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
nutpie = pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402
from pytensor.scan.utils import until  # noqa: E402

import theano.pymc  # noqa: E402

SHORT = {"draws": 3, "tune": 20, "chains": 1, "seed": 1, "progress_bar": False}


def regression(rows=10, **coords):
    """`mu` has as many entries as the data, and `z`, which comes after it, always four."""
    with pm.Model(coords=coords) as model:
        x = pm.Normal("x")
        data = pm.Data("data", np.arange(float(rows)), dims="day")
        mu = pm.Deterministic("mu", x + data, dims="day")
        pm.Deterministic("z", 7 * x * np.ones((2, 2)))
        pm.Normal("seen", mu, 1, observed=data)
    return model


def assert_in_place(posterior, rows):
    x = posterior["x"].values[0]
    np.testing.assert_allclose(posterior["mu"].values[0], x[:, None] + np.arange(rows))
    np.testing.assert_allclose(
        posterior["z"].values[0], np.broadcast_to(7 * x[:, None, None], (3, 2, 2))
    )


@pytest.mark.parametrize("rows", [1, 6, 10, 14])
def test_shapes_follow_the_data(rows):
    compiled = theano.pymc.compile_model(regression()).with_data(data=np.arange(float(rows)))
    assert compiled.shapes["mu"] == (rows,) and compiled.n_expanded == rows + 5
    assert_in_place(nutpie.sample(compiled, **SHORT).posterior, rows)
    # and back
    again = compiled.with_data(data=np.arange(3.0))
    assert_in_place(nutpie.sample(again, **SHORT).posterior, 3)


def test_coordinates_follow_the_data():
    compiled = theano.pymc.compile_model(regression(day=np.arange(100, 110)))
    with pytest.raises(ValueError, match=r"'day' has 10 coordinates, and mu has 6 rows along it"):
        compiled.with_data(data=np.arange(6.0))
    with pytest.raises(ValueError, match=r"'day' has 5 coordinates, and mu has 6 rows along it"):
        compiled.with_data(data=np.arange(6.0), coords={"day": range(5)})
    with pytest.raises(KeyError, match="no dimension 'night' in the model, which has day"):
        compiled.with_data(data=np.arange(6.0), coords={"night": range(6)})
    shorter = compiled.with_data(data=np.arange(6.0), coords={"day": list("abcdef")})
    posterior = nutpie.sample(shorter, **SHORT).posterior
    assert_in_place(posterior, 6)
    assert list(posterior["day"].values) == list("abcdef")
    # the model that it was made from is as before
    assert_in_place(nutpie.sample(compiled.with_data(data=np.arange(10.0)), **SHORT).posterior, 10)


def test_a_draw_of_other_lengths_is_refused_in_c():
    """A value that is one shorter than said, and the next one longer, fill as much room."""
    compiled = theano.pymc.compile_model(regression())
    draw = compiled.expand_func.with_values({v: np.arange(6.0) for v in compiled.shared_var_keys})
    names, shapes = compiled.shape_info[0], compiled.shape_info[2]
    assert dict(zip(names, shapes, strict=True)) == compiled.shapes
    other = theano.pymc.density.of_sampler(0, draw.function, 1, shapes)
    fitting = theano.pymc.density.of_sampler(0, draw.function, 1, [(), (6,), (2, 2)])
    swapped = theano.pymc.density.of_sampler(0, draw.function, 1, [(), (6,), (4, 1)])
    assert status_of_draw(compiled, other) == -3
    assert status_of_draw(compiled, swapped) == -3
    assert status_of_draw(compiled, fitting) == 0


def status_of_draw(compiled, model):
    call = ctypes.CFUNCTYPE(
        ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_void_p] * 3
    )(compiled.compiled_expand_func.address)
    expanded = int(model[3])
    point, made = np.zeros(1), np.zeros(expanded)
    return call(1, expanded, point.ctypes.data, made.ctypes.data, model.ctypes.data)


def loop_that_ends_early(x):
    return pytensor.scan(
        lambda before, x: (before + x, until(before > 3)),
        outputs_info=[pt.constant(np.float64(0))],
        non_sequences=[x],
        n_steps=50,
        return_updates=False,
    )


def _zero(x):
    return pt.minimum(x, 0).astype("int64")


CHANGING = {
    "a loop that ends early": loop_that_ends_early,
    "some elements": lambda x: pt.arange(5.0)[pt.arange(5) < x],
    "where": lambda x: pt.nonzero(pt.arange(5) < x)[0],
    "a slice": lambda x: pt.arange(5.0)[: x.astype("int64")],
    "a range": lambda x: pt.arange(x),
    "repeated": lambda x: pt.repeat(pt.arange(3.0), x.astype("int64")),
}
KEPT = {
    "the last row": lambda x: loop_that_ends_early(x)[-1],
    "a sum": lambda x: pt.arange(5.0)[pt.arange(5) < x].sum(),
    "a stated shape": lambda x: pt.specify_shape(pt.arange(5.0)[_zero(x) :], (5,)),
    "a loop": lambda x: pytensor.scan(
        lambda x: x, non_sequences=[x], n_steps=5, return_updates=False
    ),
    "a mask in a choice": lambda x: pt.switch(pt.arange(5) < x, x, 0.0),
}


def with_value(value):
    with pm.Model() as model:
        x = pm.HalfNormal("x")
        pm.Deterministic("value", value(x))
        pm.Deterministic("after", x * np.ones(7))
        pm.Normal("seen", x, 1, observed=1.0)
    return model


@pytest.mark.parametrize("value", CHANGING.values(), ids=CHANGING)
def test_a_value_whose_length_changes_is_refused_by_name(value):
    model = with_value(value)
    with pytest.raises(ValueError, match="the shape of value depends on the model's free variabl"):
        theano.pymc.compile_model(model)
    assert theano.pymc.compile_model(model, var_names=["after"]).shapes["after"] == (7,)


@pytest.mark.parametrize("name", KEPT)
def test_a_value_that_may_not_change_is_kept(name):
    compiled = theano.pymc.compile_model(with_value(KEPT[name]))
    draw = compiled.expand_func(compiled.initial_point_func(0))
    assert [v.shape for v in draw] == compiled.shape_info[2]
