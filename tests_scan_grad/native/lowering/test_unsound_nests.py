"""A loop nest that a schedule made is looked at where that is asked for."""

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from tests_scan_grad.native.loops import native_mode
from theano.link.native.ir.ir import Scalar
from theano.link.native.ir.loop_nests import (
    Address,
    Apply,
    Assign,
    Block,
    Call,
    For,
    Form,
    If,
    Kind,
    Let,
    Load,
    Local,
    Number,
    Pointer,
    Poll,
    Polled,
    Store,
    named,
)
from theano.link.native.ir.scalar_expressions import Expression
from theano.link.native.ir.symbolic import Operation, compared
from theano.link.native.schedule import registry
from theano.link.native.schedule.map import schedule_map
from theano.link.native.spec.nests import UnsoundNest, verify_nest
from theano.link.native.statements.map import Map

MEMORY = {"x": "float64", "y": "float64", "k": "int64"}
X = Load("x", "float64", named("i"))
ONE = Scalar("1", "float64", True, literal=1.0)


def over(*body, **how):
    return For("i", 0, 10, body, **how)


def in_lanes(*body, **how):
    return over(*body, form=Form.LANES, dtype="float64", **how)


I = named("i")  # noqa: E741
TO_Y = Store("y", I, X)


def verified(*nodes):
    verify_nest(nodes, MEMORY, lambda name: name == "rows", "a map")


def test_what_a_map_a_reduction_and_a_pass_with_polls_become():
    total = Assign("s", Apply(Expression("add", "add", "float64", "float64"), (X, X)))
    verified(over(Let("a", "float64", X), Store("y", named("i"), Local("a", "float64"))))
    verified(Let("s", "float64", ONE, variable=True), over(total))
    verified(Block((in_lanes(TO_Y),)), in_lanes(TO_Y))
    verified(Polled((over(Poll(named("i"), 100), polled=True),)))
    verified(Block((Number("n", 3),)), Block((Number("n", named("rows")),)))
    verified(Pointer("p", "float64", "x", (3,)), Call("copy", (Address("p"), Address("y"), 8)))


def test_rows_that_are_accumulated_in_lanes():
    total = Local("total", "float64")
    more = Apply(Expression("add", "add", "float64", "float64", True), (total, X))
    rows = For(
        "j",
        0,
        3,
        (
            Pointer("p", "float64", "x"),
            Let("e", "float64", more),
            Assign("total", Local("e", "float64")),
        ),
    )
    first = Let("total", "float64", ONE, Kind.VECTOR, variable=True)
    verified(in_lanes(first, rows, Store("y", Operation("+", named("rows"), I), total)))
    with pytest.raises(UnsoundNest, match="stores elements apart"):
        verified(in_lanes(first, rows, Store("y", Operation("*", I, 2), total)))
    with pytest.raises(UnsoundNest, match="more than these can do"):
        verified(in_lanes(For("j", 0, 3, (Number("n", 1),))))


@pytest.mark.parametrize(
    "wrong, nodes",
    [
        ("a is used where nothing has named it", [over(Store("y", 0, Local("a", "float64")))]),
        ("n is used where nothing has named it", [Store("y", named("n"), ONE), Number("n", 1)]),
        ("columns is used where", [Store("y", named("columns"), ONE)]),
        ("i is used where nothing", [over(), Store("y", named("i"), ONE)]),
        ("n is used where", [If(compared(1, ">", 0), (Number("n", 1),)), over(by=named("n"))]),
        ("n is named twice", [Number("n", 1), Number("n", 2)]),
        ("z is no memory that it may touch", [Store("z", 0, ONE)]),
        ("n is no memory", [Number("n", 1), Call("copy", (Address("n"),))]),
        ("an element of k, of int64, as float64", [Let("a", "float64", Load("k", "float64"))]),
        ("an element of x, of float64, as int64", [Pointer("p", "int64", "x")]),
        ("a, of float64, is a value of int64", [Let("a", "float64", Load("k", "int64"))]),
        ("a, of float64, as float32", [Let("a", "float64", ONE), Store("y", 0, Local("a", "float32"))]),
        ("a is assigned to, which is not var", [Let("a", "float64", ONE), Assign("a", ONE)]),
        ("a poll is not within nodes with polls", [over(Poll(1, 100))]),
        ("over i, which ends at a poll", [over(polled=True)]),
        ("has more than these can do", [in_lanes(over(by=2))]),
        ("has more than these can do", [in_lanes(Store("y", 0, ONE), by=2)]),
        ("is in lanes of float64 and has ..float64., .int64..", [in_lanes(TO_Y, Store("k", I, X))]),
        ("is in lanes of float64 and has ..int64..", [in_lanes(Let("a", "int64", Load("k", "int64")))]),
        ("is in lanes of no type", [over(TO_Y, form=Form.LANES)]),
        ("stores elements apart", [in_lanes(Store("y", Operation("*", I, 2), X))]),
        ("i is named twice", [in_lanes(TO_Y), in_lanes(TO_Y)]),
        ("n is named twice", [Number("n", 1), Polled((Number("n", 2),))]),
        ("rows is computed from itself", [Number("rows", named("rows"))]),
    ],
)  # fmt: skip
def test_a_nest_that_cannot_be_right(wrong, nodes):
    with pytest.raises(UnsoundNest, match=f"the nest of a map: .*{wrong}"):
        verified(*nodes)


def test_the_nests_of_programs_are_looked_at(monkeypatch):
    def without_the_first_node(*given):
        (block,) = schedule_map(*given)
        return [Block(block.body[1:])]

    monkeypatch.setitem(registry._SCHEDULES, Map, without_the_first_node)
    x = pt.dvector("x")
    with pytest.raises(UnsoundNest, match="the nest of map: .* is used where nothing has named it"):
        pytensor.function([x], pt.exp(x) + np.pi, mode=native_mode())
