"""Reads of a loop's rows: they return the rows that exist, however few steps it ran."""

import itertools

import numpy as np
import pytest

import theano
import theano.tensor as T

FEW, MANY = range(4), (6, 9)

# name -> what is read of the rows, given a number
READS = {
    "the last three": lambda rows, k: rows[-3:],
    "the last, as rows": lambda rows, k: rows[-1:],
    "every other of the last": lambda rows, k: rows[-4::2],
    "from the end to a place": lambda rows, k: rows[-4:4],
    "from the end to a given place": lambda rows, k: rows[-4:k],
    "between two places from the end": lambda rows, k: rows[-5:-2],
    "far from the end on": lambda rows, k: rows[-9:-2],
    "all but the last two": lambda rows, k: rows[:-2],
    "the first three": lambda rows, k: rows[:3],
    "in between": lambda rows, k: rows[1:4],
    "from the third on": lambda rows, k: rows[2:],
    "the last ones, backwards": lambda rows, k: rows[-4:][::-1],
    "third": lambda rows, k: rows[2],
    "third last": lambda rows, k: rows[-3],
    "given": lambda rows, k: rows[k],
    "given from the end": lambda rows, k: rows[-k],
    "last of all but the last two": lambda rows, k: rows[:-2][-1],
    "first of the last three": lambda rows, k: rows[-3:][0],
    "last of those from the fourth on": lambda rows, k: rows[3:][-1],
    "last of the first three": lambda rows, k: rows[:3][-1],
}


def totals(steps):
    """Return a loop's states, the totals of 1, 2, ..., and twice these, which no step reads."""
    (states, others), _ = theano.scan(
        lambda number, total: [total + number + 1, 2 * (total + number + 1)],
        sequences=[T.arange(steps)],
        outputs_info=[T.constant(np.float64(0)), None],
    )
    return {"states": states, "others": others}


def expect_same(function, arguments, expected):
    """Check the values, or that an IndexError is raised where NumPy raises one."""
    try:
        wanted = expected()
    except IndexError:
        with pytest.raises(IndexError):
            function(*arguments)
    else:
        for value, row in zip(function(*arguments), wanted, strict=True):
            np.testing.assert_array_equal(value, row)


@pytest.mark.parametrize("mode", [None, "FAST_COMPILE"])
@pytest.mark.parametrize(
    "last_of", [None, "states", pytest.param("others", marks=pytest.mark.heavy)]
)
@pytest.mark.parametrize("of", ["states", "others"])
@pytest.mark.parametrize("read", READS)
def test_reads(read, of, last_of, mode):
    steps, k = T.lscalars("steps", "k")
    loop = totals(steps)
    outputs = [READS[read](loop[of], k)] + ([loop[last_of][-1]] if last_of else [])
    function = theano.function([steps, k], outputs, mode=mode, on_unused_input="ignore")
    for count in (*FEW, *MANY):
        if count == 0 and (last_of or read == "the last, as rows"):
            continue  # a loop of no step gives its initial value as the last
        rows = {"states": np.cumsum(np.arange(1, count + 1.0))}
        rows["others"] = 2 * rows["states"]
        expect_same(
            function,
            (count, 4),
            lambda rows=rows: [READS[read](rows[of], 4)] + ([rows[last_of][-1]] if last_of else []),
        )


@pytest.mark.parametrize("of", ["states", "others"])
@pytest.mark.parametrize("count", [2, 6])
@pytest.mark.parametrize("read", READS)
def test_reads_of_a_known_number_of_steps(read, count, of):
    k = T.lscalar("k")
    rows = np.cumsum(np.arange(1, count + 1.0)) * (1 if of == "states" else 2)
    try:
        expected = READS[read](rows, 4)
    except IndexError:
        return  # an error while compiling, too, tells of it
    function = theano.function([k], READS[read](totals(count)[of], k), on_unused_input="ignore")
    np.testing.assert_array_equal(function(4), expected)


