"""Compiled densities and models are pickled as graphs, and compiled again where they are loaded."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
nutpie = pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import theano.pymc  # noqa: E402
from tests_scan_grad.fresh_process import printed_by  # noqa: E402

ROWS = 8
SHORT = {"draws": 20, "tune": 20, "chains": 2, "cores": 1, "seed": 5, "progress_bar": False}


def model(**coords):
    with pm.Model(coords=coords) as model:
        data = pm.Data("data", np.arange(float(ROWS)))
        scale = pm.HalfNormal("scale")
        slopes = pm.Normal("slopes", shape=ROWS, dims="row" if coords else None)
        pm.Deterministic("twice", 2 * slopes)
        pm.Normal("seen", slopes, scale, observed=data)
    return model


def without_data():
    with pm.Model() as model:
        pm.Normal("x", shape=3)
    return model


@pytest.mark.parametrize("made", [model, without_data])
def test_a_density_is_pickled(made):
    density = theano.pymc.logp_dlogp(made())
    again = pickle.loads(pickle.dumps(density))
    point = np.linspace(-1, 1, density.points.count)
    for ours, theirs in zip(density(point), again(point), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert again.points.names == density.points.names
    again.points.flat(again.points.by_name(point))


def draws_of(compiled):
    return {
        name: values.values for name, values in nutpie.sample(compiled, **SHORT).posterior.items()
    }


def assert_same_draws(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        np.testing.assert_array_equal(values, theirs[name])


def test_a_model_is_pickled_with_its_data():
    compiled = theano.pymc.compile_model(model(row=list("abcdefgh")))
    expected = draws_of(compiled)
    other = compiled.with_data(data=np.zeros(ROWS))
    loaded, loaded_other = pickle.loads(pickle.dumps((compiled, other)))
    assert_same_draws(draws_of(loaded), expected)
    assert_same_draws(draws_of(loaded_other), draws_of(other))
    # other data is bound to what was loaded as to what was pickled
    assert_same_draws(draws_of(loaded.with_data(data=np.zeros(ROWS))), draws_of(other))
    assert_same_draws(draws_of(loaded_other.with_data(data=np.arange(8.0))), expected)
    assert loaded.coords.keys() == compiled.coords.keys() and loaded.dims == compiled.dims
    for seed in (1, 2):
        start = compiled.initial_point_func(seed)
        np.testing.assert_array_equal(loaded.initial_point_func(seed), start)
    assert_same_draws(draws_of(copy.deepcopy(compiled)), expected)


LOADED = """
import pickle
from tests_scan_grad.pymc.test_pickled_models import draws_of
with open({path!r}, "rb") as file:
    density, compiled = pickle.load(file)
point = density.points.flat(compiled.starts[0])
print(*[density(point)[0], *density(point)[1]])
print(*draws_of(compiled)["twice"].ravel().tolist())
"""


def test_another_process_loads_them(tmp_path):
    density = theano.pymc.logp_dlogp(model())
    compiled = theano.pymc.compile_model(model())
    with open(tmp_path / "pickled", "wb") as file:
        pickle.dump((density, compiled), file)
    values, draws = printed_by(LOADED.format(path=str(tmp_path / "pickled")))
    value, gradient = density(density.points.flat(compiled.starts[0]))
    assert values == " ".join(map(str, [value, *gradient]))
    assert draws == " ".join(map(str, draws_of(compiled)["twice"].ravel().tolist()))
