import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, grad
from pytensor.compile.mode import Mode

MODE = Mode(linker="py", optimizer="fast_run").excluding("fusion", "inplace")


def lengths_of(fn, op):
    return [len(n.inputs) for n in fn.maker.fgraph.apply_nodes if n.op == op]


@pytest.mark.parametrize("combine", [pt.add, pt.mul])
def test_parts_with_other_clients_are_kept(combine):
    """Each partial sum is computed once, from the one before it."""
    xs = pt.dvectors("a", "b", "c", "d", "e")
    partial, outputs = xs[0], []
    for x in xs[1:]:
        partial = combine(partial, x)
        outputs.append(pt.tanh(partial))
    fn = function(xs, [*outputs, partial], mode=MODE)
    assert lengths_of(fn, combine) == [2] * (len(xs) - 1)


def test_gradient_of_residual_layers():
    x, weights = pt.dmatrix("x"), pt.dmatrices("U", "V", "W", "Z")
    h = x
    for w in weights:
        h = h + pt.tanh(h @ w)
    gradients = grad((h**2).sum(), weights)
    fn = function([x, *weights], gradients, mode=MODE)
    assert max(lengths_of(fn, pt.add)) == 2
    rng = np.random.default_rng(1)
    values = [rng.normal(size=(3, 3)) for _ in range(5)]
    plain = function([x, *weights], gradients, mode=Mode(linker="py", optimizer=None))
    for found, expected in zip(fn(*values), plain(*values), strict=True):
        np.testing.assert_allclose(found, expected)


def test_parts_without_other_clients_are_collapsed():
    x, y, z = pt.dvectors("x", "y", "z")
    fn = function([x, y, z], (x + y) + (z + x), mode=MODE)
    assert lengths_of(fn, pt.add) == [4]
