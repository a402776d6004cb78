"""Functions, shared variables and models in other processes, while a thread compiles."""

from __future__ import annotations

import multiprocessing
import sys
from importlib.util import find_spec

import pytest

import theano
from tests_scan_grad.fresh_process import run_module
from tests_scan_grad.functions.process_programs import POOLS

FORKS = {name for name, (_, start) in POOLS.items() if start == "fork"}


def _printed(pool: str, mode: str) -> list[str]:
    if pool in FORKS and "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("forks are those of POSIX")
    if pool == "forkserver" and sys.platform == "win32":
        pytest.skip("forks are those of POSIX")
    if pool == "joblib":
        pytest.importorskip("joblib")
    flags = f"base_compiledir={theano.config.base_compiledir},floatX=float64"
    arguments = ("tests_scan_grad.functions.process_programs", pool, mode)
    done = run_module(*arguments, timeout=300, THEANO_FLAGS=flags)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("pool", POOLS)
def test_another_process_computes_the_same_on_the_native_engine(pool):
    assert _printed(pool, "NATIVE") == ["equal"]


@pytest.mark.skipif(find_spec("jax") is None, reason="needs JAX")
@pytest.mark.parametrize("pool", [pool for pool in POOLS if pool not in FORKS])
def test_another_process_that_was_not_forked_computes_the_same_on_xla(pool):
    assert _printed(pool, "XLA") == ["equal"]


@pytest.mark.skipif(find_spec("jax") is None, reason="needs JAX")
@pytest.mark.parametrize("pool", sorted(FORKS))
def test_a_fork_of_a_process_that_uses_xla_says_what_to_use(pool):
    # the call waited for threads that a child does not have, for ever
    message, value = _printed(pool, "XLA")
    assert message.startswith("XLA does not run in this process: it was forked")
    assert "'spawn'" in message
    assert "mode='NATIVE'" in message
    # shared variables can be read
    assert value.startswith("[[0.0, 0.1")
