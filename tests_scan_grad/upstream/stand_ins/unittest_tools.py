"""Functions of the undistributed ``tests.unittest_tools`` for test_gradient and test_rop."""

import numpy as np
import pytensor.gradient


def fetch_seed() -> int:
    """A seed, the same in every run."""
    return 20240607


def verify_grad(op, pt, n_tests=2, rng=None, **kwargs):
    """Compare a gradient with finite differences at a point."""
    rng = np.random.default_rng(fetch_seed()) if rng is None else rng
    tolerances = {"rel_tol": 1e-3, "abs_tol": 1e-3}
    pytensor.gradient.verify_grad(op, pt, n_tests, rng, **(tolerances | kwargs))