@pytest.mark.parametrize("of", ["states", "others"])
@pytest.mark.parametrize("first, stop", [(4, 2), (6, 6), (7, 7), (8, 6), (9, 8), (9, None)])
def test_rows_that_do_not_exist_beside_the_last(first, stop, of):
    loop = totals(6)[of]
    none, last = theano.function([], [loop[first:stop], loop[-1]])()
    assert none.shape == (0,)
    assert last == (21 if of == "states" else 42)


@pytest.mark.parametrize(
    "read, steps_run, rows_kept",
    [
        ("third", 3, 3),
        ("given", 51, 51),
        ("the first three", 3, 3),
        ("between two places from the end", 100, 5),
        ("the last three", 100, 3),
        ("third last", 100, 3),
        ("the last, as rows", 100, 1),
        ("from the end to a given place", 100, 100),
    ],
)
def test_no_more_is_computed_and_kept_than_is_read(read, steps_run, rows_kept):
    steps, k = T.lscalars("steps", "k")
    function = theano.function(
        [steps, k],
        READS[read](totals(steps)["others"], k),
        mode="FAST_RUN",
        on_unused_input="ignore",
    )
    [loop] = [node for node in function.maker.fgraph.apply_nodes if hasattr(node.op, "info")]
    lengths = [loop.inputs[0], *loop.op.outer_nitsot(loop.inputs)]
    found = theano.function(function.maker.fgraph.inputs, lengths, on_unused_input="ignore")
    assert [int(length) for length in found(100, 50)] == [steps_run, rows_kept]


def test_a_read_at_a_place_that_the_loop_gives():
    steps = T.lscalar("steps")
    loop = totals(steps)
    second = loop["others"][loop["states"][0].astype("int64")]
    assert theano.function([steps], second)(4) == 6


BOUNDS = [None, -3, -1, 0, 2]


@pytest.mark.parametrize("step", [None, -1, 2])
@pytest.mark.parametrize("start", BOUNDS)
def test_elements_of_parts(start, step):
    """An element of a part is read where the part has it, and nowhere else."""
    x, reads = T.dvector("x"), list(itertools.product(BOUNDS, [-3, -2, -1, 0, 1]))
    for stop, k in reads:
        function = theano.function([x], x[start:stop:step][k], mode="FAST_COMPILE")
        for length in range(5):
            values = np.arange(float(length))
            expect_same(
                lambda values, function=function: [function(values)],
                (values,),
                lambda values=values, stop=stop, k=k: [values[start:stop:step][k]],
            )


@pytest.mark.parametrize(
    "read, merged",
    [
        (lambda x: x[3:][4], True),
        (lambda x: x[:-2][-3], True),
        (lambda x: x[::-1][1], True),
        (lambda x: x[-5:][-2], True),
        (lambda x: x[:, 2:][0, 1], True),
        (lambda x: x[3:][-1], False),
        (lambda x: x[:3][-1], False),
        (lambda x: x[-3:][0], False),
    ],
)
def test_a_part_is_not_taken_where_its_element_can_be_read(read, merged):
    x = T.dmatrix("x")
    function = theano.function([x], read(x), mode="FAST_COMPILE")
    reads = [n for n in function.maker.fgraph.apply_nodes if isinstance(n.op, T.Subtensor)]
    assert len(reads) == (1 if merged else 2)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_a_given_element_backwards(dtype):
    x, k = T.dvector("x"), T.scalar("k", dtype=dtype)
    function = theano.function([x, k], x[::-1][k], mode="FAST_COMPILE")
    reads = [n for n in function.maker.fgraph.apply_nodes if isinstance(n.op, T.Subtensor)]
    assert len(reads) == 1
    for value in (0, 3, 120) if dtype == "uint8" else (0, 3, 120, -1, -120):
        assert function(np.arange(200.0), np.array(value, dtype)) == np.arange(200.0)[::-1][value]
