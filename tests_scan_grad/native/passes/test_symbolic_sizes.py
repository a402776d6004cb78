"""Sizes as symbolic numbers: what is known is computed, the rest compares, and reads as C does."""

import copy
import pickle
import random

import pytest

from theano.link.native.ir.ir import CannotLower, Scalar
from theano.link.native.ir.prologue import Require, ShowArray
from theano.link.native.ir.sizes import Sizes, bytes_of
from theano.link.native.ir.symbolic import (
    Call,
    Choice,
    Item,
    Name,
    Negative,
    Operation,
    both,
    compared,
    difference,
    maximum,
    minimum,
    product_of,
    sum_of,
)
from theano.link.native.render.numbers_in_c import in_c

N, M = Name("n"), Name("m")


def test_what_is_known_is_computed():
    assert [sum_of(2, 3), difference(2, 3), product_of(2, 3)] == [5, -1, 6]
    assert [minimum(2, 3), maximum(2, 3)] == [2, 3]
    assert sum_of(N, 0) == sum_of(0, N) == difference(N, 0) == product_of(1, N) == N
    assert difference(N, N) == product_of(N, 0) == 0
    assert minimum(N, N) == maximum(N, N) == N


def test_they_compare_by_what_they_are():
    assert sum_of(N, M) == sum_of(Name("n"), Name("m")) != sum_of(N, Name("k"))
    assert len({maximum(N, 0), maximum(Name("n"), 0), maximum(M, 0)}) == 2


def test_names_are_found_and_replaced():
    size = Choice(both(compared(N, "<", 3), compared(M, ">=", Negative(N))), sum_of(N, M), 0)
    assert size.names() == {"n", "m"}
    renamed = size.renamed({"n": "a0", "m": "a1"}.get)
    assert str(renamed) == "a0 < 3 && a1 >= -a0 ? a0 + a1 : 0"
    assert Call("f", (N, Item("numbers", 3))).names() == {"n", "numbers"}


def evaluated(size, values):
    """The value of what `random_size` makes, from its structure."""
    if isinstance(size, int):
        return size
    if isinstance(size, Name):
        return values[size.name]
    if isinstance(size, Negative):
        return -evaluated(size.a, values)
    if isinstance(size, Choice):
        chosen = size.yes if evaluated(size.condition, values) else size.no
        return evaluated(chosen, values)
    a, b = evaluated(size.a, values), evaluated(size.b, values)
    operators = {"+": a + b, "-": a - b, "*": a * b, "<": a < b, "==": a == b, "&&": bool(a and b)}
    return int(operators[size.operator])


@pytest.mark.parametrize("seed", range(100))
def test_brackets_are_where_c_needs_them(seed):
    """Python binds operators as C does, but for comparisons of comparisons, which have brackets."""
    draw = random.Random(seed)
    made = [N, M, Name("k"), draw.randint(-3, 3)]
    for operator in ("+", "-", "*", "<", "==", "-", "+"):
        made.append(Operation(operator, draw.choice(made), draw.choice(made)))
        made.append(Negative(draw.choice(made)))
    values = {"n": draw.randint(-5, 5), "m": draw.randint(-5, 5), "k": draw.randint(-5, 5)}
    for size in made:
        assert int(eval(str(size), dict(values))) == evaluated(size, values)
        # which is something else in C
        assert "--" not in str(size)


def test_sizes_know_what_is_computed_from_what():
    sizes = Sizes()
    n = sizes.argument("x_n0", Item("numbers", 3), "size of x")
    number = sizes.define("int64_t", Scalar("v", "int64").symbol)
    reaching = sizes.names_that_reach_a_size()
    assert "v" not in reaching and "numbers" in reaching
    sizes.name(sum_of(n, Name(number)))
    assert "v" in sizes.names_that_reach_a_size()


def test_a_loop_that_is_shown_an_array_may_refuse_because_of_it():
    sizes = Sizes()
    sizes.entries.append(ShowArray("l0", 2, "x"))
    assert "x" not in sizes.names_that_reach_a_size()
    planned = Call("loop", (Name("l0_numbers"), Name("l0_arrays"), Name("l0_result")))
    sizes.entries.append(Require(compared(planned, "==", 0), 1, "a loop"))
    assert "x" in sizes.names_that_reach_a_size()


def test_sizes_that_are_equal_are_found_and_checked_once():
    sizes = Sizes()
    a, b, c = (sizes.argument(name, Item("numbers", k), name) for k, name in enumerate("abc"))
    sizes.equal(a, b, "a and b")
    sizes.equal(b, c, "b and c")
    sizes.equal(a, c, "a and c")
    assert sizes.checks == ["a and b", "b and c"]
    assert sizes.find(c) == sizes.find(b) == a
    assert sizes.binary(c, "+", 2) == sizes.binary(a, "+", 2) == sizes.known_sum(b, 2)


@pytest.mark.parametrize("shape", [(2**40, 2**20), (2**20, 2**40)])
def test_bytes_beyond_memory_are_refused_when_the_code_is_made(shape):
    with pytest.raises(CannotLower, match="larger than any memory"):
        bytes_of(shape, 8)
    assert bytes_of((3, 4), 8) == 96 and bytes_of((3, 0), 8) == 0
    assert str(bytes_of((3, N), 8)) == "bytes(24, n)"
    assert in_c(bytes_of((3, N), 8)) == "TN_BYTES(24, n)"


def test_a_name_is_one_object_wherever_it_comes_from():
    name = Name("a_size_of_this_test")
    copies = [
        pickle.loads(pickle.dumps(name)),
        copy.deepcopy(name),
        copy.copy(name),
        name.renamed(str),
    ]
    assert all(each is name for each in copies)
    assert compared(name, "==", 1) == compared(Name("a_size_of_this_test"), "==", 1)
    assert name != Name("another_size") and repr(name) == "Name(name='a_size_of_this_test')"
