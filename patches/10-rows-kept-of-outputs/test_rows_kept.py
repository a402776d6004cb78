import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan

MODE = Mode(linker="py", optimizer="fast_run")


def counted(n_steps):
    """2, 4, 6, ... and the number of steps, so that all are run."""
    rows, states = scan(
        lambda state: [2 * (state + 1), state + 1],
        outputs_info=[None, np.int64(0)],
        n_steps=n_steps,
        return_updates=False,
    )
    return rows, states[-1]


def expected_rows(n_steps):
    return 2 * np.arange(1, n_steps + 1)


READS = [
    pytest.param(lambda rows, k: rows[-3:], id="last three"),
    pytest.param(lambda rows, k: rows[-4::2], id="every other"),
    pytest.param(lambda rows, k: rows[-4:-1], id="all but the last"),
    pytest.param(lambda rows, k: rows[-4:4], id="to a place from the first"),
    pytest.param(lambda rows, k: rows[-4:k], id="to a given place"),
    pytest.param(lambda rows, k: rows[-1:], id="last"),
]


@pytest.mark.parametrize("read", READS)
def test_rows_of_a_given_number_of_steps(read):
    n_steps, k = pt.lscalars("n_steps", "k")
    rows, last = counted(n_steps)
    fn = function([n_steps, k], [read(rows, k), last], mode=MODE, on_unused_input="ignore")
    for n in (1, 2, 3, 4, 6):
        rows_of_n, _ = fn(n, 4)
        np.testing.assert_array_equal(rows_of_n, read(expected_rows(n), 4))


@pytest.mark.parametrize("n", [2, 6])
@pytest.mark.parametrize("read", READS)
def test_rows_of_a_known_number_of_steps(read, n):
    k = pt.scalar("k", dtype="int64")
    rows, last = counted(n)
    fn = function([k], [read(rows, k), last], mode=MODE, on_unused_input="ignore")
    np.testing.assert_array_equal(fn(4)[0], read(expected_rows(n), 4))


def test_no_more_than_the_rows_that_are_read_is_kept():
    n_steps = pt.scalar("n_steps", dtype="int64")
    rows, last = counted(n_steps)
    fn = function([n_steps], [rows[-3:], last], mode=MODE)
    [node] = [n for n in fn.maker.fgraph.apply_nodes if isinstance(n.op, Scan)]
    [n_kept] = node.op.outer_nitsot(node.inputs)
    n_kept_fn = function(fn.maker.fgraph.inputs, n_kept, mode=Mode("py", None))
    assert [int(n_kept_fn(n)) for n in (2, 3, 100)] == [2, 3, 3]
