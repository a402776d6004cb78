"""With ``xla.generators=jax`` JAX's generators draw what PyTensor's random variables are."""

from __future__ import annotations

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from scipy import stats

import theano
from theano.link.xla import report

pytest.importorskip("jax")

COUNT = 40_000


def compiled(outputs, updates, generators="jax", mode="XLA", inputs=()):
    with theano.change_flags({"xla.generators": generators}):
        return theano.function([*inputs], outputs, updates=updates, mode=mode)


def shared_generator(seed=1, kind="PCG64"):
    return pytensor.shared(np.random.Generator(getattr(np.random, kind)(seed)))


# the samples of each are numbers, or rows whose columns are looked at one by one
DISTRIBUTIONS = {
    "uniform": lambda **of: pt.random.uniform(-1.0, 3.0, **of),
    "normal": lambda **of: pt.random.normal(1.0, 2.0, **of),
    "normal, in float32": lambda **of: pt.random.normal(1.0, 2.0, dtype="float32", **of),
    "lognormal": lambda **of: pt.random.lognormal(0.5, 0.7, **of),
    "halfnormal": lambda **of: pt.random.halfnormal(1.0, 2.0, **of),
    "exponential": lambda **of: pt.random.exponential(2.0, **of),
    "gamma": lambda **of: pt.random.gamma(0.7, scale=2.0, **of),
    "invgamma": lambda **of: pt.random.invgamma(3.0, 2.0, **of),
    "beta": lambda **of: pt.random.beta(2.0, 0.6, **of),
    "weibull": lambda **of: pt.random.weibull(1.5, **of),
    "logistic": lambda **of: pt.random.logistic(1.0, 2.0, **of),
    "laplace": lambda **of: pt.random.laplace(1.0, 2.0, **of),
    "gumbel": lambda **of: pt.random.gumbel(1.0, 2.0, **of),
    "cauchy": lambda **of: pt.random.cauchy(1.0, 2.0, **of),
    "halfcauchy": lambda **of: pt.random.halfcauchy(1.0, 2.0, **of),
    "pareto": lambda **of: pt.random.pareto(2.5, 2.0, **of),
    "t": lambda **of: pt.random.t(4.0, 1.0, 2.0, **of),
    "wald": lambda **of: pt.random.wald(2.0, 3.0, **of),
    "triangular": lambda **of: pt.random.triangular(-1.0, 0.5, 2.0, **of),
    "poisson": lambda **of: pt.random.poisson(3.5, **of),
    "geometric": lambda **of: pt.random.geometric(0.3, **of),
    "negative_binomial": lambda **of: pt.random.negative_binomial(3.0, 0.4, **of),
    "bernoulli": lambda **of: pt.random.bernoulli(0.3, **of),
    "binomial": lambda **of: pt.random.binomial(12, 0.3, **of),
    "beta_binomial": lambda **of: pt.random.betabinom(12, 2.0, 3.0, **of),
    "integers": lambda **of: pt.random.integers(-3, 9, **of),
    "categorical": lambda **of: pt.random.categorical([0.2, 0.5, 0.3], **of),
    "multinomial": lambda **of: pt.random.multinomial(7, [0.2, 0.5, 0.3], **of),
    "multivariate_normal": lambda **of: pt.random.multivariate_normal(
        np.array([1.0, 2.0]), np.array([[2.0, 0.8], [0.8, 1.0]]), **of
    ),
    "dirichlet": lambda **of: pt.random.dirichlet([0.4, 2.0, 1.0], **of),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distributions_are_those_of_numpy(name):
    generator = shared_generator()
    _, samples = DISTRIBUTIONS[name](size=(COUNT,), rng=generator, return_next_rng=True)
    by_jax = compiled(samples, [])
    (drawn,) = report(by_jax).sampled_by_jax
    assert name.startswith(drawn)
    ours, theirs = by_jax(), compiled(samples, [], mode="FAST_COMPILE")()
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert not np.array_equal(ours, theirs)
    columns = ours.reshape(COUNT, -1).T, theirs.reshape(COUNT, -1).T
    for one, other in zip(*columns, strict=True):
        assert stats.ks_2samp(one, other).pvalue > 1e-3
        if "cauchy" not in name and name != "pareto":
            error = np.sqrt((one.var() + other.var()) / COUNT)
            assert abs(one.mean() - other.mean()) < 4 * error


def test_samples_have_their_own_parameters():
    mean = pt.dmatrix("mean")
    generator = shared_generator()
    _, samples = pt.random.normal(mean, [0.1, 1.0], rng=generator, return_next_rng=True)
    _, rows = pt.random.dirichlet(abs(mean) + 1, size=(4, 5), rng=generator, return_next_rng=True)
    f = compiled([samples, rows], [], inputs=[mean])
    means = np.arange(10.0).reshape(5, 2) * 100
    found, shares = f(means)
    assert found.shape == (5, 2)
    assert (abs(found - means) < 6).all() and (abs(found - means)[:, 0] < 0.6).all()
    np.testing.assert_allclose(shares.sum(-1), np.ones((4, 5)))


def in_a_loop(generator, steps=6):
    def step(rng, state):
        following, first = pt.random.normal(state, 1.0, rng=rng, return_next_rng=True)
        _, same = pt.random.normal(state, 1.0, rng=rng, return_next_rng=True)
        last, counted = pt.random.poisson(3.0, size=(2,), rng=following, return_next_rng=True)
        return last, 0.5 * first + counted.sum(), first, same, counted

    last, states, *drawn = pytensor.scan(
        step,
        outputs_info=[generator, pt.as_tensor(np.float64(0)), None, None, None],
        n_steps=steps,
        return_updates=False,
    )
    return last, [states, *drawn]


@pytest.mark.parametrize("kind", ["PCG64", "MT19937"])
def test_draws_in_a_loop(kind):
    generator = shared_generator(kind=kind)
    last, outputs = in_a_loop(generator)
    f = compiled(outputs, [(generator, last)])
    found = report(f)
    assert sorted(found.sampled_by_jax) == ["normal", "poisson"]
    assert {record.operation for record in found.host} == {"KeyOfGenerator", "GeneratorOfKey"}
    calls = [f(), f()]
    assert type(generator.get_value().bit_generator).__name__ == kind
    for (first, *_), other in zip([calls[0]], [calls[1]], strict=True):
        assert not np.array_equal(first, other[0])
    for states, first, same, counted in calls:
        np.testing.assert_array_equal(first, same)
        assert len(set(first)) == len(first)
        np.testing.assert_allclose(states, 0.5 * first + counted.sum(1))
    generator.set_value(np.random.Generator(getattr(np.random, kind)(1)))
    for before, again in zip(calls, [f(), f()], strict=True):
        for one, other in zip(before, again, strict=True):
            np.testing.assert_array_equal(one, other)


def test_moments_of_a_loop():
    generator = shared_generator()

    def step(rng, state):
        following, shock = pt.random.normal(size=(300,), rng=rng, return_next_rng=True)
        return following, 0.5 * state + shock

    _, states = pytensor.scan(
        step, outputs_info=[generator, pt.zeros(300)], n_steps=200, return_updates=False
    )
    found = compiled(states, [])()[20:]
    assert abs(found.mean()) < 0.05
    assert abs(found.var() - 4 / 3) < 0.05
    assert abs((found[1:] * found[:-1]).mean() - 2 / 3) < 0.05


def test_two_calls_and_two_draws_differ():
    generator = shared_generator()
    after, first = pt.random.uniform(size=(500,), rng=generator, return_next_rng=True)
    last, second = pt.random.uniform(size=(500,), rng=after, return_next_rng=True)
    f = compiled([first, second], [(generator, last)])
    drawn = np.concatenate([*f(), *f()])
    assert len(set(drawn)) == 2000
    assert abs(np.corrcoef(drawn.reshape(4, 500)) - np.eye(4)).max() < 0.2


def test_a_generator_without_an_update_draws_the_same():
    generator = shared_generator()
    _, samples = pt.random.uniform(size=(5,), rng=generator, return_next_rng=True)
    f = compiled(samples, [])
    np.testing.assert_array_equal(f(), f())


def test_what_jax_does_not_draw_is_numpys():
    generator = shared_generator(4)
    after, angle = pt.random.vonmises(1.0, 2.0, rng=generator, return_next_rng=True)
    last, number = pt.random.normal(rng=after, return_next_rng=True)
    f = compiled([angle, number], [(generator, last)])
    assert f()[0] == np.random.default_rng(4).vonmises(1.0, 2.0)
    found = report(f)
    assert found.sampled_by_jax == ("normal",)
    assert "normal: sampled by JAX's generators" in str(found)
    assert "because JAX draws no vonmises, so that NumPy does" in str(found)


def test_a_loop_of_what_jax_does_not_draw_is_numpys():
    def results(mode):
        generator = shared_generator(4)

        def step(rng):
            after, angle = pt.random.vonmises(1.0, 2.0, rng=rng, return_next_rng=True)
            following, number = pt.random.normal(angle, rng=after, return_next_rng=True)
            return following, number

        last, drawn = pytensor.scan(
            step, outputs_info=[generator, None], n_steps=4, return_updates=False
        )
        f = compiled(drawn, [(generator, last)], mode=mode)
        return f, f()

    (f, ours), (_, theirs) = results("XLA"), results("FAST_COMPILE")
    np.testing.assert_allclose(ours, theirs, rtol=1e-14)
    assert report(f).sampled_by_jax == ()
    assert "JAX draws no vonmises" in str(report(f))


def test_numpys_generators_draw_unless_jaxs_are_asked_for():
    generator = shared_generator(4)
    after, samples = pt.random.normal(size=(3,), rng=generator, return_next_rng=True)
    f = compiled(samples, [(generator, after)], generators="numpy")
    np.testing.assert_array_equal(f(), np.random.default_rng(4).normal(size=3))
    assert report(f).sampled_by_jax == ()
    assert "the samples of NumPy's generators are made on the host" in str(report(f))


def test_the_size_may_differ_between_calls():
    n = pt.lscalar("n")
    generator = shared_generator()
    after, samples = pt.random.normal(size=(n, 2), rng=generator, return_next_rng=True)
    f = compiled(samples, [(generator, after)], inputs=[n])
    assert [f(k).shape for k in (3, 0, 5)] == [(3, 2), (0, 2), (5, 2)]


def test_the_loop_may_run_on_the_host():
    # an operation without code for XLA has the whole loop run there, with the same samples
    def results(on_host):
        generator = shared_generator(2)

        def step(rng):
            after, number = pt.random.normal(rng=rng, return_next_rng=True)
            return after, pt.kve(0.5, abs(number)) if on_host else abs(number)

        last, drawn = pytensor.scan(
            step, outputs_info=[generator, None], n_steps=4, return_updates=False
        )
        f = compiled(drawn, [(generator, last)])
        return f(), f(), report(f)

    first, second, found = results(True)
    *numbers, _ = results(False)
    from scipy.special import kve

    np.testing.assert_allclose([first, second], kve(0.5, numbers), rtol=1e-10)
    assert any("scan" in record.operation.lower() for record in found.host), str(found)
