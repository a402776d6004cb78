import itertools

import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function
from pytensor.compile.mode import Mode

MODE = Mode(linker="py", optimizer="fast_run")


@pytest.mark.parametrize("offset", [-1, 0, 2])
@pytest.mark.parametrize(
    "shape, axes",
    [
        *(((4, 5), axes) for axes in itertools.permutations(range(2), 2)),
        *(((3, 4, 5), axes) for axes in itertools.permutations(range(3), 2)),
        *(((2, 3, 4, 5), axes) for axes in itertools.combinations(range(4), 2)),
    ],
)
@pytest.mark.parametrize(
    "build",
    [
        pytest.param(lambda xp, x, y: xp.exp(x) + y, id="of a sum"),
        pytest.param(lambda xp, x, y: xp.exp(x), id="of one"),
    ],
)
def test_diagonal_of_elementwise(build, shape, axes, offset):
    rng = np.random.default_rng(5)
    x, y = (pt.tensor(name, shape=(None,) * len(shape)) for name in "xy")
    values = [rng.normal(size=shape).astype(x.dtype) for _ in "xy"]
    out = pt.diagonal(build(pt, x, y), offset, *axes)
    fn = function([x, y], out, mode=MODE, on_unused_input="ignore")
    expected = np.diagonal(build(np, *values), offset, *axes)
    np.testing.assert_allclose(fn(*values), expected, rtol=1e-5)


def test_diagonal_of_last_axes_is_still_lifted():
    x, y = pt.matrices("x", "y")
    fn = function([x, y], pt.diagonal(pt.exp(x) + y), mode=MODE)
    [last] = [
        node for node in fn.maker.fgraph.toposort() if node.outputs[0] in fn.maker.fgraph.outputs
    ]
    assert last.outputs[0].type.ndim == 1
    assert all(inp.type.ndim == 1 for inp in last.inputs)
