"""The model that a function takes: the one it is given, or that of the enclosing `with` block."""

import numpy as np
import pytest

pm = pytest.importorskip("pymc", reason="needs the extra [pymc]")
pytest.importorskip("nutpie", reason="needs the extra [pymc]")

import theano.pymc  # noqa: E402


@pytest.mark.parametrize("name", ["compile_model", "logp_dlogp", "sample"])
def test_what_is_no_model_is_refused(name):
    with pytest.raises(TypeError, match=f"{name}: expected a pymc.Model, got 'none'"):
        getattr(theano.pymc, name)("none")
    with pytest.raises(TypeError, match=f"{name}: expected a pymc.Model, got none"):
        getattr(theano.pymc, name)()


def test_the_model_of_a_with_block_need_not_be_named():
    with pm.Model():
        pm.Normal("x")
        value, _ = theano.pymc.logp_dlogp()([0.0])
        assert theano.pymc.compile_model().n_dim == 1
    assert value == pytest.approx(-np.log(2 * np.pi) / 2)
