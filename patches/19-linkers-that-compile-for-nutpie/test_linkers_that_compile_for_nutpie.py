import numpy as np
import pymc as pm
import pytest
from pytensor.compile.mode import Mode
from pytensor.link.vm import VMLinker

nutpie = pytest.importorskip("nutpie")


class CompilesForNutpie(VMLinker):
    """Compiles models by Numba, and notes what it was asked for."""

    def __init__(self):
        super().__init__(use_cloop=False)
        self.asked = []

    def clone(self, allow_gc=None):
        return self

    def compile_for_nutpie(self, model, **kwargs):
        self.asked.append((model, kwargs))
        return nutpie.compile_pymc_model(model, backend="numba", **kwargs)


@pytest.mark.parametrize("nuts_sampler", [None, "nutpie"])
def test_model_is_compiled_by_linker(nuts_sampler):
    linker = CompilesForNutpie()
    with pm.Model() as model:
        pm.Normal("x", 3.0, 0.1)
        trace = pm.sample(
            draws=50,
            tune=100,
            chains=1,
            nuts_sampler=nuts_sampler,
            compile_kwargs={"mode": Mode(linker, "fast_run")},
            random_seed=1,
            progressbar=False,
            compute_convergence_checks=False,
        )
    assert [asked for asked, _ in linker.asked] == [model]
    assert "backend" not in linker.asked[0][1]
    assert np.isclose(trace.posterior["x"].mean(), 3.0, atol=0.2)
