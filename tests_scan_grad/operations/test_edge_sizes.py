"""Sizes at the edges: every engine answers as NumPy does, or refuses them, and the process lives."""

import json
import sys
from importlib.util import find_spec

import pytest

import theano
from tests_scan_grad.fresh_process import run_module
from tests_scan_grad.operations.edge_sizes import ENGINES, OPERATIONS, SIZES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")

# What an operation says of a size that is negative, too large, or past the end of what it reads
REFUSALS = {"ValueError", "MemoryError", "IndexError"}
# Operations with a result for each size
ANSWERS_ALL = {"slice"}
# Of a size of 2**31 and more, those with a result: a stride past the end leaves one window.
ANSWERS_LARGE = {*ANSWERS_ALL, "strides of pooling"}


@pytest.fixture(scope="module")
def outcomes():
    """By engine and operation, what came of each size."""
    flags = f"base_compiledir={theano.config.base_compiledir},floatX=float64"
    found = {}
    for engine in ENGINES:
        if engine == "xla" and find_spec("jax") is None:
            continue
        done = run_module("tests_scan_grad.operations.edge_sizes", engine, THEANO_FLAGS=flags)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert done.returncode == 0, f"{engine} ended after {lines[-1:]}: {done.stderr[-2000:]}"
        found.update({(engine, name): outcome for name, outcome in lines})
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", OPERATIONS)
def test_a_size_at_the_edge_is_answered_or_refused(outcomes, name, engine):
    if engine == "xla":
        pytest.importorskip("jax")
    for size, outcome, expected in zip(
        SIZES, outcomes[engine, name], outcomes["python", name], strict=True
    ):
        if isinstance(outcome, list):
            assert outcome == expected, size
            assert size < 2**31 or name in ANSWERS_LARGE
            continue
        assert isinstance(expected, dict), f"{size}: {outcome}"
        assert outcome["kind"] == expected["kind"], f"{size}: {outcome} instead of {expected}"
        assert outcome["kind"] in REFUSALS
        assert "Apply node that caused the error" in outcome["text"], f"{size}: {outcome}"
        assert name not in ANSWERS_ALL


@pytest.mark.parametrize("text", ["T.zeros((n, n))", "T.eye(4 * n)"])
def test_a_size_that_ended_the_process_of_xla_is_an_error_that_names_it(text):
    """XLA's own check of sizes aborts: it is asked of no size that it cannot count."""
    pytest.importorskip("jax")
    import theano.tensor as T

    n = T.lscalar("n")
    f = theano.function([n], eval(text, {"T": T, "n": n}), mode="XLA")
    with pytest.raises(ValueError, match=r"(Alloc|Eye).*array is too big"):
        f(2**31)
