"""Loops that stop before their last step: what is read of them is what there is."""

import numpy as np
import pytest

import theano
import theano.tensor as T
from theano.scan_module import until

READS = {
    "all": lambda rows: rows,
    "last": lambda rows: rows[-1],
    "last of many": lambda rows: rows[-2:],
    "last as rows": lambda rows: rows[-1:],
    "from the third on": lambda rows: rows[2:],
    "second": lambda rows: rows[1],
}


def counted(longest):
    """Return the inputs of a loop that counts until 1.5, its states, and what it gives besides."""
    step_size, steps = T.dscalar("step_size"), T.iscalar("steps")

    def step(total):
        following = total + step_size
        return [following, 2 * following], until(following > 1.5)

    (states, others), _ = theano.scan(
        step,
        outputs_info=[T.constant(np.float64(0)), None],
        n_steps=longest or steps,
    )
    return [step_size, steps], states, others


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("longest", [5, None], ids=["at most 5", "at most some"])
@pytest.mark.parametrize("of", ["states", "others"])
def test_reads_of_a_loop_that_stops_early(read, longest, of):
    inputs, states, others = counted(longest)
    result = READS[read](states if of == "states" else others)
    f = theano.function(inputs, result, on_unused_input="ignore")
    for size in (2.0, 1.0, 0.5, 0.125):
        rows = np.arange(1, 6) * size
        rows = rows[: 1 + np.argmax(np.append(rows > 1.5, True))] * (1 if of == "states" else 2)
        try:
            expected = READS[read](rows)
        except IndexError:
            with pytest.raises(IndexError):
                f(size, 5)
        else:
            np.testing.assert_allclose(f(size, 5), expected)


def test_only_the_last_step_is_kept_where_it_alone_is_read():
    inputs, states, _ = counted(None)
    rows = {}
    for read in ("last", "last of many"):
        function = theano.function(inputs, READS[read](states), mode="FAST_RUN")
        [loop] = [node for node in function.maker.fgraph.apply_nodes if hasattr(node.op, "info")]
        [buffer] = loop.op.outer_sitsot(loop.inputs)
        allocated = buffer.owner.inputs[0].owner.inputs[0]
        length = theano.function(function.maker.fgraph.inputs, allocated, on_unused_input="ignore")
        rows[read] = int(length(0.125, 100))
    assert rows == {"last": 2, "last of many": 101}
