import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan

MODE = Mode(linker="py", optimizer="fast_run")


def counted(n_steps):
    """2, 4, 6, ..."""
    rows, _ = scan(
        lambda state: [2 * (state + 1), state + 1],
        outputs_info=[None, np.int64(0)],
        n_steps=n_steps,
        return_updates=False,
    )
    return rows


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("start", [None, -3, -9])
@pytest.mark.parametrize("stop", [-1, -2, -8])
def test_slices(start, stop, known):
    """A slice may begin before the first row, and end there."""
    n_steps = pt.scalar("n_steps", dtype="int64")
    if not known:
        fn = function([n_steps], counted(n_steps)[start:stop], mode=MODE)
    for n in (1, 4) if known else (1, 2, 4, 6, 10):
        if known:
            fn = function([], counted(n)[start:stop], mode=MODE)
        result = fn() if known else fn(n)
        np.testing.assert_array_equal(result, (2 * np.arange(1, n + 1))[start:stop])


@pytest.mark.parametrize(
    "read", [lambda rows: rows[:-2], lambda rows: rows[-5:-2], lambda rows: rows[-3]]
)
def test_steps_are_still_saved(read):
    n_steps = pt.scalar("n_steps", dtype="int64")
    fn = function([n_steps], read(counted(n_steps)), mode=MODE)
    [node] = [n for n in fn.maker.fgraph.apply_nodes if isinstance(n.op, Scan)]
    n_run = function(fn.maker.fgraph.inputs, node.inputs[0], mode=Mode("py", None))
    assert n_run(10) == 8
