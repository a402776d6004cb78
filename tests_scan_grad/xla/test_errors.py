"""Mistakes raise what the Python linker raises, and the message names the operation."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import theano
import theano.link.xla
import theano.tensor as T
from tests_scan_grad.fresh_process import printed_by

pytest.importorskip("jax")

ROWS, MORE = np.arange(6.0).reshape(2, 3), np.arange(8.0).reshape(2, 4)
ONE_ROW = np.ones((1, 3))

MISTAKES = {
    "product": (lambda a, b: a.dot(b), (ROWS, MORE), "Dot"),
    "product of stacks": (lambda a, b: a[None] @ b[None], (ROWS, MORE), "Dot"),
    "sum": (lambda a, b: a + b, (ROWS, MORE), "Add"),
    "length 1 that was not declared": (lambda a, b: a * b, (ROWS, ONE_ROW), "Mul"),
    "join": (lambda a, b: T.concatenate([a, b]), (ROWS, MORE), "Join"),
    "reshape": (lambda a, b: a.reshape((5, -1)) + b.sum(), (ROWS, MORE), "Reshape"),
    "alloc": (lambda a, b: T.alloc(a[0], 2, b.shape[1]), (ROWS, MORE), "Alloc"),
    "split": (lambda a, b: T.split(a, [1, b.shape[0]], 2, axis=0)[0], (ROWS, MORE), "Split"),
    "number": (lambda a, b: a[5] + b.sum(), (ROWS, MORE), "Subtensor"),
    "computed number": (lambda a, b: a[T.cast(b[1, 1], "int64")], (ROWS, MORE), "Subtensor"),
    "rows": (lambda a, b: a[T.cast(b[0], "int64")], (ROWS, MORE), "AdvancedSubtensor"),
    "set rows": (
        lambda a, b: T.set_subtensor(a[T.cast(b[0], "int64")], 1.0),
        (ROWS, MORE),
        "AdvancedSetSubtensor",
    ),
    "position": (
        lambda a, b: T.extra_ops.unravel_index(T.cast(a + b.sum(), "int64"), (4, 5))[0],
        (ROWS, MORE),
        "UnravelIndex",
    ),
    "positions": (
        lambda a, b: T.extra_ops.ravel_multi_index((T.cast(a + b.sum(), "int64"),) * 2, (4, 5)),
        (ROWS, MORE),
        "RavelMultiIndex",
    ),
    "diagonal": (
        lambda a, b: T.fill_diagonal(a[None] + b.sum(), 1.0),
        (ROWS, MORE),
        "FillDiagonal",
    ),
    "largest": (lambda a, b: T.topk(a + b.sum(), 7), (ROWS, MORE), "TopK"),
    "set": (lambda a, b: T.set_subtensor(a[:, :2], b), (ROWS, MORE), "SetSubtensor"),
    "dropped dimension": (lambda a, b: T.addbroadcast(a, 0) + b.sum(), (ROWS, MORE), ""),
    "shape": (lambda a, b: T.specify_shape(a, (2, 4)) + b, (ROWS, MORE), "SpecifyShape"),
    "maximum of none": (lambda a, b: T.max(a[:0]) + b.sum(), (ROWS, MORE), "Max"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_the_same_error(name):
    build, values, operation = MISTAKES[name]
    a, b = T.matrices("a", "b")
    expected = theano.function([a, b], build(a, b), mode=theano.Mode("py", "fast_compile"))
    with pytest.raises(Exception) as theirs:
        expected(*values)
    compiled = theano.function([a, b], build(a, b), mode="XLA")
    with pytest.raises(type(theirs.value)) as ours:
        compiled(*values)
    assert f"Apply node that caused the error: {operation}" in str(ours.value)
    assert not compiled.vm.plan.reasons


def test_a_call_after_a_failed_one_succeeds():
    a, b = T.matrices("a", "b")
    f = theano.function([a, b], a.dot(b), mode="XLA")
    with pytest.raises(ValueError, match="not aligned"):
        f(ROWS, MORE)
    np.testing.assert_allclose(f(ROWS, MORE.reshape(4, 2)[:3]), ROWS @ MORE.reshape(4, 2)[:3])


class OwnOperation(theano.Op):
    """An operation that only Python has."""

    __props__ = ()

    def make_node(self, x):
        return theano.Apply(self, [x], [x.type()])

    def perform(self, node, inputs, output_storage):
        if inputs[0].sum() > 100:
            raise OverflowError("too much")
        output_storage[0][0] = inputs[0] * 2


def test_an_operation_of_pythons_runs_on_the_host_between_two_programs():
    x = T.vector("x")
    f = theano.function([x], T.tanh(OwnOperation()(T.exp(x))).sum(), mode="XLA")
    value = np.array([0.1, 0.2])
    np.testing.assert_allclose(f(value), np.tanh(2 * np.exp(value)).sum(), rtol=1e-12)
    assert [stage.on_device for stage in f.vm.plan.stages] == [True, False, True]
    found = theano.link.xla.report(f)
    assert "OwnOperation: on the host, because the engine has no code for it" in str(found)
    with pytest.raises(OverflowError, match="too much") as error:
        f(value + 10)
    assert "Apply node that caused the error: OwnOperation" in "\n".join(
        [str(error.value), *getattr(error.value, "__notes__", [])]
    )


def test_products_of_float32_are_in_full_precision():
    rng = np.random.default_rng(0)
    a, b = (rng.normal(size=(64, 64)).astype("float32") for _ in range(2))
    x, y = T.fmatrices("x", "y")
    found = theano.function([x, y], x.dot(y), mode="XLA")(a, b)
    exact = a.astype("float64") @ b.astype("float64")
    assert found.dtype == "float32"
    assert np.abs(found - exact).max() < 2e-5


LITTLE_MEMORY = """
import resource
import theano, theano.tensor as T

n = T.lscalar("n")
f = theano.function([n], T.zeros((n, n), dtype="int8") + T.cast(n, "int8"), mode="XLA")
f(3)
resource.setrlimit(resource.RLIMIT_AS, (2**32, 2**32))
try:
    f(60000)
except MemoryError as error:
    print(error, *getattr(error, "__notes__", []), sep="\\n")
print(f(2).tolist())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited as on Linux")
def test_a_result_that_the_device_has_no_memory_for_is_an_error_and_the_process_lives():
    # XLA allocates it after the call; NumPy ended the process when it read what had failed
    message, *others = printed_by(LITTLE_MEMORY)
    text = "\n".join(others)
    assert message.startswith("xla:cpu has not enough memory for this call: RESOURCE_EXHAUSTED")
    assert "of shape (60000, 60000) and dtype int8: 3600000000 bytes" in message
    assert "Apply node that caused the error" in text
    assert others[-1] == "[[2, 2], [2, 2]]"
