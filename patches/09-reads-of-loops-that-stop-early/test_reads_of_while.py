import numpy as np
import pytensor.tensor as pt
import pytest
from pytensor import function, scan
from pytensor.compile.mode import Mode
from pytensor.scan.op import Scan
from pytensor.scan.utils import until

MODE = Mode(linker="py", optimizer="fast_run")


def counted(n_steps):
    """A while loop that counts to 1.5: its states, and what it gives besides."""
    size = pt.scalar("size", dtype="float64")

    def step(total):
        following = total + size
        return [following, 2 * following], until(following > 1.5)

    states, others = scan(
        step,
        outputs_info=[np.float64(0), None],
        n_steps=n_steps,
        return_updates=False,
    )
    return size, {"states": states, "others": others}


@pytest.mark.parametrize("of", ["states", "others"])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda rows: rows, id="all"),
        pytest.param(lambda rows: rows[-1], id="last"),
        pytest.param(lambda rows: rows[-1:], id="last, as rows"),
        pytest.param(lambda rows: rows[-2:], id="last two"),
        pytest.param(lambda rows: rows[-2:-1], id="one before the last"),
        pytest.param(lambda rows: rows[1], id="second"),
        pytest.param(lambda rows: rows[1:3], id="second and third"),
        pytest.param(lambda rows: rows[2:], id="from the third on"),
        pytest.param(lambda rows: rows[4], id="fifth"),
        pytest.param(lambda rows: rows[4:], id="from the fifth on"),
    ],
)
def test_reads(read, known, of):
    n_steps = 5 if known else pt.scalar("n_steps", dtype="int64")
    size, outs = counted(n_steps)
    inputs = [size] if known else [size, n_steps]
    fn = function(inputs, read(outs[of]), mode=MODE)
    for value in (2.0, 1.0, 0.5, 0.125):
        rows = np.cumsum([value] * 5)
        rows = rows[: 1 + np.argmax(np.append(rows > 1.5, True))]
        arguments = [value] if known else [value, 5]
        try:
            expected = read(rows if of == "states" else 2 * rows)
        except IndexError:
            with pytest.raises(IndexError):
                fn(*arguments)
        else:
            np.testing.assert_allclose(fn(*arguments), expected)


def test_last_step_is_still_all_that_is_kept():
    n_steps = pt.scalar("n_steps", dtype="int64")
    size, outs = counted(n_steps)
    fn = function([size, n_steps], outs["others"][-1], mode=MODE)
    [node] = [n for n in fn.maker.fgraph.apply_nodes if isinstance(n.op, Scan)]
    *_, n_kept = node.op.outer_nitsot(node.inputs)
    assert n_kept.eval() == 1
