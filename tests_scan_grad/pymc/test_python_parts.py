"""Operations that Python runs, in models that nutpie samples: called back from C."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
nutpie = pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import pytensor  # noqa: E402
import pytensor.tensor as pt  # noqa: E402

import theano.pymc  # noqa: E402
from theano.link.native import NotNativeError  # noqa: E402


def printing():
    """A model with an operation of Python in its density."""
    with pm.Model() as model:
        x = pm.Normal("x", shape=2)
        pm.Potential("printed", pytensor.printing.Print("seen")(x).sum())
    return model


def printing_in_a_loop():
    with pm.Model() as model:
        x = pm.Normal("x")
        path = pytensor.scan(
            lambda before, x: pytensor.printing.Print("seen")(before / 2 + x),
            outputs_info=[pt.constant(np.float64(0))],
            non_sequences=[x],
            n_steps=3,
            return_updates=False,
        )
        pm.Normal("y", path[-1], 1, observed=1.0)
    return model


@pytest.mark.parametrize("made", [printing, printing_in_a_loop])
def test_a_part_of_python_may_be_refused_with_the_reason(made):
    with pytest.raises(NotNativeError, match="Print"):
        theano.pymc.compile_model(made(), allow_python=False)


@pytest.mark.parametrize("made", [printing, printing_in_a_loop])
def test_a_part_of_python_is_called_back(made, capfd, caplog):
    model = made()
    with caplog.at_level("INFO", "pymc"):
        compiled = theano.pymc.compile_model(model)
    assert [r.message for r in caplog.records if "Python runs" in r.message]
    density = theano.pymc.logp_dlogp(model)
    for point in np.random.default_rng(1).normal(size=(3, compiled.n_dim)):
        for found, expected in zip(compiled.logp_func(point), density(point), strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-12)
    trace = nutpie.sample(compiled, draws=15, tune=20, chains=3, cores=2, progress_bar=False)
    assert np.isfinite(trace.posterior["x"]).all()
    assert "seen" in capfd.readouterr().out


class Cube(pytensor.graph.op.Op):
    """A black box with a gradient, as users write them; it may refuse a number."""

    def make_node(self, x):
        return pytensor.graph.basic.Apply(self, [pt.as_tensor(x)], [pt.dvector()])

    def perform(self, node, inputs, outputs):
        if (abs(inputs[0]) > 50).any():
            raise np.linalg.LinAlgError("too far")
        if (inputs[0] == 7).any():
            raise TypeError("no sevens")
        outputs[0][0] = inputs[0] ** 3

    def pullback(self, inputs, outputs, gradients):
        return [3 * inputs[0] ** 2 * gradients[0]]

    def grad(self, inputs, gradients):
        return self.pullback(inputs, None, gradients)


def test_a_black_box_samples_and_its_errors_are_reported():
    with pm.Model() as model:
        x = pm.Normal("x", shape=3)
        pm.Normal("y", Cube()(x), 1, observed=np.array([1.0, 8.0, -1.0]))
        pm.Deterministic("cube", Cube()(x * 2))
    compiled = theano.pymc.compile_model(model)
    point = np.array([0.5, 1.5, -2.0])
    value, gradient = compiled.logp_func(point)
    with model:
        np.testing.assert_allclose(value, model.compile_logp()({"x": point}), rtol=1e-12)
        np.testing.assert_allclose(gradient, model.compile_dlogp()({"x": point}), rtol=1e-12)
    np.testing.assert_allclose(compiled.expand_func(point)[1], 8 * point**3)
    with pytest.raises(ValueError, match="raised LinAlgError: too far"):
        compiled.logp_func(point * 100)
    with pytest.raises(RuntimeError, match="Cube.* raised TypeError: no sevens"):
        compiled.logp_func(np.array([0.0, 7.0, 0.0]))
    trace = nutpie.sample(compiled, draws=50, tune=100, chains=4, cores=2, progress_bar=False)
    kept = trace.posterior
    np.testing.assert_allclose(kept["cube"], 8 * kept["x"] ** 3)


class Refusing(Cube):
    """A black box that refuses the first of a list of numbers, or all."""

    def __init__(self, count):
        self.count, self.refused = count, set()

    def perform(self, node, inputs, outputs):
        number = float(inputs[0][0])
        if len(self.refused) < self.count:
            self.refused.add(number)
        if number in self.refused:
            raise np.linalg.LinAlgError("too far")
        super().perform(node, inputs, outputs)


@pytest.mark.parametrize("strategy", ["support_point", "prior"])
def test_a_point_at_which_a_black_box_fails_is_no_start(strategy):
    def compiled(count):
        with pm.Model() as model:
            cube = pm.Deterministic("cube", Refusing(count)(pm.Normal("x", shape=2)))
            pm.Potential("p", -(cube**2).sum())
        return theano.pymc.compile_model(model, default_initialization_strategy=strategy)

    trace = nutpie.sample(compiled(3), draws=20, tune=20, chains=2, progress_bar=False)
    assert np.isfinite(trace.posterior["x"]).all()
    with pytest.raises(ValueError, match="raised LinAlgError: too far"):
        compiled(100)


def test_threads_call_one_black_box():
    with pm.Model() as model:
        pm.Potential("p", -Cube()(pm.Normal("x", shape=2) / 10).sum())
    function = theano.pymc.compile_model(model).logp_func
    points = np.random.default_rng(2).normal(size=(40, 2))
    expected = [function(point) for point in points]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(function, points))
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one[1], other[1])
