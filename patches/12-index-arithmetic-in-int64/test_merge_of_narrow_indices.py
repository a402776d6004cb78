import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function
from pytensor.compile.mode import Mode
from pytensor.tensor.subtensor import Subtensor

MODE = Mode(linker="py", optimizer="fast_run")


@pytest.mark.parametrize(
    "read, dtype, value",
    [
        pytest.param(lambda x, i: x[i:][i], "uint8", 200, id="from i, uint8"),
        pytest.param(lambda x, i: x[i:][i], "int8", 100, id="from i, int8"),
        pytest.param(lambda x, i: x[i:][i], "int64", 200, id="from i, int64"),
        pytest.param(lambda x, i: x[:-i][-i], "int8", 100, id="to -i, int8"),
        pytest.param(lambda x, i: x[:-i][-i], "int64", 200, id="to -i, int64"),
        pytest.param(lambda x, i: x[::-1][i], "uint8", 200, id="backwards, uint8"),
    ],
)
def test_sum_of_indices(read, dtype, value):
    x, i = pt.vector("x"), pt.scalar("i", dtype=dtype)
    arguments = [np.arange(600, dtype=x.dtype), np.array(value, dtype=dtype)]
    fn = function([x, i], read(x, i), mode=MODE)
    assert fn(*arguments) == function([x, i], read(x, i), mode=Mode("py", None))(*arguments)
    assert sum(isinstance(node.op, Subtensor) for node in fn.maker.fgraph.apply_nodes) == 1
